"""What runs `Taylor`: heyoka's integrator in place of compiled loops."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from holonomy.extras import require
from holonomy.motion.events import taylor_events
from holonomy.motion.loops import pieces, plain, with_events
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import PositionVelocity
from holonomy.motion.methods.taylor_form import motion_of
from holonomy.systems import System
from holonomy.systems.result_code import Code
from holonomy.types import Tree, Whole

if TYPE_CHECKING:
    from holonomy.motion.methods.taylor import Taylor

_STEPS_A_ROW = 1_000_000  # of heyoka between two saved times at most


class Heyoka:
    """Runs the loops of `loops.plain` and `loops.with_events` for `Taylor`: same arguments, same results."""

    name = "heyoka"
    refusal = ""

    def __init__(self, system: System, method: Taylor, wanted: str | None):
        if wanted is not None:
            raise ValueError(f"Taylor runs on heyoka alone; leave out engine=, or use another method. Got {wanted!r}.")
        require("taylor", "hl.Taylor", "without it, hl.Gauss(3) with a small dt comes close to round-off")
        if not system.flat:
            raise ValueError(
                f"Taylor works in coordinates, and points of {system.space} are arrays without coordinates of their "
                "own. Use hl.Gauss(3), or describe the system in coordinates."
            )
        self._looks = engine_for(system, method, None)
        motion, constants = motion_of(system)
        self._integrator = motion.integrator(method.tol, constants)
        weakref.finalize(self, motion.give_back, method.tol, self._integrator)
        self._at: tuple[float, np.ndarray] | None = None

    def call(
        self, function: Callable[..., Tree], *args: Tree, seldom: bool = False, steps: Whole | None = None
    ) -> Tree:
        """`plain.begin` and `plain.chunk`, on the host."""
        del seldom, steps  # nothing is compiled here
        if function is plain.begin:
            *_, q, v = args
            here: Any = (np.asarray(q, float), np.asarray(v, float))  # the host's arrays are NumPy's
            state = PositionVelocity(*here)
            return plain.Progress(state, np.int64(0), np.int32(Code.ok), np.int64(0), np.int32(0))
        if function is plain.chunk:
            return self._chunk(*args)
        if function is with_events.begin:
            system, watched, _, *start = args
            now = self._looks.call(with_events.begin, system, watched, taylor_events.STANDING_IN, *start)
            return now._replace(code=np.int32(Code.no_contact)) if np.any(now.base.touch.active) else now
        if function is with_events.chunk:
            system, watched, _, *rest = args
            return taylor_events.chunk(self._integrator, self._looks, system, watched, *rest)
        return self._looks.call(function, *args)

    def _chunk(
        self,
        system: System,
        method: Taylor,
        now: plain.Progress,
        t0: Any,
        dt: Any,
        counts: np.ndarray,
        rests: np.ndarray,
        rows: Any,
    ) -> tuple[plain.Progress, plain.Snapshot, int]:
        rows = int(rows)
        marks = int(now.index) + np.cumsum(counts[:rows])
        times = t0 + marks * dt + rests[:rows]
        # The grid of whole steps goes on from its own last point where the last row looked a little ahead of it.
        stops = np.append(times, t0 + marks[-1] * dt)
        way, place = np.unique(np.sign(dt) * stops, return_inverse=True)
        known, steps, code = self._states(float(t0 + int(now.index) * dt), np.concatenate(now.state), np.sign(dt) * way)
        states = np.full((len(way), known.shape[1]), np.nan)
        states[: len(known)] = known
        found = states[place]
        reached: Any = np.isfinite(found).all(axis=1)
        good = len(times) if code == Code.ok else int(np.argmin(reached[:-1])) if not reached[:-1].all() else len(times)
        index = marks[-1] if reached[-1] else marks[good - 1] if good else int(now.index)
        n = found.shape[1] // 2
        end = found[-1] if reached[-1] else None
        progress = plain.Progress(
            now.state if end is None else PositionVelocity(end[:n], end[n:]),
            np.int64(index),
            np.int32(code),
            np.int64(now.work + steps),
            np.int32(max(int(now.worst), steps)),
        )
        return progress, self._snapshots(system, method, times[:good], found[:good]), good

    def _states(self, t: float, start: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, int, int]:
        """States at increasingly distant stops as far as the motion gets, steps taken, and the code."""
        parts = [start[None, :]] if stops[0] == t else []
        ahead = stops[len(parts) :]
        if len(ahead) == 0:
            return parts[0], 0, int(Code.ok)
        ta, taken, code = self._integrator, 0, int(Code.ok)
        if self._at is None or self._at[0] != t or not np.array_equal(self._at[1], start):
            ta.time, ta.state[:] = t, start
            first = t + np.sign(ahead[-1] - t) * taylor_events.first_step(ta)
            near = ahead[np.abs(ahead - t) < np.abs(first - t)]
            if len(near) < len(ahead):
                states, taken, code = self._grid(np.append(near, first), float(np.abs(first - t)))
                parts.append(states[: len(near)])
                ahead = ahead[len(near) :]
        if code == Code.ok:
            states, steps, code = self._grid(ahead, np.inf)
            parts.append(states)
            taken += steps
        self._at = (ta.time, ta.state.copy())
        return np.concatenate(parts), taken, code

    def _grid(self, stops: np.ndarray, longest: float) -> tuple[np.ndarray, int, int]:
        ta = self._integrator
        grid = np.append(ta.time, stops)  # heyoka's grid begins at the present
        outcome, _, _, steps, _, states = ta.propagate_grid(
            grid, max_delta_t=longest, max_steps=_STEPS_A_ROW * len(stops)
        )
        return states[1:], steps, taylor_events.code(outcome)

    def _snapshots(self, system: System, method: Taylor, times: np.ndarray, states: np.ndarray) -> plain.Snapshot:
        n = states.shape[1] // 2
        kept = len(times)
        if kept == 0:
            times, states = np.zeros(1), np.zeros((1, 2 * n))
        short = ((0, pieces.ROWS - len(times)), (0, 0))
        q, v = np.pad(states[:, :n], short, mode="edge"), np.pad(states[:, n:], short, mode="edge")
        shots = self._looks.call(_looks, system, method, np.pad(times, short[0], mode="edge"), q, v)
        return jax.tree.map(lambda x: np.asarray(x)[:kept], shots)


def _looks(system: System, method: Taylor, times: Any, points: Any, speeds: Any) -> plain.Snapshot:
    return jax.lax.map(
        lambda row: plain.look(system, method, row[0], PositionVelocity(row[1], row[2])), (times, points, speeds)
    )
