"""The potential energies of bodies by kind, as functions of the points of all vertices."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.systems.bodies import cells
from holonomy.systems.bodies.body import Body, Elements
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import trace
from holonomy.trace.singularity import may_be_infinite
from holonomy.types import AnyArray, Scalar, ScalarFunction

Points = Float[Array, "vertices point"]
Energy = Callable[[Points], Scalar]

_WRITTEN_OUT = 64  # indices up to which rows are taken one by one, which machine code needs no memory for


def take(points: Float[Array, "rows ..."], index: np.ndarray) -> Array:
    """The rows of an array with these numbers, which are known beforehand."""
    if len(index) <= _WRITTEN_OUT:
        return jnp.stack([points[int(i)] for i in index])
    return points[index]


def distances(space: AbstractSpace, points: Points, pairs: np.ndarray) -> Float[Array, " pairs"]:
    """The distances of pairs of vertices."""
    return jax.vmap(space.distance)(take(points, pairs[:, 0]), take(points, pairs[:, 1]))


def angles(space: AbstractSpace, points: Points, triples: np.ndarray) -> Float[Array, " triples"]:
    """The angles at the middle vertices between the geodesics to the other two."""
    return jax.vmap(lambda a, b, c: angle(space, a, b, c))(*(take(points, triples[:, k]) for k in range(3)))


def angle(space: AbstractSpace, a: Array, b: Array, c: Array) -> Scalar:
    """The angle at b between the geodesics to a and c."""
    u, v = space.log(b, a), space.log(b, c)
    u, v = u / space.norm(b, u), v / space.norm(b, v)
    return 2.0 * jnp.arctan2(space.norm(b, u - v), space.norm(b, u + v))


def gathered(bodies: tuple[Body, ...], kind: str) -> Elements | None:
    """The elements of one kind of all bodies, with vertices numbered through; None where there are none."""
    found = [getattr(body, kind) for body in bodies]
    if not any(len(one) for one in found):
        return None
    starts = np.cumsum([0, *(body.count for body in bodies)])[:-1]
    ends = np.concatenate([one.vertices + start for one, start in zip(found, starts, strict=True)])
    known = all(isinstance(one.numbers, np.ndarray) for one in found)
    numbers: AnyArray = (np if known else jnp).concatenate([one.numbers for one in found])
    return Elements(ByValue(ends), numbers)


def of_fixed_size(elements: Elements | None, fixed: bool) -> Elements | None:
    """Of angles or cells those of infinite stiffness, which never change, or the others; None if there are none."""
    if elements is None or not isinstance(elements.numbers, np.ndarray):
        return None if fixed else elements
    rows = np.isinf(elements.numbers[:, 0]) == fixed
    return Elements(ByValue(elements.vertices[rows]), elements.numbers[rows]) if np.any(rows) else None


def measures(space: AbstractSpace) -> dict[str, Callable[[Points, np.ndarray], Array]]:
    """What each kind of element measures, of the points and the vertices of the elements: its rest value is a length,
    an angle, an area or a volume."""
    return {
        "springs": lambda x, ends: distances(space, x, ends),
        "angles": lambda x, ends: angles(space, x, ends),
        "areas": lambda x, ends: cells.measures(space, jnp.stack([take(x, c) for c in ends.T], axis=1)),
        "volumes": lambda x, ends: cells.measures(space, jnp.stack([take(x, c) for c in ends.T], axis=1)),
    }


def deformations(space: AbstractSpace, bodies: tuple[Body, ...], points: Points) -> dict[str, Array]:
    """By kind of element: how far each is from rest, relative to its rest value; angles by their difference."""
    found: dict[str, Array] = {}
    for kind, measure in measures(space).items():
        elements = gathered(bodies, kind)
        if elements is not None:
            rest = jnp.asarray(elements.numbers[:, 1])
            change = measure(points, elements.vertices) - rest
            found[kind] = change if kind == "angles" else change / rest
    return found


def by_kind(
    space: AbstractSpace,
    bodies: tuple[Body, ...],
    potential: ScalarFunction | None,
    interaction: ScalarFunction | None,
) -> dict[str, Energy]:
    """The energies there are: springs, angles, areas, volumes, potentials, external, interaction."""
    found: dict[str, Energy] = {}
    for kind, measure in measures(space).items():
        elements = of_fixed_size(gathered(bodies, kind), fixed=False)
        if elements is not None:
            if kind in ("areas", "volumes"):
                cells.refuse_space(space)
            found[kind] = _harmonic(elements, measure)
    if any(body.potentials for body in bodies):
        found["potentials"] = _own(bodies)
    known = all(isinstance(body.masses, np.ndarray) for body in bodies)
    masses: AnyArray = (np if known else jnp).concatenate([body.masses for body in bodies])
    if potential is not None:
        found["external"] = lambda x: jnp.dot(masses, jax.vmap(_scalar("potential", potential))(x))
    if interaction is not None and len(masses) > 1:
        found["interaction"] = _pairwise(space, masses, interaction)
    return found


def may_be_singular(
    space: AbstractSpace,
    bodies: tuple[Body, ...],
    potential: ScalarFunction | None,
    interaction: ScalarFunction | None,
) -> bool:
    """Whether a function that the user passed may become infinite; the elements themselves do not."""

    def shape(*size: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(size, float)

    point = (shape(space.point_dim),)
    passed = [("potential", potential, point), ("interaction", interaction, (shape(), shape(), shape()))]
    for body in bodies:
        points = (shape(body.count, space.point_dim),)
        passed += [("potential of a body", one, points) for one in body.potentials]
    known = [(_scalar(name, one), at) for name, one, at in passed if one is not None]
    return any(may_be_infinite(trace(one, at), at, 0) for one, at in known)


def _harmonic(elements: Elements, measure: Callable[[Points, np.ndarray], Array]) -> Energy:
    stiffness, rest = elements.numbers[:, 0], elements.numbers[:, 1]
    return lambda x: 0.5 * jnp.sum(stiffness * (measure(x, elements.vertices) - rest) ** 2)


def _own(bodies: tuple[Body, ...]) -> Energy:
    starts = np.cumsum([0, *(body.count for body in bodies)])

    def energy(x: Points) -> Scalar:
        total = jnp.zeros((), x.dtype)
        for body, start in zip(bodies, starts, strict=False):
            for one in body.potentials:
                total = total + _scalar("potential of a body", one)(x[start : start + body.count])
        return total

    return energy


def _pairwise(space: AbstractSpace, masses: AnyArray, interaction: ScalarFunction) -> Energy:
    first, second = np.triu_indices(len(masses), 1)
    pairs = np.stack([first, second], axis=1)

    def energy(x: Points) -> Scalar:
        apart = distances(space, x, pairs)
        return jnp.sum(jax.vmap(_scalar("interaction", interaction))(apart, masses[first], masses[second]))

    return energy


def _scalar(name: str, function: ScalarFunction) -> Callable[..., Scalar]:
    """The function, with a sentence where its value is not one number."""

    def checked(*args: Array) -> Scalar:
        value = jnp.asarray(function(*args))
        if value.shape != ():
            raise ValueError(f"The {name} must return a single number; it returned shape {tuple(value.shape)}.")
        return value

    return checked
