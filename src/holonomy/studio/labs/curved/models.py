"""Models: pictures of the points of a space in the plane or in space, and back.

Each takes points in units of the radius. A model is only a way to look: no motion depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from jaxtyping import Float

Rows = Float[np.ndarray, "rows columns"]
Boundary = Literal["none", "ball", "cylinder", "floor", "disc"]

_EDGE: Final = 0.985
"""How near the boundary of a ball a hand can put a vertex: about 4.9 radii from the centre."""
_FLOOR: Final = 0.02
_LARGEST: Final = 1e3
"""Where the projection of a point is farther away than this, it is drawn this far."""


@dataclass(frozen=True)
class Model:
    """A model of a space: what it is called, what encloses it, and the maps there and back.

    `project` takes points to places (x, y, z); `invert` takes places and the points that were there to new ones.
    """

    name: str
    label: str
    note: str
    project: Callable[[Rows], Rows]
    invert: Callable[[Rows, Rows], Rows]
    boundary: Boundary = "none"
    extent: float = 1.08
    third: bool = False
    """Whether it needs three dimensions even for a surface."""


def _poincare(x: Rows) -> Rows:
    return x[:, :-1] / (1.0 + x[:, -1:])


def _from_poincare(y: Rows, old: Rows) -> Rows:
    y = _inside(y)
    square = np.sum(y * y, axis=1, keepdims=True)
    return np.concatenate([2.0 * y, 1.0 + square], axis=1) / (1.0 - square)


def _klein(x: Rows) -> Rows:
    return x[:, :-1] / x[:, -1:]


def _from_klein(y: Rows, old: Rows) -> Rows:
    y = _inside(y)
    return np.concatenate([y, np.ones((len(y), 1))], axis=1) / np.sqrt(1.0 - np.sum(y * y, axis=1, keepdims=True))


def _half_space(x: Rows) -> Rows:
    r"""\((s', 1)/(w - s_n)\): the last coordinate is the height, the origin lies at height 1.

    Near the boundary \(w - s_n = (1 + |s'|^2)/(w + s_n)\) is the sum without cancellation where \(s_n > 0\).
    """
    s, last, w = x[:, :-2], x[:, -2:-1], x[:, -1:]
    below = np.where(last > 0.0, (1.0 + np.sum(s * s, axis=1, keepdims=True)) / (w + np.abs(last)), w - last)
    return np.concatenate([s, np.ones_like(last)], axis=1) / below


def _from_half_space(y: Rows, old: Rows) -> Rows:
    height = np.maximum(y[:, -1:], _FLOOR)
    s = y[:, :-1] / height
    # w - s_n = 1/height, w + s_n = (1 + |s|²) height
    above, below = (1.0 + np.sum(s * s, axis=1, keepdims=True)) * height, 1.0 / height
    return np.concatenate([s, (above - below) / 2.0, (above + below) / 2.0], axis=1)


def _stereographic(x: Rows) -> Rows:
    """From the point opposite to the origin; the equator has radius 1."""
    return x[:, :-1] / np.maximum(1.0 + x[:, -1:], 1.0 / _LARGEST)


def _from_stereographic(y: Rows, old: Rows) -> Rows:
    square = np.sum(y * y, axis=1, keepdims=True)
    return np.concatenate([2.0 * y, 1.0 - square], axis=1) / (1.0 + square)


def _orthographic(x: Rows) -> Rows:
    return x[:, :-1]


def _from_orthographic(y: Rows, old: Rows) -> Rows:
    y = _inside(y)
    height = np.sqrt(1.0 - np.sum(y * y, axis=1, keepdims=True))
    return np.concatenate([y, np.where(old[:, -1:] < 0.0, -height, height)], axis=1)


def _on_ball(x: Rows) -> Rows:
    return x


def _to_ball(y: Rows, old: Rows) -> Rows:
    size = np.linalg.norm(y, axis=1, keepdims=True)
    return np.where(size > 1e-6, y / np.maximum(size, 1e-6), old)


def _same(x: Rows) -> Rows:
    return x


def _itself(y: Rows, old: Rows) -> Rows:
    return y


def _inside(y: Rows) -> Rows:
    size = np.linalg.norm(y, axis=1, keepdims=True)
    return y * np.minimum(1.0, _EDGE / np.maximum(size, 1e-300))


def _cylinder(disc: Callable[[Rows], Rows]) -> Callable[[Rows], Rows]:
    return lambda x: np.concatenate([disc(x[:, :3]), x[:, 3:]], axis=1)


def _from_cylinder(disc: Callable[[Rows, Rows], Rows]) -> Callable[[Rows, Rows], Rows]:
    return lambda y, old: np.concatenate([disc(y[:, :2], old[:, :3]), y[:, 2:]], axis=1)


_SHAPE: Final = "Angles are right; geodesics are arcs of circles that meet the boundary at right angles."
_STRAIGHT: Final = "Geodesics are straight; angles are not right."
_UPPER: Final = "Angles are right; geodesics are half circles on the boundary and upright lines."

FLAT: Final = (Model("flat", "Coordinates", "", _same, _itself, extent=4.0),)
HYPERBOLIC: Final = (
    Model("ball", "Poincaré", _SHAPE, _poincare, _from_poincare, "ball"),
    Model("klein", "Klein", _STRAIGHT, _klein, _from_klein, "ball"),
    Model("half", "Half-space", _UPPER, _half_space, _from_half_space, "floor", 2.2),
)
SPHERE: Final = (
    Model(
        "stereographic", "Stereographic", "Angles are right; great circles are circles and lines.",
        _stereographic, _from_stereographic, extent=2.2,
    ),
    Model(
        "orthographic", "Orthographic", "Seen from far away; both halves of the sphere lie on top of each other.",
        _orthographic, _from_orthographic, "ball",
    ),
)  # fmt: skip
SURFACE: Final = (
    Model("globe", "Sphere", "The sphere itself.", _on_ball, _to_ball, "ball", third=True),
    SPHERE[0],
)
CYLINDER: Final = (
    Model("ball", "Poincaré", _SHAPE, _cylinder(_poincare), _from_cylinder(_from_poincare), "cylinder", 1.6),
    Model("klein", "Klein", _STRAIGHT, _cylinder(_klein), _from_cylinder(_from_klein), "cylinder", 1.6),
)


def filled(places: Rows, dimension: int) -> Rows:
    """Places of a plane with a third coordinate 0 where places in space are wanted."""
    missing = dimension - places.shape[1]
    return np.concatenate([places, np.zeros((len(places), missing))], axis=1) if missing else places
