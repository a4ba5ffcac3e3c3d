r"""Noether's theorem: a symmetry of the Lagrangian, and what it conserves.

Along a generator \(\xi(t, q)\) the Lagrangian changes by
\(\delta L = \partial_q L\cdot\xi + \partial_v L\cdot\dot\xi\), where \(\dot\xi = \partial_t\xi + (\partial_q\xi) v\).
If \(\delta L = dF/dt\) for a function \(F(t, q)\), and no force and no constraint acts along \(\xi\), then
\(I = \partial_v L\cdot\xi - F\) is conserved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.geometry.integrate import integrate
from holonomy.motion import Run
from holonomy.symmetry.samples import states
from holonomy.systems import System, lagrangian
from holonomy.systems.mistakes import advice
from holonomy.systems.state_vector import vector
from holonomy.trace.function import Function, trace
from holonomy.types import AnyArray, ArrayFunction, Number, Scalar, Tree, VectorLike

_SAMPLES = 12
_EXACT = 1e-9  # of the terms that cancel: a larger sum is not rounding
_SMALL = 1e-3  # of energy over distance: a change of L much smaller than that is compared with it, not with its terms
_GROUP = 1e-9  # how far h(0, q) may be from q

Quantity = Callable[[Tree, Tree, Tree], Scalar]


@dataclass(frozen=True)
class Conserved:
    """A conserved quantity I(t, q, v): call it with a state, or `along` a run; `print` says what it is.

    `invariance` is ``"exact"`` where the Lagrangian does not change, ``"total derivative"`` where it changes by dF/dt;
    `defect` is the largest change that was found at random states, as a part of the terms that cancel.
    """

    system: System
    quantity: Quantity
    words: str
    invariance: str
    defect: float

    def __call__(self, t: Number, q: VectorLike, v: VectorLike) -> Scalar:
        shape = (self.system.space.point_dim,)
        q, v = vector("q", q, shape, self.system), vector("v", v, shape, self.system)
        return _value(self.quantity, jnp.asarray(t, float), jnp.asarray(q), jnp.asarray(v))

    def along(self, run: Run) -> Float[AnyArray, " times"]:
        """The quantity at the saved times of a run."""
        return _values(self.quantity, jnp.asarray(run.t), jnp.asarray(run.q), jnp.asarray(run.v))

    def __repr__(self) -> str:
        return self.words


@eqx.filter_jit
def _value(quantity: Quantity, t: Tree, q: Tree, v: Tree) -> Tree:
    return quantity(t, q, v)


@eqx.filter_jit
def _values(quantity: Quantity, t: Tree, q: Tree, v: Tree) -> Tree:
    return jax.vmap(quantity)(t, q, v)


class _Momentum(eqx.Module):
    """The momentum along a generator, less the function F of the total derivative where there is one."""

    system: System
    field: Function
    base: AnyArray | None

    def __call__(self, t: Tree, q: Tree, v: Tree) -> Tree:
        slope = jax.grad(self.system.raw_lagrangian, argnums=2)(t, q, v)
        along = jnp.dot(slope, self.field(t, q))
        return along if self.base is None else along - self._potential(t, q)

    def _potential(self, t: Tree, q: Tree) -> Tree:
        """F, the integral of dF along the straight line from time 0 at the base point."""
        away = q - jnp.asarray(self.base)

        def rate(s: Tree, y: Tree) -> Tree:
            rest, slope = _form(self.system, self.field, s * t, q - (1 - s) * away)
            return jnp.atleast_1d(rest * t + jnp.dot(slope, away))

        return integrate(rate, jnp.zeros(1))[0]


def noether(system: System, generator: ArrayFunction | VectorLike | str) -> Conserved:
    r"""The quantity that a symmetry of the system conserves.

    **Arguments:** `generator`, a vector field \(\xi(q)\) or \(\xi(t, q)\) (its first argument is then named t), a
    finite one-parameter group \(h(s, q)\) or \(h(s, t, q)\) with h = q at s = 0, a constant vector, or the name of a
    coordinate.

    The Lagrangian must be invariant, or change by a total time derivative dF/dt, and forces and constraints must do no
    work along the generator. This is checked at random states with exact derivatives; `defect` of the result says how
    well it holds. **Fails** with `ValueError`, which says by how much, where the generator is no symmetry.
    """
    field, name = _field(system, generator)
    samples = states(system, _SAMPLES)
    _refuse_acted_on(system, field, samples)
    changes = [(_change(system, field, *state), state) for state in samples]
    defect, change, worst = _worst(changes)
    if defect <= _EXACT:
        called = f"p_{name}" if name else "I = p·ξ, the momentum along the generator,"
        words = f"{called} is conserved: the Lagrangian is invariant (to {defect:.0e} of its terms)."
        return Conserved(system, _Momentum(system, field, None), words, "exact", defect)
    if system.flat and not system.constraints.equations.total:
        whole = max(float(_total(system, field, *state)) for state in samples)
        if whole <= _EXACT:
            words = (
                "I = p·ξ - F is conserved: along the generator the Lagrangian changes by the total time derivative "
                f"dF/dt (to {whole:.0e} of its terms)."
            )
            return Conserved(system, _Momentum(system, field, samples[0][1]), words, "total derivative", whole)
    t, q, v = worst
    raise ValueError(
        f"The generator is no symmetry: at t = {float(t):.3g}, q = {_shown(q)}, v = {_shown(v)} the Lagrangian changes "
        f"along it at the rate {change[0]:.3g}, in terms of size {change[1]:.3g}, and not by a total time derivative. "
        "Its momentum is not conserved."
    )


def jacobi_integral(system: System) -> Conserved:
    r"""Jacobi's integral \(h = v\cdot\partial L/\partial v - L = T_2 + V - T_0\), conserved where L does not name t.

    It is the energy where positions do not depend on time. **Fails** with `ValueError` where it is not conserved: where
    the Lagrangian names the time, or forces or moving constraints do work.
    """
    samples = states(system, _SAMPLES)
    if max(float(_time_slope(system, *state)) for state in samples) > _EXACT:
        raise ValueError(
            "Jacobi's integral is not conserved: the Lagrangian depends on the time. Where a moving frame makes it do "
            "so, choose coordinates that move along."
        )
    power = max(float(_power(system, *state)) for state in samples)
    if power > _EXACT:
        raise ValueError(
            f"Jacobi's integral is not conserved: forces or moving constraints do work, {power:.1e} of the size of "
            "force times velocity at a random state."
        )
    gap = max(abs(float(_value(_Jacobi(system), *s)) - float(system.energy(*s))) for s in samples)
    if gap <= _EXACT * (1 + max(abs(float(system.energy(*s))) for s in samples)):
        words = "h = v·∂L/∂v - L is conserved: the Lagrangian does not depend on the time. It is the energy T + V."
    else:
        words = (
            "h = v·∂L/∂v - L = T2 + V - T0 is conserved: the Lagrangian does not depend on the time. It is not the "
            "energy T + V, which is not conserved."
        )
    return Conserved(system, _Jacobi(system), words, "exact", power)


class _Jacobi(eqx.Module):
    system: System

    def __call__(self, t: Tree, q: Tree, v: Tree) -> Tree:
        return lagrangian.energy_function(self.system.raw_lagrangian, t, q, v)


# ── what the theorem asks for ─────────────────────────────────────────────────────────────────────────────────────
@eqx.filter_jit
def _change(system: System, field: Function, t: Tree, q: Tree, v: Tree) -> Tree:
    """The change of L along the generator, and the size of the terms that it is the sum of."""
    xi, rate = _moved(field, t, q, v)
    pull, slope = jax.grad(system.raw_lagrangian, argnums=(1, 2))(t, q, v)
    size = jnp.sum(jnp.abs(pull * xi)) + jnp.sum(jnp.abs(slope * rate))
    # the slopes have rounding errors of the size of the energies that they are slopes of
    energy = jnp.sum(jnp.abs(slope * v)) + jnp.abs(system.raw_lagrangian(t, q, v))
    least = _SMALL * energy * jnp.max(jnp.abs(xi)) / (1 + jnp.max(jnp.abs(q)))
    return jnp.dot(pull, xi) + jnp.dot(slope, rate), size + least


def _moved(field: Function, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
    return jax.jvp(field, (t, q), (jnp.ones_like(t), v))


def _form(system: System, field: Function, t: Tree, q: Tree) -> tuple[Tree, Tree]:
    """b and a in the change b + a·v of L, at zero velocity."""

    def change(v: Tree) -> Tree:
        xi, rate = _moved(field, t, q, v)
        return jax.jvp(lambda x, w: system.raw_lagrangian(t, x, w), (q, v), (xi, rate))[1]

    return jax.value_and_grad(change)(jnp.zeros_like(q))


@eqx.filter_jit
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


@eqx.filter_jit
def _time_slope(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """The derivative of L by the time, as a part of the energies."""
    slope, momentum = jax.grad(system.raw_lagrangian, argnums=(0, 2))(t, q, v)
    energy = jnp.sum(jnp.abs(momentum * v)) + jnp.abs(system.raw_lagrangian(t, q, v))
    return jnp.abs(slope) / (energy + jnp.finfo(q.dtype).tiny)


@eqx.filter_jit
def _power(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """The power of forces and of moving constraints, as a part of its terms."""
    force = system.raw_force(t, q, v)
    size = jnp.sum(jnp.abs(force * v)) + jnp.finfo(q.dtype).tiny
    total = jnp.abs(jnp.dot(force, v)) / size
    if not system.constraints.equations.total:
        return total
    local = system.local(q)
    y, w = local.enter(v)
    moving = local.rates(t, y, jnp.zeros_like(w))
    normals = jax.jacfwd(lambda u: local.rates(t, y, u))(w)
    return jnp.maximum(total, jnp.max(jnp.abs(moving) / (jnp.abs(normals) @ jnp.abs(w) + jnp.abs(moving) + 1e-12)))


@eqx.filter_jit
def _work(system: System, field: Function, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
    """What forces do along the generator, and how far constraints refuse it, as parts of their terms."""
    xi = field(t, q)
    tiny = jnp.finfo(q.dtype).tiny
    force = system.raw_force(t, q, v)
    work = jnp.abs(jnp.dot(force, xi)) / (jnp.sum(jnp.abs(force * xi)) + tiny)
    if not system.constraints.equations.total:
        return work, jnp.zeros(())
    local = system.local(q)
    y, w = local.enter(v)
    normals = jax.jacfwd(lambda u: local.rates(t, y, u))(w)
    step = local.enter(xi)[1]
    return work, jnp.max(jnp.abs(normals @ step) / (jnp.abs(normals) @ jnp.abs(step) + tiny))


def _refuse_acted_on(system: System, field: Function, samples: list[Any]) -> None:
    found = [tuple(map(float, _work(system, field, *state))) for state in samples]
    work, refused = max(w for w, _ in found), max(r for _, r in found)
    if work > _EXACT:
        raise ValueError(
            f"The generator is no symmetry: forces do work along it, {work:.1e} of the size of force times generator "
            "at a random state."
        )
    if refused > _EXACT:
        raise ValueError(
            f"The generator is no symmetry: the constraints do not allow displacements along it (they change by "
            f"{refused:.1e} of their terms at a random state)."
        )


def _worst(changes: list[Any]) -> tuple[float, tuple[float, float], Any]:
    """The largest change as a part of its terms, that change and its terms, and the state where it is."""
    found = [((float(change), float(size)), state) for (change, size), state in changes]
    parts = [abs(change) / size if size > 0 else 0.0 for (change, size), _ in found]
    k = int(np.argmax(parts))
    return parts[k], *found[k]


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
            f"A one-parameter group begins at the identity, h(0, q) = q; at q = {_shown(q)} it gives {_shown(start)}. "
            "For a vector field of time and place name its first argument t."
        )
    return lambda t, q: jax.jvp(lambda s: group(s, t, q), (jnp.zeros(()),), (jnp.ones(()),))[1]


def _shown(x: Any) -> str:
    return np.array2string(np.asarray(x), precision=3, separator=", ")
