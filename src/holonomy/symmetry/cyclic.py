"""Cyclic coordinates, read from the trace of the system's functions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from holonomy.systems import System
from holonomy.trace.function import Function
from holonomy.trace.graph.dag import reachable
from holonomy.trace.lowering.scalarise import Flat, scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.lagrange import Variables
from holonomy.trace.symbolic.polynomial import Poly
from holonomy.trace.taylor_polynomial import Expansion

_POSITION, _VELOCITY = 1, 2  # the arguments of a system's functions
_TRIED = 3  # random states
_CHANGED = 1e-9  # of the largest derivative: not rounding


def cyclic(system: System) -> tuple[str, ...]:
    r"""The names of the cyclic coordinates: \(\partial L/\partial q_i = 0\) everywhere, so that \(p_i\) is conserved.

    Exact, without a sample of numbers: a coordinate is cyclic if the traced Lagrangian does not contain it, or if its
    derivative by it vanishes as a polynomial in the coordinates and their functions, sums of squares of sine and cosine
    replaced. No force and no constraint may act along it either. A Lagrangian that has no form as one expression
    (a loop whose length depends on data) counts as containing all coordinates, and a point of a curved space has none.
    """
    if not system.flat:
        return ()
    blocked = _acted_on(system)
    return tuple(name for i, name in enumerate(system.names) if i not in blocked and _absent(system, i))


def _absent(system: System, i: int) -> bool:
    """Whether L does not depend on coordinate i."""
    parts = [system.lagrangian]
    if system.kinetic is not None and system.potential is not None:
        parts = [system.kinetic, system.potential]
    flats = [_flat(system, part, velocity=part is not system.potential) for part in parts]
    if any(flat is None for flat in flats):
        return False
    if not any(i in _inputs(flat, _POSITION) for flat in flats if flat is not None):
        return True
    if _changes(system, i):
        return False
    return all(_slope_vanishes(system, flat, i, part is not system.potential) for flat, part in zip(flats, parts))


def _changes(system: System, i: int) -> bool:
    """Whether L has a derivative by coordinate i at a random state, which spares long polynomials."""
    generator, n = np.random.default_rng(i), len(system.names)

    def lagrangian(q: Any) -> Any:
        return system.raw_lagrangian(time, q, jnp.asarray(velocity))

    for _ in range(_TRIED):
        time, velocity = generator.uniform(0.1, 1.0), generator.normal(size=n)
        try:
            (found,) = Expansion(lagrangian, n).at(generator.uniform(0.4, 1.4, n), 1)
        except Unsupported:
            return False
        if np.all(np.isfinite(found)) and abs(found[1 + i]) > _CHANGED * np.max(np.abs(found)):
            return True
    return False


def _slope_vanishes(system: System, flat: Flat | None, i: int, velocity: bool) -> bool:
    assert flat is not None
    at = Variables(system.space.point_dim)
    leaves = ["t", "q", *(["v"] if velocity else [])]
    names = [*leaves, *[("parameter", name) for name in (system.parameters if system.parametric else ())]]

    def leaf(k: int, e: int) -> Poly:
        return at.ring.number(flat.numbers[e]) if k == len(names) else at.ring.leaf((names[k], e))

    try:
        (value,) = at.ring.read(flat.outputs[0].nodes, leaf)
    except Unsupported:
        return False
    return not contract(at.ring.slope(contract(value), at.q[i]))


def _acted_on(system: System) -> set[int]:
    """The coordinates along which a force or a constraint may act."""
    n = system.space.point_dim
    equations, walls = system.constraints.equations, system.constraints.walls
    found: set[int] = set()
    for force in system.forces:
        flat = _flat(system, force, velocity=True)
        zero = set() if flat is None else {i for i, node in enumerate(flat.outputs[0].nodes) if _is_zero(node)}
        found |= set(range(n)) - zero
    for condition in (*equations.holonomic, *walls.unilateral):
        flat = _flat(system, condition, velocity=False)
        found |= set(range(n)) if flat is None else _inputs(flat, _POSITION)
    for condition in (*equations.velocity, *walls.ratchets, *walls.friction.slips):
        flat = _flat(system, condition, velocity=True)
        found |= set(range(n)) if flat is None else _inputs(flat, _VELOCITY)
    return found


def _is_zero(node: object) -> bool:
    return getattr(node, "op", None) == "const" and getattr(node, "data", None) == 0


def _flat(system: System, function: Function, *, velocity: bool) -> Flat | None:
    """The function as scalar operations, or None where it has no such form."""
    state = [np.zeros(system.space.point_dim)] * (2 if velocity else 1)
    try:
        return scalarise(lambda *args: function(*args), (np.float64(0.0), *state, *system.last))
    except Unsupported:
        return None


def _inputs(flat: Flat, argument: int) -> set[int]:
    """The elements of one argument on which a value depends."""
    nodes = [node for out in flat.outputs for node in out.nodes]
    return {node.data[1] for node in reachable(nodes) if node.op == "input" and node.data[0] == argument}
