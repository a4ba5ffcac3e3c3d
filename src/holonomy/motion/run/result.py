"""How a run ended: the sentence for each result code, and the error that the host raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion.run.verdict import close_encounter
from holonomy.systems.result_code import Code
from holonomy.types import Decimal, Truth, Whole

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run


_SENTENCES = {
    Code.ok: "The run reached its end.",
    Code.not_finite: "The state became infinite or not a number.",
    Code.no_convergence: "The equations of an implicit step could not be solved.",
    Code.too_many_steps: "The adaptive method needed too many steps between two saved times.",
    Code.interrupted: "The run was interrupted.",
    Code.inconsistent: "The initial state, or the state that an event's action gave, violates the constraints.",
    Code.event: "A terminal event ended the run.",
    Code.too_many_events: "There were more events than max_events allows.",
    Code.squeezed: "Walls closed on what is between them: no velocity satisfies them all.",
    Code.no_contact: "The motion came to rest on a wall, and the method cannot hold a contact.",
    Code.inaccurate: "No step was small enough for the tolerance that dt=None asks for.",
    Code.too_far: "A point went so far out in hyperbolic space that the array that holds it has too few digits.",
    Code.event_not_finite: "The function of an event or of a wall gave infinity or not a number.",
    Code.event_jumps: "The function of an event or of a wall jumps over zero: it changes its sign without being zero.",
    Code.crowded: "More walls were near at once than a compiled run looks at together.",
    Code.rank_change: "The constraints changed their rank: their normals became dependent, or turned over in one step.",
}
_NAMED = 6  # members of a batch that a sentence names
_ADVICE = {
    Code.ok: "",
    Code.not_finite: "Try a smaller dt, and look for a singularity of the system there (a collision, a chart's pole).",
    Code.no_convergence: "Try a smaller dt; if that does not help, look for a close encounter or a singular mass "
    "matrix there.",
    Code.too_many_steps: "Look for a close encounter or a stiff spring there; try more saved times, an implicit method "
    "such as Gauss, or looser rtol and atol.",
    Code.interrupted: "What was computed before is kept.",
    Code.inconsistent: "Start from system.project(t0, q0, v0), and let actions give states that satisfy them.",
    Code.event: "",
    Code.too_many_events: "Raise max_events; impacts that pile up end in contact where restitution is below 1.",
    Code.squeezed: "Move the walls so that they leave room.",
    Code.no_contact: "Use hl.Rattle(4), hl.Radau(3) or hl.RK4(), which hold contacts.",
    Code.inaccurate: "Pass dt, or a method with error control; throw=False returns the run with the smallest step.",
    Code.too_far: "Keep the points near the origin, with the isometry that carries them: hl.carry(system).",
    Code.rank_change: "The motion may branch here: singular='pass' goes on along the smooth branch. If you expect no "
    "branch, reduce dt.",
    Code.crowded: "Reduce dt, so that fewer walls are within reach of a step, or run outside of jit, vmap and grad.",
    Code.event_not_finite: "Pass a function that has a value on both sides of its zero, as far as a step reaches.",
    Code.event_jumps: "Pass a continuous function, or the direction in which it does not jump.",
}


@dataclass(frozen=True)
class Result:
    """How a run ended: `code`, the time `t` and number of steps it got to. Under vmap each is an array.

    `differentiable` is False where the run met an event at which its end is no smooth function of its start: a wall
    touched without crossing, several met at once, or impacts that pile up. Gradients of such a run are NaN.
    """

    code: Whole
    t: Decimal
    steps: Whole
    differentiable: Truth = True

    @property
    def ok(self) -> Truth:
        """True where the run reached its end, or a terminal event."""
        return (self.code == int(Code.ok)) | (self.code == int(Code.event))

    @property
    def name(self) -> str | np.ndarray:
        """The code's name; of a batch an array of names, one for each member."""
        codes = np.asarray(self.code)
        return np.vectorize(_name, otypes=[object])(codes) if codes.ndim else _name(codes)

    def __str__(self) -> str:
        if np.ndim(self.code):
            return self._of_members()
        code = Code(int(self.code))
        if code is Code.ok:
            return _SENTENCES[code]
        if code is Code.inaccurate:
            return f"{_SENTENCES[code]} {_ADVICE[code]}"
        if code is Code.event:
            return f"{_SENTENCES[code]} That was at t = {float(self.t):.6g}."
        return f"{self.stopped} {_ADVICE[code]}"

    @property
    def stopped(self) -> str:
        """Why, when and after how many steps the run stopped, for a single run, without advice."""
        said = _SENTENCES[Code(int(self.code))]
        return f"{said} It stopped at t = {float(self.t):.6g} after {int(self.steps)} steps."

    def _of_members(self) -> str:
        """How many members of a batch stopped before their end, which ones, why and when."""
        codes, times = np.asarray(self.code), np.broadcast_to(np.asarray(self.t), np.shape(self.code))
        bad = ~np.isin(codes, (int(Code.ok), int(Code.event)))
        if not np.any(bad):
            return f"All {codes.size} members reached their end."
        said = [f"{int(np.sum(bad))} of {codes.size} members stopped before their end."]
        for code in np.unique(codes[bad]):
            which = np.argwhere(codes == code)
            named = [str(k[0]) if len(k) == 1 else str(tuple(map(int, k))) for k in which[:_NAMED]]
            rest = f" and {len(which) - _NAMED} more" if len(which) > _NAMED else ""
            first, last = float(np.min(times[codes == code])), float(np.max(times[codes == code]))
            when = f"t = {first:.6g}" if first == last else f"t = {first:.6g} to {last:.6g}"
            who = f"Member{'s' if len(which) > 1 else ''} {', '.join(named)}{rest}"
            said.append(f"{who}, at {when}: {_SENTENCES[Code(int(code))]} {_ADVICE[Code(int(code))]}".rstrip())
        return " ".join(said)


def _name(code: Whole) -> str:
    return Code(int(code)).name


class SimulationError(RuntimeError):
    """A run that stopped before its end. `run` is the part that is good, `result` says when and why.

    Of an ensemble with members that did, `run` is the whole batch; the rows of such members are NaN from there on.
    """

    def __init__(self, run: Run):
        self.run = run
        self.result = run.result
        seen = close_encounter(run)
        said = f"{seen} {run.result.stopped}" if seen else str(run.result)
        super().__init__(said + " The good part is in this error's .run; throw=False returns it instead.")
