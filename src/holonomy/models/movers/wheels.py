"""Bodies on wheels that do not slip sideways: car, snake, snakeboard."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from holonomy.locomotion import Mover
from holonomy.locomotion.arrays import Row, Shape
from holonomy.spaces import SE2
from holonomy.systems import System
from holonomy.types import Number, Numbers, Scalar


def scalars(*values: Number) -> list[Scalar]:
    """Numbers as arrays."""
    return [jnp.asarray(x, float) for x in values]


_POSE = {"x": "length", "y": "length", "theta": "angle"}
_UPRIGHT = 1e-6  # determinants below it, in units of the lengths, mean constraints that depend on each other


def car(wheelbase: Number = 1.0, mass: Number = 1.0, inertia: Number = 0.2) -> Mover:
    """The kinematic car: shape (rolled, steering), the distance that the rear wheels have rolled and the angle of the
    front ones; group SE(2), its frame in the middle of the rear axle."""
    heavy, stiff, apart = scalars(mass, inertia, wheelbase)

    def kinetic(t: Scalar, q: Row, v: Row) -> Scalar:
        turning = v[2] ** 2 + (v[2] + v[4]) ** 2
        return 0.5 * heavy * (v[0] ** 2 + v[1] ** 2 + v[3] ** 2) + 0.5 * stiff * turning

    def wheels(t: Scalar, q: Row, v: Row) -> Row:
        front = q[2] + q[4]
        sideways = -jnp.sin(front) * v[0] + jnp.cos(front) * v[1] + apart * jnp.cos(q[4]) * v[2]
        return jnp.stack([_along(q[2], v) - v[3], _aside(q[2], v), sideways])

    system = System.from_lagrangian(kinetic, coordinates={**_POSE, "rolled": "length", "steering": "angle"})
    return Mover.from_constraints(
        system.constrained(velocity=wheels),
        SE2(),
        limits={"The front wheels stand across: steering must stay within a quarter turn": _quarter},
    )


def snake(lengths: Numbers = (1.0, 1.0, 1.0), mass: Number = 1.0) -> Mover:
    """Three links with wheels at their centres; shape (alpha1, alpha2) as for `Purcell`, group SE(2).

    Where the three axles meet in one point, or are parallel, the wheels do not determine the motion: as in the straight
    position, and wherever the outer links are turned symmetrically.
    """
    sizes, (heavy,) = jnp.asarray(lengths, float), scalars(mass)
    if sizes.shape != (3,):
        raise ValueError(f"The snake has three links, so lengths are three numbers, but got {lengths!r}.")

    def centres(q: Row) -> Row:
        theta, tail, head = q[2], q[2] - q[3], q[2] + q[4]
        u, b, f = (jnp.stack([jnp.cos(a), jnp.sin(a)]) for a in (theta, tail, head))
        back = q[:2] - 0.5 * (sizes[1] * u + sizes[0] * b)
        front = q[:2] + 0.5 * (sizes[1] * u + sizes[2] * f)
        return jnp.stack([jnp.append(back, tail), q[:3], jnp.append(front, head)]).reshape(-1)

    def kinetic(t: Scalar, q: Row, v: Row) -> Scalar:
        moving = jax.jvp(centres, (q,), (v,))[1].reshape(3, 3)
        squares = moving[:, 0] ** 2 + moving[:, 1] ** 2 + sizes**2 / 12.0 * moving[:, 2] ** 2
        return 0.5 * heavy * jnp.sum(squares)

    def wheels(t: Scalar, q: Row, v: Row) -> Row:
        at, moving = jax.jvp(centres, (q,), (v,))
        at, moving = at.reshape(3, 3), moving.reshape(3, 3)
        return -jnp.sin(at[:, 2]) * moving[:, 0] + jnp.cos(at[:, 2]) * moving[:, 1]

    def spread(r: Shape) -> Scalar:
        """The determinant of the constraints, which vanishes where the axles meet."""
        q = jnp.concatenate([jnp.zeros(3), r])
        rows = [wheels(jnp.zeros(()), q, jnp.append(e, jnp.zeros(2))) for e in jnp.eye(3)]
        return jnp.abs(jnp.linalg.det(jnp.stack(rows))) - _UPRIGHT

    system = System.from_lagrangian(kinetic, coordinates={**_POSE, "alpha1": "angle", "alpha2": "angle"})
    return Mover.from_constraints(
        system.constrained(velocity=wheels),
        SE2(),
        limits={"The axles of the snake meet in one point or are parallel, so its motion is not determined": spread},
    )


def snakeboard(
    mass: Number = 1.0, inertia: Number = 0.5, rotor: Number = 0.3, wheels: Number = 0.1, length: Number = 1.0
) -> Mover:
    """A board with wheels at both ends that turn by opposite angles, and a rotor: shape (rotor, steering), group SE(2).

    `length` is half the distance of the axles, `inertia` the board's, `rotor` and `wheels` (each) about their axes.
    The wheels leave one direction free, along which the board carries a momentum that the shape changes build up.
    Reference: Ostrowski, Lewis, Murray and Burdick, *Nonholonomic mechanics and locomotion: the snakeboard example*,
    1994.
    """
    heavy, stiff, spun, rolled, size = scalars(mass, inertia, rotor, wheels, length)

    def kinetic(t: Scalar, q: Row, v: Row) -> Scalar:
        board = heavy * (v[0] ** 2 + v[1] ** 2) + stiff * v[2] ** 2
        turning = spun * (v[2] + v[3]) ** 2 + rolled * ((v[2] + v[4]) ** 2 + (v[2] - v[4]) ** 2)
        return 0.5 * (board + turning)

    def rolling(t: Scalar, q: Row, v: Row) -> Row:
        lever = size * jnp.cos(q[4]) * v[2]
        return jnp.stack([_aside(q[2] + q[4], v) + lever, _aside(q[2] - q[4], v) - lever])

    system = System.from_lagrangian(kinetic, coordinates={**_POSE, "rotor": "angle", "steering": "angle"})
    return Mover.from_constraints(
        system.constrained(velocity=rolling),
        SE2(),
        limits={"The wheels stand across the board: steering must stay within a quarter turn": _quarter},
    )


def _along(angle: Scalar, v: Row) -> Scalar:
    return jnp.cos(angle) * v[0] + jnp.sin(angle) * v[1]


def _aside(angle: Scalar, v: Row) -> Scalar:
    return -jnp.sin(angle) * v[0] + jnp.cos(angle) * v[1]


def _quarter(r: Shape) -> Scalar:
    return jnp.cos(r[1]) - 1e-9
