r"""Rods, and angles and cells of fixed size: conditions on a few vertices each, and their multipliers.

A condition \(\varphi_r(x) = 0\) has gradients \(\nabla_i\varphi_r\) at its two to four vertices. Multipliers solve

\[ A\lambda = b, \qquad A_{rs} = \sum_i \tfrac1{m_i}\langle\nabla_i\varphi_r, \nabla_i\varphi_s\rangle, \]

where an entry differs from zero only if two conditions share a vertex. A few are solved in straight-line code, many by
the elimination of `holonomy.systems.elimination`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
from holonomy.systems.bodies.clusters import joined
from holonomy.systems.bodies.shared_vertices import (
    Following,
    Sharing,
    Spreading,
    following,
    sharing_by_vertices,
    spreading_of,
)
from holonomy.systems.dense_solve import UNROLLED, Factored, back_substitute, factor, least_pivot
from holonomy.systems.elimination import Factors
from holonomy.systems.tridiagonal import Pivots, Tridiagonal
from holonomy.types import AnyArray, Flag, Number, Point, Scalar, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Values: TypeAlias = Float[Array, " conditions"]
Corners: TypeAlias = Float[Array, "elements corners point"]
Differentials: TypeAlias = tuple[Float[Array, "point elements"], ...]


class Slopes(NamedTuple):
    """Differentials of the conditions by kind and corner, and the velocities \\(\\nabla_i\\varphi_r/m_i\\) that belong
    to them."""

    covectors: list[Differentials]
    ways: list[Differentials]


class RigidElements(eqx.Module):
    """The conditions of a world on the sizes of its rods, angles and cells, in this order."""

    kinds: tuple[str, ...] = eqx.field(static=True)
    elements: tuple[Elements, ...]
    sharing: Sharing | Following | None
    spreading: Spreading | None
    parts: Int[AnyArray, " vertices"] | None  # numbers of the parts that conditions join; None where it is one

    @property
    def count(self) -> int:
        """The number of conditions."""
        return sum(len(one) for one in self.elements)

    @property
    def sizes(self) -> Values:
        """The lengths, angles, areas and volumes that are kept."""
        return jnp.concatenate([_wanted(one) for one in self.elements])

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
            many_rods.stretches(space, x, one.vertices, _wanted(one))
            if kind == "rods" and many_rods.applies(space, one)
            else jax.vmap(measure(space, kind))(corners(x, one)) - _wanted(one)
            for kind, one in zip(self.kinds, self.elements, strict=True)
        ]
        return jnp.concatenate(parts)

    def deviations(self, world: World, q: Point) -> Values:
        """By how much sizes differ from those that are kept; `values` agrees with it near zero."""
        x, space = world.points(q), world.point_space
        every = zip(self.kinds, self.elements, strict=True)
        return jnp.concatenate([jax.vmap(measure(space, kind))(corners(x, one)) - _wanted(one) for kind, one in every])

    def rounding(self, world: World, q: Point) -> Point:
        """For every coordinate the size to whose rounding it is known.

        A condition is known to the rounding of all positions in it, and conditions that share vertices are solved
        together: the largest position of the vertices that they join counts, and that of no others.
        """
        sizes = jnp.max(jnp.abs(world.points(q)), axis=1)
        if self.parts is None:
            sizes = jnp.full_like(sizes, jnp.max(sizes))
        else:
            parts = jnp.asarray(self.parts)
            sizes = _take(jax.ops.segment_max(sizes, parts, num_segments=world.count), parts)
        each = jnp.repeat(sizes, world.point_space.point_dim)
        return jnp.concatenate([each, jnp.zeros(q.shape[0] - each.shape[0], q.dtype)])

    def slopes(self, world: World, q: Point) -> Slopes:
        """The differentials of the conditions at a configuration."""
        x, space = world.points(q), world.point_space
        found = Slopes([], [])
        for kind, one in zip(self.kinds, self.elements, strict=True):
            if kind == "rods" and many_rods.applies(space, one):
                covectors, rises = many_rods.gradients(space, x, one.vertices, _wanted(one))
            else:
                at = corners(x, one)
                slope = jax.vmap(jax.grad(measure(space, kind)))(at)
                rise = jax.vmap(jax.vmap(space.sharp))(at, slope)
                covectors, rises = (tuple(z[:, c].T for c in range(at.shape[1])) for z in (slope, rise))
            light = 1.0 / jnp.asarray(world.masses, q.dtype)
            inverses = [many_rods.columns(light, c) for c in one.vertices.T]
            found.covectors.append(covectors)
            found.ways.append(tuple(rise * inverse[None] for rise, inverse in zip(rises, inverses, strict=True)))
        return found

    def carried(self, world: World, q: Point, slopes: Slopes) -> Slopes:
        """The same with ways as tangent vectors at another configuration, near the one where they belong.

        Differentials made by derivatives of functions of arrays are right for tangent vectors alone. Those of
        `many_rods` vanish on what `tangent` removes.
        """
        x, space = world.points(q), world.point_space

        def tangent(one: Elements, ways: Differentials) -> Differentials:
            at = (energies.take(x, column) for column in one.vertices.T)
            return tuple(jax.vmap(space.tangent)(a, way.T).T for a, way in zip(at, ways, strict=True))

        ways = [
            found if kind == "rods" and many_rods.applies(space, one) else tangent(one, found)
            for kind, one, found in zip(self.kinds, self.elements, slopes.ways, strict=True)
        ]
        return Slopes(slopes.covectors, ways)

    def rates(self, world: World, slopes: Slopes, v: Tangent) -> Values:
        """How fast the conditions change."""
        u = world.points(v).T
        parts = [
            sum(
                (_dot(w, many_rods.columns(u, c)) for w, c in zip(covectors, one.vertices.T, strict=True)),
                jnp.zeros(()),
            )
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
        scaled = [tuple(part[None] * way for way in ways) for part, ways in zip(parts, slopes.ways, strict=True)]
        if self.spreading is None:
            total: list[Array | None] = [None] * world.count
            for one, ways in zip(self.elements, scaled, strict=True):
                for r, row in enumerate(one.vertices.tolist()):
                    for c, i in enumerate(row):
                        total[i] = ways[c][:, r] if total[i] is None else total[i] + ways[c][:, r]
            none = jnp.zeros(world.point_space.point_dim, like.dtype)
            rows = jnp.stack([none if one is None else one for one in total])
        elif self._one_chain:
            first, last = (
                jnp.pad(way, ((0, 0), (int(c[0]), world.count - 1 - int(c[-1]))))
                for way, c in zip(scaled[0], self.elements[0].vertices.T, strict=True)
            )
            rows = (first + last).T
        else:
            flat = _flat(scaled)
            rows = sum((_take(flat, slot) for slot in self.spreading.rows), jnp.zeros((), like.dtype)).T
        return jnp.concatenate([rows.reshape(-1), jnp.zeros(like.shape[0] - rows.size, like.dtype)])

    @property
    def _one_chain(self) -> bool:
        """Whether rods follow each other, with vertices that do so too."""
        return isinstance(self.sharing, Following) and bool(
            np.all(np.diff(self.elements[0].vertices, axis=0, prepend=self.elements[0].vertices[:1] - 1) == 1)
        )

    def factor(self, at: Slopes) -> Factored | Factors | Tridiagonal | Pivots:
        """The factorisation of A."""
        if self.sharing is None:
            return factor(self._matrix(at, at), definite=True)
        if isinstance(self.sharing, Following):
            return self._tridiagonal(at, at).factor()
        entries = self._entries(at, at)[0]
        return self.sharing.elimination.factor(entries[: self.count], entries[self.count :])

    def factor_between(self, covectors: Slopes, ways: Slopes) -> Factored | Factors | Tridiagonal | Pivots:
        """The factorisation of the products of differentials at one configuration with ways at another."""
        if self.sharing is None:
            return factor(self._matrix(covectors, ways), definite=False)
        if isinstance(self.sharing, Following):
            return self._tridiagonal(covectors, ways)
        forth, back = self._entries(covectors, ways)
        m = self.count
        return self.sharing.elimination.factor_general(forth[:m], forth[m:], back[m:])

    def _tridiagonal(self, covectors: Slopes, ways: Slopes) -> Tridiagonal:
        """The same of rods that follow each other."""
        assert isinstance(self.sharing, Following)
        (a, b), (c, d) = covectors.covectors[0], ways.ways[0]
        joined = self.sharing.joined.astype(a.dtype)
        return Tridiagonal(
            _dot(a, c) + _dot(b, d), _dot(b[:, :-1], c[:, 1:]) * joined, _dot(a[:, 1:], d[:, :-1]) * joined
        )

    def _entries(self, covectors: Slopes, ways: Slopes) -> tuple[Array, Array]:
        """The diagonal and the entries of all pairs of conditions, and the same of the transposed matrix."""
        assert isinstance(self.sharing, Sharing)
        first, second, m = self.sharing.first, self.sharing.second, self.count
        a, b = _flat(covectors.covectors), _flat(ways.ways)
        forth = _products(a, b, first, second)
        if covectors is ways:
            return forth, forth
        return forth, jnp.concatenate([forth[:m], _products(a, b, second[:, m:], first[:, m:])])

    def solve(self, factors: Factored | Factors | Tridiagonal | Pivots, b: Values) -> Values:
        """The solution of A x = b."""
        if isinstance(factors, Tridiagonal | Pivots):
            return factors.solve(b)
        if isinstance(factors, Factors):
            assert isinstance(self.sharing, Sharing)
            return self.sharing.elimination.solve(factors, b)
        return back_substitute(factors, b)

    def independent(self, first: Slopes, second: Slopes, least: float) -> Flag:
        """Whether the pivots that `independence` is about are all above this part of their diagonal entries."""
        if isinstance(self.sharing, Following):
            diagonal, forth, back = self._tridiagonal(first, second)
            return Tridiagonal(diagonal, 0.5 * (forth + back), 0.5 * (forth + back)).independent(least)
        return self.independence(first, second) > least

    def independence(self, first: Slopes, second: Slopes) -> Scalar:
        """The least pivot of the symmetric part of the products of differentials at two configurations over its
        diagonal entry; not positive, or NaN, where differentials became dependent in between."""
        if self.sharing is None:
            matrix = self._matrix(first, second)
            return least_pivot(0.5 * (matrix + matrix.T))
        if isinstance(self.sharing, Following):
            diagonal, forth, back = self._tridiagonal(first, second)
            return Tridiagonal(diagonal, 0.5 * (forth + back), 0.5 * (forth + back)).least
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
        factors, rounding = self.factor(slopes), self.rounding(world, q)

        def moved(rise: Values) -> Point:
            return many_rods.moved(world, 1.0, q, self.spread(world, slopes, rise, v))[0]

        rise, found, _ = newton(
            lambda z: self.values(world, moved(z)),
            lambda r: self.solve(factors, r),
            lambda z: jnp.abs(self.spread(world, slopes, z, v)),
            lambda z: rounding,
            jnp.zeros(self.count, q.dtype),
        )
        x = jnp.where(found, moved(rise), jnp.nan)
        u = world.space.tangent(x, v)
        return x, self.without_rates(world, self.slopes(world, x), u)

    def without_rates(self, world: World, slopes: Slopes, v: Tangent) -> Tangent:
        """The nearest velocities that change no size."""
        return v - self.forbidden(world, slopes, v)

    def forbidden(self, world: World, slopes: Slopes, v: Tangent) -> Tangent:
        """What these differ by from velocities; the second time finds what rounding left of the first."""
        factors = self.factor(slopes)
        first = self.spread(world, slopes, self.solve(factors, self.rates(world, slopes, v)), v)
        left = v - first
        return first + self.spread(world, slopes, self.solve(factors, self.rates(world, slopes, left)), v)

    def _matrix(self, first: Slopes, second: Slopes) -> Float[Array, "conditions conditions"]:
        """A as a matrix, of few conditions."""
        rows = [
            (row, [one[:, r] for one in covectors], [one[:, r] for one in ways])
            for one, covectors, ways in zip(self.elements, first.covectors, second.ways, strict=True)
            for r, row in enumerate(one.vertices.tolist())
        ]
        zero = jnp.zeros((), first.covectors[0][0].dtype)

        def entry(
            a: tuple[list[int], list[Array], list[Array]], b: tuple[list[int], list[Array], list[Array]]
        ) -> Array:
            shared = [jnp.sum(a[1][a[0].index(i)] * b[2][b[0].index(i)]) for i in a[0] if i in b[0]]
            return sum(shared, zero)

        return jnp.stack([jnp.stack([entry(a, b) for b in rows]) for a in rows])


def _wanted(one: Elements) -> Values:
    """The sizes of elements that are kept."""
    return jnp.asarray(one.numbers)[:, -1]


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
    ends = np.cumsum([len(r) for r in rows])
    owner = np.concatenate(
        [np.tile(np.arange(end - len(r), end), r.shape[1]) for end, r in zip(ends, rows, strict=True)]
    )
    vertex = np.concatenate([r.T.reshape(-1) for r in rows])
    few = int(ends[-1]) <= UNROLLED
    sharing = None if few else following(tuple(kept), rows[0]) or sharing_by_vertices(owner, vertex)
    spreading = None if few else spreading_of(count, vertex)
    numbers = joined(count, rows)
    parts = numbers.astype(np.int32) if len(np.unique(numbers)) > 1 else None
    return RigidElements(tuple(kept), tuple(kept.values()), sharing, spreading, parts)


def _dot(a: Float[Array, "point n"], b: Float[Array, "point n"]) -> Float[Array, " n"]:
    """The sums over components, written out so that they are part of the loop over n."""
    total = a[0] * b[0]
    for k in range(1, a.shape[0]):
        total = total + a[k] * b[k]
    return total


def _flat(parts: list[Differentials]) -> Float[Array, "point rows"]:
    """The components of the differentials, one differential after the other, and of one that is zero."""
    rows = [one for part in parts for one in part]
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
