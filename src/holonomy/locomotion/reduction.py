"""Movers from systems whose kinetic energy and constraints do not change under a group."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Algebra, Element, Form, Row, Shape
from holonomy.locomotion.groups import Group, GroupSpace, LieGroup, Translations, as_group
from holonomy.spaces import SE2, AbstractSpace, Circle, Product
from holonomy.systems import System
from holonomy.systems.coordinates import Coordinate, Coordinates
from holonomy.trace.function import Function, trace
from holonomy.types import Scalar

_ALIKE = 1e-9  # relative difference up to which two values count as the same


class _Layout(NamedTuple):
    """Where the group's coordinates and the shape's are in the points of a system."""

    lie: LieGroup
    size: int
    pose: bool
    shape: tuple[Coordinate, ...]

    def point(self, g: Element, r: Shape) -> Row:
        if self.pose:
            g = jnp.stack([g[2], g[3], jnp.arctan2(g[1], g[0])])
        return jnp.concatenate([g, r])

    def velocity(self, g: Element, xi: Algebra, rate: Shape) -> Row:
        if isinstance(self.lie, Translations):
            return jnp.concatenate([xi, rate])
        assert isinstance(self.lie, GroupSpace)
        moving = self.lie.space.lift(g, xi)
        if self.pose:
            moving = jnp.append(moving[2:], xi[2])
        return jnp.concatenate([moving, rate])


class Reduction(NamedTuple):
    """The names of the shape variables, the quadratic form, the constraints, and whether a momentum is left."""

    names: tuple[Coordinate, ...]
    form: Function
    conditions: Function | None
    inertial: bool


def reduced(system: System, group: Group, *, constrained: bool) -> Reduction:
    """A system in the body frame, with its velocity constraints or without any."""
    equations = system.constraints.equations
    if constrained and not equations.total:
        raise ValueError(
            "from_constraints needs a system with velocity constraints; this one has none: use from_momentum."
        )
    if not constrained and equations.total:
        raise ValueError("from_momentum is for systems without constraints; this one has some: use from_constraints.")
    layout = _layout(system, group)
    dim, n = layout.lie.dim, len(layout.shape)
    example = (jax.ShapeDtypeStruct(layout.lie.identity.shape, float), jax.ShapeDtypeStruct((n,), float))
    form = trace(lambda g, r: _form(system, layout, g, r), example)
    rows = trace(lambda g, r: _rows(system, layout, g, r), example) if constrained else None
    count = equations.total
    if count > dim:
        raise ValueError(
            f"The system has {count} constraints, but the group has only {dim} dimensions: shape changes would be "
            "constrained as well. Leave out those that the shape's own coordinates satisfy."
        )
    _require_invariance("kinetic energy", form, layout)
    if rows is not None:
        _require_invariance("velocity constraints", rows, layout)
    if rows is None:
        rest = trace(
            lambda g, r: system.raw_lagrangian(0.0, layout.point(g, r), jnp.zeros(layout.size + n))[None], example
        )
        _require_invariance("potential", rest, layout)
    shape = (example[1],)
    identity = layout.lie.identity
    return Reduction(
        layout.shape,
        trace(lambda r: form(identity, r), shape),
        None if rows is None else trace(lambda r: rows(identity, r), shape),
        count < dim,
    )


def _form(system: System, layout: _Layout, g: Element, r: Shape) -> Form:
    dim = layout.lie.dim

    def kinetic(z: Row) -> Scalar:
        return system.raw_lagrangian(0.0, layout.point(g, r), layout.velocity(g, z[:dim], z[dim:]))

    return jax.hessian(kinetic)(jnp.zeros(dim + r.shape[0]))


def _rows(system: System, layout: _Layout, g: Element, r: Shape) -> Float[Array, "_ both"]:
    """The velocity constraints, and the derivatives of the holonomic ones, as rows on (xi, rate)."""
    equations, dim = system.constraints.equations, layout.lie.dim
    q = layout.point(g, r)

    def values(z: Row) -> Row:
        v = layout.velocity(g, z[:dim], z[dim:])
        holonomic = [jax.jvp(lambda x, f=f: f(0.0, x, *system.last), (q,), (v,))[1] for f in equations.holonomic]
        return jnp.concatenate([*holonomic, *(f(0.0, q, v, *system.last) for f in equations.velocity)])

    return jax.jacfwd(values)(jnp.zeros(dim + r.shape[0]))


def _layout(system: System, group: Group) -> _Layout:
    lie, space = as_group(group), system.space
    mismatch = ValueError(
        f"The configurations of this system are points of {space!r}, whose first coordinates are not an element of "
        f"{group!r}. Describe the system on Product(group, ...), the group first; for SE2 the first three coordinates "
        "may also be x, y and an angle."
    )
    if not isinstance(lie, (GroupSpace, Translations)) or not isinstance(group, AbstractSpace):
        raise mismatch
    factors = space.factors if isinstance(space, Product) else (space,)
    if isinstance(lie, GroupSpace) and type(factors[0]) is type(group) and factors[0].point_dim == group.point_dim:
        size, pose = group.point_dim, False
    elif isinstance(group, SE2) and space.flat_chart:
        size, pose = 3, True
    elif isinstance(lie, Translations) and space.flat_chart:
        size, pose = lie.dim, False
    else:
        raise mismatch
    if space.point_dim <= size:
        raise ValueError(
            f"The system has no coordinates besides the {size} of the group, so it has no shape to change."
        )
    rest = factors[1:] if isinstance(lie, GroupSpace) and not pose else ()
    if any(not f.flat_chart for f in rest):
        raise ValueError(
            f"The shape's part of the configuration space, {rest!r}, is curved; describe shapes by coordinates, in "
            "Euclidean(n) and Circle()."
        )
    kinds = [kind for f in rest for kind in (["angle"] if isinstance(f, Circle) else ["number"] * f.point_dim)]
    given = system.coordinates[size:]
    shape = [Coordinate(c.name, kinds[i] if kinds and c.kind == "number" else c.kind) for i, c in enumerate(given)]
    return _Layout(lie, size, pose, Coordinates(shape))


def _evaluate(function: Function, g: Element, r: Shape) -> Array:
    return function(g, r)


def _require_invariance(what: str, function: Function, layout: _Layout) -> None:
    """Raise if a function of (g, r) with known numbers is not the same at the identity and elsewhere, at one shape."""
    if not known(function):
        return
    r = 0.4 + 0.17 * np.arange(len(layout.shape))
    with jax.ensure_compile_time_eval():
        identity = np.asarray(layout.lie.identity)
        away = layout.lie.exp(jnp.asarray(0.6 - 0.35 * np.arange(layout.lie.dim)))
    here = np.asarray(compiled.call(_evaluate, function, identity, r))
    there = np.asarray(compiled.call(_evaluate, function, np.asarray(away), r))
    # where the shape is not one of the mover's, the values are not finite and say nothing
    if np.all(np.isfinite(here)) and np.abs(here - there).max() > _ALIKE * (np.abs(here).max() + 1e-300):
        raise ValueError(
            f"The {what} of the system changes when it is moved by the group, so it has no connection for this group. "
            "Pass the group of its symmetries, or take out of the system what breaks them."
        )
