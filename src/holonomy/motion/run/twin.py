"""A second motion that starts a little beside a run, and how far apart the two are: the growth of a small error.

Both are taken by the compiled steps of the run. The twin starts 1e-8 of the size of the motion beside it; where the two
have come too far apart for a linear law, it is brought back along the line between them, as for Lyapunov exponents
(Benettin, Galgani, Giorgilli, Strelcyn, *Meccanica* 15 (1980) 9), and the factor is remembered.

Small errors need no small steps: the twin is compared with a motion that takes the same steps, several times as long as
those of the run where the run shows that these are short enough. How far that motion leaves the states of the run is
the error of the long steps, and with the order of the method that of the short ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from holonomy.motion.loops import pieces
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.gauss import Gauss
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import AbstractSplitting
from holonomy.motion.save_times import plan

if TYPE_CHECKING:
    from holonomy.motion.methods.base import AbstractMethod
    from holonomy.motion.run.run import Run

_BESIDE = 1e-8  # distance of the twin, in sizes of the motion
_APART = 1e-4  # distance up to which the law is taken for linear
_OFF = 1e-3  # distance of the motion with long steps from the run, above which these are too long
_WELL = 1e-3  # of that distance, below which still longer steps are tried
_LOOKS = 64  # rows that are compared in one stretch
_FEWEST = 8  # rows that long steps must stay with the run
_SHARE = 0.25  # of the steps that are left, which one stretch takes at most
_LEAST_STEPS = 64  # long steps that must stay with the run, so that not too many stretches are short
_DIRECTIONS = 2  # in which the first twins start
_LONGEST = 64  # steps of the run in one of the pair, of methods of order 4 and more; a quarter for others
_ROUNDINGS = 1e3  # the first distance, in roundings, at least
_DIGITS = 16.0  # iterations of an implicit step gain all digits; the contraction that follows
_SLOW = 0.3  # contraction of iterations up to which long steps are tried
_EVENTS = 100  # more than twice those of the run that the twin may meet, which would else bounce on what the run rests
_JUMP = 100.0  # velocities that differ so much more than positions are those before and after an impact


class Sizes(NamedTuple):
    """The sizes of positions and velocities, and the largest numbers that hold them, by coordinates."""

    q: np.ndarray
    v: np.ndarray
    held_q: np.ndarray
    held_v: np.ndarray


@dataclass
class Path:
    """Times, and there the `growth` of a unit error of the numbers that hold the first state, in sizes of the motion;
    `whole`, the same with velocities; `method`, the error of the method. `reached` says that this is the whole run,
    `too_far_apart` that errors grow too much from one row to the next to be followed."""

    begin: float = 0.0
    t: list[float] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    method: list[float] = field(default_factory=list)
    steps: int = 0
    reached: bool = False
    too_far_apart: bool = False
    knows_method: bool = True


Beside: TypeAlias = tuple[np.ndarray, np.ndarray]
"""A displacement and the change of the velocity that belongs to it."""


Rows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Times, positions and velocities."""


class Pair:
    """Motions by the compiled steps of a run."""

    def __init__(self, run: Run, method: AbstractMethod):
        assert run.system is not None
        self.system, self.method, self.watched = run.system, method, run.watched
        self.engine = None if run.provenance.engine.startswith("native") else "xla"
        self.dt = abs(run.dt)
        self._drivers: dict[bool, Driver] = {}
        self.most = _EVENTS + 2 * (len(run.events) if run.happened is not None else 0)
        self.dtype = np.asarray(run.q).dtype
        self.longest = _longest(run, method)
        self.compensates = isinstance(method, Gauss | Rattle | AbstractSplitting)

    def moved(
        self, t: float, q: np.ndarray, v: np.ndarray, times: np.ndarray, m: float, *, tighter: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states at these times, as far as they are good, by steps m times as long as those of the run."""
        driver = self._drivers.get(tighter)
        if driver is None or driver.eventful:  # which remembers what happened
            method = (self.method.tighter() if tighter else None) or self.method
            self._drivers[tighter] = driver = Driver(
                self.system, method, self.engine, self.watched, max_events=self.most, falls_back=False
            )
        rows = plan(t, float(times[-1]), m * self.dt, 1, times)
        places, rates = [q[None][:0]], [v[None][:0]]
        with np.errstate(all="ignore"):
            now = driver.start(t, q, v)
            for counts, rests, wanted in pieces.cut(rows, driver.system):
                now, shots, done = driver.rows(now, rows.t0, rows.dt, counts, rests)
                good = wanted[:done]
                places.append(np.asarray(shots.q)[:done][good])
                rates.append(np.asarray(shots.v)[:done][good])
                if done < len(counts):
                    break
        return np.concatenate(places), np.concatenate(rates)

    def rows(self, t: float, q: np.ndarray, v: np.ndarray, end: float, count: int) -> Rows:
        """The motion of the run again, at so many of its steps from t to the end."""
        h = float(np.copysign(self.dt, end - t))
        steps = max(1, round((end - t) / h))
        times = t + h * np.unique(np.linspace(0, steps, count + 1).astype(np.int64))[1:]
        places, rates = self.moved(t, q, v, times, 1.0)
        kept = times[: len(places)]
        return np.append(t, kept), np.concatenate([q[None], places]), np.concatenate([v[None], rates])

    def on_space(self, t: float, q: np.ndarray, v: np.ndarray, dq: np.ndarray, dv: np.ndarray) -> Beside:
        """The same as seen from q, v, where the state beside it is moved onto the space and the constraints."""
        near_q, near_v = q + dq, v + dv
        if not self.system.flat:
            near_q = np.asarray(self.system.space.project(near_q))
            near_v = np.asarray(self.system.space.tangent(near_q, near_v))
        if self.system.constraints.equations.total:
            near_q, near_v = (np.asarray(x) for x in self.system.project(t, near_q, near_v))
        return near_q - q, near_v - v


def _longest(run: Run, method: AbstractMethod) -> int:
    """How many steps of the run one step of the pair is to span at first."""
    made = run.provenance
    if made.variable_step or made.fell_back or method.order < 2:
        return 1
    rate = 10.0 ** (-_DIGITS / max(run.work / max(int(run.result.steps), 1), 1e-9)) if run.work else 0.0
    m = _LONGEST if method.order >= 4 else _LONGEST // 4
    while m > 2 and m * rate > _SLOW:
        m //= 2
    return m


class Follower:
    """The path of a small error along rows of a run: times, positions, velocities."""

    def __init__(self, pair: Pair, rows: Rows, sizes: Sizes):
        self._pair, self._sizes = pair, sizes
        self._t, self._q, self._v = rows
        self._order, self._m = pair.method.order, pair.longest
        self._k, self._last = 0, len(self._t) - 1
        self._stride = max(1, self._last // (8 * _LOOKS))
        self._starts, self._scale = self._first()
        self._error = 0.0
        self.path = Path(float(self._t[0]), knows_method=self._m > 1)

    def follow(self, budget: int, stop: float, *, until: float | None = None) -> Path:
        """The path, further than before, until the error of rounding or of the method is `stop`, or so many steps have
        been taken; with `until`, whatever the error of the method is, to that time at least.
        """
        path, eps = self.path, float(np.finfo(self._q.dtype).eps)
        while self._k < self._last:
            error = path.growth[-1] * eps if path.t else 0.0
            if until is not None and path.t and abs(path.t[-1] - path.begin) >= abs(until - path.begin):
                return path
            error = max(error, path.method[-1]) if path.t and until is None else error
            if error > stop or not self._stretch(budget):
                return path
        path.reached = True
        return path

    def _stretch(self, budget: int) -> bool:
        """One stretch further, or the same with other steps or rows; False where that is not possible."""
        t, q, v, k, m = self._t, self._q, self._v, self._k, self._m
        at = np.unique(np.minimum(k + self._stride * np.arange(1, _LOOKS + 1), self._last))
        cost = (len(self._starts) + (m > 1)) * np.abs(t[at] - t[k]) / (m * self._pair.dt)
        spend = budget - self.path.steps  # a part of it, so that other steps can be tried when these are too long
        spend = min(spend, max(_SHARE * spend, float(cost[min(_FEWEST, len(cost)) - 1])))
        at = at[: int(np.searchsorted(cost, spend, side="right"))]
        if not len(at):
            return False
        self.path.steps += int(cost[len(at) - 1])
        places, rates = (q[at], v[at]) if m == 1 else self._pair.moved(t[k], q[k], v[k], t[at], float(m))
        off = _distance(places, q[at[: len(places)]], self._sizes.q)
        good = _leading(off < _OFF)
        if m > 1 and good < min(_FEWEST, len(at)):
            self._m //= 2
            self.path.knows_method = self._m > 1
            self._stride = self._stride if good else max(1, self._stride // 4)
            return True
        twins = [self._pair.moved(t[k], q[k] + dq, v[k] + dv, t[at[:good]], float(m)) for dq, dv in self._starts]
        good = min(good, *(len(x) for x, _ in twins))
        apart = [_distance(x[:good], places[:good], self._sizes.q) for x, _ in twins]
        widest = max(range(len(twins)), key=lambda i: float(np.max(apart[i], initial=0.0)))
        near = _leading(apart[widest] < _APART)
        if not near:
            self.path.too_far_apart = self._stride == 1
            self._stride = max(1, self._stride // 4)
            return not self.path.too_far_apart
        x, w = (rows[:near] - of[:near] for rows, of in zip(twins[widest], (places, rates), strict=True))
        ratio = 1.0 / (float(m) ** self._order - 1.0) if m > 1 else 0.0
        behind = (ratio * (places[:near] - q[at[:near]]), ratio * (rates[:near] - v[at[:near]]))
        self._take(at[:near], (x, w), behind, self._starts[widest])
        short = abs(t[at[good - 1]] - t[k]) < _LEAST_STEPS * m * self._pair.dt
        if m > 2 and good < len(at) and short:
            self._m //= 2
        elif near == len(at):
            self._stride *= 4
            if m < self._pair.longest and np.max(off) < _WELL * _OFF:
                self._m = 2 * max(m, 2)
        elif near < _LOOKS // 2:
            self._stride = max(1, self._stride * (near + _FEWEST) // _LOOKS)
        return True

    def _take(self, at: np.ndarray, beside: Beside, behind: Beside, start: Beside) -> None:
        """Write down how far the twin was beside the motion, and the run behind the exact one, since the last row, and
        begin again near the last of these rows.
        """
        path, sizes, (x, w) = self.path, self._sizes, beside
        apart, faster = _largest(x, sizes.q), _largest(w, sizes.v)
        begun = max(float(_largest(start[0], sizes.q)), float(_largest(start[1], sizes.v)))
        error = self._error * apart / begun + _largest(behind[0], sizes.q)
        settled = np.flatnonzero(faster <= _JUMP * apart)
        j = int(settled[-1]) if len(settled) else len(at) - 1
        path.t += [float(s) for s in self._t[at[: j + 1]]]
        path.growth += [float(a) for a in self._scale * apart[: j + 1]]
        path.whole += [float(a) for a in self._scale * np.maximum(apart, faster)[: j + 1]]
        path.method += [float(e) for e in error[: j + 1]]
        wide = max(float(apart[j]), float(faster[j]), 1e-300)
        self._starts = [(x[j] * (_BESIDE / wide), w[j] * (_BESIDE / wide))]
        gone = max(float(_largest(behind[0][j], sizes.q)), float(_largest(behind[1][j], sizes.v)))
        self._error = self._error * wide / begun + gone
        self._scale, self._k = self._scale * wide / _BESIDE, int(at[j])

    def _first(self) -> tuple[list[Beside], float]:
        """Some directions of roundings of the first state, made longer by a factor, and one over that factor."""
        sizes, eps = self._sizes, float(np.finfo(self._q.dtype).eps)
        held_q, held_v = np.maximum(sizes.held_q, sizes.q), np.maximum(sizes.held_v, sizes.v)
        rough = max(float(np.max(held_q / sizes.q)), float(np.max(held_v / sizes.v)))
        factor = max(_BESIDE / rough, _ROUNDINGS * eps)
        rng = np.random.default_rng(7)
        starts = []
        for _ in range(_DIRECTIONS):
            dq, dv = (
                factor * held * rng.choice([-1.0, 1.0], held.shape) * rng.uniform(0.5, 1.0, held.shape)
                for held in (held_q, held_v)
            )
            starts.append(self._pair.on_space(float(self._t[0]), self._q[0], self._v[0], dq, dv))
        return starts, 1.0 / factor


def by_half_steps(pair: Pair, rows: Rows, sizes: Sizes, budget: int, stop: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and there the error of a run in sizes of the motion, from the same motion by half steps or a tighter
    tolerance, until the error is `stop` or so many steps have been taken.
    """
    (t, q, v), k, taken = rows, 0, 0
    tighter = pair.method.tighter() is not None
    m, ratio = (1.0, 1.0) if tighter else (0.5, 1.0 / (1.0 - 0.5**pair.method.order))
    place, rate, found = q[0], v[0], [np.zeros(0)]
    stride = max(1, (len(t) - 1) // (8 * _LOOKS))
    seen: list[np.ndarray] = [np.zeros(0, int)]
    while k < len(t) - 1:
        at = np.unique(np.minimum(k + stride * np.arange(1, _LOOKS + 1), len(t) - 1))
        taken += int(abs(t[at[-1]] - t[k]) / (m * pair.dt))
        if taken > budget:
            break
        places, rates = pair.moved(t[k], place, rate, t[at], m, tighter=tighter)
        found.append(ratio * _distance(places, q[at[: len(places)]], sizes.q))
        seen.append(at[: len(places)])
        if len(places) < len(at) or not np.max(found[-1]) <= stop:
            break
        k, place, rate, stride = int(at[-1]), places[-1], rates[-1], 2 * stride
    return t[np.concatenate(seen)], np.concatenate(found)


def _distance(rows: np.ndarray, of: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return _largest(rows - of[: len(rows)], sizes)


def _largest(gaps: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The largest component, in units of its size; of a row that is not finite infinity."""
    found = np.max(np.abs(gaps) / sizes, axis=-1, initial=0.0)
    return np.where(np.isfinite(found), found, np.inf)


def _leading(good: np.ndarray) -> int:
    """How many are true before the first that is not."""
    return len(good) if np.all(good) else int(np.argmin(good))
