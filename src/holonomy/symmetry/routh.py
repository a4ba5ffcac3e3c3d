r"""Routh's reduction: cyclic coordinates replaced by their momenta.

With cyclic coordinates c and the others r, the momenta \(p_c = \partial L/\partial v_c\) are constants. Solved for
\(v_c\), the other coordinates move by the Lagrangian \(R(t, q_r, v_r) = L - p_c\cdot v_c\), and the cyclic ones follow
by integrating \(v_c\) along the motion. Commuting symmetries that are no coordinates become cyclic ones in coordinates
adapted to them (`holonomy.symmetry.adapted`).

A force along r or a velocity constraint may depend on c all the same. Where \(v_c\) is a constant, c is a known
function of the time, \(c_0 + v_ct\); elsewhere c is carried along as a coordinate whose velocity is constrained to be
\(v_c\), and the multiplier of this constraint vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.symmetry.adapted import AnySection, section
from holonomy.symmetry.cyclic import cyclic
from holonomy.symmetry.left_out import constant_rates, dependents, why_not_cyclic
from holonomy.symmetry.lift import MomentumLift, is_quadratic, with_own
from holonomy.symmetry.reduced_system import ReducedSystem, full_rows
from holonomy.symmetry.samples import states
from holonomy.symmetry.short_run import Small, State, compare
from holonomy.symmetry.transport import compiled
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import Number, Numbers, Tree

_REACHED = 1e-9  # of the momenta: what the velocity that was found must give
_STARTS = 8  # random states from which those with the given momenta are taken


def routh(
    system: System,
    momenta: Mapping[str, Number],
    along: Mapping[str, Callable[[Any], Any]] | None = None,
    at: Numbers | None = None,
    start: Mapping[str, Number] | None = None,
) -> ReducedSystem:
    r"""The system in which cyclic coordinates have given momenta, with the other coordinates alone.

    **Arguments:** `momenta`, the value of the momentum for each cyclic coordinate to leave out, by name. The result is
    a system like any other; its motions are those of the full one, which `reconstruct` gives back. They are compared
    with these on short runs before the system is returned, and `checked` says how far.

    `start`, values at t = 0 of coordinates that are left out, by name. They are needed where a force or a constraint
    depends on such a coordinate: it is a known function of the time if its velocity is constant, and its start the
    parameter of its name and ``_0``. If its velocity is not constant, the coordinate is carried along: the
    reduced system has it after the others, with a velocity constraint.

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
    point or do not reach it, and along fields for systems with forces or constraints; where the start of a coordinate
    is needed and not given, and for a reduced motion that is seen to differ from the full one.
    """
    if along is None:
        if at is not None:
            raise ValueError("at is a point of the section across the fields of along; pass along= too.")
        return _reduced(system, _checked(system, momenta), momenta, start or {})
    if not isinstance(momenta, Mapping) or not isinstance(along, Mapping) or set(momenta) != set(along):
        raise ValueError(
            f"momenta and along have the same names, each with a value and a field; got {momenta!r} and {along!r}."
        )
    if start is not None:
        raise ValueError("start belongs to coordinates that are left out; with along=, pass it to reconstruct.")
    across = section(system, along, at)
    adapted = across.adapted_system()
    return _reduced(adapted, tuple(adapted.names.index(name) for name in along), momenta, {}, across)


def _reduced(
    system: System,
    which: tuple[int, ...],
    momenta: Mapping[str, Number],
    start: Mapping[str, Number],
    section: AnySection | None = None,
) -> ReducedSystem:
    """The system without the coordinates `which`, which are cyclic."""
    if len(which) == len(system.names):
        raise ValueError("All coordinates are cyclic, so that none would be left to move; leave one out of momenta.")
    names = [system.names[i] for i in which]
    unknown = [name for name in start if name not in names]
    if unknown:
        raise ValueError(f"start has values of the coordinates left out ({', '.join(names)}); got {unknown[0]!r}.")
    given = {f"p_{name}": number(f"momentum of {name}", momenta[name]) for name in names}
    lift = _lift(system, which, {**system.parameters, **given}, start, section)
    carried = [system.names[i] for i in lift.carried]
    given |= {f"{name}_0": number(f"start of {name}", x) for name, x in start.items() if name not in carried}
    twice = [name for name in given if name in system.parameters]
    if twice:
        what = "momentum" if twice[0].startswith("p_") else "start"
        raise ValueError(f"The system has a parameter {twice[0]!r} already, which is the name of the {what} here.")
    base = _moved(system, lift, given)
    known = {f.name: getattr(base, f.name) for f in fields(System)}
    reduced = ReducedSystem(**known, full=system, cyclic=which, lift=lift)
    starts = _starts(reduced)
    target = system if section is None else section.system
    return replace(reduced, compared=compare(reduced, target, starts, lambda *x: full_rows(reduced, *x)))


def _lift(
    system: System,
    which: tuple[int, ...],
    parameters: Mapping[str, Any],
    start: Mapping[str, Number],
    section: AnySection | None,
) -> MomentumLift:
    """How the left-out velocities follow, and which left-out coordinates the reduced system needs."""
    kept = tuple(i for i in range(len(system.names)) if i not in which)
    names = tuple(system.names[i] for i in which)
    lift = MomentumLift(which, kept, names, is_quadratic(system, which), section)
    if section is not None:
        return lift
    needed = {i: words for i, words in dependents(system).items() if i in which}
    if not needed:
        return lift
    constant = constant_rates(system, lift, _free(system, lift, parameters))
    steady = tuple(i for i in needed if i in constant)
    for i in steady:
        if system.names[i] not in start:
            raise ValueError(
                f"{_sentence(*needed[i])} on {system.names[i]}, which is left out and moves at a constant velocity; "
                f"pass start={{{system.names[i]!r}: ...}}, its value at t = 0, so that it is a known function of time."
            )
    t, q, v = states(system, 1)[0]
    carried = tuple(i for i in needed if i not in constant)
    here = np.array((*kept, *carried))
    return replace(lift, carried=carried, steady=steady, reference=(t, q[here], v[here]))


def _sentence(words: str, count: int) -> str:
    return f"{words[0].upper()}{words[1:]} {'depends' if count == 1 else 'depend'}"


def _free(system: System, lift: MomentumLift, given: Mapping[str, Any]) -> System:
    """The system of Routh's function, without forces and constraints."""
    kinds = {system.names[i]: system.coordinates[i].kind for i in (*lift.kept, *lift.carried)}
    weights = _weights(system, lift)

    def routhian(t: Any, z: Any, w: Any, p: Any) -> Any:
        own = with_own(system, p)
        value = lift.routhian(own, t, z, w, p)
        # the square of what a constraint keeps at zero changes no motion, and gives what is carried a mass
        return value + 0.5 * jnp.dot(weights, lift.defect(own, t, z, w, p) ** 2) if lift.carried else value

    return System.from_lagrangian(routhian, kinds, {**system.parameters, **given})


def _moved(system: System, lift: MomentumLift, given: Mapping[str, Any]) -> System:
    """The system that the coordinates that are kept, and those that are carried along, move by."""
    base = _free(system, lift, given)
    for force in system.forces:

        def pulled(t: Any, z: Any, w: Any, p: Any, force: Any = force) -> Any:
            own = with_own(system, p)
            along = force(t, *lift.whole(own, t, z, w, p), *own.last)[np.array(lift.kept)]
            return jnp.concatenate([along, jnp.zeros(len(lift.carried), along.dtype)])

        base = base.forced(pulled)
    base = _constrained(base, system, lift)
    if not lift.carried:
        return base
    try:
        return base.constrained(velocity=lambda t, z, w, p: lift.defect(with_own(system, p), t, z, w, p))
    except ValueError as error:
        names = ", ".join(system.names[i] for i in lift.carried)
        raise ValueError(
            f"A force or a constraint depends on {names}, whose velocity is not affine in the others, so that it "
            "cannot be carried along by a velocity constraint; simulate the full system."
        ) from error


def _weights(system: System, lift: MomentumLift) -> np.ndarray:
    """Masses of the size that the carried coordinates have in the full system, for their velocity constraints."""
    if not lift.carried:
        return np.zeros(0)
    t, q, v = states(system, 1)[0]
    mass = np.abs(np.diagonal(np.asarray(system.mass_matrix(t, q, v))))[np.array(lift.carried)]
    return np.where(mass > 0, mass, 1.0)


def _constrained(base: System, system: System, lift: MomentumLift) -> System:
    """The constraints of the full system, which do not contain velocities of what was left out."""
    held = system.constraints
    if held.walls.unilateral or held.walls.ratchets:
        raise ValueError("hl.routh takes systems without walls; simulate the full system.")
    for condition in held.equations.holonomic:

        def position(t: Any, z: Any, p: Any, f: Any = condition) -> Any:
            return f(t, lift.filled(z), *with_own(system, p).last)

        base = base.constrained(holonomic=position)
    for condition in held.equations.velocity:

        def speed(t: Any, z: Any, w: Any, p: Any, f: Any = condition) -> Any:
            own, x = with_own(system, p), lift.filled(z)
            for i, value in lift.place(own, t, z, p).items():
                x = x.at[i].set(value)
            return f(t, x, lift.filled(w), *own.last)

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
        reason = why_not_cyclic(system, system.names.index(wrong[0]))
        raise ValueError(
            f"The coordinate {wrong[0]!r} is not cyclic, so its momentum is not constant: {reason}; {said}."
        )
    return tuple(sorted(system.names.index(name) for name in momenta))


def _starts(reduced: ReducedSystem) -> Iterator[tuple[Small, State]]:
    """States of the reduced system and of the full one that belong to each other; raise where no velocity has the
    momenta, at any of some random states."""
    full, lift = reduced.full, reduced.lift
    assert full is not None
    assert isinstance(lift, MomentumLift)
    wanted = np.array([float(reduced.parameters[f"p_{name}"]) for name in lift.names])
    near = states(full, _STARTS) if reduced.section is None else _near_section(len(full.names))
    here, out = np.array((*lift.kept, *lift.carried)), np.array(lift.out)
    some = False
    for t, q, v in near:
        z, w, place = q[here], v[here], q[out]
        if reduced.constraints.equations.total:
            try:
                z, w = (np.asarray(x) for x in reduced.project(t, z, w))
            except ValueError:
                continue
        got = np.asarray(compiled(_momenta_reached, reduced, t, jnp.asarray(z), jnp.asarray(w)))
        if not np.max(np.abs(got - wanted)) <= _REACHED * (1.0 + np.max(np.abs(wanted))):
            continue
        some = True
        x, v = full_rows(reduced, t, z, w, place)
        yield (t, z, w, np.asarray(place)), (t, np.asarray(x), np.asarray(v))
    if not some:
        values = ", ".join(f"p_{name} = {value:g}" for name, value in zip(lift.names, wanted, strict=True))
        raise ValueError(f"No velocity has the momentum {values} at random configurations: this value cannot occur.")


def _near_section(n: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """States at the point of a section and next to it."""
    generator = np.random.default_rng(5)
    return [(np.zeros(()), size * generator.normal(size=n), generator.normal(size=n)) for size in (0.0, 0.01, 0.1)]


def _momenta_reached(reduced: ReducedSystem, t: Tree, z: Tree, w: Tree) -> Tree:
    """The momenta of the velocities that were found, which are the given ones where these exist."""
    full, lift = reduced.full, reduced.lift
    assert full is not None
    assert isinstance(lift, MomentumLift)
    own, p = with_own(full, reduced.parameters), reduced.parameters
    return jax.grad(lift.line(own, t, z, w))(lift.speeds(own, t, z, w, p))
