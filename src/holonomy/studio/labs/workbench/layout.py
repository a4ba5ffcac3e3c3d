r"""Where the points of the Workbench's pictures are.

With positions, the points are these. Without, each coordinate is shown by itself: an angle as a point on a circle,
measured from the horizontal, any other as a point on a line. A map has one more point: the coordinates themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from holonomy.studio.labs.workbench.typed import Typed

SIDE: Final = 61
"""Rows and columns of a map."""
GRID: Final = SIDE * SIDE
TURN: Final = 2 * np.pi
_APART: Final = 2.6
"""Distance of circles, whose radius is 1, and of lines."""


def dimension(typed: Typed) -> int:
    """Of the picture: 2 or 3."""
    return 3 if typed.scene.positions is not None and len(typed.scene.positions[0]) == 3 else 2


def centres(typed: Typed) -> Float[np.ndarray, "coordinates 2"]:
    """Where the circle or line of each coordinate has its middle."""
    kinds = list(typed.kinds.values())
    angles = [i for i, kind in enumerate(kinds) if kind == "angle"]
    others = [i for i, kind in enumerate(kinds) if kind != "angle"]
    found = np.zeros((len(kinds), 2))
    high = 0.5 * _APART * (len(others) - 1 + bool(angles) * bool(others)) / 2
    for place, i in enumerate(angles):
        found[i] = _APART * (place - (len(angles) - 1) / 2), high
    for place, i in enumerate(others):
        found[i] = 0.0, high - 0.5 * _APART * (place + 1.5 * bool(angles))
    return found


def points(typed: Typed, *, maps: bool) -> Callable[[Any, Any, Any], Any]:
    """A function (system, t, q) -> (points, d) to be traced: the bodies of the picture, then the point of the map."""
    import jax.numpy as jnp

    wide, kinds = dimension(typed), list(typed.kinds.values())
    at = centres(typed)

    def padded(x: Any) -> Any:
        return jnp.pad(x, ((0, 0), (0, wide - x.shape[1])))

    def shown(system: Any, t: Any, q: Any) -> Any:
        if typed.scene.positions is not None:
            places: Any = system.positions
            parts = [padded(places(t, q, *system.last))]
        else:
            rows = [
                jnp.stack([jnp.cos(q[i]), jnp.sin(q[i])])
                if kind == "angle"
                else jnp.stack([q[i], jnp.zeros_like(q[i])])
                for i, kind in enumerate(kinds)
            ]
            parts = [padded(jnp.stack(rows) + at)]
        if maps:
            flat = [q[i] - TURN * jnp.round(q[i] / TURN) if kinds[i] == "angle" else q[i] for i in range(2)]
            parts.append(padded(jnp.stack(flat)[None]))
        return jnp.concatenate(parts)

    return shown


def placed(
    typed: Typed, values: dict[str, float], q: Float[np.ndarray, " n"], maps: bool
) -> Float[np.ndarray, "points d"] | None:
    """The same points in NumPy, before anything is compiled."""
    at, kinds = typed.points(values, q), np.array(list(typed.kinds.values()))
    if at is None and typed.scene.positions is not None:
        return None
    if at is None:
        circle = np.stack([np.cos(q), np.sin(q)], axis=1)
        at = centres(typed) + np.where((kinds == "angle")[:, None], circle, np.stack([q, 0.0 * q], axis=1))
    wide = dimension(typed)
    at = np.pad(at, ((0, 0), (0, wide - at.shape[1])))
    if not maps:
        return at
    flat = np.where(kinds == "angle", q - TURN * np.round(q / TURN), q)
    return np.concatenate([at, np.pad(flat, (0, wide - 2))[None]])


def map_ranges(typed: Typed) -> tuple[tuple[float, float], tuple[float, float]]:
    """The intervals of the two coordinates that a map shows: a turn, or as far as twice the start around it."""
    found = []
    for (name, kind), start in zip(typed.kinds.items(), typed.setup.q, strict=True):
        del name
        reach = max(2.0 * abs(start), 1.0)
        found.append((-np.pi, np.pi) if kind == "angle" else (start - reach, start + reach))
    return found[0], found[1]


def extents(typed: Typed, values: dict[str, float], maps: bool) -> tuple[float, ...]:
    """Half the width of each picture about the origin."""
    at = typed.points(values)
    if at is not None:
        size = max(1.25 * float(np.max(np.abs(at), initial=0.0)), 0.4)
    elif typed.scene.positions is not None:
        size = 2.0
    else:
        start = np.array(typed.setup.q)[:, None] * [1.0, 0.0]
        reach = np.where(np.array(list(typed.kinds.values()))[:, None] == "angle", 1.0, np.abs(start))
        size = 1.3 * max(float(np.max(np.abs(centres(typed)) + reach)), 1.0)
    if not maps:
        return (size,)
    ranges = map_ranges(typed)
    return size, max(abs(end) for pair in ranges for end in pair)
