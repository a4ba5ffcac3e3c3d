"""What a user may set about a lab, declared as data: numbers, choices, switches and texts in one table.

From the table follow the defaults, the checks, the controls on the page, the structure (which code is compiled) and the
row of numbers that the compiled code takes. A condition or a limit may be a function of the settings above it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from jaxtyping import Float

from holonomy.notation import QUANTITIES, Quantity, subscripted
from holonomy.viewer.protocol import messages

Structure = tuple[tuple[str, Hashable], ...]
"""What decides which code is compiled, as names and values; all else is numbers."""


PAGE: Final = "page"
"""The text that the page keeps for itself in the settings of every lab: the layout of its plots."""
_LONGEST_PAGE: Final = 8192


NUMERICS: Final = "Numerics"
"""The group of settings that say how the motion is computed; the page shows it with the certificate."""


class Refusal(Exception):
    """A command that is valid in itself, but not now or not with this value; the sentence goes to the user.

    `setting` names the setting at whose control the sentence stands; in a text, characters `start` to `end` are wrong.
    """

    def __init__(self, message: str, setting: str = "", start: int = 0, end: int = 0):
        super().__init__(message)
        self.setting = setting
        self.start = start
        self.end = end


@dataclass(frozen=True)
class Settings:
    """Everything a user has set: numbers, choices, switches and texts."""

    parameters: Mapping[str, float]
    choices: Mapping[str, str]
    toggles: Mapping[str, bool]
    texts: Mapping[str, str] = field(default_factory=dict)

    def with_parameter(self, name: str, value: float) -> Settings:
        """The same with one other number."""
        return replace(self, parameters={**self.parameters, name: value})

    def with_choice(self, name: str, value: str) -> Settings:
        """The same with one other choice."""
        return replace(self, choices={**self.choices, name: value})

    def with_toggle(self, name: str, on: bool) -> Settings:
        """The same with one switch on or off."""
        return replace(self, toggles={**self.toggles, name: on})

    def with_text(self, name: str, value: str) -> Settings:
        """The same with one other text."""
        return replace(self, texts={**self.texts, name: value})

    def with_page_of(self, other: Settings) -> Settings:
        """The same with what the page keeps for itself in other settings, unless these have such a text."""
        return self if self.texts.get(PAGE) else replace(self, texts={**self.texts, **_page(other.texts)})


NOTHING_SET: Final = Settings({}, {}, {})
Condition = Callable[[Settings], bool]
Number = float | Callable[[Settings], float]


def always(settings: Settings) -> bool:
    """The condition that holds for all settings."""
    return True


def never(settings: Settings) -> bool:
    """The condition that holds for no settings."""
    return False


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One number, or with `each` one number for every item that another parameter counts (`length1`, `length2`, …)."""

    name: str
    label: str = ""
    symbol: str | None = None
    """None for the symbol and unit that `notation.QUANTITIES` has for the name, or none."""
    unit: str = ""
    low: Number = -1e12
    high: Number = 1e12
    step: float = 0.01
    default: Number | None = None
    """None for a number that is absent until something sets it."""
    most: float | None = None
    """What the box accepts at most, where that is more than the slider's `high`."""
    least: float | None = None
    """What the box accepts at least, where that is less than the slider's `low`."""
    each: str = ""
    """The structural parameter that says how many there are. An added item takes the value of the one before it."""
    group: str = ""
    integer: bool = False
    logarithmic: bool = False
    structural: bool = False
    """Whether other values need other code; a whole number."""
    compiled: bool = False
    """Whether the compiled code takes it among its numbers."""
    exists: Condition = always
    """Whether the settings have it, given the settings above it in the table."""
    shown: Condition = always
    """Whether the page shows it."""

    @property
    def written(self) -> Quantity:
        """Its symbol and unit."""
        own = Quantity(self.symbol or "", self.unit, self.label)
        return own if self.symbol is not None else QUANTITIES.get(self.name, own)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of a few named options."""

    name: str
    label: str
    options: tuple[messages.Option, ...]
    default: str
    group: str = ""
    structural: bool = False
    exists: Condition = always
    shown: Condition = always
    """Whether the page shows it."""


@dataclass(frozen=True, kw_only=True)
class Toggle:
    """A switch."""

    name: str
    label: str
    default: bool = False
    note: str = ""
    exists: Condition = always


@dataclass(frozen=True, kw_only=True)
class Text:
    """What a user types: a formula, several lines, or a curve that is drawn in a picture.

    A curve is JSON, a list of points [[x, y], …] in the coordinates of its picture. The lab checks a text in
    `AbstractLab.adjusted`, with a `Refusal` that says at which characters it is wrong.
    """

    name: str
    label: str
    default: str = ""
    kind: Literal["formula", "lines", "curve"] = "formula"
    picture: int = 0
    """In which picture a curve is drawn."""
    hint: str = ""
    """An example of what to type, shown while it is empty."""
    group: str = ""
    longest: int = 4000
    spline: str = ""
    """The switch that joins a curve's points by a periodic cubic spline; without one, lines do."""
    structural: bool = False
    """Whether other texts need other code."""
    exists: Condition = always


@dataclass(frozen=True)
class SettingsTable:
    """All settings of a lab, in the order in which the page shows them."""

    parameters: tuple[Parameter, ...] = ()
    choices: tuple[Choice, ...] = ()
    toggles: tuple[Toggle, ...] = ()
    texts: tuple[Text, ...] = ()

    def completed(self, given: Settings) -> Settings:
        """The settings with what is missing at its default and without what the table does not know.

        Raises `Refusal` for a count out of its range and for an option that there is not.
        """
        parameters: dict[str, float] = {}
        partial = Settings(parameters, given.choices, given.toggles)
        for parameter in self.parameters:
            if parameter.exists(partial):
                parameters |= _values(parameter, given.parameters, partial)
        found = Settings(parameters, {}, {})
        choices = {c.name: _option(c, given.choices) for c in self.choices if c.exists(found)}
        toggles = {t.name: given.toggles.get(t.name, t.default) for t in self.toggles if t.exists(found)}
        texts = {t.name: given.texts.get(t.name, t.default) for t in self.texts if t.exists(found)}
        return Settings(parameters, choices, toggles, texts | _page(given.texts))

    def structure(self, settings: Settings) -> Structure:
        """Which code the settings need."""
        counts = [(p.name, int(settings.parameters[p.name])) for p in self.parameters if p.structural]
        options = [(c.name, settings.choices[c.name]) for c in self.choices if c.structural]
        texts = [(t.name, settings.texts[t.name]) for t in self.texts if t.structural]
        return (*counts, *options, *texts)

    def outline(self, settings: Settings) -> Hashable:
        """Equal for settings with the same controls: counts, choices, switches, formulas, which numbers there are."""
        counts = tuple(settings.parameters[p.name] for p in self.parameters if p.integer)
        absent = tuple(p.name in settings.parameters for p in self.parameters if p.default is None)
        written = tuple(settings.texts[t.name] for t in self.texts if t.structural)
        return (counts, absent, tuple(settings.choices.values()), tuple(settings.toggles.values()), written)

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        """The row of numbers that the compiled code takes."""
        compiled = (p for p in self.parameters if p.compiled)
        return np.array([settings.parameters[name] for p in compiled for name, _ in _items(p, settings.parameters)])

    def named(self, structure: Structure, row: Any) -> dict[str, Any]:
        """The row of `numbers` by name: single numbers, and for `each` arrays. The row may be one that is traced."""
        found, start = {}, 0
        for parameter in self.parameters:
            if parameter.compiled:
                size = _count(parameter, dict(structure))
                found[parameter.name] = row[start : start + size] if parameter.each else row[start]
                start += size
        return found

    def size(self, structure: Structure) -> int:
        """How many numbers the row has."""
        return sum(_count(p, dict(structure)) for p in self.parameters if p.compiled)

    def parameter_views(self, settings: Settings) -> tuple[messages.ParameterView, ...]:
        """The sliders and boxes of the page."""
        return tuple(
            messages.ParameterView(
                name, f"{p.label} {i}" if p.each else p.label,
                subscripted(p.written.symbol, i) if p.each else p.written.symbol, p.written.unit,
                _at(p.low, settings), _at(p.high, settings), p.step, _at(p.default, settings), p.group, p.integer,
                p.logarithmic, p.most, p.least,
            )
            for p in self.parameters
            if p.default is not None and p.exists(settings) and p.shown(settings)
            for name, i in _items(p, settings.parameters)
        )  # fmt: skip

    def choice_views(self, settings: Settings) -> tuple[messages.ChoiceView, ...]:
        """The choices of the page."""
        chosen = (c for c in self.choices if c.exists(settings) and c.shown(settings))
        return tuple(messages.ChoiceView(c.name, c.label, c.options, c.default, c.group) for c in chosen)

    def toggle_views(self, settings: Settings) -> tuple[messages.ToggleView, ...]:
        """The switches of the page."""
        chosen = (t for t in self.toggles if t.exists(settings))
        return tuple(messages.ToggleView(t.name, t.label, t.default, t.note) for t in chosen)

    def text_views(self, settings: Settings) -> tuple[messages.TextView, ...]:
        """The boxes for formulas and the curves of the page."""
        chosen = (t for t in self.texts if t.exists(settings))
        return tuple(
            messages.TextView(t.name, t.label, t.default, t.kind, t.picture, t.hint, t.group, t.longest, t.spline)
            for t in chosen
        )


def each_of(settings: Settings, name: str) -> Float[np.ndarray, " items"]:
    """The values name1, name2, … as an array."""
    found = []
    while (key := f"{name}{len(found) + 1}") in settings.parameters:
        found.append(settings.parameters[key])
    return np.array(found)


def checked(view: messages.LabView, settings: Settings, command: Any) -> Settings:
    """The settings after `SetParameter`, `SetChoice`, `SetToggle` or `SetText`, or `Refusal`."""
    match command:
        case messages.SetParameter(name, value, _):
            known = _known(view.parameters, name, "parameter")
            low = known.low if known.least is None else known.least
            high = known.high if known.most is None else known.most
            if not low <= value <= high:
                between = f"between {low:g} and {high:g} {known.unit}".rstrip()
                raise Refusal(f"{known.label} must be {between}, but {value:g} was given.", name)
            if known.integer and value != round(value):
                raise Refusal(f"{known.label} must be a whole number, but {value:g} was given.", name)
            return settings.with_parameter(name, value)
        case messages.SetChoice(name, value):
            _require_option(_known(view.choices, name, "choice"), value)
            return settings.with_choice(name, value)
        case messages.SetToggle(name, on):
            _known(view.toggles, name, "switch")
            return settings.with_toggle(name, on)
        case messages.SetText(name, value, _):
            longest = _LONGEST_PAGE if name == PAGE else _known(view.texts, name, "text").longest
            if len(value) > longest:
                raise Refusal(f"This text may have {longest} characters, but has {len(value)}.", name, longest)
            return settings.with_text(name, value)
        case _:
            raise TypeError(f"{command!r} sets nothing.")


def _page(given: Mapping[str, str]) -> dict[str, str]:
    return {PAGE: given[PAGE]} if given.get(PAGE) else {}


def _known(views: tuple[Any, ...], name: str, what: str) -> Any:
    for view in views:
        if view.name == name:
            return view
    raise Refusal(f"This lab has no {what} {name!r}.")


def _at(number: Number, settings: Settings) -> float:
    return number(settings) if callable(number) else number


def _count(parameter: Parameter, counts: Mapping[str, Any]) -> int:
    return int(counts[parameter.each]) if parameter.each else 1


def _items(parameter: Parameter, counts: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The names of a parameter's numbers, each with its place; the parameter's own name where it is one number."""
    if not parameter.each:
        yield parameter.name, 0
        return
    for i in range(1, _count(parameter, counts) + 1):
        yield f"{parameter.name}{i}", i


def _values(parameter: Parameter, given: Mapping[str, float], partial: Settings) -> dict[str, float]:
    value = None if parameter.default is None else _at(parameter.default, partial)
    found: dict[str, float] = {}
    for name, _ in _items(parameter, partial.parameters):
        value = given.get(name, value)
        if value is None:
            return {}
        found[name] = float(value)
    if parameter.structural:
        _require_whole(parameter, found[parameter.name], partial)
    return found


def _option(choice: Choice, given: Mapping[str, str]) -> str:
    value = given.get(choice.name, choice.default)
    _require_option(choice, value)
    return value


def _require_option(choice: Choice | messages.ChoiceView, value: str) -> None:
    known = [option.value for option in choice.options]
    if value not in known:
        raise Refusal(f"{choice.label} is one of {', '.join(known)}, but {value!r} was given.")


def _require_whole(parameter: Parameter, value: float, partial: Settings) -> None:
    """Refuse a count for which there is no code, before anything is computed with it."""
    low = _at(parameter.low, partial) if parameter.least is None else parameter.least
    high = _at(parameter.high, partial) if parameter.most is None else parameter.most
    if not (low <= value <= high and value == round(value)):
        raise Refusal(f"{parameter.label} must be a whole number from {low:g} to {high:g}, but {value:g} was given.")
