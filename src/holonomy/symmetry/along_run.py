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
    """The integral of rate(t, q, v) from the first saved time to each, one row for each saved time."""
    return integrals_of_rows(run, lambda t, q, v: _values(rate, t, q, v))


def integrals_of_rows(run: Run, rates: Callable[[Tree, Tree, Tree], Tree]) -> np.ndarray:
    """The same for a function of rows of t, q and v, which gives a row of rates for each.

    Gauss's formula with four nodes in every step of the run. States at the nodes come from the run's own method.
    """
    begin, width, count = pieces(run)
    nodes = (begin[:, None] + width[:, None] * (_NODES + 1) / 2).ravel()
    if not len(nodes):
        return np.zeros((len(run.t), 1))
    q, v = run(nodes)
    values = np.asarray(rates(jnp.asarray(nodes), jnp.asarray(q), jnp.asarray(v)))
    sums = (values.reshape(len(begin), 4, -1) * _WEIGHTS[None, :, None]).sum(axis=1) * width[:, None] / 2
    per_row = np.add.reduceat(sums, np.concatenate([[0], np.cumsum(count)[:-1]]), axis=0)
    return np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(per_row, axis=0)])


def pieces(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps between the saved times of a run: where each begins, how long it is, and how many are in each."""
    t = np.asarray(run.t)
    spans = np.diff(t)
    count = np.clip(np.ceil(np.abs(spans) / max(abs(run.dt), 1e-300) - 1e-9), 1, _MOST).astype(int)
    starts = [t[k] + spans[k] * np.arange(m) / m for k, m in enumerate(count)]
    return np.concatenate(starts) if starts else np.zeros(0), np.repeat(spans / count, count), count


@eqx.filter_jit
def _values(rate: Callable[[Tree, Tree, Tree], Tree], t: Tree, q: Tree, v: Tree) -> Tree:
    return jax.vmap(lambda *s: jnp.atleast_1d(rate(*s)))(t, q, v)
