"""Free balls from collision to collision."""

from __future__ import annotations

from holonomy.method_table import Properties
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.systems import System
from holonomy.systems.bodies import World, colliding


class EventDriven(AbstractHostMethod):
    r"""Geodesics in closed form from one collision to the next, in the order of a queue. Exact to round-off.

    For a `World` of balls with collisions in Euclidean, spherical or hyperbolic space, without springs, rods or
    potentials, where it is the default. Contacts are the first zeros of the gaps of pairs (`ball_flight`); lists of
    neighbours, made anew before any ball could leave its own, keep the cost of a collision from growing with the
    number of balls. `dt` is the spacing of saved times. It runs on the host: not under a user's jit, vmap or grad.

    Reference: Alder and Wainwright, Journal of Chemical Physics 31 (1959) 459.
    """

    @property
    def order(self) -> int:
        """None in provenance: there is no error of a step."""
        return 1

    @property
    def properties(self) -> Properties:
        return Properties(symplectic=True, reversible=True)

    @property
    def holds(self) -> tuple[str, ...]:
        return ()

    @property
    def instead(self) -> str:
        return "With at most 40 balls use hl.Rattle(4) there."

    def refuse_system(self, system: System) -> None:
        why = why_not_free_balls(system)
        if why:
            raise ValueError(
                f"EventDriven moves worlds of free balls with collisions; {why}. Use method=None to have one picked."
            )


def why_not_free_balls(system: System) -> str:
    """Why a system is not one of free balls; empty where it is."""
    if not isinstance(system, World):
        return "this system is none"
    return colliding.why_not_free_balls(system)
