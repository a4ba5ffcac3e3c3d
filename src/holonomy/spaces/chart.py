"""A space given by nothing but a metric in coordinates."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.geometry.geodesic import geodesic_flow
from holonomy.geometry.integrate import integrate
from holonomy.geometry.metric import Metric, bend, checked, traced
from holonomy.spaces import validation
from holonomy.spaces.base import AbstractSpace, Picture
from holonomy.spaces.smooth import root
from holonomy.trace.function import Function
from holonomy.types import Local, LocalLike, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_NEWTON_STEPS = 40
_POLISH_STEPS = 2
_ACCURACY = 1e-9


class Chart(AbstractSpace):
    r"""An open set of \(R^n\) with any metric \(q \mapsto g(q)\), an (n, n) array: points are their own coordinates.

    `exp`, `transport`: the geodesic equation, integrated to about 1e-13 of the coordinates' size.
    `log`: Newton's method on the geodesic's initial velocity, started from y - x and damped; to the accuracy of `exp`
    times the sensitivity of the geodesic to its data. It finds **a** geodesic that joins the points, the shortest one
    if they are near; where none is found it raises (under jit: NaN).
    `distance`: the function given, or the length of that geodesic, so accurate to about 1e-12 and an upper bound where
    several geodesics join the points. Where `distance` is given it is trusted: `log` still shoots.
    `random` is standard normal in the coordinates. Known Killing fields: none.

    The metric and `distance` are traced here, once: values that they close over are those of this moment.
    """

    g: Function
    n: int = eqx.field(static=True)
    given: Function | None

    def __init__(self, metric: Metric, dim: int, distance: Callable[[Point, Point], Scalar] | None = None):
        validation.require_dimension("Chart", dim)
        if not callable(metric):
            raise ValueError(f"Chart needs a metric as a function q -> (n, n) array, but got {type(metric).__name__}.")
        if distance is not None and not callable(distance):
            raise ValueError(f"Chart needs distance as a function (x, y) -> number, but got {type(distance).__name__}.")
        self.n = int(dim)
        point = jax.ShapeDtypeStruct((self.n,), jnp.float64)
        self.g = traced(metric, point)
        self.given = None if distance is None else traced(distance, point, point)

    @property
    def dim(self) -> int:
        return self.n

    @property
    def point_dim(self) -> int:
        return self.n

    @property
    def flat_chart(self) -> bool:
        return True

    @property
    def origin(self) -> Point:
        """The zero vector; it need not lie in the domain of the metric."""
        return jnp.zeros(self.n)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        return self._array(x) + self._local(y)

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        return self._array(point, "point") - self._array(x)

    def project(self, x: PointLike) -> Point:
        return self._array(x)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        return self._array(v, "v")

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._array(x)
        return self._array(u, "u") @ checked(self.g, x) @ self._array(v, "v")

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        x, y = self._array(x), self._array(y, "y")
        if self.given is not None:
            return jnp.asarray(self.given(x, y))
        v = self.log(x, y)
        return root(v @ self.g(x) @ v)

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        return geodesic_flow(self.g, self._point(x), self._array(v, "v"), 1.0)[0]

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        checked(self.g, x)
        checked(self.g, y)
        v = _shoot(self, x, y)
        if validation.known(v) and not np.all(np.isfinite(np.asarray(v))):
            raise ValueError(
                f"no geodesic from x = {validation.show(x)} to y = {validation.show(y)} was found by shooting. The "
                "points may be "
                "too far apart for coordinates to guide the search, or no geodesic joins them; go in shorter steps, or "
                "give Chart a distance function if that is all you need."
            )
        return v

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        checked(self.g, x)
        return _carry(self, x, self._array(v, "v"), self._array(w, "w"))

    def random(self, key: PRNGKeyArray) -> Point:
        return jax.random.normal(key, (self.n,))

    def pictures(self) -> dict[str, Picture]:
        return {"coordinates": lambda x: x[:3]}


def _end(space: Chart, x: Array, v: Array) -> Array:
    def rate(t: Array, y: Array) -> Array:
        q, u = y.reshape(2, -1)
        return jnp.concatenate([u, -bend(space.g, q, u, u)])

    return integrate(rate, jnp.concatenate([x, v]))[: space.n]


@eqx.filter_jit
def _shoot(space: Chart, x: Float[Array, " n"], y: Float[Array, " n"]) -> Float[Array, " n"]:
    """The v with exp(x, v) = y, or NaN."""

    def newton(v: Array, x: Array, y: Array) -> tuple[Array, Array]:
        end = _end(space, x, v)
        slope = jax.jacfwd(lambda u: _end(space, x, u))(v)
        return jnp.linalg.solve(slope, y - end), jnp.linalg.norm(y - end)

    def going(state: tuple[Array, Array, Array, Array]) -> Array:
        _, _, miss, count = state
        return (miss > 1e-14 * size) & (count < _NEWTON_STEPS)

    def iterate(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        v, damping, miss, count = state
        step, _ = newton(v, *fixed)
        new = v + damping * step
        left = jnp.linalg.norm(fixed[1] - _end(space, fixed[0], new))
        better = left < miss
        # once below the wanted accuracy a step that does not improve is round-off: stop
        done = ~better & (miss < 1e-11 * size)
        return (
            jnp.where(better, new, v),
            jnp.where(better, jnp.minimum(2.0 * damping, 1.0), damping / 4.0),
            jnp.where(done, 0.0, jnp.where(better, left, miss)),
            count + 1,
        )

    fixed = jax.lax.stop_gradient((x, y))
    size = 1.0 + jnp.linalg.norm(fixed[0]) + jnp.linalg.norm(fixed[1])
    first = fixed[1] - fixed[0]
    start = (first, jnp.ones(()), jnp.linalg.norm(fixed[1] - _end(space, fixed[0], first)), jnp.zeros((), int))
    # a first shot into a place where the metric ends is a miss like any other
    start = (start[0], start[1], jnp.where(jnp.isfinite(start[2]), start[2], jnp.inf), start[3])
    v = jax.lax.stop_gradient(jax.lax.while_loop(going, iterate, start)[0])
    for _ in range(_POLISH_STEPS):
        step, miss = newton(v, x, y)
        v = jnp.where(miss < _ACCURACY * size, v + step, jnp.nan)
    return v


@eqx.filter_jit
def _carry(space: Chart, x: Float[Array, " n"], v: Float[Array, " n"], w: Float[Array, " n"]) -> Float[Array, " n"]:
    def rate(t: Array, y: Array) -> Array:
        q, u, a = y.reshape(3, -1)
        return jnp.concatenate([u, -bend(space.g, q, u, u), -bend(space.g, q, u, a)])

    return integrate(rate, jnp.concatenate([x, v, w]))[2 * space.n :]
