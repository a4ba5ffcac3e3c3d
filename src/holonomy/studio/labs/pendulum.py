"""The Pendulum lab: two bobs on massless rods in the plane, under gravity."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from jaxtyping import Float

import holonomy as hl
from holonomy.models.classics import double_pendulum
from holonomy.studio import wire
from holonomy.studio.lab import AbstractLab, AbstractStepper, Parameters
from holonomy.studio.labs.chain import chain_points, reach

DT: Final = 1 / 960
LINKS: Final = 2
_LARGEST_BOB: Final = 0.06
"""Radius of the heaviest bob in the picture, as a fraction of the extent."""

_VIEW: Final = wire.LabView(
    name="pendulum",
    title="Double pendulum",
    summary="Two masses on rigid, massless rods. There is no friction, so the energy keeps its value.",
    revision=1,
    anchors=1,
    pictures=(wire.PictureView("plane", "Pendulum", "plane"),),
    coordinates=(
        wire.CoordinateView("theta1", "θ₁", "rad", "ω₁", "rad/s", period=2 * np.pi),
        wire.CoordinateView("theta2", "θ₂", "rad", "ω₂", "rad/s", period=2 * np.pi),
    ),
    parameters=(
        wire.ParameterView("g", "Gravity", "g", "m/s²", 0.0, 30.0, 0.01, 9.81),
        wire.ParameterView("l1", "Upper length", "l₁", "m", 0.1, 3.0, 0.01, 1.0),
        wire.ParameterView("l2", "Lower length", "l₂", "m", 0.1, 3.0, 0.01, 1.0),
        wire.ParameterView("m1", "Upper mass", "m₁", "kg", 0.1, 10.0, 0.1, 1.0),
        wire.ParameterView("m2", "Lower mass", "m₂", "kg", 0.1, 10.0, 0.1, 1.0),
    ),
    choices=(),
    toggles=(),
    actions=(),
    bodies=(wire.BodyView("upper bob", trail=False), wire.BodyView("lower bob", trail=True, colour=1)),
    rods=(wire.RodView(0, 1), wire.RodView(1, 2)),
    energies=(
        wire.EnergyView("kinetic", "Kinetic", "T"),
        wire.EnergyView("potential", "Potential", "V"),
        wire.EnergyView("total", "Total", "E", total=True),
    ),
    channels=(
        wire.ChannelView("kinetic", "T", "Kinetic energy", "J", "Energy"),
        wire.ChannelView("potential", "V", "Potential energy", "J", "Energy"),
        wire.ChannelView("total", "E", "Total energy", "J", "Energy"),
        wire.ChannelView("theta1", "θ₁", "Angle 1", "rad", "Angles", period=2 * np.pi, colour=0),
        wire.ChannelView("theta2", "θ₂", "Angle 2", "rad", "Angles", period=2 * np.pi, colour=1),
        wire.ChannelView("omega1", "ω₁", "Rate 1", "rad/s", "Rates", colour=0),
        wire.ChannelView("omega2", "ω₂", "Rate 2", "rad/s", "Rates", colour=1),
    ),
    plots=(
        wire.PlotView("Angles", "time", "t", ("theta1", "theta2"), 40.0),
        wire.PlotView("Phase", "phase", "theta1", ("omega1",), 40.0),
        wire.PlotView("Configuration", "phase", "theta1", ("theta2",), 40.0),
    ),
    method="Gauss(2), symplectic",
    dt=DT,
    frame_seconds=1 / 60,
    speed_low=0.1,
    speed_high=5.0,
)


class PendulumLab(AbstractLab):
    r"""Angles \(\theta_i\) from the downward vertical; \(V = g\sum m_i y_i\), zero at the pivot."""

    @property
    def view(self) -> wire.LabView:
        return _VIEW

    def stepper(self, parameters: Parameters) -> AbstractStepper:
        return hl.Stepper(_system().with_parameters(**parameters), method=hl.Gauss(2), dt=DT)

    def start(self) -> tuple[float, Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        return 0.0, np.array([2.0, 2.6]), np.zeros(LINKS)

    def position(self, q: Float[np.ndarray, " n"], parameters: Parameters) -> Float[np.ndarray, "points d"]:
        return chain_points(q, _lengths(parameters))

    def energy(
        self, q: Float[np.ndarray, " n"], v: Float[np.ndarray, " n"], total: float, parameters: Parameters
    ) -> Float[np.ndarray, " kinds"]:
        heights = self.position(q, parameters)[1:, 1]
        potential = parameters["g"] * float(_masses(parameters) @ heights)
        return np.array([total - potential, potential, total])

    def dragged(
        self, q: Float[np.ndarray, " n"], body: int, target: Float[np.ndarray, " d"], parameters: Parameters
    ) -> Float[np.ndarray, " n"]:
        return reach(q, _lengths(parameters), body, target)

    def extent(self, parameters: Parameters) -> float:
        return 1.12 * float(_lengths(parameters).sum())

    def radii(self, parameters: Parameters) -> tuple[float, ...]:
        size = np.cbrt(_masses(parameters))
        return tuple(float(r) for r in _LARGEST_BOB * np.maximum(size / size.max(), 0.4))


@functools.cache
def _system() -> hl.System:
    """The system itself, described once; users' parameters are numbers in it."""
    return double_pendulum(**{parameter.name: parameter.default for parameter in _VIEW.parameters})


def _lengths(parameters: Parameters) -> Float[np.ndarray, " links"]:
    return np.array([parameters["l1"], parameters["l2"]])


def _masses(parameters: Parameters) -> Float[np.ndarray, " links"]:
    return np.array([parameters["m1"], parameters["m2"]])
