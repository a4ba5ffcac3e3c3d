"""What every method is: a way to take one step, written once as a JAX function."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from holonomy.systems import System
from holonomy.systems.constraints import conditions
from holonomy.systems.result_code import Code


class Status(NamedTuple):
    """How a step went: a code of `Result`, and the number of iterations or inner steps it took."""

    code: Any
    work: Any


def fine(work: int = 1) -> Status:
    """The status of a step that cannot fail."""
    return Status(jnp.int32(Code.ok), jnp.int32(work))


class AbstractMethod(eqx.Module):
    """A one-step method. Its state is a PyTree of its own choosing with a field `q`, the present point."""

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """The order of convergence of q and v."""

    @abc.abstractmethod
    def start(self, system: System, t: Any, q: Any, v: Any) -> Any:
        """The method's state at an initial condition."""

    @abc.abstractmethod
    def step(self, system: System, t: Any, h: Any, state: Any) -> tuple[Any, Status]:
        """The state one step of length h later."""

    @abc.abstractmethod
    def read(self, system: System, t: Any, state: Any) -> tuple[Any, Any]:
        """Position and velocity of a state."""

    def multipliers(self, system: System, t: Any, state: Any) -> Any:
        """Multipliers of the system's constraints: those of the accelerations at the state's position and velocity."""
        q, v = self.read(system, t, state)
        local = system.local(q)
        return conditions.multipliers(local, t, *local.enter(v))

    @property
    def holds(self) -> tuple[str, ...]:
        """Which constraints the method keeps: ``"holonomic"``, ``"velocity"``, both or none."""
        return ()

    def fallback(self, certain: bool) -> AbstractMethod | None:
        """The same method with a slower, surer way to solve its equations, or None when there is none.

        `certain` asks for the one to use where failing is not possible to react to, under a user's jit, vmap or grad.
        """
        del certain
        return None

    @property
    def scalar(self) -> bool:
        """Whether the step suits machine code of single numbers, as straight steps and simple iterations do."""
        return True

    @property
    def grips(self) -> bool:
        """Whether the method can hold a wall in contact."""
        return bool(self.holds)

    @property
    def rubs(self) -> bool:
        """Whether the method can move with friction, as those can that know forces by accelerations alone."""
        return False

    def reach(self, state: Any, step: Any) -> Any:
        """How far from a state a step of given length may look for events at once; less where it is made of several."""
        del state
        return step

    def engine(self, system: System, wanted: str | None) -> Any:
        """What runs the method's loops if not native code or XLA: an object as `Engine`; None for all but a few."""
        del system, wanted
        return None

    @property
    def label(self) -> str:
        """How a user writes the method."""
        return f"{type(self).__name__}()"

    @property
    def traits(self) -> str:
        """What the certificate says the method preserves."""
        return ""

    @property
    def fixed_step(self) -> bool:
        """Whether dt is the step itself, rather than the spacing of saved times."""
        return True


class PositionVelocity(NamedTuple):
    """The state of methods that work on (q, v)."""

    q: Any
    v: Any


class AbstractRungeKutta(AbstractMethod):
    """An explicit method on (q, v), which steps in the local chart of the present point.

    Constraints are held by projection after each step.
    """

    @abc.abstractmethod
    def advance(self, slope: Any, t: Any, h: Any, y: Any, w: Any) -> tuple[Any, Any]:
        """One step of y' = w, w' = slope(t, y, w)."""

    def start(self, system: System, t: Any, q: Any, v: Any) -> PositionVelocity:
        return PositionVelocity(q, v)

    def step(self, system: System, t: Any, h: Any, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        local = system.local(state.q)
        y, w = local.enter(state.v)
        held = local.hold(t, y, w)
        # jitted so that the stages share one traced and simplified body
        slope = jax.jit(lambda *state: local.acceleration(*state))
        end, w = self.advance(slope, t, h, y, w)
        if held is None:
            return PositionVelocity(*local.leave(end, w)), fine()
        from holonomy.motion.methods.projection import finish

        end, w, status = finish(local, held, t, h, end, w, y)
        return PositionVelocity(*local.leave(end, w)), status

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    @property
    def rubs(self) -> bool:
        return True

    def read(self, system: System, t: Any, state: PositionVelocity) -> tuple[Any, Any]:
        return state.q, state.v


def keep_if(good: Any, new: Any, old: Any) -> Any:
    """Leaf by leaf, the new state where the step was good."""
    return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)
