"""Which worlds have balls whose collisions are found between and within steps, and are no constraints of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
from jax.core import Tracer

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World


def why_not_free_balls(world: World) -> str:
    """Why a world is not one of balls that fly freely between collisions; empty where it is."""
    if world.energy_terms or world.forces:
        return "this one has springs, potentials or forces"
    return why_not_colliding_bodies(world)


def why_not_colliding_bodies(world: World) -> str:
    """Why a world is not one of bodies of springs that act on each other by collisions of their balls alone; empty
    where it is."""
    if world.restitution is not None and world.rigid is not None:
        return "this one has rods or cells of fixed size"
    return _why_not_by_collisions(world)


def why_not_colliding_rigid_bodies(world: World) -> str:
    """The same of bodies with rods, or with angles or cells of fixed size."""
    if world.restitution is not None and world.rigid is None:
        return "this one has no rods or cells of fixed size"
    equations = world.constraints.equations
    if equations.ranks is not None or world.constraints.treatment.passes:
        return "some conditions of this one follow from others"
    return _why_not_by_collisions(world)


def _why_not_by_collisions(world: World) -> str:
    walls = 0 if world.balls is None else len(world.balls)
    sizes = 0 if world.rigid is None else world.rigid.count
    if world.restitution is None:
        return "this one has no collisions"
    if "interaction" in world.energy_terms or len(world.forces) > world.damped:
        return "this one has forces between all vertices or of another kind than those of springs"
    if world.flight is None:
        return f"this one is in {world.point_space!r}, where contacts are not known in closed form"
    if world.constraints.equations.total != sizes or world.constraints.walls.total != walls:
        return "this one has other constraints"
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((world.restitution, world.masses, world.radii))):
        return "the numbers of this one are being traced"
    return "" if float(world.restitution) > 0 else "balls of this one stay in contact, without bouncing"
