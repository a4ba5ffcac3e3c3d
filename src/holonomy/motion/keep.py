"""What a run keeps at its saved times where `save` asks for less than whole states, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import jax
import numpy as np

from holonomy.motion.drive import Driven, ProgressBar, Rows, drive
from holonomy.motion.loops.plain import Snapshot
from holonomy.motion.problem import Problem
from holonomy.motion.run import build
from holonomy.motion.run.result import Result
from holonomy.motion.run.run import Run
from holonomy.motion.run.saved import Saved
from holonomy.motion.save_times import Plan, refuse_beyond_memory
from holonomy.systems.parameters import Parameters
from holonomy.systems.result_code import Code
from holonomy.systems.tracing import Frame
from holonomy.trace.function import Function
from holonomy.trace.native.engine import Engine
from holonomy.types import AnyArray, ArrayFunction

Wanted: TypeAlias = str | ArrayFunction | Sequence[object] | Mapping[Any, object]
"""A name that `run[name]` knows, several, a function of (t, q, v), or any of these by names of the user's own;
anything else in them is refused with a sentence."""

_ALONE: Final = "value"
"""The name of a function that has none."""


class Keeper(Rows):
    """Takes the rows of a run piece by piece, and keeps the values that are wanted and the first and the last state."""

    def __init__(self, problem: Problem, wanted: Wanted, rows: Plan):
        super().__init__()
        self._problem, self._dt = problem, rows.dt
        self._values = {name: self._reader(name, what) for name, what in _by_name(wanted).items()}
        self._saved: list[Saved] = []
        self._ends: list[tuple[np.ndarray, Snapshot]] = []
        one = jax.tree.map(lambda x: np.asarray(x)[None], (problem.q0, problem.v0))
        numbers = sum(np.size(value) for value in self._of(np.array([rows.t0]), _at_rest(*one)).values())
        refuse_beyond_memory(rows, numbers + 4, vectors=1)

    def add(self, times: np.ndarray, rows: Snapshot) -> None:
        """Take the rows at these times, which follow those before them."""
        if not len(times):
            return
        every = rows.columns()
        energy, violation = np.asarray(every["energy"]), np.asarray(every["violation"])
        self._saved.append(Saved(times, self._of(times, rows), energy, violation))
        for place in (slice(0, 1), slice(len(times) - 1, None)):
            end = times[place], jax.tree.map(lambda column, place=place: column[place], rows)
            self._ends = [*self._ends[:1], end] if not self._ends or end[0] != self._ends[0][0] else self._ends

    def states(self) -> tuple[np.ndarray, Snapshot] | None:
        """The first and the last state."""
        if not self._ends:
            return None
        times, rows = zip(*self._ends, strict=True)
        return np.concatenate(times), jax.tree.map(lambda *parts: np.concatenate(parts), *rows)

    def saved(self) -> Saved | None:
        """The values of all rows."""
        if not self._saved:
            return None
        t, energy, violation = (
            np.concatenate([np.asarray(getattr(part, name)) for part in self._saved])
            for name in ("t", "energy", "violation")
        )
        values = {name: np.concatenate([part[name] for part in self._saved]) for name in self._values}
        return Saved(t, values, energy, violation)

    def _of(self, times: np.ndarray, rows: Snapshot) -> dict[str, np.ndarray]:
        """The values in these rows, which for the time being are a run of their own."""
        part = build.of_problem(self._problem, times, rows, Result(int(Code.ok), float(times[-1]), 0), 0, self._dt)
        found = {name: np.asarray(value(part)) for name, value in self._values.items()}
        for name, value in found.items():
            if value.shape[:1] != times.shape:
                raise ValueError(f"save: {name!r} has no value for each time.")
        return found

    def _reader(self, name: str, what: Any) -> Callable[[Run], AnyArray]:
        if isinstance(what, str):
            return lambda run: run[what]
        if not callable(what):
            raise ValueError(f"save takes names of variables and functions of (t, q, v); got {what!r}.")
        system = self._problem.system
        frame = Frame(system.coordinates, system.parameters, system.space, system.parametric)
        given = frame.given(frame.of_state(cast("ArrayFunction", what)), velocity=True)
        function = frame.trace(f"function {name!r} of save", given, frame.example(velocity=True))[0]
        engine = Engine("xla")

        def values(run: Run) -> AnyArray:
            count = len(run.t)
            # rows more, so that few sizes are compiled
            rows = np.minimum(np.arange(1 << (count - 1).bit_length()), count - 1)
            state = run.t[rows], run.q[rows], run.v[rows]
            return np.asarray(engine.call(_in_rows, function, system.last, *state))[:count]

        return values


def driven(problem: Problem, rows: Plan, progress: bool | ProgressBar | None, wanted: Wanted | None) -> Driven:
    """The plan carried out, with whole states or what is wanted of them."""
    return drive(problem, rows, progress, None if wanted is None else Keeper(problem, wanted, rows))


def _by_name(wanted: Any) -> dict[str, Any]:
    if isinstance(wanted, str):
        return {wanted: wanted}
    if isinstance(wanted, Mapping):
        found = dict(wanted)
    elif isinstance(wanted, Sequence):
        found = {what if isinstance(what, str) else getattr(what, "__name__", _ALONE): what for what in wanted}
    else:
        found = {getattr(wanted, "__name__", _ALONE) if callable(wanted) else _ALONE: wanted}
    if not found or not all(isinstance(name, str) for name in found):
        raise ValueError(f"save takes a name, a function of (t, q, v), or several by name; got {wanted!r}.")
    return found


def _in_rows(function: Function, parameters: tuple[Parameters, ...], t: Any, q: Any, v: Any) -> Any:
    """The function in each row."""
    return jax.vmap(lambda *state: function(*state, *parameters))(t, q, v)


def _at_rest(q: np.ndarray, v: np.ndarray) -> Snapshot:
    """A row of this state, with zeros for what is not known of it."""
    return Snapshot(q, v, np.zeros(1), np.zeros_like(v), np.zeros_like(v))
