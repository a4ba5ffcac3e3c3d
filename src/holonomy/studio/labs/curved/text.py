"""The Curved space lab's equations, and its state as a Python program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.studio.labs.base import Coordinates
from holonomy.studio.labs.curved import view
from holonomy.studio.labs.curved.settings import SPACES, geometry, rigid
from holonomy.studio.labs.curved.shapes import BALLS
from holonomy.studio.labs.settings import Settings, Structure

if TYPE_CHECKING:
    from holonomy.studio.labs.curved.lab import CurvedLab

_AHEAD: Final = 10.0
"""Seconds that the exported motion goes on."""
_FIELD: Final = r"\nabla_{\dot x_i}\dot x_i = "
_METRICS: Final = {
    "flat": (
        "Flat space",
        r"\langle v, v\rangle = |v|^2, \qquad d(x, y) = |x - y|",
    ),
    "sphere": (
        "The sphere of radius R, with the metric of the space around it",
        r"x \in \mathbb R^{n+1},\; |x| = R, \qquad d(x, y) = 2R \arctan\frac{|x - y|}{|x + y|}",
    ),
    "hyperbolic": (
        "The hyperboloid, with Minkowski's product",
        r"x = (s, w),\; |s|^2 - w^2 = -R^2,\; w > 0, \qquad "
        r"d(x, y) = 2R\,\mathrm{arsinh}\frac{\sqrt{\langle x - y, x - y\rangle}}{2R}",
    ),
    "product": (
        "The product of a hyperbolic plane and a line",
        r"x = (h, z) \in H^2 \times \mathbb R, \qquad d(x, y)^2 = d_{H^2}(h, h')^2 + (z - z')^2",
    ),
    "inhomogeneous": (
        "A metric that depends on the place",
        r"\langle v, v\rangle_x = (|x|^2 + 2)\,|v|^2, \qquad \text{scalar curvature } "
        r"-\frac{6(r^2 + 4)}{(r^2 + 2)^3}",
    ),
}
_DRIFTS: Final = {
    "flat": r"x(t) = x + t v",
    "sphere": r"x(t) = x \cos\frac{|v| t}{R} + R\frac{v}{|v|} \sin\frac{|v| t}{R}",
    "hyperbolic": r"x(t) = x \cosh\frac{|v| t}{R} + R\frac{v}{|v|} \sinh\frac{|v| t}{R}",
    "product": r"h(t) = h \cosh\frac{|v| t}{R} + R\frac{v}{|v|} \sinh\frac{|v| t}{R}, \qquad z(t) = z + t u",
}
_CENTRAL: Final = {"flat": r"-\frac1r", "sphere": r"-\frac1R\cot\frac rR", "hyperbolic": r"-\frac1R\coth\frac rR"}


def equations(structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The equations of motion in geometric form: written out in coordinates they are too long to read."""
    parts: dict[str, Any] = dict(structure)
    kind, body = SPACES[parts["space"]][1], parts["body"]
    by_rods = parts.get("joints") == "rods"
    shown = [_METRICS[kind], *(_rods() if by_rods else _motion(kind, body))]
    if kind in _DRIFTS:
        shown.append(("A step moves every vertex along its geodesic", _DRIFTS[kind]))
    if kind in _DRIFTS and not by_rods and body != BALLS:
        shown.append(("and changes its velocity by the force", r"v_i \leftarrow v_i - \frac{h}{m}\,\nabla_i V"))
    sentence = "Without a force every vertex moves along a geodesic: its acceleration in the space is zero."
    return sentence, tuple(shown)


def _rods() -> list[tuple[str, str]]:
    return [
        ("Rods keep the distances of their ends", r"\varphi_{ij} = d(x_i, x_j) - l_{ij} = 0"),
        ("Their forces, of which none does work", _FIELD + r"\frac1m \sum_j \lambda_{ij}\,\nabla_i\varphi_{ij}"),
    ]


def _motion(kind: str, body: str) -> list[tuple[str, str]]:
    if body == BALLS:
        return [
            ("Between collisions every ball moves along a geodesic", _FIELD + "0"),
            ("Where two touch, d = 2r, the rate of their distance is turned round, with restitution e",
             r"\dot d^{+} = -e\,\dot d^{-}"),
        ]  # fmt: skip
    if body == "particle":
        return [
            ("Gravity of a fixed centre", rf"V = G m\,\Bigl({_CENTRAL[kind]}\Bigr), \qquad {_FIELD}-\tfrac1m\nabla V")
        ]
    if body == "pair":
        return [
            ("Gravity", rf"V = G m_1 m_2\,\Bigl({_CENTRAL[kind]}\Bigr), \quad r = d(x_1, x_2), \qquad "
             rf"{_FIELD}-\tfrac1{{m_i}}\nabla_i V")
        ]  # fmt: skip
    force = r"\frac1m \sum_j k\,(d_{ij} - l_{ij})\,\frac{\log_{x_i} x_j}{d_{ij}}"
    return [
        ("Energy of the springs", r"V = \sum_{i<j} \tfrac12 k\,(d_{ij} - l_{ij})^2, \qquad d_{ij} = d(x_i, x_j)"),
        ("Every spring pulls along the geodesic to its other end", _FIELD + force),
    ]


def snippet(lab: CurvedLab, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
    """A Python program with the same world in the same state. Decimals are the shortest that read back exactly."""
    space, shape, p = geometry(settings), view.shape_of(settings), settings.parameters
    body = settings.choices["body"]
    rests = lab.numbers(settings)[-len(shape.joints) :] if shape.joints else np.zeros(0)
    ends = [(i, j, float(rest)) for (i, j), rest in zip(shape.joints, rests, strict=True)]
    joined = f"rods={ends!r}" if rigid(settings) else f"springs={[(i, j, p['stiffness'], d) for i, j, d in ends]!r}"
    masses = [p["mass"]] * shape.count
    own = f", radii={p['ball_radius']!r}" if body == BALLS else f", {joined}" if ends else ""
    lines = [
        f'"""A body in curved space as the Holonomy studio showed it at t = {t:.6g} s."""',
        "",
        "import numpy as np",
        *(["import jax.numpy as jnp"] if body in ("particle", "pair") else []),
        "",
        "import holonomy as hl",
        "",
        f"space = {_constructor(settings)}",
        f"body = hl.Body({masses!r}{own})",
        *_world(settings),
        f"t = {float(t)!r}",
    ]
    size = shape.count * space.point_dim
    if len(q) > size:
        lines.append("# the vertices near the origin, then the boost that carries them to their places")
    lines += [
        f"q = np.array({q.tolist()!r})",
        f"v = np.array({v.tolist()!r})",
        "",
        f"run = hl.simulate(world, q, v, t + {_AHEAD!r}, t0=t, dt=1 / {lab.steps_per_second}, "
        f"save_every={lab.steps_per_second // 60},",
        f"                  method={_method(settings)}, throw=False)",
        "print(run.certificate)",
        *([f"print(run.distance({shape.joints[0][0]}, {shape.joints[0][1]}))"] if shape.joints else []),
        "",
    ]
    return "\n".join(lines)


def _constructor(settings: Settings) -> str:
    _, kind, dim = SPACES[settings.choices["space"]]
    radius = repr(settings.parameters["radius"])
    return {
        "flat": f"hl.Euclidean({dim})",
        "sphere": f"hl.Sphere({dim}, radius={radius})",
        "hyperbolic": f"hl.Hyperbolic({dim}, radius={radius})",
        "product": f"hl.Product(hl.Hyperbolic(2, radius={radius}), hl.Euclidean(1))",
        "inhomogeneous": f"hl.Inhomogeneous({dim})",
    }[kind]


def _world(settings: Settings) -> list[str]:
    kind, body = SPACES[settings.choices["space"]][1], settings.choices["body"]
    p = settings.parameters
    if body == "particle":
        size = "jnp.sqrt(jnp.sum(x * x))" if kind == "flat" else "jnp.sqrt(jnp.sum(x[:-1] * x[:-1]))"
        ratio = f"1.0 / {size}" if kind == "flat" else f"x[-1] / (space.radius * {size})"
        return [f"world = hl.World(space, body, potential=lambda x: -{p['gravity']!r} * {ratio})"]
    if body == "pair":
        tangent = {"sphere": "jnp.tan(d / space.radius)", "hyperbolic": "jnp.tanh(d / space.radius)"}.get(kind)
        under = "d" if tangent is None else f"(space.radius * {tangent})"
        return [f"world = hl.World(space, body, interaction=lambda d, a, b: -{p['gravity']!r} * a * b / {under})"]
    if body == BALLS:
        return [f"world = hl.World(space, body, collisions={p['restitution']!r})"]
    return ["world = hl.World(space, body)"]


def _method(settings: Settings) -> str:
    if settings.choices["body"] == BALLS:
        return "hl.EventDriven()"
    if rigid(settings):
        return "hl.Rattle(4)"
    return "hl.Gauss(2)" if settings.choices["space"] == "inhomogeneous" else "hl.Splitting(8)"
