"""One simulation of a lab: commands in, frames and control states out. No clock and no thread: tests drive it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from holonomy.studio.compile.kernel import Kernel, Stopped
from holonomy.studio.labs.base import PRESET, STORY, AbstractLab, State
from holonomy.studio.labs.settings import PAGE, Refusal, Settings, Structure, checked
from holonomy.studio.session import actions
from holonomy.studio.session import share_link as document
from holonomy.studio.session.actions import LAYOUT, Pending, Snapshot, Stop, UndoList, label_of
from holonomy.studio.session.checkpointed_trajectory import CheckpointedTrajectory
from holonomy.studio.session.controls import PlayerState, frame_flags, shown_controls
from holonomy.studio.session.drafts import CANCELLED, Draft, require_motion
from holonomy.studio.session.motion_with_ghost import MotionWithGhost, Reading
from holonomy.studio.session.preview import NEEDS_MOTION, Preview, preview
from holonomy.studio.session.samples import Samples
from holonomy.studio.session.share_link import Document
from holonomy.studio.session.timeline import Moment, Segment, beginning
from holonomy.studio.stories import step_at
from holonomy.viewer.protocol import messages

Kernels = Callable[[Structure], Kernel | None]
"""The code for a structure where it is at hand, None where it must be made first."""


class Simulation:
    """The state of one user's lab.

    A change that needs code which is not there yet waits in `wanted`; until `supply` or `give_up` is called, the motion
    goes on as it was, or where another one is to begin, its first state is shown and nothing moves.
    """

    def __init__(self, lab: AbstractLab, kernels: Kernels, settings: Settings | None = None, revision: int = 0):
        self.lab = lab
        self.playing = False
        self.speed = 1.0
        self.held: int | None = None
        self.revision = revision
        self._kernels = kernels
        self._actions = UndoList()
        self._pending: Pending | None = None
        self._preview: Preview | None = None
        self.draft: Draft | None = None  # settings that are shown although there is no motion of them
        self._stop: Stop | None = None
        self._outline: object = None
        self._told = ""  # the step of a story that was shown last
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

    @property
    def still(self) -> bool:
        """Whether only the first state of a motion is shown, whose code is not there yet."""
        return self._preview is not None

    @property
    def runs(self) -> bool:
        """Whether time passes as far as the simulation is concerned."""
        return self.playing and self.held is None and not self.still and self.draft is None

    @property
    def shown(self) -> Settings:
        """The settings of the motion that is shown, or of the one that is about to begin."""
        return self._pending.settings if self.still and self._pending is not None else self._now.settings

    def upgrade(self) -> None:
        """Go on in the same state with optimised code where that has come since the motion began."""
        settings, quick = self._now.settings, self._now.segment.motion.kernel.quick
        travels = self._stop is not None and self._stop.steps_left(self._now) is not None
        better = self._kernels(self.lab.structure(settings)) if quick and not travels else None
        if better is not None and not better.quick:
            self._arrive(self._now.followed(self._carried(settings, better)), row=False)

    def advance(self, steps: int) -> None:
        """Let the motion go on; `Refusal` when it cannot, with the last good state kept and time held."""
        left = None if self._stop is None else self._stop.steps_left(self._now)
        if left is not None and left <= steps:
            steps, self._stop, self.playing = left, None, False
        while steps > 0:
            # Rows are whole frames, so that curves are even and the same at every speed.
            per_frame, index = self._now.segment.motion.stride, self._now.index
            stride = min(steps, per_frame - index % per_frame)
            self._arrive(self._later(stride), row=(index + stride) % per_frame == 0)
            steps -= stride

    def apply(self, command: messages.Command) -> None:
        """Carry out one command, or raise `Refusal` and change nothing."""
        if not isinstance(command, actions.SERIES):
            self._actions.end_group()
        if isinstance(command, NEEDS_MOTION):
            require_motion(self.draft, still=self.still)
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
                actions.require_graspable(self.view, body)
                self.held = body
            case messages.DragMove(x, y, z):
                self._drag(np.array([x, y, z]))
            case messages.DragEnd(x, y, z):
                self._release(np.array([x, y, z]))
            case messages.SetParameter() | messages.SetChoice() | messages.SetToggle() | messages.SetText():
                self._set(command)
            case messages.Act(name):
                (self._tell if name.startswith(STORY) else self._act)(name)
            case messages.SetSpeed(value):
                actions.require_speed(self.view, value)
                if value != self.speed:
                    self._remember("speed")
                self.speed = value
            case messages.Reset(defaults):
                self._reset(defaults)
            case messages.Undo() | messages.Redo():
                self._swap(redo=isinstance(command, messages.Redo))
            case messages.Restore(text):
                found = document.read(self.lab, text)
                self._remember("opened link")
                self._want(found.settings, found)
            case messages.Cancel():
                self.give_up(Refusal(CANCELLED))
            case messages.Seen() | messages.Share() | messages.Export() | messages.AskEquations():
                pass

    def supply(self, kernel: Kernel) -> None:
        """The code that was wanted has come: go on with it."""
        pending, self._pending = self._pending, None
        if pending is not None:
            try:
                self._change(pending, kernel)
            finally:
                if self.still:  # it was refused
                    self._arrive(self._now, broken=True)

    def give_up(self, refusal: Refusal) -> None:
        """The code that was wanted cannot be had: the change that needed it is taken back, or kept with the reason."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._refused(pending, refusal)
            if self.still:
                self._arrive(self._now, broken=True)

    def _refused(self, pending: Pending, refusal: Refusal) -> None:
        if pending.kept is None:
            self._actions.drop()
            self.draft = pending.draft
        else:
            self.held = None
            self.draft = Draft.of(pending.settings, refusal, pending.kept, pending.draft)

    def document(self) -> str:
        """The present state as a document."""
        return document.of_moment(self.lab, self._now, self._reading, self.speed)

    def controls(self) -> messages.Controls:
        """What the page's controls should show."""
        player = PlayerState(self.playing and self.draft is None, self.speed, self.held, *self._actions.names)
        return shown_controls(self.lab, self._now, self._pending, self.draft, player, still=self.still)

    def frame(self, sequence: int, *, rate: float = 0.0, behind: bool = False) -> messages.Frame:
        """The frame of this moment."""
        if self._preview is not None:
            return self._preview.frame(self.view, sequence)
        now, drift = self._reading, self._reading.total - self._now.segment.energy
        flags = frame_flags(playing=self.playing and self.draft is None, held=self.held is not None, behind=behind)
        return messages.Frame(
            sequence, flags, self.revision, now.t, drift, rate, self._now.oldest, self._now.newest, self._now.index,
            now.q, now.v, now.energy, now.channel, now.position, now.strain,
            self._samples.take(),
        )  # fmt: skip

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
            self._actions.end_group()

    def _drag(self, target: np.ndarray) -> None:
        if self.held is None:
            raise Refusal("No body is held: a drag must begin on a body.")
        q = self.lab.dragged(self._now.settings, self._now.segment.motion.kernel, self._reading.q, self.held, target)
        self._continue(f"drag of {self.view.bodies[self.held].label}", q, np.zeros_like(q), group=True)

    def _release(self, velocity: np.ndarray) -> None:
        held, self.held = self.held, None
        if held is not None and self.view.bodies[held].throws and velocity.any():
            now = self._reading
            v = self.lab.thrown(self._now.settings, self._now.segment.motion.kernel, now.q, held, velocity)
            self._continue(f"drag of {self.view.bodies[held].label}", now.q, v, group=True)  # one gesture, one action
            self.playing = True
        self._actions.end_group()

    def _set(self, command: messages.SetParameter | messages.SetChoice | messages.SetToggle | messages.SetText) -> None:
        pending, before = self._pending, self.draft
        good = self._now.settings if pending is None else pending.settings
        base = good if before is None else before.settings
        settings = checked(self.view, base, command)
        series = isinstance(command, (messages.SetParameter, messages.SetText))
        if settings != base:
            self._remember(label_of(self.view, command), group=series)
        if command.name == PAGE and pending is None:
            self._now = self._now.with_page(settings.texts[PAGE])
            self.draft = before and replace(before, settings=settings)
        elif settings != base:
            self._put(settings, command, good)
        if series and command.settled:
            self._actions.end_group()

    def _put(self, settings: Settings, command: Any, good: Settings) -> None:
        kept = command.name if self.lab.keeps(command) else None
        settings = self.lab.retyped(settings, command.name) if isinstance(command, messages.SetText) else settings
        try:
            settings = self.lab.completed(settings)
        except Refusal as refusal:
            self._refused(Pending(settings, (), kept=kept, draft=self.draft), refusal)
            raise
        if settings == good:
            self.draft = None
        else:
            state = p.state if (p := self._pending) and p.structure == self.lab.structure(settings) else None
            self._want(settings, state, reset=self.still and state is None, kept=kept)

    def _act(self, name: str) -> None:
        button = next((action for action in self.view.actions if action.name == name), None)
        if button is None:
            raise Refusal(f"This lab has no button {name!r}.")
        if name.startswith(PRESET):
            settings = self.lab.preset(name.removeprefix(PRESET))
            self._remember(button.label)
            self._want(settings.with_page_of(self._now.settings), reset=True)
            return
        now, settings, kernel = self._reading, self._now.settings, self._now.segment.motion.kernel
        effect = self.lab.pressed(settings, kernel, name, now.q, now.v)
        segment = self._segment(effect.settings, kernel, now.t, effect.q, effect.v)
        self._remember(button.label)
        self.draft = None
        self._arrive(self._now.followed(segment), broken=True)
        self.playing |= effect.play
        self._stop = None if effect.stop_after is None else Stop(segment, effect.stop_after)

    def _tell(self, place: str) -> None:
        """Show a step of a story: go on from the step before it, or else start in its own state."""
        step, before = step_at(self.lab, place.removeprefix(STORY))
        self._remember("story")
        self._want(step.settings.with_page_of(self._now.settings), reset=step.restart or self._told != STORY + before)
        self._told, self.speed = place, self.speed if step.speed is None else step.speed
        self.playing = self.playing if step.play is None else step.play

    def _reset(self, defaults: bool) -> None:
        self._remember("reset")
        self.speed = 1.0 if defaults else self.speed
        self._want(self.lab.opening() if defaults else self._now.settings, reset=True)

    def _swap(self, *, redo: bool) -> None:
        action = self._actions.take(Snapshot(self._now, self.speed, self.playing, self.draft), redo=redo)
        found = action.snapshot
        if action.name == LAYOUT and self._pending is None:
            self._now = self._now.with_page(found.moment.settings.texts.get(PAGE, ""))
            self.draft = found.draft
            return
        self._pending, self.draft = None, found.draft
        self.held = None
        self.speed = found.speed
        self.playing = self.playing and found.playing
        self._arrive(found.moment, broken=True)

    # ── Changing ──────────────────────────────────────────────────────────────────────────────────

    def _want(
        self, settings: Settings, state: Document | None = None, *, reset: bool = False, kept: str | None = None
    ) -> None:
        """Change to these settings, at once or as soon as their code is there."""
        pending = Pending(settings, self.lab.structure(settings), state, reset, kept, self.draft)
        self.draft = None
        kernel = self._kernels(pending.structure)
        self._pending = pending if kernel is None else None
        if kernel is not None:
            self._change(pending, kernel)
        elif reset or state is not None:
            self._preview = preview(self.lab, pending)
            if self.still:
                self._outline = None  # so that the view of what comes next is sent, whatever it is
                self.revision += 1
                self.view = self.lab.view(settings, self.revision)

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
        except Refusal as refusal:
            self._refused(pending, refusal)
            raise
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
        self, settings: Settings, kernel: Kernel, t: float, q: np.ndarray, v: np.ndarray, ghost: State | None = None
    ) -> Segment:
        motion = MotionWithGhost(self.lab, settings, kernel)
        self.lab.check_start(settings, kernel, t, q, v)
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
        self._preview = None
        settings = moment.settings
        alike = self._outline is None or self.lab.columns(self._now.settings) == self.lab.columns(settings)
        self._now = moment
        self._reading = moment.segment.motion.read(moment.state)
        if (outline := self.lab.outline(settings)) != self._outline:
            self._outline = outline
            self.revision += 1
            self.view = self.lab.view(settings, self.revision)
            self._samples = Samples(self.view, self._reading)
            broken &= not alike  # what is plotted goes on where its coordinates do
        if broken:
            self._samples.interrupt()
        if row:
            self._samples.add(self._reading)

    def _remember(self, name: str, *, group: bool = False) -> None:
        """Put the present on the undo list, unless this command goes on with the action at its end."""
        self._actions.remember(name, Snapshot(self._now, self.speed, self.playing, self.draft), group=group)
