r"""Curvature of a metric.

Conventions. \(R(u,v)w = \nabla_u\nabla_v w - \nabla_v\nabla_u w - \nabla_{[u,v]}w\), so that spheres have positive
sectional curvature \(K(u,v) = \langle R(u,v)v, u\rangle/(|u|^2|v|^2 - \langle u,v\rangle^2)\). Components
\(R^i{}_{jkl}\) with \(R(u,v)w = R^i{}_{jkl}\,w^j u^k v^l\), that is
\(R^i{}_{jkl} = \partial_k\Gamma^i_{lj} - \partial_l\Gamma^i_{kj} + \Gamma^i_{km}\Gamma^m_{lj}
- \Gamma^i_{lm}\Gamma^m_{kj}\).
Ricci \(R_{jl} = R^i{}_{jil}\), scalar \(g^{jl}R_{jl}\) (twice the Gaussian curvature of a surface).
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import (
    Coordinates,
    Metric,
    as_vector,
    bend,
    checked,
    christoffel,
    require_resolved,
    traced,
)
from holonomy.trace.function import Function
from holonomy.types import Scalar, Vector, VectorLike


class AbstractCurvature(eqx.Module):
    """Christoffel symbols and curvatures as functions of the point; conventions in `holonomy.geometry.curvature`."""

    @abc.abstractmethod
    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        """The metric at q, in the frame that the components of `riemann` and `ricci` belong to."""

    @abc.abstractmethod
    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        r"""\(\Gamma^i_{jk}\), indices in this order."""

    @abc.abstractmethod
    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        """The vector R(u, v)w, from Jacobian-vector products."""

    @abc.abstractmethod
    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        r"""\(R^i{}_{jkl}\), indices in this order: \(n^4\) numbers."""

    @abc.abstractmethod
    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        """The curvature of the plane spanned by u and v; NaN if they are parallel."""

    def ricci(self, q: VectorLike) -> Float[Array, "n n"]:
        r"""\(R_{jl} = R^i{}_{jil}\)."""
        return jnp.einsum("ijil->jl", self.riemann(q))

    def scalar(self, q: VectorLike) -> Scalar:
        r"""\(g^{jl}R_{jl}\)."""
        return jnp.trace(jnp.linalg.solve(self.metric_at(q), self.ricci(q)))

    @abc.abstractmethod
    def gaussian(self, q: VectorLike) -> Scalar:
        """The Gaussian curvature of a surface; an error in other dimensions."""


class MetricCurvature(AbstractCurvature):
    """Curvature of a metric q -> (n, n) in coordinates q; vectors by their components."""

    metric: Metric

    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        return self._at(q)[2]

    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        return _christoffel(*self._at(q)[:2])

    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        metric, q, _ = self._at(q)
        u, v, w = (as_vector(a, name, q.shape[0]) for a, name in ((u, "u"), (v, "v"), (w, "w")))
        return _operator(metric, q, u, v, w)

    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        return _riemann(*self._at(q)[:2])

    def scalar(self, q: VectorLike) -> Scalar:
        return _scalar(*self._at(q))

    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        metric, q, g = self._at(q)
        return _sectional(metric, q, g, as_vector(u, "u", q.shape[0]), as_vector(v, "v", q.shape[0]))

    def gaussian(self, q: VectorLike) -> Scalar:
        q = as_vector(q, "q")
        require_surface(q.shape[0])
        e = np.eye(2, dtype=q.dtype)
        return self.sectional(q, e[0], e[1])

    def _at(self, q: VectorLike) -> tuple[Function, Coordinates, Float[Array, "n n"]]:
        """The metric as it is now, the point, and the metric there."""
        q = as_vector(q, "q")
        metric = traced(self.metric, q)
        g = checked(metric, q)
        # terms of the size of the metric's relative slope squared cancel in curvature, so half of the digits of q
        # must be there in the metric
        require_resolved(metric, q, limit=float(np.sqrt(np.finfo(q.dtype).eps)))
        return metric, q, g


@jax.jit
def _christoffel(metric: Function, q: Coordinates) -> Float[Array, "n n n"]:
    return christoffel(metric, q)


@jax.jit
def _riemann(metric: Function, q: Coordinates) -> Float[Array, "n n n n"]:
    gamma = christoffel(metric, q)
    slope = jax.jacfwd(lambda p: christoffel(metric, p))(q)
    # slope[i, l, j, k] is the derivative by q_k of Gamma^i_lj
    half = jnp.einsum("iljk->ijkl", slope) + jnp.einsum("ikm,mlj->ijkl", gamma, gamma)
    return half - jnp.swapaxes(half, 2, 3)


@jax.jit
def _scalar(metric: Function, q: Coordinates, g: Float[Array, "n n"]) -> Scalar:
    return jnp.trace(jnp.linalg.solve(g, jnp.einsum("ijil->jl", _riemann(metric, q))))


@jax.jit
def _operator(metric: Function, q: Coordinates, u: Vector, v: Vector, w: Vector) -> Vector:
    def half(u: Vector, v: Vector) -> Vector:
        """The covariant derivative along u of that of w along v, for constant components."""
        inner, change = jax.jvp(lambda p: bend(metric, p, v, w), (q,), (u,))
        return change + bend(metric, q, u, inner)

    return half(u, v) - half(v, u)


@jax.jit
def _sectional(metric: Function, q: Coordinates, g: Float[Array, "n n"], u: Vector, v: Vector) -> Scalar:
    turned = _operator(metric, q, u, v, v)
    uu, uv, vv = u @ g @ u, u @ g @ v, v @ g @ v
    return (u @ g @ turned) / (uu * vv - uv**2)


def require_surface(n: int) -> None:
    """Raise unless the dimension is 2."""
    if n != 2:
        raise ValueError(
            f"Gaussian curvature belongs to surfaces, but this space has dimension {n}; use sectional(q, u, v)."
        )


def curvature(metric: Metric) -> MetricCurvature:
    r"""Everything about the curvature of a metric, given as a function q -> (n, n) array; see `MetricCurvature`.

    The metric is traced on every call, so values that it closes over are those of the call. An error is raised, where
    numbers are known, if the metric is not finite, symmetric and positive definite, and at points where the coordinates
    are so close to a singularity (a pole) that rounding q would change the metric by more than half of its digits.
    At a distance d from a pole that is large against the rounding of q, curvature has an error of about
    \(10^{-16}/d^2\).
    """
    if not callable(metric):
        raise ValueError(
            f"a metric is a function of q that returns an (n, n) array, but {type(metric).__name__} was passed."
        )
    return MetricCurvature(metric)
