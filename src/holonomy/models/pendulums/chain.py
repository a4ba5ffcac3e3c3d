r"""Accelerations of a hanging chain in time proportional to its length, in the plane or in space.

Node 0 is the pivot, node i the bob at the end of rod i; \(e_i\) is the unit vector along rod i, away from the pivot.
The mass matrix of such a chain in angles is dense, but the system for what the rods carry is not: with massless rods
the tensions \(T_i\) solve the tridiagonal

\[
\Bigl(\tfrac1{m_{i-1}} + \tfrac1{m_i}\Bigr) T_i - \frac{e_{i-1}\cdot e_i}{m_{i-1}}\,T_{i-1}
- \frac{e_i\cdot e_{i+1}}{m_i}\,T_{i+1} = l_i|\dot e_i|^2 + e_i\cdot(a^0_i - a^0_{i-1}),
\]

\(a^0_i = g + f_i/m_i\) the acceleration of bob i if it were free, \(a^0_0\) that of the pivot and \(1/m_0 = 0\). It is
positive definite, and elimination needs no pivoting. Rods with mass carry forces across themselves as well; there what
hangs below a node is summed up, from the tip, as an inertia of that node (Featherstone's articulated inertia).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Rods = Float[Array, "links d"]
PerLink = Float[Array, " links"]
Vector = Float[Array, " d"]

_ROWS = 512
"""Unknowns up to which a system is solved row by row, which is fastest in machine code; in XLA a row takes as long as
several numbers in a pass over all."""


def tridiagonal(diagonal: PerLink, beside: Float[Array, " gaps"], right: PerLink) -> PerLink:
    """The solution of a symmetric tridiagonal system whose diagonal dominates; `beside` has one entry less."""
    return _row_by_row(diagonal, beside, right) if diagonal.shape[0] <= _ROWS else _halved(diagonal, beside, right)


def _row_by_row(diagonal: PerLink, beside: Float[Array, " gaps"], right: PerLink) -> PerLink:
    zero = jnp.zeros(1, diagonal.dtype)
    before, after = jnp.concatenate([zero, beside]), jnp.concatenate([beside, zero])

    def forward(carry: Any, row: Any) -> Any:
        upper, value = carry
        d, low, high, b = row
        pivot = 1.0 / (d - low * upper)
        new = (high * pivot, (b - low * value) * pivot)
        return new, new

    def backward(value: Any, row: Any) -> Any:
        upper, partial = row
        value = partial - upper * value
        return value, value

    none = jnp.zeros((), diagonal.dtype)
    _, rows = jax.lax.scan(forward, (none, none), (diagonal, before, after, right))
    return jax.lax.scan(backward, none, rows, reverse=True)[1]


def _halved(diagonal: PerLink, beside: Float[Array, " gaps"], right: PerLink) -> PerLink:
    """Every other unknown is eliminated at once, which leaves a system of the same kind (cyclic reduction)."""
    n = diagonal.shape[0]
    # An unknown more that stands alone, where their number is even: each one that goes has two neighbours.
    more = 1 - n % 2
    diagonal, right = jnp.pad(diagonal, (0, more), constant_values=1.0), jnp.pad(right, (0, more))
    beside = jnp.pad(beside, (0, more))
    low, high = beside[::2], beside[1::2]  # from each one that goes to the one before and after it
    pivots, given = 1.0 / diagonal[1::2], right[1::2]
    down, up, part = low * pivots, high * pivots, given * pivots
    kept = diagonal[::2] - _both(low * down, high * up)
    x = tridiagonal(kept, -low * up, right[::2] - _both(low * part, high * part))
    between = part - down * x[:-1] - up * x[1:]
    return jnp.concatenate([jnp.stack([x[:-1], between], axis=1).reshape(-1), x[-1:]])[:n]


def _both(before: PerLink, after: PerLink) -> Float[Array, " kept"]:
    """What those that go add to the one before and to the one after them."""
    zero = jnp.zeros(1, before.dtype)
    return jnp.concatenate([before, zero]) + jnp.concatenate([zero, after])


def rod_tensions(cosines: Float[Array, " gaps"], masses: PerLink, right: PerLink) -> PerLink:
    r"""The tensions of massless rods from \(e_i\cdot e_{i+1}\) and the right-hand side above; positive where a rod
    pulls."""
    below = 1.0 / masses
    above = jnp.concatenate([jnp.zeros(1, below.dtype), below[:-1]])
    return tridiagonal(above + below, -cosines * below[:-1], right)


def turned(sines: Float[Array, " gaps"], masses: PerLink, tensions: PerLink) -> PerLink:
    r"""What the tensions add to \(l_i\ddot\theta_i\) of rods in the plane, from the sines of the angles between them.

    Rod i is turned by its neighbours alone, its own tension acts along it.
    """
    zero, across = jnp.zeros(1, sines.dtype), sines / masses[:-1]
    return jnp.concatenate([tensions[1:] * across, zero]) - jnp.concatenate([zero, tensions[:-1] * across])


def pulled(e: Rods, masses: PerLink, tensions: PerLink) -> Rods:
    r"""What the tensions add to the accelerations of the nodes' differences, \(a_i - a_{i-1}\), in space."""
    pulls = tensions[:, None] * e
    added = (jnp.concatenate([pulls[1:], jnp.zeros_like(pulls[:1])]) - pulls) / masses[:, None]
    return added - jnp.concatenate([jnp.zeros_like(added[:1]), added[:-1]])


def jumps(gravity: Vector, pivot: Vector, loads: Rods | None, masses: PerLink) -> Float[Array, "rows d"]:
    r"""\(a^0_i - a^0_{i-1}\) of bobs with these forces on them besides gravity; one row where all others vanish."""
    if loads is None:
        return (gravity - pivot)[None]
    free = gravity[None] + loads / masses[:, None]
    return free - jnp.concatenate([pivot[None], free[:-1]])


def bob_loads(couples: Rods, lengths: PerLink) -> Rods:
    r"""Generalised forces on the rods' directions as forces on the bobs: on a massless rod they act as a pair of forces
    \(\pm c_i/l_i\) at its ends."""
    ends = couples / lengths[:, None]
    return ends - jnp.concatenate([ends[1:], jnp.zeros_like(ends[:1])])


def heavy_rods(
    e: Rods,
    rates: Rods,
    lengths: PerLink,
    masses: PerLink,
    rods: PerLink,
    forces: Rods,
    gravity: Vector,
    couples: Rods,
    pivot: Vector,
) -> Rods:
    r"""The accelerations of the nodes' differences, \(a_i - a_{i-1}\), of uniform rods of masses `rods`; `forces`
    act on the bobs besides gravity, `couples` on the rods' directions.

    Gauss's principle: of all accelerations that the rods allow, the true ones make
    \(\sum \tfrac12 m|a|^2 - f\cdot a\) least. Eliminated from the tip, what is left for node i is
    \(\tfrac12 a_i^\top A_i a_i - b_i\cdot a_i\).
    """
    one = jnp.eye(e.shape[1], dtype=e.dtype)
    radial = -(lengths * jnp.sum(rates * rates, axis=1))[:, None] * e

    def inward(carry: Any, row: Any) -> Any:
        inertia, load = carry
        axis, w, length, m, r, force, couple = row
        across = one - jnp.outer(axis, axis)
        body = inertia + m * one  # all that moves with the rod's lower end
        load = load + force + m * gravity
        # a_i = a_{i-1} + w + y with y across the rod; y = gain @ a_{i-1} + rest
        stiff = across @ (body + r / 3.0 * one) @ across + jnp.outer(axis, axis) * (m + r + 1.0)
        inverse = _inverse(stiff)
        coupling = body + r / 2.0 * one
        gain = -across @ inverse @ across @ coupling
        rest = across @ inverse @ across @ (load + r / 2.0 * gravity + couple / length - (body + r / 3.0 * one) @ w)
        inertia = body + r * one + coupling @ gain
        load = load + r * gravity - coupling @ (w + rest)
        return (0.5 * (inertia + inertia.T), load), (gain, rest)

    def outward(a: Any, row: Any) -> Any:
        gain, rest, w = row
        change = w + gain @ a + rest
        return a + change, change

    tip = (jnp.zeros_like(one), jnp.zeros_like(gravity))
    rows = (e, radial, lengths, masses, rods, forces, couples)
    _, (gains, rests) = jax.lax.scan(inward, tip, rows, reverse=True)
    return jax.lax.scan(outward, pivot, (gains, rests, radial))[1]


def _inverse(a: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """The inverse of a 2×2 or 3×3 matrix by cofactors."""
    if a.shape[0] == 2:
        return jnp.stack([jnp.stack([a[1, 1], -a[0, 1]]), jnp.stack([-a[1, 0], a[0, 0]])]) / (
            a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
        )
    columns = jnp.stack([jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])], axis=1)
    return columns / jnp.dot(a[0], columns[:, 0])
