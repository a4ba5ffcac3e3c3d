"""Integrals over time along a run."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.types import Tree

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_MOST = 64  # pieces between two saved times


def integrals(run: Run, rate: Callable[[Tree, Tree, Tree], Tree]) -> np.ndarray:
    """The integral of rate(t, q, v) from the first saved time to each, one row for each saved time.

    Gauss's formula with four nodes in every step of the run. States at the nodes come from the run's own method.
    """
    t = np.asarray(run.t)
    spans = np.diff(t)
    pieces = np.clip(np.ceil(np.abs(spans) / max(abs(run.dt), 1e-300) - 1e-9), 1, _MOST).astype(int)
    starts = [t[k] + spans[k] * np.arange(m) / m for k, m in enumerate(pieces)]
    begin = np.concatenate(starts) if starts else np.zeros(0)
    width = np.repeat(spans / pieces, pieces)
    nodes = (begin[:, None] + width[:, None] * (_NODES + 1) / 2).ravel()
    if not len(nodes):
        return np.zeros((len(t), 1))
    q, v = run(nodes)
    values = np.asarray(_values(rate, jnp.asarray(nodes), jnp.asarray(q), jnp.asarray(v)))
    sums = (values.reshape(len(begin), 4, -1) * _WEIGHTS[None, :, None]).sum(axis=1) * width[:, None] / 2
    per_row = np.add.reduceat(sums, np.concatenate([[0], np.cumsum(pieces)[:-1]]), axis=0)
    return np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(per_row, axis=0)])


@eqx.filter_jit
def _values(rate: Callable[[Tree, Tree, Tree], Tree], t: Tree, q: Tree, v: Tree) -> Tree:
    return jax.vmap(lambda *s: jnp.atleast_1d(rate(*s)))(t, q, v)
