"""What is compiled for the Linkage lab. Imported in the workshop only: it needs JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.models.linkages import routes
from holonomy.models.linkages.curvature import fields
from holonomy.models.linkages.surface import Surface
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.base import Settings, Structure
from holonomy.studio.labs.linkage import sphere as sphere
from holonomy.studio.labs.linkage.method import Alone, SideBySide, bent, on_sphere
from holonomy.systems.dense_solve import solve

_CLOSER: Final = 24
"""Steps of a dragged hinge towards the hand."""


def program(structure: Structure) -> Program:
    """The motion of this many rods on the sphere, alone or beside another route, and what the hand and the eye need."""
    parts: dict[str, Any] = dict(structure)
    rods, route = parts["rods"], parts["route"]
    base = hl.Linkage(rods, rods - 1.0).system("sphere")
    method = Alone(rods) if route == "none" else SideBySide(rods, route)
    return Program(
        system=lambda p: base.with_parameters(**_named(rods, p)),
        numbers=3,
        dimension=rods - 1 + method.beside,
        method=method,
        observe=lambda system, t, q, v: _seen(rods, route, system, q, v),
        routines=_routines(rods),
    )


@functools.cache
def _routines(rods: int) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """One set for each number of rods, whatever the route: the functions must be the same objects."""
    point, numbers = np.eye(rods - 1)[0], np.array([rods - 1.0, 1.0, 1.0])
    hinge, hand = np.eye(rods - 1)[0], np.zeros(2)
    routines: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "reach": (lambda p, x, pick, goal: _reach(_surface(rods, p), x, pick, goal), (numbers, point, hinge, hand)),
        "throw": (lambda p, x, pick, pull: _throw(_surface(rods, p), x, pick, pull), (numbers, point, hinge, hand)),
    }
    if rods == sphere.RODS:
        vertices, rays = np.zeros((sphere.ROWS * sphere.COLUMNS, 3)), np.zeros((sphere.RAYS, 3))
        routines["fields"] = (_fields, (numbers, vertices))
        routines["speeds"] = (_speeds, (numbers, rays, rays))
        routines["places"] = (_places, (numbers, np.zeros((sphere.NODES, 3))))
        routines["paths"] = (_paths, (numbers, point, rays, np.int64(1)))
    return routines


def library(settings: Settings) -> tuple[hl.System, Any]:
    """The system and method that a user would make."""
    p = settings.parameters
    link = hl.Linkage(int(p["rods"]), p["base"], p["rod_mass"], p["hinge_mass"])
    return link.system("sphere"), hl.RK4()


def equations(structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The equations of each route, in words of geometry: written out in coordinates they fill pages."""
    parts: dict[str, Any] = dict(structure)
    rods = parts["rods"]
    shown = [
        (
            f"Configurations: hinges p as functions of x on the sphere of dimension {rods - 2}",
            rf"p : S^{{{rods - 2}}} \to \mathbb R^{{{2 * (rods - 1)}}}, \qquad |p_i - p_{{i-1}}| = 1, \qquad "
            rf"p_0 = (0, 0), \; p_{{{rods}}} = (L, 0)",
        ),
        (
            "Kinetic energy",
            r"T = \tfrac12 \sum_{ij} M_{ij}\, \dot p_i \cdot \dot p_j, \qquad "
            r"M_{ii} = \tfrac23 m_e + m_v, \quad M_{i,i+1} = \tfrac16 m_e",
        ),
        (
            "On the sphere: hinges accelerate normally to the surface",
            r"\ddot x = \tau - |\dot x|^2 x, \qquad J^\top M \bigl( J \tau + D^2 p\,(\dot x, \dot x) "
            r"- |\dot x|^2\, Dp\, x \bigr) = 0",
        ),
    ]
    if parts["route"] in _BESIDE:
        shown.append(_BESIDE[parts["route"]])
    return "No forces act: every motion is a geodesic of the kinetic metric.", tuple(shown)


_BESIDE: Final = {
    "chart": (
        "Beside it: Christoffel symbols in the angles",
        r"\ddot q^{\,k} + \Gamma^k_{ij}(q)\, \dot q^{\,i} \dot q^{\,j} = 0, \qquad q = (\varphi, t)",
    ),
    "embedding": ("Beside it: the second fundamental form", r"\ddot p = \mathrm{II}(\dot p, \dot p)"),
    "rods": (
        "Beside it: particles held by rods",
        r"M \ddot p = G^\top \lambda, \qquad G \dot p = 0, \qquad "
        r"G\,\dot p\big|_i = (p_i - p_{i-1}) \cdot (\dot p_i - \dot p_{i-1})",
    ),
}


def _named(rods: int, p: Any) -> dict[str, Any]:
    each = jnp.broadcast_to(p[1], (rods,))
    return {
        "base": p[0],
        "rod_mass": each,
        "rod_first_moment": each / 2.0,
        "rod_second_moment": each / 3.0,
        "hinge_mass": jnp.broadcast_to(p[2], (rods - 1,)),
    }


def _surface(rods: int, p: Any) -> Surface:
    return routes.at(rods, _named(rods, p))


# ── What is seen ──────────────────────────────────────────────────────────────────────────────────────────────────


def _seen(rods: int, route: str, system: hl.System, q: Any, v: Any) -> Observed:
    """Channels: energy, point, velocity, tensions, bending, pull of the rods; the other route's energy, distance."""
    surface = routes.at(rods, system.parameters)
    x, w = q[: rods - 1], v[: rods - 1]
    hinges, rates = jax.jvp(surface.hinges, (x,), (w,))
    kinetic = 0.5 * surface.product(rates, rates)
    tensions, pull = _rods(surface, hinges, rates)
    bending = surface.bending(x, w, w)
    channels = [kinetic[None], x, w, tensions, jnp.stack([_size(surface.product(bending, bending)), pull])]
    points = [_drawn(surface, hinges), _placed(x)[None]]
    if route != "none":
        there, moving = bent(surface, route, q[rods - 1 :], v[rods - 1 :])
        gap = there - hinges
        channels.append(jnp.stack([0.5 * surface.product(moving, moving), _size(jnp.sum(gap * gap))]))
        points += [_drawn(surface, there), _placed(on_sphere(surface, route, q[rods - 1 :]))[None]]
    strains = jnp.zeros(rods if route == "none" else 2 * rods)
    return jnp.concatenate(channels), jnp.concatenate(points), strains


def _size(square: Any) -> Any:
    return jnp.sqrt(jnp.maximum(square, 0.0))


def _drawn(surface: Surface, hinges: Any) -> Any:
    """Hinges in the picture, whose origin is the middle of the base."""
    middle = jnp.stack([0.5 * surface.base, jnp.zeros_like(surface.base)])
    return jnp.concatenate([hinges - middle[None], jnp.zeros((hinges.shape[0], 1))], axis=1)


def _placed(x: Any) -> Any:
    """The point in space: as `linkage_sphere.placed`."""
    third = x[2] if x.shape[0] > 2 else jnp.zeros_like(x[0])
    return jnp.stack([x[1], third, x[0]])


def _rods(surface: Surface, hinges: Any, rates: Any) -> tuple[Any, Any]:
    r"""Tensions of the rods in a free motion, and the size \(|M^{-1}F|_M\) of the force F that they exert together.

    Nothing of the sphere is used: \(G M^{-1} G^\top \lambda = -\dot G\dot p\), tensions are \(-\lambda\).
    """
    ends = jnp.concatenate([jnp.zeros((1, 2)), hinges, jnp.stack([surface.base, jnp.zeros_like(surface.base)])[None]])
    along = jnp.diff(ends, axis=0)
    still = jnp.zeros((1, 2))
    apart = jnp.diff(jnp.concatenate([still, rates, still]), axis=0)
    count = hinges.shape[0]
    # rod i pushes hinge i along itself and hinge i - 1 against
    gradient = jnp.zeros((count + 1, count, 2))
    places = np.arange(count)
    gradient = gradient.at[places, places].set(along[:-1]).at[places + 1, places].set(-along[1:])
    mass = surface.masses.matrix()
    answer = jax.vmap(lambda right: solve(mass, right, definite=True), in_axes=1, out_axes=1)
    sprung = jnp.stack([answer(row) for row in gradient])
    kinds = jnp.einsum("aic,bic->ab", gradient, sprung)
    multipliers = solve(kinds, -jnp.sum(apart * apart, axis=1), definite=True)
    force = jnp.einsum("a,aic->ic", multipliers, gradient)
    return -multipliers, _size(jnp.sum(force * answer(force)))


# ── What the hand needs ───────────────────────────────────────────────────────────────────────────────────────────


def _arm(surface: Surface, x: Any, pick: Any) -> tuple[Any, Any, Any]:
    """Where the chosen hinge is, how it moves along an orthonormal frame of the round sphere, and that frame."""
    frame = surface.round_frame(x)
    place = pick @ surface.hinges(x)
    moves = jax.vmap(lambda e: pick @ surface.push(x, e), in_axes=1, out_axes=1)(frame)
    return place, moves, frame


def _reach(surface: Surface, x: Any, pick: Any, goal: Any) -> Any:
    """The configuration that brings the chosen hinge nearest to the goal, found downhill from x (Levenberg)."""

    def closer(_: Any, now: Any) -> Any:
        here, damping = now
        place, moves, frame = _arm(surface, here, pick)
        miss = goal - place
        gram = moves.T @ moves + damping * jnp.eye(moves.shape[1])
        way = solve(gram, moves.T @ miss, definite=True)
        there = here + frame @ way
        there = there / jnp.sqrt(jnp.sum(there * there))
        left = goal - pick @ surface.hinges(there)
        better = jnp.sum(left * left) < jnp.sum(miss * miss)
        return jnp.where(better, there, here), damping * jnp.where(better, 0.2, 8.0)

    return jax.lax.fori_loop(0, _CLOSER, closer, (x, jnp.asarray(1e-2)))[0]


def _throw(surface: Surface, x: Any, pick: Any, pull: Any) -> Any:
    """The velocity that gives the chosen hinge that of the hand, as nearly as it can and with little more."""
    _, moves, frame = _arm(surface, x, pick)
    gram = moves.T @ moves + 1e-3 * jnp.eye(moves.shape[1])
    return frame @ solve(gram, moves.T @ pull, definite=True)


# ── What the eye needs ────────────────────────────────────────────────────────────────────────────────────────────


def _fields(p: Any, points: Any) -> Any:
    surface = _surface(sphere.RODS, p)
    return jax.lax.map(lambda x: fields(surface, x), points)


def _speeds(p: Any, points: Any, velocities: Any) -> Any:
    """Speeds in the kinetic metric, one for each row."""
    surface = _surface(sphere.RODS, p)

    def speed(row: Any) -> Any:
        moving = surface.push(row[0], row[1])
        return jnp.sqrt(surface.product(moving, moving))

    return jax.lax.map(speed, (points, velocities))


def _places(p: Any, points: Any) -> Any:
    """For each row: the hinges, their derivatives along a frame of the round sphere, and that frame."""
    surface = _surface(sphere.RODS, p)

    def place(x: Any) -> Any:
        frame = surface.round_frame(x)
        slopes = jax.vmap(lambda e: surface.push(x, e).reshape(-1), in_axes=1, out_axes=1)(frame)
        return surface.vector(x), slopes, frame

    return jax.lax.map(place, points)


def _paths(p: Any, x: Any, velocities: Any, count: Any) -> Any:
    """Geodesics from x for time 1, one for each of the first `count` velocities, as rows of points."""
    surface = _surface(sphere.RODS, p)
    method = Alone(sphere.RODS)
    h = 1.0 / (sphere.BETWEEN * (sphere.POINTS - 1))

    def path(k: Any, kept: Any) -> Any:
        def on(now: Any, _: Any) -> Any:
            later = jax.lax.fori_loop(0, sphere.BETWEEN, lambda _, y: method.moved(surface, h, *y), now)
            return later, later[0]

        _, points = jax.lax.scan(on, (x, velocities[k]), None, length=sphere.POINTS - 1)
        return kept.at[k].set(jnp.concatenate([x[None], points]))

    return jax.lax.fori_loop(0, count, path, jnp.zeros((sphere.RAYS, sphere.POINTS, 3)))
