"""A lab for tests of the page whose answers come late, and say what they were computed from."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

from toy_lab import ToyLab

from holonomy.viewer.protocol.messages import ActionView, SetParameter

LONG = 3600.0
SLOW = 900.0
"""Stiffness from which on equations take long."""


class LateLab(ToyLab):
    """A mass on a spring."""

    descriptor = replace(ToyLab.descriptor, name="late", title="Late")
    table = replace(
        ToyLab.table,
        parameters=tuple(replace(p, most=1000.0) if p.name == "stiffness" else p for p in ToyLab.table.parameters),
    )

    def drawing(self, settings):
        return replace(super().drawing(settings), actions=(ActionView("heavier", "Heavier"),))

    def derivation(self, settings):
        return (("stiffness", settings.parameters["stiffness"]),)

    def equations(self, structure: Any):
        ((_, stiffness),) = structure
        time.sleep(LONG if stiffness >= SLOW else 0.0)
        return "", (("Equation", "", f"stiffness {stiffness:g}"),)

    def computed(self, settings, name):
        return ("late_lab:heavier", (settings,)) if name == "heavier" else None

    def field(self, settings, kernel):
        """Its upper end is the stiffness."""
        time.sleep(0.1)
        return replace(super().field(settings, kernel), high=settings.parameters["stiffness"])

    def channels(self, settings, main, ghost, reading):
        """Those of a mass of 4.5 take long to write into a file."""
        if settings.parameters["mass"] == 4.5 and threading.current_thread().name.startswith("studio-exports"):
            time.sleep(0.05)
        return super().channels(settings, main, ghost, reading)


def heavier(settings):
    """Runs in a worker process; takes long for a mass of 2."""
    mass = settings.parameters["mass"]
    time.sleep(LONG if mass == 2.0 else 0.0)
    return SetParameter("mass", mass + 0.5, True)


LAB = LateLab()
