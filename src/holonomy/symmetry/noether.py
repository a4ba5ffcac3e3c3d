r"""Noether's theorem: a symmetry of the Lagrangian, and what it conserves.

Along a generator \(\xi(t, q)\) the Lagrangian changes by
\(\delta L = \partial_q L\cdot\xi + \partial_v L\cdot\dot\xi\), where \(\dot\xi = \partial_t\xi + (\partial_q\xi) v\).
If \(\delta L = dF/dt\) for a function \(F(t, q)\), and no force and no constraint acts along \(\xi\), then
\(I = \partial_v L\cdot\xi - F\) is conserved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.integrate import integrate
from holonomy.motion import Run
from holonomy.symmetry.conserved import Conserved, Integral, jump, jump_between, shown
from holonomy.symmetry.formulas import Formulas, flat_field
from holonomy.symmetry.many_states import States, Where, at_rows, rows
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.systems.mistakes import advice
from holonomy.systems.state_vector import vector
from holonomy.trace.function import Function, trace
from holonomy.types import AnyArray, ArrayFunction, Tree, VectorLike

_EXACT = 1e-9  # of the terms that cancel: a larger sum is not rounding
_TOTAL = 500  # states at which changes by total derivatives are looked at
_FLOW = 64  # steps of a flow, by the method of Runge and Kutta
_FLOWED = 1e-6  # of its values: what a Lagrangian may differ by at the end of a flow
_GROUP = 1e-9  # how far h(0, q) may be from q


class _Momentum(Integral):
    """The momentum along a generator, less the function F of the total derivative where there is one."""

    system: System
    field: Function
    base: AnyArray | None

    def momentum(self, t: Tree, q: Tree, v: Tree) -> Tree:
        """The momentum alone."""
        return jnp.dot(jax.grad(self.system.raw_lagrangian, argnums=2)(t, q, v), self.field(t, q))

    def __call__(self, t: Tree, q: Tree, v: Tree) -> Tree:
        along = self.momentum(t, q, v)
        return along if self.base is None else along - self._potential(t, q)

    def sizes(self, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
        slope, xi = jnp.abs(jax.grad(self.system.raw_lagrangian, argnums=2)(t, q, v)), jnp.abs(self.field(t, q))
        gained = jnp.zeros(()) if self.base is None else jnp.abs(self._potential(t, q))
        return jnp.dot(slope, xi) + gained, jnp.sum(slope) * jnp.max(xi) + gained

    def _potential(self, t: Tree, q: Tree) -> Tree:
        """F, the integral of dF along the straight line from time 0 at the base point."""
        away = q - jnp.asarray(self.base)

        def rate(s: Tree, y: Tree) -> Tree:
            rest, slope = _form(self.system, self.field, s * t, q - (1 - s) * away)
            return jnp.atleast_1d(rest * t + jnp.dot(slope, away))

        return integrate(rate, jnp.zeros(1))[0]


def noether(
    system: System,
    generator: ArrayFunction | VectorLike | str,
    *,
    where: Where | None = None,
    along: Run | Sequence[Run] = (),
) -> Conserved:
    r"""The quantity that a symmetry of the system conserves.

    **Arguments:** `generator`, a vector field \(\xi(q)\) or \(\xi(t, q)\) (its first argument is then named t), a
    finite one-parameter group \(h(s, q)\) or \(h(s, t, q)\) with h = q at s = 0, a constant vector, or the name of a
    coordinate. `where`, the region that matters, as bounds such as ``{"x": (0, 1e6), "t": (0, 60)}`` or a function
    (t, q, v) -> bool; `along`, runs whose states are to be looked at, too.

    The Lagrangian must be invariant, or change by a total time derivative dF/dt, and forces, constraints and walls must
    not act along the generator. Where the formulas show it, it holds everywhere (`decided`). Elsewhere it is looked at,
    with exact derivatives, at thousands of states: of sizes from 1e-3 to 1e3, at both sides of comparisons, and along
    the runs; the result says so and holds no further. **Fails** with `ValueError`, which says by how much, where the
    generator is no symmetry, and where the quantity jumps.
    """
    field, name = _field(system, generator)
    formulas = Formulas(system)
    rates = formulas.rates(field) if formulas.readable else None
    base = None if rates is None else states(system, 1)[0][1]
    called = f"p_{name}" if name else "I = p·ξ, the momentum along the generator,"
    symbol = f"p_{name}" if name else "p·ξ"
    if rates is not None and formulas.free_along(rates) and formulas.steady_momenta():
        if formulas.invariant(rates):
            words = f"{called} is conserved: the Lagrangian is invariant, by its formula."
            return Conserved(system, _Momentum(system, field, None), words, "exact", 0.0, True, name=symbol)
        if _has_lines(system) and formulas.changes_by_total(rates):
            words = (
                "I = p·ξ - F is conserved: along the generator the Lagrangian changes by the total time derivative "
                "dF/dt, by its formula."
            )
            quantity = _Momentum(system, field, base)
            return Conserved(system, quantity, words, "total derivative", 0.0, True, name="p·ξ - F")
    runs = (along,) if isinstance(along, Run) else tuple(along)
    looked = rows(system, _functions(system, formulas, field), where, runs, wide=formulas.expressions)
    return _Numbers(system, field, formulas, looked).conserved(called, symbol)


def _functions(system: System, formulas: Formulas, field: Function) -> list[Any]:
    flat = flat_field(field, system.space.point_dim)
    return [*formulas.flats, *([] if flat is None else [(flat, 2)])]


def _has_lines(system: System) -> bool:
    """Whether a total derivative can be integrated along straight lines between allowed positions."""
    return system.flat and not system.constraints.equations.total


@dataclass
class _Numbers:
    """What the theorem asks for, at the states that are looked at."""

    system: System
    field: Function
    formulas: Formulas
    looked: States

    def conserved(self, called: str, symbol: str) -> Conserved:
        """The quantity; `ValueError` where it is not conserved."""
        looked = self.looked
        self._refuse_acted_on()
        change, size = looked.values(self._change)
        known = np.isfinite(change) & np.isfinite(size)
        if not np.any(known):
            raise ValueError(
                f"{self.system} has a finite Lagrangian at none of {len(looked)} states, {looked.region}, so nothing "
                "can be said of it. Pass where=, the region in which it is defined."
            )
        parts = np.where(known, np.abs(change) / np.where(size > 0, size, 1.0), 0.0)
        worst = looked.largest(lambda t, q, v: self._change(t, q, v)[0], np.where(parts > _EXACT, np.abs(change), 0.0))
        at = looked.words(int(np.sum(known)))
        if worst is None:
            defect = float(np.max(parts))
            size_of_it = f"to {defect:.0e} of its terms" if defect <= _EXACT else "to rounding"
            self._refuse_jump(self._line_of_symmetry(), "the Lagrangian is not the same at both sides of a step")
            self._refuse_far()
            quantity = _Momentum(self.system, self.field, None)
            self._refuse_steps(quantity)
            words = f"{called} is conserved: the Lagrangian is invariant ({size_of_it}) {at}."
            return Conserved(self.system, quantity, words, "exact", defect, False, at, symbol)
        whole = self._total() if _has_lines(self.system) else np.inf
        if whole > _EXACT or jump(lambda t, q, v: self._change(t, q, v)[0], looked) is not None:
            k = worst
            raise ValueError(
                f"The generator is no symmetry: at t = {looked.t[k]:.3g}, q = {shown(looked.q[k])}, "
                f"v = {shown(looked.v[k])} the Lagrangian changes along it at the rate {change[k]:.3g}, in terms of "
                f"size {size[k]:.3g}, and not by a total time derivative. Its momentum is not conserved."
            )
        self._refuse_jump(self._line_of_symmetry(), "the Lagrangian is not the same at both sides of a step")
        quantity = _Momentum(self.system, self.field, states(self.system, 1)[0][1])
        self._refuse_steps(quantity)
        words = (
            "I = p·ξ - F is conserved: along the generator the Lagrangian changes by the total time derivative "
            f"dF/dt (to {whole:.0e} of its terms) {at}."
        )
        return Conserved(self.system, quantity, words, "total derivative", whole, False, at, "p·ξ - F")

    def _change(self, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
        return _change(self.system, self.field, t, q, v)

    def _total(self) -> float:
        """How far the change is from a total derivative, at some of the states, special ones among them."""
        looked = self.looked
        chosen = np.unique(np.linspace(0, len(looked) - 1, _TOTAL).astype(int))
        system, field = self.system, self.field
        some = [x[chosen] for x in (looked.t, looked.q, looked.v)]
        found = at_rows(lambda t, q, v: _total(system, field, t, q, v), *some)
        return float(np.max(found[0], initial=0.0, where=np.isfinite(found[0])))

    def _line_of_symmetry(self) -> tuple[np.ndarray, ...]:
        """The directions in which the special states move along the generator."""
        t, q, v = self.looked.special
        xi, rate = at_rows(lambda t, q, v: _moved(self.field, t, q, v), t, q, v) if len(t) else (q, v)
        return np.zeros_like(t), xi, rate

    def _refuse_far(self) -> None:
        """Compare the Lagrangian at both ends of pieces of the flow, where no formula tells its steps."""
        (lagrange,) = self.formulas.of["lagrangian"]
        if lagrange.flat is not None:
            return
        looked, generator = self.looked, np.random.default_rng(4)
        far = 10.0 ** generator.uniform(-3, 3, len(looked)) * generator.choice([-1.0, 1.0], len(looked))
        states = [jnp.asarray(x) for x in (looked.t, looked.q, looked.v, far)]
        before, after = (np.asarray(x) for x in _both_ends(self.system, self.field, *states))
        change, size = np.abs(after - before), np.abs(after) + np.abs(before)
        parts = np.where(np.isfinite(change) & (size > 0), change / np.where(size > 0, size, 1.0), 0.0)
        k = int(np.argmax(parts))
        if parts[k] > _FLOWED:
            raise ValueError(
                f"The generator is no symmetry: the Lagrangian is {before[k]:.6g} at t = {looked.t[k]:.3g}, "
                f"q = {shown(looked.q[k])}, v = {shown(looked.v[k])} and {after[k]:.6g} where its flow leads."
            )

    def _refuse_jump(self, along: tuple[np.ndarray, ...], why: str) -> None:
        found = jump(self.system.raw_lagrangian, self.looked, along)
        if found is not None:
            raise ValueError(f"The generator is no symmetry: {why}, {found}.")

    def _refuse_steps(self, quantity: Any) -> None:
        (lagrange,) = self.formulas.of["lagrangian"]
        found = (jump if lagrange.flat is not None else jump_between)(quantity.momentum, self.looked)
        if found is not None:
            raise ValueError(f"The momentum along the generator is not conserved: it jumps {found}.")

    def _refuse_acted_on(self) -> None:
        found = self.looked.values(lambda t, q, v: _work(self.system, self.field, t, q, v))
        work, refused, pushed = (float(np.max(x, initial=0.0, where=np.isfinite(x))) for x in found)
        if work > _EXACT:
            raise ValueError(
                f"The generator is no symmetry: forces do work along it, {work:.1e} of the size of force times "
                "generator at a state that was looked at."
            )
        if refused > _EXACT:
            raise ValueError(
                f"The generator is no symmetry: the constraints do not allow displacements along it (they change by "
                f"{refused:.1e} of their terms at a state that was looked at)."
            )
        if pushed > _EXACT:
            raise ValueError(
                f"The generator is no symmetry: walls push or rub along it, {pushed:.1e} of their terms at a state "
                "that was looked at."
            )


# ── what the theorem asks for ─────────────────────────────────────────────────────────────────────────────────────
def _change(system: System, field: Function, t: Tree, q: Tree, v: Tree) -> Tree:
    """The change of L along the generator, and the size of the terms that it is the sum of."""
    xi, rate = _moved(field, t, q, v)
    pull, slope = jax.grad(system.raw_lagrangian, argnums=(1, 2))(t, q, v)
    size = jnp.sum(jnp.abs(pull * xi)) + jnp.sum(jnp.abs(slope * rate))
    return jnp.dot(pull, xi) + jnp.dot(slope, rate), size


@eqx.filter_jit
def _both_ends(system: System, field: Function, t: Tree, q: Tree, v: Tree, far: Tree) -> tuple[Tree, Tree]:
    """The Lagrangian at states, and where the flow of a generator leads in so long, or less where it turns fast."""

    def one(s: Tree, x: Tree, w: Tree, length: Tree) -> tuple[Tree, Tree]:
        turning = jnp.max(jnp.abs(jax.jacfwd(field, argnums=1)(s, x)), initial=0.0)
        step = length / jnp.maximum(1.0, jnp.abs(length) * turning) / _FLOW

        def rates(state: tuple[Tree, Tree]) -> tuple[Tree, Tree]:
            return _moved(field, s, *state)

        def along(state: tuple[Tree, Tree], part: float, slope: tuple[Tree, Tree]) -> tuple[Tree, Tree]:
            return state[0] + part * step * slope[0], state[1] + part * step * slope[1]

        def runge_kutta(_: Tree, state: tuple[Tree, Tree]) -> tuple[Tree, Tree]:
            k1 = rates(state)
            k2 = rates(along(state, 0.5, k1))
            k3 = rates(along(state, 0.5, k2))
            k4 = rates(along(state, 1.0, k3))
            mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
            return along(state, 1.0, (mean[0], mean[1]))

        there = jax.lax.fori_loop(0, _FLOW, runge_kutta, (x, w))
        return system.raw_lagrangian(s, x, w), system.raw_lagrangian(s, *there)

    return jax.vmap(one)(t, q, v, far)


def _moved(field: Function, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
    return jax.jvp(field, (t, q), (jnp.ones_like(t), v))


def _form(system: System, field: Function, t: Tree, q: Tree) -> tuple[Tree, Tree]:
    """b and a in the change b + a·v of L, at zero velocity."""

    def change(v: Tree) -> Tree:
        xi, rate = _moved(field, t, q, v)
        return jax.jvp(lambda x, w: system.raw_lagrangian(t, x, w), (q, v), (xi, rate))[1]

    return jax.value_and_grad(change)(jnp.zeros_like(q))


def _total(system: System, field: Function, t: Tree, q: Tree, v: Tree) -> Tree:
    """How far the change of L is from a total derivative: it must be b + a·v with b dt + a dq closed."""

    def form(s: Tree, x: Tree) -> Tree:
        rest, slope = _form(system, field, s, x)
        return jnp.concatenate([rest[None], slope])

    value = form(t, q)
    change, size = _change(system, field, t, q, v)
    bent = jnp.abs(change - value[0] - jnp.dot(value[1:], v)) / size
    by_time, by_place = jax.jacfwd(form, argnums=(0, 1))(t, q)
    slopes = jnp.concatenate([by_time[:, None], by_place], axis=1)
    scale = jnp.max(jnp.abs(slopes)) + jnp.max(jnp.abs(value)) + jnp.finfo(q.dtype).tiny
    return jnp.maximum(bent, jnp.max(jnp.abs(slopes - slopes.T)) / scale)


def _work(system: System, field: Function, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
    """What forces do along the generator, how far constraints refuse it, and how far walls push along it, as parts of
    their terms.
    """
    xi = field(t, q)
    force = system.raw_force(t, q, v)
    work = _part(jnp.dot(force, xi), jnp.sum(jnp.abs(force * xi)))
    local = system.local(q)
    y, w = local.enter(v)
    step = local.enter(xi)[1]

    def refused(rates: Callable[[Tree], Tree]) -> Tree:
        normals = jax.jacfwd(rates)(w)
        return jnp.max(_part(normals @ step, jnp.abs(normals) @ jnp.abs(step)), initial=0.0)

    nothing, walls = jnp.zeros(()), system.constraints.walls
    held = refused(lambda u: local.rates(t, y, u)) if system.constraints.equations.total else nothing
    pushed = refused(lambda u: local.wall_rates(t, y, u)) if walls.total else nothing
    for slip in walls.friction.slips:
        pushed = jnp.maximum(pushed, refused(lambda u, f=slip: jnp.ravel(f(t, *local.leave(y, u), *system.last))))
    return work, held, pushed


def _part(value: Tree, size: Tree) -> Tree:
    return jnp.abs(value) / (size + jnp.finfo(size.dtype).tiny)


# ── what a person may pass ────────────────────────────────────────────────────────────────────────────────────────
def _field(system: System, generator: Any) -> tuple[Function, str | None]:
    """The generator as a traced vector field ξ(t, q), and the coordinate's name where it is one."""
    n = system.space.point_dim
    example = (jax.ShapeDtypeStruct((), jnp.float64), jax.ShapeDtypeStruct((n,), jnp.float64))
    if isinstance(generator, str):
        if generator not in system.names or not system.flat:
            raise ValueError(f"There is no coordinate {generator!r}; the coordinates are {', '.join(system.names)}.")
        unit = np.eye(n)[system.names.index(generator)]
        return trace(lambda t, q: jnp.asarray(unit) + 0.0 * q, example), generator
    if not callable(generator):
        constant = vector("generator", generator, (n,), system)
        return trace(lambda t, q: jnp.asarray(constant) + 0.0 * q, example), None
    function = _of_time_and_place(system, generator)
    try:
        traced = trace(lambda t, q: jnp.asarray(function(t, q)), example)
        shape = jax.eval_shape(traced, *example).shape
    except Exception as error:
        raise ValueError(f"The generator could not be evaluated: {advice(error)}") from error
    if shape != (n,):
        raise ValueError(
            f"The generator must return one component per coordinate ({', '.join(system.names)}), shape ({n},); it "
            f"returned shape {shape}."
        )
    return traced, None


def _of_time_and_place(system: System, generator: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """ξ(t, q) from a field or from the derivative of a group."""
    names = list(inspect.signature(generator).parameters)
    if len(names) == 1:
        return lambda t, q: generator(q)
    if len(names) == 2 and names[0] == "t":
        return generator
    if len(names) not in (2, 3):
        raise ValueError(
            f"The generator is a field ξ(q) or ξ(t, q) or a group h(s, q) or h(s, t, q); got a function of "
            f"({', '.join(names)})."
        )

    def group(s: Any, t: Any, q: Any) -> Any:
        return jnp.asarray(generator(s, q) if len(names) == 2 else generator(s, t, q))

    t, q, _ = states(system, 1)[0]
    start = np.asarray(group(jnp.zeros(()), jnp.asarray(t), jnp.asarray(q)))
    if start.shape != q.shape or not np.max(np.abs(start - q)) <= _GROUP * (1 + np.max(np.abs(q))):
        raise ValueError(
            f"A one-parameter group begins at the identity, h(0, q) = q; at q = {shown(q)} it gives {shown(start)}. "
            "For a vector field of time and place name its first argument t."
        )
    return lambda t, q: jax.jvp(lambda s: group(s, t, q), (jnp.zeros(()),), (jnp.ones(()),))[1]
