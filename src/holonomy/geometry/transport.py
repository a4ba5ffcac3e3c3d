"""Parallel transport along any curve, and its holonomy around loops."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.integrate import integrate
from holonomy.geometry.metric import Coordinates, Metric, as_vector, bend, checked, known, traced
from holonomy.trace.function import Function
from holonomy.types import ArrayLike, Scalar, VectorLike

Curve: TypeAlias = Callable[[Scalar], Coordinates]
Path: TypeAlias = Curve | Sequence[Curve] | ArrayLike


def transport(metric: Metric, curve: Path, w: VectorLike, *, at: VectorLike | None = None) -> Float[Array, "*times n"]:
    r"""The vector w carried parallel along a curve: \(\dot w^i + \Gamma^i_{jk}\,\dot q^j w^k = 0\).

    `curve` is a function from [0, 1] to coordinates, smooth there; or a list of such functions, one per smooth piece,
    each beginning where the one before ends; or an array of points (k, n), joined by lines straight in coordinates.
    The result is w at the end of the curve, or with `at`, an increasing array of times in [0, 1] of a single function,
    w at those times.
    """
    pieces = _pieces(curve)
    start, metric = _start(metric, pieces)
    carried = as_vector(w, "w", start.shape[0])
    if at is not None:
        if len(pieces) != 1:
            raise ValueError(f"`at` needs a curve given as one function, but this one has {len(pieces)} pieces.")
        return _along(metric, pieces[0], carried, jnp.asarray(at, carried.dtype))
    for piece in pieces:
        carried = _carry(metric, piece, carried)
    if known(carried) and not np.all(np.isfinite(np.asarray(carried))):
        raise ValueError("the curve passes a place where the metric is not finite or not positive definite.")
    return carried


def holonomy(metric: Metric, loop: Path) -> Float[Array, "n n"]:
    """The matrix that takes a vector at the start of a closed curve to the same vector after transport around it.

    The curve as in `transport`; an array of points is closed by a last line unless it ends where it begins.
    """
    if not callable(loop) and not isinstance(loop, (list, tuple)):
        points = jnp.asarray(loop)
        closed = known(points) and bool(np.all(np.asarray(points[0]) == np.asarray(points[-1])))
        loop = points if closed else jnp.concatenate([points, points[:1]])
    pieces = _pieces(loop)
    start, metric = _start(metric, pieces)
    end = pieces[-1](jnp.ones((), start.dtype))
    if known(start, end):
        gap = float(np.linalg.norm(np.asarray(end) - np.asarray(start)))
        wrapped = (np.asarray(end) - np.asarray(start)) / (2 * np.pi)
        turns = np.abs(wrapped - np.round(wrapped)).max() < 1e-9
        if gap > 1e-9 * (1.0 + float(np.linalg.norm(np.asarray(start)))) and not turns:
            raise ValueError(
                f"the loop is not closed: it begins at {np.asarray(start).tolist()} and ends at "
                f"{np.asarray(end).tolist()}. Holonomy needs a closed curve (angles may differ by full turns)."
            )
    columns = jnp.eye(start.shape[0], dtype=start.dtype)
    for piece in pieces:
        columns = jax.vmap(lambda w, piece=piece: _carry(metric, piece, w))(columns)
    return columns.T


def holonomy_angle(metric: Metric, loop: Path) -> Float[Array, ""]:
    r"""The angle in \((-\pi, \pi]\) by which transport around a loop turns vectors of a surface.

    Positive from the first coordinate direction to the second; for a small loop run that way round it equals the
    integral of the Gaussian curvature over its inside, for larger ones modulo \(2\pi\) (Gauss-Bonnet).
    """
    pieces = _pieces(loop)
    start, metric = _start(metric, pieces)
    if start.shape[0] != 2:
        raise ValueError(
            f"the holonomy of a surface is one angle, but this space has dimension {start.shape[0]}; use holonomy."
        )
    matrix, g = holonomy(metric, loop), metric(start)
    first = jnp.array([1.0, 0.0], start.dtype)
    carried = matrix @ first
    area = jnp.sqrt(g[0, 0] * g[1, 1] - g[0, 1] ** 2)
    return jnp.arctan2(area * (first[0] * carried[1] - first[1] * carried[0]), first @ g @ carried)


def _pieces(path: Path) -> list[Function]:
    """The smooth pieces of a path as they are now, traced."""
    time = jnp.zeros(())
    if callable(path):
        return [traced(path, time)]
    if isinstance(path, (list, tuple)) and path and all(callable(p) for p in path):
        return [traced(p, time) for p in cast("Sequence[Curve]", path)]
    points = jnp.asarray(path, float)
    if points.ndim != 2 or points.shape[0] < 2:
        raise ValueError(
            "a curve is a function from [0, 1] to coordinates, a list of such functions, or an array (k, n) of "
            f"at least two points, but an array of shape {points.shape} was passed."
        )
    return [traced(_Line(a, b), time) for a, b in pairwise(points)]


class _Line(eqx.Module):
    start: Array
    end: Array

    def __call__(self, t: Array) -> Array:
        return self.start + t * (self.end - self.start)


def _start(metric: Metric, pieces: list[Function]) -> tuple[Coordinates, Function]:
    """Where a path starts, and the metric as it is now; the metric is checked there."""
    start = as_vector(pieces[0](jnp.zeros(())), "the curve's value at 0")
    metric = traced(metric, start)
    checked(metric, start)
    return start, metric


def _rate(metric: Function, curve: Function) -> Callable[[Array, Array], Array]:
    def rate(t: Array, w: Array) -> Array:
        q, velocity = jax.jvp(curve, (t,), (jnp.ones_like(t),))
        return -bend(metric, q, velocity, w)

    return rate


@jax.jit
def _carry(metric: Function, curve: Function, w: Array) -> Array:
    return integrate(_rate(metric, curve), w)


@jax.jit
def _along(metric: Function, curve: Function, w: Array, at: Array) -> Array:
    def onward(carry: tuple[Array, Array], t: Array) -> tuple[tuple[Array, Array], Array]:
        new = integrate(_rate(metric, curve), carry[0], carry[1], t)
        return (new, t), new

    return jax.lax.scan(onward, (w, jnp.zeros_like(at[0])), at)[1]
