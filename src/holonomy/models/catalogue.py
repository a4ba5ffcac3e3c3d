"""What is known of each named model before anything is computed: parameters, start, step.

Nothing here imports JAX, so that a command line or an editor can list the models at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from holonomy.systems import System

Kind = Literal["angle", "length"]

MOST_LINKS = 32
"""Links a `multi_pendulum` may have."""


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
    `dt` the suggested duration and step. `builder` is the name of a function in `holonomy.models.classics`.
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

    @property
    def defaults(self) -> dict[str, float | tuple[float, ...]]:
        """The default value of each parameter."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def build(self, **parameters: float | tuple[float, ...]) -> System:
        """The `hl.System`, with these parameters in place of the defaults.

        **Raises** `ValueError` for a parameter the model does not have, and for a value that is not finite, has the
        wrong number of components or, where a positive one is needed, is not positive.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{self.name} has no parameter {name!r}; it has {', '.join(known)}.")
            problem = self.problem(known[name], value)
            if problem:
                raise ValueError(f"{self.name}: {name} {problem}")
        return getattr(import_module("holonomy.models.classics"), self.builder)(**{**self.defaults, **parameters})

    def __call__(self, **parameters: float | tuple[float, ...]) -> System:
        """The same as `build`: `hl.models.kepler(mu=2.0)`."""
        return self.build(**parameters)

    @staticmethod
    def problem(parameter: Parameter, value: float | tuple[float, ...]) -> str:
        """Why `value` cannot be this parameter, as the rest of a sentence; empty when it can."""
        default = parameter.default
        if isinstance(default, tuple):
            if not isinstance(value, tuple) or len(value) != len(default):
                found = f"{len(value)} numbers" if isinstance(value, tuple) else "a single number"
                return f"is {found}; it needs a list of {len(default)}, one per link."
        elif isinstance(value, tuple):
            return f"is a list of {len(value)} numbers; it needs a single number."
        for number in value if isinstance(value, tuple) else (value,):
            if not math.isfinite(number):
                return f"is {number}; it must be a finite number."
            if parameter.positive and number <= 0:
                return f"is {number:g}; it must be greater than 0 ({parameter.meaning})."
        return ""


_GRAVITY = Parameter("g", 9.81, "gravitational acceleration")


def _positive(name: str, default: float | tuple[float, ...], meaning: str) -> Parameter:
    return Parameter(name, default, meaning, positive=True)


def _multi_pendulum(links: int) -> Model:
    ones = (1.0,) * links
    return Model(
        name="multi_pendulum",
        title="Pendulum of several links",
        summary="Point masses on massless rods, hung one from another, in a vertical plane; `links` says how many.",
        coordinates={f"theta{i}": "angle" for i in range(1, links + 1)},
        parameters=(
            _positive("masses", ones, "mass of each bob, from the pivot"),
            _positive("lengths", ones, "length of each rod, from the pivot"),
            _GRAVITY,
        ),
        q=(math.pi / 2,) * links,
        v=(0.0,) * links,
        t_end=10.0,
        dt=0.005,
        builder="multi_pendulum",
    )


_FIXED = (
    Model(
        name="simple_pendulum",
        title="Simple pendulum",
        summary="A point mass on a massless rod, in a vertical plane; theta = 0 hangs down.",
        coordinates={"theta": "angle"},
        parameters=(_positive("m", 1.0, "mass of the bob"), _positive("l", 1.0, "length of the rod"), _GRAVITY),
        q=(2.0,),
        v=(0.0,),
        t_end=10.0,
        dt=0.01,
        builder="simple_pendulum",
    ),
    Model(
        name="double_pendulum",
        title="Double pendulum",
        summary="A pendulum hung from a pendulum, in a vertical plane; both angles from the downward vertical.",
        coordinates={"theta1": "angle", "theta2": "angle"},
        parameters=(
            _positive("m1", 1.0, "mass of the upper bob"),
            _positive("m2", 1.0, "mass of the lower bob"),
            _positive("l1", 1.0, "length of the upper rod"),
            _positive("l2", 1.0, "length of the lower rod"),
            _GRAVITY,
        ),
        q=(math.pi / 2, math.pi / 2),
        v=(0.0, 0.0),
        t_end=10.0,
        dt=0.01,
        builder="double_pendulum",
    ),
    Model(
        name="spherical_pendulum",
        title="Spherical pendulum",
        summary="A point mass on a massless rod, free to swing all round; theta from the downward vertical.",
        coordinates={"theta": "angle", "phi": "angle"},
        parameters=(_positive("m", 1.0, "mass of the bob"), _positive("l", 1.0, "length of the rod"), _GRAVITY),
        q=(1.0, 0.0),
        v=(0.0, 2.0),
        t_end=20.0,
        dt=0.01,
        builder="spherical_pendulum",
    ),
    Model(
        name="kepler",
        title="Kepler problem",
        summary="A planet about a fixed sun in its orbital plane; the start has eccentricity 0.6 and period 2 pi.",
        coordinates={"x": "length", "y": "length"},
        parameters=(
            _positive("m", 1.0, "mass of the planet"),
            _positive("mu", 1.0, "gravitational parameter of the sun"),
        ),
        q=(0.4, 0.0),
        v=(0.0, 2.0),
        t_end=20 * math.pi,
        dt=math.pi / 200,
        builder="kepler",
    ),
    Model(
        name="rotating_hoop",
        title="Bead on a rotating hoop",
        summary="A bead on a circular wire that turns about its vertical diameter; theta = 0 is the lowest point.",
        coordinates={"theta": "angle"},
        parameters=(
            _positive("m", 1.0, "mass of the bead"),
            _positive("r", 1.0, "radius of the hoop"),
            Parameter("omega", 4.0, "angular velocity of the hoop"),
            _GRAVITY,
        ),
        q=(0.1,),
        v=(0.0,),
        t_end=20.0,
        dt=0.01,
        builder="rotating_hoop",
    ),
    Model(
        name="elliptical_wire",
        title="Particle on an elliptical wire",
        summary="A particle that slides on an ellipse in a vertical plane; s = -pi/2 is the lowest point.",
        coordinates={"s": "angle"},
        parameters=(
            _positive("m", 1.0, "mass of the particle"),
            _positive("a", 2.0, "horizontal half axis"),
            _positive("b", 1.0, "vertical half axis"),
            _GRAVITY,
        ),
        q=(0.0,),
        v=(0.0,),
        t_end=10.0,
        dt=0.01,
        builder="elliptical_wire",
    ),
    Model(
        name="elastic_pendulum",
        title="Elastic pendulum",
        summary="A point mass on a spring, in a vertical plane; r is the spring's length, theta = 0 hangs down.",
        coordinates={"r": "length", "theta": "angle"},
        parameters=(
            _positive("m", 1.0, "mass of the bob"),
            _positive("l", 1.0, "rest length of the spring"),
            _positive("k", 40.0, "stiffness of the spring"),
            _GRAVITY,
        ),
        q=(1.2, 1.0),
        v=(0.0, 0.0),
        t_end=20.0,
        dt=0.01,
        builder="elastic_pendulum",
    ),
)


def catalogue() -> tuple[Model, ...]:
    """Every named model, the many-link pendulum with three links."""
    return (*_FIXED[:2], _multi_pendulum(3), *_FIXED[2:])


def find(name: str, links: int | None = None) -> Model:
    """The model of this name; `links` is for `multi_pendulum` alone.

    **Raises** `ValueError` for a name that is not in the catalogue and for `links` that cannot be.
    """
    if name == "multi_pendulum":
        wanted = 3 if links is None else links
        if not 1 <= wanted <= MOST_LINKS:
            raise ValueError(f"multi_pendulum has {wanted} links; it needs 1 to {MOST_LINKS}.")
        return _multi_pendulum(wanted)
    for model in _FIXED:
        if model.name == name:
            if links is not None:
                raise ValueError(f"{name} takes no links; only multi_pendulum does.")
            return model
    raise ValueError(f"There is no model {name!r}; there are {', '.join(model.name for model in catalogue())}.")
