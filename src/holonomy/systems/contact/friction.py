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
modes then ends with a code. Friction that unloads a contact is no such case, however large μ is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems.contact.complementarity import EXHAUSTED, SOLVED
from holonomy.systems.contact.impact import Delassus, delassus

SWEEPS = 2000  # over all contacts at most, in search of the impulses that leave the least energy
_EDGE = 1e-9  # a tangential force this near to μλ, in its size, is at the edge of the cone: the contact slides
TRIED = 3  # contacts whose modes are all tried, 4 to the power of their number
_CLEAR = 1e-9  # of its own terms: an acceleration below this is none when modes are judged
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
    force in the cone can keep them so. Up to `TRIED` contacts in the plane are tried in all their modes, so that the
    motion is found wherever there is exactly one. Otherwise, and where forces are not unique, contacts are corrected
    one after the other until nothing changes. The modes found are then solved for exactly.
    """
    found = _swept(*jax.lax.stop_gradient((how, free, creep)), closed, slipping, direction, friction)
    if creep.shape[1] == 1 and creep.shape[0] <= TRIED:
        tried = _tried(*jax.lax.stop_gradient((how, free, creep)), closed, slipping, direction, friction)
        code = jnp.where(tried.several, jnp.int32(EXHAUSTED), jnp.int32(SOLVED))
        pick = lambda new, old: jnp.where(tried.any, new, old)  # noqa: E731
        found = jax.tree.map(pick, (tried.pushing, tried.sticking, tried.direction, code), found)
    pushing, sticking, direction, code = found
    normal, tangential = in_mode(how, free, creep, pushing, sticking, direction, friction)
    return Forces(normal, tangential, sticking & (normal > 0), direction, code)


def _whole(how: Contacts) -> Any:
    """How all forces act on normal accelerations and on the rates of slips."""
    top = jnp.concatenate([how.normal.gram, how.cross], axis=1)
    return jnp.concatenate([top, jnp.concatenate([how.cross.T, how.tangential.gram], axis=1)])


class _Tried(NamedTuple):
    """The modes tried so far: those of the first solution, the accelerations of it, and whether there are others."""

    any: Any
    several: Any
    pushing: Any
    sticking: Any
    direction: Any
    accelerations: Any


def _tried(how: Contacts, free: Any, creep: Any, closed: Any, slipping: Any, direction: Any, friction: Any) -> _Tried:
    """All modes of planar contacts, one after the other: sticking, sliding either way, open."""
    count = free.shape[0]
    able = closed & (jnp.diagonal(how.normal.gram) > 0)
    whole, start = _whole(how), jnp.concatenate([free, creep.reshape(-1)])

    def once(k: Any, now: _Tried) -> _Tried:
        mode = (k // 4 ** np.arange(count)) % 4
        sticks, opens = mode == 0, mode == 3
        sign = jnp.where(mode == 1, 1.0, -1.0)
        way = jnp.where(slipping, direction[:, 0], sign)
        allowed = jnp.where(able, ~slipping | (mode == 1) | opens, opens)
        way = jnp.where(sticks | opens, 0.0, way)
        normal, tangential = in_mode(how, free, creep, ~opens, sticks, way[:, None], friction)
        forces = jnp.concatenate([normal, tangential[:, 0]])
        accelerations = whole @ forces + start
        noise = _CLEAR * (jnp.abs(whole) @ jnp.abs(forces) + jnp.abs(start))
        away, drift = accelerations[:count], accelerations[count:]
        pushes = normal * jnp.diagonal(how.normal.gram) > -noise[:count]
        held = jnp.abs(tangential[:, 0]) <= (1.0 - _EDGE) * friction * normal
        slides = slipping | (way * drift >= -noise[count:])
        right = jnp.where(opens, away >= -noise[:count], pushes & jnp.where(sticks, held, slides))
        # of contacts that are not closed nothing is asked
        good = jnp.all(allowed & (right | ~able)) & jnp.all(jnp.isfinite(forces))
        other = jnp.any((jnp.abs(accelerations - now.accelerations) > 10.0 * noise) & jnp.tile(able, 2))
        first = good & ~now.any
        new = (~opens & (normal > 0), sticks & ~opens & (normal > 0), way[:, None], accelerations)
        kept = (now.pushing, now.sticking, now.direction, now.accelerations)
        several = now.several | (good & now.any & other)
        return _Tried(now.any | good, several, *(jnp.where(first, a, b) for a, b in zip(new, kept, strict=True)))

    none = jnp.zeros(count, bool)
    begin = _Tried(jnp.bool_(False), jnp.bool_(False), none, none, jnp.zeros_like(creep), jnp.zeros_like(start))
    return jax.lax.fori_loop(0, 4**count, once, begin)


def _swept(
    how: Contacts, free: Any, creep: Any, closed: Any, slipping: Any, direction: Any, friction: Any
) -> tuple[Any, Any, Any, Any]:
    """Which contacts push and stick, where they slide to, and a code: one contact after the other, until all agree."""
    count, d = creep.shape
    gram, start = _whole(how), jnp.concatenate([free, creep.reshape(-1)])
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

    weight = jnp.max(jnp.where(able, jnp.abs(free) / jnp.where(able, jnp.diagonal(how.normal.gram), 1.0), 0.0))
    values, code = _settle(sweep, jnp.zeros_like(start), lambda new: jnp.maximum(jnp.max(jnp.abs(new)), weight))
    normal, tangential = values[:count], values[count:].reshape(count, d)
    length = jnp.sqrt(jnp.sum(tangential**2, axis=1))
    sticking = ~slipping & (length < (1.0 - _EDGE) * friction * normal)
    towards = -tangential / jnp.where(length > 0, length, 1.0)[:, None]
    direction = jnp.where(slipping[:, None], direction, jnp.where(sticking[:, None], 0.0, towards))
    return normal > 0, sticking, direction, code
