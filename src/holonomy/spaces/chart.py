"""A space given by nothing but a metric in coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.geometry.geodesic import geodesic_flow
from holonomy.geometry.integrate import integrate
from holonomy.geometry.metric import Metric, bend, checked, traced
from holonomy.spaces import validation
from holonomy.spaces.base import Picture
from holonomy.spaces.coordinate_space import CoordinateSpace
from holonomy.spaces.smooth import root
from holonomy.trace.function import Function
from holonomy.types import Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_NEWTON_STEPS = 40
_ACCURACY = 1e-9


class Chart(CoordinateSpace):
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

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._array(x)
        return self._array(u, "u") @ checked(self.g, x) @ self._array(v, "v")

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        x, y = self._array(x), self._array(y, "y")
        if self.given is not None:
            return jnp.asarray(self.given(x, y))
        length = _way(self, x, y)
        if validation.known(length) and not np.isfinite(np.asarray(length)):
            self.log(x, y)  # which says why
        return length

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


def _flown(space: Chart, x: Array, v: Array) -> tuple[Array, Array]:
    """Where the geodesic from x with velocity v is after unit time, and its velocity there."""

    def rate(t: Array, y: Array) -> Array:
        q, u = y.reshape(2, -1)
        return jnp.concatenate([u, -bend(space.g, q, u, u)])

    end = integrate(rate, jnp.concatenate([x, v]), loop=True)  # shorter code, which springs repeat
    return end[: space.n], end[space.n :]


def _shoot(space: Chart, x: Float[Array, " n"], y: Float[Array, " n"]) -> Float[Array, " n"]:
    """The v with exp(x, v) = y, or NaN."""
    return _compiled_shot(space, x, y)


class _Search(NamedTuple):
    """The velocity of the best shot so far, the change that it proposes and the share of it to try, by how much the
    shot misses, and how many there were."""

    v: Array
    step: Array
    damping: Array
    miss: Array
    tries: Array


@jax.custom_jvp
def _shot(space: Chart, x: Array, y: Array) -> Array:
    def shot(v: Array) -> tuple[Array, Array, Array]:
        """By how much the geodesic with velocity v misses y, and the change of v that Newton's method proposes."""
        end, along = jax.linearize(lambda u: _flown(space, x, u)[0], v)
        slope = jax.vmap(along, out_axes=1)(jnp.eye(space.n))
        return jnp.linalg.norm(y - end), jnp.linalg.solve(slope, y - end), v

    def going(state: _Search) -> Array:
        return (state.miss > 1e-14 * size) & (state.tries < _NEWTON_STEPS)

    def iterate(state: _Search) -> _Search:
        miss, step, tried = shot(state.v + state.damping * state.step)
        # the first shot is taken in any case; one into a place where the metric ends is a miss like any other
        better = (miss < state.miss) | (state.tries == 0)
        miss = jnp.where(jnp.isfinite(miss), miss, jnp.inf)
        # once below the wanted accuracy a step that does not improve is round-off: stop
        done = ~better & (state.miss < 1e-11 * size)
        return _Search(
            jnp.where(better, tried, state.v),
            jnp.where(better, step, state.step),
            jnp.where(better, jnp.minimum(2.0 * state.damping, 1.0), state.damping / 4.0),
            jnp.where(done, 0.0, jnp.where(better, miss, state.miss)),
            state.tries + 1,
        )

    size = 1.0 + jnp.linalg.norm(x) + jnp.linalg.norm(y)
    start = _Search(y - x, jnp.zeros_like(x), jnp.ones(()), jnp.full((), jnp.inf), jnp.zeros((), int))
    found = jax.lax.while_loop(going, iterate, start)
    return jnp.where(found.miss < _ACCURACY * size, found.v, jnp.nan)


@_shot.defjvp
def _shot_jvp(primals: tuple[Chart, Array, Array], tangents: tuple[Chart, Array, Array]) -> tuple[Array, Array]:
    """By the implicit function theorem, so that derivatives of any order need the geodesic's own and no iteration."""
    (space, x, y), (of_space, dx, dy) = primals, tangents
    v = _shot(space, x, y)
    slope = jax.jacfwd(lambda u: _flown(space, x, u)[0])(v)
    _, moved = jax.jvp(lambda metric, at: _flown(metric, at, v)[0], (space, x), (of_space, dx))
    return v, jnp.linalg.solve(slope, dy - moved)


_compiled_shot = eqx.filter_jit(_shot)


@eqx.filter_jit
def _way(space: Chart, x: Array, y: Array) -> Scalar:
    """The length of the geodesic from x to y."""
    return _length(space, x, y)


@jax.custom_jvp
def _length(space: Chart, x: Array, y: Array) -> Scalar:
    v = _shot(space, x, y)
    return root(v @ space.g(x) @ v)


@partial(_length.defjvp, symbolic_zeros=True)
def _length_jvp(primals: tuple[Chart, Array, Array], tangents: tuple[object, object, object]) -> tuple[Array, Array]:
    r"""The first variation, \(d\,ds = \langle\dot\gamma(1), dy\rangle - \langle\dot\gamma(0), dx\rangle\): it needs no
    neighbouring geodesics. A metric that varies changes the length of the geodesic as well, as if that stood still."""
    space, x, y = primals
    of_space, dx, dy = tangents
    v = _shot(space, x, y)
    length = root(v @ space.g(x) @ v)
    _, arrival = _flown(space, x, v)
    change = jnp.zeros_like(length)
    if isinstance(dy, jax.Array):
        change = change + arrival @ space.g(y) @ dy
    if isinstance(dx, jax.Array):
        change = change - v @ space.g(x) @ dx
    varying = [isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(of_space, is_leaf=_zero)]
    if any(varying):
        change = change + _of_metric(space, of_space, x, v)
    return length, change / length


def _zero(tangent: object) -> bool:
    return isinstance(tangent, SymbolicZero)


def _of_metric(space: Chart, of_space: object, x: Array, v: Array) -> Scalar:
    r"""\(\frac12\int\partial g(\dot\gamma, \dot\gamma)\,ds\), of half the squared length by the metric."""
    leaves, form = jax.tree.flatten(space)
    given = jax.tree.leaves(of_space, is_leaf=_zero)
    along = jax.tree.unflatten(form, [_filled(one, leaf) for one, leaf in zip(given, leaves, strict=True)])

    def rate(t: Array, z: Array) -> Array:
        q, u = z[: space.n], z[space.n : -1]
        changed = jax.jvp(lambda metric: u @ metric.g(q) @ u, (space,), (along,))[1]
        return jnp.concatenate([u, -bend(space.g, q, u, u), 0.5 * changed[None]])

    return integrate(rate, jnp.concatenate([x, v, jnp.zeros(1)]))[-1]


def _filled(tangent: object, leaf: Array) -> object:
    """A tangent as an array; of numbers that are no floats the one that jax.jvp takes."""
    if not _zero(tangent):
        return tangent
    dtype = jnp.result_type(leaf)
    return np.zeros(np.shape(leaf), dtype if jnp.issubdtype(dtype, jnp.inexact) else jax.dtypes.float0)


@eqx.filter_jit
def _carry(space: Chart, x: Float[Array, " n"], v: Float[Array, " n"], w: Float[Array, " n"]) -> Float[Array, " n"]:
    def rate(t: Array, y: Array) -> Array:
        q, u, a = y.reshape(3, -1)
        return jnp.concatenate([u, -bend(space.g, q, u, u), -bend(space.g, q, u, a)])

    return integrate(rate, jnp.concatenate([x, v, w]))[2 * space.n :]
