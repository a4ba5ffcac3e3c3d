"""The Workbench lab's name, and what a user may set about it: mostly texts."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.base import LabDescriptor
from holonomy.studio.labs.settings import Choice, SettingsTable, Text
from holonomy.studio.labs.workbench.presets import PRESETS
from holonomy.viewer.protocol.messages import Option, PictureView

DESCRIPTOR: Final = LabDescriptor(
    "workbench",
    "Workbench",
    (PictureView("plane", "Motion", "plane"),),
    PRESETS,
    speed_low=0.05,
    sentence="Type coordinates, a Lagrangian, constraints and forces: equations, motion and what is conserved.",
    hint="Type another Lagrangian, or drag a point",
)
METHODS: Final = (
    Option("rk4", "RK4", "Runge–Kutta, order 4, explicit, for every system; constraints are held by projection."),
    Option("gauss2", "Gauss", "Two stages, order 4, symplectic without constraints: the energy error stays small."),
    Option("rattle", "RATTLE", "Order 2, symplectic, for systems with constraints on positions."),
)
_STEPS: Final = (
    Option("3840", "1/3840 s", "64 steps per frame, for fast motions."),
    Option("960", "1/960 s", "16 steps per frame."),
    Option("240", "1/240 s", "4 steps per frame, for large systems."),
    Option("60", "1/60 s", "1 step per frame: shows the error of each method."),
)
MAPS: Final = (
    Option("none", "None", "Only the motion."),
    Option("potential", "Potential", "V as a function of the two coordinates, with the motion in it."),
    Option(
        "jacobi",
        "Jacobi",
        "The curvature K of Jacobi's metric 2(E − V)g, whose geodesics are the paths; where it is negative, they part.",
    ),
)

TABLE: Final = SettingsTable(
    choices=(
        Choice(name="method", label="Method", options=METHODS, default="rk4", structural=True),
        Choice(name="step", label="Step", options=_STEPS, default="960"),
        Choice(name="map", label="Map", options=MAPS, default="none", structural=True),
    ),
    texts=(
        Text(name="coordinates", label="Coordinates", hint="theta angle, r length"),
        Text(
            name="lagrangian", label="Lagrangian", kind="lines",
            hint="m*(r_dot^2 + r^2*theta_dot^2)/2 + m*g*r*cos(theta)",
        ),
        Text(name="parameters", label="Parameters", kind="lines", hint="m = 1, g = 9.81"),
        Text(
            name="start", label="Start", kind="lines", hint="theta = 1, r = 1, theta_dot = 0.5"
        ),
        Text(
            name="positions", label="Positions of particles", kind="lines", group="Particles",
            hint="r*sin(theta), -r*cos(theta)\none particle on each line",
        ),
        Text(
            name="masses", label="Masses (in place of a Lagrangian)", hint="m, 2*m", group="Particles"
        ),
        Text(
            name="potential", label="Potential energy (with masses)", hint="-m*g*r*cos(theta)", group="Particles"
        ),
        Text(name="lines", label="Lines between points", hint="0-1, 1-2 (0 is the origin)", group="Particles"),
        Text(
            name="constraints", label="Constraints", kind="lines", group="Constraints and forces",
            hint="x^2 + y^2 = l^2\nsin(a)*x_dot = cos(a)*y_dot",
        ),
        Text(
            name="forces", label="Forces", kind="lines", hint="theta = -c*theta_dot", group="Constraints and forces"
        ),
        Text(
            name="definitions", label="Definitions", kind="lines", group="Constraints and forces",
            hint="x = l*sin(theta)\nthen x_dot is its rate",
        ),
    ),
)  # fmt: skip
