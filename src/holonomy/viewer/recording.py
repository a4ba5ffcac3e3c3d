"""A motion as a recording: all that the studio's viewer needs to replay it, without a process that computes."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from holonomy.viewer.protocol.messages import Controls, Notice, Welcome

MOST_NUMBERS: Final = 4_000_000
"""In a recording: 32 MB of doubles. Longer motions are thinned."""


@dataclass(frozen=True)
class StateColumns:
    """Where in a row, counted after its time, the numbers of a state are."""

    q: tuple[int, ...]
    v: tuple[int, ...]
    energy: tuple[int, ...]
    strain: tuple[int, ...] = ()
    """Relative stretches of the rods; none where no rod stretches."""


@dataclass(frozen=True)
class Recording:
    """Rows in the order of time, with what the viewer is told about them.

    A row of `table` is a time, the channels of `welcome.lab`, and further numbers that `state` points to. The same row
    of `places` holds the points of the picture, fixed ones first, counted from its `middle`.
    """

    welcome: Welcome
    controls: Controls
    steps: int
    table: Float[np.ndarray, "rows columns"]
    places: Float[np.ndarray, "rows points d"]
    middle: Float[np.ndarray, " d"]
    state: StateColumns | None = None
    """None where the channels begin with the energies, the coordinates and the velocities."""
    behind: tuple[Notice, ...] = ()
    """What stands still behind the motion: surfaces, fields, curves."""

    def head(self) -> dict[str, Any]:
        """What is not numbers by the thousand, ready for JSON."""
        from holonomy.viewer.protocol.messages import tag

        state = self._leading() if self.state is None else self.state
        return {
            "welcome": {"type": "welcome", **asdict(self.welcome)},
            "controls": {"type": "controls", **asdict(self.controls)},
            "steps": self.steps,
            "rows": len(self.table),
            "width": self.table.shape[1] - 1,
            "points": self.places.shape[1],
            "dimension": self.places.shape[2],
            "state": asdict(state),
            "behind": [{"type": tag(type(notice)), **asdict(notice)} for notice in self.behind],
        }

    def _leading(self) -> StateColumns:
        lab = self.welcome.lab
        energies, n = len(lab.energies), len(lab.coordinates)
        q = range(energies, energies + n)
        return StateColumns(tuple(q), tuple(range(q.stop, q.stop + n)), tuple(range(energies)))

    def numbers(self) -> bytes:
        """The table as little-endian doubles, then the places as single ones."""
        return self.table.astype("<f8").tobytes() + self.places.astype("<f4").tobytes()

    def text(self) -> str:
        """The whole as JSON that can stand in a page: no character in it can end a script or begin a comment."""
        packed = self.head() | {"numbers": base64.b64encode(self.numbers()).decode("ascii")}
        plain = json.dumps(packed, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
        return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def kept(rows: int, width: int) -> tuple[Int[np.ndarray, " kept"], int]:
    """Which rows fit into a recording, the first and the last among them, and every how many-th they are."""
    stride = max(1, -(-rows * width // MOST_NUMBERS))
    keep = np.arange(0, rows, stride)
    return (keep if keep[-1] == rows - 1 else np.append(keep, rows - 1)), stride
