r"""The Curved space lab: elastic and rigid bodies, balls and gravity in spaces of constant and changing curvature.

Coordinates are the arrays of all vertices; in hyperbolic space they are near the origin, followed by the boost \(\rho\)
that carries them out. Points are drawn by NumPy in a model of the space, so that another model needs no other code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, Coordinates, Drawing, State
from holonomy.studio.labs.curved import settings as table
from holonomy.studio.labs.curved import view
from holonomy.studio.labs.curved.geometry import Geometry
from holonomy.studio.labs.curved.models import filled
from holonomy.studio.labs.curved.settings import DESCRIPTOR, LARGEST_ON_SPHERE, SPACES, START, TABLE, geometry
from holonomy.studio.labs.settings import Refusal, Settings, Structure

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

Points = Float[np.ndarray, "points d"]
Rows = Float[np.ndarray, "rows columns"]

_VERTEX: Final = 0.035
_CLOSE: Final = 0.06
"""Radius of a vertex in its picture, in the space and seen from the centre."""
_AROUND: Final = 2.2
"""Half the width of the picture from the centre over the radius of the body at the start."""
_ORBIT: Final = 4.0
"""Half the width of a picture of an orbit over the distance from the centre at the start."""
_WHOLE_BALL: Final = 1.08
_SOON: Final = ("rod", "triangle", "particle", "ring", "tetrahedron", "lattice", "pair", "mesh")


class CurvedLab(AbstractLab):
    """One structure for each space and body; all else are numbers."""

    descriptor = DESCRIPTOR
    table = TABLE
    steps_per_second = 240

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def adjusted(self, settings: Settings) -> Settings:
        if table.shape(settings) is None:
            raise Refusal(
                "A tetrahedron needs a space of three dimensions; choose another body first, or such a space.", "body"
            )
        kind, p = table.kind(settings), settings.parameters
        if table.gravitating(settings) and kind in ("product", "inhomogeneous"):
            raise Refusal(
                "The potential of gravity is known in E, S and H only; choose one of these spaces or an elastic body.",
                "body",
            )
        if table.colliding(settings) and kind in ("product", "inhomogeneous"):
            raise Refusal("Balls collide in E, S and H only; choose one of these spaces or another body.", "body")
        if table.rigid(settings):
            _refuse_rods(settings)
        size = p["distance"] if table.gravitating(settings) else p["size"]
        if kind == "sphere" and size > LARGEST_ON_SPHERE * p["radius"]:
            raise Refusal(
                f"A body of {size:g} m does not fit on a sphere of radius {p['radius']:g} m: its size may be "
                f"{LARGEST_ON_SPHERE:g} radii, here {LARGEST_ON_SPHERE * p['radius']:g} m.",
                "distance" if table.gravitating(settings) else "size",
            )
        if table.colliding(settings):
            _refuse_overlap(settings)
        return settings

    def structure(self, settings: Settings) -> Structure:
        choices = settings.choices
        count = int(settings.parameters["balls"])
        return table.structure_of(choices["space"], choices["body"], choices["joints"], count)

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        """Those of the table, then the rest length of each spring or the length of each rod."""
        return np.concatenate([TABLE.numbers(settings), self._rest_lengths(settings)])

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        space, body = settings.choices["space"], settings.choices["body"]
        joints, count = settings.choices["joints"], int(settings.parameters["balls"])
        round_space = SPACES[space][1] not in ("product", "inhomogeneous")
        solid = SPACES[space][2] == 3
        bodies = [b for b in _SOON if (round_space or b not in ("particle", "pair")) and (solid or b != "tetrahedron")]
        spaces = ["s3", "h3", "e3", "s2", "h2", "e2", "hxe", "inhomogeneous"]
        if table.gravitating(settings) or table.colliding(settings):
            spaces = spaces[:6]
        elif table.rigid(settings):
            spaces = spaces[:7]
        if body == "tetrahedron":
            spaces = [s for s in spaces if SPACES[s][2] == 3]
        near = [table.structure_of(s, body, joints, count) for s in spaces if s != space]
        others = [table.structure_of(space, b) for b in bodies if b != body]
        if view.shape_of(settings).rods and space != "inhomogeneous":
            others.insert(0, table.structure_of(space, body, "springs" if table.rigid(settings) else "rods"))
        return (*near[:2], *others, *near[2:])

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def start(self, settings: Settings) -> State:
        space, shape, p = geometry(settings), view.shape_of(settings), settings.parameters
        push = np.array([p["along"], 0.0, p["rise"] if space.kind != "inhomogeneous" else 0.0])
        turn = np.array([p["spin"], p["roll"] if space.kind != "product" else 0.0])
        if table.colliding(settings):
            places = shape.shape(space, p["size"])
            points = space.placed(places, central=True)
            rates = space.moving(points, push, turn, central=True)
            rates -= p["inward"] / p["size"] * space.outward(places)
        elif shape.central:
            points = space.placed(shape.shape(space, p["distance"]), central=True)
            rates = space.moving(points, np.zeros(3), np.array([p["orbit"], 0.0]), central=True)
        else:
            points = space.placed(shape.shape(space, self._size(settings)))
            rates = space.moving(points, push, turn)
            if table.turns_out_of_the_plane(settings):
                rates[:, 3] += p["roll"] * space.radius * np.arcsinh(points[:, 1] / space.radius)
        none = np.zeros(len(self.columns(settings)) - points.size)
        return np.concatenate([points.ravel(), none]), np.concatenate([rates.ravel(), none])

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        same = self.structure(old) == self.structure(new)
        alike = same and all(old.parameters[name] == new.parameters[name] for name in START)
        return (q, v) if alike else self.start(new)

    def admitted(self, settings: Settings, q: Coordinates, v: Coordinates) -> State:
        space, shape = geometry(settings), view.shape_of(settings)
        size = shape.count * space.point_dim
        points, rates = space.nearest(q[:size].reshape(-1, space.point_dim), v[:size].reshape(-1, space.point_dim))
        return np.concatenate([points.ravel(), q[size:]]), np.concatenate([rates.ravel(), np.zeros(len(v) - size)])

    def _size(self, settings: Settings) -> float:
        return settings.parameters["size"] * (0.5 if settings.choices["body"] == "ring" else 1.0)

    def _rest_lengths(self, settings: Settings) -> Float[np.ndarray, " joints"]:
        """The lengths of the rods at the start; those of the springs times the factor that is set."""
        space, shape = geometry(settings), view.shape_of(settings)
        if not shape.joints:
            return np.zeros(0)
        points, ends = space.placed(shape.shape(space, self._size(settings))), np.array(shape.joints)
        factor = 1.0 if table.rigid(settings) else settings.parameters["rest"]
        return factor * space.distance(points[ends[:, 0]], points[ends[:, 1]])

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def placed(self, settings: Settings, q: Coordinates) -> Points:
        """The vertices in the space, then seen from the centre; then springs or rods in the same two pictures."""
        space, shape = geometry(settings), view.shape_of(settings)
        near, rapidity = self._near(settings, q)
        bodies, lines = [self._shown(settings, near, rapidity)], []
        if view.local(shape):
            ends = np.array(shape.joints)
            arcs = space.arcs(near[ends[:, 0]], near[ends[:, 1]], view.arc_points(shape))
            arcs = arcs.reshape(-1, space.point_dim)
            together = space.centred(np.concatenate([near, arcs]), rapidity, len(near))
            seen = filled(_from_centre(space, together, near), view.dimension(settings))
            bodies.append(seen[: len(near)])
            lines = [self._shown(settings, arcs, rapidity), seen[len(near) :]]
        return np.concatenate([*bodies, *lines])

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        """The centre of gravity, which is the origin of the space."""
        if self.drawn(settings).anchors == 0:
            return np.zeros((0, view.dimension(settings)))
        origin = geometry(settings).frame(central=True)[0][None]
        return self._drawn_at(settings, origin)

    def extents(self, settings: Settings) -> tuple[float, ...]:
        shape = view.shape_of(settings)
        model, p = table.model(settings), settings.parameters
        widest = model.extent * (geometry(settings).radius if model.boundary == "none" else 1.0)
        if table.colliding(settings):
            flat = table.kind(settings) == "flat"
            widest = _AROUND * p["size"] if flat else widest
        elif shape.central and model.boundary == "none":
            widest = _ORBIT * float(np.linalg.norm(self.placed(settings, self.start(settings)[0])[0]))
        elif table.kind(settings) in ("flat", "inhomogeneous"):
            widest = max(widest, 1.1 * abs(p["position"]) + p["size"])
        if not view.local(shape):
            return (widest,)
        space = geometry(settings)
        if space.hyperbolic:
            return widest, _WHOLE_BALL
        near, rapidity = self._near(settings, self.start(settings)[0])
        around = _from_centre(space, space.centred(near, rapidity, len(near)), near)
        return (widest, _AROUND * float(np.max(np.linalg.norm(around, axis=1))))

    def radii(self, settings: Settings) -> tuple[float, ...]:
        shape = view.shape_of(settings)
        if table.colliding(settings):
            return (self._drawn_radius(settings),) * shape.count
        return (_VERTEX,) * shape.count + (_CLOSE,) * (shape.count if view.local(shape) else 0)

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        space, shape, model = geometry(settings), view.shape_of(settings), table.model(settings)
        if body >= shape.count:
            raise Refusal("Take hold of a vertex in the other picture; this one moves with the body.")
        near, rapidity = self._near(settings, q)
        old = (space.carried(near, rapidity) if space.hyperbolic else near)[body : body + 1]
        width = 3 if model.third else space.dim
        scale = space.radius if model.boundary == "none" else 1.0
        found = space.radius * model.invert(target[None, :width] / scale, old / space.radius)
        found = space.carried(found, rapidity, back=True) if space.hyperbolic else found
        near[body] = space.nearest(found, np.zeros_like(found))[0][0]
        goal = np.concatenate([near.ravel(), q[near.size :]])
        if table.rigid(settings):
            goal = kernel.routines["settle"](self.numbers(settings), goal)[0]
        if not np.all(np.isfinite(goal)):
            raise Refusal("That place is too far away.")
        if table.colliding(settings) and _least_gap(settings, near) < 0.0:
            raise Refusal("Another ball is there.")
        return goal

    def _drawn_radius(self, settings: Settings) -> float:
        """The radius of a ball at the place around which balls start, over the extent of the picture."""
        space, shape = geometry(settings), np.zeros((2, geometry(settings).dim))
        shape[1, 0] = settings.parameters["ball_radius"]
        places = self._drawn_at(settings, space.placed(shape, central=True))
        return float(np.linalg.norm(places[1] - places[0])) / self.extents(settings)[0]

    def _near(self, settings: Settings, q: Coordinates) -> tuple[Rows, np.ndarray]:
        """The points of the coordinates, near the origin in hyperbolic space, and the boost that carries them."""
        space, count = geometry(settings), view.shape_of(settings).count
        size = count * space.point_dim
        rapidity = q[size:] if len(q) > size else np.zeros(space.hyperbolic)
        return q[:size].reshape(count, space.point_dim).copy(), rapidity

    def _shown(self, settings: Settings, points: Rows, rapidity: np.ndarray) -> Points:
        space = geometry(settings)
        out = space.carried(points, rapidity) if space.hyperbolic else points
        return self._drawn_at(settings, out)

    def _drawn_at(self, settings: Settings, points: Rows) -> Points:
        """Points of the space in its model; without a boundary in metres, else in units of the boundary's radius."""
        space, model = geometry(settings), table.model(settings)
        scale = space.radius if model.boundary == "none" else 1.0
        return filled(scale * model.project(points / space.radius), view.dimension(settings))

    # ── Compiled code and the library ─────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.curved import system

        return system.program(structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        from holonomy.studio.labs.curved import system

        structure = self.structure(settings)
        collisions = table.colliding(settings)
        return system.world(structure, self.numbers(settings), collisions), system.method(structure)

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        from holonomy.studio.labs.curved import text

        return text.equations(structure)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        from holonomy.studio.labs.curved import text

        return text.snippet(self, settings, t, q, v)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        raise Refusal("A scene file cannot describe bodies in a curved space; export the Python program instead.")


def _refuse_rods(settings: Settings) -> None:
    """Raise for a body or a space in which rods are not offered."""
    if table.kind(settings) == "inhomogeneous":
        raise Refusal("Rods need a space whose geodesics are known in closed form; choose springs first.", "space")
    if view.shape_of(settings).rods is None:
        raise Refusal(
            "Rods along all edges of this body would contradict each other as it moves; choose springs first.", "joints"
        )


def _refuse_overlap(settings: Settings) -> None:
    space, shape, p = geometry(settings), view.shape_of(settings), settings.parameters
    gap = _least_gap(settings, space.placed(shape.shape(space, p["size"]), central=True))
    if gap <= 0.0:
        raise Refusal(
            f"{shape.count} balls of radius {p['ball_radius']:g} m within {p['size']:g} m overlap by {-gap:.3g} m: "
            f"make them smaller or fewer, or the body larger.",
            "ball_radius",
        )


def _least_gap(settings: Settings, points: Rows) -> float:
    first, second = np.triu_indices(len(points), 1)
    least = float(np.min(geometry(settings).distance(points[first], points[second])))
    return least - 2.0 * settings.parameters["ball_radius"]


def _from_centre(space: Geometry, centred: Rows, points: Rows) -> Rows:
    """Points around the origin, drawn conformally: in the unit ball in hyperbolic space, elsewhere in metres, which are
    right at the centre."""
    if space.kind == "flat":
        return centred
    if space.kind == "inhomogeneous":
        middle = points.mean(axis=0)
        return centred * np.sqrt(middle @ middle + 2.0)
    n, unit = space.hyperbolic or space.dim, centred / space.radius
    places = np.concatenate([unit[:, :n] / (1.0 + unit[:, n : n + 1]), unit[:, n + 1 :]], axis=1)
    return places if space.hyperbolic else 2.0 * space.radius * places
