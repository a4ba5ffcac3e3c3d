"""Points of hyperbolic space kept with the isometry that carries them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from holonomy.spaces import embedded as em
from holonomy.spaces import validation
from holonomy.spaces.base import AbstractSpace, Picture
from holonomy.spaces.hyperbolic import Hyperbolic
from holonomy.spaces.power import Power
from holonomy.spaces.product import Product
from holonomy.spaces.smooth import arc, length, sine
from holonomy.trace.by_value import ByValue
from holonomy.types import AnyArray, Covector, Local, LocalLike, Number, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

Own: TypeAlias = tuple[Array, ...]
"""Arrays that belong to one boost, or with one row for each."""


class Carried(AbstractSpace):
    r"""A space made of points of \(H^n\), in which a configuration is \((x_1, \dots, x_k; \rho)\): the points
    \(B_\rho x_i\), with \(x_i\) near the origin and \(B_\rho\) the boost along \(\rho\in R^n\) by the length
    \(|\rho|\).

    An array far from the origin has no digits left for the differences of near points; here these are differences of
    points near the origin, at any distance. The same boost carries all points. `recentred` writes a
    configuration with the centre of its points at the origin, where \(\rho\) leads to that centre. The
    points themselves are \(B_hB_\rho x_i\), where h leads from the origin to `home`, so that motion around a
    home far out is known to all digits as well.

    **Arguments:** `space`, a `Hyperbolic` in its hyperboloid model, a power of it, or a product of such spaces with
    others, which stay as they are; `home`, a point of that hyperbolic space, its origin unless given; `groups`, of a
    power of a space, for each point the number of its group: then every group has a boost \(\rho\) of its own, and
    only the points of one group must stay near each other.

    Point arrays are those of `space` followed by \(\rho\), one after the other where there are several; tangent
    vectors are those of `space` followed by zeros.
    Distances from the home up to 300 radii are possible, and the points of one configuration must stay near each
    other: what `Hyperbolic` says of the digits of far points holds for their distances from the centre.
    """

    space: AbstractSpace
    home: Float[Array, " n"]
    groups: ByValue | None = eqx.field(static=True)

    def __init__(
        self, space: AbstractSpace, home: PointLike | None = None, groups: Sequence[int] | np.ndarray | None = None
    ):
        found = _hyperbolic(space) if isinstance(space, AbstractSpace) else []
        if not found or any(f.model != "hyperboloid" for f in found):
            raise ValueError(
                f"Carried needs a space with points of hl.Hyperbolic(n) in its hyperboloid model; got {space!r}."
            )
        if any(f.n != found[0].n or (validation.known(found) and f.radius != found[0].radius) for f in found):
            raise ValueError(f"One isometry can carry points of one hyperbolic space only; got {space!r}.")
        self.space, self.groups = space, None if groups is None else _grouped(space, groups)
        point = found[0].origin if home is None else found[0]._point(home, "home")
        s = point[:-1] / found[0].radius
        self.home = found[0].radius * _rapidity(s)

    @property
    def hyperbolic(self) -> Hyperbolic:
        """The hyperbolic space in which the points lie."""
        return _hyperbolic(self.space)[0]

    @property
    def dim(self) -> int:
        return self.space.dim

    @property
    def point_dim(self) -> int:
        return self.space.point_dim + self.frames * self.hyperbolic.n

    @property
    def frames(self) -> int:
        """How many boosts there are."""
        return 1 if self.groups is None else int(self.groups.value.max()) + 1

    @property
    def flat_chart(self) -> bool:
        return False

    @property
    def origin(self) -> Point:
        """All points at the home."""
        return self._join(self.space.origin, jnp.zeros(self.frames * self.hyperbolic.n))

    def split(self, x: PointLike) -> tuple[Array, Array]:
        r"""The array of the points near the origin, and \(\rho\), or all of them."""
        x = validation.as_array(x)
        return x[: self.space.point_dim], x[self.space.point_dim :]

    def state(self, points: PointLike, velocities: VectorLike) -> tuple[Point, Vector]:
        """Point and velocity arrays from points and velocities of `space` as seen from the home."""
        points = self.space._point(points, "points")
        velocities = self.space._vector(points, velocities, "velocities")
        none = jnp.zeros(self.frames * self.hyperbolic.n, points.dtype)
        return self.recentred(self._join(points, none), self._join(velocities, none))

    def points(self, x: PointLike) -> Point:
        r"""The points \(B_hB_\rho x_i\) as an array of `space`, with the digits that such an array can hold."""
        local, frame = self.split(x)
        radius = self.hyperbolic.radius
        last = _spacelike(self.home / radius)

        def out(own: Own, point: Array, _: Array) -> Array:
            return self.hyperbolic.leave(em.hyper_chart(last, em.hyper_chart(own[0], point[:-1] / radius)))

        return self._mapped(out, self._by_frame(lambda r: (_spacelike(r),), self._boosts(frame)), local, local)

    def moved(self, isometry: Callable[[Point], Point], points: Point) -> Point:
        """An array of `space` with each of its points of hyperbolic space moved by an isometry."""
        return _at_points(self.space, lambda point, _: isometry(point), points, points)

    def recentred(self, x: PointLike, v: VectorLike) -> tuple[Point, Vector]:
        r"""The same configuration with the centre of its points, or of those of each group, at the origin.

        With \(B_\rho B_c = B_{\rho'}W\), W Wigner's rotation, the points become \(W B_c^{-1}x_i\).
        """
        (local, frame), (velocity, still) = self.split(x), self.split(v)
        radius = self.hyperbolic.radius
        boosts, centres = self._boosts(frame), self._centres(local)
        halves = self._by_frame(lambda r, c: (c, em.rapidity_half(r), em.hyper_half(c)), boosts, centres)

        def back(own: Own, point: Array, _: Array) -> Array:
            centre, a, b = own
            s = em.hyper_coordinates(centre, point[:-1] / radius)
            return self.hyperbolic.leave(em.half_turn(a, b, s, back=True))

        new, rate = jax.jvp(lambda z: self._mapped(back, halves, z, z), (local,), (velocity,))
        (frames,) = self._by_frame(lambda r, c: (radius * em.rapidity_chart(r, c),), boosts, centres)
        return self._join(new, frames.reshape(-1)), self._join(rate, still)

    def recentred_local(self, x: PointLike, rows: Float[Array, "rows dim"]) -> Float[Array, "rows dim"]:
        """The rows turned by what the boosts between the charts leave over."""
        local, frame = self.split(x)
        radius = self.hyperbolic.radius
        boosts, centres = self._boosts(frame), self._centres(local)
        halves = self._by_frame(lambda r, c: (em.rapidity_half(r), em.hyper_half(c)), boosts, centres)

        def turned(own: Own, point: Array, y: Array) -> Array:
            a, b = own
            seen = em.half_turn(-b, em.hyper_half(point[:-1] / radius), y, back=True)
            return em.half_turn(a, b, seen, back=True)

        return jax.vmap(lambda row: self._mapped(turned, halves, local, row, local=True))(rows)

    def rounding(self, x: PointLike) -> Scalar:
        return self.space.rounding(self.split(x)[0])

    # ── in the frame of x ─────────────────────────────────────────────────────────────────────────────────────────

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        local, frame = self.split(self._array(x))
        return self._join(self.space.chart(local, y), frame)

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        return self.space.coordinates(self.split(x)[0], self._seen_from(x, point))

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return self.space.rechart(self.split(x)[0], y, z)

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return self.space.transition(self.split(x)[0], y, z)

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        local, frame = self.split(self._array(x))
        return self._join(self.space.shifted_chart(local, xi, y), frame)

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return self.space.pull_shift(self.split(x)[0], y, covector)

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return self.space.solve_shift(self.split(x)[0], y, covector)

    @property
    def chart_scale(self) -> Number:
        """That of the space."""
        return self.space.chart_scale

    def project(self, x: PointLike) -> Point:
        local, frame = self.split(self._array(x))
        return self._join(self.space.project(local), frame)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        return self._vector_of(self.space.tangent(self.split(x)[0], self.split(self._array(v, "v"))[0]))

    def tangent_defect(self, x: PointLike, v: VectorLike) -> Scalar:
        velocity, rest = self.split(v)
        return self.space.tangent_defect(self.split(x)[0], velocity) + jnp.linalg.norm(rest)

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        return self.space.inner(self.split(x)[0], self.split(u)[0], self.split(v)[0])

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        return self.space.distance(self.split(x)[0], self._seen_from(x, y))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        local, frame = self.split(self._array(x))
        return self._join(self.space.exp(local, self.split(v)[0]), frame)

    @property
    def exact_geodesics(self) -> bool:
        return self.space.exact_geodesics

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        local, frame = self.split(x)
        point, velocity = self.space.geodesic(local, self.split(v)[0], t)
        return self._join(point, frame), self._vector_of(velocity)

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return self._vector_of(self.space.sharp(self.split(x)[0], self.split(covector)[0]))

    def tangent_covector(self, x: Point, covector: Covector) -> Covector:
        return self._vector_of(self.space.tangent_covector(self.split(x)[0], self.split(covector)[0]))

    def log(self, x: PointLike, y: PointLike) -> Vector:
        return self._vector_of(self.space.log(self.split(x)[0], self._seen_from(x, y)))

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        return self._vector_of(self.space.transport(self.split(x)[0], self.split(v)[0], self.split(w)[0]))

    def random(self, key: PRNGKeyArray) -> Point:
        return self._join(self.space.random(key), jnp.zeros(self.frames * self.hyperbolic.n))

    def pictures(self) -> dict[str, Picture]:
        """Those of the space, at the points that are carried out."""
        return {name: lambda x, p=picture: p(self.points(x)) for name, picture in self.space.pictures().items()}

    def away(self, x: Point) -> Scalar:
        """How far the centre of the points is from the origin, in radii; of several groups the largest distance."""
        return jnp.max(jax.vmap(lambda s: jnp.arcsinh(length(s)))(self._centres(self.split(x)[0])))

    def apart(self, x: PointLike, pairs: Int[AnyArray, "pairs 2"]) -> Float[Array, " pairs"]:
        """The distances of pairs of points of one configuration, of a power of a space; of points in different groups
        with the digits that the boosts leave of them."""
        assert isinstance(self.space, Power)
        local, frame = self.split(x)
        rows, space = self.space.split(local), self.space.space
        first, second = rows[pairs[:, 0]], rows[pairs[:, 1]]
        if self.groups is not None:
            group = jnp.asarray(self.groups.value)[pairs]
            boosts = self._boosts(frame)[group]

            def seen(pair: Array, one: Array) -> Array:
                return _at_points(space, lambda point, _: self._seen(*self._between(*pair), point), one, one)

            same = group[:, 0] == group[:, 1]
            second = jnp.where(same[:, None], second, jax.vmap(seen)(boosts, second))
        return jax.vmap(space.distance)(first, second)

    def _boosts(self, frame: Array) -> Array:
        """One row for each boost, in radii."""
        return frame.reshape(self.frames, -1) / self.hyperbolic.radius

    def _by_frame(self, f: Callable[..., Own], *rows: Array) -> Own:
        """Arrays for every boost, computed from rows that belong to them."""
        if self.groups is not None:
            return jax.vmap(f)(*rows)
        return tuple(one[None] for one in f(*(row[0] for row in rows)))

    def _mapped(
        self, f: Callable[[Own, Array, Array], Array], own: Own, x: Array, z: Array, *, local: bool = False
    ) -> Array:
        """f of what belongs to the boost of each point, the point and its part of z, joined (see `_at_points`)."""
        if self.groups is None:
            alone = tuple(one[0] for one in own)
            return _at_points(self.space, lambda point, part: f(alone, point, part), x, z, local)
        power = self.space
        assert isinstance(power, Power)
        every = tuple(one[self.groups.value] for one in own)

        def row(mine: Own, a: Array, b: Array) -> Array:
            return _at_points(power.space, lambda point, part: f(mine, point, part), a, b, local)

        return jax.vmap(row)(every, power.split(x), power.split(z)).reshape(-1)

    def _centres(self, local: Array) -> Float[Array, "frames n"]:
        """The spacelike part of the unit vector along the sum of all points of a group: their centre, whatever the
        isometry."""
        size = self.hyperbolic.point_dim
        if self.groups is None:
            totals = _total(self.space, local, size)[None]
        else:
            assert isinstance(self.space, Power)
            space, which = self.space.space, np.eye(self.frames)[:, self.groups.value]
            totals = jnp.asarray(which) @ jax.vmap(lambda row: _total(space, row, size))(self.space.split(local))
        s, w = totals[:, :-1], totals[:, -1]
        return s / jnp.sqrt(w * w - jnp.sum(s * s, axis=1))[:, None]

    def _join(self, local: Array, frame: Array) -> Array:
        return jnp.concatenate([local, frame.astype(local.dtype)])

    def _vector_of(self, velocity: Array) -> Vector:
        return self._join(velocity, jnp.zeros(self.frames * self.hyperbolic.n))

    def _seen_from(self, x: PointLike, point: PointLike) -> Array:
        """The points of another configuration as carried by the isometry of x; itself where both have the same."""
        frame, (local, other) = self.split(self._array(x))[1], self.split(self._array(point, "point"))
        own = self._by_frame(self._between, self._boosts(frame), self._boosts(other))
        return self._mapped(lambda mine, one, _: self._seen(mine[0], mine[1], mine[2], one), own, local, local)

    @staticmethod
    def _between(here: Array, there: Array) -> tuple[Array, Array, Array]:
        """Of two boosts, their spacelike vectors and the one between them."""
        s, t = _spacelike(here), _spacelike(there)
        return s, t, em.hyper_coordinates(s, t)

    def _seen(self, s: Array, t: Array, apart: Array, one: Array) -> Array:
        """A point carried by the second boost, as it is in the frame of the first."""
        turned = em.hyper_turn(-s, t, one[:-1] / self.hyperbolic.radius, back=True)
        return self.hyperbolic.leave(em.hyper_chart(apart, turned))


def _spacelike(rapidity: Array) -> Array:
    """The spacelike part of the point to which a boost leads from the origin."""
    return rapidity * sine(em.dot(rapidity, rapidity), -1)


def _grouped(space: AbstractSpace, groups: Sequence[int] | np.ndarray) -> ByValue:
    found = np.asarray(groups)
    if not isinstance(space, Power) or found.shape != (space.count,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"groups has one whole number for each point of a power of a space; got {groups!r} for {space!r}."
        )
    if not np.array_equal(np.unique(found), np.arange(found.max() + 1)):
        raise ValueError(
            f"Groups are numbered from 0 on, each with at least one point; got {sorted(set(found.tolist()))}."
        )
    return ByValue(found)


def _rapidity(s: Array) -> Array:
    """The vector of direction and rapidity of the point with spacelike part s."""
    return s * arc(em.dot(s, s), -1)


def _hyperbolic(space: AbstractSpace) -> list[Hyperbolic]:
    """The hyperbolic spaces among the factors of a space."""
    match space:
        case Hyperbolic():
            return [space]
        case Power():
            return _hyperbolic(space.space)
        case Product():
            return [found for factor in space.factors for found in _hyperbolic(factor)]
        case _:
            return []


def _at_points(
    space: AbstractSpace, f: Callable[[Array, Array], Array], x: Array, z: Array, local: bool = False
) -> Array:
    """f of every point of hyperbolic space in x and its part of z, joined; other factors keep their part of z.

    z holds points or vectors, or `local` coordinates.
    """
    match space:
        case Hyperbolic():
            return f(x, z)
        case Power():
            rows = jax.vmap(lambda a, b: _at_points(space.space, f, a, b, local))
            return rows(space.split(x), space.split(z)).reshape(-1)
        case Product():
            parts = zip(space.factors, space.split(x), space.split_local(z) if local else space.split(z), strict=True)
            return jnp.concatenate([_at_points(factor, f, a, b, local) for factor, a, b in parts])
        case _:
            return z


def _total(space: AbstractSpace, x: Array, size: int) -> Array:
    """The sum of all points of hyperbolic space, as vectors of the given size."""
    match space:
        case Hyperbolic():
            return x
        case Power():
            return jnp.sum(jax.vmap(lambda row: _total(space.space, row, size))(space.split(x)), axis=0)
        case Product():
            parts = zip(space.factors, space.split(x), strict=True)
            return sum((_total(factor, part, size) for factor, part in parts), jnp.zeros(size, x.dtype))
        case _:
            return jnp.zeros(size, x.dtype)
