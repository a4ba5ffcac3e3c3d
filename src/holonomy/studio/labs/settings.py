"""What a user may set about a lab, declared as data: numbers, choices and switches in one table.

From the table follow the defaults, the checks, the controls on the page, the structure (which code is compiled) and the
row of numbers that the compiled code takes. A condition or a limit may be a function of the settings above it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from holonomy.notation import QUANTITIES, Quantity, subscripted
from holonomy.viewer.protocol import messages

Structure = tuple[tuple[str, Hashable], ...]
"""What decides which code is compiled, as names and values; all else is numbers."""


class Refusal(Exception):
    """A command that is valid in itself, but not now or not with this value; the sentence goes to the user."""


@dataclass(frozen=True)
class Settings:
    """Everything a user has set: numbers, choices and switches."""

    parameters: Mapping[str, float]
    choices: Mapping[str, str]
    toggles: Mapping[str, bool]

    def with_parameter(self, name: str, value: float) -> Settings:
        """The same with one other number."""
        return replace(self, parameters={**self.parameters, name: value})

    def with_choice(self, name: str, value: str) -> Settings:
        """The same with one other choice."""
        return replace(self, choices={**self.choices, name: value})

    def with_toggle(self, name: str, on: bool) -> Settings:
        """The same with one switch on or off."""
        return replace(self, toggles={**self.toggles, name: on})


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
    structural: bool = False
    exists: Condition = always


@dataclass(frozen=True, kw_only=True)
class Toggle:
    """A switch."""

    name: str
    label: str
    default: bool = False
    note: str = ""
    exists: Condition = always


@dataclass(frozen=True)
class SettingsTable:
    """All settings of a lab, in the order in which the page shows them."""

    parameters: tuple[Parameter, ...] = ()
    choices: tuple[Choice, ...] = ()
    toggles: tuple[Toggle, ...] = ()

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
        return Settings(parameters, choices, toggles)

    def structure(self, settings: Settings) -> Structure:
        """Which code the settings need."""
        counts = [(p.name, int(settings.parameters[p.name])) for p in self.parameters if p.structural]
        options = [(c.name, settings.choices[c.name]) for c in self.choices if c.structural]
        return (*counts, *options)

    def outline(self, settings: Settings) -> Hashable:
        """Equal for settings with the same controls: counts, choices, switches, and which numbers there are."""
        counts = tuple(settings.parameters[p.name] for p in self.parameters if p.integer)
        absent = tuple(p.name in settings.parameters for p in self.parameters if p.default is None)
        return (counts, absent, tuple(settings.choices.values()), tuple(settings.toggles.values()))

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
                p.logarithmic, p.most,
            )
            for p in self.parameters
            if p.default is not None and p.exists(settings) and p.shown(settings)
            for name, i in _items(p, settings.parameters)
        )  # fmt: skip

    def choice_views(self, settings: Settings) -> tuple[messages.ChoiceView, ...]:
        """The choices of the page."""
        chosen = (c for c in self.choices if c.exists(settings))
        return tuple(messages.ChoiceView(c.name, c.label, c.options, c.default) for c in chosen)

    def toggle_views(self, settings: Settings) -> tuple[messages.ToggleView, ...]:
        """The switches of the page."""
        chosen = (t for t in self.toggles if t.exists(settings))
        return tuple(messages.ToggleView(t.name, t.label, t.default, t.note) for t in chosen)


def each_of(settings: Settings, name: str) -> Float[np.ndarray, " items"]:
    """The values name1, name2, … as an array."""
    found = []
    while (key := f"{name}{len(found) + 1}") in settings.parameters:
        found.append(settings.parameters[key])
    return np.array(found)


def checked(view: messages.LabView, settings: Settings, command: Any) -> Settings:
    """The settings after `SetParameter`, `SetChoice` or `SetToggle`, or `Refusal`."""
    match command:
        case messages.SetParameter(name, value, _):
            known = _known(view.parameters, name, "parameter")
            high = known.high if known.most is None else known.most
            if not known.low <= value <= high:
                between = f"between {known.low:g} and {high:g} {known.unit}".rstrip()
                raise Refusal(f"{known.label} must be {between}, but {value:g} was given.")
            if known.integer and value != round(value):
                raise Refusal(f"{known.label} must be a whole number, but {value:g} was given.")
            return settings.with_parameter(name, value)
        case messages.SetChoice(name, value):
            _require_option(_known(view.choices, name, "choice"), value)
            return settings.with_choice(name, value)
        case messages.SetToggle(name, on):
            _known(view.toggles, name, "switch")
            return settings.with_toggle(name, on)
        case _:
            raise TypeError(f"{command!r} sets nothing.")


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
    low = _at(parameter.low, partial)
    high = _at(parameter.high, partial) if parameter.most is None else parameter.most
    if not (low <= value <= high and value == round(value)):
        raise Refusal(f"{parameter.label} must be a whole number from {low:g} to {high:g}, but {value:g} was given.")
