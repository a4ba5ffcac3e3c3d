"""A jaxpr as one list of equations: calls written out, nothing computed twice, and how often each value is used."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax.extend.core as jex

from holonomy.trace.jaxpr import Equation, Jaxpr

_ANGLES: Final = ("sin", "cos")


@dataclass(eq=False, slots=True)
class Name:
    """A variable of the list, with the shape and type that it has."""

    aval: Any


@dataclass(eq=False, slots=True)
class Flattened:
    """Equations in order. `last` is the last one that uses a variable, `dying` the variables that none uses later."""

    invars: list[Name]
    constants: list[tuple[Name, Any]]
    eqns: list[Equation]
    outvars: list[Any]
    uses: dict[Any, int] = field(default_factory=dict[Any, int])
    last: dict[Any, int] = field(default_factory=dict[Any, int])
    dying: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])


def flattened(jaxpr: Jaxpr, small: int) -> Flattened:
    """The equations that the results depend on. The sine and the cosine of an array of more than `small` angles are one
    equation `sincos`.
    """
    writer = _Writer(small)
    invars = [Name(v.aval) for v in jaxpr.invars]
    outvars = writer.write(jaxpr, invars)
    eqns = _needed(writer.eqns, outvars)
    program = Flattened(invars, writer.constants, eqns, outvars)
    for k, eqn in enumerate(eqns):
        for atom in eqn.invars:
            if isinstance(atom, Name):
                program.uses[atom] = program.uses.get(atom, 0) + 1
                program.last[atom] = k
    for atom in outvars:
        if isinstance(atom, Name):
            program.uses[atom] = program.uses.get(atom, 0) + 1
            program.last[atom] = len(eqns)
    for atom, k in program.last.items():
        program.dying.setdefault(k, []).append(atom)
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
            else:
                found = self._once(eqn, atoms)
            env.update(zip(eqn.outvars, found, strict=True))
        return [a if isinstance(a, jex.Literal) else env[a] for a in jaxpr.outvars]

    def _once(self, eqn: Equation, atoms: list[Any]) -> Sequence[Name]:
        """The results of an equation, those of an equal one if there is one."""
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
