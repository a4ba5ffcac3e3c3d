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


def tridiagonal(diagonal: PerLink, beside: Float[Array, " gaps"], right: PerLink) -> PerLink:
    """The solution of a symmetric tridiagonal system whose diagonal dominates; `beside` has one entry less."""
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


def rod_tensions(e: Rods, rates: Rods, lengths: PerLink, masses: PerLink, free: Rods, pivot: Vector) -> PerLink:
    """The tensions of massless rods; `free` are the accelerations of the bobs without rods, `pivot` that of the pivot.

    A tension is positive where the rod pulls.
    """
    below = 1.0 / masses
    above = jnp.concatenate([jnp.zeros(1, below.dtype), below[:-1]])
    jumps = free - jnp.concatenate([pivot[None], free[:-1]])
    right = lengths * jnp.sum(rates * rates, axis=1) + jnp.sum(e * jumps, axis=1)
    return tridiagonal(above + below, -jnp.sum(e[1:] * e[:-1], axis=1) * below[:-1], right)


def massless_rods(
    e: Rods, rates: Rods, lengths: PerLink, masses: PerLink, free: Rods, couples: Rods, pivot: Vector
) -> Rods:
    r"""The accelerations of the nodes' differences, \(a_i - a_{i-1}\), of a chain of massless rods.

    `couples` are generalised forces on the rods' directions; on a massless rod they act as a pair of forces
    \(\pm c_i/l_i\) at its ends.
    """
    ends = couples / lengths[:, None]
    loads = ends - jnp.concatenate([ends[1:], jnp.zeros_like(ends[:1])])
    free = free + loads / masses[:, None]
    pulls = rod_tensions(e, rates, lengths, masses, free, pivot)[:, None] * e
    along = free + (jnp.concatenate([pulls[1:], jnp.zeros_like(pulls[:1])]) - pulls) / masses[:, None]
    return along - jnp.concatenate([pivot[None], along[:-1]])


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
    r"""As `massless_rods`, for uniform rods of masses `rods`; `forces` act on the bobs besides gravity.

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
