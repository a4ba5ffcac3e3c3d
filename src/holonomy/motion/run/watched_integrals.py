"""Quantities that are claimed to be conserved, watched along a run: how much each one changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from holonomy.energy_drift import DRIFT_LIMIT

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

Drift = tuple[str, float, float]
"""Name, largest change since the start, and the size of the terms that the quantity is the sum of."""

_ROUNDING = 1e-12  # of all momenta times a field: what its own momentum is not held against, where it is that small


class Measured(NamedTuple):
    """A quantity at the saved times of a run, and the sizes of its terms and of what its rounding comes from there."""

    name: str
    values: np.ndarray
    terms: np.ndarray
    rounding: np.ndarray


@runtime_checkable
class Measurable(Protocol):
    """What can be watched: results of `hl.noether`, `hl.jacobi_integral` and `hl.killing`."""

    def measured(self, run: Run) -> Sequence[Measured]:
        """The quantities along a run."""
        ...


def watch(run: Run, integrals: Sequence[Measurable | str]) -> Run:
    """See `Run.watch`."""
    if np.ndim(run.t) > 1:
        raise ValueError("run.watch takes a single run; watch the members of a batch one by one, many[3].watch(...).")
    found: list[Drift] = []
    for one in integrals:
        measured = [_momentum(run, one)] if isinstance(one, str) else one.measured(run)
        found += [_drift(each) for each in measured]
    return replace(run, integrals=(*run.integrals, *found))


def _momentum(run: Run, name: str) -> Measured:
    if name not in run.names:
        raise ValueError(f"There is no coordinate {name!r} to watch the momentum of; there are {', '.join(run.names)}.")
    momenta = np.abs(np.asarray(run.momentum, float))
    own = np.asarray(run.momentum, float)[:, run.names.index(name)]
    return Measured(f"p_{name}", own, np.abs(own), np.sum(momenta, axis=1))


def _drift(one: Measured) -> Drift:
    values = np.asarray(one.values, float)
    if not len(values):
        return one.name, 0.0, 0.0
    with np.errstate(all="ignore"):
        drift = float(np.max(np.abs(values - values[0])))
    size = max(float(np.median(one.terms)), float(one.terms[0]), _ROUNDING * float(np.max(one.rounding)))
    return one.name, drift, size


def watched_drifts(run: Run) -> tuple[dict[str, float], tuple[str, ...]]:
    """The changes of the integrals that are watched, by name, and a sentence for each that changed too much."""
    reasons = [
        f"{name}, watched as conserved, changed by {drift / size if size > 0 else drift:.2g} times its size."
        for name, drift, size in run.integrals
        if not drift <= DRIFT_LIMIT * size
    ]
    return {name: drift for name, drift, _ in run.integrals}, tuple(reasons)
