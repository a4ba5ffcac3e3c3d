"""Stories: short captioned sequences of states of a lab, which a teacher writes as a TOML file.

A story is data. A step names settings of the lab, and each value is checked as if a user had set it; nothing in the
file is executed. `docs/studio.md` describes the format.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from holonomy.studio.labs.base import AbstractLab, Story, StoryStep
from holonomy.studio.labs.settings import Refusal, Settings, checked
from holonomy.viewer.protocol import messages

_LARGEST_FILE: Final = 65536
_MOST_STEPS: Final = 30
_LONGEST_CAPTION: Final = 600
_LONGEST_TITLE: Final = 80
_LANGUAGE: Final = re.compile(r"[a-z]{2}")
_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
_STORY_KEYS: Final = ("lab", "title", "step")
_STEP_KEYS: Final = ("caption", "preset", "set", "restart", "play", "speed")


class StoryError(ValueError):
    """A story that cannot be shown: the sentence names the file and the step, what is wrong and what to write."""


def install(labs: Iterable[AbstractLab], files: Iterable[Path] = ()) -> None:
    """Give each lab the stories in the folder `stories` beside it, and those of further files.

    Raises `StoryError` for a file that is no story of one of these labs.
    """
    known = {lab.name: lab for lab in labs}
    for lab in known.values():
        folder = Path(inspect.getfile(type(lab))).parent / "stories"
        lab.stories = {}
        for path in sorted(folder.glob("*.toml")):
            _add(known, path)
    for path in files:
        _add(known, path)


def step_at(lab: AbstractLab, place: str) -> tuple[StoryStep, str]:
    """The step at a place "NAME:STEP" of the lab's stories, and the place of the step before it; or `Refusal`."""
    name, _, number = place.partition(":")
    story = lab.stories.get(name)
    if story is None or not (number.isascii() and number.isdecimal()) or int(number) >= len(story.steps):
        raise Refusal("This lab has no such story.")
    return story.steps[int(number)], f"{name}:{int(number) - 1}"


def _add(labs: Mapping[str, AbstractLab], path: Path) -> None:
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower())[:40]
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise StoryError(f"it has more than {_LARGEST_FILE} bytes; a story is a short text.")
        lab, story = parsed(path.read_text(encoding="utf-8"), name, labs)
    except OSError as error:
        raise StoryError(f'The story "{path}" cannot be read: {error.strerror}.') from None
    except UnicodeDecodeError:
        raise StoryError(f'The story "{path}" is not text in UTF-8.') from None
    except StoryError as error:
        raise StoryError(f'The story "{path}" cannot be used: {error}') from None
    lab.stories[name] = story


def parsed(text: str, name: str, labs: Mapping[str, AbstractLab]) -> tuple[AbstractLab, Story]:
    """The story in a text and the lab that it is about, or `StoryError`."""
    if not _NAME.fullmatch(name):
        raise StoryError(f"its name is {name!r}; a name has lower-case letters, digits, - and _, at most 40.")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StoryError(f"it is not TOML: {error}.") from None
    _known(data, _STORY_KEYS, "the file")
    wanted = data.get("lab")
    if not isinstance(wanted, str) or wanted not in labs:
        raise StoryError(f"lab is {wanted!r}; write one of {', '.join(labs)}.")
    lab = labs[wanted]
    steps = data.get("step")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise StoryError("it has no steps; begin each with a line [[step]].")
    if not 1 <= len(steps) <= _MOST_STEPS:
        raise StoryError(f"it has {len(steps)} steps; write 1 to {_MOST_STEPS}, four or five are best.")
    found: list[StoryStep] = []
    for number, step in enumerate(steps, 1):
        try:
            found.append(_step(lab, step, found))
        except (StoryError, Refusal) as error:
            raise StoryError(f"in step {number}, {error}") from None
    return lab, Story(name, _texts(data.get("title"), "title", _LONGEST_TITLE), tuple(found))


def _step(lab: AbstractLab, step: dict[str, Any], before: list[StoryStep]) -> StoryStep:
    _known(step, _STEP_KEYS, "a step")
    preset = step.get("preset")
    if preset is not None:
        names = [one.name for one in lab.descriptor.presets]
        if preset not in names:
            raise StoryError(f"preset is {preset!r}; write one of {', '.join(names)}.")
        settings = lab.preset(preset)
    else:
        settings = before[-1].settings if before else lab.opening()
    changes = step.get("set", {})
    if not isinstance(changes, dict):
        raise StoryError(f"set is {changes!r}; write a table such as set = {{ gravity = 1.62 }}.")
    restart = _of(step, "restart", bool, "true or false") or preset is not None or not before
    speed = _of(step, "speed", float, "a number")
    low, high = lab.descriptor.speed_low, lab.descriptor.speed_high
    if speed is not None and not low <= speed <= high:
        raise StoryError(f"speed is {speed:g}; write a number from {low:g} to {high:g}.")
    caption = _texts(step.get("caption"), "caption", _LONGEST_CAPTION)
    play = _of(step, "play", bool, "true or false")
    return StoryStep(caption, _changed(lab, settings, changes), bool(restart), play, speed)


def _changed(lab: AbstractLab, settings: Settings, changes: dict[str, Any]) -> Settings:
    """The settings after all changes; one may be possible only after another, such as the offset of a ghost."""
    left = dict(changes)
    while left:
        view = lab.view(settings, 0)
        command = next((c for name, value in left.items() if (c := _command(view, name, value)) is not None), None)
        if command is None:
            known = ", ".join(s.name for s in (*view.parameters, *view.choices, *view.toggles, *view.texts))
            raise StoryError(f"set has {', '.join(left)}, but the settings are {known}.")
        settings = lab.completed(checked(view, settings, command))
        del left[command.name]
    return settings


def _command(view: messages.LabView, name: str, value: object) -> Any:
    """The command that sets this, or None where there is no such setting now; `StoryError` for a wrong type."""
    if any(one.name == name for one in view.parameters):
        return messages.SetParameter(name, _typed(name, value, float, "a number"), True)
    if any(one.name == name for one in view.toggles):
        return messages.SetToggle(name, _typed(name, value, bool, "true or false"))
    if any(one.name == name for one in view.choices):
        return messages.SetChoice(name, _typed(name, value, str, "a text in quotes"))
    if any(one.name == name for one in view.texts):
        return messages.SetText(name, _typed(name, value, str, "a text in quotes"), True)
    return None


def _of(step: dict[str, Any], name: str, kind: type, wanted: str) -> Any:
    return None if name not in step else _typed(name, step[name], kind, wanted)


def _typed(name: str, value: object, kind: type, wanted: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise StoryError(f"{name} is {value!r}; write {wanted}.")
    return value


def _texts(value: object, name: str, longest: int) -> dict[str, str]:
    """A text, or texts by language; a plain text counts as English."""
    by_language = {"en": value} if isinstance(value, str) else value
    if not isinstance(by_language, dict) or not by_language:
        raise StoryError(f'{name} is {value!r}; write a text, or texts by language: {{ en = "…", de = "…" }}.')
    for language, text in by_language.items():
        if not _LANGUAGE.fullmatch(language) or not isinstance(text, str) or not text.strip():
            raise StoryError(f'{name} has {language} = {text!r}; write texts by language: {{ en = "…", de = "…" }}.')
        if len(text) > longest:
            raise StoryError(f"{name} has {len(text)} characters; write at most {longest}.")
    return dict(by_language)


def _known(table: dict[str, Any], keys: tuple[str, ...], what: str) -> None:
    strange = [key for key in table if key not in keys]
    if strange:
        raise StoryError(f"{what} has {', '.join(strange)}; what can be written is {', '.join(keys)}.")
