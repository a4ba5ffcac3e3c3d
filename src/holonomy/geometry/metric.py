"""Metrics as functions q -> matrix: what they must be, and their Levi-Civita connection."""

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from holonomy.trace.function import Function, trace
from holonomy.types import AnyArray, ArrayFunction, Matrix, Numbers, Vector

Coordinates: TypeAlias = Float[Array, " n"]
Metric: TypeAlias = Callable[[Coordinates], Matrix]


def known(*values: object) -> bool:
    """Whether every array in `values` has numbers in it, rather than being traced by jit, vmap or grad."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_vector(value: Numbers, name: str, n: int | None = None) -> Vector:
    """The value as a one-dimensional floating-point array, of length n where that is known."""
    array = jnp.asarray(value)
    array = array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)
    if array.ndim != 1 or (n is not None and array.shape[0] != n):
        expected = f"({n},)" if n is not None else "(n,)"
        raise ValueError(f"{name} has shape {array.shape}, but one array of shape {expected} is needed here.")
    return array


def traced(function: ArrayFunction, *args: AnyArray | jax.ShapeDtypeStruct) -> Function:
    """A function of arrays shaped like `args` as it is now, as data.

    Compiled code is found by the form of what was traced, and the numbers in it are arguments of that code. So a
    function that closes over values that have changed since gives the result of the new ones, and compiles nothing if
    only numbers have changed.
    """
    if isinstance(function, Function):
        return function
    return trace(lambda *x: jnp.asarray(function(*x)), [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args])


def checked(metric: Metric, q: Coordinates) -> Matrix:
    """The metric at q; where its numbers are known it is refused unless finite, symmetric and positive definite."""
    g = _value(metric, q) if isinstance(metric, Function) else jnp.asarray(metric(q))
    n = q.shape[0]
    if g.shape != (n, n):
        raise ValueError(
            f"the metric returns an array of shape {g.shape} at a point with {n} coordinates; expected ({n}, {n})."
        )
    if not known(g):
        return g
    values, at = np.asarray(g), _Shown(q)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"the metric is not finite at q = {at}: {values.tolist()}. Is q outside its domain?")
    scale, eps = np.abs(values).max(), np.finfo(values.dtype).eps
    if np.abs(values - values.T).max() > 64 * eps * scale:
        raise ValueError(f"the metric is not symmetric at q = {at}: it returns {values.tolist()}.")
    # scaled to unit diagonal first, so that a metric in unlike units is not mistaken for a degenerate one
    diagonal = np.sqrt(np.clip(np.diag(values), 0.0, None))
    smallest = np.linalg.eigvalsh(values / np.outer(diagonal, diagonal)).min() if np.all(diagonal > 0) else 0.0
    if smallest <= n * eps:
        raise ValueError(
            f"the metric is not positive definite at q = {at}: its eigenvalues are "
            f"{np.linalg.eigvalsh(values).tolist()}. A metric must give every nonzero vector a positive length; at a "
            "singularity of the coordinates, such as a pole, it does not."
        )
    return g


class _Shown:
    """An array that is written out only where a message is."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __str__(self) -> str:
        return np.array2string(np.asarray(self.array), precision=6, separator=", ")


@jax.jit
def _value(metric: Function, q: Coordinates) -> Array:
    return metric(q)


def require_resolved(metric: Function, q: Coordinates, limit: float) -> None:
    r"""Raise if rounding q changes the metric by more than `limit` of itself, where numbers are known.

    The change is \(\max_{ijk}|\partial_k g_{ij}|\,|q_k|\,\varepsilon/\sqrt{g_{ii}g_{jj}}\), which does not depend on
    the units of the coordinates. At a pole it is about 1: sin(pi) is not zero in floating point, so that the metric
    still looks positive definite there, but its digits are those of the rounding error.
    """
    if not known(q, metric):
        return
    change = float(_rounding(metric, q))
    if change > limit:
        at = np.array2string(np.asarray(q), precision=17, separator=", ")
        raise ValueError(
            f"the metric is not resolved at q = {at}: rounding q to its last digit changes the metric by {change:.1e} "
            f"of itself, and its curvature is known only where that is at most {limit:.1e}. At or next to a "
            "singularity of the coordinates, such as a pole, use coordinates that are regular there; reduce large "
            "angles by full turns."
        )


@jax.jit
def _rounding(metric: Function, q: Coordinates) -> Array:
    size = jnp.sqrt(jnp.diag(metric(q)))
    slope = jnp.abs(jax.jacfwd(metric)(q)) * jnp.abs(q)[None, None, :] / (size[:, None] * size[None, :])[..., None]
    return jnp.finfo(q.dtype).eps * jnp.max(slope, initial=0.0)


def bend(metric: Metric, q: Coordinates, u: Vector, v: Vector) -> Vector:
    r"""\(\Gamma(u, v)^i = \Gamma^i_{jk} u^j v^k\) from Jacobian-vector products: no array of \(n^3\) numbers.

    \(2\,g\,\Gamma(u, v) = (D_u g) v + (D_v g) u - \nabla(u\cdot g v)\).
    """
    g, along_u = jax.jvp(metric, (q,), (u,))
    along_v = jax.jvp(metric, (q,), (v,))[1]
    slope = jax.grad(lambda p: u @ metric(p) @ v)(q)
    return jnp.linalg.solve(g, 0.5 * (along_u @ v + along_v @ u - slope))


def christoffel(metric: Metric, q: Coordinates) -> Float[Array, "n n n"]:
    r"""\(\Gamma^i_{jk} = \frac12 g^{il}(\partial_j g_{lk} + \partial_k g_{lj} - \partial_l g_{jk})\), in this order."""
    d = jax.jacfwd(metric)(q)  # d[a, b, c] = derivative of g_ab by q_c
    lower = 0.5 * (jnp.swapaxes(d, 1, 2) + d - jnp.moveaxis(d, 2, 0))
    n = q.shape[0]
    return jnp.linalg.solve(metric(q), lower.reshape(n, n * n)).reshape(n, n, n)
