"""What can be wrong with bodies and where they are placed, said before anything moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.core import Tracer

from holonomy.spaces import AbstractSpace, Chart, Circle, Product, Sphere
from holonomy.systems.bodies import ball_flight
from holonomy.systems.bodies.body import Body, Elements
from holonomy.systems.constraints.tolerance import close
from holonomy.trace.by_value import ByValue
from holonomy.types import AnyArray, Unchecked

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

MOST_BALLS = 40  # vertices with radii up to which all pairs are walls of the contact machinery
_ANTIPODAL = 1e-6  # distance from the antipode below which the direction of a spring is lost
_ROUNDINGS = 64  # of positions, that a gap may have
_SAID = 4  # pairs that a message names
_MOST_WAYS = 500  # vertices up to which the ways along rods between all of them are looked at


def bodies(space: Unchecked, given: Unchecked) -> tuple[Body, ...]:
    """The bodies as a tuple; `ValueError` for what is neither a space nor a body."""
    if not isinstance(space, AbstractSpace):
        raise ValueError(f"World takes a space first, such as hl.Hyperbolic(3); got {space!r}.")
    found = (given,) if isinstance(given, Body) else tuple(given) if isinstance(given, Sequence) else (given,)
    if not found or not all(isinstance(body, Body) for body in found):
        raise ValueError(f"World takes a hl.Body or a list of them second; got {given!r}.")
    return found


def pairs(given: Unchecked, count: int) -> np.ndarray:
    """Pairs of vertices as an array of two columns."""
    found = np.asarray(given)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"Pairs of vertices are an array of whole numbers (pairs, 2); got shape {found.shape}.")
    if found.size and not (found.min() >= 0 and found.max() < count):
        raise ValueError(f"Vertices are numbered from 0 to {count - 1}; got {found.tolist()}.")
    return found


def longest(space: AbstractSpace) -> float:
    """The largest distance of two points that the space is known to have; infinite for one without a bound."""
    match space:
        case Sphere() | Circle():
            return np.inf if isinstance(space.radius, Tracer) else float(np.pi * space.radius)
        case Product():
            return float(np.sqrt(sum(longest(factor) ** 2 for factor in space.factors)))
        case _:
            return np.inf


def refuse_lengths(space: AbstractSpace, rods: Elements | None) -> None:
    """Raise for a rod that is longer than the space allows."""
    if rods is None or isinstance(rods.numbers, Tracer):
        return
    most, lengths = longest(space), np.asarray(rods.numbers)[:, 0]
    if np.any(lengths >= most):
        worst = int(np.argmax(lengths))
        raise ValueError(
            f"The rod {tuple(rods.vertices[worst].tolist())} has length {lengths[worst]:g}, but the points "
            f"of {space!r} are at most {most:g} apart, and at that distance a rod has no direction; pass a shorter one."
        )


def refuse_contradictions(rods: Elements | None, count: int) -> None:
    """Raise for a rod that is longer than the way along other rods from one of its ends to the other."""
    if rods is None or isinstance(rods.numbers, Tracer) or count > _MOST_WAYS:
        return
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    ends, lengths = rods.vertices, np.asarray(rods.numbers)[:, 0]
    graph = np.zeros((count, count))
    graph[ends[:, 0], ends[:, 1]] = graph[ends[:, 1], ends[:, 0]] = lengths
    ways = shortest_path(csr_array(graph), directed=False)[ends[:, 0], ends[:, 1]]
    worst = int(np.argmax(lengths - ways))
    if lengths[worst] > ways[worst] * (1.0 + close(lengths.dtype)):
        raise ValueError(
            f"The rod {tuple(ends[worst].tolist())} of length {lengths[worst]:g} contradicts other rods: along them "
            f"its ends are at most {ways[worst]:g} apart. Make it shorter, or the others longer."
        )


def radii(given: tuple[Body, ...]) -> AnyArray:
    """The radii of the balls at all vertices, zero where there is none."""
    if all(body.radii is None for body in given):
        raise ValueError("collisions=True needs bodies with radii; pass radii= to hl.Body.")
    return np.concatenate([np.zeros(body.count) if body.radii is None else body.radii for body in given])


def balls(radii: AnyArray, rods: Elements | None, many: bool) -> Elements | None:
    """All pairs of balls that can meet, with the sums of their radii; pairs that a rod joins cannot.

    None for many balls where there may be `many`, whose contacts are found without looking at all pairs.
    """
    found = np.flatnonzero(radii > 0)
    if len(found) > MOST_BALLS:
        if many:
            return None
        raise ValueError(
            f"Collisions of {len(found)} balls are {len(found) * (len(found) - 1) // 2} pairs, all of which would be "
            f"looked at in every step; with an interaction, and in other spaces than Euclidean, spherical and "
            f"hyperbolic ones, up to {MOST_BALLS} balls are supported. Give radii to fewer vertices, or leave out the "
            f"interaction, without which any number collides."
        )
    joined = set() if rods is None else {tuple(sorted(row)) for row in rods.vertices.tolist()}
    first, second = np.triu_indices(len(found), 1)
    meeting = [(i, j) for i, j in zip(found[first], found[second], strict=True) if (int(i), int(j)) not in joined]
    if not meeting:
        return None
    ends = np.array(meeting)
    return Elements(ByValue(ends), (radii[ends[:, 0]] + radii[ends[:, 1]])[:, None])


def refuse_start(world: World, q: AnyArray, v: AnyArray) -> None:
    """Raise for points off the space or outside the domain of its metric, velocities that are not tangent, antipodal
    springs and overlapping balls."""
    space = world.point_space
    if world.several_frames and world.acted_on:
        raise ValueError(
            "Forces and constraints that are added to a world would see each of its bodies near the origin, since "
            "bodies that do not act on each other are carried by isometries of their own. Pass interaction=lambda d, "
            "m1, m2: 0.0 * d to hl.World, which keeps them together."
        )
    x, u = (np.asarray(world.points(z)) for z in (q, v))
    if not np.all(np.isfinite(x)):
        raise ValueError(f"The point of vertex {_first(~np.isfinite(x))} is not finite.")
    if any(isinstance(part, Chart) for part in (space.factors if isinstance(space, Product) else (space,))):
        for point in x:  # a user's metric says itself what is wrong with it
            space.inner(point, np.zeros_like(point), np.zeros_like(point))
    near = np.asarray(jax.vmap(space.project)(x.astype(np.float64)))
    _refuse_off(space, x, near, "The point of vertex", "does not lie on", "space.project(point)")
    tangent = np.asarray(jax.vmap(space.tangent)(near, u.astype(np.float64)))
    _refuse_off(space, u, tangent, "The velocity of vertex", "is not tangent to", "space.tangent(point, velocity)")
    for kind, one in (("spring", world.springs), ("rod", world.rods)):
        if one is not None and np.isfinite(longest(space)):
            apart = np.asarray(world.distances(q, one.vertices))
            far = np.flatnonzero(apart > longest(space) - _ANTIPODAL)
            if far.size:
                raise ValueError(
                    f"The {kind} {tuple(one.vertices[far[0]].tolist())} joins antipodal points, between which it could "
                    f"lie in any direction; move one of them."
                )
    _refuse_overlaps(world, q, x)


def _refuse_overlaps(world: World, q: AnyArray, x: np.ndarray) -> None:
    """Raise for balls that overlap, naming the pairs."""
    if world.balls is not None:
        pairs, sums = world.balls.vertices, np.asarray(world.balls.numbers)[:, 0]
    elif world.radii is not None and world.flight is not None:
        hits, radius = np.flatnonzero(np.asarray(world.radii) > 0), world.flight.radius
        reach = 2.0 * float(np.max(world.radii)) / radius
        pairs = ball_flight.not_joined(hits[ball_flight.neighbours(world.flight, x[hits] / radius, reach)], world.rods)
        sums = np.asarray(world.radii)[pairs].sum(axis=1)
    else:
        return
    gaps = np.asarray(world.distances(q, pairs)) - sums
    rounding = _ROUNDINGS * float(np.finfo(x.dtype).eps) * float(np.max(np.abs(x)))
    over = np.flatnonzero(gaps < -close(x.dtype) * np.minimum(sums, 1.0) - rounding)
    if over.size:
        said = ", ".join(f"{tuple(pairs[k].tolist())} by {-gaps[k]:.3g}" for k in over[:_SAID])
        said += f" and {over.size - _SAID} more" if over.size > _SAID else ""
        raise ValueError(f"Balls overlap at the start: {said}. Move them apart or give them smaller radii.")


def _refuse_off(space: AbstractSpace, given: np.ndarray, near: np.ndarray, what: str, fails: str, call: str) -> None:
    off = np.linalg.norm(given - near, axis=1)
    size = np.maximum(1.0, np.linalg.norm(given, axis=1))
    bad = ~(off <= close(given.dtype) * size)  # a NaN from a projection that does not exist is refused as well
    if np.any(bad):
        i = int(np.argmax(bad))
        said = f"{what} {i}, {given[i].tolist()}, {fails} {space!r}"
        if not np.all(np.isfinite(near[i])):
            raise ValueError(f"{said}, and none is nearest to it. Points of it are space.origin and space.random(key).")
        raise ValueError(
            f"{said}: the nearest one is {near[i].tolist()}, {off[i]:.3g} away. Pass that, which is {call}."
        )


def _first(rows: np.ndarray) -> int:
    return int(np.argmax(np.any(rows, axis=1)))
