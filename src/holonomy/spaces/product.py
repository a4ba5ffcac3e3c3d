"""Products of spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import AbstractSpace, Picture
from holonomy.spaces.smooth import root
from holonomy.types import Covector, Local, LocalLike, Number, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

Item = TypeVar("Item")


class Product(AbstractSpace):
    r"""\(M_1\times\dots\times M_k\): points, tangent vectors and local coordinates are joined end to end.

    Inner products add, distances add in squares; exp, log and transport act on each factor. Killing fields and
    isometries are those of the factors; a name that occurs in several factors gets the factor's number, counted
    from 1, as in `rotate_xy_2`. Polar coordinates are those of the factors, in order.
    """

    factors: tuple[AbstractSpace, ...]

    def __init__(self, *factors: AbstractSpace):
        if not factors or not all(isinstance(f, AbstractSpace) for f in factors):
            raise ValueError(
                f"Product needs one or more spaces, as in Product(Hyperbolic(2), Euclidean(1)), but got {factors!r}."
            )
        self.factors = factors

    @property
    def dim(self) -> int:
        return sum(f.dim for f in self.factors)

    @property
    def point_dim(self) -> int:
        return sum(f.point_dim for f in self.factors)

    @property
    def flat_chart(self) -> bool:
        return all(f.flat_chart for f in self.factors)

    @property
    def origin(self) -> Point:
        """The origins of the factors."""
        return jnp.concatenate([f.origin for f in self.factors])

    def split(self, x: PointLike) -> list[Array]:
        """The points (or tangent vectors) of the factors."""
        return _cut(validation.as_array(x), [f.point_dim for f in self.factors])

    def split_local(self, y: LocalLike) -> list[Array]:
        """The local coordinates of the factors."""
        return _cut(validation.as_array(y), [f.dim for f in self.factors])

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        parts = zip(self.factors, self.split(self._array(x)), self.split_local(self._local(y)), strict=True)
        return jnp.concatenate([f.chart(a, b) for f, a, b in parts])

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        return self._join("coordinates", x, point)

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return jnp.concatenate([f.rechart(*parts) for f, *parts in self._charted(x, y, z)])

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return jnp.concatenate([f.transition(*parts) for f, *parts in self._charted(x, y, z)])

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        return jnp.concatenate([f.shifted_chart(*parts) for f, *parts in self._charted(x, xi, y)])

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return jnp.concatenate([f.pull_shift(*parts) for f, *parts in self._charted(x, y, covector)])

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return jnp.concatenate([f.solve_shift(*parts) for f, *parts in self._charted(x, y, covector)])

    def _charted(self, x: PointLike, y: LocalLike, z: LocalLike) -> Iterator[tuple[AbstractSpace, Array, Array, Array]]:
        return zip(self.factors, self.split(x), self.split_local(y), self.split_local(z), strict=True)

    def rounding(self, x: PointLike) -> Scalar:
        return jnp.max(jnp.stack([f.rounding(a) for f, a in zip(self.factors, self.split(x), strict=True)]))

    @property
    def chart_scale(self) -> Number:
        """The least scale among the factors that have curved charts."""
        scales = [jnp.asarray(f.chart_scale) for f in self.factors if not f.flat_chart]
        return jnp.min(jnp.stack(scales)) if scales else 1.0

    def project(self, x: PointLike) -> Point:
        return self._join("project", x)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        return self._join("tangent", x, v)

    def tangent_defect(self, x: PointLike, v: VectorLike) -> Scalar:
        parts = zip(self.factors, self.split(x), self.split(v), strict=True)
        return jnp.linalg.norm(jnp.stack([f.tangent_defect(a, b) for f, a, b in parts]))

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        return sum(self._each("inner", x, u, v), jnp.zeros(()))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        return root(self.squared_distance(x, y))

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        return sum(self._each("squared_distance", x, y), jnp.zeros(()))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        return self._join("exp", x, v)

    @property
    def exact_geodesics(self) -> bool:
        return all(f.exact_geodesics for f in self.factors)

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        ends = [f.geodesic(a, b, t) for f, a, b in zip(self.factors, self.split(x), self.split(v), strict=True)]
        return jnp.concatenate([point for point, _ in ends]), jnp.concatenate([velocity for _, velocity in ends])

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return self._join("sharp", x, covector)

    def tangent_covector(self, x: Point, covector: Covector) -> Covector:
        return self._join("tangent_covector", x, covector)

    def log(self, x: PointLike, y: PointLike) -> Vector:
        return self._join("log", x, y)

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        return self._join("transport", x, v, w)

    def random(self, key: PRNGKeyArray) -> Point:
        keys = jax.random.split(key, len(self.factors))
        return jnp.concatenate([f.random(k) for f, k in zip(self.factors, keys, strict=True)])

    def killing(self) -> dict[str, Field]:
        def place(field: Field, i: int) -> Field:
            def whole(x: Point) -> Vector:
                parts = self.split(x)
                return jnp.concatenate([field(p) if k == i else jnp.zeros_like(p) for k, p in enumerate(parts)])

            return whole

        return self._named([f.killing() for f in self.factors], place)

    def isometries(self) -> dict[str, Flow]:
        def place(flow: Flow, i: int) -> Flow:
            def whole(s: Number, x: Point) -> Point:
                return jnp.concatenate([flow(s, p) if k == i else p for k, p in enumerate(self.split(x))])

            return whole

        return self._named([f.isometries() for f in self.factors], place)

    def pictures(self) -> dict[str, Picture]:
        """`joined`: the customary pictures side by side, up to three axes; for H^2 x E it is called `cylinder`."""
        from holonomy.spaces.euclidean import Euclidean
        from holonomy.spaces.hyperbolic import Hyperbolic

        firsts = [next(iter(f.pictures().values()), None) for f in self.factors]
        if any(p is None for p in firsts):
            return {}

        def joined(x: Point) -> Float[Array, " picture"]:
            return jnp.concatenate([p(a) for p, a in zip(firsts, self.split(x), strict=True) if p is not None])[:3]

        match self.factors:
            case (Hyperbolic(n=2), Euclidean(n=1)):
                return {"cylinder": joined}
            case _:
                return {"joined": joined}

    def from_polar(self, *coordinates: Numbers) -> Point:
        parts = self.split_local(self._polar(coordinates))
        return jnp.concatenate([f.from_polar(c) for f, c in zip(self.factors, parts, strict=True)])

    def to_polar(self, x: PointLike) -> Local:
        return self._join("to_polar", x)

    def _each(self, method: str, *arrays: PointLike) -> list[Array]:
        parts = zip(self.factors, *(self.split(self._array(a)) for a in arrays), strict=True)
        return [getattr(f, method)(*p) for f, *p in parts]

    def _join(self, method: str, *arrays: PointLike) -> Array:
        return jnp.concatenate(self._each(method, *arrays))

    def _named(self, dictionaries: list[dict[str, Item]], place: Callable[[Item, int], Item]) -> dict[str, Item]:
        count = Counter(name for d in dictionaries for name in d)
        return {
            (name if count[name] == 1 else f"{name}_{i + 1}"): place(item, i)
            for i, d in enumerate(dictionaries)
            for name, item in d.items()
        }


def _cut(x: Array, sizes: list[int]) -> list[Array]:
    ends = [0, *accumulate(sizes)]
    return [x[a:b] for a, b in pairwise(ends)]
