"""What every method is: a way to take one step, written once as a JAX function."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.systems import System
from holonomy.systems.constraints import kkt
from holonomy.systems.result_code import Code
from holonomy.types import Flag, Multipliers, Number, Point, State, Tangent, Time, Tree, Whole


class Status(NamedTuple):
    """How a step went: a code of `Result`, and the number of iterations or inner steps it took."""

    code: Tree
    work: Tree


def fine(work: int = 1) -> Status:
    """The status of a step that cannot fail."""
    return Status(jnp.int32(Code.ok), jnp.int32(work))


@runtime_checkable
class Runner(Protocol):
    """What runs the loops of a method: `Engine`, or an integrator of another library in its place."""

    @property
    def name(self) -> str:
        """What the certificate says."""
        ...

    @property
    def refusal(self) -> str:
        """Why there is no native code, at length; empty where there is."""
        ...

    def call(
        self, function: Callable[..., Tree], *args: Tree, seldom: bool = False, steps: Whole | None = None
    ) -> Tree:
        """The value of a function of PyTrees of arrays; one that is called `seldom`, or that takes few `steps`, may be
        compiled in less time.
        """
        ...


class AbstractMethod(eqx.Module):
    """A one-step method. Its state is a PyTree of its own choosing with a field `q`, the present point."""

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """The order of convergence of q and v."""

    @abc.abstractmethod
    def start(self, system: System, t: Time, q: Point, v: Tangent) -> State:
        """The method's state at an initial condition."""

    @abc.abstractmethod
    def step(self, system: System, t: Time, h: Time, state: State) -> tuple[State, Status]:
        """The state one step of length h later."""

    @abc.abstractmethod
    def read(self, system: System, t: Time, state: State) -> tuple[Point, Tangent]:
        """Position and velocity of a state."""

    def multipliers(self, system: System, t: Time, state: State) -> Multipliers:
        """Multipliers of the system's constraints: those of the accelerations at the state's position and velocity."""
        q, v = self.read(system, t, state)
        local = system.local(q)
        return kkt.multipliers(local, t, *local.enter(v))

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

    def tighter(self) -> AbstractMethod | None:
        """The same method with a tolerance much smaller, None where the step alone decides how accurate it is."""
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

    def refuse(self, dtype: np.dtype) -> None:
        """Raise `ValueError` if the method cannot work with numbers of this type."""
        del dtype

    def refuse_system(self, system: System) -> None:
        """Raise `ValueError` if the method cannot move this system, for another reason than its constraints."""
        del system

    def reach(self, state: State, step: Number) -> Number:
        """How far from a state a step of given length may look for events at once; less where it is made of several."""
        del state
        return step

    def engine(self, system: System, wanted: str | None) -> Runner | None:
        """What runs the method's loops if not native code or XLA; None for all but a few."""
        del system, wanted
        return None

    def __repr__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """How a user writes the method."""
        return f"{type(self).__name__}()"

    @property
    def properties(self) -> Properties:
        """What the method preserves; `check_method` checks it and the certificate says it."""
        return Properties()

    def properties_on(self, system: System) -> Properties:
        """What the method preserves of a system; less than `properties` where that takes a flat space."""
        del system
        return self.properties

    @property
    def traits(self) -> str:
        """The properties in words."""
        return self.properties.words

    @property
    def fixed_step(self) -> bool:
        """Whether dt is the step itself, rather than the spacing of saved times."""
        return True


class PositionVelocity(NamedTuple):
    """The state of methods that work on (q, v)."""

    q: Point
    v: Tangent


def keep_if(good: Flag, new: Tree, old: Tree) -> Tree:
    """Leaf by leaf, the new state where the step was good."""
    return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)
