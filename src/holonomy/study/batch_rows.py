"""The rows of a batch: members that ran alone put together, members that stopped early ended with NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.motion.events.event_log import Events
from holonomy.motion.initial_place import too_few_digits
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.problem import Problem
from holonomy.motion.run.result import Result
from holonomy.motion.run.run import Run
from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.systems.replace import replace
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray, Tree

COLUMNS = ("q", "v", "energy", "momentum", "pull", "multipliers", "violation")
_RECORDS = ("t", "q", "v_before", "v_after")

Members = Int[np.ndarray, " some"]


def blanked(x: np.ndarray, good: Bool[np.ndarray, "members rows"]) -> np.ndarray:
    """The rows that are good, the others NaN."""
    return np.where(good.reshape(good.shape + (1,) * (x.ndim - 2)), x, np.nan)


def padded(x: np.ndarray, rows: int) -> np.ndarray:
    """With rows of NaN that no member reached."""
    missing = rows - x.shape[1]
    if missing <= 0:
        return x
    return np.concatenate([x, np.full((x.shape[0], missing, *x.shape[2:]), np.nan)], axis=1)


def shared(
    system: System, given: Problem, count: int, batched: Mapping[str, AnyArray]
) -> tuple[System, AbstractMethod]:
    """The system and the method as after `jax.vmap`: every number has an axis of members, those that they share
    without a copy."""
    both = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))), (system, given.method))
    return replace(both[0], parameters=Parameters({**both[0].parameters, **batched})), both[1]


def gathered(
    given: Problem, times: Float[np.ndarray, " times"], alone: Sequence[Run], batched: Mapping[str, AnyArray]
) -> Run:
    """The batch of members that ran one by one, with the times of their plan."""
    rows = len(times)
    columns = {name: np.stack([padded(_column(one, name), rows)[0] for one in alone]) for name in COLUMNS}
    first, count = alone[0], len(alone)
    happened = None if first.happened is None else _events([one.events for one in alone])
    made = replace(
        given.provenance,
        engine=first.provenance.engine,
        dt=first.provenance.dt,
        rounding=max(one.provenance.rounding for one in alone),
        fell_back=any(one.provenance.fell_back for one in alone),
        members=count,
        maker="ensemble",
    )
    work = np.array([int(one.work) for one in alone])
    batch = replace(first, t=np.broadcast_to(times, (count, rows)), result=_results(alone), work=work, provenance=made)
    system, method = shared(given.system, given, count, batched)
    return replace(batch, happened=happened, system=system, method=method, **columns)


def replaced(batch: Run, which: Members, alone: Sequence[Run]) -> Run:
    """The batch with the rows and results of some members taken from runs of their own."""
    rows = np.shape(batch.t)[1]
    columns = {name: np.array(getattr(batch, name)) for name in COLUMNS}
    for k, one in zip(which, alone, strict=True):
        for name, column in columns.items():
            column[k] = padded(_column(one, name), rows)[0]
    own, new = batch.result, _results(alone)
    fields = {name: np.array(getattr(own, name)) for name in ("code", "t", "steps", "differentiable")}
    for name, column in fields.items():
        column[which] = getattr(new, name)
    work = np.array(batch.work)
    work[which] = [int(one.work) for one in alone]
    fell_back = any(one.provenance.fell_back for one in alone)
    made = replace(batch.provenance, fell_back=batch.provenance.fell_back or fell_back)
    return replace(batch, result=Result(**fields), work=work, provenance=made, **columns)


def _column(run: Run, name: str) -> np.ndarray:
    return np.asarray(getattr(run, name))[None]


def _results(alone: Sequence[Run]) -> Result:
    names = ("code", "t", "steps", "differentiable")
    return Result(**{name: np.array([getattr(one.result, name) for one in alone]) for name in names})


def _events(each: Sequence[Events]) -> Events:
    """The records of several runs, with as many rows as the longest has: those after the last are NaN."""
    called = tuple(dict.fromkeys(name for one in each for name in one.names))
    number = {name: k for k, name in enumerate(called)}
    most = max(len(one) for one in each)
    columns = {name: np.stack([padded(np.asarray(getattr(one, name), float)[None], most)[0] for one in each])
               for name in _RECORDS}  # fmt: skip
    which = np.full((len(each), most), -1)
    for row, one in zip(which, each, strict=True):
        row[: len(one)] = [number[one.names[int(k)]] for k in one.which]
    return Events(which=which, count=np.array([len(one) for one in each]), names=called, **columns)


def while_energy_is_finite(times: AnyArray, energy: AnyArray, rows: Tree, result: Result) -> tuple[Tree, Result]:
    """The rows of each member before the first without a finite energy, and results that say so."""
    lost = np.logical_or.accumulate(~np.isfinite(np.asarray(energy)), axis=1)
    lost &= (np.asarray(result.code) == Code.ok)[:, None]  # others say already why they stopped
    return _until(times, lost, Code.not_finite, rows, result)


def while_near(batch: Run, system: System) -> Run:
    """The rows of each member before the first whose point its array does not hold to enough digits, results that say
    so, and how far storing points may have moved one of the others."""
    if system.flat:
        return batch
    roundings = np.asarray(_roundings(system, np.asarray(batch.q)))
    lost = np.logical_or.accumulate(roundings > too_few_digits(np.asarray(batch.q).dtype), axis=1)
    rows, result = _until(batch.t, lost, Code.too_far, {n: getattr(batch, n) for n in COLUMNS}, batch.result)
    most = float(np.max(np.where(lost | np.isnan(roundings), 0.0, roundings), initial=0.0))
    made = replace(batch.provenance, rounding=max(batch.provenance.rounding, most))
    return replace(batch, result=result, provenance=made, **rows)


@eqx.filter_jit
def _roundings(system: System, q: Any) -> Any:
    return jax.vmap(jax.vmap(system.space.rounding))(q)


def _until(times: AnyArray, lost: AnyArray, code: Code, rows: Tree, result: Result) -> tuple[Tree, Result]:
    """The rows before the first that is lost; members with such rows get the code and its time."""
    lost = np.asarray(lost)
    codes, stopped, failed = np.asarray(result.code), np.asarray(result.t), lost[:, -1]
    if not np.any(failed):
        return rows, result
    first = np.take_along_axis(np.asarray(times), np.argmax(lost, axis=1)[:, None], axis=1)[:, 0]
    codes = np.where(failed, np.int32(code), codes)
    blank = jax.tree.map(lambda x: blanked(np.asarray(x), ~lost), rows)
    return blank, replace(result, code=codes, t=np.where(failed, first, stopped))
