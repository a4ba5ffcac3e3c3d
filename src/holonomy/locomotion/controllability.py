"""Where loops of shapes can take a mover: the holonomy algebra."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Shape
from holonomy.locomotion.local_form import connection_at, curvature_at

if TYPE_CHECKING:
    from holonomy.locomotion.mover import Mover

Field: TypeAlias = Callable[["Mover", Shape], Float[Array, "dim k"]]
_RANK = 1e-9  # singular values below this part of the largest count as zero


class Controllability(NamedTuple):
    """The span of the curvature and its covariant derivatives at a shape.

    `growth` are its dimensions with derivatives of order 0, 1, ... included; `basis` is orthonormal, as columns;
    `controllable`, whether it is the whole algebra, so that loops of shapes reach every nearby place.
    """

    controllable: bool
    growth: tuple[int, ...]
    basis: Float[np.ndarray, "dim k"]


def controllability(mover: Mover, r: Shape, order: int | None = None) -> Controllability:
    r"""The holonomy algebra at a shape, by Ambrose and Singer's theorem.

    It is spanned by \(B_{ij}\) and its covariant derivatives \(D_kF = \partial_kF - [A_k, F]\), which are added until
    they give nothing new, or up to `order` (by default the dimension of the group).
    """
    most = mover.lie.dim if order is None else int(order)
    spans: list[np.ndarray] = []
    growth: list[int] = []
    basis = np.zeros((mover.lie.dim, 0))
    for level in range(most + 1):
        columns = np.asarray(compiled.call(_level(level), mover, r))
        spans.append(columns)
        basis = _basis(np.concatenate(spans, axis=1))
        growth.append(basis.shape[1])
        if basis.shape[1] == mover.lie.dim or (level and growth[-1] == growth[-2]):
            break
    return Controllability(basis.shape[1] == mover.lie.dim, tuple(growth), basis)


@cache
def _level(level: int) -> Field:
    """The covariant derivatives of this order, as columns."""
    if level == 0:
        return _curvature
    below = _level(level - 1)

    def derivative(mover: Mover, r: Shape) -> Float[Array, "dim k"]:
        value, slope = below(mover, r), jax.jacfwd(lambda x: below(mover, x))(r)
        ads = jax.vmap(mover.lie.ad, 1, 2)(connection_at(mover, r))
        return (slope - jnp.einsum("abn,bk->akn", ads, value)).reshape(mover.lie.dim, -1)

    return derivative


def _curvature(mover: Mover, r: Shape) -> Float[Array, "dim k"]:
    first, second = np.triu_indices(mover.shape_dim, 1)
    return curvature_at(mover, r)[:, first, second]


def _basis(columns: np.ndarray) -> np.ndarray:
    if not columns.size or not np.any(columns):
        return columns[:, :0]
    # columns of unlike size, derivatives among them, count by their directions
    sizes = np.linalg.norm(columns, axis=0)
    kept = columns[:, sizes > _RANK * sizes.max()]
    u, s, _ = np.linalg.svd(kept / np.linalg.norm(kept, axis=0), full_matrices=False)
    return u[:, s > _RANK * s[0]]
