"""Newton's method for configurations of rest, in units of the system's own, and walks along families of them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from holonomy.symmetry.kernel_series import noise
from holonomy.symmetry.rest import Rest, at_rest, moved, shown
from holonomy.systems import System

_STEPS: Final = 200  # of Newton's method, which is slow where the equilibrium is degenerate
_STALLED: Final = 20  # steps without progress after which a search is given up
_HALVINGS: Final = 30  # of one step
_FOUND: Final = 1e-11  # of the force that a displacement of the size of the search makes: the force that is left
_VIOLATED: Final = 1e-6  # of the size of the search: how far positions that contradict each other are apart
_LESS: Final = 1e-4  # part of the residual by which a whole step must make it smaller at least
_CUTS: Final = (1e-6, 1e-12)  # of the largest singular value: those below count as zero
_NEARLY: Final = 1e-6  # the same as _FOUND where steps do not help any more
_LAST: Final = 1e-4  # of a coordinate, which makes the force of its last digit count as found
_POLISH: Final = 3  # further steps, which are kept as long as they help
_WALKS: Final = (1e-3, 0.03, 0.3)  # of the size of the configuration: how far a family is followed
_TURNS: Final = 200  # steps of a walk from one equilibrium to another


class Found(NamedTuple):
    """A configuration of rest, the multipliers there, and the largest force that is left."""

    q: np.ndarray
    multipliers: np.ndarray
    residual: float


class _State(NamedTuple):
    rest: Rest
    left: np.ndarray  # forces, then violations
    matrix: np.ndarray
    forces: int


def newton(system: System, guess: np.ndarray, steps: int = _STEPS) -> Found | str:
    """An equilibrium with its multipliers and the force that is left, or a sentence that says why there is none."""
    q, multipliers, polished = guess, None, 0
    scale = np.zeros(system.space.dim)
    state, least, last = None, np.inf, 0
    for count in range(steps):
        rest = at_rest(system, q)
        if not np.all(np.isfinite(rest.force)) or not np.all(np.isfinite(rest.slope)):
            return f"from {shown(guess)} the search came to {shown(q)}, where the forces are not finite."
        if multipliers is None:
            multipliers = np.zeros(0)
            if len(rest.normals):
                multipliers = np.linalg.lstsq(rest.normals.T, -rest.force, rcond=None)[0]
        state = _state(rest, multipliers)
        if not np.all(np.isfinite(state.matrix)) or not np.all(np.isfinite(state.left)):
            return f"from {shown(guess)} the search came to {shown(q)}, where constraints are not finite."
        if system.flat:
            scale = np.maximum(scale, np.abs(q - guess) + _LAST * np.abs(q))
        else:
            scale = np.maximum(scale, 1.0)
        done = _small(state, scale)
        miss = _miss(state, scale)
        if miss < 0.5 * least:
            least, last = miss, count
        elif count - last > _STALLED:  # towards a degenerate equilibrium each step leaves less than half
            break
        if done and polished >= _POLISH:
            break
        ahead = _ahead(system, q, multipliers, state, scale, done)
        if ahead is None:
            break
        if done:
            polished += 1
        q, multipliers = ahead
    assert multipliers is not None
    return _ended(system, guess, q, multipliers, scale)


def _state(rest: Rest, multipliers: np.ndarray) -> _State:
    n, held = len(rest.force), len(rest.gap)
    matrix = np.zeros((n + held, n + len(multipliers)))
    matrix[:n, :n] = rest.slope + np.einsum("k,kij->ij", multipliers, rest.turn)
    matrix[:n, n:], matrix[n:, :n] = rest.normals.T, rest.normals[:held]
    return _State(rest, np.concatenate([rest.force + rest.normals.T @ multipliers, rest.gap]), matrix, n)


def _limits(state: _State, scale: np.ndarray) -> np.ndarray:
    """The change of each condition over a displacement of the size of the search."""
    return np.max(np.abs(state.matrix[:, : state.forces]) * scale, axis=1, initial=0.0)


def _miss(state: _State, scale: np.ndarray) -> float:
    """How much is left of the conditions, as a part of their change over the search."""
    limits = _limits(state, scale)
    return float(np.max(np.abs(state.left) / np.where(limits > 0, limits, 1.0), initial=0.0))


def _small(state: _State, scale: np.ndarray) -> bool:
    return bool(np.all(np.abs(state.left) <= _FOUND * _limits(state, scale)))


def _ahead(
    system: System, q: np.ndarray, multipliers: np.ndarray, state: _State, scale: np.ndarray, done: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """The next configuration and multipliers; None where no step makes the residual smaller, so that it is rounding."""
    for cut in _CUTS:  # along a family of equilibria the stiffness is rounding, and steps are not
        step = _equilibrated(state, cut)
        ahead = _shorter(system, q, multipliers, step, state, scale, whole_only=done)
        if ahead is not None or not np.any(step):
            return ahead
    if done or np.all(np.abs(state.left) <= _NEARLY * _limits(state, scale)):
        return None
    step = _equilibrated(state, _CUTS[-1])
    n = state.forces
    return moved(system, q, step[:n]), multipliers + step[n:]


def _equilibrated(state: _State, cut: float) -> np.ndarray:
    """Newton's step, the shortest of least squares, in units in which rows and columns have the size 1."""
    matrix, n = state.matrix, state.forces
    rows, columns = np.ones(len(matrix)), np.ones(matrix.shape[1])
    stiff = float(np.max(np.abs(matrix[:n, :n]), initial=0.0)) or float(np.max(np.abs(state.left[:n]), initial=0.0))
    normals = np.linalg.norm(matrix[:n, n:], axis=0)
    rows[:n] = 1.0 / (stiff or 1.0)
    columns[n:] = (stiff or 1.0) / np.where(normals > 0, normals, 1.0)
    rows[n:] = 1.0 / np.where(normals > 0, normals, 1.0)[: len(matrix) - n]
    matrix = rows[:, None] * matrix * columns
    for _ in range(3):
        sizes = np.max(np.abs(matrix), axis=1, initial=0.0)
        sizes = np.sqrt(np.where(sizes > 0, sizes, 1.0))
        rows, matrix = rows / sizes, matrix / sizes[:, None]
        sizes = np.max(np.abs(matrix), axis=0, initial=0.0)
        sizes = np.sqrt(np.where(sizes > 0, sizes, 1.0))
        columns, matrix = columns / sizes, matrix / sizes
    return columns * np.linalg.lstsq(matrix, -rows * state.left, rcond=cut)[0]


def _shorter(
    system: System,
    q: np.ndarray,
    multipliers: np.ndarray,
    step: np.ndarray,
    state: _State,
    scale: np.ndarray,
    whole_only: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """The step, halved until it makes the residual smaller in the units of its conditions; None if none does."""
    n = state.forces
    sizes = _limits(state, np.maximum(scale, np.abs(step[:n])))
    forces = max(float(np.max(sizes[:n], initial=0.0)), float(np.max(np.abs(state.left[:n]), initial=0.0))) or 1.0
    sizes = np.concatenate([np.full(n, forces), np.where(sizes[n:] > 0, sizes[n:], 1.0)])
    size, share = float(np.linalg.norm(state.left / sizes)), 1.0
    for _ in range(1 if whole_only else _HALVINGS):
        at, of = moved(system, q, share * step[:n]), multipliers + share * step[n:]
        rest = at_rest(system, at)
        left = np.concatenate([rest.force + rest.normals.T @ of, rest.gap])
        if np.linalg.norm(left / sizes) < (1 - _LESS * share) * size:
            return at, of
        share *= 0.5
    return None


def _ended(system: System, guess: np.ndarray, q: np.ndarray, multipliers: np.ndarray, scale: np.ndarray) -> Found | str:
    rest = at_rest(system, q)
    state = _state(rest, multipliers)
    n, limits = state.forces, _limits(state, scale)
    over = np.abs(state.left) > _FOUND * limits
    if np.all(np.isfinite(state.left)) and np.any(over):
        over &= np.abs(state.left) > noise(system, q, multipliers)
    if not np.any(over):
        return Found(q, multipliers, float(np.max(np.abs(state.left[:n]), initial=0.0)))
    apart = np.abs(rest.gap) > _VIOLATED * np.maximum(limits[n:], np.finfo(float).tiny)
    if np.any(apart):
        return (
            f"from {shown(guess)} the search ended at {shown(q)}, where a constraint is violated by "
            f"{np.max(np.abs(rest.gap[apart])):.2g}; the constraints may contradict each other."
        )
    return (
        f"from {shown(guess)} the search ended at {shown(q)}, where the force "
        f"{np.max(np.abs(state.left[:n]), initial=0.0):.2g} is left."
    )


# ── families ──────────────────────────────────────────────────────────────────────────────────────────────────────
def extends(system: System, q: np.ndarray, tangent: np.ndarray) -> bool:
    """Whether equilibria are found along each direction of a family, at several distances to both sides.

    The directions are columns in coordinates of the chart at q.
    """
    size = _size(system, q)
    for column in tangent.T:
        unit = column / np.linalg.norm(column)
        for far in _WALKS:
            for sign in (1.0, -1.0):
                wanted = moved(system, q, sign * far * size * unit)
                found = newton(system, wanted, 30)
                if isinstance(found, str) or np.linalg.norm(found.q - wanted) > 0.5 * np.linalg.norm(wanted - q):
                    return False
    return True


def leads(system: System, start: Found, goal: np.ndarray, dimension: int, turns: np.ndarray) -> bool:
    """Whether a walk along a family of equilibria of this dimension leads from one to another.

    Each step goes along the family towards the goal, and Newton's method brings it back onto the family.
    """
    at, before = start, None
    first = float(np.linalg.norm(apart(goal, start.q, turns)))
    for _ in range(_TURNS):
        away = apart(goal, at.q, turns)
        far = float(np.linalg.norm(away))
        if far <= 1e-7 * max(float(np.linalg.norm(goal)), first):
            return True
        rest = at_rest(system, at.q)
        basis = _tangent(rest, at.multipliers, dimension)
        away = np.linalg.pinv(rest.frame) @ away
        along = basis @ (basis.T @ away)
        if np.linalg.norm(along) < 0.2 * far:  # the goal lies across, and the family may lead around to it
            unit = basis[:, 0] if before is None else basis @ (basis.T @ before)
            along = unit / np.linalg.norm(unit) * far
        share = 1.0 if far < 0.02 * _size(system, goal) else min(1.0, 0.2 * _size(system, goal) / far, 0.3)
        step = share * along
        found = newton(system, moved(system, at.q, step), 30)
        if isinstance(found, str):
            return False
        at, before = found, step
    return False


def _tangent(rest: Rest, multipliers: np.ndarray, dimension: int) -> np.ndarray:
    """The directions along which the conditions of rest stay met to first order, as orthonormal columns."""
    matrix, n = _state(rest, multipliers).matrix, len(rest.force)
    right = np.linalg.svd(matrix)[2]
    return np.linalg.svd(right[-dimension:].T[:n])[0][:, :dimension]


def apart(a: np.ndarray, b: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """The displacement from b to a, up to whole turns of the coordinates where `turns`."""
    away = a - b
    return np.where(turns, (away + np.pi) % (2 * np.pi) - np.pi, away)


def _size(system: System, q: np.ndarray) -> float:
    """The size of a configuration: of its coordinates, or 1."""
    size = float(np.max(np.abs(q), initial=0.0)) if system.flat else 1.0
    return size or 1.0
