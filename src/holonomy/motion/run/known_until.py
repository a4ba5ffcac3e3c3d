r"""How long the state of a run means anything: the growth of rounding errors, and when they are no longer small.

A number is held to \(\varepsilon = 2^{-53}\) of its size. With \(g(t)\) the factor by which the motion enlarges an
error of the first state, measured by a twin (`twin`), the roundings of the first state and of every step add up, as
independent errors, to

\[ e(t)^2 = \varepsilon^2\Bigl(g(t)^2 + \kappa^2\sum_k \max\bigl(g(t)/g(t_k),\ g(t - t_k)\bigr)^2\Bigr), \]

with \(\kappa = 1\) where a step adds to rounded numbers, and the part of the motion that a step goes on where sums are
compensated. To it comes the error of the method where longer steps show it. The state is known until one of the errors
is a thousandth of the size of the motion: of the range of each coordinate, without a steady drift, so that neither the
origin nor a boost matters; of angles at most a turn.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion.loops.plain import LARGE
from holonomy.motion.methods.colliding_bodies import CollidingBodies
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.run.twin import Follower, Pair, Path, Rows, Sizes, by_half_steps
from holonomy.systems.contact import contact
from holonomy.systems.coupling import coupled_blocks

if TYPE_CHECKING:
    from holonomy.motion.methods.base import AbstractMethod
    from holonomy.motion.run.run import Run
    from holonomy.systems import System

KNOWN = 1e-3
"""The error, in sizes of the motion, up to which a state counts as known."""
_STEPS = 5000  # that are taken by default
_PART = 0.1  # of the steps of the run that are taken by default where these are more
_LEAST_ROWS = 256  # of a run along which its twin is compared with them; of fewer the run is taken again
_ROWS = 1024  # of a run that is taken again
_SURER = 20000  # that are taken by default where the error of the method decides
_ASKED = 16  # steps that are taken for each of the run, at most, where the growth is asked for
_BEYOND = 10.0  # times `KNOWN` up to which errors are followed
_SUMMED = 192  # times at which the errors of all steps are added up
_INJECTED = 48  # times at which they are counted in
_FINER = 16  # part of the rows' spacing that is tried where errors grow too much between them
_IN_A_ROW = 256  # steps from which sizes are found, at two places, where few states were saved
_TRIALS = 4
_STILL = 1e-6  # range of a coordinate, in units of the largest of its kind, that is no motion of its own
_STEADY = 1e-6  # what is left of a range without its drift that is more than rounding
_LEAST_ANGLE = 0.1  # radians that an angle counts as moving at least
_FAR = 1e-6  # of the numbers that hold a motion, that its size is at least
_ROUNDINGS = 1e3  # an error of fewer is not told from rounding
_UNSTABLE = 1e6  # growth that no regular motion shows


@dataclass(frozen=True)
class Growth:
    """How rounding errors grow along a run.

    `factor`, by which an error of the first state has grown at the time `t`, the last that was looked at, relative to
    the numbers that hold it and to the size of the motion; `known_until`, the time at which the state was last known to
    a thousandth of its size, infinity where that is so to the end, None where the run was looked at in part and the
    state is known so far; `cause`, what ended this where it is the growth of errors: "rounding" or "steps".
    """

    factor: float
    t: float
    known_until: float | None
    cause: str = ""

    @property
    def reason(self) -> str:
        """What a verdict says of it, empty where the state is known to the end."""
        if self.known_until is None:
            return ""
        end = "what follows is one of many possible motions, good for statistics only."
        if self.cause == "rounding":
            return (
                f"From t = {self.known_until:.4g} on errors of rounding have grown to a thousandth of the motion's "
                f"size: {end}"
            )
        if self.cause == "steps":
            return (
                f"From t = {self.known_until:.4g} on errors of the steps, {self.factor:.2g} times as large as when "
                f"they were made, are a thousandth of the motion's size: {end} A smaller dt shows little more of it."
            )
        return ""


def growth_rows(growth: float | None, t: float | None, known: float | None) -> list[tuple[str, str]]:
    """The rows of a certificate's table on the growth of errors and on how long the state is known."""
    if growth is None or t is None:
        return [("state known until", "not looked at")]
    if known is None:
        said = f"t = {t:.4g} at least, not looked at beyond"
    else:
        said = f"{'the end' if np.isinf(known) else f't = {known:.4g}'}, to a thousandth of its size"
    return [("rounding errors grow", f"{growth:.2g} times by t = {t:.4g}"), ("state known until", said)]


def asked(run: Run) -> float:
    """See `Run.known_until`."""
    found = growth_along(run, asked=True)
    if found is None or found.known_until is None:
        raise ValueError(
            "run.known_until() takes the steps of a run again, and this run cannot be: it is a batch, a part of a run, "
            "or from a file, ended before its time, or was not made by a method with steps of its own."
        )
    return found.known_until


def noise_from(run: Run) -> float | None:
    """The time after which errors that grow are no longer small, for pictures; None where there is none in the run."""
    found = None if np.ndim(run.t) > 1 else growth_along(run)
    return found.known_until if found is not None and found.reason else None


def in_words(run: Run) -> tuple[str, ...]:
    """The growth of errors along a run for its file; empty where it is not looked at."""
    found = growth_along(run)
    if found is None:
        return ()
    return repr(found.factor), repr(found.t), repr(found.known_until), found.cause


def _from_words(words: tuple[str, ...]) -> Growth | None:
    try:
        factor, t, known, cause = words
        return Growth(float(factor), float(t), None if known == "None" else float(known), cause)
    except ValueError:
        return None


_found: dict[int, tuple[bool, Growth | None]] = {}


def growth_along(run: Run, *, asked: bool = False) -> Growth | None:
    """The growth of errors along a run, remembered with it; None where it is not looked at.

    It is looked at for runs that can be stepped again, small ones, within 5000 steps or a tenth of those of the run,
    whichever is more; where it is `asked` for, whatever that takes.
    """
    if run.provenance.growth and not run.provenance.part:
        return _from_words(run.provenance.growth)
    if id(run) not in _found or (asked and not _found[id(run)][0]):
        if id(run) not in _found:
            weakref.finalize(run, _found.pop, id(run), None)
        _found[id(run)] = asked, _looked_at(run, asked)
    return _found[id(run)][1]


def _looked_at(run: Run, asked: bool) -> Growth | None:
    method = _method(run)
    if method is None or (not asked and np.shape(run.q)[-1] > LARGE):
        return None
    steps = int(run.result.steps)
    pair, budget = Pair(run, method), max(_STEPS, int(_PART * steps)) if not asked else _ASKED * steps
    start, way = float(run.t[0]), float(run.t[-1]) - float(run.t[0])
    rows: Rows = (np.asarray(run.t), np.asarray(run.q), np.asarray(run.v))
    affordable = 0.5 * budget * abs(run.dt)
    sizes, follower, path = None, None, Path()
    for trial in range(_TRIALS):
        if trial or len(rows[0]) < min(steps, _LEAST_ROWS):
            span = float(np.copysign(min(abs(way) / _FINER**trial, affordable), way))
            rows = pair.rows(start, rows[1][0], rows[2][0], start + span, _ROWS)
        sizes = _sizes(pair, rows) if sizes is None else sizes
        if not all(np.all(np.isfinite(x)) for x in sizes):
            return None
        try:
            follower = Follower(pair, rows, sizes)
            path = follower.follow(budget, _BEYOND * KNOWN)
        except ValueError:  # no state beside the first one satisfies the constraints
            return None
        if not path.too_far_apart:
            break
    if follower is None or sizes is None or not path.t:
        return None
    rounding = _rounding(pair, path, sizes)
    if _by_method(path, rounding):  # half steps tell its error better than long ones
        t, error = by_half_steps(pair, rows, sizes, max(_SURER, budget), _BEYOND * KNOWN)
        if len(t) and (error[-1] > KNOWN or t[-1] == rows[0][-1]):
            path = follower.follow(budget, _BEYOND * KNOWN, until=float(t[-1]))
            since, looked = (np.abs(np.array(x) - path.begin) for x in (path.t, t))
            path.method = [float(e) for e in np.interp(since, looked, error)]
            rounding = _rounding(pair, path, sizes)
    path.reached = path.reached and abs(path.t[-1] - float(run.t[-1])) <= abs(run.dt)
    return _judged(path, rounding, sizes, float(np.finfo(pair.dtype).eps))


def _method(run: Run) -> AbstractMethod | None:
    """The method that takes the steps of the run again, None where they cannot be taken."""
    made = run.provenance
    again = made.simulated and made.engine.startswith(("native", "xla")) and not made.part
    if run.system is None or run.method is None or np.ndim(run.t) > 1 or not again or not run.result.ok:
        return None
    if contact.count(run.system):
        return None  # a twin may start inside of a wall, from where no motion is defined
    if isinstance(run.method, AbstractHostMethod | EventDriven | CollidingBodies) or made.carried:
        return None
    if int(run.result.steps) < 1 or len(run.t) < 2 or not run.dt:
        return None
    return (run.method.fallback(certain=False) if made.fell_back else None) or run.method


def _sizes(pair: Pair, rows: Rows) -> Sizes:
    """The sizes of a motion from rows of it, and, where these may lie at the same phases of it, from steps in a row."""
    some = np.unique(np.linspace(0, len(rows[0]) - 1, _ROWS).astype(int))
    found = [sizes_of(pair.system, (rows[0][some], rows[1][some], rows[2][some]))]
    t, q, v = rows
    if abs(t[-1] - t[0]) > 1.5 * (len(t) - 1) * pair.dt:
        for k in (0, len(t) // 2):
            end = float(t[k] + np.copysign(_IN_A_ROW * pair.dt, t[-1] - t[0]))
            found.append(sizes_of(pair.system, pair.rows(float(t[k]), q[k], v[k], end, _IN_A_ROW)))
    return Sizes(*(np.max(np.stack(each), axis=0) for each in zip(*found, strict=True)))


def sizes_of(system: System, rows: Rows) -> Sizes:
    """The size of a motion in each coordinate and velocity.

    A coordinate that does not move by itself, as those across a plane that the motion stays in, has the size of those
    of its kind that it is coupled to; the coordinates of a point on a curved space belong together.
    """
    angles = np.array([coordinate.kind == "angle" for coordinate in system.coordinates])
    found, groups = [], 2 * coupled_blocks(system) + angles
    for column, rate in ((rows[1], False), (rows[2], True)):
        held = np.max(np.abs(np.asarray(column, float)), axis=0)
        size = _ranges(rows[0], np.asarray(column, float))
        if not rate:
            size[angles] = np.clip(size[angles], _LEAST_ANGLE, 2.0 * np.pi)
        for own in (groups == group for group in np.unique(groups)):
            largest = max(float(np.max(size[own])), _FAR * float(np.max(held[own])))
            alone = (size[own] > _STILL * largest) & system.flat
            size[own] = np.where(alone, np.maximum(size[own], _FAR * held[own]), largest if largest > 0 else 1.0)
        found += [size, np.maximum(held, size)]
    return Sizes(found[0], found[2], found[1], found[3])


def _ranges(t: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The range of each column, without a steady drift from the first to the last row where there is more than that."""
    whole = np.ptp(rows, axis=0)
    along = ((t - t[0]) / (t[-1] - t[0]))[:, None]
    own = np.ptp(rows - (rows[0] + along * (rows[-1] - rows[0])), axis=0)
    return np.where(own > _STEADY * whole, np.minimum(own, whole), whole)


def _by_method(path: Path, rounding: np.ndarray) -> bool:
    """Whether the error of the method is not known, or ends the time until which the state is."""
    beyond = np.flatnonzero(~(np.hypot(rounding, path.method) <= KNOWN))
    if not path.knows_method or not len(beyond):
        return not path.knows_method
    return bool(path.method[beyond[0]] > rounding[beyond[0]])


def _judged(path: Path, rounding: np.ndarray, sizes: Sizes, eps: float) -> Growth:
    """What a path says, with the errors of rounding along it, of numbers that are held to `eps` of their size."""
    t, growth = np.array(path.t), np.array(path.growth)
    error = np.maximum(np.hypot(rounding, path.method), 1e-300)
    factor = growth / max(float(np.max(sizes.held_q / sizes.q)), float(np.max(sizes.held_v / sizes.v)))
    beyond = np.flatnonzero(~(error <= KNOWN))
    if not len(beyond):
        return Growth(float(factor[-1]), float(t[-1]), np.inf if path.reached else None)
    k = int(beyond[0])
    made = KNOWN / (factor[k] * eps)  # roundings that an error was large when it was made
    cause = (
        "rounding" if rounding[k] > path.method[k] or made < _ROUNDINGS else "steps" if factor[k] > _UNSTABLE else ""
    )
    if k == 0:
        return Growth(float(factor[0]), float(t[0]), path.begin, cause)
    way = np.log(KNOWN / error[k - 1]) / np.log(error[k] / error[k - 1])
    return Growth(float(factor[k]), float(t[k]), float(t[k - 1] + way * (t[k] - t[k - 1])), cause)


def _rounding(pair: Pair, path: Path, sizes: Sizes) -> np.ndarray:
    """The error of all roundings together at the times of a path, in sizes of the motion."""
    eps = 0.5 * float(np.finfo(pair.dtype).eps)
    thin = np.unique(np.append(np.arange(0, len(path.t), 1 + len(path.t) // _SUMMED), len(path.t) - 1))
    every = np.abs(np.array(path.t) - path.begin)
    since, growth, whole = every[thin], np.array(path.growth)[thin], np.maximum(np.array(path.whole)[thin], 1e-300)
    steps = np.diff(since, prepend=0.0) / pair.dt
    rough = max(float(np.max(sizes.held_q / sizes.q)), float(np.max(sizes.held_v / sizes.v)))
    each = min(1.0, pair.dt * float(np.max(sizes.held_v / sizes.q))) if pair.compensates else 1.0
    logs = np.log(np.maximum(np.maximum.accumulate(growth), 1e-300))
    few = slice(0, len(growth), 1 + len(growth) // _INJECTED)  # the times at which errors of steps are counted in
    counts = np.add.reduceat(steps, np.arange(len(growth))[few])
    age = since[:, None] - since[None, few]
    by_age = np.exp(np.interp(np.abs(age), since, logs))
    by_ratio = growth[:, None] * rough / whole[None, few]
    total = np.sum(np.where(age >= 0, counts * np.maximum(by_ratio, by_age) ** 2, 0.0), axis=1)
    of_steps = np.interp(every, since, np.sqrt(total))
    return eps * np.hypot(path.growth, each * of_steps)
