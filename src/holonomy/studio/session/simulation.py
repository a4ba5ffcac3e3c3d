"""One simulation of a lab: commands in, frames and control states out. No clock and no thread: tests drive it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.studio.compile.kernel import Kernel, Stopped
from holonomy.studio.labs.base import PRESET, AbstractLab
from holonomy.studio.labs.settings import Refusal, Settings, Structure, checked
from holonomy.studio.session import share_link as document
from holonomy.studio.session.actions import Action, Pending, Snapshot, label_of
from holonomy.studio.session.checkpointed_trajectory import CheckpointedTrajectory
from holonomy.studio.session.motion_with_ghost import MotionWithGhost, Reading
from holonomy.studio.session.share_link import Document
from holonomy.studio.session.timeline import Moment, Segment, beginning
from holonomy.viewer.protocol import messages

MOST_UNDOS: Final = 200
MOST_SAMPLES: Final = 512
"""Rows of recent motion that wait for the next frame."""

Kernels = Callable[[Structure], Kernel | None]
"""The code for a structure where it is at hand, None where it must be made first."""
Pair = tuple[np.ndarray, np.ndarray]


class Simulation:
    """The state of one user's lab.

    A change that needs code which is not there yet waits in `wanted`; the motion goes on as it was until `supply` or
    `give_up` is called.
    """

    def __init__(self, lab: AbstractLab, kernels: Kernels, settings: Settings | None = None):
        self.lab = lab
        self.playing = False
        self.speed = 1.0
        self.held: int | None = None
        self.revision = 0
        self._kernels = kernels
        self._undo: list[Action] = []
        self._redo: list[Action] = []
        self._grouped: str | None = None  # the action that further commands of its kind belong to
        self._pending: Pending | None = None
        self._samples: deque[np.ndarray] = deque(maxlen=MOST_SAMPLES)
        self._outline: object = None
        settings = lab.opening() if settings is None else settings
        kernel = kernels(lab.structure(settings))
        if kernel is None:
            raise ValueError("A simulation starts with a structure whose code is there.")
        self._arrive(beginning(self._segment(settings, kernel, 0.0, *lab.start(settings))))

    @property
    def moment(self) -> Moment:
        """Where the motion is now."""
        return self._now

    @property
    def reading(self) -> Reading:
        """The present state in numbers."""
        return self._reading

    @property
    def wanted(self) -> Structure | None:
        """The structure that a change waits for."""
        return None if self._pending is None else self._pending.structure

    def advance(self, steps: int) -> None:
        """Let the motion go on; `Refusal` when it cannot, with the last good state kept and time held."""
        while steps > 0:
            # Rows are whole frames, so that curves are even and the same at every speed.
            per_frame, index = self._now.segment.motion.stride, self._now.index
            stride = min(steps, per_frame - index % per_frame)
            self._arrive(self._later(stride), row=(index + stride) % per_frame == 0)
            steps -= stride

    def apply(self, command: messages.Command) -> None:
        """Carry out one command, or raise `Refusal` and change nothing."""
        if not isinstance(
            command,
            (messages.Step, messages.Seek, messages.SetParameter, messages.DragMove, messages.DragEnd, messages.Seen),
        ):
            self._grouped = None
        match command:
            case messages.Play():
                if not self.playing:
                    self._remember("play")
                    self.playing = True
            case messages.Pause():
                self.playing = False
            case messages.Step(frames, repeat):
                self._step(frames, repeat)
            case messages.Seek(time, settled):
                self._seek(time, settled)
            case messages.DragBegin(body):
                self._grasp(body)
            case messages.DragMove(x, y, z):
                self._drag(np.array([x, y, z]))
            case messages.DragEnd(x, y, z):
                self._release(np.array([x, y, z]))
            case messages.SetParameter() | messages.SetChoice() | messages.SetToggle():
                self._set(command)
            case messages.Act(name):
                self._act(name)
            case messages.SetSpeed(value):
                self._set_speed(value)
            case messages.Reset(defaults):
                self._reset(defaults)
            case messages.Undo():
                self._swap(self._undo, self._redo, "undo")
            case messages.Redo():
                self._swap(self._redo, self._undo, "redo")
            case messages.Restore(text):
                self._restore(document.read(self.lab, text))
            case messages.Seen() | messages.Share() | messages.Export() | messages.AskEquations():
                pass

    def supply(self, kernel: Kernel) -> None:
        """The code that was wanted has come: go on with it."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._change(pending, kernel)

    def give_up(self) -> None:
        """The code that was wanted cannot be had: the change that needed it is taken back."""
        if self._pending is not None:
            self._pending = None
            self._grouped = None
            if self._undo:
                self._undo.pop()

    def document(self) -> str:
        """The present state as a document."""
        state, motion = self._now.state, self._now.segment.motion
        now = self._reading
        ghost = None if state.ghost is None else (motion.kernel.q(state.ghost), motion.kernel.v(state.ghost))
        found = Document(self._now.settings, self.speed, now.t, now.q, now.v, ghost)
        return document.written(self.lab, found)

    def controls(self, message: str = "") -> messages.Controls:
        """What the page's controls should show."""
        settings = self._now.settings if self._pending is None else self._pending.settings
        kernel = self._now.segment.motion.kernel
        shown = self._now.settings
        return messages.Controls(
            "ready" if self._pending is None else "compiling",
            message or ("" if self._pending is None else "Compiling the new equations of motion."),
            self.playing, self.speed, self.held,
            dict(settings.parameters), dict(settings.choices), dict(settings.toggles),
            self.lab.extents(shown), self.lab.radii(shown),
            messages.CertificateView(
                kernel.engine, kernel.method, kernel.traits, self.lab.caution(shown),
                DRIFT_LIMIT if self.lab.conserves_energy(shown) else None,
            ),
            self._undo[-1].name if self._undo else None, self._redo[-1].name if self._redo else None,
        )  # fmt: skip

    def frame(self, sequence: int, *, rate: float = 0.0, behind: bool = False) -> messages.Frame:
        """The frame of this moment."""
        now = self._reading
        flags = messages.FrameFlag(0)
        if self.playing:
            flags |= messages.FrameFlag.PLAYING
        if self.held is not None:
            flags |= messages.FrameFlag.HELD
        if behind:
            flags |= messages.FrameFlag.BEHIND
        sample = np.array(self._samples).reshape(-1, self._width)
        self._samples.clear()
        drift = now.total - self._now.segment.energy
        return messages.Frame(
            sequence, flags, self.revision, now.t, drift, rate, self._now.oldest, self._now.newest, self._now.index,
            now.q, now.v, now.energy, now.channel, now.position, now.strain, sample,
        )  # fmt: skip

    def surface(self) -> messages.Surface | None:
        """The coloured surface behind the motion, as it is under the present settings."""
        return self.lab.surface(self._now.settings, self._now.segment.motion.kernel)

    def curves(self) -> messages.Curves | None:
        """The lines and marks that stand while the present segment lasts."""
        segment = self._now.segment
        kernel, start = segment.motion.kernel, segment.trajectory.start.main
        return self.lab.curves(segment.settings, kernel, kernel.q(start), kernel.v(start))

    # ── One command each ──────────────────────────────────────────────────────────────────────────

    def _step(self, frames: int, repeat: bool) -> None:
        now = self._now
        steps = frames * now.segment.motion.stride
        if frames < 0 and now.number == 0 and now.index == 0:
            raise Refusal("The motion starts here; undo restores what was before it.")
        then = self._later(steps) if frames >= 0 else now.back(-steps)
        self._remember("step", group=repeat)
        self.playing = False
        self._arrive(then, broken=frames < 0)

    def _seek(self, time: float, settled: bool) -> None:
        then = self._now.at(min(max(time, self._now.oldest), self._now.newest))
        self._remember("move in time", group=True)
        self.playing = False
        self._arrive(then, broken=True)
        if settled:
            self._grouped = None

    def _grasp(self, body: int) -> None:
        bodies = self.view.bodies
        if body >= len(bodies):
            raise Refusal(f"There is no body {body + 1}; this lab has {len(bodies)}.")
        if not bodies[body].grasp:
            raise Refusal(f"The {bodies[body].label} cannot be held.")
        self.held = body

    def _drag(self, target: np.ndarray) -> None:
        if self.held is None:
            raise Refusal("No body is held: a drag must begin on a body.")
        now = self._reading
        q = self.lab.dragged(self._now.settings, self._now.segment.motion.kernel, now.q, self.held, target)
        self._continue(f"drag of {self.view.bodies[self.held].label}", q, np.zeros_like(q), group=True)

    def _release(self, velocity: np.ndarray) -> None:
        held, self.held = self.held, None
        if held is not None and self.view.bodies[held].throws and velocity.any():
            now = self._reading
            v = self.lab.thrown(self._now.settings, self._now.segment.motion.kernel, now.q, held, velocity)
            self._continue(f"drag of {self.view.bodies[held].label}", now.q, v, group=True)  # one gesture, one action
        self._grouped = None

    def _set(self, command: messages.SetParameter | messages.SetChoice | messages.SetToggle) -> None:
        base = self._now.settings if self._pending is None else self._pending.settings
        settings = self.lab.completed(checked(self.view, base, command))
        if settings != base:
            self._remember(label_of(self.view, command), group=isinstance(command, messages.SetParameter))
            self._want(settings)
        if isinstance(command, messages.SetParameter) and command.settled:
            self._grouped = None

    def _act(self, name: str) -> None:
        button = next((action for action in self.view.actions if action.name == name), None)
        if button is None:
            raise Refusal(f"This lab has no button {name!r}.")
        if name.startswith(PRESET):
            settings = self.lab.preset(name.removeprefix(PRESET))
            self._remember(button.label)
            self._want(settings, reset=True)
            return
        now, settings, kernel = self._reading, self._now.settings, self._now.segment.motion.kernel
        effect = self.lab.pressed(settings, kernel, name, now.q, now.v)
        segment = self._segment(effect.settings, kernel, now.t, effect.q, effect.v)
        self._remember(button.label)
        self._arrive(self._now.followed(segment), broken=True)
        self.playing |= effect.play

    def _set_speed(self, value: float) -> None:
        if not self.view.speed_low <= value <= self.view.speed_high:
            between = f"between {self.view.speed_low:g} and {self.view.speed_high:g}"
            raise Refusal(f"Speed must be {between}, but {value:g} was given.")
        if value != self.speed:
            self._remember("speed")
            self.speed = value

    def _reset(self, defaults: bool) -> None:
        settings = self.lab.opening() if defaults else self._now.settings
        self._remember("reset")
        if defaults:
            self.speed = 1.0
        self._want(settings, reset=True)

    def _restore(self, found: Document) -> None:
        self._remember("opened link")
        self._want(found.settings, found)

    def _swap(self, source: list[Action], target: list[Action], word: str) -> None:
        if not source:
            raise Refusal(f"There is nothing to {word}.")
        action = source.pop()
        target.append(Action(action.name, Snapshot(self._now, self.speed, self.playing)))
        self._pending = None
        self.held = None
        self.speed = action.snapshot.speed
        self.playing = self.playing and action.snapshot.playing
        self._arrive(action.snapshot.moment, broken=True)

    # ── Changing ──────────────────────────────────────────────────────────────────────────────────

    def _want(self, settings: Settings, state: Document | None = None, *, reset: bool = False) -> None:
        """Change to these settings, at once or as soon as their code is there."""
        pending = Pending(settings, self.lab.structure(settings), state, reset)
        kernel = self._kernels(pending.structure)
        self._pending = pending if kernel is None else None
        if kernel is not None:
            self._change(pending, kernel)

    def _change(self, pending: Pending, kernel: Kernel) -> None:
        settings, found = pending.settings, pending.state
        try:
            if found is not None:
                segment = self._segment(settings, kernel, found.t, found.q, found.v, found.ghost)
                self.speed = found.speed
                self._arrive(beginning(segment), broken=True)
            elif pending.reset:
                segment = self._segment(settings, kernel, 0.0, *self.lab.start(settings))
                self._arrive(beginning(segment), broken=True)
            else:
                self._arrive(self._now.followed(self._carried(settings, kernel)), broken=True)
        except Stopped as error:
            raise Refusal(str(error)) from error
        if self.held is not None and self.held >= len(self.view.bodies):
            self.held = None

    def _carried(self, settings: Settings, kernel: Kernel) -> Segment:
        old, now, state = self._now.settings, self._reading, self._now.state
        q, v = self.lab.carried(old, settings, kernel, now.t, now.q, now.v)
        ghost = None
        if state.ghost is not None and self.lab.keeps_ghost(old, settings):
            ghost = (kernel.q(state.ghost), kernel.v(state.ghost))
        return self._segment(settings, kernel, now.t, q, v, ghost)

    def _continue(self, name: str, q: np.ndarray, v: np.ndarray, *, group: bool = False) -> None:
        """Go on from another state at the same time; the ghost starts beside it again."""
        segment = self._segment(self._now.settings, self._now.segment.motion.kernel, self._reading.t, q, v)
        self._remember(name, group=group)
        self._arrive(self._now.followed(segment), broken=True)

    def _segment(
        self, settings: Settings, kernel: Kernel, t: float, q: np.ndarray, v: np.ndarray, ghost: Pair | None = None
    ) -> Segment:
        motion = MotionWithGhost(self.lab, settings, kernel)
        try:
            start = motion.start(t, q, v, ghost)
        except Stopped as error:
            raise Refusal(str(error)) from error
        return Segment(motion, CheckpointedTrajectory(motion, start), settings, t, motion.read(start).total, 0)

    def _later(self, steps: int) -> Moment:
        try:
            return self._now.later(steps)
        except Stopped as error:
            self.playing = False
            raise Refusal(f"{error} Undo, reset, or choose another method or initial state.") from error

    def _arrive(self, moment: Moment, *, broken: bool = False, row: bool = True) -> None:
        """Make this the present moment, and note it for the curves; `broken` where the motion did not lead there."""
        settings = moment.settings
        alike = self._outline is None or self.lab.columns(self._now.settings) == self.lab.columns(settings)
        self._now = moment
        self._reading = moment.segment.motion.read(moment.state)
        outline = self.lab.outline(settings)
        if outline != self._outline:
            self._outline = outline
            self.revision += 1
            self.view = self.lab.view(settings, self.revision)
            anchors = self.view.anchors
            self._traced = [anchors + i for i, body in enumerate(self.view.bodies) if body.trail]
            self._width = 1 + len(self._reading.channel) + len(self._traced) * self._reading.position.shape[1]
            self._samples.clear()
            broken &= not alike  # what is plotted goes on where its coordinates do
        if broken:
            self._samples.append(np.full(self._width, np.nan))
        if row:
            traced = self._reading.position[self._traced].ravel()
            self._samples.append(np.concatenate([[self._reading.t], self._reading.channel, traced]))

    def _remember(self, name: str, *, group: bool = False) -> None:
        """Put the present on the undo list, unless this command goes on with the action at its end."""
        if group and self._grouped == name:
            return
        self._grouped = name
        self._undo.append(Action(name, Snapshot(self._now, self.speed, self.playing)))
        del self._undo[:-MOST_UNDOS]
        self._redo.clear()
