r"""A system's Lagrangian as a polynomial: its parts of each degree in the velocities, and what follows from them.

With \(L = L_2 + L_1 + L_0\) by degree in v, the energy function is \(h = v\cdot\partial L/\partial v - L = L_2 - L_0\),
and \(V' = -L_0\) is the effective potential: \(V - T_0\) where kinetic and potential energy are known.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.trace.affine import affine_in
from holonomy.trace.function import Function, trace
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.lagrange import Variables
from holonomy.trace.symbolic.polynomial import Poly
from holonomy.trace.symbolic.unchanged import vanishes

if TYPE_CHECKING:
    from holonomy.systems.system import System

_MULTIPLIED_OUT = 6
"""Coordinates up to which the form of a Lagrangian is looked at as a polynomial, in which terms cancel."""
_JUMP = frozenset({"select", "floor", "ceil", "round", "sign", "lt", "le", "eq", "ne", "and", "or", "not"})


def read(
    system: System, at: Variables, what: str, function: Function | None, *, velocity: bool, values: bool = False
) -> list[Poly]:
    """A function of a system as polynomials in the variables; `ValueError` where it has no such form.

    Parameters are variables too or, with `values`, the numbers that they are.
    """
    assert function is not None
    n, ring = system.space.point_dim, at.ring
    leaves: list[Any] = ["t", "q", *(["v"] if velocity else [])]
    first = len(leaves)
    leaves += [("parameter", name) for name in (system.parameters if system.parametric else ())]
    state = [np.zeros(n)] * (2 if velocity else 1)
    try:
        flat = scalarise(lambda *args: function(*args), (np.float64(0.0), *state, *system.last))
        numbers = flat.numbers
        known = [np.ravel(np.asarray(x, float)) for x in system.parameters.values()] if values else []

        def leaf(k: int, e: int) -> Poly:
            if values and first <= k < len(leaves):
                return ring.number(float(known[k - first][e]))
            return ring.number(numbers[e]) if k == len(leaves) else ring.leaf((leaves[k], e))

        return ring.read(flat.outputs[0].nodes, leaf)
    except Unsupported as error:
        raise ValueError(
            f"The {what} has no readable form: {error} The motion itself is not affected; hl.simulate runs it as it is."
        ) from error


class Energies:
    """L, and where it is quadratic in the velocities its parts of each degree, kinetic and potential energy.

    With `values` it is that of the values that the parameters have, some of which may be zero.
    """

    def __init__(self, system: System, at: Variables, *, values: bool = False):
        self.at, ring = at, at.ring

        def part(what: str, function: Function | None, velocity: bool) -> Poly:
            return contract(read(system, at, what, function, velocity=velocity, values=values)[0])

        self.natural = system.kinetic is not None and system.potential is not None
        if self.natural:
            self.kinetic = part("kinetic energy", system.kinetic, True)
            self.potential = part("potential", system.potential, False)
            self.lagrangian = self.kinetic - self.potential
        else:
            self.lagrangian = part("Lagrangian", system.lagrangian, True)
        velocities = frozenset(leaf_number(x) for x in at.v)
        parts = self.lagrangian.split(lambda atom: not velocities.isdisjoint(atom.leaves))
        self.quadratic = all(
            sum(e for _, e in m) <= 2 and all(i in velocities and isinstance(e, int) and e > 0 for i, e in m)
            for m in parts
        )
        self.degrees = [ring.zero] * 3
        if not self.quadratic:
            return
        for m, q in parts.items():
            degree = int(sum(e for _, e in m))
            self.degrees[degree] = self.degrees[degree] + q * Poly(ring, {m: Fraction(1)})
        if not self.natural:
            self.kinetic, self.potential = self.degrees[2] + self.degrees[1], -self.degrees[0]

    @property
    def at_rest(self) -> Poly:
        """T₀, the kinetic energy that a system at rest in its coordinates has since they move."""
        return self.degrees[0] + self.potential

    @property
    def energy_function(self) -> Poly:
        """h = v·∂L/∂v − L."""
        total = -self.lagrangian
        for v in self.at.v:
            total = total + v * self.at.ring.slope(self.lagrangian, v)
        return contract(total)

    @property
    def turns(self) -> bool:
        """Whether the part of first degree, a·v, bends motions: a is neither closed nor free of the time."""
        at, ring = self.at, self.at.ring
        if any(ring.atoms[i].op in _JUMP for i in _atoms(self.degrees[1])):
            return True  # a slope does not see that a jumps
        a = [ring.slope(self.degrees[1], v) for v in at.v]
        curls = [ring.slope(a[i], at.q[j]) - ring.slope(a[j], at.q[i]) for i in range(at.n) for j in range(i)]
        return not all(vanishes(contract(one)) for one in (*curls, *[ring.slope(x, at.t) for x in a]))


def _atoms(p: Poly) -> set[int]:
    """The numbers of all atoms that occur in a polynomial, at any depth."""
    found: set[int] = set()
    waiting = [p]
    while waiting:
        here = {i for m in waiting.pop().terms for i, _ in m} - found
        found |= here
        waiting += [argument for i in here for argument in p.ring.atoms[i].args]
    return found


def leaf_number(leaf: Poly) -> int:
    """The number of a leaf among the atoms of its ring."""
    return next(iter(leaf.terms))[0][0]


class LagrangianForm(NamedTuple):
    """What the trace of a Lagrangian tells, for all states at once and the values that its parameters have; None where
    it does not tell.

    `steady`: L does not change with the time. `quadratic`: L is of degree two at most in v. `turns`: it has a part of
    first degree in v that bends motions (a magnetic field, a turning frame); one that is a total derivative does
    not. `moving`: its kinetic energy has parts T₁ and T₀, so that h is not T + V; None also where kinetic and potential
    energy are not known apart, as in a Lagrangian.
    """

    steady: bool | None
    quadratic: bool | None
    turns: bool | None
    moving: bool | None


def lagrangian_form(system: System) -> LagrangianForm:
    """The form of a system's Lagrangian: of few coordinates with terms that cancel, else by what depends on what."""
    wired = _wired(system)
    decided = wired[:3] == (True, True, False) and (system.kinetic is None or wired.moving is False)
    if decided or system.space.point_dim > _MULTIPLIED_OUT or not system.flat:
        return wired
    at = Variables(system.space.point_dim)
    try:
        found = Energies(system, at, values=not any(isinstance(x, Tracer) for x in jax.tree.leaves(system.parameters)))
    except ValueError:
        return wired
    steady = wired.steady or leaf_number(at.t) not in contract(found.lagrangian).leaves
    if not found.quadratic:
        return LagrangianForm(steady, wired.quadratic or False, wired.turns, wired.moving)
    moving = None if system.kinetic is None else not (vanishes(found.degrees[1]) and vanishes(found.at_rest))
    return LagrangianForm(steady, True, found.turns, moving)


def _wired(system: System) -> LagrangianForm:
    """The form by what is wired to what in the traces of L, its slopes at rest and its momentum."""
    n = system.space.point_dim
    example: Any = (np.float64(0.0), np.zeros(n), np.zeros(n), *system.last)

    def momentum(t: Any, q: Any, v: Any, *p: Any) -> Any:
        return jax.grad(lambda w: system.lagrangian(t, q, w, *p))(v)

    def linear(t: Any, q: Any, v: Any, *p: Any) -> Any:
        return momentum(t, q, jnp.zeros_like(v), *p)

    def kinetic(t: Any, q: Any, v: Any, *p: Any) -> Any:
        assert system.kinetic is not None
        return system.kinetic(t, q, jnp.zeros_like(v), *p)

    steady = not system.lagrangian.depends_on(0, example) or None
    quadratic = affine_in(trace(momentum, example).program, 2) or None
    turns = False if _vanishes(linear, example) else None
    fixed = system.kinetic is not None and turns is False and _vanishes(kinetic, example)
    return LagrangianForm(steady, quadratic, turns, False if fixed else None)


def _vanishes(function: Callable[..., Any], example: Any) -> bool:
    """Whether a function is zero whatever its arguments are, seen from its operations on single numbers."""
    try:
        nodes = [node for out in scalarise(function, example).outputs for node in out.nodes]
    except Unsupported:
        return False
    return all(node.op == "const" and node.data == 0 for node in nodes)
