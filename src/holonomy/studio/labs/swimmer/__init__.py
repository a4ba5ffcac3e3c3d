"""The Swimmer lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.swimmer.lab import SwimmerLab

LAB: Final = SwimmerLab()
