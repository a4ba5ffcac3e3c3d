r"""Rods, and angles and cells of fixed size: conditions on a few vertices each, and their multipliers.

A condition \(\varphi_r(x) = 0\) has gradients \(\nabla_i\varphi_r\) at its two to four vertices. Multipliers solve

\[ A\lambda = b, \qquad A_{rs} = \sum_i \tfrac1{m_i}\langle\nabla_i\varphi_r, \nabla_i\varphi_s\rangle, \]

where an entry differs from zero only if two conditions share a vertex. A few are solved in straight-line code, many by
the elimination of `holonomy.systems.elimination`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.root_finding import newton
from holonomy.spaces import AbstractSpace
from holonomy.systems.bodies import cells, energies, many_rods
from holonomy.systems.bodies.body import Elements
from holonomy.systems.dense_solve import UNROLLED, Factored, back_substitute, factor, least_pivot
from holonomy.systems.elimination import Elimination, Factors, eliminate
from holonomy.types import AnyArray, Number, Point, Scalar, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Values: TypeAlias = Float[Array, " conditions"]
Corners: TypeAlias = Float[Array, "elements corners point"]


class Slopes(NamedTuple):
    """Differentials of the conditions by kind, and the velocities \\(\\nabla_i\\varphi_r/m_i\\) that belong to them."""

    covectors: list[Corners]
    ways: list[Corners]


class Sharing(eqx.Module):
    """Which pairs of differentials make up the entries of A, and how it is eliminated.

    `first` and `second` are rows of the differentials written one after the other, one column for each entry, filled up
    with the last row, which is zero: the diagonal first, then the entries of the elimination.
    """

    first: Int[AnyArray, "slots entries"]
    second: Int[AnyArray, "slots entries"]
    elimination: Elimination


class Spreading(eqx.Module):
    """For each vertex the rows of the differentials that act on it, filled up with the last row, which is zero."""

    rows: Int[AnyArray, "slots vertices"]


class RigidElements(eqx.Module):
    """The conditions of a world on the sizes of its rods, angles and cells, in this order."""

    kinds: tuple[str, ...] = eqx.field(static=True)
    elements: tuple[Elements, ...]
    sharing: Sharing | None
    spreading: Spreading | None

    @property
    def count(self) -> int:
        """The number of conditions."""
        return sum(len(one) for one in self.elements)

    @property
    def sizes(self) -> Values:
        """The lengths, angles, areas and volumes that are kept."""
        return jnp.concatenate([jnp.asarray(one.numbers)[:, -1] for one in self.elements])

    def label(self, row: int) -> str:
        """A condition in words."""
        for kind, one in zip(self.kinds, self.elements, strict=True):
            if row < len(one):
                return f"{SINGULAR[kind]} {tuple(one.vertices[row].tolist())}"
            row -= len(one)
        raise IndexError(row)

    def values(self, world: World, q: Point) -> Values:
        """The conditions, zero where they hold."""
        x = world.points(q)
        space = world.point_space
        parts = [
            many_rods.lengths(space, x, one.vertices)
            if kind == "rods" and many_rods.applies(space, one)
            else jax.vmap(measure(space, kind))(corners(x, one))
            for kind, one in zip(self.kinds, self.elements, strict=True)
        ]
        return jnp.concatenate(parts) - self.sizes

    def slopes(self, world: World, q: Point) -> Slopes:
        """The differentials of the conditions at a configuration."""
        x, space = world.points(q), world.point_space
        found = Slopes([], [])
        for kind, one in zip(self.kinds, self.elements, strict=True):
            if kind == "rods" and many_rods.applies(space, one):
                covectors, rises = many_rods.gradients(space, x, one.vertices)
            else:
                at = corners(x, one)
                covectors = jax.vmap(jax.grad(measure(space, kind)))(at)
                rises = jax.vmap(jax.vmap(space.sharp))(at, covectors)
            masses = jnp.stack([energies.take(jnp.asarray(world.masses, q.dtype), c) for c in one.vertices.T], axis=1)
            found.covectors.append(covectors)
            found.ways.append(rises / masses[:, :, None])
        return found

    def rates(self, world: World, slopes: Slopes, v: Tangent) -> Values:
        """How fast the conditions change."""
        u = world.points(v)
        parts = [
            jnp.sum(covectors * corners(u, one), axis=(1, 2))
            for covectors, one in zip(slopes.covectors, self.elements, strict=True)
        ]
        return jnp.concatenate(parts)

    def bends(self, world: World, q: Point, v: Tangent) -> Values:
        """The second derivatives of the conditions along the geodesics of all vertices."""
        x, u, space = world.points(q), world.points(v), world.point_space

        def second(size: Callable[[Array], Scalar], at: Array, moving: Array) -> Scalar:
            def along(s: Scalar) -> Scalar:
                return size(jax.vmap(lambda a, b: space.geodesic(a, b, s)[0])(at, moving))

            zero, one = jnp.zeros((), at.dtype), jnp.ones((), at.dtype)
            return jax.jvp(lambda s: jax.jvp(along, (s,), (one,))[1], (zero,), (one,))[1]

        parts = [
            jax.vmap(partial(second, measure(space, kind)))(corners(x, one), corners(u, one))
            for kind, one in zip(self.kinds, self.elements, strict=True)
        ]
        return jnp.concatenate(parts)

    def spread(self, world: World, slopes: Slopes, multipliers: Values, like: Tangent) -> Tangent:
        r"""The velocities \(\sum_r \lambda_r\nabla_i\varphi_r/m_i\), as an array of tangent vectors."""
        ends = np.cumsum([len(one) for one in self.elements])[:-1].tolist()
        parts = jnp.split(multipliers, ends)
        scaled = [(part[:, None, None] * ways) for part, ways in zip(parts, slopes.ways, strict=True)]
        if self.spreading is None:
            total: list[Array | None] = [None] * world.count
            for one, ways in zip(self.elements, scaled, strict=True):
                for r, row in enumerate(one.vertices.tolist()):
                    for c, i in enumerate(row):
                        total[i] = ways[r, c] if total[i] is None else total[i] + ways[r, c]
            none = jnp.zeros(world.point_space.point_dim, like.dtype)
            rows = jnp.stack([none if one is None else one for one in total])
        else:
            flat = _flat(scaled)
            rows = sum((_take(flat, slot) for slot in self.spreading.rows), jnp.zeros((), like.dtype)).T
        return jnp.concatenate([rows.reshape(-1), jnp.zeros(like.shape[0] - rows.size, like.dtype)])

    def factor(self, at: Slopes) -> Factored | Factors:
        """The factorisation of A."""
        if self.sharing is None:
            return factor(self._matrix(at, at), definite=True)
        entries = self._entries(at, at)[0]
        return self.sharing.elimination.factor(entries[: self.count], entries[self.count :])

    def factor_between(self, covectors: Slopes, ways: Slopes) -> Factored | Factors:
        """The factorisation of the products of differentials at one configuration with ways at another."""
        if self.sharing is None:
            return factor(self._matrix(covectors, ways), definite=False)
        forth, back = self._entries(covectors, ways)
        m = self.count
        return self.sharing.elimination.factor_general(forth[:m], forth[m:], back[m:])

    def _entries(self, covectors: Slopes, ways: Slopes) -> tuple[Array, Array]:
        """The diagonal and the entries of all pairs of conditions, and the same of the transposed matrix."""
        assert self.sharing is not None
        first, second, m = self.sharing.first, self.sharing.second, self.count
        a, b = _flat(covectors.covectors), _flat(ways.ways)
        forth = _products(a, b, first, second)
        if covectors is ways:
            return forth, forth
        return forth, jnp.concatenate([forth[:m], _products(a, b, second[:, m:], first[:, m:])])

    def solve(self, factors: Factored | Factors, b: Values) -> Values:
        """The solution of A x = b."""
        if isinstance(factors, Factors):
            assert self.sharing is not None
            return self.sharing.elimination.solve(factors, b)
        return back_substitute(factors, b)

    def independence(self, first: Slopes, second: Slopes) -> Scalar:
        """The least pivot of the symmetric part of the products of differentials at two configurations over its
        diagonal entry; not positive, or NaN, where differentials became dependent in between."""
        if self.sharing is None:
            matrix = self._matrix(first, second)
            return least_pivot(0.5 * (matrix + matrix.T))
        forth, back = self._entries(first, second)
        entries = 0.5 * (forth + back)
        return self.sharing.elimination.factor(entries[: self.count], entries[self.count :]).least

    def multipliers(self, world: World, t: Number, q: Point, v: Tangent) -> Values:
        """The multipliers of the accelerations at a state."""
        slopes = self.slopes(world, q)
        free = self.rates(world, slopes, world.kick(t, q, v))
        return self.solve(self.factor(slopes), -(free + self.bends(world, q, v)))

    def settled(self, world: World, q: Point, v: Tangent) -> tuple[Point, Tangent]:
        """The nearest state of the right sizes: along geodesics whose directions combine the gradients at q, then the
        nearest velocities. NaN where no such state is found."""
        slopes = self.slopes(world, q)
        factors = self.factor(slopes)

        def moved(rise: Values) -> Point:
            return many_rods.moved(world, 1.0, q, self.spread(world, slopes, rise, v))[0]

        rise, found, _ = newton(
            lambda z: self.values(world, moved(z)),
            lambda r: self.solve(factors, r),
            lambda z: jnp.abs(self.spread(world, slopes, z, v)),
            lambda z: jnp.max(jnp.abs(q)) + jnp.zeros_like(q),
            jnp.zeros(self.count, q.dtype),
        )
        x = jnp.where(found, moved(rise), jnp.nan)
        u = world.space.tangent(x, v)
        return x, self.without_rates(world, self.slopes(world, x), u)

    def without_rates(self, world: World, slopes: Slopes, v: Tangent) -> Tangent:
        """The nearest velocities that change no size; the second time removes what rounding left of the first."""
        factors = self.factor(slopes)
        for _ in range(2):
            v = v - self.spread(world, slopes, self.solve(factors, self.rates(world, slopes, v)), v)
        return v

    def _matrix(self, first: Slopes, second: Slopes) -> Float[Array, "conditions conditions"]:
        """A as a matrix, of few conditions."""
        rows = [
            (row, covectors[r], ways[r])
            for one, covectors, ways in zip(self.elements, first.covectors, second.ways, strict=True)
            for r, row in enumerate(one.vertices.tolist())
        ]
        zero = jnp.zeros((), first.covectors[0].dtype)

        def entry(a: tuple[list[int], Array, Array], b: tuple[list[int], Array, Array]) -> Array:
            shared = [jnp.sum(a[1][a[0].index(i)] * b[2][b[0].index(i)]) for i in a[0] if i in b[0]]
            return sum(shared, zero)

        return jnp.stack([jnp.stack([entry(a, b) for b in rows]) for a in rows])


SINGULAR = {"rods": "rod", "angles": "angle", "areas": "cell", "volumes": "cell"}


def measure(space: AbstractSpace, kind: str) -> Callable[[Float[Array, "corners point"]], Scalar]:
    """The length, angle, area or volume of one element as a function of its corners."""
    if kind == "rods":
        return lambda at: space.distance(at[0], at[1])
    if kind == "angles":
        return lambda at: energies.angle(space, at[0], at[1], at[2])
    return lambda at: cells.measure(space, at)


def corners(x: Float[Array, "vertices point"], one: Elements) -> Corners:
    """The points of the corners of all elements."""
    return jnp.stack([energies.take(x, column) for column in one.vertices.T], axis=1)


def rigid_elements(count: int, found: dict[str, Elements | None]) -> RigidElements | None:
    """The conditions of elements by kind in a world of so many vertices, or None where there are none."""
    kept = {kind: one for kind, one in found.items() if one is not None}
    if not kept:
        return None
    rows = [one.vertices for one in kept.values()]
    owner = np.repeat(np.arange(sum(len(r) for r in rows)), np.concatenate([np.full(len(r), r.shape[1]) for r in rows]))
    vertex = np.concatenate([r.reshape(-1) for r in rows])
    few = owner[-1] < UNROLLED
    sharing = None if few else _sharing(owner, vertex)
    spreading = None if few else Spreading(_filled(_by_vertex(count, vertex), len(vertex)))
    return RigidElements(tuple(kept), tuple(kept.values()), sharing, spreading)


def _by_vertex(count: int, vertex: np.ndarray) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(count)]
    for p, i in enumerate(vertex.tolist()):
        rows[i].append(p)
    return rows


def _sharing(owner: np.ndarray, vertex: np.ndarray) -> Sharing:
    """The pairs of differentials of all entries of A, found from the vertices that conditions share."""
    size = int(owner[-1]) + 1
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {(r, r): [] for r in range(size)}
    owners = owner.tolist()
    for rows in _by_vertex(int(vertex.max()) + 1, vertex):
        for a, b in combinations_with_replacement(rows, 2):
            first, second = (a, b) if owners[a] <= owners[b] else (b, a)
            pairs.setdefault((owners[first], owners[second]), []).append((first, second))
    shared = [key for key in pairs if key[0] != key[1]]
    columns = [pairs[r, r] for r in range(size)] + [pairs[key] for key in shared]
    first, second = (_filled([[pair[side] for pair in column] for column in columns], len(owners)) for side in (0, 1))
    return Sharing(first, second, eliminate(size, np.array(shared, dtype=np.int64).reshape(-1, 2)))


def _filled(rows: list[list[int]], empty: int) -> np.ndarray:
    width = max((len(row) for row in rows), default=0)
    return np.array([row + [empty] * (width - len(row)) for row in rows], dtype=np.int32).T.copy()


def _flat(parts: list[Array]) -> Float[Array, "point rows"]:
    """The components of the differentials, one differential after the other, and of one that is zero."""
    rows = [part.reshape(-1, part.shape[-1]).T for part in parts]
    return jnp.concatenate([*rows, jnp.zeros((rows[0].shape[0], 1), rows[0].dtype)], axis=1)


def _products(a: Array, b: Array, first: AnyArray, second: AnyArray) -> Array:
    """Sums over slots and components, written out so that no array of all products is made."""
    total = jnp.zeros(first.shape[1], a.dtype)
    for one, other in zip(first, second, strict=True):
        for k in range(a.shape[0]):
            total = total + _take(a[k], one) * _take(b[k], other)
    return total


def _take(x: Float[Array, "... rows"], index: AnyArray) -> Array:
    return x.at[..., jnp.asarray(index)].get(mode="promise_in_bounds")
