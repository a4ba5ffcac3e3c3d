"""What a system has at a state, compiled once per structure: the system is an argument, its form is the cache key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.systems import lagrangian
from holonomy.types import AnyArray, Covector, Matrix, Number, Point, Positions, Scalar, Tangent

if TYPE_CHECKING:
    from holonomy.systems.system import System

_BATCH = 256  # states per compiled call of `places`


@eqx.filter_jit
def mass_matrix(system: System, t: Number, q: Point, v: Tangent) -> Matrix:
    """The mass matrix in the chart at q."""
    local = system.local(q)
    return lagrangian.mass_matrix(local.lagrangian, t, *local.enter(v))


@eqx.filter_jit
def momentum(system: System, t: Number, q: Point, v: Tangent) -> Covector:
    """The momentum as an ambient covector."""
    local = system.local(q)
    y, w = local.enter(v)
    return local.leave_momentum(y, lagrangian.momentum(local.lagrangian, t, y, w))


def pull_and_momentum(system: System, t: Number, q: Point, v: Tangent) -> tuple[Covector, Covector]:
    r"""\(\partial L/\partial q\), whose zeros tell cyclic coordinates, and the momentum; for code that is being traced.

    On a curved space no coordinate is cyclic, so the first is not zero there, and the momentum is the ambient covector
    tangent to the space: its product with a tangent vector, such as a Killing field, is that of the momentum.
    """
    if system.flat:
        return jax.grad(system.raw_lagrangian, argnums=(1, 2))(t, q, v)
    slope = jax.grad(system.raw_lagrangian, argnums=2)(t, q, v)
    return jnp.ones_like(v), system.space.tangent_covector(q, slope)


@eqx.filter_jit
def velocity(system: System, t: Number, q: Point, p: Covector, guess: Tangent) -> Tangent:
    """The velocity with momentum p, found from `guess`."""
    local = system.local(q)
    y, w = local.enter(guess)
    w = lagrangian.velocity(local.lagrangian, t, y, local.enter_momentum(p), w, system.definite, local.solves(t, y))
    return local.leave(y, w)[1]


@eqx.filter_jit
def hamiltonian(system: System, t: Number, q: Point, p: Covector) -> Scalar:
    """p·v - L at the velocity that belongs to p."""
    v = velocity(system, t, q, p, jnp.zeros_like(p))
    return jnp.dot(p, v) - system.raw_lagrangian(t, q, v)


@eqx.filter_jit
def energy(system: System, t: Number, q: Point, v: Tangent) -> Scalar:
    """The energy."""
    return system.raw_energy(t, q, v)


@eqx.filter_jit
def acceleration(system: System, t: Number, q: Point, v: Tangent) -> Tangent:
    """`ambient_acceleration`, compiled."""
    return ambient_acceleration(system, t, q, v)


def ambient_acceleration(system: System, t: Number, q: Point, v: Tangent) -> Tangent:
    """The second derivative of the point along the motion, for code that is being traced."""
    local = system.local(q)
    y, w = local.enter(v)
    a = local.acceleration(t, y, w)
    # d/dt of (point, velocity) along the chart's (y, w): second derivatives of the chart add their share
    return jax.jvp(lambda y, w: local.leave(y, w)[1], (y, w), (w, a))[1]


def places(system: System, times: AnyArray, points: AnyArray) -> np.ndarray:
    """Where the particles are at many times, (times, particles, d), in batches of one compiled size."""
    out = []
    for at in range(0, len(times), _BATCH):
        t, q = np.asarray(times[at : at + _BATCH]), np.asarray(points[at : at + _BATCH])
        short = _BATCH - len(t)
        t, q = np.pad(t, (0, short), mode="edge"), np.pad(q, ((0, short), (0, 0)), mode="edge")
        out.append(np.asarray(_places(system, jnp.asarray(t), jnp.asarray(q)))[: _BATCH - short])
    return np.concatenate(out)


@eqx.filter_jit
def _places(
    system: System, times: Float[Array, " times"], points: Float[Array, "times point"]
) -> Float[Array, "times particles d"]:
    return jax.vmap(lambda t, q: place(system, t, q))(times, points)


@eqx.filter_jit
def place(system: System, t: Number, q: Point) -> Positions:
    """Where the particles are."""
    assert system.positions is not None
    return system.positions(t, q, *system.last)
