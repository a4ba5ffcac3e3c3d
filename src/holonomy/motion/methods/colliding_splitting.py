"""Splitting for bodies whose balls collide."""

from __future__ import annotations

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.methods.splitting import AbstractSplitting, collides_between_steps
from holonomy.systems import System


class CollidingSplitting(AbstractHostMethod):
    r"""Steps of a splitting method that end where two balls touch and go on after the impact (`body_collisions`).

    `simulate` takes it in place of the splitting method where a `World` has collisions. Only the bodies that collide
    take other steps than the rest. An impact is located with the method's own step, so that the motion has its order;
    reversible where the impacts are elastic, and the momentum maps are kept to round-off.
    """

    splitting: AbstractSplitting

    @property
    def order(self) -> int:
        return self.splitting.order

    @property
    def label(self) -> str:
        return self.splitting.label

    @property
    def properties(self) -> Properties:
        return Properties(reversible=True)

    @property
    def fixed_step(self) -> bool:
        return True

    @property
    def instead(self) -> str:
        return "With collisions it does so; with at most 40 balls use hl.Rattle(4) there."


def colliding(method: AbstractMethod, system: System) -> AbstractMethod:
    """The method, or where a splitting method is to move bodies that collide, the one that finds their contacts."""
    if isinstance(method, AbstractSplitting) and collides_between_steps(system):
        return CollidingSplitting(method)
    return method
