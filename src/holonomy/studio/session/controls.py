"""What the page's controls show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Settings
from holonomy.studio.session.actions import Pending
from holonomy.studio.session.drafts import Draft
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages

OPENS: Final = "Compiling the equations of motion."
CHANGES: Final = "Compiling the new equations of motion."


@dataclass(frozen=True, slots=True)
class PlayerState:
    """What the controls show besides the settings: time, the held body, and what undo and redo would do."""

    playing: bool = False
    speed: float = 1.0
    held: int | None = None
    undo: str | None = None
    redo: str | None = None


def controls(
    lab: AbstractLab,
    phase: messages.Phase,
    message: str,
    settings: Settings,
    shown: Settings,
    kernel: Kernel | None,
    player: PlayerState,
) -> messages.Controls:
    """The controls with these settings, beside a picture of the settings `shown`; None for a kernel that is to come."""
    certificate = messages.CertificateView("", "", (), "", None)
    if kernel is not None:
        limit = DRIFT_LIMIT if lab.conserves_energy(shown) else None
        certificate = messages.CertificateView(kernel.engine, kernel.method, kernel.traits, lab.caution(shown), limit)
    return messages.Controls(
        phase, message, player.playing, player.speed, player.held, dict(settings.parameters), dict(settings.choices),
        dict(settings.toggles), dict(settings.texts), lab.extents(shown), lab.radii(shown), certificate, player.undo,
        player.redo,
    )  # fmt: skip


def shown_controls(
    lab: AbstractLab, now: Moment, pending: Pending | None, draft: Draft | None, player: PlayerState, *, still: bool
) -> messages.Controls:
    """The controls of a simulation: of its draft, of what is to come, or of the motion."""
    settings, kernel = now.settings, now.segment.motion.kernel
    if draft is not None:
        found = controls(lab, "ready", "", draft.settings, settings, kernel, player)
        return replace(found, faults=(draft.fault,))
    if pending is None:
        return controls(lab, "ready", "", settings, settings, kernel, player)
    if still:
        return controls(lab, "opening", OPENS, pending.settings, pending.settings, None, player)
    return controls(lab, "compiling", CHANGES, pending.settings, settings, kernel, player)


def frame_flags(*, playing: bool, held: bool, behind: bool) -> messages.FrameFlag:
    """The flags of a frame."""
    flags = messages.FrameFlag.PLAYING if playing else messages.FrameFlag(0)
    flags |= messages.FrameFlag.HELD if held else messages.FrameFlag(0)
    return flags | (messages.FrameFlag.BEHIND if behind else messages.FrameFlag(0))
