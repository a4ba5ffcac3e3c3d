"""The Pendulum lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.pendulum.lab import PendulumLab

LAB: Final = PendulumLab()
