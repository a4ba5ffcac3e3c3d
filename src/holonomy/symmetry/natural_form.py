"""Whether motions of one value of h are geodesics: what the trace of the Lagrangian must tell for that."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.symmetry.natural import Natural
from holonomy.symmetry.reduced_system import ReducedSystem
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.systems.equations.energies import lagrangian_form

_STATES = 3  # random ones, where the trace does not decide
_CURL = 1e-9  # of the size of slopes and masses


def refuse_unnatural(system: System, what: str, *, turning: bool = True) -> None:
    """Raise `ValueError` unless L is of degree two in v and free of t, and with `turning` without a part of first
    degree that bends motions.

    The trace decides for all states at once, for a reduced system that of the system which it comes from. Where it does
    not tell whether motions are bent, random states are looked at.
    """
    origin = _origin(system)
    form = lagrangian_form(origin)
    if not form.steady:
        raise ValueError(f"The Lagrangian depends on the time; {what} takes systems whose Lagrangian does not.")
    if not form.quadratic:
        raise ValueError(
            f"The Lagrangian is not quadratic in the velocities, so that it has no kinetic metric; {what} needs one."
        )
    turns = form.turns if origin is system else None
    if turning and (turns or (turns is None and _turns_somewhere(system))):
        raise ValueError(
            "The Lagrangian has a part of first degree in v that is no total derivative (a magnetic field or a turning "
            "frame), so its motions of one energy are not geodesics."
        )


def _origin(system: System) -> System:
    """The system itself, or the one that it was reduced from, whose Lagrangian is free of t and quadratic as well."""
    while isinstance(system, ReducedSystem) and system.full is not None:
        system = system.full if system.section is None else system.section.system
    return system


def _turns_somewhere(system: System) -> bool:
    """Whether the curl of the part of first degree differs from zero at one of some random states."""
    for _, q, _ in states(system, _STATES):
        found = Natural(system.local(jnp.asarray(q)))
        slopes, mass = (np.asarray(f(jnp.asarray(q))) for f in (jax.jacfwd(found.linear), found.metric))
        size = np.max(np.abs(slopes)) + np.max(np.abs(mass))
        if np.max(np.abs(slopes - slopes.T)) > _CURL * size:
            return True
    return False
