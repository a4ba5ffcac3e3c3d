"""Events along a motion by Taylor series: each step's own series is followed to the event."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import jax
import numpy as np

from holonomy.motion.events import event_log, locate
from holonomy.motion.events.event import Watched
from holonomy.motion.events.locate import Goal, Setting
from holonomy.motion.loops import plain, with_events
from holonomy.motion.methods.base import PositionVelocity, Status
from holonomy.motion.methods.explicit import RK4
from holonomy.systems import System
from holonomy.systems.result_code import Code
from holonomy.trace.native.engine import Engine
from holonomy.types import Whole

# Objects of heyoka, which has no types: the integrator of a system, and how a step of it ended.
Integrator: TypeAlias = Any
Outcome: TypeAlias = Any

# Has the same states, (q, v); only reads and starts them, since steps are heyoka's.
STANDING_IN = RK4()
_ORDERS_SEEN = 8  # last orders of a series that judge its radius; symmetry may leave one in four, see `first_step`


def chunk(
    ta: Integrator,
    engine: Engine,
    system: System,
    watched: Watched,
    now: with_events.Progress,
    t0: np.floating,
    dt: np.floating,
    counts: np.ndarray,
    rests: np.ndarray,
    rows: Whole,
) -> tuple[with_events.Progress, plain.Snapshot, int]:
    """As `with_events.chunk`, with steps of the integrator `ta`; trials are values of the last step's series."""
    setting = Setting(system, watched, STANDING_IN, t0, dt)
    room = event_log.CAPACITY - setting.labels
    shots, k = [], 0
    covered = 0.0  # how far the last step's series reaches from the base; none yet
    while k < int(rows):
        last, rest = int(now.index) + int(counts[k]), abs(float(rests[k]))
        while _open(now, room) and (int(now.index) < last or float(now.base.past) < rest):
            whole = int(now.index) < last
            goal = Goal(np.float64(abs(dt) if whole else rest), np.bool_(whole))
            left = float(goal.length - now.base.past)
            if covered == 0.0:
                covered, code_ = _step(ta, setting, now, left)
                if code_ != Code.ok:
                    now = now._replace(code=np.int32(code_))
                    break
            length = float(now.search.trial) if now.search.on else min(left, covered)
            before = (int(now.index), float(now.base.past), int(now.log.count))
            state = _value(ta, now, setting, length)
            status = Status(np.int32(Code.ok), np.int32(1))
            now = engine.call(_taken, setting, now, goal, np.float64(length), state, status)
            if np.any(now.base.touch.active) and int(now.code) == Code.ok:
                now = now._replace(code=np.int32(Code.no_contact))
            if (int(now.index), float(now.base.past), int(now.log.count)) != before:
                covered = 0.0
        ended = int(now.code) == Code.event
        done = int(now.code) == Code.ok and not (int(now.index) < last or float(now.base.past) < rest)
        if done or ended:
            shots.append(engine.call(with_events.look, setting, now.base))
        if not done:
            break
        k += 1
        if not _open(now, room):
            break
    if not shots:
        blank = engine.call(with_events.look, setting, now.base)
        return now, jax.tree.map(lambda x: np.asarray(x)[None][:0], blank), 0
    return now, jax.tree.map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *shots), k


def _open(now: with_events.Progress, room: int) -> bool:
    return int(now.code) == Code.ok and int(now.log.count) <= room


def _taken(setting: Setting, now: Any, goal: Any, length: Any, state: Any, status: Any) -> Any:
    base, trial = locate.weigh(setting, now.base, now.search, length, state, status)
    return with_events.moved_on(setting, now, Goal(*goal), base, trial)


def _step(ta: Any, setting: Setting, now: with_events.Progress, left: float) -> tuple[float, int]:
    """A step of the integrator from the base, no longer than `left`: how far it got, and a code."""
    way = math.copysign(1.0, float(setting.dt))
    ta.time = float(setting.t0 + int(now.index) * setting.dt + way * now.base.past)
    ta.state[:] = np.concatenate([np.asarray(x) for x in now.base.state])
    longest = min(left, first_step(ta))
    outcome, taken = ta.step(way * longest, write_tc=True)
    return abs(taken), code(outcome)


def _value(ta: Any, now: with_events.Progress, setting: Setting, length: float) -> PositionVelocity:
    """The state a length after the base, from the series of the last step."""
    way = math.copysign(1.0, float(setting.dt))
    out: Any = np.array(ta.update_d_output(way * length - ta.last_h, True))
    n = len(out) // 2
    return PositionVelocity(out[:n], out[n:])


def first_step(ta: Integrator) -> float:
    r"""A step from the present state that more than the last two coefficients of the series agree to.

    heyoka takes the radius of convergence from the last two orders. They can vanish by symmetry where others do not: a
    pendulum at rest at \(\theta = \pi/2\) has \(\theta - \pi/2\) odd under \(t \to it\), hence orders 2, 6, 10, …
    alone, and its first step would be several times too long.
    """
    ta.step(0.0, write_tc=True)
    sizes = np.max(np.abs(ta.tc), axis=0)
    orders = np.arange(max(1, ta.order - _ORDERS_SEEN + 1), ta.order + 1)
    with np.errstate(divide="ignore", over="ignore"):
        radii = (max(1.0, sizes[0]) / sizes[orders]) ** (1.0 / orders)
    step = float(np.min(radii)) * math.exp(-2.0 - 0.7 / (ta.order - 1))
    return step if step > 0 else math.inf


def code(outcome: Outcome) -> int:
    """The code of how heyoka ended."""
    import heyoka as hy

    if outcome in (hy.taylor_outcome.time_limit, hy.taylor_outcome.success):
        return int(Code.ok)
    return int(Code.too_many_steps if outcome == hy.taylor_outcome.step_limit else Code.not_finite)
