r"""The error of the states of a run, estimated from the same motion with shorter steps.

A short run is done again as a whole with steps shorter by the factor \(r\), the golden ratio: the difference of the
two is \((1 - r^p)\) times the error of the coarser, p the order of the method. Half the step would not do: forces that
are periodic in the step look the same to both. Of a longer run steps that lie over its whole length are taken again
from the saved states; their errors, added up for all steps, bound what a motion accumulates that does not amplify
them. Where that bound is not small, the whole run is done again if it can be, so that a doubt is founded on the error
itself. Methods with error control are repeated with a tighter tolerance.

Shorter steps of a motion that a step does not resolve at all may be as wrong as the step. So the steps in which the
motion changes most are refined until refining changes nothing.

Errors are relative to the range of motion of each coordinate, less its uniform part, so that moved origins, boosts and
units do not count. A coordinate that hardly moves, in energy and in length, beside those that it is coupled to is
measured against these.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.motion.loops import from_states
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.colliding_bodies import CollidingBodies
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.run.known_until import growth_along
from holonomy.motion.run.range_of_motion import Scale, scale_of
from holonomy.motion.save_times import plan
from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

ERROR_LIMIT = DRIFT_LIMIT
"""Error of the state, in units of its range of motion, above which a run is doubtful."""
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
"""The ratio of shorter steps."""
_WHOLE = 1000  # steps of a run that is done again as a whole
_WHOLE_XLA = 200  # the same where steps are dear
_AT_MOST = {True: 400_000, False: 20_000}  # steps, natively and in XLA, that are done again where there is a doubt
_SELDOM = 5  # steps from one saved state to the next, above which a run
_SELDOM_AT_MOST = 20_000  # of at most so many steps is done again as a whole
_SHARE = 40  # steps for each that is taken again: with shorter ones less than a twentieth of the run
_APART = 160  # steps between the places where steps are taken again, at least
_PLACES = {True: 512, False: 8}  # such places at most, natively and in XLA
_LARGE = 128  # coordinates above which places are few
_ROUGH = 16  # more places, where the velocity is least smooth, at most
_TOGETHER = (3, 64)  # steps that are taken again at each of them
_COMPARED = 160  # saved states at which a run and its repetition are compared
_SHAPE = 33  # more states of the repetition, for the range of motion of runs with few saved states
_SHARPEST = 3  # steps in which the motion changes most, that are refined
_SHARP = 0.1  # change within a step, in units of the range of motion, above which it is refined
_FEW_ROWS = 16  # saved states, below which steps from them do not show the whole run
_AWAY = 8.0  # last places by which a start is moved where rounding is the only error
_ROUNDED = 8.0  # last places of a position that a step may round away
_FAR = 10.0  # error, in units of the limit, that is too large at a single state
_PARTS = (2, 5, 13, 34, 89)  # in which a step is taken again: numbers with no common factors


@dataclass(frozen=True)
class StateError:
    """What is known of the error of a run's states.

    **Fields:** `error`, the largest along the run in units of the range of motion, None where it is not known; `since`,
    the time from which on it is above `ERROR_LIMIT`, None where it stays below; `coordinate`, the one that is worst;
    `how` it was found, or why not; `each`, the error at the times `t`.
    """

    error: float | None
    how: str
    since: float | None = None
    coordinate: str = ""
    t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    each: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def between(self, first: float, last: float) -> StateError:
        """The error of the part of the run between two times."""
        if self.error is None or not len(self.t):
            return self
        here = (self.t >= min(first, last)) & (self.t <= max(first, last))
        before = np.flatnonzero((self.t <= first) if last >= first else (self.t >= first))
        here[before[-1:]] = True  # the last that is known before the part
        t, each = self.t[here], self.each[here]
        return replace(self, error=float(np.max(each, initial=0.0)), since=_since(each, t), t=t, each=each)


def state_error(run: Run) -> StateError:
    """The error of the states of a single run."""
    if run.whole is not None:
        return state_error(run.whole).between(float(run.t[0]), float(run.t[-1]))
    refused = refusal(run)
    if refused:
        return StateError(None, refused)
    if isinstance(run.method, EventDriven):
        # a point is held to `rounding`, and what is computed of it loses as many digits again
        lost = run.provenance.rounding**2 / float(np.finfo(float).eps)
        size = np.max(scale_of(run, np.asarray(run.t), np.asarray(run.q)).size, initial=0.0)
        return StateError(float(lost / max(size, float(np.finfo(float).tiny))), "of rounding, exact between collisions")
    again = _Again.of(run)
    if isinstance(run.method, CollidingBodies):
        return again.whole() if again.steps <= _WHOLE_XLA else _unknown(again.steps)
    short = again.steps <= (_WHOLE if again.native else _WHOLE_XLA)
    seldom = run.saved is not None or len(run.t) < min(again.steps, _FEW_ROWS)
    if again.native and again.steps > _SELDOM * len(run.t):  # what happens between saved states is not seen in them
        seldom = seldom or again.steps <= _SELDOM_AT_MOST
    if not (short or seldom):
        sampled = again.sampled()
        if sampled.error is not None and sampled.error <= ERROR_LIMIT:
            return sampled
        size = again.steps * max(run.q.shape[1], 4) / 4
        return again.whole() if size <= _AT_MOST[again.native] else sampled
    if again.steps > _AT_MOST[again.native]:
        return _unknown(again.steps)
    return _worse(again.whole(), again.sharpest())


def _unknown(steps: int) -> StateError:
    return StateError(None, f"{steps} steps are too many to be taken again, and few states of them were saved")


def refusal(run: Run) -> str:
    """Why no step of a run can be taken again; empty where steps can."""
    made = run.provenance
    if run.system is None or run.method is None:
        return "a run from a file has no system to step on with"
    if not run.result.ok:
        return "the run failed"
    if not made.simulated and made.maker != "ensemble":
        return "the states were not made by simulate"
    if not len(run.t) or not np.all(np.isfinite(np.asarray(run.q[0]))):
        return "there are no states"
    if not run.dt or len(run.t) < 2:
        return "there is a single state"
    return ""


@dataclass(frozen=True)
class _Again:
    """A run with what repeats it."""

    run: Run
    native: bool
    driver: Driver
    steps: int
    h: float

    @staticmethod
    def of(run: Run) -> _Again:
        assert run.system is not None
        assert run.method is not None
        made, method = run.provenance, run.method
        if made.fell_back:
            method = method.fallback(certain=False) or method
        native = made.engine.startswith("native")
        engine = None if native or isinstance(method, AbstractHostMethod) else "xla"
        span = float(run.t[-1]) - float(run.t[0])
        h = float(np.copysign(run.dt, span))
        steps = max(1, round(span / h))
        return _Again(run, native, Driver(run.system, method, engine, run.watched), steps, h)

    @property
    def tighter(self) -> Driver | None:
        """What moves with a tighter tolerance, None where the step decides."""
        method = self.driver.method.tighter()
        engine = None if self.native or isinstance(method, AbstractHostMethod) else "xla"
        return None if method is None else Driver(self.driver.system, method, engine, self.run.watched)

    @property
    def exact(self) -> bool:
        """Whether no step is in error but by rounding, so that shorter ones do not tell."""
        return self.driver.method.properties.to_round_off

    # ── The whole run ────────────────────────────────────────────────────────────────────────────────

    def whole(self) -> StateError:
        """From the whole run with shorter steps; of a run with few saved states both are taken again."""
        run, rows = self.run, self._compared()
        t, q, sign = np.asarray(run.t), np.asarray(run.q), np.sign(self.h)
        few = len(t) < min(self.steps, _FEW_ROWS)
        marks = t[0] + self.h * np.unique(np.linspace(1, self.steps, _COMPARED if few else _SHAPE).astype(int))
        times = sign * np.unique(sign * np.concatenate([t[rows], marks[sign * marks < sign * t[rows[-1]]]]))
        finer = "shorter steps" if self.tighter is None else "a tighter tolerance"
        finer = "a start some roundings away" if self.exact else finer
        fine = self._driven(self.tighter or self.driver, GOLDEN, times)
        if few:
            coarse, at = self._driven(self.driver, 1.0, times)[: len(fine)], times
            fine = fine[: len(coarse)]
        else:
            coarse, at = q[rows], t[rows]
        where = np.searchsorted(sign * times, sign * at[: len(coarse)])
        good = where < len(fine)
        if not np.any(good):
            return StateError(None, f"the same run with {finer} failed")
        scale = scale_of(run, np.append(t[0], times[: len(fine)]), np.concatenate([q[:1], fine]))
        apart = self._differences(coarse[good], fine[where[good]]) * self._weight(GOLDEN)
        return _judged(apart, scale, at[: len(coarse)][good], run.names, f"from the same run with {finer}", self.steps)

    def _compared(self) -> Int[np.ndarray, " rows"]:
        """Saved states at which the run is compared with its repetition; not the state at a terminal event."""
        last = len(self.run.t) - 1 - (int(self.run.result.code) == Code.event)
        return np.unique(np.linspace(min(1, last), max(last, 1), _COMPARED).astype(int))

    def _driven(self, driver: Driver, ratio: float, times: np.ndarray) -> Float[np.ndarray, "times point"]:
        """The positions at these times of the run with its step times this ratio."""
        from holonomy.motion.drive import drive
        from holonomy.motion.problem import Problem

        run = self.run
        start, end = float(run.t[0]), float(times[-1])
        rows = plan(start, end, abs(self.h) * ratio, 1, times)
        engine = None if self.native or isinstance(driver.method, AbstractHostMethod) else "xla"
        method = run.method if isinstance(run.method, CollidingBodies) else driver.method
        watched = None if not driver.watched.count else driver.watched
        most = max(1000, 2 * len(run.events))
        q, v = np.asarray(run.q[0]), np.asarray(run.v[0])
        if self.exact and ratio != 1.0:
            q, v = (x * (1.0 + _AWAY * float(np.finfo(float).eps)) for x in (q, v))
        given = (run.system, method, q, v, start, end, False, engine, run.provenance, watched, most)
        return np.asarray(drive(Problem(*given), rows, None).rows.q)  # pyright: ignore[reportArgumentType]

    # ── Some steps ───────────────────────────────────────────────────────────────────────────────────

    def sampled(self) -> StateError:
        """From steps over the whole length of the run, taken again as shorter ones."""
        run = self.run
        t = np.asarray(run.t)
        scale = scale_of(run, t, np.asarray(run.q))
        even, together = self._places()
        rough = _rough(np.asarray(run.v, float), scale, len(t) - together - 1)
        apart, good = self._several(np.concatenate([even, rough]), together)
        if not np.any(good):
            return StateError(None, "no step could be taken again")
        # each place stands for the steps up to the next; of the rough ones it is not known how far they reach
        stands_for = self.steps / (together * max(int(np.sum(good[: len(even)])), 1))
        rows = np.concatenate([even, rough])[good]
        order = np.argsort(rows, kind="stable")
        total = np.cumsum(apart[good][order], axis=0) * stands_for * _enlarged(run)
        shorter = "shorter ones" if self.tighter is None else "a tighter tolerance"
        how = f"from {together * len(rows)} of {self.steps} steps, taken again with {shorter}"
        found = _judged(total, scale, t[rows[order]], run.names, how, self.steps)
        return _worse(found, self.sharpest(scale))

    def _places(self) -> tuple[Int[np.ndarray, " places"], int]:
        """Saved states over the whole run, and how many steps are taken again from each."""
        most = _PLACES[self.native] if self.run.q.shape[1] <= _LARGE else 4
        count = int(np.clip(self.steps // _APART, 4, most))
        together = int(np.clip(self.steps // (_SHARE * count), *_TOGETHER))
        states = len(self.run.t) - together - 1 - (int(self.run.result.code) == Code.event)
        return np.unique(np.linspace(0, max(states, 0), count).astype(int)), together

    def _several(self, rows: np.ndarray, together: int) -> tuple[np.ndarray, np.ndarray]:
        """The errors of some steps from each of these saved states, and which of them are known."""
        run = self.run
        t, q = np.asarray(run.t), np.asarray(run.q)
        states = t[rows], q[rows], np.asarray(run.v)[rows]
        end, span = np.minimum(rows + together, len(t) - 1), together * self.h
        if np.all(np.abs(t[end] - t[rows] - span) < 1e-6 * abs(self.h)):  # the run has taken these steps
            coarse, good = q[end], np.ones(len(rows), bool)
        else:
            coarse, good = from_states.advanced(self.driver, *states, self.h, together)
        tighter = self.tighter
        many = round(together / GOLDEN)
        fine, reached = from_states.advanced(tighter or self.driver, *states, span / many, many)
        return self._differences(coarse, fine) * self._weight(together / many), good & reached

    def sharpest(self, scale: Scale | None = None) -> StateError | None:
        """From the steps in which the motion changes most, in ever finer parts; None where it changes little in all."""
        run = self.run
        t, q, v = (np.asarray(x) for x in (run.t, run.q, run.v))
        if scale is None:
            scale = scale_of(run, t, q)
        rows = _sharpest(run, scale, abs(self.h))
        if not len(rows) or self.tighter is not None:
            return None
        states = t[rows], q[rows], v[rows]
        coarse, good = from_states.advanced(self.driver, *states, self.h, 1)
        finest, parts, change = coarse, 1, np.inf
        for parts in _PARTS:
            finer, reached = from_states.advanced(self.driver, *states, self.h / parts, parts)
            good = good & reached
            if not np.any(good):
                return None
            now = float(np.max(self._differences(finest, finer)[good] / scale.size, initial=0.0))
            finest = finer
            if now < 0.1 * ERROR_LIMIT and now <= change and parts > _PARTS[0]:
                break
            change = now
        apart = self._differences(coarse, finest)
        return _judged(apart[good], scale, t[rows][good], run.names, f"from single steps in {parts} parts", 1)

    def _differences(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.abs(np.asarray(a, float) - np.asarray(b, float))

    def _weight(self, ratio: float) -> float:
        """The error in units of the difference from the motion with steps shorter by this ratio."""
        return (
            1.0 if self.tighter is not None or self.exact else 1.0 / (1.0 - ratio ** max(self.driver.method.order, 1))
        )


def _enlarged(run: Run) -> float:
    """By how much the motion enlarges early errors until its end, as far as that was looked at."""
    with np.errstate(over="ignore", invalid="ignore"):
        grown = growth_along(run)
    return 1.0 if grown is None or not np.isfinite(grown.factor) else max(1.0, grown.factor)


def _rough(v: np.ndarray, scale: Scale, last: int) -> Int[np.ndarray, " places"]:
    """The saved states before which the velocity is least smooth, one at most of each of many stretches of the run."""
    if last < 4 * _ROUGH:
        return np.zeros(0, int)
    with np.errstate(over="ignore", invalid="ignore"):
        bend = np.max(np.abs(v[2:] - 2.0 * v[1:-1] + v[:-2]) / scale.size, axis=1)
    bend = np.nan_to_num(bend[: last - 1], nan=0.0)
    stretch = len(bend) // (4 * _ROUGH)
    if not stretch:
        return np.zeros(0, int)
    blocks = bend[: 4 * _ROUGH * stretch].reshape(4 * _ROUGH, stretch)
    roughest = np.argsort(np.max(blocks, axis=1))[-_ROUGH:]
    return np.sort(roughest * stretch + np.argmax(blocks[roughest], axis=1))


def _sharpest(run: Run, scale: Scale, h: float) -> Int[np.ndarray, " places"]:
    """The saved states after which the motion changes most within a step, where that is no small change."""
    t, q, v = (np.asarray(x, float) for x in (run.t, run.q, run.v))
    gaps = np.abs(np.diff(t))
    with np.errstate(over="ignore", invalid="ignore"):
        change = np.abs(np.diff(v, axis=0)) * h + np.maximum(
            np.abs(np.diff(q, axis=0)) - np.abs(v[:-1]) * gaps[:, None], 0.0
        )
        change = np.max(change / scale.size, axis=1) / np.maximum(gaps / h, 1.0)
    some = np.argsort(np.nan_to_num(change, nan=-1.0))[-_SHARPEST:]
    return some[change[some] > _SHARP]


def _judged(
    apart: Float[np.ndarray, "times point"], scale: Scale, t: np.ndarray, names: tuple[str, ...], how: str, steps: int
) -> StateError:
    """The largest error of these, in units of the range of motion, and from when on it is too large.

    It is at least what the rounding of the positions at each of so many steps makes of it.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        relative = np.nan_to_num(apart / scale.size, nan=np.inf)
    relative = np.where(apart <= scale.rounding, 0.0, relative)
    relative = np.maximum(relative, _ROUNDED * np.sqrt(steps) * scale.place)
    each = np.max(relative, axis=1, initial=0.0)
    worst = int(np.argmax(np.max(relative, axis=0, initial=0.0)))
    name = names[worst] if worst < len(names) else ""
    return StateError(float(np.max(each, initial=0.0)), how, _since(each, t), name, t, each)


def _worse(found: StateError, sharpest: StateError | None) -> StateError:
    """What both say: a single step that is far off is reason enough, one that is not counts for the error alone."""
    if sharpest is None or found.error is None or (sharpest.error or 0.0) <= found.error:
        return found
    return sharpest if (sharpest.error or 0.0) > _FAR * ERROR_LIMIT else replace(found, error=sharpest.error)


def _since(each: Float[np.ndarray, " times"], t: Float[np.ndarray, " times"]) -> float | None:
    """From when on errors are too large: at two states in a row, at the last one, or by far at any.

    A fast transient that dies out within a step is off in a state or two, and the motion after it is right.
    """
    above = each > ERROR_LIMIT
    lasting = above & np.append(above[1:], True)
    found = np.flatnonzero(lasting | (each > _FAR * ERROR_LIMIT))
    return float(t[found[0]]) if len(found) else None
