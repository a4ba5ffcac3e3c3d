"""A system as heyoka takes it: its Lagrangian and forces as expressions, apart from its numbers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System, lagrangian
from holonomy.trace import heyoka
from holonomy.trace.compile_cache import CompileCache
from holonomy.trace.lowering.statements import Unsupported

_motions = CompileCache()


def motion_of(system: System) -> tuple[heyoka.Motion, np.ndarray]:
    """The form of a system's motion, and the constants that make it this system's."""
    parameters = [np.asarray(x, float) for x in jax.tree.leaves(system.parameters)]
    functions = (system.lagrangian, *system.forces)
    constants = [np.asarray(c) for f in functions for c in f.constants]
    # Other parameters are other data; constants are too, but which of them are equal or whole is form.
    key = (
        tuple(f.program for f in functions),
        tuple((c.shape, c.tobytes()) for c in constants),
        tuple(p.shape for p in parameters),
        system.definite,
    )
    try:
        found, numbers = _motions.get(
            key, lambda: heyoka.motion(*_traceable(system), system.space.point_dim, parameters, system.definite)
        )
    except Unsupported as error:
        raise ValueError(f"Taylor cannot run this system: {error}") from error
    return found, found.constants([*parameters, numbers])


def _traceable(system: System) -> tuple[Any, Any]:
    """Two functions of (t, q, v, *parameters): Lagrangian and force; mass matrix and right-hand side."""
    tree = jax.tree.structure(system.parameters)

    def last(p: tuple[Any, ...]) -> tuple[Any, ...]:
        return (jax.tree.unflatten(tree, p),) if system.parametric else ()

    def force(t: Any, q: Any, v: Any, *p: Any) -> Any:
        total = jnp.zeros_like(v)
        for each in system.forces:
            total = total + each(t, q, v, *last(p))
        return total

    def energies(t: Any, q: Any, v: Any, *p: Any) -> Any:
        return system.lagrangian(t, q, v, *last(p)), force(t, q, v, *p)

    def direct(t: Any, q: Any, v: Any, *p: Any) -> Any:
        def function(s: Any, x: Any, w: Any) -> Any:
            return system.lagrangian(s, x, w, *last(p))

        right = lagrangian.inertial_force(function, t, q, v) + force(t, q, v, *p)
        return lagrangian.mass_matrix(function, t, q, v), right

    return energies, direct
