r"""Whether an equilibrium is stable, by the theorems that decide it.

- *Linear part.* A small motion that grows makes it unstable; if all die out, it is stable (Lyapunov).
- *Energy* (Lagrange and Dirichlet). Where forces at rest derive from a potential V′ (that of moving frames included),
  the kinetic energy is positive, and no force feeds energy in, a strict minimum of V′ on the positions that the
  constraints allow is stable. A degenerate minimum is decided by higher derivatives (`kernel_series`, `minimum`).
- *No minimum.* Without forces that depend on velocities, an equilibrium is unstable if the first form of V′ along the
  directions without stiffness is negative somewhere (Kozlov 1986; Kozlov and Palamodov 1982), or, with two degrees of
  freedom and an analytic V′, if V′ has no minimum (Laloy and Peiffer 1982). If every motion loses energy, no minimum of
  an analytic V′ suffices: near it all equilibria have the same V′, so a motion that starts below leaves (Chetaev).
- *Families.* If all other small motions die out, an equilibrium that belongs to a family is stable, since the
  equilibria of the family are a centre manifold.

Everything else is undecided, and the reason says what was looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from holonomy.symmetry import minimum
from holonomy.symmetry.force_kinds import ForceKinds
from holonomy.symmetry.kernel_series import Reduced, RestSeries, Scales, dependent, reduced
from holonomy.symmetry.minimum import Extremum
from holonomy.symmetry.rest import Linear, combination, linear
from holonomy.systems import System
from holonomy.trace.lowering.statements import Unsupported

_LARGEST: Final = 40  # coordinates up to which the conditions of rest are expanded in series
_ROUNDING: Final = 1e-12  # of the largest eigenvalue
_COARSE: Final = 1e-6  # the same where the conditions of rest have no series: rounding parts a double zero so far
_UNKNOWN: Final = 16.0  # times the largest difference of computations with other rounding errors
_MINIMUM: Final = Extremum("minimum", 2, False, None)


@dataclass(frozen=True)
class Verdict:
    """The `stability` of an equilibrium with its `reason`; the `eigenvalues` of the linear motion, known to `unsure`;
    the `order` of the derivatives of the potential that decided or were looked at; directions of a `family` of
    equilibria as columns, and whether the verdict rests `on_family`; how many directions have no stiffness, `soft`; how
    far `off` the equilibrium may be along these."""

    stability: str
    reason: str
    eigenvalues: Any
    unsure: float
    order: int = 2
    family: np.ndarray | None = None
    on_family: bool = False
    soft: int = 0
    off: float = 0.0


@dataclass
class _Looked:
    """What is known of an equilibrium when the theorems are tried.

    `potential`: whether it is decided by a potential on the positions that constraints allow; `negative`: in how many
    directions the stiffness is.
    """

    system: System
    q: np.ndarray
    multipliers: np.ndarray
    linear: Linear
    kinds: ForceKinds
    values: Any
    unsure: float
    definite: bool = True
    potential: bool = False
    negative: int = 0
    found: Reduced | None = None
    extremum: Extremum | None = None
    family: np.ndarray | None = None
    rises: bool = False
    notes: list[str] = field(default_factory=list)

    def verdict(self, stability: str, reason: str, order: int | None = None, *, on_family: bool = False) -> Verdict:
        """The verdict with all that is known besides."""
        soft = 0 if self.found is None else self.found.directions.shape[1]
        off = 0.0 if self.found is None else self.found.off
        looked = 2 if self.found is None else self.found.order
        whole = "; ".join([reason, *self.notes])
        of = looked if order is None else order
        return Verdict(stability, whole, self.values, self.unsure, of, self.family, on_family, soft, off)


def judged(system: System, q: np.ndarray, multipliers: np.ndarray) -> Verdict:
    """The verdict on an equilibrium; `ValueError` where its mass matrix is singular."""
    parts = linear(system, q, multipliers)
    values = _eigenvalues(parts, parts.spring)
    coarse = _COARSE * float(np.max(np.abs(values), initial=0.0))
    at = _Looked(system, q, multipliers, parts, ForceKinds(system, q), values, coarse)
    if len(parts.mass) <= _LARGEST:
        try:
            return _by_series(at, RestSeries(system, q, multipliers))
        except Unsupported:
            pass
    return _by_linear_part(at)


def _by_series(at: _Looked, series: RestSeries) -> Verdict:
    held, moving = at.system.constraints.equations.counts[:2]
    exact, _, others = series.known()
    n, mass = series.n, at.linear.mass
    if not np.all(np.isfinite(exact)) or not np.all(np.isfinite(others)):
        return at.verdict("undecided", "a function of the system has no Taylor series there", 0)
    at.definite = float(np.min(np.linalg.eigvalsh(at.linear.along(mass)), initial=np.inf)) > 0
    at.potential = at.definite and not moving and at.kinds.conservative
    if np.min(np.linalg.eigvalsh(mass)) <= 0:  # only scales then, which must be positive
        mass = np.diag(np.where(np.diag(mass) > 0, np.diag(mass), 1.0))
    scales = Scales(exact[:, 1:], mass)
    redundant, regular = dependent(series, scales)
    at.found = reduced(series, scales, at.potential)
    _measure(at, -exact[:n, 1 : 1 + n], [-other[:n, :n] for other in others], mass)
    if at.found is not None and (at.found.corners or not at.found.finite):
        corner = f"has a corner there ({', '.join(sorted(at.found.corners))})"
        what = corner if at.found.corners else "has no Taylor series there"
        return at.verdict("undecided", f"a function of the system {what}", 0)
    if not regular:
        return at.verdict(
            "undecided",
            "the constraints are dependent there and not nearby, a singular position: the configurations around it "
            "are no smooth surface",
            2,
        )
    if redundant:
        at.notes.append(f"{redundant} of {held} constraints follow from the others, so that multipliers are not unique")
    if at.potential:
        at.negative = _negative(scales, n, at.found)
        at.extremum = _MINIMUM if at.found is None else _extremum(at.found)
    _families(at)
    return _decided(at, moving)


def _measure(at: _Looked, spring: np.ndarray, others: list[np.ndarray], mass: np.ndarray) -> None:
    """The eigenvalues of the linear motion, and how far they are not known."""
    at.values = _eigenvalues(at.linear, _without(spring, at.found, mass))
    found = [_eigenvalues(at.linear, _without(other, at.found, mass), k) for k, other in enumerate(others)]
    apart = [float(np.max(np.abs(np.sort(x.real) - np.sort(at.values.real)), initial=0.0)) for x in found]
    size = float(np.max(np.abs(_eigenvalues(at.linear, spring)), initial=0.0))
    # what is left of a stiffness that was put to zero counts by its root
    at.unsure = _UNKNOWN * max(apart, default=0.0) + (_ROUNDING if at.found is None else np.sqrt(_ROUNDING)) * size


def _negative(scales: Scales, n: int, found: Reduced | None) -> int:
    """In how many directions that constraints allow the stiffness is negative, of those where its sign is known."""
    tangent = scales.tangent(n)
    forces = scales.matrix[:n, :n]
    values = np.linalg.eigvalsh(tangent.T @ (forces + forces.T) @ tangent)
    soft = 0 if found is None else found.directions.shape[1]
    return int(np.sum(values[np.argsort(np.abs(values))][soft:] > 0))  # of forces, minus the stiffness


def _extremum(found: Reduced) -> Extremum:
    return minimum.extremum(found.potential.of, found.potential.value, found.potential.unsure)


# ── families ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _families(at: _Looked) -> None:
    """Directions along which the conditions of rest stay met to the order of the series, and what is across them."""
    found = at.found
    if found is None:
        return
    of, d = found.left.of, found.directions.shape[1]
    rest = (np.abs(found.left.value) > found.left.unsure)[:, 1:]
    powers = of.powers[1:]
    chosen = [i for i in range(d) if not np.any(rest[:, powers[:, i] == powers.sum(axis=1)])]
    outside = [i for i in range(d) if i not in chosen]
    if not chosen:
        return
    if np.any(rest[:, np.all(powers[:, outside] == 0, axis=1)]):
        names = " and ".join(_direction(at, found.directions[:, i]) for i in chosen)
        at.notes.append(f"further equilibria lie {names} of it, to order {found.order}, in families that cross here")
        return
    at.family = found.directions[:, chosen]
    if at.extremum is not None and not at.negative:
        at.rises = _rises_across(found, chosen, outside)


def _rises_across(found: Reduced, chosen: list[int], outside: list[int]) -> bool:
    """Whether the potential has a strict minimum in the other directions, at all places of the family near this one."""
    of = found.left.of
    if not outside:
        return True
    c = np.where(np.abs(found.potential.value) > found.potential.unsure, found.potential.value, 0.0)
    smaller = minimum.polynomials(len(outside), of.order)
    place = {tuple(p): k for k, p in enumerate(smaller.powers.tolist())}
    part = np.zeros(smaller.size)
    for k in np.flatnonzero(np.all(of.powers[:, chosen] == 0, axis=1)):
        part[place[tuple(of.powers[k][outside].tolist())]] = c[k]
    seen = minimum.extremum(smaller, part, np.zeros(smaller.size))
    lower = of.powers[c != 0][:, outside].sum(axis=1)
    return seen.kind == "minimum" and not np.any((lower > 0) & (lower < seen.order))


def _direction(at: _Looked, column: np.ndarray) -> str:
    return combination(at.system, at.linear.frame @ column)


# ── the linear part ───────────────────────────────────────────────────────────────────────────────────────────────
def _eigenvalues(parts: Linear, spring: np.ndarray, sample: int | None = None) -> Any:
    """Growth rates and frequencies; with a sample, of matrices that are changed by rounding errors."""
    mass, damping, spring = (parts.along(matrix) for matrix in (parts.mass, parts.damping, spring))
    n = len(mass)
    if not n:
        return np.zeros(0, complex)
    if sample is not None:
        rng = np.random.default_rng(sample)
        eps = 4 * np.finfo(float).eps
        mass, damping, spring = (x * (1 + eps * rng.uniform(-1, 1, x.shape)) for x in (mass, damping, spring))
    first = np.linalg.solve(mass, np.concatenate([-spring, -damping], axis=1))
    values = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [first]]))
    return values[np.lexsort((values.imag, values.real))]


def _without(spring: np.ndarray, found: Reduced | None, mass: np.ndarray) -> np.ndarray:
    """The stiffness where that of directions in which it is not told from zero is zero."""
    if found is None:
        return spring
    columns = found.directions  # orthonormal in the kinetic metric
    off = np.eye(len(mass)) - columns @ (columns.T @ mass)
    return off.T @ spring @ off


def _by_linear_part(at: _Looked) -> Verdict:
    """The verdict where conditions of rest have no series: that of the linear part, with coarse limits."""
    growth = float(np.max(at.values.real, initial=-np.inf))
    spring = at.linear.along(at.linear.spring)
    size = float(np.max(np.abs(spring), initial=0.0))
    even = np.max(np.abs(spring - spring.T), initial=0.0) <= 1e-9 * size
    stiff = len(spring) == 0 or float(np.min(np.linalg.eigvalsh(spring + spring.T))) > 1e-9 * size
    if growth > at.unsure and at.kinds.smooth:
        return at.verdict("unstable", f"a small motion grows at the rate {growth:.6g}")
    held = at.system.constraints.equations.velocity
    if len(at.values) and growth < -at.unsure and not held and at.kinds.smooth:
        return at.verdict("stable", "all small motions die out")
    if even and stiff and not at.system.forces and not held:
        return at.verdict("stable", "the potential has a strict minimum there, by its second derivatives")
    return at.verdict("undecided", "the linear part of the motion does not decide, and no more was looked at")


# ── the theorems ──────────────────────────────────────────────────────────────────────────────────────────────────
def _decided(at: _Looked, moving: int) -> Verdict:
    values, unsure = at.values, at.unsure
    growth = float(np.max(values.real, initial=-np.inf))
    family = 0 if at.family is None else at.family.shape[1]
    if at.potential and (verdict := _by_minimum(at)) is not None:
        return verdict
    if not at.kinds.smooth:
        return at.verdict("undecided", "forces have a corner where velocities are zero, so that nothing else decides")
    if growth > unsure or (at.negative and at.kinds.of_positions and at.kinds.without_gyroscopic):
        return at.verdict("unstable", f"a small motion grows at the rate {growth:.6g}", 2)
    if at.potential and (verdict := _by_no_minimum(at)) is not None:
        return verdict
    if len(values) and growth < -unsure and not moving:
        return at.verdict("stable", "all small motions die out", 2)
    zeros = int(np.sum(np.abs(values) <= 1e-8 * np.max(np.abs(values), initial=0.0)))
    damped = int(np.sum(values.real < -unsure)) == len(values) - zeros
    if family and damped and zeros == max(family - moving, 0) and family >= moving:
        reason = f"all small motions die out but for those along {_named(at)}"
        return at.verdict("stable", reason, on_family=True)
    if moving and at.definite and at.kinds.conservative and at.kinds.takes_energy:
        order = _minimum_without_velocity_constraints(at)
        if order is not None:
            return at.verdict("stable", "the potential has a strict minimum there", order)
    return at.verdict("undecided", _why_not(at, moving), on_family=at.family is not None)


def _by_minimum(at: _Looked) -> Verdict | None:
    extremum = at.extremum
    if at.negative or extremum is None or extremum.kind != "minimum":
        return None
    if not (_loses(at.linear) and at.kinds.smooth) and not at.kinds.takes_energy:
        return None
    order = extremum.order
    by = "by its second derivatives" if order == 2 else f"where derivatives below order {order} leave it open"
    return at.verdict("stable", f"the potential has a strict minimum there, {by}", order)


def _by_no_minimum(at: _Looked) -> Verdict | None:
    extremum = at.extremum
    if at.negative or extremum is None or extremum.kind != "none":
        return None
    assert extremum.direction is not None
    assert at.found is not None
    where = _direction(at, at.found.directions @ extremum.direction)
    none = f"the potential has no minimum there, by its derivatives of order {extremum.order} {where}"
    if _loses(at.linear):
        return at.verdict("unstable", f"every motion loses energy, and {none}", extremum.order)
    if not at.kinds.of_positions or not at.kinds.without_gyroscopic:
        return None
    if extremum.leading or at.linear.free.shape[1] <= 2:
        return at.verdict("unstable", none, extremum.order)
    return None


def _loses(parts: Linear) -> bool:
    """Whether the damping is positive definite along all free displacements."""
    damping = parts.along(parts.damping)
    even = damping + damping.T
    return bool(len(even) and np.min(np.linalg.eigvalsh(even)) > 1e-9 * np.max(np.abs(even)))


def _minimum_without_velocity_constraints(at: _Looked) -> int | None:
    """The order at which the potential is seen to have a minimum without constraints on velocities.

    These take freedom away, so it is stable with them. None where they bear a load, or there is no minimum.
    """
    held = at.system.constraints.equations.counts[0]
    series = RestSeries(at.system, at.q, at.multipliers[:held])
    exact, unsure, _ = series.known()
    if np.any(np.abs(exact[:, 0]) > unsure[:, 0] + 1e-11 * np.max(np.abs(exact[:, 1:]), axis=1)):
        return None
    scales = Scales(exact[:, 1:], at.linear.mass)
    found = reduced(series, scales, True)
    if _negative(scales, series.n, found) or (found is not None and (found.corners or not found.finite)):
        return None
    seen = _MINIMUM if found is None else _extremum(found)
    return seen.order if seen.kind == "minimum" else None


def _named(at: _Looked) -> str:
    assert at.family is not None
    return f"a family of equilibria of dimension {at.family.shape[1]}"


def _why_not(at: _Looked, moving: int) -> str:
    """What was looked at in vain."""
    if at.family is not None:
        across = at.rises and at.family.shape[1] < at.linear.free.shape[1]
        rest = ", and across it the potential rises" if across else ""
        return f"it belongs to {_named(at)}, along which nothing holds it{rest}"
    if moving:
        return "the linear part does not decide, and with constraints on velocities energy does not either"
    if not at.potential:
        return "the linear part does not decide, and the forces at rest are not shown to derive from a potential"
    assert at.extremum is not None
    if at.negative or at.extremum.kind == "none":
        return (
            "no small motion grows or dies out exponentially, and the potential has no minimum, so that energy does "
            "not decide"
        )
    if at.extremum.kind == "minimum":
        return "the potential has a strict minimum, but the forces that depend on velocities may feed energy in"
    assert at.found is not None
    soft = " and ".join(_direction(at, column) for column in at.found.directions.T)
    if at.extremum.kind == "flat":
        return f"the potential is flat {soft} to order {at.extremum.order}"
    return f"the potential is zero in some directions of its form of order {at.extremum.order} {soft}"
