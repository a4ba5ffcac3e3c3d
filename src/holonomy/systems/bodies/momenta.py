"""Momenta of the Killing fields along a motion of a world, from arrays of saved states."""

from __future__ import annotations

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace, Carried, Circle, Euclidean, Hyperbolic, Inhomogeneous, Product, Sphere
from holonomy.spaces import axes as axis
from holonomy.systems.bodies.world import World
from holonomy.trace.function import Function
from holonomy.types import AnyArray

_LOOKS = 8  # saved states at which it is seen whether a potential is invariant
_INVARIANT = 1e-11  # of the size of its terms: the change of a potential along a Killing field that counts as rounding

Rows = np.ndarray


def conserved(world: World, q: Rows, momentum: Rows) -> dict[str, Rows]:
    r"""In words the momenta \(\sum_i p_i(K(x_i))\) of the Killing fields that the motion of a world conserves.

    `q` and `momentum` have one row for each time. Fields that a potential is not invariant under are left out; with
    forces besides the damping of springs, or constraints besides the world's own, there are none, nor are there of a
    carried world with potentials. Far from the origin the momenta of fields that are fixed there have no
    digits left: of carried points the invariants under isometries are given instead,
    \(\sum_i B_i^2 - \sum_{i<j} R_{ij}^2\) with boosts B and rotations R, and in three dimensions
    \(B_xR_{yz} - B_yR_{xz} + B_zR_{xy}\).
    """
    if world.acted_on or _parts(world.point_space) is None or not len(q):
        return {}
    x, p = (np.asarray(world.points(z)) for z in (q, momentum))
    if isinstance(world.space, Carried):
        return _carried(world, x, p)
    found = _momenta(world.point_space, x, p)
    given = [world.energy_terms[kind] for kind in ("external", "potentials") if kind in world.energy_terms]
    if given:
        some = q[np.unique(np.linspace(0, len(q) - 1, _LOOKS).astype(int))]
        slope = np.asarray(world.points(np.sum([np.asarray(_slopes(one, some)) for one in given], axis=0)))
        at = np.asarray(world.points(some))
        size = np.sum(np.linalg.norm(at, axis=-1) * np.linalg.norm(slope, axis=-1), axis=-1)
        rates = _momenta(world.point_space, at, slope)
        found = {name: found[name] for name, rate in rates.items() if np.all(np.abs(rate) <= _INVARIANT * size)}
    return {_said(name): rows for name, rows in found.items()}


@eqx.filter_jit
def _slopes(energy: Function, q: Float[AnyArray, "times point"]) -> Float[Array, "times point"]:
    return jax.vmap(jax.grad(lambda at: energy(jnp.zeros((), at.dtype), at)))(q)


def _parts(space: AbstractSpace) -> tuple[AbstractSpace, ...] | None:
    """The factors of a space whose Killing fields are affine functions of its arrays; None for other spaces."""
    parts = space.factors if isinstance(space, Product) else (space,)
    for part in parts:
        match part:
            case Euclidean() | Circle() | Inhomogeneous() | Sphere(model="embedded") | Hyperbolic(model="hyperboloid"):
                pass
            case _:
                return None
    return parts


def _momenta(space: AbstractSpace, x: Rows, p: Rows) -> dict[str, Rows]:
    """The momenta of all Killing fields, of points and covectors (times, vertices, point_dim)."""
    columns: list[Rows] = []
    start = 0
    for part in _parts(space) or ():
        here = slice(start, start + part.point_dim)
        columns += _of_part(part, x[..., here], p[..., here])
        start += part.point_dim
    return dict(zip(space.killing(), columns, strict=True))


def _of_part(part: AbstractSpace, x: Rows, p: Rows) -> list[Rows]:
    """In the order of the fields of the space, as `axes` has them."""
    both = np.einsum("tvi,tvj->tij", x, p)
    size = part.n if isinstance(part, Euclidean | Inhomogeneous | Hyperbolic) else part.point_dim
    shifts = [np.sum(p[..., i], axis=1) for i in range(size)] if isinstance(part, Euclidean | Circle) else []
    turns = [] if isinstance(part, Circle) else [both[:, i, j] - both[:, j, i] for _, i, j in axis.planes(size)]
    boosts = [both[:, -1, i] + both[:, i, -1] for i in range(size)] if isinstance(part, Hyperbolic) else []
    return [*shifts, *turns, *boosts]


def _carried(world: World, x: Rows, p: Rows) -> dict[str, Rows]:
    """The momenta of all vertices, of the hyperbolic part the invariants of each group that shares an isometry."""
    space = world.point_space
    found, kept = _momenta(space, x, p), {}
    if {"potentials", "external"} & set(world.energy_terms):
        return {}
    for part, own in _names(space):
        if not isinstance(part, Hyperbolic):
            kept |= {_said(name): found[name] for name in own}
            continue
        ends = np.cumsum([0, *(body.count for body in world.bodies)]) if world.several_frames else (0, world.count)
        for body, (begin, end) in enumerate(pairwise(ends)):
            mine = _momenta(space, x[:, begin:end], p[:, begin:end])
            said = f" of body {body}" if world.several_frames else ""
            kept |= {
                f"{name} of the momentum{said}": rows
                for name, rows in _invariants(part, [mine[name] for name in own]).items()
            }
    return kept


def _said(field: str) -> str:
    return f"the momentum of {field}"


def _names(space: AbstractSpace) -> list[tuple[AbstractSpace, list[str]]]:
    """The factors of a space with the names of their Killing fields in it."""
    names = iter(space.killing())
    return [(part, [next(names) for _ in part.killing()]) for part in _parts(space) or ()]


def _invariants(part: Hyperbolic, momenta: list[Rows]) -> dict[str, Rows]:
    """What isometries of a hyperbolic space leave of momenta, which are those of rotations and then of boosts."""
    turns, boosts = momenta[: -part.n], momenta[-part.n :]
    found = {"boosts² - rotations²": np.sum(np.square(boosts), axis=0) - np.sum(np.square(turns), axis=0)}
    if part.n == 3:
        found["boosts · rotations"] = boosts[0] * turns[2] - boosts[1] * turns[1] + boosts[2] * turns[0]
    return found
