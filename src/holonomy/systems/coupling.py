"""Which coordinates move together: those that the Lagrangian, a force or a condition couples, directly or by others."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sparse
from jaxtyping import Int
from scipy.sparse.csgraph import connected_components

from holonomy.systems import tracing
from holonomy.trace.function import Function, Program, trace
from holonomy.trace.hessian_pattern import Sets, hessian_pattern, jacobian_pattern

if TYPE_CHECKING:
    from holonomy.systems.system import System

_LARGEST = 128  # coordinates above which all count as coupled
_MOST = 2**16  # entries of a pattern that are followed


def coupled_blocks(system: System) -> Int[np.ndarray, " point"]:
    """For each coordinate the number of its block: coordinates of different blocks do not act on each other.

    Read from the traced functions: what is not understood there counts as coupled, as do all coordinates of a curved
    space and of a system of more than 128 coordinates.
    """
    n = system.space.point_dim
    together = np.zeros(n, int)
    if not system.flat or n > _LARGEST or n == 1:
        return together
    links = _of_lagrangian(system)
    if links is None:
        return together
    equations, walls = system.constraints.equations, system.constraints.walls
    if walls.friction.dim:
        return together
    for force in system.forces:
        acts = _rows(system, force, velocity=True)
        if acts is None:
            return together
        links = links + acts
    for condition, velocity in (
        *((one, False) for one in (*equations.holonomic, *walls.unilateral)),
        *((one, True) for one in (*equations.velocity, *walls.ratchets)),
    ):
        rows = _rows(system, condition, velocity=velocity)
        if rows is None:
            return together
        links = links + rows.T @ rows
    return connected_components(links, directed=False)[1]


def _of_lagrangian(system: System) -> Sets | None:
    example: Any = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric).example(
        velocity=True
    )
    constants = system.lagrangian.constants
    types = tuple((tuple(x.shape), str(x.dtype)) for x in map(jax.typeof, (*jax.tree.leaves(example), *constants)))
    return _hessian(system.lagrangian.program, types)


@lru_cache(maxsize=64)
def _hessian(program: Program, types: Any) -> Sets | None:
    """The pattern of all second derivatives of the Lagrangian by (q, v), as one of n rows and columns."""
    t, q, _, *rest = [jax.ShapeDtypeStruct(*one) for one in types]
    n = q.shape[0]

    def value(t: Any, state: Any, *others: Any) -> Any:
        return program(t, state[:n], state[n:], *others)[0]

    both = jax.ShapeDtypeStruct((2 * n,), jnp.float64)
    found = hessian_pattern(trace(value, [t, both, *rest]), [t, both, *rest], 1, _MOST)
    if found is None:
        return None
    whole = sparse.csr_array(found.matrix)
    return whole[:n, :n] + whole[:n, n:] + whole[n:, :n] + whole[n:, n:]


def _rows(system: System, function: Function, *, velocity: bool) -> Sets | None:
    """Which coordinates each element of a function depends on, by position or by velocity."""
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    leaves = map(jax.typeof, jax.tree.leaves(frame.example(velocity=velocity)))
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves]
    by_position = jacobian_pattern(function, shapes, 1, _MOST)
    by_velocity = jacobian_pattern(function, shapes, 2, _MOST) if velocity else by_position
    if by_position is None or by_velocity is None:
        return None
    return sparse.csr_array(by_position.matrix) + sparse.csr_array(by_velocity.matrix)
