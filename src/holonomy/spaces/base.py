"""What every configuration space supplies, and what follows from that for all of them."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.smooth import root
from holonomy.types import (
    ArrayLike,
    Covector,
    Local,
    LocalLike,
    LocalMatrix,
    Number,
    Numbers,
    Point,
    PointLike,
    Scalar,
    VectorLike,
)
from holonomy.types import Tangent as Vector

if TYPE_CHECKING:
    from holonomy.spaces.curvature import SpaceCurvature
    from holonomy.spaces.power import Power

Picture: TypeAlias = Callable[[Point], Float[Array, " picture"]]


class AbstractSpace(eqx.Module):
    r"""A Riemannian manifold \(M\) whose points are arrays of length `point_dim` without singularities.

    A tangent vector at \(x\) is an array of the same length: the derivative of a curve of point arrays through \(x\).
    Around every point \(x\) there is a smooth chart \(y \mapsto \mathrm{chart}(x, y)\) from (a neighbourhood of 0 in)
    \(R^{\dim M}\) with \(\mathrm{chart}(x, 0) = x\); `coordinates(x, .)` is its inverse. Changing from the chart at
    \(x\) to the chart at \(x'\) is \(y \mapsto\) `coordinates(x', chart(x, y))`, smooth, with all derivatives exact.

    Every method works on one point (use `jax.vmap` for many), under jit, vmap and grad. Outside of these, where the
    numbers are known, a point that is not on the space and a vector that is not tangent raise `ValueError`.
    """

    # ── to be supplied ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """Dimension of the manifold."""

    @property
    @abc.abstractmethod
    def point_dim(self) -> int:
        """Length of the array that holds one point."""

    @property
    @abc.abstractmethod
    def flat_chart(self) -> bool:
        r"""Whether point arrays are themselves coordinates of \(R^{dim}\): the chart at x is then x + y everywhere."""

    @property
    @abc.abstractmethod
    def origin(self) -> Point:
        """A point to start from, the same every time."""

    @abc.abstractmethod
    def chart(self, x: PointLike, y: LocalLike) -> Point:
        """The point with local coordinates y as seen from x; chart(x, 0) = x."""

    @abc.abstractmethod
    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        """The local coordinates of `point` as seen from x; inverse of `chart(x, .)`."""

    @abc.abstractmethod
    def project(self, x: PointLike) -> Point:
        """A point of the space for any nearby array; the array itself when it lies on the space."""

    @abc.abstractmethod
    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        """The orthogonal projection of an array to the tangent space at x."""

    @abc.abstractmethod
    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        r"""The Riemannian inner product \(\langle u, v\rangle_x\) of tangent vectors."""

    @abc.abstractmethod
    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        """The length of a shortest curve from x to y."""

    @abc.abstractmethod
    def exp(self, x: PointLike, v: VectorLike) -> Point:
        """The end, at time 1, of the geodesic that starts at x with velocity v."""

    @abc.abstractmethod
    def log(self, x: PointLike, y: PointLike) -> Vector:
        """The velocity at x of the shortest geodesic that reaches y at time 1."""

    @abc.abstractmethod
    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        """The tangent vector w at x carried parallel along the geodesic to exp(x, v)."""

    @abc.abstractmethod
    def random(self, key: PRNGKeyArray) -> Point:
        """A random point: uniform on a compact space, normally distributed around the origin elsewhere."""

    # ── supplied where it makes sense ─────────────────────────────────────────────────────────────────────────────

    def killing(self) -> dict[str, Field]:
        """A basis of the known Killing fields (velocities of isometries), by name: x -> tangent vector at x."""
        return {}

    def isometries(self) -> dict[str, Flow]:
        """The flows of the Killing fields, under the same names: (s, x) -> x moved by the parameter s."""
        return {}

    def pictures(self) -> dict[str, Picture]:
        """Ways to draw the space, the customary one first: x -> array of length 2 or 3."""
        return {}

    def from_polar(self, *coordinates: Numbers) -> Point:
        """The point with these polar coordinates, given one by one or as one array."""
        raise ValueError(f"{self!r} has no polar coordinates; build its points with chart, exp or random.")

    def to_polar(self, x: PointLike) -> Local:
        """The polar coordinates of a point."""
        raise ValueError(f"{self!r} has no polar coordinates; use coordinates(x, point) for local ones.")

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """The coordinates, seen from x, of the point that has coordinates z seen from chart(x, y).

        The change from the chart at one end of a step to the chart at the other. A space in which coordinates seen from
        far away lose digits supplies a form that does not go through the points. `transition` is the inverse.
        """
        return self.coordinates(x, self.chart(self.chart(x, y), z))

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """The coordinates, seen from chart(x, y), of the point that has coordinates z seen from x."""
        return self.coordinates(self.chart(x, y), self.chart(x, z))

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        r"""The point with coordinates y seen from the base point \(\mathrm{chart}(x, \xi)\), to first order in \(\xi\).

        `chart(x, y)` at \(\xi = 0\). The frame at the base point may be any that depends smoothly on it: a homogeneous
        space moves the whole chart by an isometry, which is cheaper than a second chart. Variational steps
        differentiate it by \(\xi\) once, at 0.
        """
        return self.chart(self.chart(x, xi), y)

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        r"""\(D^\top\pi\), where \(D\,d\xi\) is the change of the coordinates of `shifted_chart(x, xi, y)` seen from
        x.
        """
        return self._shift_matrix(x, y).T @ self._local(covector, "covector")

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        """The inverse of `pull_shift` at the same x and y."""
        return jnp.linalg.solve(self._shift_matrix(x, y).T, self._local(covector, "covector"))

    def _shift_matrix(self, x: PointLike, y: LocalLike) -> LocalMatrix:
        x, y = self._point(x), self._local(y)
        if self.flat_chart:
            return jnp.eye(self.dim, dtype=y.dtype)
        slope = jax.jacfwd(lambda xi: self.shifted_chart(x, xi, y))(jnp.zeros_like(y))
        frame = jax.jacfwd(lambda z: self.chart(x, z))(y)
        return jnp.linalg.solve(frame.T @ frame, frame.T @ slope)

    def recentred(self, x: PointLike, v: VectorLike) -> tuple[Point, Vector]:
        """The same point and velocity, written afresh.

        A space in which one point has several arrays (`Carried`) supplies it; methods call it at the end of a step.
        """
        return validation.as_array(x), validation.as_array(v)

    def recentred_local(self, x: PointLike, rows: Float[Array, "rows dim"]) -> Float[Array, "rows dim"]:
        """Coordinates in the chart at x, one or several, as coordinates in the chart at the point that `recentred`
        writes. A rotation, so that covectors change alike."""
        return rows

    def rounding(self, x: PointLike) -> Scalar:
        """How far, in units of `chart_scale`, storing the point as an array may have moved it, if not by round-off."""
        return jnp.zeros(())

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        """The square of the distance, with all derivatives at x = y where the space says so; for traced code."""
        return self.distance(x, y) ** 2

    @property
    def exact_geodesics(self) -> bool:
        """Whether `geodesic` is a closed formula, so that splitting methods move along geodesics exactly."""
        return False

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        """Point and velocity, at time t, of the geodesic that starts at x with velocity v.

        For code that is being traced: nothing is checked.
        """
        return self.exp(x, t * v), self.transport(x, t * v, v)

    def sharp(self, x: Point, covector: Covector) -> Vector:
        r"""The tangent vector u with \(\langle u, w\rangle_x = \alpha\cdot w\) for all tangent w.

        For code that is being traced: nothing is checked.
        """
        if self.flat_chart:
            return jnp.linalg.solve(self.metric(x), covector)
        frame = self.frame(x)
        return frame @ jnp.linalg.solve(self.metric(x), frame.T @ covector)

    def tangent_covector(self, x: Point, covector: Covector) -> Covector:
        """The array with the same products with tangent vectors at x and none with arrays orthogonal to these.

        For code that is being traced: nothing is checked.
        """
        if self.flat_chart:
            return covector
        frame = self.frame(x)
        return frame @ jnp.linalg.solve(frame.T @ frame, frame.T @ covector)

    @property
    def chart_scale(self) -> Number:
        """The length over which charts bend: local coordinates should stay below it."""
        return 1.0

    def tangent_defect(self, x: PointLike, v: VectorLike) -> Scalar:
        """Euclidean size of the part of v that is not tangent at x."""
        return jnp.linalg.norm(validation.as_array(v) - self.tangent(x, v))

    # ── follows for every space ───────────────────────────────────────────────────────────────────────────────────

    def norm(self, x: PointLike, v: VectorLike) -> Scalar:
        r"""The length \(\sqrt{\langle v, v\rangle_x}\) of a tangent vector; its derivative is taken as 0 at v = 0."""
        return root(self.inner(x, v, v))

    def frame(self, x: PointLike) -> Float[Array, "point dim"]:
        """The basis of the tangent space at x that belongs to the chart at x, as columns."""
        return _frame(self, self._point(x))

    def metric(self, x: PointLike) -> LocalMatrix:
        """The Gram matrix of `frame(x)`; for a space with a flat chart the metric in its coordinates."""
        return _metric(self, self._point(x))

    def gradient(self, f: Callable[[Point], Scalar]) -> Callable[[Point], Vector]:
        r"""The Riemannian gradient: \(\langle \nabla f(x), v\rangle_x = df_x(v)\) for every tangent \(v\)."""

        def field(x: Point) -> Vector:
            x = self._point(x)
            zero = jnp.zeros(self.dim, x.dtype)
            slope = jax.grad(lambda y: f(self.chart(x, y)))(zero)
            local = jnp.linalg.solve(self.local_metric(x, zero), slope)
            return jax.jvp(lambda y: self.chart(x, y), (zero,), (local,))[1]

        return field

    def mean(self, points: PointLike, weights: PointLike | None = None) -> Point:
        r"""The Fréchet mean, \(\arg\min_m \sum_i w_i\, d(m, x_i)^2\), by Riemannian descent and Newton's method.

        The search starts at the given point with the smallest sum. The mean is unique on spaces of non-positive
        curvature, and for points within a ball of radius \(\pi/(4\sqrt{K})\) elsewhere; for points spread more widely
        the result is a local minimum. Weights are equal unless given; they are scaled to sum 1.
        """
        from holonomy.spaces.mean import frechet_mean

        return frechet_mean(self, points, weights)

    @property
    def curvature(self) -> SpaceCurvature:
        """Christoffel symbols and curvatures at any point; see `SpaceCurvature`."""
        from holonomy.spaces.curvature import SpaceCurvature

        return SpaceCurvature(self)

    def random_tangent(self, key: PRNGKeyArray, x: PointLike) -> Vector:
        """A tangent vector at x, standard normal in an orthonormal frame."""
        x = self._point(x)
        columns = jnp.linalg.cholesky(self.metric(x))
        normal = jax.random.normal(key, (self.dim,), x.dtype)
        return self.frame(x) @ jnp.linalg.solve(columns.T, normal)

    def __pow__(self, count: int) -> Power:
        """The space of `count` points of this space."""
        return _powers[0](self, count)

    def local_metric(self, x: Point, y: Local) -> LocalMatrix:
        """The metric at chart(x, y) in the coordinates of the chart at x."""
        basis = jax.jacfwd(lambda z: self.chart(x, z))(y)
        point = self.chart(x, y)
        row = jax.vmap(self.inner, in_axes=(None, None, 1))
        return jax.vmap(row, in_axes=(None, 1, None))(point, basis, basis)

    # ── checks, made only where numbers are known ─────────────────────────────────────────────────────────────────

    def _array(self, value: ArrayLike, name: str = "x") -> Array:
        array = validation.as_array(value)
        if array.shape != (self.point_dim,):
            raise ValueError(
                f"{name} has shape {array.shape}, but a point of {self!r} and a tangent vector are arrays of shape "
                f"({self.point_dim},). For many points at once use jax.vmap."
            )
        return array

    def _point(self, value: ArrayLike, name: str = "x") -> Point:
        x = self._array(value, name)
        if not validation.known(x, self):
            return x
        with jax.ensure_compile_time_eval():
            self._refuse_off_space(x, name)
        return x

    def checked_point(self, value: PointLike, name: str = "x") -> Point:
        """The value as a point array; `ValueError` where its numbers are known and it is not on the space."""
        return self._point(value, name)

    def checked_vector(self, x: Point, value: VectorLike, name: str = "v") -> Vector:
        """The value as a tangent vector at x; `ValueError` where its numbers are known and it is not tangent."""
        return self._vector(x, value, name)

    def _refuse_off_space(self, x: Point, name: str) -> None:
        if not np.all(np.isfinite(np.asarray(x))):
            raise ValueError(f"{name} = {validation.show(x)} is not finite, so it is no point of {self!r}.")
        nearest = np.asarray(self.project(x))
        off = float(np.linalg.norm(np.asarray(x) - nearest))
        # written so that a NaN from a projection that does not exist is refused as well
        if not off <= validation.tolerance(x.dtype) * (1.0 + float(np.linalg.norm(np.asarray(x)))):
            raise ValueError(
                f"{name} = {validation.show(x)} does not lie on {self!r}: it is {off:.3g} away from "
                f"space.project({name}) = "
                f"{validation.show(nearest)}. Pass that point if it is the one you mean."
            )

    def _vector(self, x: Point, value: ArrayLike, name: str = "v") -> Vector:
        v = self._array(value, name)
        if not validation.known(x, v, self):
            return v
        with jax.ensure_compile_time_eval():
            size, off = float(np.linalg.norm(np.asarray(v))), float(self.tangent_defect(x, v))
            if not off <= validation.tolerance(v.dtype) * size:
                raise ValueError(
                    f"{name} = {validation.show(v)} is not tangent to {self!r} at {validation.show(x)}: its normal "
                    "part has size "
                    f"{off:.3g}. Pass space.tangent(x, {name}) if its tangent part is the one you mean."
                )
        return v

    def _local(self, value: Numbers, name: str = "y") -> Local:
        array = validation.as_array(value)
        if array.shape != (self.dim,):
            raise ValueError(
                f"{name} has shape {array.shape}, but local coordinates of {self!r} have shape ({self.dim},)."
            )
        return array

    def _polar(self, coordinates: tuple[Numbers, ...]) -> Local:
        given = [validation.as_array(c) for c in coordinates]
        if len(given) == 1 and given[0].ndim == 1:
            return self._local(given[0], "the array of polar coordinates")
        if len(given) != self.dim or any(c.ndim != 0 for c in given):
            raise ValueError(
                f"{self!r} has {self.dim} polar coordinates, but from_polar was given {len(given)} arguments of "
                f"shapes {[c.shape for c in given]}. Pass {self.dim} numbers or one array of that length."
            )
        return jnp.stack(given)


_powers: list[Callable[[AbstractSpace, int], Power]] = []


def powers_are(power: Callable[[AbstractSpace, int], Power]) -> None:
    """Say what `space ** count` makes. `Power` is itself a space, so its file imports this one and not the reverse."""
    _powers[:] = [power]


# Compiled, since taking these derivatives operation by operation is slow where a person calls them.


@eqx.filter_jit
def _frame(space: AbstractSpace, x: Point) -> Float[Array, "point dim"]:
    return jax.jacfwd(lambda y: space.chart(x, y))(jnp.zeros(space.dim, x.dtype))


@eqx.filter_jit
def _metric(space: AbstractSpace, x: Point) -> LocalMatrix:
    return space.local_metric(x, jnp.zeros(space.dim, x.dtype))
