"""The Curved space lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.curved.lab import CurvedLab

LAB: Final = CurvedLab()
