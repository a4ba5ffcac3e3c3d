r"""Impacts as reflections in the kinetic metric, one or several at once, and which closed contacts push.

At contact \(\sigma_i(t,q) = 0\) the normal velocities are \(u = \partial_t\sigma + G v\) with
\(G = \partial\sigma/\partial q\). Impulses \(\Lambda \ge 0\) along the normals change v by \(A\Lambda\) and u by
\(W\Lambda\), with \(A = P M^{-1}G^\top\), \(W = G A\), P the projection onto velocities that keep the held constraints,
orthogonal in the kinetic metric. One contact alone: \(\Lambda = -(1+e)\,u/W\) where \(u < 0\).

**Several at once** (`law="generalised"`; Smith, Kaufman, Vouga, Tamstorf, Grinspun, Reflections on simultaneous impact,
2012). Elastic: take the contacts that are violated now, \(u_i < 0\); project the velocity onto the cone on which they
are not, in the kinetic metric (a complementarity problem); reflect, that is, go as far again; repeat until none is.

- Energy is kept: each round is a reflection, an isometry of the kinetic metric.
- Momentum is kept, as by every set of impulses along normals.
- Symmetry is kept: no contact comes before another.
- It ends. A velocity z into the free cone, \(G z > 0\), has \(\langle v, z\rangle\) grow with each round while
  \(|v|\) stays. In a wedge of angle α there can be about π/α rounds; at most `ROUNDS` are made.
- What a shock hands on goes on: only violated contacts act, so that of five balls in a row the last one leaves.

Restitution below one mixes the elastic velocity with the inelastic one, the projection onto the cone of **all** closed
contacts: \(v^+ = e\,v_1 + (1-e)\,v_0\). Both ends are admissible and the cone is convex, so the mixture is; its energy
lies below the elastic one; a single contact obeys Newton's law. Repeating partly elastic rounds instead may go on for
ever (inelastic collapse). Contacts that act on each other share one e, the mean of theirs weighted with the elastic
impulses; contacts that do not keep their own.

For comparison, `law="joint"`: one problem for all closed contacts, \(0 \le \Lambda \perp u^+ + e\min(u, 0) \ge 0\):
symmetric, but a row of balls flies apart together. `law="pairwise"`: the first violated contact, in the order given,
again and again: it depends on the order.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems.constraints.conditions import Law
from holonomy.systems.constraints.kkt import border, bordered_solve
from holonomy.systems.contact.complementarity import EXHAUSTED, SOLVED, complementarity
from holonomy.systems.dense_solve import RANK, back_substitute, factor

ROUNDS = 1000  # reflections of one impact at most, which serves wedges of angles down to about π/1000
_NOISE = 256.0  # normal velocities below this many roundings of the speed are none
_COUPLED = 1e-10  # cosine, in the kinetic metric, from which on two normals act on each other


class Delassus(NamedTuple):
    r"""How impulses along normals act: on velocities, \(A = P M^{-1}G^\top\); on normal velocities, \(W = GA\)."""

    across: Float[Array, "n c"]
    gram: Float[Array, "c c"]


class Impact(NamedTuple):
    """The outcome of an impact.

    `change` is the velocity after less that before; `struck` are the contacts that took part; `smooth` says that it was
    one alone, so that the outcome is a smooth function of the state. `code` is SOLVED, CONTRADICTORY or EXHAUSTED.
    """

    change: Float[Array, " n"]
    impulses: Float[Array, " c"]
    struck: Bool[Array, " c"]
    smooth: Bool[Array, ""]
    rounds: Int[Array, ""]
    code: Int[Array, ""]


class Push(NamedTuple):
    """Which contacts push: their multipliers, the normal accelerations that remain, and a code as in `Impact`."""

    multipliers: Float[Array, " c"]
    accelerations: Float[Array, " c"]
    code: Int[Array, ""]


def delassus(
    mass: Float[Array, "n n"], held: Float[Array, "m n"] | None, normals: Float[Array, "c n"], definite: bool = True
) -> Delassus:
    """How impulses along `normals` act within the velocities that keep the constraints with normals `held`.

    A normal that lies in the span of the held ones cannot push: its column is zero.
    """
    free = factor(mass, definite)
    whole = jax.vmap(lambda row: back_substitute(free, row))(normals).T
    if held is None or held.shape[0] == 0:
        gram = normals @ whole
        return Delassus(whole, 0.5 * (gram + gram.T))
    bordered = border(mass, held, definite)
    none = jnp.zeros(held.shape[0], mass.dtype)
    across = jax.vmap(lambda row: bordered_solve(bordered, row, none)[0])(normals).T
    gram = normals @ across
    # what the held constraints leave of a normal they span is rounding
    able = jnp.diagonal(gram) > RANK**2 * jnp.diagonal(normals @ whole)
    across = jnp.where(able[None, :], across, 0.0)
    gram = jnp.where(able[:, None] & able[None, :], 0.5 * (gram + gram.T), 0.0)
    return Delassus(across, gram)


def impact(
    how: Delassus,
    rates: Float[Array, " c"],
    closed: Bool[Array, " c"],
    restitution: Float[Array, " c"],
    speed: Float[Array, ""] | None = None,
    law: Law = "generalised",
) -> Impact:
    r"""What an impact with normal velocities `rates` at the `closed` contacts does.

    `speed` is the size of the whole velocity in the kinetic metric, \(\sqrt{v\cdot M v}\): normal velocities lost in
    its rounding count as none. Without it the largest normal velocity stands in.
    """
    able = closed & (jnp.diagonal(how.gram) > 0)
    sizes = jnp.sqrt(jnp.where(able, jnp.diagonal(how.gram), 1.0))
    largest = jnp.max(jnp.where(able, jnp.abs(rates) / sizes, 0.0), initial=0.0)
    fast = largest if speed is None else jnp.maximum(speed, largest)
    noise = jax.lax.stop_gradient(_NOISE * jnp.finfo(rates.dtype).eps * fast * sizes)
    if rates.shape[0] == 1:
        hit = able & (rates < -noise)
        # not by the root squared: its rounding has a side, and energy would grow with the number of impacts
        impulses = jnp.where(hit, -(1.0 + restitution) * rates / jnp.where(hit, jnp.diagonal(how.gram), 1.0), 0.0)
        rounds, code = jnp.int32(1), jnp.int32(SOLVED)
    else:
        impulses, counts = _impulses(law, how.gram, rates, restitution, able, noise)
        rounds, code = counts[0].astype(jnp.int32), counts[1].astype(jnp.int32)
    struck = impulses * sizes > 0
    smooth = (jnp.sum(struck) == 1) & (rounds == 1)
    if rates.shape[0] > 1:
        # one contact alone: Newton's law in closed form, which has derivatives of every order
        weight = jnp.where(struck, jnp.diagonal(how.gram), 1.0)
        impulses = jnp.where(struck & smooth, -(1.0 + restitution) * rates / weight, impulses)
    return Impact(how.across @ impulses, impulses, struck, smooth, rounds, code)


def push(how: Delassus, free: Float[Array, " c"], closed: Bool[Array, " c"]) -> Push:
    r"""Which of the closed contacts push: \(0 \le \lambda \perp W\lambda + \ddot\sigma \ge 0\).

    `free` are the normal accelerations \(\ddot\sigma\) of the motion without the contacts' forces, the held constraints
    kept. The acceleration in contact is that motion's plus `how.across @ multipliers`.
    """
    found = complementarity(how.gram, free, closed)
    return Push(found.values, found.slack, found.code)


def stopping(gram: Float[Array, "c c"], which: Bool[Array, " c"], rates: Float[Array, " c"]) -> Float[Array, " c"]:
    """Impulses at some contacts, with independent normals, that bring their `rates` to zero."""
    both = which[:, None] & which[None, :]
    matrix = jnp.where(both, gram, jnp.eye(gram.shape[0], dtype=gram.dtype))
    return back_substitute(factor(matrix, definite=True), jnp.where(which, -rates, 0.0))


# ── Several contacts ──────────────────────────────────────────────────────────────────────────────────


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _impulses(law: Law, gram: Any, rates: Any, restitution: Any, able: Any, noise: Any) -> tuple[Any, Any]:
    return _laws(law, gram, rates, restitution, able, noise)


@_impulses.defjvp
def _(law: Law, primals: Any, tangents: Any) -> Any:
    """Forward derivatives of the rounds made, as a matrix, so that reverse mode need not go through the loop."""
    slopes, out = _slopes(law, *primals)
    change = jnp.tensordot(slopes[0], tangents[0], 2) + slopes[1] @ tangents[1] + slopes[2] @ tangents[2]
    return out, (change, jnp.zeros_like(out[1]))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _slopes(law: Law, gram: Any, rates: Any, restitution: Any, able: Any, noise: Any) -> Any:
    def along(gram: Any, rates: Any, restitution: Any) -> tuple[Any, Any]:
        out = _laws(law, gram, rates, restitution, able, noise)
        return out[0], out

    return jax.jacfwd(along, argnums=(0, 1, 2), has_aux=True)(gram, rates, restitution)


@_slopes.defjvp
def _(law: Law, primals: Any, tangents: Any) -> Any:
    """No second derivatives of several contacts at once: NaN. Of one alone they are not used, and zero."""
    slopes, out = _slopes(law, *primals)
    several = (jnp.sum(out[0] > 0) > 1) | (out[1][0] > 1)
    unknown = sum((jnp.sum(x) for x in tangents[:3]), jnp.zeros(())) * jnp.where(several, jnp.nan, 0.0)
    return (slopes, out), jax.tree.map(lambda x: jnp.full_like(x, unknown), (slopes, out))


def _laws(law: Law, gram: Any, rates: Any, restitution: Any, able: Any, noise: Any) -> tuple[Any, Any]:
    """Impulses, and the rounds and the code as one real array: flags could not pass through a derivative."""
    if law == "generalised":
        impulses, rounds, code = _generalised(gram, rates, restitution, able, noise)
    elif law == "joint":
        found = complementarity(gram, rates + restitution * jnp.minimum(rates, 0.0), able)
        impulses, rounds, code = found.values, jnp.int32(1), found.code
    else:
        impulses, rounds, code = _pairwise(gram, rates, restitution, able, noise)
    return impulses, jnp.stack([rounds, code]).astype(rates.dtype)


class _Rounds(NamedTuple):
    rates: Any
    elastic: Any
    inelastic: Any
    count: Any
    code: Any


def _generalised(gram: Any, rates: Any, restitution: Any, able: Any, noise: Any) -> tuple[Any, Any, Any]:
    def once(now: _Rounds) -> _Rounds:
        # the first turn finds the inelastic impulses, with the same code as the reflections after it
        first = now.count < 0
        among = able & (first | (now.rates < -noise))
        found = complementarity(gram, jnp.where(among, now.rates, 0.0), among)
        reflected = jnp.where(first, 0.0, 2.0 * found.values)
        return _Rounds(
            now.rates + gram @ reflected,
            now.elastic + reflected,
            jnp.where(first, found.values, now.inelastic),
            now.count + 1,
            found.code,
        )

    def going(now: _Rounds) -> Any:
        violated = jnp.any(able & (now.rates < -noise))
        return (now.code == SOLVED) & (now.count < ROUNDS) & (violated | (now.count < 0))

    none = jnp.zeros_like(rates)
    end = jax.lax.while_loop(going, once, _Rounds(rates, none, none, jnp.int32(-1), jnp.int32(SOLVED)))
    spent = jnp.any(able & (end.rates < -noise)) & (end.code == SOLVED)
    share = _shared(gram, restitution, able, end.elastic)
    wanted = jnp.any(able & (share > 0))
    code = jnp.where(spent & wanted, jnp.int32(EXHAUSTED), end.code)
    impulses = jnp.where(share > 0, share * end.elastic, 0.0) + (1.0 - share) * end.inelastic
    return impulses, end.count, code


def _shared(gram: Any, restitution: Any, able: Any, weights: Any) -> Any:
    """One restitution for each set of contacts that act on each other: the mean weighted with elastic impulses."""
    index = jnp.arange(weights.size)
    sizes = jnp.sqrt(jnp.where(able, jnp.diagonal(gram), 1.0))
    coupled = able[:, None] & able[None, :] & (jnp.abs(gram) > _COUPLED * sizes[:, None] * sizes[None, :])

    def spread(_: Any, labels: Any) -> Any:
        return jnp.minimum(labels, jnp.min(jnp.where(coupled, labels[None, :], weights.size), axis=1))

    labels = jax.lax.fori_loop(0, weights.size, spread, index)
    together = labels[:, None] == labels[None, :]
    heavy = jnp.where(together, (weights * sizes)[None, :], 0.0)
    total = jnp.sum(heavy, axis=1)
    mean = jnp.sum(heavy * restitution[None, :], axis=1) / jnp.where(total > 0, total, 1.0)
    even = jnp.all(restitution == restitution[0])
    return jnp.where(even | (total <= 0), restitution, mean)


def _pairwise(gram: Any, rates: Any, restitution: Any, able: Any, noise: Any) -> tuple[Any, Any, Any]:
    def once(now: Any) -> Any:
        u, total, count = now
        first = jnp.arange(u.size) == jnp.argmax(able & (u < -noise))
        blow = jnp.where(first, -(1.0 + restitution) * u / jnp.where(able, jnp.diagonal(gram), 1.0), 0.0)
        return u + gram @ blow, total + blow, count + 1

    def going(now: Any) -> Any:
        return jnp.any(able & (now[0] < -noise)) & (now[2] < ROUNDS)

    u, total, count = jax.lax.while_loop(going, once, (rates, jnp.zeros_like(rates), jnp.int32(0)))
    spent = jnp.any(able & (u < -noise))
    return total, count, jnp.where(spent, jnp.int32(EXHAUSTED), jnp.int32(SOLVED))
