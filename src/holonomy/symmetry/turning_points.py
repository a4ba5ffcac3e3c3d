"""Where a motion of one degree of freedom turns: the first places on both sides at which h − V′ vanishes.

V′ is looked at in many places: in steps that grow with the distance from the start, from 1e-12 to 1e15 of its size,
about zero likewise, and evenly between the turning points that were found. A barrier that lies between two of these
places is not seen.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

from holonomy.symmetry.natural import Natural
from holonomy.systems.parameters import number
from holonomy.types import Tree

FARTHEST = 1e15
"""How far from the start turning points are looked for, in units of its size and at least of 1."""
_GRID = np.linspace(-10.0, 10.0, 4001)  # where a configuration with positive kinetic energy is looked for
_AWAY = np.exp(np.arange(np.log(1e-12), np.log(FARTHEST), 0.005))  # distances in units of the start's size
_TURN = np.linspace(0.0, 2 * np.pi, 20001)[1:]  # distances of an angle
_INSIDE = np.linspace(0.0, 1.0, 20001)[1:-1]  # places between the turning points
LOOKED_AT = len(_INSIDE)
"""Places between two turning points, or within a turn, at which V′ is looked at."""
_NOISE = 64 * np.finfo(float).eps  # of the energies whose difference is the kinetic energy
_PERIODIC = 1e-9  # of the energies: by what those of an angle and of one a turn further may differ
_HALVINGS = 200


class Well(eqx.Module):
    """The kinetic energy h − V′ of a motion as a function of the position, and the mass."""

    natural: Natural
    energy: float

    def kinetic(self, q: Any) -> np.ndarray:
        """h − V′ at many positions."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[0]) + self.energy

    def slope(self, q: Any) -> np.ndarray:
        """The derivative of h − V′."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[1])

    def mass(self, q: Any) -> np.ndarray:
        """The mass."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[2])

    def noise(self, kinetic: np.ndarray) -> np.ndarray:
        """What rounding makes of kinetic energies that are zero."""
        return _NOISE * (abs(self.energy) + np.abs(self.energy - kinetic))

    def turns(self, at: float) -> bool:
        """Whether energy and mass are the same a whole turn further, as those of an angle are."""
        q = at + 2 * np.pi * np.linspace(0.0, 1.0, 33)
        one, other = (np.stack([self.kinetic(x) - self.energy, self.mass(x)]) for x in (q, q + 2 * np.pi))
        size = np.max(np.abs(one), axis=1, keepdims=True)
        return bool(np.all(np.abs(one - other) <= _PERIODIC * size))


@jax.jit
def _one(natural: Natural, q: Tree) -> Tree:
    value, slope = jax.value_and_grad(lambda x: natural.rest(x[None]))(q)
    return value, slope, natural.metric(q[None])[0, 0]


@eqx.filter_jit
def _looked_at(natural: Natural, q: Tree) -> Tree:
    return jax.vmap(lambda x: _one(natural, x))(q)


def started(well: Well, start: Any) -> float:
    """The position at which the motion is looked for, by default where its kinetic energy is largest."""
    if start is not None:
        at = float(number("start", start))
        kinetic = well.kinetic([at])
        if not kinetic[0] >= -well.noise(kinetic)[0]:
            raise ValueError(
                f"The energy {well.energy:g} is not above the potential {well.energy - kinetic[0]:g} at start = "
                f"{at:g}: no motion of this energy gets there."
            )
        return at
    kinetic = well.kinetic(_GRID)
    kinetic = np.where(np.isfinite(kinetic), kinetic, -np.inf)
    best = int(np.argmax(kinetic))
    if not kinetic[best] > 0:
        raise ValueError(
            f"The energy {well.energy:g} is below the potential, whose least value between -10 and 10 is "
            f"{well.energy - kinetic[best]:g}: there is no such motion there. Pass a larger energy, or start=."
        )
    return float(_GRID[best])


def turning_points(well: Well, at: float, angle: bool) -> tuple[float, float]:
    """The turning points on both sides of a position, infinite where there is none; the position may be one itself.

    **Raises** `ValueError` where the potential is not finite on the way, and at an equilibrium.
    """
    kinetic = well.kinetic([at])
    if kinetic[0] <= well.noise(kinetic)[0]:
        slope = float(well.slope([at])[0])
        if slope == 0:
            raise ValueError(f"The motion rests at the equilibrium q = {at:g} or nears it for ever (a separatrix).")
        ends = (at, _first(well, at, 1.0, angle)) if slope > 0 else (_first(well, at, -1.0, angle), at)
    else:
        ends = (_first(well, at, -1.0, angle), _first(well, at, 1.0, angle))
    if np.all(np.isfinite(ends)):
        ends = _narrowed(well, at, *ends)
    return ends


def _first(well: Well, at: float, side: float, angle: bool) -> float:
    """The first place on one side where the kinetic energy vanishes."""
    size = abs(at) or 1.0
    away = size * _AWAY[_AWAY * size <= FARTHEST * max(size, 1.0)]
    if angle:
        away = np.unique(np.concatenate([away[away < 2 * np.pi], _TURN]))
    elif at * side < 0:  # singular potentials and narrow barriers are mostly at zero
        near = np.concatenate([size * (1 - _AWAY[_AWAY < 1]), [size], size * (1 + _AWAY[_AWAY < 1])])
        away = np.unique(np.concatenate([away, near]))
    values = well.kinetic(at + side * away)
    noise = well.noise(values)
    clear = np.flatnonzero(~(np.abs(values) <= noise))
    begin = int(clear[0]) if clear.size else len(away)
    out = np.flatnonzero(~(values[begin:] > 0) | ~np.isfinite(values[begin:])) + begin
    if begin == len(away):
        raise ValueError(f"The energies at q = {at:g} differ by rounding alone, so that no motion can be told there.")
    if not out.size:
        return side * float("inf")
    k = int(out[0])
    inside = at if k == 0 else at + side * float(away[k - 1])
    return _root(well, at, inside, at + side * float(away[k]))


def _root(well: Well, at: float, inside: float, outside: float) -> float:
    """The place where the kinetic energy vanishes, between one where it is positive and one where it is not."""

    def kinetic(x: float) -> float:
        return float(well.kinetic([x])[0])

    for _ in range(_HALVINGS):  # to where a wall that overflows is finite
        if np.isfinite(kinetic(outside)) or kinetic(outside) != -np.inf:
            break
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if kinetic(middle) > 0 else (inside, middle)
    if not np.isfinite(kinetic(outside)):
        raise ValueError(
            f"The potential is not finite at q = {outside:g}, so that a motion from {at:g} may fall into a "
            "singularity; pass another start= or energy."
        )
    if kinetic(outside) == 0:
        return outside
    options: Any = {"xtol": max(1e-16 * abs(outside - at), 1e-300), "rtol": 1e-15}
    root: Any = brentq(kinetic, inside, outside, **options)
    return float(root)


def _narrowed(well: Well, at: float, low: float, high: float) -> tuple[float, float]:
    """The turning points again, if even steps between them find a barrier that growing steps did not."""
    places = low + (high - low) * _INSIDE
    values = well.kinetic(places)
    out = places[values < -well.noise(values)]
    below, above = out[out < at], out[out > at]
    step = (high - low) / (len(_INSIDE) + 1)
    if below.size:
        low = _root(well, at, min(at, float(below[-1]) + step), float(below[-1]))
    if above.size:
        high = _root(well, at, max(at, float(above[0]) - step), float(above[0]))
    return low, high
