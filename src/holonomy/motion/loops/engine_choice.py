"""Which engine runs a system's steps when the user names none."""

from __future__ import annotations

from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.gauss import Gauss
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.rattle_geodesic import moves_along_geodesics
from holonomy.motion.methods.runge_kutta import AbstractRungeKutta
from holonomy.motion.methods.splitting import AbstractSplitting
from holonomy.systems import System
from holonomy.systems.bodies import World, many_rods
from holonomy.systems.bodies.many_vertices import sign_of
from holonomy.systems.bodies.rigid_elements import RigidElements
from holonomy.systems.bodies.shared_vertices import Following
from holonomy.trace.lowering.limits import ARRAYS, COUPLED_ARRAYS, FEW_ARRAYS, TAKEN_APART, Limits
from holonomy.trace.native.engine import Engine

# Above this a machine function of single numbers grows faster than what it saves; XLA works on whole arrays.
LARGEST = 12
# The same for steps whose work grows like the size of the system: explicit ones of systems that bring an acceleration
# of their own, and those, of Gauss too, of systems whose mass matrix is diagonal or that bring solves with it.
LARGEST_DIRECT = 32
# Between these, work on whole arrays is faster unless the system is written number by number.
LARGEST_TAKEN_APART = 128
# The same for rods that are held along geodesics, a few of which are solved in straight-line code.
LARGEST_RIGID = 40
# Arrays of all walls stay in memory, what concerns the few that are looked at is taken apart.
MANY_WALLS = Limits(scalars=64, carried=64)


def engine_for(system: System, method: AbstractMethod, wanted: str | None) -> Engine:
    """The engine `wanted`, or if that is None native code where it suits the system and the method, else XLA."""
    free = not system.constraints
    explicit = free and isinstance(method, AbstractRungeKutta | AbstractSplitting)
    by_division = system.mass is not None and system.mass.kind == "diagonal"
    cheap = by_division or system.inverse is not None
    by_vertex = isinstance(system, World) and isinstance(method, AbstractSplitting)
    direct = explicit and (system.direct is not None or cheap or by_vertex)
    linear = direct or (free and system.flat and cheap and isinstance(method, Gauss))
    rigid = moves_along_geodesics(system) if isinstance(method, Rattle) else None
    largest = LARGEST_DIRECT if linear else LARGEST
    if rigid is not None:  # the integrals over cells are sums of hundreds of terms, better as arrays
        largest = 0 if {"areas", "volumes"} & set(rigid.kinds) else LARGEST_RIGID
    limits = MANY_WALLS if system.constraints.walls.window else None
    small = method.scalar and system.space.point_dim <= largest
    if method.scalar and not small and isinstance(method, Rattle) and _in_order(system, rigid):
        return Engine(wanted, limits=(COUPLED_ARRAYS, *TAKEN_APART) if wanted == "native" else COUPLED_ARRAYS)
    if linear and method.scalar and not small:
        if system.space.point_dim <= LARGEST_TAKEN_APART:
            return Engine(wanted, limits=(FEW_ARRAYS, Limits()))
        return Engine(wanted, limits=(ARRAYS, *TAKEN_APART) if wanted == "native" else ARRAYS)
    return Engine(wanted, small=small, limits=limits)


def _in_order(system: System, rigid: RigidElements | None) -> bool:
    """Whether there are many conditions whose multipliers are found one after another: along chains, or each alone."""
    if rigid is not None:
        assert isinstance(system, World)
        by_arrays = all(many_rods.applies(system.point_space, one) for one in rigid.elements)
        large = system.space.point_dim > LARGEST_TAKEN_APART
        return large and by_arrays and isinstance(rigid.sharing, Following) and sign_of(system.point_space) == 0
    mass = system.mass
    if mass is None or mass.kind != "diagonal" or mass.conditions is None:
        return False
    return mass.conditions.kind in ("chain", "separate")
