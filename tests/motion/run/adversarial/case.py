"""A run whose true motion is known by another way, and what comes out when its verdict is compared with the truth.

The truth is never computed with the package: it is a closed form, or a reference of another integrator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import holonomy as hl

LIMIT = 1e-2
"""Error, in units of a block's range of motion, above which no run is good."""
FACTOR = 100.0
"""By how much the true error may exceed the one that is stated."""
LEAST_STATED = 1e-9
"""A smaller stated error counts as this one: the references are not more accurate than a hundred times that."""
HONEST = 1e-3
"""True error up to which a run is certainly good."""
_RESTS = 2e-15  # range of a block, in units of its places, up to which it counts as at rest
_LOOKS = 401  # times at which the range of the true motion is looked at


@dataclass(frozen=True)
class Units:
    """What one unit of a system is in the numbers that the package sees."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def stiffness(self) -> float:
        return self.mass / self.time**2

    @property
    def speed(self) -> float:
        return self.length / self.time

    @property
    def energy(self) -> float:
        return self.mass * self.speed**2


def random_units(random: np.random.Generator, decades: float = 9.0) -> Units:
    """Lengths, masses and times from 1e-9 to 1e9, every second time all ones."""
    if random.random() < 0.3:
        return Units()
    return Units(*(10.0 ** random.uniform(-decades, decades, 3)))


@dataclass(frozen=True)
class Said:
    """What the package said of one motion: a run with every certificate that speaks of it."""

    run: hl.Run
    certificates: Sequence[Any] = ()
    verdicts: Sequence[str] = ()


def said(run: hl.Run) -> Said:
    return Said(run, (run.certificate,))


def member(batch: hl.Run, k: int) -> Said:
    """A member of a batch, by itself and as the batch counts it."""
    one = batch[k]
    assert isinstance(one, hl.Run)
    return Said(one, (one.certificate,), (batch.certificate.members[k],))


@dataclass(frozen=True)
class Case:
    """One run of a family.

    `said` makes it; `truth` gives the true rows at given times, which are compared with `rows` of the run. `blocks` are
    the columns of each block of coupled coordinates of one unit; an error is measured in units of the range of motion
    of its block from `begin` to `end`.
    """

    family: str
    name: str
    said: Callable[[], Said]
    truth: Callable[[np.ndarray], np.ndarray]
    begin: float
    end: float
    blocks: tuple[tuple[int, ...], ...] = ((0,),)
    rows: Callable[[hl.Run], np.ndarray] = field(default=lambda run: np.asarray(run.q))


@dataclass(frozen=True)
class Outcome:
    """The verdict, the error that was stated (NaN where none was), and the true one."""

    case: Case
    verdict: str
    reasons: tuple[str, ...]
    stated: float
    true: float
    last: float
    known_until: float | None

    @property
    def false_good(self) -> bool:
        """Whether the run is called good and is off by more than is stated."""
        if self.verdict != "good":
            return False
        allowed = LIMIT if np.isnan(self.stated) else min(LIMIT, FACTOR * max(self.stated, LEAST_STATED))
        return not self.true <= allowed

    @property
    def false_alarm(self) -> bool:
        """Whether a run that is right is not called good, or is said to be known for a part of its time only."""
        late = (1 - 1e-9) * abs(self.case.end - self.case.begin)
        ends_early = self.known_until is not None and abs(self.known_until - self.case.begin) < late
        return (self.verdict != "good" or ends_early) and self.true <= HONEST

    def __str__(self) -> str:
        known = "" if self.known_until is None else f", known until {self.known_until:.3g}"
        return (
            f"{self.case.family} {self.case.name}: {self.verdict}, stated {self.stated:.1e}, true {self.true:.1e}, "
            f"last {self.last:.1e}{known} {' '.join(self.reasons)[:160]}"
        )


def true_errors(case: Case, run: hl.Run, until: float | None = None) -> tuple[float, float]:
    """The largest error along the run and that of the last state, each in units of its block's range of motion."""
    t, rows = np.asarray(run.t, float), np.asarray(case.rows(run), float)
    known = np.isfinite(rows).all(axis=1)
    if until is not None:
        known &= np.abs(t - case.begin) <= abs(until - case.begin)
    if not known.any():
        return np.nan, np.nan
    t, rows = t[known], rows[known]
    true = case.truth(t)
    path = np.concatenate([case.truth(np.linspace(case.begin, case.end, _LOOKS)), true])
    largest = last = 0.0
    for block in case.blocks:
        columns = list(block)
        range_of, place = float(np.max(np.ptp(path[:, columns], axis=0))), float(np.max(np.abs(path[:, columns])))
        if range_of <= _RESTS * place:  # at rest: what a method makes of roundings is measured against its place
            range_of = max(1e-6 * place, float(np.finfo(float).tiny))
        with np.errstate(over="ignore"):
            off = np.max(np.abs(rows[:, columns] - true[:, columns]), axis=1) / range_of
        largest, last = max(largest, float(np.max(off))), max(last, float(off[-1]))
    return largest, last


def judge(case: Case) -> Outcome:
    """Run a case and compare what is said with what is true."""
    found = case.said()
    certificates = found.certificates
    verdicts = [one.verdict for one in certificates] + list(found.verdicts)
    verdict = "good" if "good" in verdicts else verdicts[0]
    stated = [getattr(one, "error", None) for one in certificates]
    stated = [one.step_error if x is None else x for x, one in zip(stated, certificates, strict=True)]
    numbers = [float(x) for x in stated if x is not None]
    first = certificates[0]
    until = getattr(first, "known_until", None)
    until = None if until is None or not np.isfinite(until) else float(until)
    # a run that is called good and known for a while is taken at its word; others are wrong if they are so anywhere
    true, last = true_errors(case, found.run, until if verdict == "good" else None)
    disagree = () if len(set(verdicts)) == 1 else (f"[verdicts differ: {verdicts}]",)
    return Outcome(case, verdict, (*disagree, *first.reasons), max(numbers, default=np.nan), true, last, until)
