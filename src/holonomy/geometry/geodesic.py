"""Geodesics of any metric, and the fields along them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.curvature import MetricCurvature
from holonomy.geometry.integrate import integrate
from holonomy.geometry.metric import Metric, as_vector, bend, checked, known, traced
from holonomy.trace.function import Function
from holonomy.types import Vector, VectorLike

Times = Float[Array, "*times"]


def geodesic(metric: Metric, q0: VectorLike, v0: VectorLike, s: VectorLike | float) -> Float[Array, "*times n"]:
    r"""\(\gamma(s)\) with \(\ddot\gamma^i + \Gamma^i_{jk}\dot\gamma^j\dot\gamma^k = 0\), from \(q_0\) with velocity
    \(v_0\).

    `s` is a number or an array of times, in any order and of either sign; the result has one point per time. Accurate
    to about 1e-13 of the coordinates' size, times the geodesic's own sensitivity to its data. The geodesic equation is
    checked at 128 times within each step, and the first step is half of the way, so that features of the metric that
    are wider than 1/256 of the way are not passed over; if yours are narrower, ask for more times. A geodesic that
    leaves the domain of the metric raises, or is NaN from there on under jit.

    The metric is traced on every call, so values that it closes over are those of the call.
    """
    return geodesic_flow(metric, q0, v0, s)[0]


def geodesic_flow(
    metric: Metric, q0: VectorLike, v0: VectorLike, s: VectorLike | float
) -> tuple[Float[Array, "*times n"], Float[Array, "*times n"]]:
    """Places and velocities along a geodesic; see `geodesic`."""
    q0 = as_vector(q0, "q0")
    v0 = as_vector(v0, "v0", q0.shape[0])
    metric = traced(metric, q0)
    checked(metric, q0)
    n = q0.shape[0]
    states = _flow(_Spray(metric), jnp.concatenate([q0, v0]), jnp.asarray(s, q0.dtype))
    _refuse_nan(states, "geodesic", q0)
    return states[..., :n], states[..., n:]


def jacobi(
    metric: Metric, q0: VectorLike, v0: VectorLike, j0: VectorLike, dj0: VectorLike, s: VectorLike | float
) -> tuple[Float[Array, "*times n"], Float[Array, "*times n"]]:
    r"""The Jacobi field \(J\) and its covariant derivative: \(\nabla^2 J + R(J, \dot\gamma)\dot\gamma = 0\).

    \(J(0)\) = `j0` and \(\nabla J(0)\) = `dj0`. J joins a geodesic to its neighbours: it is the derivative of
    \(\gamma(s)\) when the start moves along j0 and the velocity changes covariantly by dj0.
    """
    q0 = as_vector(q0, "q0")
    n = q0.shape[0]
    v0, j0, dj0 = (as_vector(a, name, n) for a, name in ((v0, "v0"), (j0, "j0"), (dj0, "dj0")))
    metric = traced(metric, q0)
    checked(metric, q0)
    states = _flow(_Deviation(metric), jnp.concatenate([q0, v0, j0, dj0]), jnp.asarray(s, q0.dtype))
    _refuse_nan(states, "Jacobi field", q0)
    return states[..., 2 * n : 3 * n], states[..., 3 * n :]


def deviation(metric: Metric, q: VectorLike, v: VectorLike, j: VectorLike) -> Vector:
    r"""Geodesic deviation: \(-R(j, v)v\), the acceleration of a neighbour at j relative to a geodesic with velocity
    v.
    """
    return -MetricCurvature(metric).operator(q, j, v, v)


class _Spray(eqx.Module):
    """The rate of (q, v) for a traced metric: data, by whose form compiled code is found again."""

    metric: Function

    def __call__(self, t: Array, y: Array) -> Array:
        q, v = y.reshape(2, -1)
        return jnp.concatenate([v, -bend(self.metric, q, v, v)])


class _Deviation(eqx.Module):
    """The rate of (q, v, J, DJ)."""

    metric: Function

    def __call__(self, t: Array, y: Array) -> Array:
        q, v, j, dj = y.reshape(4, -1)
        bent = [bend(self.metric, q, v, a) for a in (v, j, dj)]
        return jnp.concatenate([v, -bent[0], dj - bent[1], deviation(self.metric, q, v, j) - bent[2]])


@jax.jit
def _flow(rate: _Spray | _Deviation, start: Array, s: Array) -> Array:
    if s.ndim == 0:
        return integrate(rate, start, 0.0, s)
    # from each time to the next in order of size, so that a list of times costs no more than its extremes
    flat = s.reshape(-1)
    order = jnp.argsort(flat)
    ahead = flat[order]

    def onward(carry: tuple[Array, Array], t: Array) -> tuple[tuple[Array, Array], Array]:
        y, before = carry
        new = integrate(rate, y, before, t)
        return (new, t), new

    first = integrate(rate, start, 0.0, ahead[0])
    _, rest = jax.lax.scan(onward, (first, ahead[0]), ahead[1:])
    states = jnp.concatenate([first[None], rest])
    return states[jnp.argsort(order)].reshape(*s.shape, -1)


def _refuse_nan(states: Array, what: str, q0: Array) -> None:
    if known(states) and not np.all(np.isfinite(np.asarray(states))):
        raise ValueError(
            f"the {what} from q0 = {np.asarray(q0).tolist()} cannot be continued as far as asked: it reaches a "
            "place where the metric is not finite or not positive definite (a singularity of the coordinates or of "
            "the space). Ask for a shorter stretch, or use coordinates that are regular there."
        )
