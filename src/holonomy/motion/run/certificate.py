"""How good a run is, in figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion.run.conserved_drift import drifts, off_constraints
from holonomy.motion.run.judgement import Judgement, from_json
from holonomy.motion.run.known_until import growth_along, growth_rows
from holonomy.motion.run.member_errors import member_errors
from holonomy.motion.run.select import members
from holonomy.motion.run.state_error import StateError, state_error
from holonomy.motion.run.unseen import unseen_reasons
from holonomy.motion.run.verdict import Verdict, energy_drift, verdict

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_WORST_LAST: tuple[Verdict, ...] = ("good", "not checked", "doubtful", "failed")
_NAMED = 6  # members that the table names
_WIDEST_LINE = 100  # characters of the lines above and below the table


@dataclass(frozen=True)
class Certificate:
    """What a run knows about its own quality; `str` gives a table, and so does a notebook.

    `verdict` is "good", "doubtful" or "failed", for the `reasons` given, or "not checked" where nothing shows the error
    of the states; `bool` of a certificate is whether it is good. `error` is the largest error of the states in units of
    the range of motion, None where it is not known, and `how` says how it was found (`state_error`). The relative
    energy drift is that in units of the kinetic energy. `why_not_native` is the full reason where native code was
    wanted and could not be made; the table has it in short. `known_until` is the time
    until which the state is known to a thousandth of its size, infinity where it is to the end, None where that was not
    looked at; `growth` the factor by which a rounding error of the first state grew until `growth_until`, the last time
    that was looked at.

    That of a batch has the verdict of each member in `members`, and more of it in `each`. Its own verdict is the worst
    of them, its drifts and violations are the largest, and its steps, iterations and events are those of all members
    together.
    """

    engine: str
    method: str
    why: str
    result: str
    steps: int
    iterations: int
    dt: float
    energy_conserved: bool
    energy_drift: float
    energy_drift_relative: float
    conserved: dict[str, float] = field(default_factory=dict)
    error: float | None = None
    how: str = ""
    step_error: float | None = None
    constraints: int = 0
    violation: float = 0.0
    velocity_violation: float = 0.0
    events: dict[str, int] = field(default_factory=dict)
    why_not_native: str = ""
    verdict: Verdict = "good"
    reasons: tuple[str, ...] = ()
    singular: str = "stop"
    mass: str = ""
    part: str = ""
    known_until: float | None = None
    growth: float | None = None
    growth_until: float | None = None
    members: tuple[Verdict, ...] = ()
    each: tuple[Judgement, ...] = ()

    def __bool__(self) -> bool:
        """Whether the verdict is good."""
        return self.verdict == "good"

    @property
    def judgement(self) -> Judgement:
        """What files keep of it."""
        return Judgement(self.verdict, self.reasons, self.error, self.how)

    def rows(self) -> list[tuple[str, str]]:
        """The table's rows, label and figure."""
        kept = "" if self.energy_conserved else "  (not conserved: the system is driven or damped)"
        rows = [
            ("verdict", ". ".join([self.verdict, " ".join(self.reasons)]) if self.reasons else self.verdict),
            *([("members", self._counted())] if self.members else []),
            *([("part of a run", self.part)] if self.part else []),
            ("engine", self.engine),
            ("method", self.method),
            ("chosen because", self.why),
            *([("mass matrix", self.mass)] if self.mass else []),
            ("result", self.result),
            ("steps", f"{self.steps} of dt = {self.dt:.6g}"),
            ("iterations", f"{self.iterations}  ({self.iterations / max(self.steps, 1):.1f} per step)"),
            ("energy drift", f"{self.energy_drift:.3e}, relative {self.energy_drift_relative:.3e}{kept}"),
        ]
        known = "not known" if self.error is None else f"{self.error:.1e} of the range of motion"
        rows.append(("error of the state", f"{known} ({self.how})" if self.how else known))
        rows += [(f"drift of {name}", f"{drift:.3e}") for name, drift in self.conserved.items()]
        rows += growth_rows(self.growth, self.growth_until, self.known_until)
        if self.constraints:
            rows.append(("largest violation of a constraint", f"{self.violation:.3e}"))
            rows.append(("largest violation by a velocity", f"{self.velocity_violation:.3e}"))
        if self.singular == "pass":
            rows.append(("singular positions", "passed along the smooth branch where there are any"))
        if self.events:
            rows.append(("events", ", ".join(f"{n} × {name}" for name, n in self.events.items())))
        if self.step_error is not None:
            known = f"{self.step_error:.3e}" if np.isfinite(self.step_error) else "not known"
            rows.append(("error by step halving", known))
        return rows

    def _counted(self) -> str:
        """How many members are good, doubtful and failed, and which ones are not good."""
        found = {word: [k for k, said in enumerate(self.members) if said == word] for word in _WORST_LAST}
        said = []
        for word, which in found.items():
            named = ", ".join(map(str, which[:_NAMED])) + (", …" if len(which) > _NAMED else "")
            if which:
                said.append(f"{len(which)} {word}" + (f" ({named})" if word != "good" else ""))
        return f"{len(self.members)}: {', '.join(said)}"

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(label) for label, _ in rows)
        line = "─" * min(width + 2 + max(len(value) for _, value in rows), _WIDEST_LINE)
        return "\n".join(["certificate", line, *(f"{label:<{width}}  {value}" for label, value in rows), line])

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in self.rows())
        return f"<table>{cells}</table>"


def certify(run: Run) -> Certificate:
    """The certificate of a run, or of a batch by those of its members."""
    if np.ndim(run.t) == 1:
        return _of_one(run, state_error(run))
    found = member_errors(run)
    # without what its members need for stepping on: of many members only rows and results are taken
    bare = replace(run, system=None, method=None, watched=None, saved_parameters=None)
    return _together([_of_one(one, error) for one, error in zip(members(bare), found, strict=True)])


def _of_one(run: Run, found: StateError) -> Certificate:
    """The certificate of a single run whose states have this error."""
    made = run.provenance
    seen = run if run.saved is None else run.saved
    energy, violation = np.asarray(seen.energy), np.asarray(seen.violation)
    with np.errstate(over="ignore", invalid="ignore"):  # a state that grew without bound may be the last one
        kinetic = 0.5 * np.sum(np.asarray(run.momentum) * np.asarray(run.v), axis=-1)
        moved = float(
            np.max(np.abs(np.asarray(run.pull)[:1]), initial=0.0) * np.max(np.abs(np.asarray(run.q)[:1]), initial=0.0)
        )
    drift, relative = energy_drift(energy, kinetic, moved)
    kept = from_json(made.judgement) if run.system is None else ()
    momenta, lost = drifts(run)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = growth_along(run)
    if len(kept) == 1:
        said, reasons, found = kept[0].verdict, kept[0].reasons, StateError(kept[0].error, kept[0].how)
    else:
        unstable = () if grown is None or not grown.reason else (grown.reason,)
        if grown is not None and grown.cause == "rounding" and (found.since or 0.0) > (grown.known_until or 0.0):
            found = replace(found, since=None)  # no step is short enough
        said, reasons = verdict(run, relative, found, lost + off_constraints(run) + unseen_reasons(run) + unstable)
    return Certificate(
        engine=made.engine,
        method=made.method_and_properties,
        why=made.why,
        result=str(run.result),
        steps=int(run.result.steps),
        iterations=int(run.work),
        dt=run.dt,
        energy_conserved=made.conservative,
        energy_drift=drift,
        energy_drift_relative=float(relative),
        conserved=momenta,
        error=found.error,
        how=found.how,
        step_error=made.step_error,
        constraints=np.shape(run.multipliers)[-1],
        violation=float(np.max(violation[:, 0], initial=0.0)),
        velocity_violation=float(np.max(violation[:, 1], initial=0.0)),
        events={name: n for i, name in enumerate(run.events.names) if (n := int(np.sum(run.events.which == i)))},
        why_not_native=made.refusal,
        verdict=said,
        reasons=reasons,
        singular=made.singular,
        mass=made.mass,
        part=f"t = {run.t[0]:g} to {run.t[-1]:g}; result, steps, iterations are of the whole" if made.part else "",
        known_until=None if grown is None else grown.known_until,
        growth=None if grown is None else grown.factor,
        growth_until=None if grown is None else grown.t,
    )


def _together(each: list[Certificate]) -> Certificate:
    """The certificate of a batch whose members have these."""
    verdicts = tuple(word for one in each for word in one.members or (one.verdict,))
    worst = max(each, key=lambda one: _WORST_LAST.index(one.verdict))
    member = next(k for k, one in enumerate(each) if one is worst)
    events: dict[str, int] = {}
    for one in each:
        for name, n in one.events.items():
            events[name] = events.get(name, 0) + n
    reasons = tuple(f"Member {member}: {said}" for said in worst.reasons[:1])
    return replace(
        worst,
        steps=sum(one.steps for one in each),
        iterations=sum(one.iterations for one in each),
        energy_drift=_largest(one.energy_drift for one in each),
        energy_drift_relative=_largest(one.energy_drift_relative for one in each),
        error=None if any(one.error is None for one in each) else max(one.error or 0.0 for one in each),
        conserved={
            name: _largest(one.conserved[name] for one in each)
            for name in worst.conserved
            if all(name in one.conserved for one in each)
        },
        violation=_largest(one.violation for one in each),
        velocity_violation=_largest(one.velocity_violation for one in each),
        events=events,
        reasons=reasons + worst.reasons[1:],
        known_until=None,
        growth=None,
        growth_until=None,
        members=verdicts,
        each=tuple(one.judgement for one in each),
    )


def _largest(figures: Iterable[float]) -> float:
    """The largest figure of those that are numbers; a member that failed may have none."""
    known = [x for x in figures if not np.isnan(x)]
    return max(known) if known else float("nan")
