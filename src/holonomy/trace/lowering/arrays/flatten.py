"""A jaxpr as one list of equations: calls and short loops written out, nothing computed twice, reductions of
arrays of one shape together, and how often each value is used.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.extend.core as jex

from holonomy.trace.jaxpr import Equation, Jaxpr
from holonomy.trace.lowering.arrays.grouping import grouped, times_computed

_ANGLES: Final = ("sin", "cos")
_TURNS: Final = 4  # of a loop that is written out: the stages of RK4
_MARKED_TURNS: Final = 6  # the same of loops that are marked, as by `trace.repeat.each`: the most stages of Gauss


@dataclass(eq=False, slots=True)
class Name:
    """A variable of the list, with the shape and type that it has."""

    aval: Any


@dataclass(eq=False, slots=True)
class Flattened:
    """Equations in order. `times` is how often a variable is computed (`times_computed`), by its identity, `last` the
    last equation that uses it, `dying` the variables that none uses later.
    """

    invars: list[Name]
    constants: list[tuple[Name, Any]]
    eqns: list[Equation]
    outvars: list[Any]
    times: dict[int, int]
    last: dict[Any, int] = field(default_factory=dict[Any, int])
    dying: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])


def flattened(jaxpr: Jaxpr, small: int, elementwise: Container[str]) -> Flattened:
    """The equations that the results depend on. The sine and the cosine of an array of more than `small` angles are one
    equation `sincos`, and so are reductions of such arrays (`grouped`).
    """
    writer = _Writer(small)
    invars = [Name(v.aval) for v in jaxpr.invars]
    outvars = writer.write(jaxpr, invars)
    eqns = grouped(_needed(writer.eqns, outvars), small)
    program = Flattened(invars, writer.constants, eqns, outvars, times_computed(eqns, outvars, elementwise))
    for k, eqn in enumerate(eqns):
        program.last.update({a: k for a in eqn.invars if isinstance(a, Name)})
    program.last.update({a: len(eqns) for a in outvars if isinstance(a, Name)})
    for atom, k in program.last.items():
        program.dying.setdefault(k, []).append(atom)
    for k, eqn in enumerate(eqns):
        program.dying.setdefault(k, []).extend(v for v in eqn.outvars if v not in program.last)
    return program


def _needed(eqns: Sequence[Equation], outvars: Sequence[Any]) -> list[Equation]:
    wanted = {a for a in outvars if isinstance(a, Name)}
    kept: list[Equation] = []
    for eqn in reversed(eqns):
        if not wanted.isdisjoint(eqn.outvars):
            kept.append(eqn)
            wanted.update(a for a in eqn.invars if isinstance(a, Name))
    return kept[::-1]


class _Writer:
    """Writes equations one after the other."""

    def __init__(self, small: int) -> None:
        self.small = small
        self.eqns: list[Equation] = []
        self.constants: list[tuple[Name, Any]] = []
        self._known: dict[Hashable, Sequence[Name]] = {}
        self._held: dict[int, tuple[Any, Name]] = {}

    def write(self, jaxpr: Jaxpr, args: Sequence[Any]) -> list[Any]:
        """The equations of a jaxpr on these arguments; gives its results."""
        env: dict[Any, Any] = dict(zip(jaxpr.invars, args, strict=True))
        for var, constant in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            if id(constant) not in self._held:
                self._held[id(constant)] = (constant, Name(var.aval))
                self.constants.append((self._held[id(constant)][1], constant))
            env[var] = self._held[id(constant)][1]
        for eqn in jaxpr.eqns:
            atoms = [a if isinstance(a, jex.Literal) else env[a] for a in eqn.invars]
            if eqn.name == "call":
                found: Sequence[Any] = self.write(eqn.params["jaxpr"], atoms)
            elif eqn.name == "scan" and self._short(eqn):
                found = self._turns(eqn, atoms)
            else:
                found = self._once(eqn, atoms)
            env.update(zip(eqn.outvars, found, strict=True))
        return [a if isinstance(a, jex.Literal) else env[a] for a in jaxpr.outvars]

    def _short(self, eqn: Equation) -> bool:
        """Whether a loop has few turns, all of which go through large arrays."""
        length, marked = eqn.params["length"], eqn.params["unroll"] >= eqn.params["length"]
        if not 1 < length <= (_MARKED_TURNS if marked else _TURNS):
            return False
        return any(math.prod(v.aval.shape) > self.small for v in eqn.outvars)

    def _turns(self, eqn: Equation, atoms: list[Any]) -> list[Any]:
        """The results of a loop, its turns one after the other."""
        params = eqn.params
        nk, nc, length = params["num_consts"], params["num_carry"], params["length"]
        carry, rows = atoms[nk : nk + nc], [[] for _ in range(length)]
        for i in range(length - 1, -1, -1) if params["reverse"] else range(length):
            slices = [self._row(x, i) for x in atoms[nk + nc :]]
            out = self.write(params["jaxpr"], [*atoms[:nk], *carry, *slices])
            carry, rows[i] = out[:nc], out[nc:]
        columns = zip(zip(*rows, strict=True), eqn.outvars[nc:], strict=True)
        return [*carry, *(self._new("stack", {"axis": 0}, list(parts), v.aval) for parts, v in columns)]

    def _row(self, x: Any, i: int) -> Name:
        shape, dtype = x.aval.shape, x.aval.dtype
        limits = {"start_indices": (i, *[0] * (len(shape) - 1)), "limit_indices": (i + 1, *shape[1:]), "strides": None}
        row = self._new("slice", limits, [x], jax.ShapeDtypeStruct((1, *shape[1:]), dtype))
        return self._new("squeeze", {"dimensions": (0,)}, [row], jax.ShapeDtypeStruct(shape[1:], dtype))

    def _new(self, name: str, params: dict[str, Any], atoms: list[Any], aval: Any) -> Name:
        return self._once(Equation(name, params, atoms, [Name(aval)]), atoms)[0]

    def _once(self, eqn: Equation, atoms: list[Any]) -> Sequence[Name]:
        """The results of an equation, those of an equal one if there is one."""
        if eqn.name == "select_n" and isinstance(atoms[1], Name) and all(a is atoms[1] for a in atoms[1:]):
            return [atoms[1]]
        if eqn.name in _ANGLES and isinstance(atoms[0], Name) and math.prod(atoms[0].aval.shape) > self.small:
            both = Equation("sincos", {}, atoms, [eqn.outvars[0], eqn.outvars[0]])
            return [self._once(both, atoms)[_ANGLES.index(eqn.name)]]
        key = (eqn.name, _hashable(eqn.params), tuple([_atom(a) for a in atoms]))
        try:
            known = self._known.get(key)
        except TypeError:  # a parameter without a hash
            known, key = None, None
        if known is None:
            known = [Name(v.aval) for v in eqn.outvars]
            self.eqns.append(Equation(eqn.name, eqn.params, atoms, known))
            if key is not None:
                self._known[key] = known
        return known


def _atom(atom: Any) -> Hashable:
    if isinstance(atom, jex.Literal):
        return ("literal", id(atom))
    return atom


def _hashable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple([(name, _hashable(v)) for name, v in sorted(value.items())])
    if isinstance(value, list | tuple):
        return tuple([_hashable(v) for v in value])
    return value
