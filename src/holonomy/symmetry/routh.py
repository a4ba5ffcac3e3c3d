r"""Routh's reduction: cyclic coordinates replaced by their momenta.

With cyclic coordinates c and the others r, the momenta \(p_c = \partial L/\partial v_c\) are constants. Solved for
\(v_c\), the other coordinates move by the Lagrangian \(R(t, q_r, v_r) = L - p_c\cdot v_c\), and the cyclic ones follow
by integrating \(v_c\) along the motion. Commuting symmetries that are no coordinates become cyclic ones in coordinates
adapted to them (`holonomy.symmetry.adapted`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.motion.run import build
from holonomy.symmetry.adapted import AnySection, Section, adapted_state, section
from holonomy.symmetry.along_run import integrals_of_rows
from holonomy.symmetry.cyclic import cyclic
from holonomy.symmetry.found_section import FoundSection
from holonomy.symmetry.samples import states
from holonomy.symmetry.transport import compiled
from holonomy.systems import System, lagrangian
from holonomy.systems.dense_solve import solve
from holonomy.systems.parameters import Parameters, number
from holonomy.systems.state_vector import vector
from holonomy.types import Number, Numbers, Tree, VectorLike

_SAME = 1e-7  # of the momenta: how far those of a state may be from those of the reduced system
_REACHED = 1e-9  # of the momenta: what the velocity that was found must give


class ReducedSystem(System):
    """A system without its cyclic coordinates; `full` is the one it comes from, `cyclic` the coordinates left out.

    The momenta are parameters, named ``p_`` and the coordinate. `reconstruct` leads back. Where symmetries were given
    that are no coordinates, `full` is the system in coordinates adapted to them, and `section` says what these are.
    """

    full: System | None = None
    cyclic: tuple[int, ...] = eqx.field(static=True, default=())
    section: AnySection | None = None

    def adapted(self, q: VectorLike, v: VectorLike) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
        """The state of this system that belongs to one of the full system: position, velocity, and the start to pass to
        `reconstruct`.

        **Raises** `ValueError` where the flows of the symmetries lead from no near point of the section to q, and for
        a state whose momenta along fields of `hl.killing` are not those of this system.
        """
        full = self.full
        assert full is not None
        if self.section is None:
            z, w = (np.asarray(vector(name, x, (len(full.names),), full)) for name, x in (("q", q), ("v", v)))
        else:
            z, w = adapted_state(self.section, q, v)
            if isinstance(self.section, FoundSection):
                _refuse_other_momenta(self, z, w)
        kept = [i for i in range(len(full.names)) if i not in self.cyclic]
        return z[kept], w[kept], {full.names[i]: float(z[i]) for i in self.cyclic}

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
        place = integrals_of_rows(run, lambda t, q, v: compiled(_cyclic_velocities, reduced, t, q, v)) + first
        t, q, v = (jnp.asarray(x) for x in (run.t, run.q, run.v))
        made = replace(
            run.provenance,
            coordinates=full.names,
            kinds=tuple(c.kind for c in full.coordinates),
            maker="reconstruct",
        )
        method = run.method
        assert method is not None
        moved = full if not full.parametric else replace(full, parameters=_own(full, reduced.parameters))
        if reduced.section is not None:
            section = reduced.section
            if isinstance(section, Section) and full.parametric:
                section = replace(section, system=replace(section.system, parameters=moved.parameters))
            moved = section.system
            made = replace(made, coordinates=moved.names, kinds=tuple(c.kind for c in moved.coordinates))
            speeds = compiled(_cyclic_velocities, reduced, t, q, v)
            rows = section.lead_back(t, jnp.concatenate([q, place], axis=1), jnp.concatenate([v, speeds], axis=1))
            _refuse_not_reached(np.asarray(run.t), np.asarray(rows[0]))
        else:
            rows = _whole(reduced, t, q, v, jnp.asarray(place))
        whole_q, whole_v, energy = (np.asarray(x) for x in rows)
        return build.recorded(moved, method, made, np.asarray(run.t), whole_q, whole_v, energy, run.result)


def routh(
    system: System,
    momenta: Mapping[str, Number],
    along: Mapping[str, Callable[[Any], Any]] | None = None,
    at: Numbers | None = None,
) -> ReducedSystem:
    r"""The system in which cyclic coordinates have given momenta, with the other coordinates alone.

    **Arguments:** `momenta`, the value of the momentum for each cyclic coordinate to leave out, by name. The result is
    a system like any other; its motions are those of the full one, which `reconstruct` gives back.

    `along`, symmetries that are no coordinates, by names: vector fields q -> \(\xi(q)\) as formulas, or fields of
    `hl.killing` and their combinations; `momenta` then has the value of \(\partial L/\partial v\cdot\xi\) for each of
    these names. They must commute. The reduced coordinates u1, u2, ... are distances from the point `at`, by default a
    random one, along directions orthogonal to the fields; `adapted` finds those of a state. They serve as far as the
    fields are not tangent to the plane (in a curved space: its image in the chart at the point) that these directions
    span. Where fields of `hl.killing` leave one coordinate, the section is a geodesic, to which they are never tangent:
    u1 serves up to a point where the fields vanish or are dependent. The reduced system then has the momenta as its
    only parameters, since the fields belong to the values that the others have.

    **Fails** with `ValueError` for a coordinate that is not cyclic, for a momentum that no velocity has, where no
    coordinate is left, and for systems with walls; for fields that are no symmetries, do not commute, vanish at the
    point or do not reach it, and along fields for systems with forces or constraints.
    """
    if along is None:
        if at is not None:
            raise ValueError("at is a point of the section across the fields of along; pass along= too.")
        return _reduced(system, _checked(system, momenta), momenta)
    if not isinstance(momenta, Mapping) or not isinstance(along, Mapping) or set(momenta) != set(along):
        raise ValueError(
            f"momenta and along have the same names, each with a value and a field; got {momenta!r} and {along!r}."
        )
    across = section(system, along, at)
    adapted = across.adapted_system()
    return _reduced(adapted, tuple(adapted.names.index(name) for name in along), momenta, across)


def _reduced(
    system: System, which: tuple[int, ...], momenta: Mapping[str, Number], section: AnySection | None = None
) -> ReducedSystem:
    """The system without the coordinates `which`, which are cyclic."""
    kept = tuple(i for i in range(len(system.names)) if i not in which)
    if not kept:
        raise ValueError("All coordinates are cyclic, so that none would be left to move; leave one out of momenta.")
    named = {f"p_{system.names[i]}": number(f"momentum of {system.names[i]}", momenta[system.names[i]]) for i in which}
    twice = [name for name in named if name in system.parameters]
    if twice:
        raise ValueError(f"The system has a parameter {twice[0]!r} already, which is the name of the momentum here.")
    split = _Split(which, kept, tuple(named), _is_quadratic(system, which), section)

    def routhian(t: Any, q: Any, v: Any, p: Any) -> Any:
        own, values = _own(system, p), split.momenta(p)
        along = split.line(system, own, t, q, v)
        speeds = split.speeds(system, along, t, values)
        return along(speeds) - jnp.dot(values, speeds)

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
    reduced = ReducedSystem(**known, full=system, cyclic=which, section=section)
    _refuse_impossible(reduced)
    return reduced


class _Split(eqx.Module):
    """Which coordinates are left out and which are kept, and how the full state follows from the kept one."""

    out: tuple[int, ...] = eqx.field(static=True)
    kept: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    quadratic: bool = eqx.field(static=True)
    section: AnySection | None = None

    def momenta(self, p: Any) -> Any:
        """The values of the momenta among the parameters."""
        return jnp.stack([jnp.asarray(p[name], float) for name in self.names])

    def line(self, system: System, own: Any, t: Any, q: Any, v: Any) -> Callable[[Any], Any]:
        """The Lagrangian at a reduced state as a function of the cyclic velocities."""
        last = (own,) if system.parametric else ()
        if self.section is not None:
            return self.section.line(t, q, v, *last)
        x, rest = self._filled(q), self._filled(v)
        return lambda w: system.lagrangian(t, x, rest.at[np.array(self.out)].set(w), *last)

    def speeds(self, system: System, along: Callable[[Any], Any], t: Any, values: Any) -> Any:
        """The cyclic velocities that have the momenta."""
        zero = jnp.zeros_like(values)

        def inner(time: Any, place: Any, w: Any) -> Any:
            return along(w)

        if self.quadratic:
            mass = lagrangian.mass_matrix(inner, t, zero, zero)
            return solve(mass, values - lagrangian.momentum(inner, t, zero, zero), system.definite)
        return lagrangian.velocity(inner, t, zero, values, zero, False)

    def whole(self, system: System, own: Any, t: Any, q: Any, v: Any, values: Any) -> tuple[Any, Any]:
        """The full state, with the cyclic coordinates at zero."""
        speeds = self.speeds(system, self.line(system, own, t, q, v), t, values)
        return self._filled(q), self._filled(v).at[np.array(self.out)].set(speeds)

    def _filled(self, kept: Any) -> Any:
        n = len(self.out) + len(self.kept)
        return jnp.zeros(n, kept.dtype).at[np.array(self.kept)].set(kept)


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
    return _Split(reduced.cyclic, kept, names, _is_quadratic(full, reduced.cyclic), reduced.section)


def _full_state(reduced: ReducedSystem, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    full = reduced.full
    assert full is not None
    split = _split_of(reduced)
    return split.whole(full, _own(full, reduced.parameters), t, q, v, split.momenta(reduced.parameters))


def _cyclic_velocities(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree) -> Tree:
    """The velocities of what was left out, at rows of states."""
    return jax.lax.map(lambda state: _full_state(reduced, *state)[1][np.array(reduced.cyclic)], (t, q, v))


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
    near = None if reduced.section is None else _near_section(len(full.names))
    for t, q, v in near or states(full, 4):
        got = np.asarray(compiled(_momenta_reached, reduced, t, jnp.asarray(q[kept]), jnp.asarray(v[kept])))
        if np.max(np.abs(got - wanted)) <= _REACHED * (1.0 + np.max(np.abs(wanted))):
            return
    values = ", ".join(f"p_{full.names[i]} = {value:g}" for i, value in zip(out, wanted, strict=True))
    raise ValueError(f"No velocity has the momentum {values} at random configurations: this value cannot occur.")


def _refuse_other_momenta(reduced: ReducedSystem, z: np.ndarray, w: np.ndarray) -> None:
    full = reduced.full
    assert full is not None
    out = list(reduced.cyclic)
    got = np.asarray(compiled(_momenta_of, full, jnp.asarray(z), jnp.asarray(w)))[out]
    wanted = np.array([float(reduced.parameters[f"p_{full.names[i]}"]) for i in out])
    if np.max(np.abs(got - wanted)) > _SAME * np.max(np.abs(np.concatenate([got, wanted]))):
        said = ", ".join(f"{full.names[i]!r}: {value:.17g}" for i, value in zip(out, got, strict=True))
        raise ValueError(
            f"This state has other momenta than the reduced system, {{{said}}}; pass these to hl.routh, as "
            "found.momenta(t, q, v) has them for every field of hl.killing."
        )


def _momenta_of(full: System, z: Tree, w: Tree) -> Tree:
    return jax.grad(full.raw_lagrangian, argnums=2)(jnp.zeros(()), z, w)


def _refuse_not_reached(t: np.ndarray, q: np.ndarray) -> None:
    lost = ~np.all(np.isfinite(q), axis=1)
    if np.any(lost):
        first = int(np.argmax(lost))
        raise ValueError(
            f"At t = {t[first]:g} the flows of the symmetries leave the domain of the coordinates or come to a point "
            f"where the fields end; reconstruct run[:{first}], or choose other coordinates."
        )


def _near_section(n: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """States at the point of a section and next to it."""
    generator = np.random.default_rng(5)
    return [(np.zeros(()), size * generator.normal(size=n), generator.normal(size=n)) for size in (0.0, 0.01, 0.1)]


def _momenta_reached(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree) -> Tree:
    """The momenta of the cyclic velocities that were found, which are the given ones where these exist."""
    full = reduced.full
    assert full is not None
    split, own = _split_of(reduced), _own(full, reduced.parameters)
    along = split.line(full, own, t, q, v)
    return jax.grad(along)(split.speeds(full, along, t, split.momenta(reduced.parameters)))
