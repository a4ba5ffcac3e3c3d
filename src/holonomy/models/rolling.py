r"""Bodies on wheels and on a sphere: a car with trailers, a snakeboard that is driven, a particle that slides off.

The wheels do not slip sideways, which constrains velocities and no positions: every place can be reached.
"""

# ruff: noqa: E741  l is a length here as everywhere in mechanics

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.types import Scalar, Vector


def sphere_slide(m: float = 1.0, r: float = 1.0, g: float = 9.81) -> System:
    r"""A particle outside a smooth sphere, in a vertical plane: \(L = \tfrac12 m(\dot x^2 + \dot y^2) - mgy\) with
    \(\sqrt{x^2 + y^2} \ge r\).

    From the top with the speed v it leaves the sphere at \(\cos\theta = \tfrac23 + v^2/(3gr)\) if \(v^2 < gr\), where
    θ is the angle from the vertical.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        return p["m"] * (jnp.dot(v, v) / 2 - p["g"] * q[1])

    def outside(t: Scalar, q: Vector, p: Parameters) -> Float[Array, " 1"]:
        return (jnp.sqrt(jnp.dot(q, q)) - p["r"])[None]

    free = System.from_lagrangian(
        lagrangian,
        coordinates={"x": "length", "y": "length"},
        parameters={"m": m, "r": r, "g": g},
        positions=lambda t, q, p: q[None],
    )
    return free.constrained(unilateral=outside, restitution=0.0)


def car_with_trailers(trailers: int = 1, m: float = 1.0, i: float = 0.1, d: float = 1.0) -> System:
    r"""A car of heading \(\theta_0\) that pulls n trailers of headings \(\theta_1, \dots\), each hitched at the axle
    before it, at the distance d: \(\sin\theta_k\,\dot x_k - \cos\theta_k\,\dot y_k = 0\) for every axle
    \((x_k, y_k)\), with the mass m and the moment of inertia i at each.

    With n trailers the brackets of the free velocities span spaces of the dimensions 2, 3, …, n + 3, except where a
    trailer stands across the one before it.
    """
    if trailers < 0:
        raise ValueError(f"A car pulls no or some trailers, but {trailers} were asked for.")

    def axles(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "axles 2"]:
        places = [q[:2]]
        for k in range(1, trailers + 1):
            places.append(places[-1] - p["d"] * jnp.stack([jnp.cos(q[2 + k]), jnp.sin(q[2 + k])]))
        return jnp.stack(places)

    def rates(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Float[Array, "axles 2"]:
        return jax.jvp(lambda x: axles(t, x, p), (q,), (v,))[1]

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        moving = rates(t, q, v, p)
        return p["m"] * jnp.sum(moving * moving) / 2 + p["i"] * jnp.dot(v[2:], v[2:]) / 2

    def aside(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Float[Array, " axles"]:
        moving = rates(t, q, v, p)
        return jnp.sin(q[2:]) * moving[:, 0] - jnp.cos(q[2:]) * moving[:, 1]

    free = System.from_lagrangian(
        lagrangian,
        coordinates={"x": "length", "y": "length", **{f"theta{k}": "angle" for k in range(trailers + 1)}},
        parameters={"m": m, "i": i, "d": d},
        positions=axles,
    )
    return free.constrained(velocity=aside)


def driven_snakeboard(
    m: float = 1.0,
    i: float = 0.5,
    rotor: float = 0.3,
    wheels: float = 0.1,
    l: float = 1.0,
    a: float = 0.5,
    b: float = 1.0,
    omega: float = 3.0,
) -> System:
    r"""A board on wheels at its ends, which its rider turns by \(\pm\varphi(t) = \pm a\sin\omega t\) while a rotor on
    it turns by \(\psi(t) = b\sin\omega t\); l is half the distance of the axles.

    \(L = \tfrac12 m(\dot x^2 + \dot y^2) + \tfrac12 i\dot\theta^2 + \tfrac12 j_r(\dot\theta + \dot\psi)^2
    + \tfrac12 j_w((\dot\theta + \dot\varphi)^2 + (\dot\theta - \dot\varphi)^2)\) and, for the axles at both ends,
    \(-\sin(\theta\pm\varphi)\,\dot x + \cos(\theta\pm\varphi)\,\dot y \pm l\cos\varphi\,\dot\theta = 0\). The shape
    changes drive it forward from rest. `hl.models.snakeboard` is the same body with any shape changes.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        swing = p["omega"] * jnp.cos(p["omega"] * t)
        steering, turning = p["a"] * swing, p["b"] * swing
        board = p["m"] * (v[0] ** 2 + v[1] ** 2) + p["i"] * v[2] ** 2
        both = (v[2] + steering) ** 2 + (v[2] - steering) ** 2
        return 0.5 * (board + p["rotor"] * (v[2] + turning) ** 2 + p["wheels"] * both)

    def rolling(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Float[Array, " 2"]:
        angle = p["a"] * jnp.sin(p["omega"] * t)
        lever = p["l"] * jnp.cos(angle) * v[2]
        front, back = (-jnp.sin(q[2] + s) * v[0] + jnp.cos(q[2] + s) * v[1] for s in (angle, -angle))
        return jnp.stack([front + lever, back - lever])

    def ends(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "2 2"]:
        along = p["l"] * jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])
        return jnp.stack([q[:2] - along, q[:2] + along])

    free = System.from_lagrangian(
        lagrangian,
        coordinates={"x": "length", "y": "length", "theta": "angle"},
        parameters={"m": m, "i": i, "rotor": rotor, "wheels": wheels, "l": l, "a": a, "b": b, "omega": omega},
        positions=ends,
    )
    return free.constrained(velocity=rolling)
