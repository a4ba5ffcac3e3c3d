"""The Linkage lab's system: `hl.Linkage`, compiled. Needs JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.models.linkages import forces
from holonomy.models.linkages.curvature import fields
from holonomy.models.linkages.shortest import NODES
from holonomy.models.linkages.surface import Surface
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.linkage import sphere
from holonomy.studio.labs.linkage.method import SideBySide, hinges_of, linkage, on_sphere
from holonomy.studio.labs.linkage.settings import SURFACE_RODS, TABLE
from holonomy.studio.labs.linkage.view import second_coordinates
from holonomy.studio.labs.settings import Settings, Structure
from holonomy.systems.dense_solve import solve

_SLACK: Final = 1e-3
"""Weight of the other hinges' speeds when one is thrown, so that a singular direction does not run away."""


def program(structure: Structure) -> Program:
    """The motion of this many rods on the sphere, alone or beside another route, and what dragging and drawing need."""
    parts: dict[str, Any] = dict(structure)
    rods, route = parts["rods"], parts["route"]
    return Program(
        system=lambda row: _linkage(rods, row, structure).system("sphere"),
        numbers=TABLE.size(structure),
        dimension=rods - 1 + second_coordinates(rods, route),
        method=hl.RK4() if route == "none" else SideBySide(rods, route),
        observe=lambda system, t, q, v: _seen(rods, route, system, q, v),
        routines=_routines(rods),
    )


def _linkage(rods: int, row: Any, structure: Structure | None = None) -> hl.Linkage:
    p = TABLE.named(structure or (("rods", rods),), row)
    return hl.Linkage(rods, p["base"], p["rod_mass"], p["hinge_mass"])


def _surface(rods: int, row: Any) -> Surface:
    return _linkage(rods, row).surface


@functools.cache
def _routines(rods: int) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """One set for each number of rods, whatever the route: the functions must be the same objects."""
    point, numbers = np.eye(rods - 1)[0], np.array([rods - 1.0, 1.0, 1.0])
    hinge, hand = np.int64(0), np.zeros(2)
    routines: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "drag": (lambda p, x, k, goal: forces.drag(_surface(rods, p), x, k, goal), (numbers, point, hinge, hand)),
        "throw": (lambda p, x, k, speed: _throw(_surface(rods, p), x, k, speed), (numbers, point, hinge, hand)),
    }
    if rods == SURFACE_RODS:
        vertices, rays = np.zeros((sphere.ROWS * sphere.COLUMNS, 3)), np.zeros((sphere.RAYS, 3))
        routines["mass"] = (_mass, (numbers,))
        routines["fields"] = (_fields, (numbers, vertices))
        routines["speeds"] = (_speeds, (numbers, rays, rays))
        routines["places"] = (_places, (numbers, np.zeros((NODES, 3))))
        routines["paths"] = (_paths, (numbers, point, rays, np.int64(1)))
    return routines


def library(settings: Settings) -> tuple[hl.System, Any]:
    """The system and method that a user would make."""
    p = settings.parameters
    link = hl.Linkage(int(p["rods"]), p["base"], p["rod_mass"], p["hinge_mass"])
    return link.system("sphere"), hl.RK4()


def equations(structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The equations of each route, in geometric form: written out in coordinates they are too long to read."""
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
        "Beside it: particles connected by rods",
        r"M \ddot p = G^\top \lambda, \qquad G \dot p = 0, \qquad "
        r"G\,\dot p\big|_i = (p_i - p_{i-1}) \cdot (\dot p_i - \dot p_{i-1})",
    ),
}


# ── What is seen ──────────────────────────────────────────────────────────────────────────────────────────────────


def _seen(rods: int, route: str, system: hl.System, q: Any, v: Any) -> Observed:
    """Channels: energy, point, velocity, tensions, bending, force of the rods, speeds of hinges, angles of rods, K.

    Of another route its energy and the distance follow.
    """
    link = linkage(rods, system.parameters)
    surface = link.surface
    x, w = q[: rods - 1], v[: rods - 1]
    hinges, rates = jax.jvp(surface.hinges, (x,), (w,))
    kinetic = 0.5 * surface.product(rates, rates)
    tensions = forces.tensions(surface, x, w, jnp.zeros(()))
    bending = surface.bending(x, w, w)
    size = jnp.stack([_size(surface.product(bending, bending)), _rod_force(rates, tensions)])
    speeds = jax.vmap(lambda rate: _size(jnp.sum(rate * rate)))(rates)
    channels = [kinetic[None], x, w, tensions, size, speeds, _rod_angles(surface, hinges)]
    if rods == SURFACE_RODS:
        channels.append(fields(surface, x)[0][None])
    points = [_drawn(surface, hinges), _placed(x)[None]]
    if route != "none":
        there, moving = hinges_of(link, route, q[rods - 1 :], v[rods - 1 :])
        gap = there - hinges
        channels.append(jnp.stack([0.5 * surface.product(moving, moving), _size(jnp.sum(gap * gap))]))
        points += [_drawn(surface, there), _placed(on_sphere(link, route, q[rods - 1 :]))[None]]
    strains = jnp.zeros(rods if route == "none" else 2 * rods)
    return jnp.concatenate(channels), jnp.concatenate(points), strains


def _size(square: Any) -> Any:
    return jnp.sqrt(jnp.maximum(square, 0.0))


def _rod_force(rates: Any, tensions: Any) -> Any:
    r"""The size \(|M^{-1}F|_M\) of the force \(F = N^\top\lambda\) of all rods, from their tensions \(-\lambda\).

    With \(NM^{-1}N^\top\lambda = -|\dot p_i - \dot p_{i-1}|^2\), its square is
    \(\lambda^\top NM^{-1}N^\top\lambda = -\sum_i\lambda_i|\dot p_i - \dot p_{i-1}|^2\).
    """
    still = jnp.zeros((1, 2))
    apart = jnp.diff(jnp.concatenate([still, rates, still]), axis=0)
    return _size(jnp.sum(tensions * jnp.sum(apart * apart, axis=1)))


def _rod_angles(surface: Surface, hinges: Any) -> Any:
    """The direction of each rod from the left pin to the right one, against the base."""
    left = jnp.zeros((1, 2))
    right = jnp.stack([surface.base, jnp.zeros_like(surface.base)])[None]
    steps = jnp.diff(jnp.concatenate([left, hinges, right]), axis=0)
    return jnp.arctan2(steps[:, 1], steps[:, 0])


def _drawn(surface: Surface, hinges: Any) -> Any:
    """Hinges in the picture, whose origin is the middle of the base."""
    middle = jnp.stack([0.5 * surface.base, jnp.zeros_like(surface.base)])
    return jnp.concatenate([hinges - middle[None], jnp.zeros((hinges.shape[0], 1))], axis=1)


def _placed(x: Any) -> Any:
    """The point in space: as `sphere.placed`."""
    third = x[2] if x.shape[0] > 2 else jnp.zeros_like(x[0])
    return jnp.stack([x[1], third, x[0]])


# ── What dragging needs ───────────────────────────────────────────────────────────────────────────────────────────


def _throw(surface: Surface, x: Any, hinge: Any, speed: Any) -> Any:
    """The velocity that gives a hinge that of the pointer, as nearly as it can and with little more."""
    frame = surface.round_frame(x)
    moves = jax.lax.dynamic_slice_in_dim(surface.pushed(x, frame), 2 * hinge, 2)
    gram = moves.T @ moves + _SLACK * jnp.eye(moves.shape[1])
    return frame @ solve(gram, moves.T @ speed, definite=True)


# ── What is drawn on the sphere ───────────────────────────────────────────────────────────────────────────────────


def _mass(p: Any) -> Any:
    return _surface(SURFACE_RODS, p).ambient()


def _fields(p: Any, points: Any) -> Any:
    surface = _surface(SURFACE_RODS, p)
    return jax.lax.map(lambda x: fields(surface, x), points)


def _speeds(p: Any, points: Any, velocities: Any) -> Any:
    """Speeds in the kinetic metric, one for each row."""
    surface = _surface(SURFACE_RODS, p)

    def speed(row: Any) -> Any:
        moving = surface.push(row[0], row[1])
        return jnp.sqrt(surface.product(moving, moving))

    return jax.lax.map(speed, (points, velocities))


def _places(p: Any, points: Any) -> Any:
    """For each row: the hinges, their derivatives along a frame of the round sphere, and that frame."""
    surface = _surface(SURFACE_RODS, p)

    def place(x: Any) -> Any:
        frame = surface.round_frame(x)
        return surface.vector(x), surface.pushed(x, frame), frame

    return jax.lax.map(place, points)


def _paths(p: Any, x: Any, velocities: Any, count: Any) -> Any:
    """Geodesics from x for time 1, one for each of the first `count` velocities, as rows of points.

    The acceleration is smooth around the sphere, so RK4 goes in the space around it: half the code of its chart.
    """
    surface = _surface(SURFACE_RODS, p)
    method, h = hl.RK4(), 1.0 / (sphere.SUBSTEPS * (sphere.POINTS - 1))
    slope = jax.jit(lambda t, y, w: surface.acceleration(y, w))  # so that the stages share one traced body

    def step(_: Any, state: Any) -> Any:
        y, w = method.advance(slope, 0.0, h, *state)
        y = y / jnp.sqrt(jnp.sum(y * y))
        return y, w - jnp.dot(y, w) * y

    def path(k: Any, kept: Any) -> Any:
        def on(now: Any, _: Any) -> Any:
            later = jax.lax.fori_loop(0, sphere.SUBSTEPS, step, now)
            return later, later[0]

        _, points = jax.lax.scan(on, (x, velocities[k]), None, length=sphere.POINTS - 1)
        return kept.at[k].set(jnp.concatenate([x[None], points]))

    return jax.lax.fori_loop(0, count, path, jnp.zeros((sphere.RAYS, sphere.POINTS, 3)))
