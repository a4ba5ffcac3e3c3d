r"""Coulomb's friction at point contacts: impulses at an impact, forces while sliding or sticking.

At a closed contact the slip s is the tangential velocity of the touching points, d numbers (one in the plane, two in
space). With the normal force λ and the tangential force τ,

\[ |\tau| \le \mu\lambda, \qquad \tau = -\mu\lambda\,\frac{s}{|s|} \text{ where } s \ne 0. \]

**At an impact** the normal impulses Λ come first, as without friction; then, within \(|T_i| \le \mu_i\Lambda_i\), those
tangential impulses that leave the least kinetic energy. For particles, and wherever tangential impulses do not act on
normal velocities, that is Coulomb's law; elsewhere it is the principle of largest dissipation: it has one outcome and
never adds energy, where Coulomb's law with Newton's restitution can do so.

**In motion** a contact slides (τ follows from λ), or sticks (τ is what keeps s = 0). Where friction presses a body
into its support, as it can for large μ, Coulomb's law has no solution or more than one (Painlevé); the search for the
modes then ends with a code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems.contact.complementarity import EXHAUSTED, SOLVED
from holonomy.systems.contact.impact import Delassus, delassus

SWEEPS = 2000
_EDGE = 1e-9  # a tangential force this near to μλ, in its size, is at the edge of the cone: the contact slides
_SETTLED = 4.0  # in units of round-off: changes of a sweep that end the search


class Contacts(NamedTuple):
    r"""How normal and tangential forces act on normal accelerations and slips: the blocks of \(G M^{-1} G^\top\).

    `tangential` belongs to the c·d slips in a row; `cross` is how these forces act on normal velocities.
    """

    normal: Delassus
    tangential: Delassus
    cross: Float[Array, "c k"]


class Forces(NamedTuple):
    """Forces of contacts: normal, tangential, which contacts stick, where the others slide to, and a code."""

    normal: Float[Array, " c"]
    tangential: Float[Array, "c d"]
    sticking: Bool[Array, " c"]
    direction: Float[Array, "c d"]
    code: Int[Array, ""]


def contacts(
    mass: Float[Array, "n n"],
    held: Float[Array, "m n"] | None,
    normals: Float[Array, "c n"],
    slips: Float[Array, "c d n"],
    definite: bool = True,
) -> Contacts:
    """The action of forces along `normals` and along `slips`, the gradients of the slips over velocities."""
    normal = delassus(mass, held, normals, definite)
    tangential = delassus(mass, held, slips.reshape(-1, mass.shape[0]), definite)
    return Contacts(normal, tangential, normals @ tangential.across)


# ── Impacts ───────────────────────────────────────────────────────────────────────────────────────────


def friction_impulses(
    how: Delassus, slips: Float[Array, "c d"], bounds: Float[Array, " c"]
) -> tuple[Float[Array, "c d"], Int[Array, ""]]:
    r"""Tangential impulses within \(|T_i| \le\) `bounds` that leave the least kinetic energy, and a code.

    `slips` are the tangential velocities without them. The minimum of a convex function over discs, by one contact
    after the other until nothing changes; for a single contact on which directions are alike, exact at once.
    """
    values, code = _least(how.gram, slips, bounds)
    return values, code.astype(jnp.int32)


@jax.custom_jvp
def _least(gram: Any, slips: Any, bounds: Any) -> tuple[Any, Any]:
    count, d = slips.shape

    def sweep(values: Any) -> Any:
        for i in range(count):
            slip = slips[i] + jnp.sum(gram[i * d : (i + 1) * d] * values.reshape(1, -1), axis=1)
            values = values.at[i].set(_in_disc(values[i] - slip * _inverse_stiffness(gram, i, d), bounds[i]))
        return values

    values, code = _settle(sweep, jnp.zeros_like(slips), lambda _: jnp.max(bounds))
    return values, code.astype(slips.dtype)


@_least.defjvp
def _(primals: Any, tangents: Any) -> Any:
    """Forward derivatives of the sweeps, as a matrix, so that reverse mode need not go through the loop."""

    def along(*args: Any) -> tuple[Any, Any]:
        out = _least.fun(*args)
        return out[0], out

    slopes, out = jax.jacfwd(along, argnums=(0, 1, 2), has_aux=True)(*primals)
    change = sum(jnp.tensordot(s, x, x.ndim) for s, x in zip(slopes, tangents, strict=True))
    return out, (change, jnp.zeros_like(out[1]))


def _in_disc(force: Any, radius: Any) -> Any:
    length = jnp.sqrt(jnp.sum(force**2))
    return jnp.where(length > radius, force * (radius / jnp.where(length > 0, length, 1.0)), force)


def _inverse_stiffness(gram: Any, i: int, d: int) -> Any:
    """One over a bound of the largest eigenvalue of a contact's own block, zero where it cannot move."""
    block = gram[i * d : (i + 1) * d, i * d : (i + 1) * d]
    bound = jnp.max(jnp.sum(jnp.abs(block), axis=1))
    return jnp.where(bound > 0, 1.0 / jnp.where(bound > 0, bound, 1.0), 0.0)


def _settle(sweep: Any, start: Any, size: Any) -> tuple[Any, Any]:
    """The limit of sweeps, or where they are after SWEEPS of them, and a code."""

    def once(now: Any) -> Any:
        values, _, count = now
        new = sweep(values)
        change = jnp.max(jnp.abs(new - values))
        still = (change <= _SETTLED * jnp.finfo(values.dtype).eps * size(new)) & (change < jnp.inf)
        return new, ~still, count + 1

    end, moving, _ = jax.lax.while_loop(
        lambda now: now[1] & (now[2] < SWEEPS), once, (start, jnp.bool_(True), jnp.int32(0))
    )
    return end, jnp.where(moving, jnp.int32(EXHAUSTED), jnp.int32(SOLVED))


# ── Motion in contact ─────────────────────────────────────────────────────────────────────────────────


def in_mode(
    how: Contacts,
    free: Float[Array, " c"],
    creep: Float[Array, "c d"],
    pushing: Bool[Array, " c"],
    sticking: Bool[Array, " c"],
    direction: Float[Array, "c d"],
    friction: Float[Array, " c"],
) -> tuple[Float[Array, " c"], Float[Array, "c d"]]:
    r"""Normal and tangential forces of contacts whose modes are known: one linear system.

    `free` and `creep` are normal accelerations and rates of slip without the contacts' forces. Contacts that push keep
    the normal acceleration zero; of these, `sticking` ones keep the slip's rate zero, others slide along `direction`.
    """
    count, d = creep.shape
    hold = jnp.repeat(pushing & sticking, d)
    one = jnp.eye(count, dtype=free.dtype)
    slides = jnp.where((pushing & ~sticking)[:, None], friction[:, None] * direction, 0.0)
    follow = (one[:, None, :] * slides[:, :, None]).reshape(count * d, count)
    top = jnp.concatenate([how.normal.gram, how.cross], axis=1)
    low = jnp.concatenate([how.cross.T, how.tangential.gram], axis=1)
    rest = jnp.concatenate([follow, jnp.eye(count * d, dtype=free.dtype)], axis=1)
    whole = jnp.eye(count + count * d, dtype=free.dtype)[:count]
    matrix = jnp.concatenate([jnp.where(pushing[:, None], top, whole), jnp.where(hold[:, None], low, rest)])
    right = jnp.concatenate([jnp.where(pushing, -free, 0.0), jnp.where(hold, -creep.reshape(-1), 0.0)])
    found = jnp.linalg.solve(matrix, right)
    return found[:count], found[count:].reshape(count, d)


def modes(
    how: Contacts,
    free: Float[Array, " c"],
    creep: Float[Array, "c d"],
    closed: Bool[Array, " c"],
    slipping: Bool[Array, " c"],
    direction: Float[Array, "c d"],
    friction: Float[Array, " c"],
) -> Forces:
    r"""Which closed contacts push, which of them stick, and where the others begin to slide to.

    Contacts that are `slipping` slide along `direction`; the slips of the others are zero now, and they stick if a
    force in the cone can keep them so. Contacts are corrected one after the other until nothing changes; the modes
    found are then solved for exactly.
    """
    count, d = creep.shape
    gram = jnp.concatenate(
        [
            jnp.concatenate([how.normal.gram, how.cross], axis=1),
            jnp.concatenate([how.cross.T, how.tangential.gram], axis=1),
        ]
    )
    start = jnp.concatenate([free, creep.reshape(-1)])
    able = closed & (jnp.diagonal(how.normal.gram) > 0)

    def sweep(values: Any) -> Any:
        for i in range(count):
            stiff = jnp.where(able[i], gram[i, i], 1.0)
            push = jnp.maximum(values[i] - (start[i] + jnp.dot(gram[i], values)) / stiff, 0.0)
            values = values.at[i].set(jnp.where(able[i], push, 0.0))
            at = slice(count + i * d, count + (i + 1) * d)
            rate = start[at] + gram[at] @ values
            held = _in_disc(values[at] - rate * _inverse_stiffness(how.tangential.gram, i, d), friction[i] * values[i])
            values = values.at[at].set(jnp.where(slipping[i], -friction[i] * values[i] * direction[i], held))
        return values

    # the sweeps only tell the modes; forces, and their derivatives, come from these
    gram, start = jax.lax.stop_gradient((gram, start))
    weight = jnp.max(jnp.where(able, jnp.abs(free) / jnp.where(able, jnp.diagonal(how.normal.gram), 1.0), 0.0))
    values, code = _settle(sweep, jnp.zeros_like(start), lambda new: jnp.maximum(jnp.max(jnp.abs(new)), weight))
    normal, tangential = values[:count], values[count:].reshape(count, d)
    length = jnp.sqrt(jnp.sum(tangential**2, axis=1))
    sticking = ~slipping & (length < (1.0 - _EDGE) * friction * normal)
    towards = -tangential / jnp.where(length > 0, length, 1.0)[:, None]
    direction = jnp.where(slipping[:, None], direction, jnp.where(sticking[:, None], 0.0, towards))
    normal, tangential = in_mode(how, free, creep, normal > 0, sticking, direction, friction)
    return Forces(normal, tangential, sticking & (normal > 0), direction, code)
