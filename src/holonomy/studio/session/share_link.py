"""A state as a versioned JSON document, which a share link contains; it is checked strictly when it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Refusal, Settings, checked
from holonomy.studio.session.motion_with_ghost import Reading
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages

VERSION: Final = 1
_LARGEST: Final = 1e12
_MEMBERS: Final = {"version", "lab", "parameters", "choices", "toggles", "speed", "t", "q", "v", "ghost"}
_OPTIONAL: Final = {"texts"}


@dataclass(frozen=True)
class Document:
    """Settings, speed and the exact state; `ghost` is its coordinates and velocities where it is on."""

    settings: Settings
    speed: float
    t: float
    q: np.ndarray
    v: np.ndarray
    ghost: tuple[np.ndarray, np.ndarray] | None


def of_moment(lab: AbstractLab, moment: Moment, now: Reading, speed: float) -> str:
    """The state of a moment as text."""
    state, kernel = moment.state, moment.segment.motion.kernel
    ghost = None if state.ghost is None else (kernel.q(state.ghost), kernel.v(state.ghost))
    return written(lab, Document(moment.settings, speed, now.t, now.q, now.v, ghost))


def written(lab: AbstractLab, document: Document) -> str:
    """The document as text. Numbers keep every bit: JSON's shortest decimals read back exactly."""
    settings = document.settings
    ghost = None if document.ghost is None else [row.tolist() for row in document.ghost]
    return json.dumps(
        {
            "version": VERSION,
            "lab": lab.name,
            "parameters": dict(settings.parameters),
            "choices": dict(settings.choices),
            "toggles": dict(settings.toggles),
            "texts": dict(settings.texts),
            "speed": document.speed,
            "t": document.t,
            "q": document.q.tolist(),
            "v": document.v.tolist(),
            "ghost": ghost,
        },
        allow_nan=False,
        separators=(",", ":"),
    )


def read(lab: AbstractLab, text: str) -> Document:
    """The document in a text that anyone may have written; `Refusal` says what is wrong with it."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal("The link's state cannot be read: it is not a document of the studio.") from error
    if not isinstance(data, dict) or data.get("version") != VERSION or set(data) - _OPTIONAL != _MEMBERS:
        raise Refusal("The link's state is of another version of the studio and cannot be opened here.")
    if data["lab"] != lab.name:
        raise Refusal(f"The link's state belongs to another lab than {lab.title}.")
    settings = _settings(lab, data)
    speed, t = _number(data["speed"], "speed"), _number(data["t"], "time")
    view = lab.view(settings, 0)
    if not (view.speed_low <= speed <= view.speed_high and abs(t) <= 1e9):
        raise Refusal("The link's state has a speed or a time out of range.")
    size = len(lab.columns(settings))
    q, v = lab.admitted(settings, *(_row(data[name], size) for name in "qv"))
    ghost = None
    if data["ghost"] is not None:
        if not (isinstance(data["ghost"], list) and len(data["ghost"]) == 2):
            raise Refusal("The link's state has a ghost without coordinates and velocities.")
        ghost = (_row(data["ghost"][0], size), _row(data["ghost"][1], size))
    return Document(settings, speed, t, q, v, ghost)


def _settings(lab: AbstractLab, data: dict[str, Any]) -> Settings:
    """Settings that are complete, with every value in its interval."""
    given: dict[str, dict[str, Any]] = {}
    for name, kind in (("parameters", float), ("choices", str), ("toggles", bool), ("texts", str)):
        part = data.get(name, {})
        if not isinstance(part, dict) or len(part) > 1000:
            raise Refusal(f"The link's state has no readable {name}.")
        given[name] = {k: _number(x, k) if kind is float else x for k, x in part.items()}
        if not all(type(x) is kind for x in given[name].values()):
            raise Refusal(f"The link's state has {name} of the wrong type.")
    wanted = Settings(given["parameters"], given["choices"], given["toggles"], given["texts"])
    try:
        settings = lab.completed(wanted)
        view = lab.view(settings, 0)
    except (KeyError, ValueError, OverflowError, MemoryError) as error:
        raise Refusal("The link's state has settings that this lab does not know.") from error
    if any(settings.parameters.get(name) != value for name, value in wanted.parameters.items()):
        raise Refusal("The link's state has parameters that this lab does not know.")
    shown = {one.name for one in (*view.parameters, *view.choices)}
    for name, value in settings.parameters.items():
        if name in shown:
            checked(view, settings, messages.SetParameter(name, value, True))
    for name, choice in settings.choices.items():
        if name in shown:
            checked(view, settings, messages.SetChoice(name, choice))
    for name, text in settings.texts.items():
        checked(view, settings, messages.SetText(name, text, True))
    return settings


def _row(values: object, size: int) -> np.ndarray:
    if not isinstance(values, list) or len(values) != size:
        raise Refusal(f"The link's state must have {size} coordinates and as many velocities.")
    return np.array([_number(value, "coordinate") for value in values])


def _number(value: object, what: str) -> float:
    if type(value) not in (int, float) or not abs(cast(float, value)) <= _LARGEST:  # infinities and NaN too
        raise Refusal(f"The link's state has a {str(what)[:40]} that is not a number the studio can use.")
    return float(cast(float, value))


def _no_constant(name: str) -> object:
    raise ValueError(name)
