r"""Statics: equilibria, alone and in families, with their stability.

A configuration is an equilibrium if the forces do no virtual work, \(f(q) + N^\top\lambda = 0\), where f are all forces
at rest (those of the potential, of moving frames, and applied ones) and N are the normals of the constraints, and if
this is so at all times. `stability` says which theorems decide whether it is stable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from holonomy.symmetry import find_rest
from holonomy.symmetry.dependence import depends_on
from holonomy.symmetry.find_rest import Found
from holonomy.symmetry.rest import combination, linear, other_times, shown, walls
from holonomy.symmetry.stability import Verdict, judged
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import StateLike

_SAME = 1e-9  # of the coordinates of an equilibrium and of its distance from the guess: nearer ones are one
_TIMES = np.array([0.0, 1e-3, -0.0217, 0.137, 0.411, -0.83, 1.618, 3.7, -7.9, 17.3, 71.0, 311.0, 1009.0])
_MOVES = 1e-9  # of the largest force in a system that depends on the time, and of a wall's distance


@dataclass(frozen=True)
class Family:
    """Equilibria that form a surface: its `dimension`, and the columns of `tangent`, displacements along it.

    `order` says up to which order of the displacements the conditions of rest were seen to hold along it; equilibria
    were also found along it at finite distances.
    """

    dimension: int
    tangent: np.ndarray
    order: int


@dataclass(frozen=True)
class Equilibrium:
    """A configuration of rest.

    `q` and the `multipliers` of the constraints there; `stability`, ``"stable"``, ``"unstable"`` or ``"undecided"``,
    and in `reason` the theorem that says so or what was looked at in vain; `eigenvalues` of the linear motion, growth
    rates as real and frequencies as imaginary parts, known to `uncertainty`; `order`, that of the derivatives of the
    potential that decided, or up to which was looked; `degenerate`, in how many directions the stiffness is not told
    from zero; the `family` that it belongs to, or None; `residual`, the largest force that is left.
    """

    q: np.ndarray
    multipliers: np.ndarray
    stability: str
    eigenvalues: Complex[np.ndarray, " rates"] | Float[np.ndarray, " rates"]
    residual: float
    reason: str = ""
    uncertainty: float = 0.0
    order: int = 2
    degenerate: int = 0
    family: Family | None = None

    def __repr__(self) -> str:
        place = f"{self.stability} at q = {np.array2string(self.q, precision=6, separator=', ')}"
        if self.family is not None:
            place += f", one of a family of dimension {self.family.dimension}"
        return place


def equilibria(system: System, guesses: StateLike | Sequence[StateLike]) -> tuple[Equilibrium, ...]:
    """The equilibria that Newton's method finds from the guesses, each once, with their stability.

    Of a family of equilibria one is returned, with the `family`.

    **Arguments:** `guesses`, one configuration or several, in numbers or by the names of coordinates. **Fails** with
    `ValueError` where no guess leads to an equilibrium, or the mass matrix is singular there (it says in which
    directions).
    """
    found, tried = search(system, _several(system, guesses))
    if not found:
        raise ValueError(f"No equilibrium was found: {tried[0]} Pass guesses nearer to one.")
    return tuple(found)


def search(
    system: System, guesses: Sequence[np.ndarray] | Any, hopeless: int | None = None
) -> tuple[list[Equilibrium], list[str]]:
    """The equilibria from guesses, and why others led to none; after `hopeless` failures alone the search ends."""
    found: list[_Seen] = []
    tried: list[str] = []
    for guess in guesses:
        at = _allowed(system, find_rest.newton(system, guess))
        if isinstance(at, str):
            tried.append(at)
            if hopeless is not None and len(tried) >= hopeless and not found:
                break
            continue
        away = float(np.max(np.abs(find_rest.apart(at.q, guess, turning(system))), initial=0.0))
        near = _SAME * (away + float(np.max(np.abs(at.q), initial=0.0)))
        if not any(_same(system, at, near, other) for other in found):
            try:
                one, off = _equilibrium(system, at)
            except ValueError as error:  # a singular mass matrix
                if hopeless is None:
                    raise
                tried.append(str(error))
                continue
            found.append(_Seen(one, max(near, off)))
    return [one.equilibrium for one in found], tried


class _Seen(NamedTuple):
    """An equilibrium, and how near another one found is the same."""

    equilibrium: Equilibrium
    near: float


def _allowed(system: System, at: Found | str) -> Found | str:
    """The configuration, or why it is none of the system or none of rest at all times."""
    if isinstance(at, str):
        return at
    if system.constraints.walls.unilateral:
        gaps, slopes = walls(system, at.q)
        limit = _MOVES * np.max(np.abs(slopes), axis=1) * max(float(np.max(np.abs(at.q))), 1e-300)
        if np.any(gaps < -limit):
            return f"at {shown(at.q)} forces balance, but a unilateral constraint is violated there."
    times = _TIMES[:1] if _timeless(system) else _TIMES
    for time, (force, normals, gap, rates) in zip(times, other_times(system, at.q, times), strict=True):
        held = np.linalg.lstsq(normals.T, -force, rcond=None)[0] if len(normals) else np.zeros(0)
        left = force + normals.T @ held
        if len(rates) and np.any(np.abs(rates) > _MOVES * np.max(np.abs(normals))):
            return f"at {shown(at.q)} a constraint asks for a velocity at t = {time:g}, so nothing rests there."
        pulled = np.max(np.abs(left), initial=0.0) > _MOVES * np.max(np.abs(force), initial=0.0) + 10 * at.residual
        if time and (pulled or np.any(np.abs(gap) > _MOVES * np.max(np.abs(at.q), initial=0.0))):
            return f"at {shown(at.q)} forces balance at t = 0, but not at t = {time:g}."
    return at


def _timeless(system: System) -> bool:
    """Whether nothing depends on the time, which may cancel as on a turning hoop."""
    return system.autonomous or not any(one.time for one in depends_on(system))


def _equilibrium(system: System, at: Found) -> tuple[Equilibrium, float]:
    """The equilibrium, and how far off it may be."""
    verdict = judged(system, at.q, at.multipliers)
    stability, reason, family = verdict.stability, verdict.reason, None
    if verdict.family is not None:
        family, stability, reason = _family(system, at, verdict)
    if not _timeless(system):
        stability = "undecided"
        reason = f"the system depends on the time; it rests there at the {len(_TIMES)} times looked at"
    elif stability == "unstable" and system.constraints.walls.ratchets:
        stability, reason = "undecided", f"without constraints that only push it is unstable: {reason}"
    elif stability == "unstable" and system.constraints.walls.unilateral:
        gaps, slopes = walls(system, at.q)
        if np.any(gaps <= _MOVES * np.max(np.abs(slopes), axis=1) * np.max(np.abs(at.q))):
            stability, reason = "undecided", f"without its wall it is unstable: {reason}"
    one = Equilibrium(
        at.q,
        at.multipliers,
        stability,
        verdict.eigenvalues,
        at.residual,
        reason,
        verdict.unsure,
        verdict.order,
        verdict.soft,
        family,
    )
    return one, verdict.off


def _family(system: System, at: Found, verdict: Verdict) -> tuple[Family | None, str, str]:
    """The family where equilibria are found along it; else the verdict does not rest on it."""
    assert verdict.family is not None
    if find_rest.extends(system, at.q, verdict.family):
        frame = linear(system, at.q, at.multipliers).frame
        tangent = np.linalg.qr(frame @ verdict.family)[0]
        tangent = tangent * np.where(np.sum(tangent, axis=0) < 0, -1.0, 1.0)
        family = Family(tangent.shape[1], tangent, verdict.order if verdict.order > 2 else 2)
        names = " and ".join(combination(system, column) for column in tangent.T)
        return family, verdict.stability, f"{verdict.reason} ({names})"
    if not verdict.on_family:
        return None, verdict.stability, verdict.reason
    reason = (
        f"the conditions of rest stay met along {verdict.family.shape[1]} directions to order {verdict.order}, but no "
        "equilibria were found further along them"
    )
    return None, "undecided", reason


# ── which are the same ────────────────────────────────────────────────────────────────────────────────────────────
def _same(system: System, at: Found, near: float, seen: _Seen) -> bool:
    turns, other = turning(system), seen.equilibrium
    away = find_rest.apart(at.q, other.q, turns)
    if np.max(np.abs(away), initial=0.0) <= max(near, seen.near):
        return True
    if other.family is None:
        return False
    start = Found(other.q, other.multipliers, other.residual)
    return find_rest.leads(system, start, at.q, other.family.dimension, turns)


def turning(system: System) -> np.ndarray:
    """Which coordinates are angles, so that whole turns do not count."""
    if not system.flat:
        return np.zeros(system.space.point_dim, bool)
    return np.array([c.kind == "angle" for c in system.coordinates])


# ── what a person may pass ────────────────────────────────────────────────────────────────────────────────────────
def _several(system: System, guesses: Any) -> list[np.ndarray]:
    shape = (system.space.point_dim,)
    one = isinstance(guesses, Mapping)
    if not one and len(guesses):
        one = not isinstance(guesses[0], Mapping) and np.ndim(guesses[0]) == 0
    return [np.asarray(vector("guess", guess, shape, system), float) for guess in ([guesses] if one else guesses)]
