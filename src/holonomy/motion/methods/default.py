"""Which method `simulate` takes where none was asked for."""

from __future__ import annotations

import jax

from holonomy.motion.methods.adaptive import Adaptive
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.explicit import RK4
from holonomy.motion.methods.gauss import Gauss
from holonomy.motion.methods.radau import Radau
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import Splitting, why_not_separable
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.trace.singularity import may_be_infinite

# Coordinates above which an explicit method is the default where it applies.
_MANY = 100
# The tolerance where a potential is singular: an error at one close passage is magnified at the next.
_CLOSE = 1e-12


def default_method(system: System) -> tuple[AbstractMethod, str]:
    """The method for a system, and why."""
    if not system.constraints:
        smooth = isinstance(system, World) and not system.singular
        if isinstance(system, World) and smooth and not why_not_separable(system):
            order = 8 if system.space.dim <= _MANY else 4
            return Splitting(order), "exact geodesics between kicks: explicit, symplectic, reversible"
        if not smooth and potential_is_singular(system):
            return Adaptive(rtol=_CLOSE, atol=_CLOSE), "the potential may become infinite: the step follows the motion"
        if system.space.dim > _MANY and not why_not_separable(system):
            return Splitting(4), "many coordinates, T(v) - V(q): explicit, symplectic, reversible"
        kept = ["symplectic"] if system.autonomous and not system.forces else []
        kept += ["reversible"] if system.flat else []
        return Gauss(3), ", ".join(["smooth and unconstrained: order 6", *kept])
    holonomic, velocity = system.constraints.equations.counts
    unilateral, ratchets = system.constraints.walls.counts
    if system.constraints.walls.friction.dim:
        return RK4(), "friction: forces by accelerations, contacts held by projection"
    if unilateral + ratchets:
        if velocity or ratchets:
            return Radau(3), "walls and conditions on velocities: contacts held at the end of each step"
        return Rattle(4), "walls: symplectic and reversible between impacts, contacts held to round-off"
    if not velocity:
        return Rattle(4), "holonomic constraints: symplectic, reversible, held to round-off"
    if not holonomic:
        return Gauss(3), "velocity constraints: reversible by symmetric projection, order 6"
    return Radau(3), "holonomic and velocity constraints together: both held at the end of each step"


def potential_is_singular(system: System) -> bool:
    """Whether the Lagrangian of a system at rest may become infinite somewhere."""
    position, velocity = 1, 2  # of the inputs t, q, v and the parameters
    arguments = [jax.ShapeDtypeStruct((), float), *[jax.ShapeDtypeStruct((system.space.point_dim,), float)] * 2]
    arguments += jax.tree.leaves(system.last)
    return may_be_infinite(system.lagrangian, arguments, position, zeros=[velocity])
