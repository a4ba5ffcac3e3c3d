"""Bodies that turn and move by their inertia alone: raft, cat, robot in space, and bodies in curved space."""

from __future__ import annotations

from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.locomotion import Mover
from holonomy.locomotion.arrays import Row, Shape
from holonomy.models.movers.wheels import scalars
from holonomy.spaces import SE2, SO3, AbstractSpace, Euclidean, Hyperbolic, Product, Sphere
from holonomy.spaces import quaternion as qt
from holonomy.systems import System
from holonomy.types import Number, Numbers, Scalar

Plane: TypeAlias = Float[Array, " 2"]


def raft(mass: Number = 1.0, inertia: Number = 1.0, bob: Number = 1.0, length: Number = 1.0) -> Mover:
    r"""A raft that slides and turns freely on water, with a spherical pendulum on a motor at its centre of mass.

    Shape (polar, azimuth): the pendulum's angles from the vertical and around it, relative to the raft; group SE(2).
    One turn of the azimuth at a fixed polar angle turns the raft by \(-2\pi J/(I+J)\) with
    \(J = \frac{mM}{m+M}l^2\sin^2\theta\).
    """
    heavy, stiff, hung, size = scalars(mass, inertia, bob, length)

    def lagrangian(t: Scalar, q: Row, v: Row) -> Scalar:
        def place(q: Row) -> Row:
            heading = q[2] + q[4]
            across = size * jnp.sin(q[3]) * jnp.stack([jnp.cos(heading), jnp.sin(heading)])
            return jnp.append(q[:2] + across, -size * jnp.cos(q[3]))

        moving = jax.jvp(place, (q,), (v,))[1]
        return 0.5 * (heavy * (v[0] ** 2 + v[1] ** 2) + stiff * v[2] ** 2 + hung * jnp.sum(moving**2))

    kinds = {"x": "length", "y": "length", "theta": "angle", "polar": "angle", "azimuth": "angle"}
    return Mover.from_momentum(System.from_lagrangian(lagrangian, coordinates=kinds), SE2())


def falling_cat(mass: Number = 1.0, length: Number = 1.0, across: Number = 0.3, along: Number = 0.1) -> Mover:
    r"""A cat in free fall: two equal round halves, joined so that they bend but do not twist against each other.

    The spine at rest is the z axis. Shape (bend_x, bend_y): the rotation vector, perpendicular to the spine, that takes
    the rear half's direction to the front half's; group SO(3), the frame in the middle between the halves. Of each
    half: its `mass`, the distance `length`/2 of its centre from the joint, and its moments of inertia about its centre,
    `across` and `along` the spine. A bend of constant size that goes once around turns the cat about its spine.

    Reference: Kane and Scher, *A dynamical explanation of the falling cat phenomenon*, 1969.
    """
    group = SO3()
    moments = jnp.stack(scalars(across, across, along))

    def half(sign: float, bend: Shape) -> Row:
        return group.group_exp(0.5 * sign * jnp.append(bend, 0.0))

    def arm(bend: Shape) -> Row:
        """Half of the vector from the rear centre to the front one."""
        out = jnp.stack([jnp.zeros(()), jnp.zeros(()), 0.5 * jnp.asarray(length, float)])
        return 0.5 * (qt.rotate(half(1.0, bend), out) + qt.rotate(half(-1.0, bend), out))

    def lagrangian(t: Scalar, q: Row, v: Row) -> Scalar:
        omega, bend, rate = group.body_velocity(q[:4], v[:4]), q[4:], v[4:]
        energy = jnp.zeros(())
        for sign in (1.0, -1.0):
            h, moving = jax.jvp(lambda b, sign=sign: half(sign, b), (bend,), (rate,))
            spin = qt.rotate(qt.conjugate(h), omega) + group.body_velocity(h, moving)
            energy = energy + 0.5 * jnp.sum(moments * spin**2)
        centre, sliding = jax.jvp(arm, (bend,), (rate,))
        return energy + mass * jnp.sum((jnp.cross(omega, centre) + sliding) ** 2)

    names = ("w", "i", "j", "k", "bend_x", "bend_y")
    system = System.from_lagrangian(lagrangian, coordinates=names, space=Product(group, Euclidean(2)))
    return Mover.from_momentum(system, group)


def space_robot(
    mass: Number = 10.0,
    inertia: Number = 5.0,
    lengths: Numbers = (1.0, 1.0),
    masses: Numbers = (1.0, 1.0),
    reach: Number = 0.5,
) -> Mover:
    """A robot floating in the plane, with an arm of uniform links on its base: the shape is the angles of its joints.

    `mass` and `inertia` of the base, `reach` the distance of the shoulder from its centre; group SE(2).
    """
    sizes, weights = jnp.asarray(lengths, float), jnp.asarray(masses, float)
    if sizes.ndim != 1 or sizes.shape != weights.shape:
        raise ValueError(f"lengths and masses have one number for each link; got {lengths!r} and {masses!r}.")
    count = sizes.shape[0]

    def lagrangian(t: Scalar, q: Row, v: Row) -> Scalar:
        def centres(q: Row) -> Float[Array, "_ 3"]:
            heading, rows = q[2], [q[:3]]
            tip = q[:2] + reach * jnp.stack([jnp.cos(heading), jnp.sin(heading)])
            for k in range(count):
                heading = heading + q[3 + k]
                step = sizes[k] * jnp.stack([jnp.cos(heading), jnp.sin(heading)])
                rows.append(jnp.append(tip + 0.5 * step, heading))
                tip = tip + step
            return jnp.stack(rows)

        moving = jax.jvp(centres, (q,), (v,))[1]
        heavy = jnp.concatenate([jnp.asarray(mass, float)[None], weights])
        stiff = jnp.concatenate([jnp.asarray(inertia, float)[None], weights * sizes**2 / 12.0])
        return 0.5 * jnp.sum(heavy * (moving[:, 0] ** 2 + moving[:, 1] ** 2) + stiff * moving[:, 2] ** 2)

    kinds = {"x": "length", "y": "length", "theta": "angle"} | {f"alpha{k + 1}": "angle" for k in range(count)}
    return Mover.from_momentum(System.from_lagrangian(lagrangian, coordinates=kinds), SE2())


def curved_body(space: AbstractSpace, masses: Numbers = 1.0) -> Mover:
    """A body of three masses in a surface: one at the tip and one at the end of each of two arms.

    Shape (arm, opening): the length of the arms, and the angle of each with the axis of the body, the first axis of the
    frame at the origin of the space; `space` is Sphere(2), Hyperbolic(2) or Euclidean(2). In a curved space a cycle of
    shapes moves it along its axis, with momentum zero all the while; in a flat one it does not.
    Reference: Wisdom, *Swimming in spacetime: motion by cyclic changes in body shape*, 2003.
    """
    if not isinstance(space, (Sphere, Hyperbolic, Euclidean)) or space.dim != 2:
        raise ValueError(f"The body lives in Sphere(2), Hyperbolic(2) or Euclidean(2), but got {space!r}.")
    weights = jnp.broadcast_to(jnp.asarray(masses, float), (3,))
    curved = isinstance(space, (Sphere, Hyperbolic))

    def place(along: Plane) -> Row:
        return space.exp(space.origin, jnp.append(along, 0.0) if curved else along)

    def places(r: Shape) -> Float[Array, "3 _"]:
        one, two = (r[0] * jnp.stack([jnp.cos(r[1]), s * jnp.sin(r[1])]) for s in (1.0, -1.0))
        return jnp.stack([space.origin, place(one), place(two)])

    return Mover.from_masses(places, weights, space, {"arm": "length", "opening": "angle"})
