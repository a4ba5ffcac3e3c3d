r"""The smooth map from the round sphere to the hinges of a chain of unit rods, and its inverse.

A chain of k rods on a base b, d = |b|, opens at most to \(\alpha_k = \arccos\frac{d^2+1-(k-1)^2}{2d}\) at its far end.
The last rod is taken off at the angle \(\theta = \alpha_k s\), s in [-1, 1], and the rest is a chain of k - 1 rods on
the base \(b - (b/d)e^{i\theta}\). With \(s_j = x_j/\sqrt{C_j}\), \(C_j = \sum_{i\ge j}x_i^2\), the quotient
\(a = \alpha/\sqrt{C_j}\) is a smooth positive function of x, so that \(\theta = a x_j\) and nothing is divided by a
length that vanishes at a pole.

Written with scalars rather than arrays: a batch of such formulas is plain arithmetic over the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

Number: TypeAlias = Any  # a float, or a batch of them in an array of NumPy or JAX: the formulas are the same
Pair: TypeAlias = tuple[Number, Number]

# cos(sqrt z) = sum c_m z^m on z <= (pi/4)^2, to round-off together with its derivatives
_COS = tuple((-1) ** m / math.factorial(2 * m) for m in range(10))
# asin(sqrt z)/sqrt z = sum c_m z^m on z <= sin(pi/16)^2
_ARC = tuple(math.comb(2 * m, m) / (4.0**m * (2 * m + 1)) for m in range(12))


@jax.jit
def slope(w: Number, z: Number) -> Number:
    r"""\(S = 2(\cos\sqrt z - \cos\sqrt w)/(w - z)\) for w and z in \([0, \pi^2]\), equal or not; analytic.

    \(S(w, z) = \mathrm{sinc}\frac{\sqrt w+\sqrt z}2\,\mathrm{sinc}\frac{\sqrt w-\sqrt z}2\), halved twice by
    \(\mathrm{sinc}\,2u = \mathrm{sinc}\,u\cos u\); what is left is a divided difference of a short power series.
    """
    w, z = w / 16.0, z / 16.0
    first, second = polynomial(_COS, w), polynomial(_COS, z)
    twice = (first * first + second * second) - 1.0  # the mean of the cosines of the doubled angles
    return -divided(_COS, (1, 1), w, z) * (first + second) * twice


@jax.jit
def arc(z: Number) -> Number:
    r"""\(\arcsin(\sqrt z)/\sqrt z\) for z < 1, a little below zero too; analytic.

    Three times \(\arcsin\sqrt z = 2\arcsin\sqrt{z'}\) with \(z' = z/(2(1+\sqrt{1-z}))\), then a power series.
    """
    scale = jnp.ones_like(z)
    for _ in range(3):
        grown = 2.0 * (1.0 + jnp.sqrt(1.0 - z))
        z, scale = z / grown, scale * grown
    return 8.0 * polynomial(_ARC, z) / jnp.sqrt(scale)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def polynomial(c: tuple[float, ...], z: Number) -> Number:
    r"""\(\sum_m c_m z^m\). Derivatives are polynomials too, the same ones for every direction: short programs."""
    total = jnp.full_like(z, c[-1])
    for coefficient in reversed(c[:-1]):
        total = total * z + coefficient
    return total


@polynomial.defjvp
def _polynomial_jvp(c: tuple[float, ...], primals: tuple[Number], tangents: tuple[Number]) -> tuple[Number, Number]:
    slopes = tuple(m * coefficient for m, coefficient in enumerate(c))[1:] or (0.0,)
    return polynomial(c, primals[0]), polynomial(slopes, primals[0]) * tangents[0]


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def divided(c: tuple[float, ...], times: tuple[int, int], w: Number, z: Number) -> Number:
    r"""The divided difference \(f[w, ..., w, z, ..., z]\) of \(f(z) = \sum_m c_m z^m\), each as often as `times` says.

    By repeated synthetic division: no differences are formed. \(\partial_w f[w^i, z^j] = i f[w^{i+1}, z^j]\).
    """
    nodes = [w] * times[0] + [z] * times[1]
    row = [jnp.full_like(w, c[-1])] + [None] * (len(nodes) - 1)
    for coefficient in reversed(c[:-1]):
        for k in range(len(nodes) - 1, 0, -1):
            before, here = row[k - 1], row[k]
            row[k] = before if here is None or before is None else here * nodes[k] + before
        row[0] = row[0] * nodes[0] + coefficient
    return row[-1]


@divided.defjvp
def _divided_jvp(
    c: tuple[float, ...], times: tuple[int, int], primals: tuple[Number, Number], tangents: tuple[Number, Number]
) -> tuple[Number, Number]:
    (w, z), (i, j) = primals, times
    by_w, by_z = divided(c, (i + 1, j), w, z), divided(c, (i, j + 1), w, z)
    return divided(c, times, w, z), i * by_w * tangents[0] + j * by_z * tangents[1]


def opening(rods: int, base: Number) -> Number:
    r"""\(\alpha_n\), the largest angle at the far end, from \(\tan^2(\alpha/2)\): no digits lost near either limit."""
    return 2.0 * jnp.arctan2(
        jnp.sqrt((rods - base) * (rods - 2.0 + base)), jnp.sqrt((base - rods + 2.0) * (base + rods))
    )


def inner_opening(k: int, a: Number, d: Number, s: Number, left: Number, reach: Number) -> Number:
    r"""\(\alpha_{k-1}/\sqrt{C_{j+1}}\) for the chain that is left on a base of length `reach`, C = `left`."""
    square = d * a * a * s * (k - 3.0 + reach) / (4.0 * reach * (k - 1.0 + reach))
    return 2.0 * jnp.sqrt(square) * arc(square * left)


def tails(x: Sequence[Number]) -> list[Number]:
    r"""\(C_j = \sum_{i\ge j} x_i^2\)."""
    sums = [x[-1] * x[-1]]
    for c in reversed(x[:-1]):
        sums.append(sums[-1] + c * c)
    return sums[::-1]


def chain(rods: int, base: Number, x: Sequence[Number]) -> list[Pair]:
    """The hinges \\(p_1, ..., p_{n-1}\\), each a pair of numbers, of the point x of the unit sphere."""
    c = [jnp.ones_like(base), *tails(x)[1:]]
    d, a = base, opening(rods, base)
    p, u = (base, jnp.zeros_like(base)), (jnp.ones_like(base), jnp.zeros_like(base))
    hinges: list[Pair] = []
    for j in range(rods - 2):
        k = rods - j
        theta = a * x[j]
        cos, sin = jnp.cos(theta), jnp.sin(theta)
        p = (p[0] - (u[0] * cos - u[1] * sin), p[1] - (u[0] * sin + u[1] * cos))
        reach = jnp.sqrt(p[0] * p[0] + p[1] * p[1])
        u = (p[0] / reach, p[1] / reach)
        hinges.append(p)
        s = slope(a * a * c[j], theta * theta)
        if k > 3:
            a, d = inner_opening(k, a, d, s, c[j + 1], reach), reach
        else:
            side = 0.5 * x[-1] * a * jnp.sqrt(d * s)
            hinges.append((0.5 * p[0] - side * u[1], 0.5 * p[1] + side * u[0]))
    return hinges[::-1]


def unchain(rods: int, base: Number, hinges: Sequence[Pair]) -> list[Number]:
    """The point of the sphere with these hinges; for hinges a little off, one nearby, not quite of length one.

    Reads the directions of the rods and nothing of their lengths but for the elbow.
    """
    d, a, left, s = base, opening(rods, base), jnp.ones_like(base), jnp.ones_like(base)
    p, u = (base, jnp.zeros_like(base)), (jnp.ones_like(base), jnp.zeros_like(base))
    x: list[Number] = []
    for j in range(rods - 2):
        k, new = rods - j, hinges[rods - 2 - j]
        rod = (p[0] - new[0], p[1] - new[1])
        theta = jnp.arctan2(u[0] * rod[1] - u[1] * rod[0], u[0] * rod[0] + u[1] * rod[1])
        x.append(theta / a)
        s = slope(a * a * left, theta * theta)
        left = left - x[-1] * x[-1]
        p = new
        reach = jnp.sqrt(p[0] * p[0] + p[1] * p[1])
        u = (p[0] / reach, p[1] / reach)
        if k > 3:
            a, d = inner_opening(k, a, d, s, left, reach), reach
    elbow = hinges[0]
    return [*x, 2.0 * (u[0] * elbow[1] - u[1] * elbow[0]) / (a * jnp.sqrt(d * s))]


def from_angles(angles: Sequence[Number]) -> list[Number]:
    r"""\((\sin\varphi_1, \cos\varphi_1\sin\varphi_2, ..., \prod\cos\varphi_i\sin t, \prod\cos\varphi_i\cos t)\)."""
    x, rest = [], jnp.ones_like(angles[0])
    for angle in angles:
        x.append(rest * jnp.sin(angle))
        rest = rest * jnp.cos(angle)
    return [*x, rest]
