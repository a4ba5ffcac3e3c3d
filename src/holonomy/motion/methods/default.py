"""Which method `simulate` takes where none was asked for."""

from __future__ import annotations

import jax

from holonomy.motion.methods.adaptive import Adaptive
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.methods.explicit import RK4
from holonomy.motion.methods.gauss import Gauss
from holonomy.motion.methods.radau import Radau
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import Splitting, why_not_separable
from holonomy.systems import System
from holonomy.systems.bodies import World, colliding
from holonomy.trace.singularity import may_be_infinite

# Coordinates above which an explicit method is the default where it applies.
_MANY = 100
# The tolerance where a potential is singular: an error at one close passage is magnified at the next.
_CLOSE = 1e-12


def default_method(system: System, traced: bool = False) -> tuple[AbstractMethod, str]:
    """The method for a system, and why; one whose step can be `traced` by a user's jit, vmap or grad, watched for
    events or taken alone where that is wanted."""
    if isinstance(system, World) and not traced and not colliding.why_not_free_balls(system):
        return EventDriven(), "free balls: exact from collision to collision"
    if isinstance(system, World) and not traced and _bounce_apart(system):
        # as walls each pair of balls is compiled: 17 s for 8 balls and minutes for 40, where this takes half a second
        return Splitting(4), "balls of bodies: exact geodesics between kicks, impacts where they happen"
    if isinstance(system, World) and system.by_events_only:
        if not colliding.why_not_colliding_bodies(system):
            return Splitting(4), "many balls of bodies: exact geodesics between kicks, impacts where they happen"
        if not colliding.why_not_colliding_rigid_bodies(system):
            return Rattle(4), "many balls on rods: held to round-off along geodesics, impacts where they happen"
    if not system.constraints:
        smooth = isinstance(system, World) and not system.singular
        many = system.space.dim > _MANY
        if isinstance(system, World) and smooth and (many or not system.damped) and not why_not_separable(system):
            trait = "keeps the momentum maps of the springs" if system.damped else "symplectic, reversible"
            return Splitting(4 if many else 8), f"exact geodesics between kicks: explicit, {trait}"
        if may_collide(system):
            return Adaptive(rtol=_CLOSE, atol=_CLOSE), "the potential may become infinite: the step follows the motion"
        if many and not why_not_separable(system):
            return Splitting(4), "many coordinates, T(v) - V(q): explicit, symplectic, reversible"
        kept = ["symplectic"] if system.autonomous and not system.forces else []
        kept += ["reversible"] if system.flat else []
        return Gauss(3), ", ".join(["smooth and unconstrained: order 6", *kept])
    symplectic = Rattle(4).properties_on(system).symplectic
    holonomic, velocity = system.constraints.equations.counts
    unilateral, ratchets = system.constraints.walls.counts
    if system.constraints.walls.friction.dim:
        return RK4(), "friction: forces by accelerations, contacts held by projection"
    if unilateral + ratchets:
        if velocity or ratchets:
            return Radau(3), "walls and conditions on velocities: contacts held at the end of each step"
        kept = "symplectic and reversible between impacts, " if symplectic else ""
        return Rattle(4), f"walls: {kept}contacts held to round-off"
    if not velocity:
        kept = "symplectic, reversible, " if symplectic else ""
        return Rattle(4), f"holonomic constraints: {kept}held to round-off"
    if not holonomic:
        return Gauss(3), "velocity constraints: reversible by symmetric projection, order 6"
    return Radau(3), "holonomic and velocity constraints together: both held at the end of each step"


def _bounce_apart(world: World) -> bool:
    """Whether balls of bodies of springs bounce without loss, so that none comes to rest on another."""
    return not colliding.why_not_colliding_bodies(world) and float(world.restitution or 0.0) == 1.0


def may_collide(system: System) -> bool:
    """Whether close encounters are possible: the potential may become infinite, and nobody says that it does not."""
    smooth = isinstance(system, World) and not system.singular
    return not (smooth or system.smooth) and potential_is_singular(system)


def potential_is_singular(system: System) -> bool:
    """Whether the potential, or the Lagrangian of a system at rest, may become infinite somewhere."""
    position, velocity = 1, 2  # of the inputs t, q, v and the parameters
    arguments = [jax.ShapeDtypeStruct((), float), *[jax.ShapeDtypeStruct((system.space.point_dim,), float)] * 2]
    arguments += jax.tree.leaves(system.last)
    if system.potential is not None:
        return may_be_infinite(system.potential, [*arguments[:velocity], *arguments[velocity + 1 :]], position)
    return may_be_infinite(system.lagrangian, arguments, position, zeros=[velocity])
