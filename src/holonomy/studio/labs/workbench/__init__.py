"""The Workbench lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.workbench.lab import WorkbenchLab

LAB: Final = WorkbenchLab()
