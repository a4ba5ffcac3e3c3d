"""The Linkage lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.linkage.lab import LinkageLab

LAB: Final = LinkageLab()
