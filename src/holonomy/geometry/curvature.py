r"""Curvature of a metric.

Conventions. $R(u,v)w = \nabla_u\nabla_v w - \nabla_v\nabla_u w - \nabla_{[u,v]}w$, so that spheres have positive
sectional curvature $K(u,v) = \langle R(u,v)v, u\rangle/(|u|^2|v|^2 - \langle u,v\rangle^2)$. Components
$R^i{}_{jkl}$ with $R(u,v)w = R^i{}_{jkl}\,w^j u^k v^l$, that is
$R^i{}_{jkl} = \partial_k\Gamma^i_{lj} - \partial_l\Gamma^i_{kj} + \Gamma^i_{km}\Gamma^m_{lj}
- \Gamma^i_{lm}\Gamma^m_{kj}$.
Ricci $R_{jl} = R^i{}_{jil}$, scalar $g^{jl}R_{jl}$ (twice the Gaussian curvature of a surface).
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.geometry.metric import Coordinates, Metric, Vector, VectorLike, as_vector, bend, checked, christoffel

Scalar = Float[Array, ""]


class AbstractCurvature(eqx.Module):
    """Christoffel symbols and curvatures as functions of the point; conventions in `holonomy.geometry.curvature`."""

    @abc.abstractmethod
    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        """The metric at q, in the frame that the components of `riemann` and `ricci` belong to."""

    @abc.abstractmethod
    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        r"""$\Gamma^i_{jk}$, indices in this order."""

    @abc.abstractmethod
    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        """The vector R(u, v)w, from Jacobian-vector products."""

    @abc.abstractmethod
    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        r"""$R^i{}_{jkl}$, indices in this order: $n^4$ numbers."""

    @abc.abstractmethod
    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        """The curvature of the plane spanned by u and v; NaN if they are parallel."""

    def ricci(self, q: VectorLike) -> Float[Array, "n n"]:
        r"""$R_{jl} = R^i{}_{jil}$."""
        return jnp.einsum("ijil->jl", self.riemann(q))

    def scalar(self, q: VectorLike) -> Scalar:
        r"""$g^{jl}R_{jl}$."""
        return jnp.trace(jnp.linalg.solve(self.metric_at(q), self.ricci(q)))

    @abc.abstractmethod
    def gaussian(self, q: VectorLike) -> Scalar:
        """The Gaussian curvature of a surface; an error in other dimensions."""


class MetricCurvature(AbstractCurvature):
    """Curvature of a metric q -> (n, n) in coordinates q; vectors by their components."""

    metric: Metric

    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        return checked(self.metric, as_vector(q, "q"))

    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        q = as_vector(q, "q")
        checked(self.metric, q)
        return _christoffel(self.metric, q)

    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        q = as_vector(q, "q")
        u, v, w = (as_vector(a, name, q.shape[0]) for a, name in ((u, "u"), (v, "v"), (w, "w")))
        checked(self.metric, q)
        return _operator(self.metric, q, u, v, w)

    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        q = as_vector(q, "q")
        checked(self.metric, q)
        return _riemann(self.metric, q)

    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        q = as_vector(q, "q")
        u, v = as_vector(u, "u", q.shape[0]), as_vector(v, "v", q.shape[0])
        g = checked(self.metric, q)
        turned = _operator(self.metric, q, u, v, v)
        uu, uv, vv = u @ g @ u, u @ g @ v, v @ g @ v
        return (u @ g @ turned) / (uu * vv - uv**2)

    def gaussian(self, q: VectorLike) -> Scalar:
        q = as_vector(q, "q")
        require_surface(q.shape[0])
        e = jnp.eye(2, dtype=q.dtype)
        return self.sectional(q, e[0], e[1])


@eqx.filter_jit
def _christoffel(metric: Metric, q: Coordinates) -> Float[Array, "n n n"]:
    return christoffel(metric, q)


@eqx.filter_jit
def _riemann(metric: Metric, q: Coordinates) -> Float[Array, "n n n n"]:
    gamma = christoffel(metric, q)
    slope = jax.jacfwd(lambda p: christoffel(metric, p))(q)
    # slope[i, l, j, k] is the derivative by q_k of Gamma^i_lj
    half = jnp.einsum("iljk->ijkl", slope) + jnp.einsum("ikm,mlj->ijkl", gamma, gamma)
    return half - jnp.swapaxes(half, 2, 3)


@eqx.filter_jit
def _operator(metric: Metric, q: Coordinates, u: Vector, v: Vector, w: Vector) -> Vector:
    def half(u: Vector, v: Vector) -> Vector:
        """The covariant derivative along u of that of w along v, for constant components."""
        inner, change = jax.jvp(lambda p: bend(metric, p, v, w), (q,), (u,))
        return change + bend(metric, q, u, inner)

    return half(u, v) - half(v, u)


def require_surface(n: int) -> None:
    """Raise unless the dimension is 2."""
    if n != 2:
        raise ValueError(
            f"Gaussian curvature belongs to surfaces, but this space has dimension {n}; use sectional(q, u, v)."
        )


def curvature(metric: Metric) -> MetricCurvature:
    """Everything about the curvature of a metric, given as a function q -> (n, n) array; see `MetricCurvature`.

    An error is raised, where numbers are known, if the metric is not finite, symmetric and positive definite.
    """
    if not callable(metric):
        raise ValueError(
            f"a metric is a function of q that returns an (n, n) array, but {type(metric).__name__} was passed."
        )
    return MetricCurvature(metric)
