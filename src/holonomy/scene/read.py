"""Reading scene files, and changing single numbers of a scene from outside."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from holonomy.scene.errors import SceneError, clipped, suggestion
from holonomy.scene.forms import Quantity, Record
from holonomy.scene.functions import DOT
from holonomy.scene.resolve import Setup, resolve
from holonomy.scene.spec import METHODS, MethodChoice, Scene

LARGEST_FILE = 200_000
"""Bytes a scene file may have."""


def load(path: str | Path) -> Scene:
    """The scene in a TOML file.

    **Raises** `SceneError`, in one sentence that names the file and the key, for a file that cannot be read and for
    anything in it that is not as the format says.
    """
    path = Path(path)
    source = clipped(path.name, 80)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise SceneError("there is no such file.", source=clipped(str(path), 200)) from None
    except IsADirectoryError:
        raise SceneError("this is a folder; a scene is a TOML file.", source=clipped(str(path), 200)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SceneError(f"the file cannot be read ({reason}).", source=clipped(str(path), 200)) from None
    if len(data) > LARGEST_FILE:
        raise SceneError(f"the file is larger than {LARGEST_FILE} bytes, which no scene is.", source=source)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SceneError(f"the file is not UTF-8 text (byte {error.start}).", source=source) from None
    return loads(text, source)


def loads(text: str, source: str = "scene") -> Scene:
    """The scene in TOML text; `source` is what errors call it."""
    if len(text) > LARGEST_FILE:
        raise SceneError(f"the text is longer than {LARGEST_FILE} characters, which no scene is.", source=source)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"this is not TOML: {clipped(str(error), 160)}.", source=source) from None
    except RecursionError:
        raise SceneError("lists or tables are nested too deeply.", source=source) from None
    except ValueError as error:  # such as a number with too many digits, or a date that does not exist
        raise SceneError(f"a value cannot be read: {clipped(str(error), 160)}.", source=source) from None
    return from_table(table, source)


def from_table(table: Mapping[str, Any], source: str = "scene") -> Scene:
    """The scene in a table such as TOML or JSON gives, checked as a whole."""
    try:
        scene = Record(Scene).checked(dict(table), "")
        resolve(scene)
    except SceneError as error:
        raise error.inside(source) from None
    return scene


def changed(
    scene: Scene,
    values: Mapping[str, str],
    t_end: str | None = None,
    dt: str | None = None,
    *,
    method: str | None = None,
    save_every: int | None = None,
    source: str = "",
) -> Scene:
    """The scene with other numbers: parameters, coordinates (`theta`) and rates (`theta_dot`) by name, end and step.

    Values are numbers or formulas, as text; `method` is a name such as ``rk4`` or ``gauss(2)``; `source` is what errors
    call the scene. **Raises** `SceneError` for names the scene does not have and for values that it cannot.
    """
    try:
        other: dict[str, Any] = {} if save_every is None else {"save_every": save_every}
        if method is not None:
            other["method"] = _method(method)
        return _changed(replace(scene, motion=replace(scene.motion, **other)), values, t_end, dt)
    except SceneError as error:
        raise error.inside(source) from None


def _changed(scene: Scene, values: Mapping[str, str], t_end: str | None, dt: str | None) -> Scene:
    setup = resolve(scene)
    parameters = dict(scene.parameters)
    start = {"q": _by_name(scene.initial.q, setup), "v": _by_name(scene.initial.v, setup)}
    for name, text in values.items():
        where = f"--set {clipped(name)}"
        if name in setup.parameters:
            several = isinstance(setup.parameters[name], tuple)
            parts = tuple(Quantity().read(part, where) for part in text.split(",")) if several else ()
            parameters[name] = parts if several else Quantity().read(text, where)
        elif name in setup.coordinates:
            start["q"][name] = Quantity().read(text, where)
        elif name.endswith(DOT) and name.removesuffix(DOT) in setup.coordinates:
            start["v"][name.removesuffix(DOT)] = Quantity().read(text, where)
        else:
            rates = [coordinate + DOT for coordinate in setup.coordinates]
            allowed = [*setup.parameters, *setup.coordinates, *rates]
            raise SceneError(f"the scene has no such number{suggestion(name[:64], allowed)}", where)
    motion = {"t_end": t_end, "dt": dt}
    motion = {
        key: Quantity().read(text, f"--{key.replace('_', '-')}") for key, text in motion.items() if text is not None
    }
    new = replace(
        scene,
        parameters=parameters,
        initial=replace(scene.initial, q=start["q"], v=start["v"]),
        motion=replace(scene.motion, **motion),
    )
    resolve(new)
    return new


def _method(text: str) -> MethodChoice:
    """A method from its name, with its number of stages or its order in parentheses."""
    found = re.fullmatch(r"\s*(?:hl\.)?(\w+)\s*(?:\(\s*(\d*)\s*\))?\s*", text)
    names = {row.maker.lower(): name for name, row in METHODS.items()} | {name: name for name in METHODS}
    name = names.get(found[1].lower()) if found else None
    if found is None or name is None:
        raise SceneError(
            f'there is no method "{clipped(text)}"{suggestion(text[:64].lower(), list(METHODS))}', "--method"
        )
    if not found[2]:
        return MethodChoice(name)
    options = METHODS[name].options
    if not {"stages", "order"} & set(options):
        raise SceneError(f"{name} takes no number; got {clipped(text)}.", "--method")
    number = int(found[2])
    return MethodChoice(name, stages=number) if "stages" in options else MethodChoice(name, order=number)


def _by_name(given: Mapping[str, Any] | tuple[Any, ...] | None, setup: Setup) -> dict[str, Any]:
    return dict(zip(setup.coordinates, given)) if isinstance(given, tuple) else dict(given or {})
