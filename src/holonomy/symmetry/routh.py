r"""Routh's reduction: cyclic coordinates replaced by their momenta.

With cyclic coordinates c and the others r, the momenta \(p_c = \partial L/\partial v_c\) are constants. Solved for
\(v_c\), the other coordinates move by the Lagrangian \(R(t, q_r, v_r) = L - p_c\cdot v_c\), and the cyclic ones follow
by integrating \(v_c\) along the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.motion.run import build
from holonomy.symmetry.along_run import integrals
from holonomy.symmetry.cyclic import cyclic
from holonomy.symmetry.samples import states
from holonomy.systems import System, lagrangian
from holonomy.systems.dense_solve import solve
from holonomy.systems.parameters import Parameters, number
from holonomy.types import Number, Tree

_REACHED = 1e-9  # of the momenta: what the velocity that was found must give


class ReducedSystem(System):
    """A system without its cyclic coordinates; `full` is the one it comes from, `cyclic` the coordinates left out.

    The momenta are parameters, named ``p_`` and the coordinate. `reconstruct` leads back.
    """

    full: System | None = None
    cyclic: tuple[int, ...] = eqx.field(static=True, default=())

    def reconstruct(self, run: Run, start: Mapping[str, Number] | None = None) -> Run:
        r"""The motion of the full system that belongs to a run of this one, \(q_c = q_c(0) + \int v_c\,dt\).

        **Arguments:** `start`, values of the cyclic coordinates at the first saved time, by name; 0 where none is
        given. The integral is Gauss's with four states in each step of the run, found by the run's own method.
        """
        full = self.full
        assert full is not None
        unknown = [name for name in start or {} if name not in full.names or full.names.index(name) not in self.cyclic]
        if unknown:
            names = ", ".join(full.names[i] for i in self.cyclic)
            raise ValueError(f"start has values of cyclic coordinates ({names}); got {unknown[0]!r}.")
        if run.system is None or not isinstance(run.system, ReducedSystem) or run.system.names != self.names:
            raise ValueError("reconstruct takes a run of the reduced system, as hl.simulate(reduced, ...) returns it.")
        reduced = run.system
        first = np.array([float((start or {}).get(full.names[i], 0.0)) for i in self.cyclic])
        place = integrals(run, lambda t, q, v: _cyclic_velocities(reduced, t, q, v)) + first
        t, q, v = (jnp.asarray(x) for x in (run.t, run.q, run.v))
        whole_q, whole_v, energy = _whole(reduced, t, q, v, jnp.asarray(place))
        made = replace(
            run.provenance,
            coordinates=full.names,
            kinds=tuple(c.kind for c in full.coordinates),
            maker="reconstruct",
        )
        method = run.method
        assert method is not None
        moved = full if not full.parametric else replace(full, parameters=_own(full, reduced.parameters))
        rows = np.asarray(whole_q), np.asarray(whole_v), np.asarray(energy)
        return build.recorded(moved, method, made, np.asarray(run.t), *rows, run.result)


def routh(system: System, momenta: Mapping[str, Number]) -> ReducedSystem:
    """The system in which cyclic coordinates have given momenta, with the other coordinates alone.

    **Arguments:** `momenta`, the value of the momentum for each cyclic coordinate to leave out, by name. The result is
    a system like any other; its motions are those of the full one, which `reconstruct` gives back.

    **Fails** with `ValueError` for a coordinate that is not cyclic, for a momentum that no velocity has, where no
    coordinate is left, and for systems with walls.
    """
    which = _checked(system, momenta)
    kept = tuple(i for i in range(len(system.names)) if i not in which)
    if not kept:
        raise ValueError("All coordinates are cyclic, so that none would be left to move; leave one out of momenta.")
    named = {f"p_{system.names[i]}": number(f"momentum of {system.names[i]}", momenta[system.names[i]]) for i in which}
    twice = [name for name in named if name in system.parameters]
    if twice:
        raise ValueError(f"The system has a parameter {twice[0]!r} already, which is the name of the momentum here.")
    split = _Split(which, kept, tuple(named), _is_quadratic(system, which))

    def routhian(t: Any, q: Any, v: Any, p: Any) -> Any:
        own, values = _own(system, p), split.momenta(p)
        x, w = split.whole(system, own, t, q, v, values)
        return _call(system, system.lagrangian, t, x, w, own) - jnp.dot(values, w[np.array(which)])

    coordinates = {system.names[i]: system.coordinates[i].kind for i in kept}
    base = System.from_lagrangian(routhian, coordinates, {**system.parameters, **named})
    for force in system.forces:

        def pulled(t: Any, q: Any, v: Any, p: Any, force: Any = force) -> Any:
            own = _own(system, p)
            x, w = split.whole(system, own, t, q, v, split.momenta(p))
            return _call(system, force, t, x, w, own)[np.array(kept)]

        base = base.forced(pulled)
    base = _constrained(base, system, split)
    known = {f.name: getattr(base, f.name) for f in fields(System)}
    reduced = ReducedSystem(**known, full=system, cyclic=which)
    _refuse_impossible(reduced)
    return reduced


class _Split(eqx.Module):
    """Which coordinates are left out and which are kept, and how the full state follows from the kept one."""

    out: tuple[int, ...] = eqx.field(static=True)
    kept: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    quadratic: bool = eqx.field(static=True)

    def momenta(self, p: Any) -> Any:
        """The values of the momenta among the parameters."""
        return jnp.stack([jnp.asarray(p[name], float) for name in self.names])

    def whole(self, system: System, own: Any, t: Any, q: Any, v: Any, values: Any) -> tuple[Any, Any]:
        """The full state, with the cyclic coordinates at zero."""
        n, out, kept = len(system.names), np.array(self.out), np.array(self.kept)
        x = jnp.zeros(n, q.dtype).at[kept].set(q)
        rest = jnp.zeros(n, q.dtype).at[kept].set(v)

        def inner(time: Any, place: Any, w: Any) -> Any:
            return _call(system, system.lagrangian, time, x, rest.at[out].set(w), own)

        zero = jnp.zeros(len(self.out), q.dtype)
        if self.quadratic:
            mass = lagrangian.mass_matrix(inner, t, zero, zero)
            w = solve(mass, values - lagrangian.momentum(inner, t, zero, zero), system.definite)
        else:
            w = lagrangian.velocity(inner, t, zero, values, zero, False)
        return x, rest.at[out].set(w)


def _own(system: System, p: Any) -> Parameters:
    """The parameters of the full system among those of the reduced one."""
    return Parameters({name: p[name] for name in system.parameters})


def _call(system: System, function: Any, t: Any, x: Any, w: Any, own: Parameters) -> Any:
    return function(t, x, w, *((own,) if system.parametric else ()))


def _split_of(reduced: ReducedSystem) -> _Split:
    full = reduced.full
    assert full is not None
    kept = tuple(i for i in range(len(full.names)) if i not in reduced.cyclic)
    names = tuple(f"p_{full.names[i]}" for i in reduced.cyclic)
    return _Split(reduced.cyclic, kept, names, _is_quadratic(full, reduced.cyclic))


def _full_state(reduced: ReducedSystem, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    full = reduced.full
    assert full is not None
    split = _split_of(reduced)
    return split.whole(full, _own(full, reduced.parameters), t, q, v, split.momenta(reduced.parameters))


def _cyclic_velocities(reduced: ReducedSystem, t: Any, q: Any, v: Any) -> Any:
    return _full_state(reduced, t, q, v)[1][np.array(reduced.cyclic)]


@eqx.filter_jit
def _whole(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree, place: Tree) -> Tree:
    full = reduced.full
    assert full is not None
    own = _own(full, reduced.parameters)
    moved = full if not full.parametric else replace(full, parameters=own)

    def one(s: Any, x: Any, w: Any, c: Any) -> Any:
        whole, speed = _full_state(reduced, s, x, w)
        whole = whole.at[np.array(reduced.cyclic)].set(c)
        return whole, speed, moved.raw_energy(s, whole, speed)

    return jax.vmap(one)(t, q, v, place)


def _is_quadratic(system: System, which: tuple[int, ...]) -> bool:
    """Whether L is quadratic in the cyclic velocities, so that these follow from a linear equation."""
    from holonomy.trace.function import trace

    n, out = len(system.names), np.array(which)
    shape = jax.ShapeDtypeStruct((n,), jnp.float64)
    example = (jax.ShapeDtypeStruct((), jnp.float64), shape, jax.ShapeDtypeStruct((len(which),), jnp.float64), shape)

    def mass(t: Any, q: Any, w: Any, v: Any) -> Any:
        return lagrangian.mass_matrix(lambda s, x, u: system.raw_lagrangian(s, q, v.at[out].set(u)), t, w, w)

    return not trace(mass, example).depends_on(2, example)


def _constrained(base: System, system: System, split: _Split) -> System:
    """The constraints of the full system, which do not contain what was left out."""
    held = system.constraints
    if held.walls.unilateral or held.walls.ratchets:
        raise ValueError("hl.routh takes systems without walls.")
    for condition in held.equations.holonomic:

        def position(t: Any, q: Any, p: Any, f: Any = condition) -> Any:
            x = jnp.zeros(len(system.names), q.dtype).at[np.array(split.kept)].set(q)
            return f(t, x, *((_own(system, p),) if system.parametric else ()))

        base = base.constrained(holonomic=position)
    for condition in held.equations.velocity:

        def speed(t: Any, q: Any, v: Any, p: Any, f: Any = condition) -> Any:
            kept = np.array(split.kept)
            x, w = jnp.zeros(len(system.names), q.dtype).at[kept].set(q), jnp.zeros(len(system.names)).at[kept].set(v)
            return _call(system, f, t, x, w, _own(system, p))

        base = base.constrained(velocity=speed)
    return base


def _checked(system: System, momenta: Any) -> tuple[int, ...]:
    if not isinstance(momenta, Mapping) or not momenta:
        raise ValueError(
            f"momenta names cyclic coordinates and their momenta, such as {{'phi': 0.5}}; got {momenta!r}."
        )
    for name in momenta:
        if name not in system.names:
            raise ValueError(f"There is no coordinate {name!r}; the coordinates are {', '.join(system.names)}.")
    found = cyclic(system)
    wrong = [name for name in momenta if name not in found]
    if wrong:
        said = f"the cyclic coordinates are {', '.join(found)}" if found else "the system has no cyclic coordinates"
        raise ValueError(f"The coordinate {wrong[0]!r} is not cyclic, so its momentum is not constant; {said}.")
    return tuple(sorted(system.names.index(name) for name in momenta))


def _refuse_impossible(reduced: ReducedSystem) -> None:
    """Raise where no velocity has the momenta, at any of some random states."""
    full = reduced.full
    assert full is not None
    out = list(reduced.cyclic)
    kept = [i for i in range(len(full.names)) if i not in out]
    wanted = np.array([float(reduced.parameters[f"p_{full.names[i]}"]) for i in out])
    for t, q, v in states(full, 4):
        x, w = _full_state_compiled(reduced, t, jnp.asarray(q[kept]), jnp.asarray(v[kept]))
        got = (
            np.asarray(full.momentum(t, x, w))[out] if np.all(np.isfinite(np.asarray(w))) else np.full(len(out), np.nan)
        )
        if np.max(np.abs(got - wanted)) <= _REACHED * (1.0 + np.max(np.abs(wanted))):
            return
    values = ", ".join(f"p_{full.names[i]} = {value:g}" for i, value in zip(out, wanted, strict=True))
    raise ValueError(f"No velocity has the momentum {values} at random configurations: this value cannot occur.")


@eqx.filter_jit
def _full_state_compiled(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree) -> Tree:
    return _full_state(reduced, t, q, v)
