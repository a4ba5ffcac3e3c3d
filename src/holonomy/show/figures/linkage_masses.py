"""The same sphere with the mass in the hinges, in both, and in the rods."""

from __future__ import annotations

from holonomy.show.figures.linkage_curvature import panels
from holonomy.show.figures.registry import Reproduction

CASES = ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0))


def make() -> Reproduction:
    """Above K, below |II|², for three ways to put mass on a linkage of base 3."""
    from holonomy.models import Linkage

    named = [
        (f"rods {rod:g}, hinges {hinge:g}", Linkage(4, 3.0, rod_mass=rod, hinge_mass=hinge)) for rod, hinge in CASES
    ]
    return panels(named, "base 3, mass in rods and hinges")
