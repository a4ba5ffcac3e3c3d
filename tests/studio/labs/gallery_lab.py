"""A lab for tests of the page: one picture of every kind with every shape, and texts that can be refused."""

from __future__ import annotations

import base64
import json

import numpy as np
from toy_lab import spring

from holonomy.studio.labs.base import AbstractLab, Drawing, LabDescriptor
from holonomy.studio.labs.settings import Choice, Parameter, Refusal, SettingsTable, Text
from holonomy.viewer.protocol.messages import (
    BodyView,
    ChannelView,
    CoordinateView,
    EnergyView,
    Field,
    Option,
    PictureView,
    ShapeView,
    Surface,
)

CIRCLE = [[0.5, 0.0], [0.3, 0.4], [0.0, 0.5], [-0.3, 0.4], [-0.5, 0.0], [-0.3, -0.4], [0.0, -0.5], [0.3, -0.4]]
SIDES = 6


def base64_floats(values):
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


class GalleryLab(AbstractLab):
    """A mass on a spring, drawn in every way that the page knows."""

    descriptor = LabDescriptor(
        "gallery",
        "Gallery",
        (
            PictureView("plane", "Shapes", "plane"),
            PictureView("ball", "Ball", "space", "ball"),
            PictureView("field", "Field", "field"),
            PictureView("surface", "Torus", "surface"),
        ),
    )
    table = SettingsTable(
        parameters=(
            Parameter(name="mass", label="Mass", symbol="m", unit="kg", low=0.1, high=5.0, default=1.0, compiled=True),
            Parameter(
                name="stiffness", label="Stiffness", symbol="k", unit="N/m", low=0.1, high=9, default=4, compiled=True
            ),
        ),
        choices=(
            Choice(
                name="colour",
                label="Colour",
                options=(Option("red", "Red"), Option("green", "Green"), Option("none", "None")),
                default="red",
            ),
        ),
        texts=(
            Text(name="formula", label="Formula", default="x^2 + 1", hint="x^2 + 1"),
            Text(name="notes", label="Notes", kind="lines"),
            Text(name="loop", label="Loop", kind="curve", picture=2, default=json.dumps(CIRCLE)),
        ),
    )

    def adjusted(self, settings):
        formula = settings.texts["formula"]
        if "@" in formula:
            raise Refusal("The character @ has no meaning here.", "formula", formula.index("@"), formula.index("@") + 1)
        if settings.choices["colour"] == "none":
            raise Refusal("A picture needs a colour.")
        return settings

    def drawing(self, settings):
        first = 1
        shapes = [
            ShapeView("polygon", first, SIDES, colour=0),
            ShapeView("polyline", first, SIDES, colour=1, dashed=True, ghost=True),
            ShapeView("arrow", first + 3, 3, colour=1),
            ShapeView("disc", first, SIDES, colour=2, radius=0.08),
            ShapeView("label", 0, 1, text="mass"),
        ]
        ball = first + SIDES
        shapes += [
            ShapeView("mesh", ball, 4, colour=3, picture=1, faces=(0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3)),
            ShapeView("polyline", ball + 4, 9, colour=1, picture=1, dashed=True),
            ShapeView("label", ball, 1, colour=1, picture=1, text="P"),
            ShapeView("disc", ball + 13, 1, colour=1, picture=2),
        ]
        return Drawing(
            summary="Every kind of picture.",
            method="Gauss, 2 stages",
            coordinates=(CoordinateView("x", "x", "m", "ẋ", "m/s", None),),
            bodies=(BodyView("mass", trail=True),),
            energies=(EnergyView("total", "Total", "E", total=True),),
            channels=(ChannelView("total", "E", "Total energy", "J", "Energy"),),
            shapes=tuple(shapes),
            formulas=True,
        )

    def start(self, settings):
        return np.array([1.0]), np.array([0.0])

    def extents(self, settings):
        return (2.0, 1.0, 1.0, 1.6)

    def program(self, structure):
        import jax.numpy as jnp

        import holonomy as hl
        from holonomy.studio.compile.program import Program

        base = spring(1.0, 1.0)
        turn = 2 * np.pi * np.arange(SIDES) / SIDES
        hexagon = jnp.array(np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1))
        corners = jnp.array([[0.5, 0.0, -0.3], [-0.4, 0.4, -0.3], [-0.4, -0.4, -0.3], [0.0, 0.0, 0.5]])
        angle = np.linspace(0, np.pi, 9)
        arc = jnp.array(np.stack([0.8 * np.cos(angle), 0 * angle, 0.8 * np.sin(angle)], axis=1))

        def observe(system, t, q, v):
            zero = jnp.zeros(())
            energy = 0.5 * system.parameters["mass"] * v[0] ** 2 + 0.5 * system.parameters["stiffness"] * q[0] ** 2
            state = jnp.stack([0.5 * q[0], 0.25 * v[0], zero])[None]
            places = [jnp.stack([q[0], zero, zero])[None], hexagon, corners, arc, state]
            return energy[None], jnp.concatenate(places), q[:0]

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

    def equations(self, structure):
        return "", (("Motion", r"m\ddot x = -k x"), ("Words", "", "The force is proportional to the displacement."))

    def field(self, settings, kernel):
        y, x = np.meshgrid(np.linspace(-1, 1, 61), np.linspace(-2, 2, 81), indexing="ij")
        axes = (-2.0, 2.0, "a", "m", -1.0, 1.0, "b", "m")
        return Field(2, 61, 81, *axes, "F", "Height", "J", -1.0, 2.0, True, base64_floats(x * y + 0.25 * x**2))

    def surface(self, settings, kernel):
        u, w = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, 2 * np.pi, 49), indexing="ij")
        r = 1 + 0.4 * np.cos(w)
        points = np.stack([r * np.cos(u), r * np.sin(u), 0.4 * np.sin(w)], axis=-1)
        curvature = np.cos(w) / (0.4 * r)
        ends = (float(curvature.min()), float(curvature.max()))
        values, places = base64_floats(curvature), base64_floats(points)
        return Surface(3, 49, 49, "K", "Curvature", "1/m²", *ends, *ends, values, places, True)


LAB = GalleryLab()
