"""Rows of recent motion that wait for the next frame: times, channels and the places of traced bodies."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from holonomy.studio.session.motion_with_ghost import Reading
from holonomy.viewer.protocol import messages

MOST_SAMPLES: Final = 512


class Samples:
    """The newest rows under one view."""

    def __init__(self, view: messages.LabView, reading: Reading):
        self._rows: deque[np.ndarray] = deque(maxlen=MOST_SAMPLES)
        self._traced = [view.anchors + i for i, body in enumerate(view.bodies) if body.trail]
        self._width = 1 + len(reading.channel) + len(self._traced) * reading.position.shape[1]

    def interrupt(self) -> None:
        """The motion did not lead to the next row."""
        self._rows.append(np.full(self._width, np.nan))

    def add(self, reading: Reading) -> None:
        """A row of this state."""
        traced = reading.position[self._traced].ravel()
        self._rows.append(np.concatenate([[reading.t], reading.channel, traced]))

    def take(self) -> np.ndarray:
        """All rows since the last call."""
        rows = np.array(self._rows).reshape(-1, self._width)
        self._rows.clear()
        return rows
