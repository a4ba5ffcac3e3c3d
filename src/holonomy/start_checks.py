"""Whether a motion can start in a state: the same judgement for `hl.simulate`, for scenes and for the studio.

What a system says at the state comes as numbers: its mass matrix, its energy, what its constraints say. NumPy alone, so
that the studio's server, which has no JAX, judges as the library does.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

RANK: Final = 1e-6
"""Rows of a matrix at an angle below this count as dependent."""
_CLOSE: Final = 1e-8  # of the size of the state: what a person types with eight digits is meant to lie on them
_ROUND_OFF: Final = 1e-14
_ROUNDINGS: Final = 64  # rounding errors of one number that the values of conditions may have
LEAST: Final = 1e-14
"""Eigenvalues of a scaled mass matrix below this part of the largest are rounding."""
_CONTRADICTS: Final = 1e-7  # of the accelerations: by how much the best one misses contradictory conditions

Kind = Literal["not finite", "no rank", "position", "velocity", "contradiction"]


class Conditions(NamedTuple):
    """What the constraints say at a state: values, rates, normals, what accelerations must cancel, at rest."""

    position: Float[Any, " holonomic"]
    rates: Float[Any, " conditions"]
    normals: Float[Any, "conditions n"]
    bias: Float[Any, " conditions"]
    free: Float[Any, " n"]
    at_rest: Float[Any, " conditions"]


class State(NamedTuple):
    """The mass matrix in the chart at a point, the energy, and what the constraints say."""

    mass: Float[Any, "n n"]
    energy: Float[Any, ""]
    conditions: Conditions


class Inconsistent(NamedTuple):
    """What is wrong with the constraints at a state, and by how much."""

    kind: Kind
    off: float = np.nan


# ── Tolerances ────────────────────────────────────────────────────────────────────────────────────────────────────────


def close(dtype: np.dtype) -> float:
    """The part of its size up to which a state away from the constraints is meant to lie on them."""
    return max(_CLOSE, _ROUNDINGS * float(np.finfo(dtype).eps))


def round_off(dtype: np.dtype) -> float:
    """The part of its size up to which a state is not moved onto the constraints."""
    return max(_ROUND_OFF, _ROUNDINGS / 8 * float(np.finfo(dtype).eps))


def size(values: Any) -> float:
    """The size of coordinates or velocities, at least 1."""
    return max(1.0, float(np.max(np.abs(values))))


# ── Mass matrices ─────────────────────────────────────────────────────────────────────────────────────────────────────


def scale(mass: np.ndarray) -> np.ndarray:
    """The units in which the diagonal of a mass matrix is one where it is not zero."""
    diagonal = np.abs(np.diagonal(mass))
    return np.where(diagonal > 0, np.sqrt(diagonal), 1.0)


def eigenvalues(mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a mass matrix as it is, and scaled to a diagonal of ones where it is not zero.

    The second do not depend on the units of single coordinates, and so say whether a coordinate carries no mass.
    """
    both, units = 0.5 * (mass + mass.T), scale(mass)
    return np.linalg.eigvalsh(both), np.linalg.eigvalsh(both / np.outer(units, units))


def is_singular(scaled: np.ndarray) -> bool:
    """Whether scaled eigenvalues are those of a singular mass matrix."""
    return bool(np.min(np.abs(scaled)) < LEAST * np.max(np.abs(scaled)) or not np.any(scaled))


def free_ways(normals: np.ndarray) -> np.ndarray:
    """The directions that the normals leave free, as rows."""
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    _, found, ways = np.linalg.svd(normals / np.where(sizes > 0, sizes, 1.0))
    return ways[int(np.sum(found > RANK)) :]


def singular_along(mass: np.ndarray, normals: np.ndarray) -> bool:
    """Whether the mass matrix is singular on the kernel of the normals; both scaled to the units of the normals."""
    free = free_ways(normals)
    return bool(len(free)) and is_singular(eigenvalues(free @ mass @ free.T)[1])


def is_indefinite(mass: np.ndarray) -> bool:
    """Whether some velocities have negative kinetic energy, by more than rounding."""
    scaled = eigenvalues(mass)[1]
    return bool(scaled[0] < -LEAST * np.max(np.abs(scaled)))


# ── Constraints ───────────────────────────────────────────────────────────────────────────────────────────────────────


def inconsistent(q: Any, v: Any, seen: Conditions, holonomic: int) -> Inconsistent | None:
    """Why constraints, the first ones `holonomic`, cannot hold from this state on; None where they can."""
    if not all(np.all(np.isfinite(x)) for x in seen):
        return Inconsistent("not finite")
    if not np.any(seen.normals):
        return Inconsistent("no rank")
    enough = close(np.asarray(q).dtype)
    off_q, off_v = misses(seen, holonomic)
    if off_q > enough * size(q):
        return Inconsistent("position", off_q)
    if off_v > enough * size(v):
        return Inconsistent("velocity", off_v)
    missed = contradiction(seen)
    return None if missed is None else Inconsistent("contradiction", missed)


def rank(mass: np.ndarray, normals: np.ndarray) -> int:
    """How many rows are independent, in the units that the masses give."""
    if len(normals) == 0:
        return 0
    units = np.sqrt(np.abs(np.diagonal(mass)))
    rows = normals / np.where(units > 0, units, 1.0)
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(rows / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
    return int(np.sum(values > RANK))


def misses(seen: Conditions, holonomic: int) -> tuple[float, float]:
    """How far position and velocity are from the constraints, by one step of Newton's method."""

    def away(normals: np.ndarray, value: np.ndarray) -> float:
        if len(normals) == 0:
            return 0.0
        sizes = np.linalg.norm(normals, axis=1)
        sizes = np.where(sizes > 0, sizes, 1.0)
        normals, value = normals / sizes[:, None], value / sizes
        move = np.linalg.lstsq(normals, value, rcond=RANK)[0]
        missed = normals @ move - value
        return float(np.max(np.abs(move), initial=0.0) + np.max(np.abs(missed), initial=0.0))

    normals, position, rates = (np.asarray(x) for x in (seen.normals, seen.position, seen.rates))
    return away(normals[:holonomic], position[:holonomic]), away(normals, rates)


def distances(values: Any, lengths: Any) -> Any:
    """How far conditions with these values, whose normals have these lengths, are from holding, each for itself.

    In units of the state, whatever those of the conditions: squared lengths miss by more than lengths do.
    """
    return abs(values) / (lengths + (lengths == 0))


def contradiction(seen: Conditions) -> float | None:
    """By how much the best acceleration misses constraints that none can keep; None where one can."""
    sizes = np.linalg.norm(seen.normals, axis=1)
    sizes = np.where(sizes > 0, sizes, 1.0)
    normals, bias = seen.normals / sizes[:, None], seen.bias / sizes
    moved = np.linalg.lstsq(normals, -bias, rcond=RANK)[0]
    missed = float(np.max(np.abs(normals @ moved + bias)))
    return missed if missed > _CONTRADICTS * (1.0 + float(np.max(np.abs(bias)))) else None
