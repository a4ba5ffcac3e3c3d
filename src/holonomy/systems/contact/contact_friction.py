"""Friction along a motion: its impulses at an impact, and which contacts stick or slide from a state on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from holonomy.systems.constraints.kkt import multipliers
from holonomy.systems.contact import friction
from holonomy.systems.contact.impact import stopping
from holonomy.systems.in_chart import Local
from holonomy.types import AnyArray, Count, Matrix, Number, Point, Tangent, Vector

if TYPE_CHECKING:
    from holonomy.systems.system import System

_STILL = 1e-11  # of the speed: a slip below this is none
_STOPPED = 1e-7  # of what the slip changes by in a step: less is none where it has turned round


class FrictionData(NamedTuple):
    """Friction at a state: how forces act, gradients of the slips, and what it did at an impact."""

    how: friction.Contacts
    slopes: Float[Array, "c e n"]
    change: Vector
    code: Count


def at_impact(
    local: Local,
    t: Number,
    y: Vector,
    w: Vector,
    mass: Matrix,
    normals: Float[Array, "c n"],
    impulses: Float[Array, " c"],
) -> FrictionData:
    """The change of velocity by friction at an impact whose normal impulses are known."""
    slopes = jax.jacfwd(lambda u: local.slips(t, y, u))(w)
    held = local.hold(t, y, w)
    how = friction.contacts(mass, None if held is None else held.normals(t, y), normals, slopes, local.definite)
    bounds = _coefficients(local.system) * impulses
    found, code = friction.friction_impulses(how.tangential, local.slips(t, y, w), bounds)
    return FrictionData(how, slopes, how.tangential.across @ found.reshape(-1), code)


def modes(
    local: Local,
    t: Number,
    y: Vector,
    w: Vector,
    data: FrictionData,
    pulls: Float[Array, " c"],
    able: Bool[Array, " c"],
    turned: Bool[Array, " c"],
    pace: Number,
) -> friction.Forces:
    """Which contacts push, stick and slide from a state on; `turned` ones slid or stuck until here."""
    slips = local.slips(t, y, w)
    drift = jax.jvp(lambda s, x: local.slips(s, x, w), (t, y), (jnp.ones_like(t), w))[1]
    creep = drift + data.slopes @ local.acceleration(t, y, w)
    length = _length(slips)
    still = _STILL * jnp.sqrt(jnp.max(jnp.sum(data.slopes**2, axis=2), axis=1)) * _length(w)
    if slips.shape[1] == 1:
        slipping = (length > still) & ~turned
    else:
        # a slip of two components that has turned round is zero, or has only turned far from where it began
        slipping = length > jnp.where(turned, jnp.maximum(still, _STOPPED * pace * _length(creep)), still)
    direction = slips / jnp.where(slipping, length, 1.0)[:, None]
    return friction.modes(data.how, pulls, creep, able, slipping, direction, _coefficients(local.system))


def stuck(local: Local, t: Number, y: Vector, w: Vector, sticking: Bool[AnyArray, " c"], data: FrictionData) -> Vector:
    """The velocity with the slips of contacts that stick brought to zero."""
    held = jnp.repeat(sticking, local.system.constraints.walls.friction.dim)
    how = data.how.tangential
    return w + how.across @ stopping(how.gram, held, local.slips(t, y, w).reshape(-1))


def grips(system: System, t: Number, q: Point, v: Tangent) -> Float[Array, " c"]:
    r"""What keeps contacts in their modes: \(\mu\lambda - |\tau|\) where they stick, the slip where they slide."""
    given = system.constraints
    assert given.touch is not None
    active, sticking, direction, _ = given.touch
    assert sticking is not None
    assert direction is not None
    c = given.facing[0]
    local = system.local(q)
    y, w = local.enter(v)
    forces = multipliers(local, t, y, w)[given.equations.total :]
    room = _coefficients(system) * forces[:c] - _length(forces[c:].reshape(c, given.walls.friction.dim))
    slides = jnp.sum(local.slips(t, y, w) * direction, axis=1)
    return jnp.where(active, jnp.where(sticking, room, slides), 1.0)


def _length(vectors: Any) -> Any:
    square = jnp.sum(vectors**2, axis=-1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def _coefficients(system: System) -> Any:
    """The coefficients of friction of the walls that are looked at."""
    return system.constraints.of_near(system.constraints.walls.friction.coefficients)
