"""A lab in motion: commands in, frames and control states out. No clock and no thread, so that a test can drive it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from holonomy.motion import SimulationError
from holonomy.studio import wire
from holonomy.studio.lab import AbstractLab, Parameters, State
from holonomy.studio.orbit import Orbit

MOST_UNDOS: Final = 200
KEPT_PER_UNDO: Final = 32
"""States that an orbit keeps once it lies in the past, so that many undos do not hold many whole orbits."""
MOST_SAMPLES: Final = 512
"""Rows of recent motion that wait for the next frame."""


class Refusal(Exception):
    """A command that makes sense, but not now or not with this value; the sentence goes to the user."""


@dataclass(frozen=True, slots=True)
class Moment:
    """All that undo restores: which motion, how far along it, and the parameters that drive it."""

    orbit: Orbit
    index: int
    state: State
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Reading:
    """A moment in numbers."""

    t: float
    q: np.ndarray
    v: np.ndarray
    total: float
    energy: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, slots=True)
class Action:
    """An entry of the undo list: what was done, and the moment on the other side of it."""

    name: str
    moment: Moment


def certificate(lab: AbstractLab) -> wire.CertificateView:
    """What computes the motion."""
    method, _, traits = lab.view.method.partition(", ")
    return wire.CertificateView("", method, (traits,) if traits else (), "")


class Simulation:
    """The state of one user's lab."""

    def __init__(self, lab: AbstractLab):
        self.lab = lab
        self.playing = False
        self.speed = 1.0
        self.held: int | None = None
        self._frame_steps = round(lab.view.frame_seconds / lab.view.dt)
        self._traced = [lab.view.anchors + i for i, body in enumerate(lab.view.bodies) if body.trail]
        self._undo: list[Action] = []
        self._redo: list[Action] = []
        self._grouped: str | None = None  # the action that further commands of its kind belong to
        self._samples: deque[np.ndarray] = deque(maxlen=MOST_SAMPLES)
        self._arrive(self._opening(lab.defaults))

    @property
    def moment(self) -> Moment:
        """Where the motion is now."""
        return self._now

    def advance(self, steps: int) -> None:
        """Let the motion go on; `Refusal` when it cannot, with the last good state kept and time held."""
        while steps > 0:
            stride = min(steps, self._frame_steps)  # so that curves stay smooth at high speed
            now = self._now
            self._arrive(Moment(now.orbit, now.index + stride, self._run(now, stride), now.parameters))
            steps -= stride

    def apply(self, command: wire.Command) -> None:
        """Carry out one command, or raise `Refusal` and change nothing."""
        if not isinstance(command, (wire.Step, wire.SetParameter, wire.DragMove, wire.Seen)):
            self._grouped = None
        match command:
            case wire.Play():
                if not self.playing:
                    self._remember("play")
                    self.playing = True
            case wire.Pause():
                self.playing = False
            case wire.Step(frames, repeat):
                self._step(frames, repeat)
            case wire.DragBegin(body):
                self._grasp(body)
            case wire.DragMove(x, y, _):
                self._drag(np.array([x, y]))
            case wire.DragEnd():
                self.held = None
            case wire.SetParameter(name, value, settled):
                self._set(name, value, settled)
            case wire.SetSpeed(value):
                self.speed = value
            case wire.Reset(defaults):
                self._remember("reset")
                self._jump(self._opening(self.lab.defaults if defaults else self._now.parameters))
            case wire.Undo():
                self._swap(self._undo, self._redo, "undo")
            case wire.Redo():
                self._swap(self._redo, self._undo, "redo")
            case wire.Seen():
                pass
            case _:
                raise Refusal("This lab cannot do that yet.")

    def controls(self, phase: wire.Phase = "ready", message: str = "") -> wire.Controls:
        """What the page's controls should show."""
        parameters = dict(self._now.parameters)
        return wire.Controls(
            phase, message, self.playing, self.speed, self.held, parameters, {}, {},
            self.lab.extent(parameters), (self.lab.extent(parameters),), self.lab.radii(parameters),
            certificate(self.lab),
            self._undo[-1].name if self._undo else None, self._redo[-1].name if self._redo else None,
        )  # fmt: skip

    def frame(self, sequence: int, *, rate: float = 0.0, behind: bool = False) -> wire.Frame:
        """The picture of this moment."""
        now = self._reading
        flags = wire.FrameFlag(0)
        if self.playing:
            flags |= wire.FrameFlag.PLAYING
        if self.held is not None:
            flags |= wire.FrameFlag.HELD
        if behind:
            flags |= wire.FrameFlag.BEHIND
        sample = np.array(self._samples).reshape(-1, self._row(now).size)
        self._samples.clear()
        drift = now.total - self._now.orbit.start_energy
        origin = self._now.orbit.stepper.read(self._now.orbit.at(0))[0]
        return wire.Frame(
            sequence, flags, self.lab.view.revision, now.t, drift, rate, origin, now.t, self._now.index,
            now.q, now.v, now.energy, self._channels(now), now.position, np.zeros(len(self.lab.view.rods)), sample,
        )  # fmt: skip

    # ── One command each ──────────────────────────────────────────────────────────────────────────

    def _step(self, frames: int, repeat: bool) -> None:
        self.playing = False
        now = self._now
        index = max(0, now.index + frames * self._frame_steps)
        if frames < 0 and now.index == 0:
            raise Refusal("This motion starts here; undo goes back to what was before.")
        state = self._run(now, index - now.index) if frames >= 0 else now.orbit.at(index)
        self._remember("step", group=repeat)
        self._arrive(Moment(now.orbit, index, state, now.parameters))

    def _grasp(self, body: int) -> None:
        if body >= len(self.lab.view.bodies):
            raise Refusal(f"There is no body {body + 1}; this lab has {len(self.lab.view.bodies)}.")
        self.held = body

    def _drag(self, target: np.ndarray) -> None:
        if self.held is None:
            raise Refusal("No body is held; a drag begins with taking hold of one.")
        parameters, now = self._now.parameters, self._reading
        self._remember(f"drag of {self.lab.view.bodies[self.held].label}", group=True)
        q = self.lab.dragged(now.q, self.held, target, parameters)
        self._jump(self._from(now.t, q, np.zeros_like(q), parameters))

    def _set(self, name: str, value: float, settled: bool) -> None:
        view = next((p for p in self.lab.view.parameters if p.name == name), None)
        if view is None:
            raise Refusal(f"There is no parameter {name!r} in this lab.")
        if not view.low <= value <= view.high:
            allowed = f"between {view.low:g} and {view.high:g} {view.unit}"
            raise Refusal(f"{view.label} lies {allowed}, but {value:g} was given.")
        parameters, now = self._now.parameters, self._reading
        if value != parameters[name]:
            self._remember(view.label, group=True)
            self._jump(self._from(now.t, now.q, now.v, {**parameters, name: value}))
        if settled:
            self._grouped = None

    def _run(self, moment: Moment, steps: int) -> State:
        try:
            return moment.orbit.advance(moment.index, moment.state, steps)
        except SimulationError as error:
            self.playing = False
            raise Refusal(str(error.result)) from error

    # ── Moments ───────────────────────────────────────────────────────────────────────────────────

    def _opening(self, parameters: Parameters) -> Moment:
        return self._from(*self.lab.start(), parameters)

    def _from(self, t: float, q: np.ndarray, v: np.ndarray, parameters: Parameters) -> Moment:
        stepper = self.lab.stepper(parameters)
        state = stepper.start(t, q, v)
        return Moment(Orbit(stepper, state), 0, state, dict(parameters))

    def _arrive(self, moment: Moment) -> None:
        """Make this the present moment, and note it for the curves."""
        t, q, v, total = moment.orbit.stepper.read(moment.state)
        energy = self.lab.energy(q, v, total, moment.parameters)
        self._now = moment
        self._reading = Reading(t, q, v, total, energy, self.lab.position(q, moment.parameters))
        self._samples.append(self._row(self._reading))

    def _jump(self, moment: Moment) -> None:
        """Arrive somewhere that the motion did not lead to."""
        if moment.orbit is not self._now.orbit:
            self._now.orbit.thin(KEPT_PER_UNDO)
        self._samples.append(np.full_like(self._row(self._reading), np.nan))
        self._arrive(moment)

    def _row(self, reading: Reading) -> np.ndarray:
        traced = reading.position[self._traced].ravel()
        return np.concatenate([[reading.t], self._channels(reading), traced])

    def _channels(self, reading: Reading) -> np.ndarray:
        return np.concatenate([reading.energy, reading.q, reading.v])

    def _remember(self, name: str, *, group: bool = False) -> None:
        """Put the present moment on the undo list, unless this command goes on with the action at its end."""
        if group and self._grouped == name:
            return
        self._grouped = name
        self._undo.append(Action(name, self._now))
        del self._undo[:-MOST_UNDOS]
        self._redo.clear()

    def _swap(self, source: list[Action], target: list[Action], word: str) -> None:
        if not source:
            raise Refusal(f"There is nothing to {word}.")
        action = source.pop()
        target.append(Action(action.name, self._now))
        self.playing = False
        self.held = None
        self._jump(action.moment)
