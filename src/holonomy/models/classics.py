"""Standard systems of analytical mechanics, each built from its Lagrangian in the coordinates that a textbook uses.

The y axis (z in space) points up. Every builder takes its parameters by name and keeps them as data, so that
`system.with_parameters(g=3.7)` and derivatives with respect to them work.
"""

# ruff: noqa: E741  l is the length of a pendulum here and everywhere in mechanics

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.types import Scalar, Vector


def simple_pendulum(m: float, l: float, g: float) -> System:
    r"""\(L = \tfrac12 m l^2 \dot\theta^2 + m g l \cos\theta\)."""

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        return p["m"] * p["l"] ** 2 * v[0] ** 2 / 2 + p["m"] * p["g"] * p["l"] * jnp.cos(q[0])

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 2"]:
        return jnp.stack([p["l"] * jnp.sin(q[0]), -p["l"] * jnp.cos(q[0])])[None, :]

    return System.from_lagrangian(
        lagrangian, coordinates={"theta": "angle"}, parameters={"m": m, "l": l, "g": g}, positions=positions
    )


def double_pendulum(m1: float, m2: float, l1: float, l2: float, g: float) -> System:
    r"""\(L = \tfrac12 (m_1+m_2) l_1^2 \dot\theta_1^2 + \tfrac12 m_2 l_2^2 \dot\theta_2^2
    + m_2 l_1 l_2 \dot\theta_1 \dot\theta_2 \cos(\theta_1-\theta_2)
    + (m_1+m_2) g l_1 \cos\theta_1 + m_2 g l_2 \cos\theta_2\)."""

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        both = p["m1"] + p["m2"]
        kinetic = (
            both * p["l1"] ** 2 * v[0] ** 2 / 2
            + p["m2"] * p["l2"] ** 2 * v[1] ** 2 / 2
            + p["m2"] * p["l1"] * p["l2"] * v[0] * v[1] * jnp.cos(q[0] - q[1])
        )
        potential = -both * p["g"] * p["l1"] * jnp.cos(q[0]) - p["m2"] * p["g"] * p["l2"] * jnp.cos(q[1])
        return kinetic - potential

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "2 2"]:
        upper = p["l1"] * jnp.stack([jnp.sin(q[0]), -jnp.cos(q[0])])
        return jnp.stack([upper, upper + p["l2"] * jnp.stack([jnp.sin(q[1]), -jnp.cos(q[1])])])

    return System.from_lagrangian(
        lagrangian,
        coordinates={"theta1": "angle", "theta2": "angle"},
        parameters={"m1": m1, "m2": m2, "l1": l1, "l2": l2, "g": g},
        positions=positions,
    )


def multi_pendulum(masses: tuple[float, ...], lengths: tuple[float, ...], g: float) -> System:
    r"""\(L = \sum_k \bigl(\tfrac12 m_k |\dot x_k|^2 - m_k g\, y_k\bigr)\),
    \(x_k = \sum_{i\le k} l_i (\sin\theta_i, -\cos\theta_i)\)."""
    links = len(masses)

    def bobs(q: Vector, p: Parameters) -> list[tuple[Array, Array]]:
        found, x, y = [], jnp.zeros_like(q[0]), jnp.zeros_like(q[0])
        for i in range(links):
            x, y = x + p["lengths"][i] * jnp.sin(q[i]), y - p["lengths"][i] * jnp.cos(q[i])
            found.append((x, y))
        return found

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        total, vx, vy = jnp.zeros_like(q[0]), jnp.zeros_like(q[0]), jnp.zeros_like(q[0])
        for i, (_, y) in enumerate(bobs(q, p)):
            vx = vx + p["lengths"][i] * jnp.cos(q[i]) * v[i]
            vy = vy + p["lengths"][i] * jnp.sin(q[i]) * v[i]
            total = total + p["masses"][i] * ((vx**2 + vy**2) / 2 - p["g"] * y)
        return total

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "links 2"]:
        return jnp.stack([jnp.stack(bob) for bob in bobs(q, p)])

    return System.from_lagrangian(
        lagrangian,
        coordinates={f"theta{i}": "angle" for i in range(1, links + 1)},
        parameters={"masses": jnp.asarray(masses), "lengths": jnp.asarray(lengths), "g": g},
        positions=positions,
    )


def spherical_pendulum(m: float, l: float, g: float) -> System:
    r"""\(L = \tfrac12 m l^2 (\dot\theta^2 + \sin^2\theta\, \dot\varphi^2) + m g l \cos\theta\).

    The chart has its poles at \(\theta = 0, \pi\); \(p_\varphi \ne 0\) keeps the motion away from them.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        kinetic = p["m"] * p["l"] ** 2 * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) / 2
        return kinetic + p["m"] * p["g"] * p["l"] * jnp.cos(q[0])

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 3"]:
        out, down = jnp.sin(q[0]), jnp.cos(q[0])
        return (p["l"] * jnp.stack([out * jnp.cos(q[1]), out * jnp.sin(q[1]), -down]))[None, :]

    return System.from_lagrangian(
        lagrangian,
        coordinates={"theta": "angle", "phi": "angle"},
        parameters={"m": m, "l": l, "g": g},
        positions=positions,
    )


def kepler(m: float, mu: float) -> System:
    r"""\(L = \tfrac12 m (\dot x^2 + \dot y^2) + m \mu / \sqrt{x^2+y^2}\)."""

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        return p["m"] * ((v[0] ** 2 + v[1] ** 2) / 2 + p["mu"] / jnp.sqrt(q[0] ** 2 + q[1] ** 2))

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 2"]:
        return q[None, :]

    return System.from_lagrangian(
        lagrangian, coordinates={"x": "length", "y": "length"}, parameters={"m": m, "mu": mu}, positions=positions
    )


def rotating_hoop(m: float, r: float, omega: float, g: float) -> System:
    r"""\(L = \tfrac12 m r^2 (\dot\theta^2 + \omega^2 \sin^2\theta) + m g r \cos\theta\), so that
    \(\ddot\theta = (\omega^2 \cos\theta - g/r) \sin\theta\).

    The constraint is rheonomic: the energy is not conserved, the Jacobi integral is.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        kinetic = p["m"] * p["r"] ** 2 * (v[0] ** 2 + p["omega"] ** 2 * jnp.sin(q[0]) ** 2) / 2
        return kinetic + p["m"] * p["g"] * p["r"] * jnp.cos(q[0])

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 3"]:
        out, turn = jnp.sin(q[0]), p["omega"] * t
        return (p["r"] * jnp.stack([out * jnp.cos(turn), out * jnp.sin(turn), -jnp.cos(q[0])]))[None, :]

    return System.from_lagrangian(
        lagrangian,
        coordinates={"theta": "angle"},
        parameters={"m": m, "r": r, "omega": omega, "g": g},
        positions=positions,
    )


def elliptical_wire(m: float, a: float, b: float, g: float) -> System:
    r"""\(L = \tfrac12 m (a^2 \sin^2 s + b^2 \cos^2 s)\, \dot s^2 - m g b \sin s\) on
    \(x = a\cos s\), \(y = b\sin s\)."""

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        metric = p["a"] ** 2 * jnp.sin(q[0]) ** 2 + p["b"] ** 2 * jnp.cos(q[0]) ** 2
        return p["m"] * (metric * v[0] ** 2 / 2 - p["g"] * p["b"] * jnp.sin(q[0]))

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 2"]:
        return jnp.stack([p["a"] * jnp.cos(q[0]), p["b"] * jnp.sin(q[0])])[None, :]

    return System.from_lagrangian(
        lagrangian, coordinates={"s": "angle"}, parameters={"m": m, "a": a, "b": b, "g": g}, positions=positions
    )


def elastic_pendulum(m: float, l: float, k: float, g: float) -> System:
    r"""\(L = \tfrac12 m (\dot r^2 + r^2 \dot\theta^2) + m g r \cos\theta - \tfrac12 k (r-l)^2\).

    Polar coordinates: not for motions through the pivot, \(r = 0\).
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        kinetic = p["m"] * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) / 2
        return kinetic + p["m"] * p["g"] * q[0] * jnp.cos(q[1]) - p["k"] * (q[0] - p["l"]) ** 2 / 2

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 2"]:
        return (q[0] * jnp.stack([jnp.sin(q[1]), -jnp.cos(q[1])]))[None, :]

    return System.from_lagrangian(
        lagrangian,
        coordinates={"r": "length", "theta": "angle"},
        parameters={"m": m, "l": l, "k": k, "g": g},
        positions=positions,
    )
