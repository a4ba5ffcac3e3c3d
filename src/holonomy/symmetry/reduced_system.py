"""A system without some of its coordinates, and the way back to the whole one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.motion.run import build
from holonomy.symmetry.adapted import AnySection, Section, adapted_state
from holonomy.symmetry.along_run import integrals_of_rows
from holonomy.symmetry.found_section import FoundSection
from holonomy.symmetry.lift import AbstractLift, MomentumLift, with_own
from holonomy.symmetry.short_run import Compared
from holonomy.symmetry.transport import compiled
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import Number, Tree, VectorLike

_SAME = 1e-7  # of the momenta: how far those of a state may be from those of the reduced system
_DEPENDENT = 1e-7  # of their lengths: constraints that are nearer to dependent determine no velocities
_PLACE = 1e-9  # of its size: how far a coordinate may be from the known function of time that it is


class ReducedSystem(System):
    """A system without some coordinates; `full` is the one it comes from, `cyclic` the coordinates left out.

    Of `hl.routh`, momenta are parameters, named ``p_`` and the coordinate, and so are starts of coordinates, named by
    the coordinate and ``_0``; of `hl.chaplygin`, coordinates s1, s2, ... follow those that are kept. `reconstruct`
    leads back, and `checked` says how the motion was compared with that of the full system. Where symmetries were
    given that are no coordinates, `full` is the system in coordinates adapted to them, and `section` says what these
    are.
    """

    full: System | None = None
    cyclic: tuple[int, ...] = eqx.field(static=True, default=())
    lift: AbstractLift | None = None
    compared: Compared | None = None

    @property
    def section(self) -> AnySection | None:
        """The section across symmetries that are no coordinates."""
        return self.lift.section if isinstance(self.lift, MomentumLift) else None

    def left_out_speeds(self, t: Tree, z: Tree, w: Tree) -> Tree:
        """The velocities of the coordinates left out, for code that is being traced."""
        full, lift = _parts(self)
        return lift.speeds(with_own(full, self.parameters), t, z, w, self.parameters)

    @property
    def carried(self) -> tuple[int, ...]:
        """The coordinates of the full system whose momenta are given, and which are carried along."""
        return self.lift.carried if isinstance(self.lift, MomentumLift) else ()

    @property
    def steady(self) -> tuple[int, ...]:
        """The coordinates left out that forces or constraints contain, as known functions of the time."""
        return self.lift.steady if isinstance(self.lift, MomentumLift) else ()

    @property
    def checked(self) -> str:
        """How the motion was compared with that of the full system, in words."""
        return "not compared with the full motion" if self.compared is None else self.compared.said(self.parameters)

    def adapted(self, q: VectorLike, v: VectorLike, t: Number = 0.0) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
        """The state of this system that belongs to one of the full system: position, velocity, and the start to pass to
        `reconstruct`.

        **Raises** `ValueError` where the flows of the symmetries lead from no near point of the section to q, for a
        state whose momenta along fields of `hl.killing` are not those of this system, and for one that is not on the
        known functions of time that some of the coordinates left out are.
        """
        full, lift = _parts(self)
        if self.section is None:
            z, w = (np.asarray(vector(name, x, (len(full.names),), full)) for name, x in (("q", q), ("v", v)))
        else:
            z, w = adapted_state(self.section, q, v)
            if isinstance(self.section, FoundSection):
                _refuse_other_momenta(self, z, w)
        own = with_own(full, self.parameters)
        place, speed = (np.asarray(x) for x in lift.entered(own, t, z, w))
        _refuse_dependent(self, np.array([float(t)]), place[None])
        start = {full.names[i]: float(z[i]) for i in lift.out}
        _refuse_other_place(self, float(t), place, start)
        return place, speed, start

    def reconstruct(self, run: Run, start: Mapping[str, Number] | None = None) -> Run:
        r"""The motion of the full system that belongs to a run of this one, \(q_c = q_c(0) + \int v_c\,dt\).

        **Arguments:** `start`, values of the coordinates left out at the first saved time, by name; where none is given
        the one that `hl.routh` had, or 0. The integral is Gauss's with four states in each step of the run, found by
        the run's own method.
        """
        full, lift = _parts(self)
        unknown = [name for name in start or {} if name not in full.names or full.names.index(name) not in lift.out]
        if unknown:
            names = ", ".join(full.names[i] for i in lift.out)
            raise ValueError(f"start has values of the coordinates left out ({names}); got {unknown[0]!r}.")
        if run.system is None or not isinstance(run.system, ReducedSystem) or run.system.names != self.names:
            raise ValueError("reconstruct takes a run of the reduced system, as hl.simulate(reduced, ...) returns it.")
        reduced = run.system
        _refuse_other_place(reduced, float(run.t[0]), np.asarray(run.q[0]), start or {})
        _refuse_dependent(reduced, np.asarray(run.t), np.asarray(run.q))
        first = np.array([_begin(reduced, full.names[i], start or {}) for i in lift.out])
        place = integrals_of_rows(run, lambda t, q, v: compiled(_left_out, reduced, t, q, v)) + first
        t, q, v = (jnp.asarray(x) for x in (run.t, run.q, run.v))
        made = replace(
            run.provenance,
            coordinates=full.names,
            kinds=tuple(c.kind for c in full.coordinates),
            maker="reconstruct",
        )
        method = run.method
        assert method is not None
        moved = with_own(full, reduced.parameters)
        if reduced.section is not None:
            section = reduced.section
            if isinstance(section, Section) and full.parametric:
                section = replace(section, system=replace(section.system, parameters=moved.parameters))
            moved = section.system
            made = replace(made, coordinates=moved.names, kinds=tuple(c.kind for c in moved.coordinates))
            speeds = compiled(_left_out, reduced, t, q, v)
            rows = section.lead_back(t, jnp.concatenate([q, place], axis=1), jnp.concatenate([v, speeds], axis=1))
            _refuse_not_reached(np.asarray(run.t), np.asarray(rows[0]))
        else:
            rows = _whole(reduced, t, q, v, jnp.asarray(place))
        whole_q, whole_v, energy = (np.asarray(x) for x in rows)
        return build.recorded(moved, method, made, np.asarray(run.t), whole_q, whole_v, energy, run.result)


def _parts(reduced: ReducedSystem) -> tuple[System, AbstractLift]:
    full, lift = reduced.full, reduced.lift
    assert full is not None
    assert lift is not None
    return full, lift


def _begin(reduced: ReducedSystem, name: str, start: Mapping[str, Any]) -> float:
    known = reduced.parameters.get(f"{name}_0", 0.0) if isinstance(reduced.lift, MomentumLift) else 0.0
    return float(start.get(name, known))


def _left_out(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree) -> Tree:
    """The velocities of what was left out, at rows of states."""
    return jax.lax.map(lambda state: reduced.left_out_speeds(*state), (t, q, v))


@eqx.filter_jit
def _whole(reduced: ReducedSystem, t: Tree, q: Tree, v: Tree, place: Tree) -> Tree:
    moved = with_own(_parts(reduced)[0], reduced.parameters)

    def one(s: Any, x: Any, w: Any, c: Any) -> Any:
        whole, speed = _full(reduced, s, x, w, c)
        return whole, speed, moved.raw_energy(s, whole, speed)

    return jax.vmap(one)(t, q, v, place)


def full_rows(reduced: ReducedSystem, t: Tree, z: Tree, w: Tree, place: Tree) -> tuple[Tree, Tree]:
    """The full state of a reduced one, with the coordinates left out at `place` unless the reduced state has them."""
    section = reduced.section
    if section is None:
        return compiled(_full, reduced, *(jnp.asarray(x) for x in (t, z, w, place)))
    speeds = compiled(ReducedSystem.left_out_speeds, reduced, *(jnp.asarray(x) for x in (t, z, w)))
    rows = (jnp.concatenate([jnp.asarray(a), jnp.asarray(b)])[None] for a, b in ((z, place), (w, speeds)))
    q, v, _ = section.lead_back(jnp.asarray(t)[None], *rows)
    return q[0], v[0]


def _full(reduced: ReducedSystem, t: Tree, z: Tree, w: Tree, place: Tree) -> tuple[Tree, Tree]:
    full, lift = _parts(reduced)
    own = with_own(full, reduced.parameters)
    known = lift.place(own, t, z, reduced.parameters)
    x, v = lift.whole(own, t, z, w, reduced.parameters)
    return x.at[np.array(lift.out)].set(jnp.stack([known.get(i, place[k]) for k, i in enumerate(lift.out)])), v


def _refuse_other_place(reduced: ReducedSystem, t: float, z: np.ndarray, start: Mapping[str, Any]) -> None:
    """Raise for a start that is not on the known function of time, or not in the reduced state."""
    full, lift = _parts(reduced)
    known = lift.place(with_own(full, reduced.parameters), jnp.asarray(t), jnp.asarray(z), reduced.parameters)
    for name, value in start.items():
        i = full.names.index(name)
        if i not in known:
            continue
        there = float(known[i])
        if abs(there - float(value)) > _PLACE * (1.0 + abs(there)):
            steady = isinstance(lift, MomentumLift) and i in lift.steady
            how = (
                f"what moves the others depends on it, and {name}_0 = {float(reduced.parameters[f'{name}_0']):g} is "
                f"its value at t = 0; pass another by with_parameters({name}_0=...)"
                if steady
                else "the reduced state has it"
            )
            raise ValueError(f"{name} = {float(value):.9g} is not {there:.9g}, its value at t = {t:g}: {how}.")


def _refuse_dependent(reduced: ReducedSystem, t: np.ndarray, z: np.ndarray) -> None:
    """Raise where the constraints that give the velocities of what is left out are dependent in these."""
    full, lift = _parts(reduced)
    if not full.constraints.equations.velocity or isinstance(lift, MomentumLift):
        return
    margins = np.asarray(compiled(_margins, reduced, jnp.asarray(t), jnp.asarray(z)))
    passed = np.any((np.abs(margins) < _DEPENDENT) | (np.sign(margins) != np.sign(margins[0])), axis=1)
    if np.any(passed):
        first = int(np.argmax(passed))
        names = ", ".join(full.names[i] for i in lift.out)
        raise ValueError(
            f"At t = {t[first]:g} the constraints are dependent in the velocities of {names}, or were on the way there,"
            f" so that the reduced system does not hold; {f'reconstruct run[:{first}], or ' if first else ''}leave out "
            "other coordinates."
        )


def _margins(reduced: ReducedSystem, t: Tree, z: Tree) -> Tree:
    full, lift = _parts(reduced)
    own = with_own(full, reduced.parameters)
    return jax.lax.map(lambda state: lift.margins(own, *state), (t, z))


def _refuse_other_momenta(reduced: ReducedSystem, z: np.ndarray, w: np.ndarray) -> None:
    full, _ = _parts(reduced)
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
