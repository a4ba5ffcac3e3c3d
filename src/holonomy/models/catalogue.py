"""What is known of each named model before anything is computed: parameters, start, step.

Nothing here imports JAX, so that a command line or an editor can list the models at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from holonomy.models.model import GRAVITY, Model, Parameter, positive
from holonomy.models.rigid_catalogue import RIGID


def _multi_pendulum(links: int) -> Model:
    ones = (1.0,) * links
    return Model(
        name="multi_pendulum",
        title="Pendulum of several links",
        summary="Point masses on massless rods, hung one from another, in a vertical plane; `links` says how many.",
        coordinates={f"theta{i}": "angle" for i in range(1, links + 1)},
        parameters=(
            positive("masses", ones, "mass of each bob, from the pivot"),
            positive("lengths", ones, "length of each rod, from the pivot"),
            GRAVITY,
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
        parameters=(positive("m", 1.0, "mass of the bob"), positive("l", 1.0, "length of the rod"), GRAVITY),
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
            positive("m1", 1.0, "mass of the upper bob"),
            positive("m2", 1.0, "mass of the lower bob"),
            positive("l1", 1.0, "length of the upper rod"),
            positive("l2", 1.0, "length of the lower rod"),
            GRAVITY,
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
        parameters=(positive("m", 1.0, "mass of the bob"), positive("l", 1.0, "length of the rod"), GRAVITY),
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
            positive("m", 1.0, "mass of the planet"),
            positive("mu", 1.0, "gravitational parameter of the sun"),
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
            positive("m", 1.0, "mass of the bead"),
            positive("r", 1.0, "radius of the hoop"),
            Parameter("omega", 4.0, "angular velocity of the hoop"),
            GRAVITY,
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
            positive("m", 1.0, "mass of the particle"),
            positive("a", 2.0, "horizontal half axis"),
            positive("b", 1.0, "vertical half axis"),
            GRAVITY,
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
            positive("m", 1.0, "mass of the bob"),
            positive("l", 1.0, "rest length of the spring"),
            positive("k", 40.0, "stiffness of the spring"),
            GRAVITY,
        ),
        q=(1.2, 1.0),
        v=(0.0, 0.0),
        t_end=20.0,
        dt=0.01,
        builder="elastic_pendulum",
    ),
)


def _chain(links: int) -> Model:
    return Model(
        name="chain",
        title="Chain of many links",
        summary="Many links hung one from another, at a cost proportional to their number; `links` says how many.",
        coordinates={f"theta{i}": "angle" for i in range(1, links + 1)},
        parameters=_hung(links, 10.0),
        q=(math.pi / 2,) * links,
        v=(0.0,) * links,
        t_end=10.0,
        dt=0.002,
        builder="chain",
        module="assembled",
    )


def _elastic_chain(links: int) -> Model:
    return Model(
        name="elastic_chain",
        title="Chain of springs",
        summary="Point masses joined by springs and hung from one end, in a vertical plane; `links` says how many.",
        coordinates={f"{axis}{i}": "length" for i in range(1, links + 1) for axis in "xy"},
        parameters=(
            *_hung(links, 10.0),
            positive("stiffness", (4000.0,) * links, "stiffness of each spring, from the pivot"),
        ),
        q=tuple(x for i in range(1, links + 1) for x in (10.0 * i / links, 0.0)),
        v=(0.0,) * (2 * links),
        t_end=10.0,
        dt=0.001,
        builder="elastic_chain",
        module="assembled",
    )


def _hung(links: int, length: float) -> tuple[Parameter, ...]:
    """What chains have in common: a mass of 10 and a length, shared out over the links."""
    return (
        positive("masses", (10.0 / links,) * links, "mass of each bob, from the pivot"),
        positive("lengths", (length / links,) * links, "length of each link at rest, from the pivot"),
        Parameter("gravity", 9.81, "gravitational acceleration"),
        Parameter("damping", 0.0, "air drag: force on each bob by its velocity"),
    )


def _linkage(rods: int) -> Model:
    across = (1 / math.sqrt(2), -1 / math.sqrt(2))
    return Model(
        name="linkage",
        title="Linkage of rods pinned at both ends",
        summary="Unit rods hinged in a row, both ends pinned: a point of a sphere; `links` says how many rods.",
        coordinates={f"x{i}": "number" for i in range(1, rods)},
        parameters=(
            positive("base", rods - 1.0, "distance of the pinned ends"),
            Parameter("rod_mass", 0.0, "mass of each rod, spread evenly"),
            Parameter("hinge_mass", 1.0, "mass of each hinge"),
            Parameter("gravity", 0.0, "gravitational acceleration"),
        ),
        q=(1 / math.sqrt(rods - 1),) * (rods - 1),
        v=(*across, *(0.0,) * (rods - 3)),
        t_end=10.0,
        dt=0.01,
        builder="linkage",
        module="assembled",
        options={"rods": rods},
    )


@dataclass(frozen=True)
class _Sized:
    """A model that exists for any number of links in a range."""

    make: Callable[[int], Model]
    usual: int
    least: int
    most: int


_SIZED = {
    "multi_pendulum": _Sized(_multi_pendulum, 3, 1, 32),
    "chain": _Sized(_chain, 20, 1, 1000),
    "elastic_chain": _Sized(_elastic_chain, 10, 1, 500),
    "linkage": _Sized(_linkage, 4, 3, 12),
}
MOST_LINKS = max(sized.most for sized in _SIZED.values())
"""Links that any model may have."""


def catalogue() -> tuple[Model, ...]:
    """Every named model, those of any number of links with a few."""
    first, *others = (sized.make(sized.usual) for sized in _SIZED.values())
    return (*_FIXED[:2], first, *_FIXED[2:], *others, *RIGID)


def find(name: str, links: int | None = None) -> Model:
    """The model of this name; `links` is for those of any number of links.

    **Raises** `ValueError` for a name that is not in the catalogue and for `links` that cannot be.
    """
    if name in _SIZED:
        sized = _SIZED[name]
        wanted = sized.usual if links is None else links
        if not sized.least <= wanted <= sized.most:
            raise ValueError(f"{name} has {wanted} links; it needs {sized.least} to {sized.most}.")
        return sized.make(wanted)
    for model in (*_FIXED, *RIGID):
        if model.name == name:
            if links is not None:
                raise ValueError(f"{name} takes no links; only {', '.join(_SIZED)} do.")
            return model
    raise ValueError(f"There is no model {name!r}; there are {', '.join(model.name for model in catalogue())}.")
