"""Splitting and Rattle for bodies whose balls collide."""

from __future__ import annotations

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import AbstractSplitting, collides_between_steps
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.bodies.colliding import why_not_colliding_rigid_bodies


class CollidingBodies(AbstractHostMethod):
    r"""Steps of a method that end where two balls touch and go on after the impact (`body_collisions`).

    `simulate` takes it in place of a splitting method where a `World` has collisions, and in place of `Rattle` where
    it has rods as well. Only the bodies that collide take other steps than the rest. An impact is located with the
    method's own step, so that the motion has its order; reversible where the impacts are elastic, and the momentum maps
    are kept to round-off.
    """

    stepping: AbstractSplitting | Rattle

    @property
    def order(self) -> int:
        return self.stepping.order

    @property
    def label(self) -> str:
        return self.stepping.label

    @property
    def properties(self) -> Properties:
        return Properties(reversible=True)

    @property
    def fixed_step(self) -> bool:
        return True

    @property
    def instead(self) -> str:
        return "With collisions it does so; with at most 40 balls use hl.Rattle(4) there."


def colliding(method: AbstractMethod, system: System, tracing: bool = False) -> AbstractMethod:
    """The method, or where it is to move bodies that collide, the one that finds their contacts.

    Up to 40 balls on rods may be walls of the contact machinery as well, which is taken where a step is `tracing` by a
    user's jit or seen from outside, and where impacts lose energy, so that balls may come to stay in contact.
    """
    if isinstance(method, AbstractSplitting) and collides_between_steps(system):
        return CollidingBodies(method)
    if isinstance(method, Rattle) and isinstance(system, World) and not why_not_colliding_rigid_bodies(system):
        assert system.restitution is not None
        if system.balls is None or (not tracing and float(system.restitution) == 1.0):
            return CollidingBodies(method)
    return method
