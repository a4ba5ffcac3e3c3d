"""Settings as they were set last, while there is no motion of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from holonomy.studio.labs.settings import Refusal, Settings
from holonomy.viewer.protocol import messages

HELD: Final = "There is no motion of these settings: correct what is marked, or undo."
CANCELLED: Final = "The equations of motion of this were not compiled, because that was cancelled."


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What was refused stays on the page with the reason at its setting, and counts for the next change; time is held,
    in the last state of the motion before."""

    settings: Settings
    refusal: Refusal
    setting: str

    @classmethod
    def of(cls, settings: Settings, refusal: Refusal, changed: str, before: Draft | None) -> Draft:
        """Settings that a change of one of them has made wrong, or has left wrong as they were before."""
        same = before is not None and str(before.refusal) == str(refusal)
        where = before.setting if same and before is not None else changed
        return cls(settings, refusal, refusal.setting or where)

    @property
    def fault(self) -> messages.Fault:
        """What the page shows of it."""
        return messages.Fault(str(self.refusal), self.setting, self.refusal.start, self.refusal.end)


def require_motion(draft: Draft | None, *, still: bool = False) -> None:
    """Refuse what needs the motion of the settings that are shown, while there is none."""
    if still:
        raise Refusal("The motion begins as soon as its equations are compiled.")
    if draft is not None:
        raise Refusal(HELD)
