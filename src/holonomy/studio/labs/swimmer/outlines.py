"""What each mover looks like in its own frame, as a function of its shape, and how a place in its group moves that.

Every function takes the module of arrays, NumPy or `jax.numpy`, so that the picture before any code is compiled and the
one that compiled code draws are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np

Numbers = Mapping[str, Any]
Group = Literal["se2", "line", "so3", "sphere", "hyperbolic"]

_ROUND: Final = 20
_UNIT: Final = np.stack(
    [np.cos(2 * np.pi * np.arange(_ROUND) / _ROUND), np.sin(2 * np.pi * np.arange(_ROUND) / _ROUND)], 1
)
_END: Final = np.linspace(-np.pi / 2, np.pi / 2, 5)
_ARM: Final = np.linspace(0.0, 1.0, 13)
_AROUND: Final = 10
"""Corners of the section of a tube."""
_ABOVE: Final = 1.004
"""How far above the unit sphere a body on it is drawn, so that the sphere does not hide it."""
PLACES: Final[dict[Group, int]] = {"se2": 3, "line": 1, "so3": 4, "sphere": 9, "hyperbolic": 9}
"""How many coordinates the place has: (x, y, theta); x; a quaternion; a matrix."""


class Part(NamedTuple):
    """One shape of the picture: its kind, its points, its colour among those of bodies, the triangles of a mesh."""

    kind: Literal["polyline", "polygon", "mesh"]
    points: Any
    colour: int = 0
    faces: tuple[int, ...] = ()


Outline = Callable[[Any, Numbers, Any], list[Part]]
"""The parts of a mover from the module of arrays, its numbers and its shape."""


# ── Pieces ────────────────────────────────────────────────────────────────────────────────────────────


def _unit(xp: Any, angle: Any) -> Any:
    return xp.stack([xp.cos(angle), xp.sin(angle)])


def _disc(xp: Any, centre: Any, radius: Any, colour: int) -> Part:
    return Part("polygon", centre[None, :] + radius * xp.asarray(_UNIT), colour)


def _capsule(xp: Any, centre: Any, angle: Any, half: Any, width: Any, colour: int) -> Part:
    """A bar of length 2 half with round ends."""
    along, across = _unit(xp, angle), _unit(xp, angle + 0.5 * np.pi)
    c, s = xp.asarray(np.cos(_END))[:, None], xp.asarray(np.sin(_END))[:, None]
    ahead = (centre + half * along)[None, :] + width * (c * along[None, :] + s * across[None, :])
    behind = (centre - half * along)[None, :] - width * (c * along[None, :] + s * across[None, :])
    return Part("polygon", xp.concatenate([ahead, behind]), colour)


def _corners(xp: Any, rows: Any, scale: Any, colour: int) -> Part:
    return Part("polygon", scale * xp.asarray(np.array(rows, float)), colour)


# ── In the plane ──────────────────────────────────────────────────────────────────────────────────────


def _chain(xp: Any, count: int, length: Any, r: Any) -> list[tuple[Any, Any]]:
    """Centre and angle of each link of a chain whose frame is on the middle one, as `hl.models.links` has it."""
    middle = (count - 1) // 2
    angles = [0.0 * r[0]] * count
    for i in range(middle + 1, count):
        angles[i] = angles[i - 1] + r[i - 1]
    for i in reversed(range(middle)):
        angles[i] = angles[i + 1] - r[i]
    steps = [length * _unit(xp, a) for a in angles]
    tail = -0.5 * steps[middle]
    for i in range(middle):
        tail = tail - steps[i]
    found = []
    for step, angle in zip(steps, angles, strict=True):
        found.append((tail + 0.5 * step, angle))
        tail = tail + step
    return found


def links(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """A chain of slender links."""
    length = p["length"]
    rows = enumerate(_chain(xp, len(r) + 1, length, r))
    return [_capsule(xp, centre, angle, 0.5 * length, 0.05 * length, k) for k, (centre, angle) in rows]


def snake(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """Three links, each with a pair of wheels at its centre."""
    length, parts = p["length"], links(xp, p, r)
    for centre, angle in _chain(xp, 3, length, r):
        for side in (1.0, -1.0):
            wheel = centre + side * 0.16 * length * _unit(xp, angle + 0.5 * np.pi)
            parts.append(_capsule(xp, wheel, angle, 0.1 * length, 0.035 * length, 6))
    return parts


def pushmepullyou(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """Two balls and the rod between them."""
    ends = [xp.stack([side * r[0], 0.0 * r[0]]) for side in (-0.5, 0.5)]
    radii = [xp.cbrt(3.0 * volume / (4.0 * np.pi)) for volume in (r[1], p["volume"] - r[1])]
    balls = [_disc(xp, end, radius, k) for k, (end, radius) in enumerate(zip(ends, radii, strict=True))]
    return [Part("polyline", xp.stack(ends), 6), *balls]


def three_spheres(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """Three balls on a line."""
    zero = 0.0 * r[0]
    ends = [xp.stack([x, zero]) for x in (-r[0], zero, r[1])]
    return [Part("polyline", xp.stack(ends), 6), *(_disc(xp, end, p["radius"], k) for k, end in enumerate(ends))]


def raft(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """The raft with its bow ahead, and the pendulum seen from above."""
    size = p["length"]
    bob = size * xp.sin(r[0]) * _unit(xp, r[1])
    hull = _corners(xp, [[-1, -0.6], [0.7, -0.6], [1.2, 0], [0.7, 0.6], [-1, 0.6]], 0.8 * size, 5)
    return [hull, Part("polyline", xp.stack([0.0 * bob, bob]), 6), _disc(xp, bob, 0.14 * size, 1)]


def car(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """The body, the rear wheels at the frame, the front ones turned."""
    base = p["wheelbase"]
    parts = [_corners(xp, [[-0.25, -0.3], [1.1, -0.3], [1.3, 0], [1.1, 0.3], [-0.25, 0.3]], base, 5)]
    for ahead, angle in ((0.0, 0.0 * r[1]), (1.0, r[1])):
        for side in (0.3, -0.3):
            centre = base * xp.asarray(np.array([ahead, side]))
            parts.append(_capsule(xp, centre, angle, 0.14 * base, 0.045 * base, 6))
    return parts


def snakeboard(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """The board, the wheels turned by opposite angles, and the rotor."""
    half, zero = p["length"], 0.0 * r[0]
    centre = xp.stack([zero, zero])
    parts = [_capsule(xp, centre, zero, half, 0.12 * half, 5)]
    for side in (1.0, -1.0):
        end, angle = side * half * xp.asarray(np.array([1.0, 0.0])), side * r[1]
        parts.append(
            Part("polyline", xp.stack([end + s * 0.35 * half * _unit(xp, angle + 0.5 * np.pi) for s in (1, -1)]), 6)
        )
        for offset in (0.35, -0.35):
            at = end + offset * half * _unit(xp, angle + 0.5 * np.pi)
            parts.append(_capsule(xp, at, angle, 0.12 * half, 0.05 * half, 6))
    return [*parts, _capsule(xp, centre, r[0], 0.5 * half, 0.05 * half, 1)]


def space_robot(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """The base and the links of its arm."""
    length, zero = p["length"], 0.0 * r[0]
    parts = [_corners(xp, [[-1, -1], [1, -1], [1, 1], [-1, 1]], p["reach"], 5)]
    tip, angle = p["reach"] * xp.asarray(np.array([1.0, 0.0])) + zero, zero
    for k in range(2):
        angle = angle + r[k]
        step = length * _unit(xp, angle)
        parts.append(_capsule(xp, tip + 0.5 * step, angle, 0.5 * length, 0.07 * length, k))
        tip = tip + step
    return [*parts, _disc(xp, tip, 0.1 * length, 6)]


def triangle(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """The triangle of Figure 1.2 of the thesis."""
    rows = np.array([[0.5, -0.5], [1.7, 0.0], [0.5, 0.5]])
    return [_corners(xp, rows, 1.0, 0), _disc(xp, xp.asarray(rows[1]), 0.1, 1)]


# ── In space ──────────────────────────────────────────────────────────────────────────────────────────


def cat(xp: Any, p: Numbers, r: Any) -> list[Part]:
    """Two halves that bend against each other, with legs, a head and a tail, so that its turning is seen."""
    length = p["length"]
    turns = [_rotation(xp, sign * 0.5 * r) for sign in (1.0, -1.0)]
    out = xp.asarray(np.array([0.0, 0.0, 0.5])) * length
    joint = 0.5 * (turns[1] @ out - turns[0] @ out)
    parts = []
    for k, (turn, sign) in enumerate(zip(turns, (1.0, -1.0), strict=True)):

        def put(rows: Any, turn: Any = turn) -> Any:
            return joint[None, :] + length * (xp.asarray(np.array(rows, float)) @ turn.T)

        parts.append(Part("mesh", put(_tube(0.0, sign, 0.2)), 4 if k == 0 else 5, _faces(_AROUND)))
        legs = (put([[0.1, side, 0.75 * sign], [0.55, side, 0.8 * sign]]) for side in (0.14, -0.14))
        parts += [Part("polyline", leg, 6) for leg in legs]
        if k == 0:
            parts.append(Part("mesh", put(_tube(0.95, 1.35, 0.15)), 1, _faces(_AROUND)))
        else:
            parts.append(Part("polyline", put([[-0.1, 0, -1.0], [-0.35, 0, -1.3], [-0.3, 0, -1.7]]), 6))
    return parts


def _rotation(xp: Any, bend: Any) -> Any:
    """The matrix of the rotation vector (bend, 0)."""
    size = xp.sqrt(bend[0] ** 2 + bend[1] ** 2 + 1e-300)
    x, y = bend[0] / size, bend[1] / size
    c, s = xp.cos(size), xp.sin(size)
    return xp.stack(
        [
            xp.stack([c + x * x * (1 - c), x * y * (1 - c), y * s]),
            xp.stack([x * y * (1 - c), c + y * y * (1 - c), -x * s]),
            xp.stack([-y * s, x * s, c]),
        ]
    )


def _tube(low: float, high: float, radius: float) -> np.ndarray:
    turn = 2 * np.pi * np.arange(_AROUND) / _AROUND
    ring = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.concatenate([np.column_stack([ring, np.full(_AROUND, z)]) for z in (low, high)])


def _faces(n: int) -> tuple[int, ...]:
    """Triangles of a tube of two rings of n points, with its lids."""
    around = [f for i in range(n) for f in (i, (i + 1) % n, n + i, n + i, (i + 1) % n, n + (i + 1) % n)]
    lids = [f for i in range(1, n - 1) for f in (0, i + 1, i, n, n + i, n + i + 1)]
    return tuple(around + lids)


# ── In curved spaces ──────────────────────────────────────────────────────────────────────────────────


def _surface_body(curvature: int) -> Outline:
    def outline(xp: Any, p: Numbers, r: Any) -> list[Part]:
        parts, discs = [], []
        for k, side in enumerate((0.0, 1.0, -1.0)):
            arm, angle = (r[0], side * r[1]) if k else (0.0 * r[0], 0.0 * r[0])
            if k:
                rows = [_at(xp, curvature, s * arm, angle)[0] for s in _ARM]
                parts.append(Part("polyline", xp.stack(rows), 6))
            place, ahead, aside = _at(xp, curvature, arm, angle)
            width = 0.07 * xp.cbrt(p[f"mass{k + 1}"])
            c, s = _cos_sin(xp, curvature, width)
            unit = xp.asarray(_UNIT)
            ring = unit[:, :1] * ahead[None, :] + unit[:, 1:] * aside[None, :]
            discs.append(Part("polygon", c * place[None, :] + s * ring if curvature else place[None, :] + s * ring, k))
        return parts + discs

    return outline


def _cos_sin(xp: Any, curvature: int, a: Any) -> tuple[Any, Any]:
    if curvature > 0:
        return xp.cos(a), xp.sin(a)
    return (xp.cosh(a), xp.sinh(a)) if curvature < 0 else (1.0 + 0.0 * a, a)


def _at(xp: Any, curvature: int, a: Any, angle: Any) -> tuple[Any, Any, Any]:
    """The point at the distance a in a direction, and the unit vectors along and across there."""
    c, s = _cos_sin(xp, curvature, a)
    u, v = _unit(xp, angle), _unit(xp, angle + 0.5 * np.pi)
    if not curvature:
        return s * u, u, v
    last = xp.stack([-s if curvature > 0 else s])
    return xp.concatenate([s * u, xp.stack([c])]), xp.concatenate([c * u, last]), xp.concatenate([v, 0.0 * last])


on_sphere, in_plane, in_hyperbolic_plane = _surface_body(1), _surface_body(0), _surface_body(-1)


# ── Places ────────────────────────────────────────────────────────────────────────────────────────────


def placed(xp: Any, group: Group, place: Any, points: Any) -> Any:
    """Points of the mover's own frame in the picture, (points, 3); `place` is as the lab's coordinates have it."""
    if group == "so3":
        return points @ _turned(xp, place).T
    if group in ("sphere", "hyperbolic"):
        moved = points @ place.reshape(3, 3).T
        if group == "sphere":
            return _ABOVE * moved
        flat = moved[:, :2] / (1.0 + moved[:, 2:])  # the Poincaré disc
    elif group == "line":
        flat = points + xp.stack([place[0], 0.0 * place[0]])[None, :]
    else:
        c, s = xp.cos(place[2]), xp.sin(place[2])
        turn = xp.stack([xp.stack([c, -s]), xp.stack([s, c])])
        flat = points @ turn.T + place[None, :2]
    return xp.concatenate([flat, xp.zeros((flat.shape[0], 1))], axis=1)


def _turned(xp: Any, quaternion: Any) -> Any:
    w, x, y, z = (quaternion[k] for k in range(4))
    return xp.stack(
        [
            xp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            xp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            xp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def origin(group: Group) -> np.ndarray:
    """The point of the mover's frame whose path is drawn."""
    if group == "so3":
        return np.array([[0.0, 0.0, 1.0]])  # the end of its spine
    return np.array([[0.0, 0.0, 1.0]]) if group in ("sphere", "hyperbolic") else np.zeros((1, 2))


def identity(group: Group) -> np.ndarray:
    """The place at which a mover starts."""
    if group in ("sphere", "hyperbolic"):
        return np.eye(3).ravel()
    return np.eye(PLACES[group])[0] if group == "so3" else np.zeros(PLACES[group])
