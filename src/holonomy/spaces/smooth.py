"""Functions of a squared length that stay smooth where the length vanishes.

With `sign` = +1 the trigonometric and with `sign` = -1 the hyperbolic functions are meant, so that one formula serves
positive and negative curvature. All are analytic at zero; near it a power series replaces the quotient 0/0, so that
derivatives of every order come out of automatic differentiation without NaN.
"""

import math

import jax.numpy as jnp
from jaxtyping import Array, Float

# Enough for round-off in third derivatives at the border of the region.
_TERMS = 9
_REGION = 0.25
_COS = [1.0 / math.factorial(2 * k) for k in range(_TERMS)]
_SIN = [1.0 / math.factorial(2 * k + 1) for k in range(_TERMS)]
# asin(u)/u = sum c_k u^(2k); the radius of convergence is 1, hence more terms and a smaller region of use.
_ARC = [math.comb(2 * k, k) / (4.0**k * (2 * k + 1)) for k in range(14)]
_ARC_REGION = 0.04


def _series(z: Float[Array, ""], coefficients: list[float], sign: int) -> Float[Array, ""]:
    total = coefficients[-1] * jnp.ones_like(z)
    for c in reversed(coefficients[:-1]):
        total = c - sign * z * total
    return total


def root(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""\(\sqrt{z}\) for \(z > 0\) and 0 otherwise, with derivative 0 (instead of infinity) at 0."""
    positive = z > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, z, 1.0)), 0.0)


def length(v: Float[Array, " n"]) -> Float[Array, ""]:
    r"""Euclidean length \(|v|\), with derivative 0 at \(v = 0\)."""
    return root(jnp.sum(v * v))


def cosine(z: Float[Array, ""], sign: int) -> Float[Array, ""]:
    r"""\(\cos\sqrt z\) (sign +1) or \(\cosh\sqrt z\) (sign -1), for \(z \ge 0\)."""
    small = z < _REGION
    u = jnp.sqrt(jnp.where(small, 1.0, z))
    return jnp.where(small, _series(jnp.where(small, z, 0.0), _COS, sign), jnp.cos(u) if sign > 0 else jnp.cosh(u))


def sine(z: Float[Array, ""], sign: int) -> Float[Array, ""]:
    r"""\(\sin(\sqrt z)/\sqrt z\) (sign +1) or \(\sinh(\sqrt z)/\sqrt z\) (sign -1), for \(z \ge 0\)."""
    small = z < _REGION
    u = jnp.sqrt(jnp.where(small, 1.0, z))
    return jnp.where(
        small, _series(jnp.where(small, z, 0.0), _SIN, sign), (jnp.sin(u) if sign > 0 else jnp.sinh(u)) / u
    )


def versine(z: Float[Array, ""], sign: int) -> Float[Array, ""]:
    r"""\((1 - \cos\sqrt z)/z\) (sign +1) or \((\cosh\sqrt z - 1)/z\) (sign -1), for \(z \ge 0\)."""
    return 0.5 * sine(z / 4.0, sign) ** 2


def remainder(z: Float[Array, ""], sign: int) -> Float[Array, ""]:
    r"""\((1 - \sin(\sqrt z)/\sqrt z)/z\) (sign +1) or \((\sinh(\sqrt z)/\sqrt z - 1)/z\) (sign -1), for \(z \ge 0\)."""
    small = z < _REGION
    away = jnp.where(small, 1.0, z)
    series = _series(jnp.where(small, z, 0.0), _SIN[1:], sign)
    return jnp.where(small, series, sign * (1.0 - sine(away, sign)) / away)


def arc(z: Float[Array, ""], sign: int) -> Float[Array, ""]:
    r"""\(\arcsin(\sqrt z)/\sqrt z\) (sign +1, \(z < 1\)) or \(\operatorname{arsinh}(\sqrt z)/\sqrt z\) (sign -1)."""
    small = z < _ARC_REGION
    u = jnp.sqrt(jnp.where(small, 1.0 / 4.0, z))
    inverse = jnp.arcsin(u) if sign > 0 else jnp.arcsinh(u)
    return jnp.where(small, _series(jnp.where(small, z, 0.0), _ARC, -sign), inverse / u)
