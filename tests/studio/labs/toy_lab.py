"""A lab as another package would write it: a mass on a spring, with nothing but the public extension points.

It has presets, a plot, and beside the picture of the mass a field: the energy of every state, with the present one.
"""

from __future__ import annotations

import base64

import numpy as np

from holonomy.studio.labs.base import AbstractLab, Drawing, LabDescriptor, Preset
from holonomy.studio.labs.settings import Parameter, Settings, SettingsTable
from holonomy.viewer.protocol.messages import (
    BodyView,
    ChannelView,
    CoordinateView,
    EnergyView,
    Field,
    PictureView,
    PlotView,
    RodView,
    ShapeView,
)

ENERGIES = (("kinetic", "Kinetic", "T"), ("potential", "Potential", "V"), ("total", "Total", "E"))


class ToyLab(AbstractLab):
    """A mass on a spring along a line."""

    descriptor = LabDescriptor(
        "toy",
        "Spring",
        (PictureView("plane", "Spring", "plane"), PictureView("states", "States", "field")),
        (Preset("soft", "Soft spring"), Preset("stiff", "Stiff spring", Settings({"stiffness": 9.0}, {}, {}))),
    )
    table = SettingsTable(
        parameters=(
            Parameter(name="mass", label="Mass", symbol="m", unit="kg", low=0.1, high=5.0, default=1.0, compiled=True),
            Parameter(
                name="stiffness", label="Stiffness", symbol="k", unit="N/m", low=0.1, high=20, default=4, compiled=True
            ),
        )
    )

    def drawing(self, settings):
        return Drawing(
            summary="A mass on a spring.",
            method="Gauss, 2 stages",
            coordinates=(CoordinateView("x", "x", "m", "ẋ", "m/s", None),),
            bodies=(BodyView("mass", trail=False),),
            energies=tuple(EnergyView(name, label, symbol) for name, label, symbol in ENERGIES),
            channels=(
                ChannelView("x", "x", "Position", "m", "Position"),
                *(ChannelView(name, symbol, f"{label} energy", "J", "Energy") for name, label, symbol in ENERGIES),
            ),
            rods=(RodView(0, 1, elastic=True),),
            shapes=(ShapeView("disc", 2, 1, colour=1, picture=1),),
            plots=(PlotView("Position", "time", ("t",), ("x",), 10.0),),
            anchors=1,
        )

    def start(self, settings):
        return np.array([1.0]), np.array([0.0])

    def extents(self, settings):
        return (2.0, 2.0)

    def surface_key(self, settings):
        return tuple(settings.parameters.values())

    def field(self, settings, kernel):
        p = settings.parameters
        v, x = np.meshgrid(np.linspace(-4, 4, 61), np.linspace(-2, 2, 61), indexing="ij")
        energy = 0.5 * p["mass"] * v**2 + 0.5 * p["stiffness"] * x**2
        values = base64.b64encode(energy.astype("<f4").tobytes()).decode()
        axes = (-2.0, 2.0, "x", "m", -4.0, 4.0, "ẋ", "m/s")
        return Field(1, 61, 61, *axes, "E", "Energy", "J", 0.0, float(energy.max()), False, values)

    def program(self, structure):
        import jax.numpy as jnp

        import holonomy as hl
        from holonomy.studio.compile.program import Program

        base = spring(1.0, 1.0)

        def observe(system, t, q, v):
            p = system.parameters
            kinetic, potential = 0.5 * p["mass"] * v[0] ** 2, 0.5 * p["stiffness"] * q[0] ** 2
            channels = jnp.stack([q[0], kinetic, potential, kinetic + potential])
            zero = jnp.zeros(())
            return channels, jnp.stack([jnp.stack([q[0], zero]), jnp.stack([q[0], v[0]])]), q

        return Program(
            system=lambda row: base.with_parameters(**self.table.named(structure, row)),
            numbers=self.table.size(structure),
            dimension=1,
            method=hl.Gauss(2),
            observe=observe,
        )

    def library(self, settings):
        import holonomy as hl

        return spring(**settings.parameters), hl.Gauss(2)


def spring(mass: float, stiffness: float):
    import holonomy as hl

    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.mass * v[0] ** 2 - 0.5 * p.stiffness * q[0] ** 2,
        coordinates={"x": "length"},
        parameters={"mass": mass, "stiffness": stiffness},
    )


LAB = ToyLab()
