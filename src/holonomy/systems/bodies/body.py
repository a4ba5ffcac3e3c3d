"""A body: masses joined by springs and rods, wherever it may be placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from holonomy.trace.by_value import ByValue
from holonomy.types import AnyArray, ArrayLike, Number, ScalarFunction, Unchecked


class Elements(eqx.Module):
    """Springs, rods, angles or cells of one kind: the vertices of each, and its numbers, one column each."""

    ends: ByValue = eqx.field(static=True)
    numbers: Float[AnyArray, "elements columns"]

    @property
    def vertices(self) -> np.ndarray:
        """The vertices, one row for each element."""
        return self.ends.value

    def __len__(self) -> int:
        return len(self.vertices)


class Body(eqx.Module):
    r"""Masses \(m_i > 0\) at vertices, joined by springs and rods; a `World` places it in a space.

    \[ V = \sum_{\text{springs}} \tfrac12 k\,(d_{ij} - l)^2 + \sum_{\text{angles}} \tfrac12 k\,(\alpha - \alpha_0)^2
         + \sum_{\text{cells}} \tfrac12 k\,(A - A_0)^2 + \sum V_n(x) \]

    **Arguments:** `masses`, one positive number for each vertex. `springs`, rows (i, j, stiffness, rest length) with
    vertices counted from 0. `rods`, rows (i, j, length): distances that never change. `radii`, of balls at the
    vertices, one number or one for each, for collisions. `damping` c of the springs, \(-c\,\dot d_{ij}\) along
    each of them. `angles`, rows (i, j, k, stiffness, rest angle) of the angle at j between the geodesics to i and k.
    `volumes`, rows (i, j, k, stiffness, rest area) of geodesic triangles or (i, j, k, l, stiffness, rest volume) of
    tetrahedra. An angle, area or volume of infinite stiffness never changes, as the length of a rod. `potentials`,
    functions of the points of the body, (vertices, point_dim), to one number.
    """

    masses: Float[AnyArray, " vertices"]
    springs: Elements
    rods: Elements
    angles: Elements
    areas: Elements
    volumes: Elements
    damping: float | Float[AnyArray, ""]
    radii: Float[AnyArray, " vertices"] | None
    potentials: tuple[ScalarFunction, ...] = eqx.field(static=True)

    def __init__(
        self,
        masses: ArrayLike,
        springs: Unchecked = (),
        rods: Unchecked = (),
        radii: ArrayLike | Number | None = None,
        damping: Number = 0.0,
        angles: Unchecked = (),
        volumes: Unchecked = (),
        potentials: Sequence[ScalarFunction] | ScalarFunction = (),
    ):
        self.masses = _masses(masses)
        count = self.masses.shape[0]
        self.springs = _elements("springs", springs, 2, ("stiffness", "rest length"), count)
        self.rods = _elements("rods", rods, 2, ("length",), count)
        self.angles = _elements("angles", angles, 3, ("stiffness", "rest angle"), count)
        triangles = [row for row in volumes if len(row) == 5]
        self.areas = _elements("volumes", triangles, 3, ("stiffness", "rest area"), count)
        others = [row for row in volumes if len(row) != 5]
        self.volumes = _elements("volumes", others, 4, ("stiffness", "rest volume"), count)
        if _known(damping) and not float(damping) >= 0:
            raise ValueError(f"The damping of a body must not be negative; got {damping!r}.")
        self.damping = damping if isinstance(damping, Tracer) else float(damping)
        self.radii = None if radii is None else _radii(radii, count)
        self.potentials = (potentials,) if callable(potentials) else tuple(potentials)
        _refuse_numbers(self)

    @property
    def count(self) -> int:
        """The number of vertices."""
        return self.masses.shape[0]

    @property
    def pairs(self) -> np.ndarray:
        """The vertices that springs and rods join, one row for each."""
        return np.concatenate([self.springs.vertices, self.rods.vertices])


def _known(value: Any) -> bool:
    return not isinstance(value, Tracer)


def _column(name: str, values: Unchecked) -> AnyArray:
    """Numbers as an array; of JAX where some are being traced."""
    try:
        if any(isinstance(x, Tracer) for x in values):
            return jnp.stack([jnp.asarray(x, float) for x in values])
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers; got {values!r}.") from None


def _masses(given: Any) -> AnyArray:
    several = isinstance(given, list | tuple) or np.ndim(given)
    masses = given if isinstance(given, Tracer | jax.Array) else _column("masses", given if several else [given])
    if masses.ndim != 1 or not masses.shape[0]:
        raise ValueError(f"masses must be a list of one number for each vertex; got shape {tuple(masses.shape)}.")
    if _known(masses) and not np.all(np.asarray(masses) > 0):
        worst = int(np.argmin(np.where(np.isnan(masses), -np.inf, masses)))
        raise ValueError(
            f"Every vertex needs a positive mass, but vertex {worst} has {float(masses[worst]):g}: without mass its "
            f"motion is not determined."
        )
    if _known(masses) and not np.all(np.isfinite(masses)):
        raise ValueError("Masses must be finite numbers.")
    return masses


def _radii(given: Any, count: int) -> AnyArray:
    radii = np.broadcast_to(np.asarray(given, float), (count,)) if np.ndim(given) == 0 else _column("radii", given)
    if radii.shape != (count,) or not np.all(np.asarray(radii) >= 0):
        raise ValueError(f"radii must be one number for all or one for each of the {count} vertices, none negative.")
    return radii


def _elements(name: str, given: Any, ends: int, columns: tuple[str, ...], count: int) -> Elements:
    """The rows of one kind, checked; a row says its vertices and then its numbers."""
    width = ends + len(columns)
    letters = ", ".join("ijkl"[:ends])
    rows = [tuple(row) for row in given]
    if not rows:
        return Elements(ByValue(np.zeros((0, ends), int)), np.zeros((0, len(columns))))
    for row in rows:
        if len(row) != width:
            said = f"rows of ({letters}, {', '.join(columns)})"
            raise ValueError(f"{name} must be {said}; got {row!r}.")
    vertices = np.array([[_vertex(name, x, count) for x in row[:ends]] for row in rows])
    for row in vertices:
        if len(set(row.tolist())) < ends:
            raise ValueError(f"{name} join different vertices; got {tuple(row.tolist())}.")
    numbers = [_column(name, [row[ends + k] for row in rows]) for k in range(len(columns))]
    stack: Any = jnp.stack if any(isinstance(x, Tracer) for x in numbers) else np.stack
    return Elements(ByValue(np.ascontiguousarray(vertices)), stack(numbers, axis=1))


def _vertex(name: str, value: Any, count: int) -> int:
    if not isinstance(value, int | np.integer) or not 0 <= value < count:
        raise ValueError(f"{name} name vertices by whole numbers from 0 to {count - 1}; got {value!r}.")
    return int(value)


def _refuse_numbers(body: Body) -> None:
    """Raise for lengths, stiffnesses and rods that no body can have."""
    for kind, one, what in (
        ("spring", body.springs, ("stiffness", "rest length")),
        ("rod", body.rods, ("length",)),
        ("angle", body.angles, ("stiffness", "rest angle")),
        ("cell", body.areas, ("stiffness", "rest area")),
        ("cell", body.volumes, ("stiffness", "rest volume")),
    ):
        if isinstance(one.numbers, Tracer):
            continue
        numbers = np.asarray(one.numbers)
        finite = np.isfinite(numbers)
        if kind in ("angle", "cell"):  # of infinite stiffness: of fixed size
            finite[:, 0] |= numbers[:, 0] == np.inf
        bad = np.argwhere(~(finite & (numbers >= 0)))
        if len(bad):
            row, column = bad[0]
            ends = tuple(one.vertices[row].tolist())
            value = float(one.numbers[row, column])
            if kind == "spring" and value == np.inf:
                raise ValueError(f"The spring {ends} has infinite stiffness; pass it as a rod, rods=[(i, j, length)].")
            raise ValueError(f"The {what[column]} of the {kind} {ends} must not be negative; got {value:g}.")
    lengths: dict[tuple[int, ...], float] = {}
    if isinstance(body.rods.numbers, Tracer):
        return
    for ends, (length,) in zip(np.sort(body.rods.vertices, axis=1).tolist(), body.rods.numbers, strict=True):
        if not length > 0:
            raise ValueError(f"The rod {tuple(ends)} has length {length:g}; a rod needs a positive length.")
        if lengths.setdefault(tuple(ends), length) != length:
            raise ValueError(
                f"Two rods join the vertices {tuple(ends)} with lengths {lengths[tuple(ends)]:g} and {length:g}, which "
                f"contradict each other; keep one of them."
            )
