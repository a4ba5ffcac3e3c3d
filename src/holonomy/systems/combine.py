"""Two systems as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.spaces import AbstractSpace, Product
from holonomy.systems.constraints.conditions import Constraints, Equations, Walls
from holonomy.systems.coordinates import Coordinate
from holonomy.systems.parameters import Parameters
from holonomy.systems.system import System
from holonomy.systems.tracing import Frame
from holonomy.trace.function import Function
from holonomy.types import ScalarFunction


def combine(a: System, b: System, coupling: ScalarFunction | None = None) -> System:
    r"""Two systems as one: \(L = L_a + L_b - V\), with the coordinates of a, then those of b.

    `coupling` is a potential \(V(t, q[, p])\) of the joined coordinates. Forces and constraints stay, those of a first.
    Coordinates that both systems name get the numbers 1 and 2, as in ``theta_1`` and ``theta_2``; so do parameters that
    both have with different values, while one that has the same value in both is shared.
    """
    for name, system in (("first", a), ("second", b)):
        if not isinstance(system, System):
            raise ValueError(f"combine takes two systems; the {name} is {type(system).__name__}.")
    names = _distinct([c.name for c in a.coordinates], [c.name for c in b.coordinates], shared=())
    coordinates = tuple(
        Coordinate(name, c.kind)
        for name, c in zip([*names[0].values(), *names[1].values()], [*a.coordinates, *b.coordinates], strict=True)
    )
    parameters, renamed = _parameters(a, b)
    space = Product(*_factors(a.space), *_factors(b.space))
    frame = Frame(coordinates, parameters, space, a.parametric or b.parametric)
    parts = [_Part(a, 0, renamed[0]), _Part(b, a.space.point_dim, renamed[1])]
    energy = None if coupling is None else frame.scalar("coupling", coupling)

    def total(field: str, sign: float) -> Any:
        def value(t: Any, q: Any, *rest: Any) -> Any:
            pieces = [part.call(getattr(part.system, field), t, q, *rest) for part in parts]
            p = rest[len(rest) - int(frame.parametric) :]
            return pieces[0] + pieces[1] + (0.0 if energy is None else sign * energy(t, q, *p))

        return value

    known: dict[str, Any] = {"kinetic": None, "potential": None}
    if all(s.kinetic is not None and s.potential is not None for s in (a, b)):
        known["kinetic"] = frame.scalar("kinetic energy", total("kinetic", 0.0), velocity=True)
        known["potential"] = frame.scalar("potential", total("potential", 1.0))
    return System(
        lagrangian=frame.scalar("lagrangian", total("lagrangian", -1.0), velocity=True),
        positions=_positions(frame, parts),
        forces=tuple(frame.covector("force", part.spread(f)) for part in parts for f in part.system.forces),
        constraints=_constraints(frame, parts),
        direct=None,
        inverse=None,
        parameters=parameters,
        space=space,
        coordinates=coordinates,
        parametric=frame.parametric,
        definite=a.definite and b.definite,
        **known,
    )


class _Part:
    """One of the two: where its coordinates begin, and what its parameters are called in the whole."""

    def __init__(self, system: System, begin: int, renamed: dict[str, str]):
        self.system, self.begin, self.renamed = system, begin, renamed
        self.size = system.space.point_dim

    def cut(self, whole: Any) -> Any:
        """Its part of a point or vector."""
        return whole[self.begin : self.begin + self.size]

    def call(self, function: Function, t: Any, q: Any, *rest: Any) -> Any:
        """A function of the part at arguments of the whole: vectors, then perhaps parameters."""
        vectors = [self.cut(x) for x in (q, *rest) if not isinstance(x, Parameters)]
        whole = [x for x in rest if isinstance(x, Parameters)]
        mine = (
            [Parameters({name: whole[0][new] for name, new in self.renamed.items()})] if self.system.parametric else []
        )
        return function(t, *vectors, *mine)

    def of_whole(self, function: Function) -> Callable[..., Any]:
        """A function of the part as one of the whole."""
        return lambda t, q, *rest: self.call(function, t, q, *rest)

    def spread(self, function: Function) -> Callable[..., Any]:
        """A covector of the part as one of the whole."""

        def force(t: Any, q: Any, v: Any, *p: Any) -> Any:
            return jnp.zeros_like(q).at[self.begin : self.begin + self.size].set(self.call(function, t, q, v, *p))

        return force


def _factors(space: AbstractSpace) -> tuple[AbstractSpace, ...]:
    return space.factors if isinstance(space, Product) else (space,)


def _distinct(first: list[str], second: list[str], shared: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """New names for both, different except for shared ones."""
    both = (set(first) & set(second)) - set(shared)
    taken = set(first) | set(second)
    maps: list[dict[str, str]] = []
    for number, names in ((1, first), (2, second)):
        new = {}
        for name in names:
            fresh = f"{name}_{number}" if name in both else name
            while fresh != name and fresh in taken:
                fresh += f"_{number}"
            new[name] = fresh
        maps.append(new)
    return maps[0], maps[1]


def _parameters(a: System, b: System) -> tuple[Parameters, tuple[dict[str, str], dict[str, str]]]:
    same = tuple(
        name for name in a.parameters if name in b.parameters and _equal(a.parameters[name], b.parameters[name])
    )
    renamed = _distinct(list(a.parameters), list(b.parameters), shared=same)
    values = {new: s.parameters[old] for s, names in zip((a, b), renamed, strict=True) for old, new in names.items()}
    return Parameters(values), renamed


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, Tracer) or isinstance(y, Tracer):
        return x is y
    return np.shape(x) == np.shape(y) and bool(np.all(np.asarray(x) == np.asarray(y)))


def _positions(frame: Frame, parts: list[_Part]) -> Function | None:
    """All particles, where both systems know theirs in spaces of one dimension."""
    known = [(part, part.system.positions) for part in parts if part.system.positions is not None]
    if len(known) < 2:
        return None
    shapes = [jax.eval_shape(f, *_own(part.system).example()).shape for part, f in known]
    if shapes[0][1] != shapes[1][1]:
        return None
    return frame.positions(lambda t, q, *p: jnp.concatenate([part.call(f, t, q, *p) for part, f in known]))


def _own(system: System) -> Frame:
    return Frame(system.coordinates, system.parameters, system.space, system.parametric)


def _constraints(frame: Frame, parts: list[_Part]) -> Constraints:
    given = [(part, part.system.constraints) for part in parts]
    if any(c.walls.friction.dim for _, c in given):
        raise ValueError("Systems with friction cannot be combined yet; combine them first, then add their walls.")
    with_walls = [c.walls for _, c in given if c.walls.total]
    laws = {walls.law for walls in with_walls}
    if len(laws) > 1:
        raise ValueError(f"The systems have different laws for several impacts at once: {' and '.join(sorted(laws))}.")

    def of_place(name: str, functions: Any) -> tuple[Any, ...]:
        return tuple(frame.trace(name, part.of_whole(f), frame.example())[0] for part, c in given for f in functions(c))

    def of_speed(name: str, functions: Any) -> tuple[Any, ...]:
        example = frame.example(velocity=True)
        return tuple(frame.trace(name, part.of_whole(f), example)[0] for part, c in given for f in functions(c))

    equations = Equations(
        of_place("holonomic constraint", lambda c: c.equations.holonomic),
        of_speed("velocity constraint", lambda c: c.equations.velocity),
        counts=(sum(c.equations.counts[0] for _, c in given), sum(c.equations.counts[1] for _, c in given)),
    )
    if not with_walls:
        return Constraints(equations)
    walls = Walls(
        of_place("unilateral constraint", lambda c: c.walls.unilateral),
        of_speed("unilateral velocity constraint", lambda c: c.walls.ratchets),
        restitution=jnp.concatenate([jnp.asarray(walls.restitution, float) for walls in with_walls]),
        counts=(sum(walls.counts[0] for walls in with_walls), sum(walls.counts[1] for walls in with_walls)),
        law=with_walls[0].law,
    )
    return Constraints(equations, walls)
