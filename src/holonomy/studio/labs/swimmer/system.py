"""The Swimmer lab's movers: those of the library, compiled. Needs JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.locomotion import Mover
from holonomy.locomotion.groups import GroupSpace, Isometries
from holonomy.locomotion.local_form import connection_at, curvature_at
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.settings import Structure
from holonomy.studio.labs.swimmer import outlines
from holonomy.studio.labs.swimmer.catalogue import BY_NAME, Model
from holonomy.studio.labs.swimmer.field import CELLS
from holonomy.studio.labs.swimmer.gait import MOST_POINTS
from holonomy.studio.labs.swimmer.motion import AlongGait, Stroke, allowed, rates
from holonomy.studio.labs.swimmer.outlines import PLACES

P = Mapping[str, Any]

_MAKERS: Final[dict[str, Callable[[P, int], Mover]]] = {
    "purcell": lambda p, _: hl.Purcell(p["length"], p["drag"], p["drag_ratio"]),
    "links": lambda p, n: hl.models.links(jnp.stack([p["length"]] * n), p["drag"], p["drag_ratio"]),
    "pushmepullyou": lambda p, _: hl.PushMePullYou(p["volume"], p["viscosity"]),
    "spheres": lambda p, _: hl.models.three_spheres(p["radius"], p["viscosity"]),
    "raft": lambda p, _: hl.models.raft(p["mass"], p["inertia"], p["bob"], p["length"]),
    "cat": lambda p, _: hl.models.falling_cat(p["mass"], p["length"], p["across"], p["along"]),
    "snakeboard": lambda p, _: hl.models.snakeboard(p["mass"], p["inertia"], p["rotor"], p["wheels"], p["length"]),
    "car": lambda p, _: hl.models.car(p["wheelbase"], p["mass"], p["inertia"]),
    "snake": lambda p, _: hl.models.snake(jnp.stack([p["length"]] * 3), p["mass"]),
    "robot": lambda p, _: hl.models.space_robot(
        p["mass"], p["inertia"], jnp.stack([p["length"]] * 2), jnp.stack([p["link"]] * 2), p["reach"]
    ),
    "sphere": lambda p, _: hl.models.curved_body(hl.Sphere(2), _masses(p)),
    "hyperbolic": lambda p, _: hl.models.curved_body(hl.Hyperbolic(2), _masses(p)),
    "flat": lambda p, _: hl.models.curved_body(hl.Euclidean(2), _masses(p)),
    "triangle": lambda p, _: hl.Mover.from_connection(
        lambda r: jnp.array([[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]]), hl.SE2(), {"ahead": "length", "turn": "angle"}
    ),
}


def _masses(p: P) -> Any:
    return jnp.stack([p["mass1"], p["mass2"], p["mass3"]])


def mover(model: Model, links: int, row: Any) -> Mover:
    """The mover with the first numbers of a row, which may be traced."""
    return _MAKERS[model.name](_named(model, row), links)


def _named(model: Model, row: Any) -> dict[str, Any]:
    return {n.name: row[k] for k, n in enumerate(model.numbers)}


def shape_size(links: int) -> int:
    """How many shape variables there are; `links` is 0 for movers that are no chain of any length."""
    return links - 1 if links else 2


def numbers_size(model: Model, links: int) -> int:
    """How many numbers the compiled code takes: the mover's, period, plane, count, and the gait's pieces."""
    return len(model.numbers) + 1 + 3 * shape_size(links) + 1 + 8 * MOST_POINTS


def program(structure: Structure) -> Program:
    """The motion of a mover along any gait, and what its picture of shapes needs."""
    parts: dict[str, Any] = dict(structure)
    model, links = BY_NAME[parts["model"]], int(parts["links"])
    size = numbers_size(model, links)
    return Program(
        system=lambda row: stroke(model, links, row),
        numbers=size,
        dimension=3 + PLACES[model.group] + model.momentum,
        method=AlongGait(model.momentum),
        observe=lambda system, t, q, v: _seen(model, system, q),
        routines={"field": (_field(model, links), (np.ones(size), np.zeros((CELLS * CELLS, 2))))},
    )


def stroke(model: Model, links: int, row: Any) -> Stroke:
    """The mover and its gait, from a row of numbers."""
    n, k = shape_size(links), len(model.numbers)
    cuts = np.cumsum([k, 1, 2 * n, n, 1])
    return Stroke(
        mover(model, links, row),
        _named(model, row),
        row[cuts[4] :].reshape(MOST_POINTS, 4, 2),
        row[cuts[3]],
        row[cuts[0]],
        row[cuts[1] : cuts[2]].reshape(n, 2),
        row[cuts[2] : cuts[3]],
    )


@functools.cache
def _field(model: Model, links: int) -> Callable[[Any, Any], Any]:
    """At points of the picture of shapes: the curvature in its plane, the connection along its axes, and 1 or NaN."""

    def look(row: Any, points: Any) -> Any:
        system = stroke(model, links, row)

        def one(x: Any) -> Any:
            r, axes = system.origin + system.axes @ x, system.axes
            b = jnp.einsum("kij,i,j->k", curvature_at(system.mover, r), axes[:, 0], axes[:, 1])
            along = connection_at(system.mover, r) @ axes
            return jnp.concatenate([b, along.T.reshape(-1), jnp.where(allowed(system.mover, r), 1.0, jnp.nan)[None]])

        return jax.lax.map(one, points)

    return look


def _seen(model: Model, system: Stroke, q: Any) -> Observed:
    """Channels: cost, shape, pose, body velocity, power, phase, momentum; the points of both pictures."""
    shape, xi, power, _ = rates(system, q, model.momentum)
    size = PLACES[model.group]
    place, momentum = q[1 : 1 + size], q[1 + size : -2]
    channels = [q[-2:-1], shape, pose(system.mover, place), xi, power[None], q[:1], momentum]
    return jnp.concatenate(channels), _points(model, system, shape, place, q[0]), jnp.zeros(0)


def pose(body: Mover, place: Any) -> Any:
    """The place as it is plotted: x; x, y and theta; or the vector of the rotation."""
    lie = body.lie
    if isinstance(lie, Isometries):
        return lie.displacement(place, jnp.zeros(3))
    if isinstance(lie, GroupSpace) and not isinstance(lie.space, hl.SE2):
        return lie.moved(place)
    return place


def _points(model: Model, system: Stroke, shape: Any, place: Any, phase: Any) -> Any:
    """The end of the path, the present shape, and the points of the mover's outline."""
    parts = [outlines.placed(jnp, model.group, place, jnp.asarray(outlines.origin(model.group)))]
    parts.append(jnp.append(system.point(phase)[0], 0.0)[None])
    found = model.outline(jnp, system.numbers, shape)
    parts += [outlines.placed(jnp, model.group, place, part.points) for part in found]
    return jnp.concatenate(parts)
