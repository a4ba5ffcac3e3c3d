r"""Curvature as a height function, and how much of a displacement it explains.

For a group that does not commute, \(-\iint B\) is the displacement of small loops only. Another body frame,
\(g' = g\,h(r)\), has the connection \(A' = \mathrm{Ad}_{h^{-1}}A - h^{-1}\partial h\) and the curvature
\(B' = \mathrm{Ad}_{h^{-1}}B\). In the frame whose connection is smallest over the loop (minimum-perturbation
coordinates), \(-\iint B'\) is a good estimate for large loops too: what is left are commutators of A'.

Reference: Hatton and Choset, *Geometric motion planning: the local connection, Stokes' theorem, and the importance of
coordinate choice*, 2011.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Algebra, AlgebraMap, Connection, Row, Shape
from holonomy.locomotion.gait import Gait
from holonomy.locomotion.local_form import connection_at, curvature_at
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.search import jacobian
from holonomy.trace.native.engine import Engine
from holonomy.types import AnyArray, ArrayLike

_DEGREE = 5  # of the polynomials that describe the frame
_RAYS, _AROUND = 6, 48  # samples from the middle to the loop, and around it
_TERMS = 16  # of the exponential series, for frames turned by up to about 2
_ITERATIONS = 8


def heights(mover: Mover, shapes: ArrayLike) -> Float[np.ndarray, "shapes dim n n"]:
    """The curvature at many shapes, one in each row; for two shape variables [:, c, 0, 1] is the height function of
    the component c. Shapes that the mover cannot take are NaN where the curvature is not finite there."""
    rows = np.asarray(shapes, float)
    if rows.ndim != 2 or rows.shape[1] != mover.shape_dim:
        raise ValueError(f"shapes has a row of {mover.shape_dim} numbers for each shape, but got {rows.shape}.")
    engine = Engine(None)
    batch = engine.batch(curvature_at, (mover, rows[0])) if engine.native else None
    if batch is None:
        return np.asarray(jax.jit(jax.vmap(curvature_at, in_axes=(None, 0)))(mover, rows))
    return np.asarray(batch(mover, rows, axes=(None, 0)))


class Estimate(NamedTuple):
    """What curvature says of a loop: the plain and the corrected integral, each as the displacement it stands for."""

    plain: AnyArray
    corrected: AnyArray


class _Region(eqx.Module):
    mover: Mover
    shapes: Float[Array, "samples shape"]
    middle: Shape
    width: Shape


def body_velocity_integrals(mover: Mover, gait: Gait) -> Estimate:
    r"""\(-\iint B\) over the inside of a loop as a displacement, in the mover's frame and in minimum-perturbation
    coordinates; `perform` gives the exact one."""
    region = _region(mover, gait)
    terms = _exponents(mover.shape_dim)
    unknowns = np.zeros((len(terms), mover.lie.dim))
    for _ in range(0 if mover.lie.commutative else _ITERATIONS):
        values, slopes = jacobian(_small_along, region, unknowns)
        slopes = slopes.reshape(len(values), -1)
        unknowns = unknowns - np.linalg.lstsq(slopes, values, rcond=1e-10)[0].reshape(unknowns.shape)
    zero = np.zeros_like(unknowns)
    return Estimate(*(np.asarray(compiled.call(_integral, region, gait, frame)) for frame in (zero, unknowns)))


def _region(mover: Mover, gait: Gait) -> _Region:
    around = np.asarray(jax.vmap(gait.path)(jnp.arange(_AROUND) / _AROUND))
    middle = around.mean(axis=0)
    rays = np.arange(1, _RAYS + 1) / _RAYS
    shapes = (middle + rays[:, None, None] * (around - middle)[None]).reshape(-1, mover.shape_dim)
    width = np.maximum(np.abs(around - middle).max(axis=0), 1e-12)
    return _Region(mover, jnp.asarray(shapes), jnp.asarray(middle), jnp.asarray(width))


def _exponents(n: int) -> np.ndarray:
    """Powers of the monomials up to the degree, without the constant."""
    every = np.stack(np.meshgrid(*[np.arange(_DEGREE + 1)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    total = every.sum(axis=1)
    return every[(total > 0) & (total <= _DEGREE)]


def _frame(region: _Region, unknowns: Float[Array, "terms dim"], r: Shape) -> Algebra:
    """The logarithm of the frame h(r)."""
    x = (r - region.middle) / region.width
    powers = [jnp.prod(jnp.stack([x[i] ** int(e) for i, e in enumerate(term)])) for term in _exponents(len(x))]
    return jnp.stack(powers) @ unknowns


def _series(ad: AlgebraMap, shift: int) -> AlgebraMap:
    r"""\(\sum_k (-\mathrm{ad})^k/(k+\text{shift})!\)."""
    total = jnp.zeros_like(ad)
    for k in reversed(range(_TERMS)):
        total = jnp.eye(ad.shape[0]) - ad @ total / (k + 1 + shift)
    return total


def _small_along(region: _Region, unknowns: Array, direction: Array) -> tuple[Row, Row]:
    def connection(x: Array, r: Shape) -> Connection:
        log, slope = _frame(region, x, r), jax.jacfwd(lambda s: _frame(region, x, s))(r)
        ad = region.mover.lie.ad(log)
        return _series(ad, 0) @ connection_at(region.mover, r) - _series(ad, 1) @ slope

    def value(x: Array) -> Row:
        return jax.lax.map(lambda r: connection(x, r), region.shapes).reshape(-1)

    return jax.jvp(value, (unknowns,), (direction,))


def _integral(region: _Region, gait: Gait, unknowns: Array) -> Row:
    mover, tip = region.mover, region.middle
    nodes, weights = (jnp.asarray(x) for x in np.polynomial.legendre.leggauss(12))
    count = 16 * max(1, -(-16 // gait.path.pieces)) * gait.path.pieces

    def around(index: Array) -> Row:
        s = (index + 0.5) / count
        r, slope = jax.jvp(gait.path, (s,), (jnp.ones_like(s),))

        def inward(node: Array) -> Row:
            u = 0.5 * (1.0 + nodes[node])
            at = tip + u * (r - tip)
            turned = _series(mover.lie.ad(_frame(region, unknowns, at)), 0)
            b = jnp.einsum("kij,i,j->k", curvature_at(mover, at), r - tip, slope)
            return -0.5 * weights[node] * u * (turned @ b) / count

        return jnp.sum(jax.lax.map(inward, jnp.arange(12)), axis=0)

    xi = jnp.sum(jax.lax.map(around, jnp.arange(count)), axis=0)
    lie = mover.lie
    h = lie.exp(_frame(region, unknowns, gait.path(jnp.zeros(()))))
    g = lie.compose(lie.compose(h, lie.exp(xi)), lie.inverse(h))
    return lie.displacement(g, xi)
