"""What stands still behind the motion, at a moment of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages

Background = messages.Surface | messages.Field | messages.Curves


def surface(lab: AbstractLab, moment: Moment) -> messages.Surface | None:
    """The coloured surface, as it is under the present settings."""
    return lab.surface(moment.settings, moment.segment.motion.kernel)


def field(lab: AbstractLab, moment: Moment) -> messages.Field | None:
    """The function in a picture of kind "field", as it is under the present settings."""
    return lab.field(moment.settings, moment.segment.motion.kernel)


def curves(lab: AbstractLab, moment: Moment) -> messages.Curves | None:
    """The lines and marks that stand while the present segment lasts."""
    segment = moment.segment
    kernel, start = segment.motion.kernel, segment.trajectory.start.main
    return lab.curves(segment.settings, kernel, kernel.q(start), kernel.v(start))


KINDS: Final[tuple[tuple[type, Callable[[AbstractLab, Moment], Background | None]], ...]] = (
    (messages.Surface, surface),
    (messages.Field, field),
    (messages.Curves, curves),
)
