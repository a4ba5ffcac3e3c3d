"""The rigid bodies of the catalogue; `holonomy.models.rigid_bodies` has what builds them, and their coordinates."""

from __future__ import annotations

import math

from holonomy.models.model import GRAVITY, Kind, Model, Parameter, positive

_TURN: dict[str, Kind] = {f"e{i}": "number" for i in range(4)}
_PLACE: dict[str, Kind] = {**_TURN, "x": "length", "y": "length"}

_THREE = tuple(
    positive(f"i{k}", float(k), f"moment of inertia about the {name} axis")
    for k, name in ((1, "first"), (2, "second"), (3, "third"))
)


def _tilted(angle: float, spin: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A rotation about the first axis, and its rate where the body spins about its third axis."""
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    return (c, s, 0.0, 0.0), (0.0, 0.0, -s * spin / 2, c * spin / 2)


_TOP, _TIPPED = _tilted(0.5, 20.0), _tilted(0.1, 150.0)
_ROCK, _SPIN, _LOW = 0.1, -5.0, 0.01  # rad/s about the long axis and the vertical; height of the centre of mass

RIGID = (
    Model(
        name="free_rigid_body",
        title="Free rigid body",
        summary="A rigid body without forces, as a unit quaternion; spun about its middle axis, it turns over.",
        coordinates=_TURN,
        parameters=_THREE,
        q=(1.0, 0.0, 0.0, 0.0),
        v=(0.0, 0.005, 1.0, 0.005),
        t_end=40.0,
        dt=0.01,
        builder="free_body",
        module="rigid_bodies",
    ),
    Model(
        name="heavy_top",
        title="Heavy top",
        summary="A rigid body with a fixed point on its third axis, as a unit quaternion; e0 = 1 stands upright.",
        coordinates=_TURN,
        parameters=(
            positive("m", 1.0, "mass"),
            positive("l", 0.3, "distance of the centre of mass from the fixed point"),
            positive("i1", 0.1, "moment of inertia about the first axis, through the fixed point"),
            positive("i2", 0.1, "moment of inertia about the second axis, through the fixed point"),
            positive("i3", 0.05, "moment of inertia about the third axis"),
            GRAVITY,
        ),
        q=_TOP[0],
        v=_TOP[1],
        t_end=10.0,
        dt=0.005,
        builder="heavy_top",
        module="rigid_bodies",
    ),
    Model(
        name="rattleback",
        title="Rattleback",
        summary="An ellipsoid that rolls, its inertia turned against its shape: spun one way, it stops and turns back.",
        coordinates=_PLACE,
        parameters=(
            positive("m", 1.0, "mass"),
            positive("a", 0.2, "first half axis"),
            positive("b", 0.03, "second half axis"),
            positive("c", 0.02, "third half axis, upright at the start"),
            Parameter("h", 0.01, "depth of the centre of mass below the centre"),
            positive("i1", 0.0002, "first principal moment of inertia"),
            positive("i2", 0.0016, "second principal moment of inertia"),
            positive("i3", 0.0017, "third principal moment of inertia"),
            Parameter("delta", 0.05, "angle from the axes of the ellipsoid to those of inertia"),
            GRAVITY,
        ),
        q=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        v=(0.0, _ROCK / 2, 0.0, _SPIN / 2, 0.0, -_ROCK * _LOW),
        t_end=8.0,
        dt=0.0005,
        builder="rattleback",
        module="rigid_bodies",
    ),
    Model(
        name="tippe_top",
        title="Tippe top",
        summary="A ball that slides with friction, its centre of mass below its centre: spun fast, it turns over.",
        coordinates=_PLACE,
        parameters=(
            positive("m", 0.02, "mass"),
            positive("r", 0.02, "radius"),
            Parameter("d", 0.006, "distance of the centre of mass from the centre"),
            positive("i1", 0.02 * 0.02**2 * 131 / 350, "moment of inertia across the axis"),
            positive("i3", 0.02 * 0.02**2 * 2 / 5, "moment of inertia about the axis"),
            Parameter("mu", 0.3, "coefficient of friction"),
            positive("u0", 0.01, "slip below which friction is proportional to it"),
            GRAVITY,
        ),
        q=(*_TIPPED[0], 0.0, 0.0),
        v=(*_TIPPED[1], 0.0, 0.0),
        t_end=4.0,
        dt=0.0005,
        builder="tippe_top",
        module="rigid_bodies",
    ),
    Model(
        name="ball_on_plate",
        title="Ball on a turning plate",
        summary="A ball that rolls on a plate which turns: its centre moves on a circle, 2/7 as fast if it is solid.",
        coordinates=_PLACE,
        parameters=(
            positive("m", 1.0, "mass"),
            positive("r", 0.1, "radius"),
            positive("i", 0.004, "moment of inertia"),
            Parameter("omega", 2.0, "rate of turning of the plate"),
            Parameter("k", 0.0, "stiffness of a spring from the centre of the ball to the axis"),
        ),
        q=(1.0, 0.0, 0.0, 0.0, 0.5, 0.0),
        v=(0.0, 4.0, 0.0, 0.0, 0.0, 0.2),
        t_end=22.0,
        dt=0.01,
        builder="ball_on_plate",
        module="rigid_bodies",
    ),
)
