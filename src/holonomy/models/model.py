"""A named model: its parameters, and a start, a step and a duration that show it well."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from holonomy.systems import System

Kind = Literal["angle", "length", "number"]


@dataclass(frozen=True)
class Parameter:
    """A number (or one number per link) that a model depends on."""

    name: str
    default: float | tuple[float, ...]
    meaning: str
    positive: bool = False


@dataclass(frozen=True)
class Model:
    """A named system: how to build it, and a start, a step and a duration that show it well.

    `coordinates` maps each coordinate to its kind; `q` and `v` are the suggested start, in the same order; `t_end` and
    `dt` the suggested duration and step. `builder` is the name of a function in `module` of `holonomy.models`, which
    takes the parameters and `options`, whole numbers that decide the form of the system.
    """

    name: str
    title: str
    summary: str
    coordinates: Mapping[str, Kind]
    parameters: tuple[Parameter, ...]
    q: tuple[float, ...]
    v: tuple[float, ...]
    t_end: float
    dt: float
    builder: str
    module: str = "classics"
    options: Mapping[str, int] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, float | tuple[float, ...]]:
        """The default value of each parameter."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def build(self, **parameters: float | tuple[float, ...]) -> System:
        """The `hl.System`, with these parameters in place of the defaults.

        **Raises** `ValueError` for a parameter the model does not have, and for a value that is not finite, has the
        wrong number of components or, where a positive one is needed, is not positive. One number stands for a list of
        equal ones.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{self.name} has no parameter {name!r}; it has {', '.join(known)}.")
            problem = self.problem(known[name], value)
            if problem:
                raise ValueError(f"{self.name}: {name} {problem}")
        given = {**self.defaults, **parameters}
        for name, parameter in known.items():
            value = given[name]
            if isinstance(parameter.default, tuple) and not isinstance(value, tuple):
                given[name] = (value,) * len(parameter.default)
        return getattr(import_module(f"holonomy.models.{self.module}"), self.builder)(**self.options, **given)

    def __call__(self, **parameters: float | tuple[float, ...]) -> System:
        """The same as `build`: `hl.models.kepler(mu=2.0)`."""
        return self.build(**parameters)

    @staticmethod
    def problem(parameter: Parameter, value: float | tuple[float, ...]) -> str:
        """Why `value` cannot be this parameter, as the rest of a sentence; empty when it can."""
        default = parameter.default
        if isinstance(default, tuple):
            if isinstance(value, tuple) and len(value) != len(default):
                return f"is {len(value)} numbers; it needs a list of {len(default)}, one per link, or one for all."
        elif isinstance(value, tuple):
            return f"is a list of {len(value)} numbers; it needs a single number."
        for number in value if isinstance(value, tuple) else (value,):
            if not math.isfinite(number):
                return f"is {number}; it must be a finite number."
            if parameter.positive and number <= 0:
                return f"is {number:g}; it must be greater than 0 ({parameter.meaning})."
        return ""


def positive(name: str, default: float | tuple[float, ...], meaning: str) -> Parameter:
    """A parameter whose values are greater than 0."""
    return Parameter(name, default, meaning, positive=True)


GRAVITY = Parameter("g", 9.81, "gravitational acceleration")
