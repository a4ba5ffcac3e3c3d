"""The rod and the triangle of the thesis's chapter 2, in H^3 and S^3, and the equations that they reduce to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np
from scipy.integrate import solve_ivp

from holonomy.motion import Run, simulate
from holonomy.motion.methods.base import AbstractMethod
from holonomy.spaces import AbstractSpace, Hyperbolic, Sphere
from holonomy.systems import Body, World

SPACES: dict[str, AbstractSpace] = {"H": Hyperbolic(3), "S": Sphere(3)}
TITLES = {"H": "$H^3$", "S": "$S^3$"}
FLOWS = {"H": "boost_x", "S": "rotate_xy"}
SIDES = {"rod": {"s12": (0, 1)}, "triangle": {"s12": (0, 1), "s13": (0, 2), "s23": (1, 2)}}


@cache
def world(where: str, shape: str, polar: bool = False) -> World:
    """Springs of stiffness and rest length 1 between masses 1, in the space's default model or in polar coordinates."""
    space = SPACES[where] if not polar else type(SPACES[where])(3, model="polar")  # pyright: ignore[reportCallIssue]
    count = 2 if shape == "rod" else 3
    return World(space, Body([1.0] * count, springs=[(i, j, 1.0, 1.0) for i, j in SIDES[shape].values()]))


@cache
def rigid_world(where: str, shape: str) -> World:
    """The same with rods of length 1 in place of springs."""
    count = 2 if shape == "rod" else 3
    return World(SPACES[where], Body([1.0] * count, rods=[(i, j, 1.0) for i, j in SIDES[shape].values()]))


def start(where: str, shape: str, polar: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Points and velocities across a Killing flow; the triangle's first vertex lies ahead on its axis."""
    space, right = SPACES[where], np.pi / 2
    if where == "H":
        ends = [space.from_polar(0.5, right, right), space.from_polar(0.5, right, 3 * right)]
        axis, ahead = space.origin, np.arccosh(np.cosh(1.0) / np.cosh(0.5))
    else:
        ends = [space.from_polar((np.pi - s) / 2, right, 0.0) for s in (1.0, -1.0)]
        axis, ahead = space.from_polar(right, right, 0.0), np.arccos(np.cos(1.0) / np.cos(0.5))
    if shape == "triangle":
        ends = [space.isometries()[FLOWS[where]](ahead, axis), *ends]
    points, velocities = ends, [space.killing()[FLOWS[where]](x) for x in ends]
    if polar:
        pairs = [jax.jvp(space.to_polar, (x,), (v,)) for x, v in zip(points, velocities, strict=True)]
        points, velocities = [x for x, _ in pairs], [v for _, v in pairs]
    return np.stack(points), np.stack(velocities)


def by_inner_products(run: Run, where: str, i: int, j: int) -> np.ndarray:
    """A side of a run in polar coordinates from the inner product of the two vectors, without care for rounding."""
    space = SPACES[where]
    x = np.asarray(jax.vmap(jax.vmap(space.from_polar))(np.asarray(run.q).reshape(len(run.t), -1, 3)))
    a, b = x[:, i], x[:, j]
    product = np.sum(a[:, :3] * b[:, :3], axis=1)
    if where == "H":
        return np.arccosh(np.maximum(a[:, 3] * b[:, 3] - product, 1.0))
    return np.arccos(np.clip(product + a[:, 3] * b[:, 3], -1.0, 1.0))


def moved(where: str, shape: str, times: np.ndarray, dt: float, method: AbstractMethod, polar: bool = False) -> Run:
    """The motion at these times."""
    at = start(where, shape, polar)
    return simulate(world(where, shape, polar), *at, float(times[-1]), dt=dt, method=method, save_at=times)


def exact(where: str, shape: str, times: np.ndarray) -> dict[str, np.ndarray]:
    """The sides by the reduced equations, whose error is below 1e-11."""
    rates, first, sides = (_rod if shape == "rod" else _triangle)(where)
    found = solve_ivp(
        rates, (0.0, float(times[-1])), first, method="DOP853", rtol=3e-14, atol=1e-14, t_eval=times, max_step=0.05
    )
    return sides(found.y)


Reduced = tuple[Callable[..., Any], list[float], Callable[[np.ndarray], dict[str, np.ndarray]]]


def _rod(where: str) -> Reduced:
    cosine, tangent, sign = (np.cosh, np.tanh, 1.0) if where == "H" else (np.cos, np.tan, -1.0)
    force = sign * cosine(0.5) ** 4

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], force * tangent(y[0]) / cosine(y[0]) ** 2 - 2.0 * (y[0] - 0.5)]

    return rates, [0.5, 0.0], lambda y: {"s12": 2.0 * y[0]}


def _triangle(where: str) -> Reduced:
    r"""Along the flow \(\beta_1, \beta_2\), off it \(\alpha\); \(\cosh s = \cosh\alpha\cosh(\beta_1-\beta_2)\)."""
    c, s, sign = (np.cosh, np.sinh, 1.0) if where == "H" else (np.cos, np.sin, -1.0)
    inverse = np.arccosh if where == "H" else np.arccos

    def side(alpha: Any, apart: Any) -> Any:
        return inverse(c(alpha) * c(apart))

    def rates(t: float, y: np.ndarray) -> list[float]:
        first, second, alpha, v1, v2, w = y
        apart = first - second
        length = side(alpha, apart)
        pull = 2.0 * (length - 1.0) / s(length)
        along = pull * c(alpha) * s(apart)
        square = c(alpha) ** 2
        turning = -2.0 * sign * (s(alpha) / c(alpha)) * w * v2
        outward = sign * c(alpha) * s(alpha) * v2**2
        across = outward - (2.0 * alpha - 1.0) - 0.5 * pull * s(alpha) * c(apart)
        return [v1, v2, w, -along, 0.5 * along / square + turning, across]

    ahead = float(inverse(c(1.0) / c(0.5)))
    begin = [ahead, 0.0, 0.5, 1.0, 1.0, 0.0]

    def sides(y: np.ndarray) -> dict[str, np.ndarray]:
        long = side(y[2], y[0] - y[1])
        return {"s12": long, "s13": long, "s23": 2.0 * y[2]}

    return rates, begin, sides
