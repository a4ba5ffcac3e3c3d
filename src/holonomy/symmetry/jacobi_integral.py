r"""Jacobi's integral \(h = v\cdot\partial L/\partial v - L\), and where it is conserved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.symmetry.conserved import Conserved, Integral, jump, jump_between, shown
from holonomy.symmetry.formulas import Formulas
from holonomy.symmetry.many_states import States, Where, at_rows, rows
from holonomy.symmetry.samples import states
from holonomy.systems import System, lagrangian
from holonomy.types import Tree

_EXACT = 1e-9  # of the terms: a larger sum is not rounding
_COMPARED = 24  # states at which h and the energy are compared


def jacobi_integral(system: System, *, where: Where | None = None, along: Run | Sequence[Run] = ()) -> Conserved:
    r"""Jacobi's integral \(h = v\cdot\partial L/\partial v - L = T_2 + V - T_0\), conserved where L does not name t.

    It is the energy where positions do not depend on time. Whether L depends on the time is decided from its trace,
    comparisons and loops included; what formulas do not show (the power of forces, moving constraints, steps of L) is
    looked at as in `noether`, and so are `where` and `along`.

    **Fails** with `ValueError` where it is not conserved: where the Lagrangian depends on the time, or jumps, where
    forces or moving constraints and walls do work, and where impacts or friction at walls take energy.
    """
    _refuse_losses(system)
    formulas = Formulas(system)
    if formulas.readable and formulas.timeless() and formulas.powerless():
        words = f"h = v·∂L/∂v - L is conserved: the Lagrangian does not depend on the time. {_energy(system, formulas)}"
        return Conserved(system, _Jacobi(system), words, "exact", 0.0, True, name="h")
    runs = (along,) if isinstance(along, Run) else tuple(along)
    looked = rows(system, formulas.flats, where, runs, wide=formulas.expressions)
    (lagrange,) = formulas.of["lagrangian"]
    timeless = (0, 0) not in lagrange.contained
    if not timeless:
        changes = depends_on_time(system, looked, lagrange.flat is None)
        if changes is not None:
            raise ValueError(
                f"Jacobi's integral is not conserved: the Lagrangian depends on the time; it changes {changes}. Where "
                "a moving frame makes it do so, choose coordinates that move along."
            )
    defect = _refuse_work(system, looked)
    found = (jump if lagrange.flat is not None else jump_between)(_Jacobi(system), looked)
    if found is not None:
        raise ValueError(f"Jacobi's integral is not conserved: it jumps {found}, at a step of the Lagrangian.")
    shown_by = "the Lagrangian does not depend on the time"
    if timeless:
        words = f"h = v·∂L/∂v - L is conserved: {shown_by}, and no power was found {looked.words()}."
    else:
        words = f"h = v·∂L/∂v - L is conserved: {shown_by} {looked.words()}."
    words = f"{words} {_energy(system, formulas)}"
    return Conserved(system, _Jacobi(system), words, "exact", defect, False, looked.words(), "h")


class _Jacobi(Integral):
    system: System

    def sizes(self, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
        # the kinetic energy, as for the energy: a constant in the potential energy does not count
        kinetic = 0.5 * jnp.abs(jnp.dot(jax.grad(self.system.raw_lagrangian, argnums=2)(t, q, v), v))
        return kinetic, kinetic + jnp.abs(self.system.raw_lagrangian(t, q, v))

    def __call__(self, t: Tree, q: Tree, v: Tree) -> Tree:
        return lagrangian.energy_function(self.system.raw_lagrangian, t, q, v)


def _refuse_losses(system: System) -> None:
    walls = system.constraints.walls
    restitution = np.asarray(walls.restitution, float)
    if walls.unilateral and np.any(restitution < 1):
        raise ValueError(
            f"Jacobi's integral is not conserved: impacts with restitution {float(np.min(restitution)):g} take energy."
        )
    if walls.friction.dim and np.any(np.asarray(walls.friction.coefficients, float) > 0):
        raise ValueError("Jacobi's integral is not conserved: friction at the walls takes energy.")
    if walls.ratchets:
        raise ValueError("Jacobi's integral is not conserved: a condition on velocities that only pushes takes energy.")


def depends_on_time(system: System, looked: States, opaque: bool) -> str | None:
    """Where the Lagrangian changes with the time, in words; None where that is not seen. `opaque`, whether it is no
    single expression.
    """

    def slope(t: Tree, q: Tree, v: Tree) -> Tree:
        return jax.grad(system.raw_lagrangian)(t, q, v)

    found = _other_times(system, looked) if opaque else jump(system.raw_lagrangian, looked, _in_time(looked))
    if found is None:
        (rate,) = looked.values(slope)
        k = looked.largest(slope, np.where(np.isfinite(rate), np.abs(rate), 0.0))
        if k is None:
            return None
        found = (
            f"at t = {looked.t[k]:.6g}, q = {shown(looked.q[k])}, v = {shown(looked.v[k])} at the rate {rate[k]:.3g}"
        )
    return found


def _other_times(system: System, looked: States) -> str | None:
    """A state at which an L that is no formula is not the same at another time, in words."""
    generator = np.random.default_rng(4)
    later = looked.t[generator.permutation(len(looked))]
    here, there = (at_rows(system.raw_lagrangian, t, looked.q, looked.v)[0] for t in (looked.t, later))
    with np.errstate(all="ignore"):
        size = np.abs(here) + np.abs(there)
        parts = np.abs(there - here) / (size + _EXACT * np.median(size[np.isfinite(size)]))
    k = int(np.argmax(np.where(np.isfinite(parts), parts, 0.0)))
    if not parts[k] > _EXACT:
        return None
    times = f"from t = {looked.t[k]:.6g} to {later[k]:.6g}"
    return f"from {here[k]:.6g} to {there[k]:.6g} {times} at q = {shown(looked.q[k])}, v = {shown(looked.v[k])}"


def _in_time(looked: States) -> tuple[np.ndarray, ...]:
    t, q, v = looked.special
    return np.ones_like(t), np.zeros_like(q), np.zeros_like(v)


def _refuse_work(system: System, looked: States) -> float:
    """The largest power that was found, as a part of its terms; `ValueError` where it is not rounding."""
    found = looked.values(lambda t, q, v: _power(system, t, q, v))
    forces, moving = (float(np.max(x, initial=0.0, where=np.isfinite(x))) for x in found)
    if max(forces, moving) > _EXACT:
        what = "forces do work" if forces > _EXACT else "constraints or walls that move do work"
        raise ValueError(
            f"Jacobi's integral is not conserved: {what}, {max(forces, moving):.1e} of the size of its terms at a "
            "state that was looked at."
        )
    return max(forces, moving)


def _power(system: System, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
    """The power of forces, and how fast constraints and walls move at rest, as parts of their terms."""
    force, tiny = system.raw_force(t, q, v), jnp.finfo(q.dtype).tiny
    total = jnp.abs(jnp.dot(force, v)) / (jnp.sum(jnp.abs(force * v)) + tiny)
    local, moving = system.local(q), jnp.zeros(())
    y, w = local.enter(v)

    def moved(rates: Any) -> Any:
        normals = jax.jacfwd(rates)(w)
        rest = rates(jnp.zeros_like(w))
        return jnp.max(jnp.abs(rest) / (jnp.abs(normals) @ jnp.abs(w) + jnp.abs(rest) + tiny), initial=0.0)

    if system.constraints.equations.total:
        moving = moved(lambda u: local.rates(t, y, u))
    if system.constraints.walls.total:
        moving = jnp.maximum(moving, moved(lambda u: local.wall_rates(t, y, u)))
    return total, moving


def _energy(system: System, formulas: Formulas) -> str:
    """Whether h is the energy, in words."""
    if system.kinetic is None:
        if formulas.readable and formulas.degrees() <= {0, 2}:
            return "It is the energy T + V, where T is the part of L of second degree in v."
        return "It need not be the energy T + V, which is not known of a system that was given by its Lagrangian."
    if formulas.readable and formulas.degrees(kinetic=True) <= {2}:
        return "It is the energy T + V."
    some = [np.stack(x) for x in zip(*states(system, _COMPARED), strict=True)]
    difference = at_rows(lambda t, q, v: system.raw_energy(t, q, v) - _Jacobi(system)(t, q, v), *some)[0]
    size = at_rows(lambda t, q, v: jnp.abs(system.raw_energy(t, q, v)) + jnp.abs(_Jacobi(system)(t, q, v)), *some)[0]
    if np.any(np.abs(difference) > _EXACT * size):
        return "It is T2 + V - T0 and not the energy T + V, which may change."
    return f"It is the energy T + V at the {len(some[0])} states at which they were compared."
