r"""How the state of a full system follows from that of a reduced one.

A reduced system has the coordinates that are kept, and after them those that are carried along: left-out coordinates
whose rates follow from the momenta, but on which forces or constraints depend. The velocities of what is left out are
functions of the reduced state.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.symmetry.adapted import AnySection
from holonomy.systems import System, lagrangian
from holonomy.systems.dense_solve import solve
from holonomy.systems.parameters import Parameters
from holonomy.trace.function import trace


class AbstractLift(eqx.Module):
    """Which coordinates are left out and which are kept, and the velocities of those that are left out."""

    out: eqx.AbstractVar[tuple[int, ...]]
    kept: eqx.AbstractVar[tuple[int, ...]]

    @abstractmethod
    def speeds(self, system: System, t: Any, z: Any, w: Any, p: Any) -> Any:
        """The velocities of what is left out, at a reduced state; p are the parameters of the reduced system."""

    @abstractmethod
    def entered(self, system: System, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
        """The reduced state of a full one."""

    @abstractmethod
    def place(self, system: System, t: Any, z: Any, p: Any) -> dict[int, Any]:
        """The left-out coordinates that the time and the reduced state give without an integral."""

    def margins(self, system: System, t: Any, z: Any) -> Any:
        """Numbers that vanish, or turn, where the velocities of what is left out are not determined."""
        return jnp.ones(1)

    def whole(self, system: System, t: Any, z: Any, w: Any, p: Any) -> tuple[Any, Any]:
        """The full state; zero for coordinates on which nothing depends."""
        x, v = self.filled(z), self.filled(w).at[np.array(self.out)].set(self.speeds(system, t, z, w, p))
        for i, value in self.place(system, t, z, p).items():
            x = x.at[i].set(value)
        return x, v

    def filled(self, z: Any) -> Any:
        """The kept part of a reduced vector among the full coordinates, zero elsewhere."""
        here = len(self.kept)
        return jnp.zeros(len(self.out) + here, z.dtype).at[np.array(self.kept)].set(z[:here])


class MomentumLift(AbstractLift):
    r"""The velocities that have given momenta \(\partial L/\partial v_c = p_c\).

    `steady` are the left-out coordinates that are known functions of the time, \(c_0 + t\,\dot c\), because their rates
    are constants, which `reference`, a reduced state, serves to evaluate; `carried` those with a place in the reduced
    state.
    """

    out: tuple[int, ...] = eqx.field(static=True)
    kept: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    quadratic: bool = eqx.field(static=True)
    section: AnySection | None = None
    carried: tuple[int, ...] = eqx.field(static=True, default=())
    steady: tuple[int, ...] = eqx.field(static=True, default=())
    reference: tuple[Any, Any, Any] | None = None

    def momenta(self, p: Any) -> Any:
        """The values of the momenta among the parameters."""
        return jnp.stack([jnp.asarray(p[f"p_{name}"], float) for name in self.names])

    def line(self, system: System, t: Any, z: Any, w: Any) -> Callable[[Any], Any]:
        """The Lagrangian at a reduced state as a function of the velocities of what is left out."""
        if self.section is not None:
            return self.section.line(t, z, w, *system.last)
        x, rest = self.filled(z), self.filled(w)
        return lambda speeds: system.raw_lagrangian(t, x, rest.at[np.array(self.out)].set(speeds))

    def speeds(self, system: System, t: Any, z: Any, w: Any, p: Any) -> Any:
        """The velocities of what is left out, which have the momenta."""
        along, values = self.line(system, t, z, w), self.momenta(p)
        zero = jnp.zeros_like(values)

        def inner(time: Any, place: Any, u: Any) -> Any:
            return along(u)

        if self.quadratic:
            mass = lagrangian.mass_matrix(inner, t, zero, zero)
            return solve(mass, values - lagrangian.momentum(inner, t, zero, zero), system.definite)
        return lagrangian.velocity(inner, t, zero, values, zero, False)

    def routhian(self, system: System, t: Any, z: Any, w: Any, p: Any) -> Any:
        r"""\(L - p_c\cdot v_c\)."""
        speeds = self.speeds(system, t, z, w, p)
        return self.line(system, t, z, w)(speeds) - jnp.dot(self.momenta(p), speeds)

    def defect(self, system: System, t: Any, z: Any, w: Any, p: Any) -> Any:
        """Zero where the velocities of carried coordinates belong to the momenta."""
        speeds = self.speeds(system, t, z, w, p)
        return w[len(self.kept) :] - speeds[np.array([self.out.index(i) for i in self.carried])]

    def entered(self, system: System, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
        """The coordinates that are kept or carried along."""
        here = np.array((*self.kept, *self.carried))
        return x[here], v[here]

    def place(self, system: System, t: Any, z: Any, p: Any) -> dict[int, Any]:
        """Coordinates that are carried along, and those that are known functions of the time."""
        here = len(self.kept)
        known: dict[int, Any] = {i: z[here + k] for k, i in enumerate(self.carried)}
        if self.steady:
            assert self.reference is not None
            at, place, speed = (jnp.asarray(x) for x in self.reference)
            rates = self.speeds(system, at, place, speed, p)
            for i in self.steady:
                k = self.out.index(i)
                known[i] = p[f"{self.names[k]}_0"] + t * rates[k]
        return known


def with_own(system: System, p: Any) -> System:
    """The full system with its parameters among those of the reduced one."""
    if not system.parametric:
        return system
    return eqx.tree_at(lambda s: s.parameters, system, Parameters({name: p[name] for name in system.parameters}))


def is_quadratic(system: System, which: tuple[int, ...]) -> bool:
    """Whether L is quadratic in the velocities of some coordinates, so that these follow from a linear equation."""
    n, out = len(system.names), np.array(which)
    shape = jax.ShapeDtypeStruct((n,), jnp.float64)
    example = (jax.ShapeDtypeStruct((), jnp.float64), shape, jax.ShapeDtypeStruct((len(which),), jnp.float64), shape)

    def mass(t: Any, q: Any, w: Any, v: Any) -> Any:
        return lagrangian.mass_matrix(lambda s, x, u: system.raw_lagrangian(s, q, v.at[out].set(u)), t, w, w)

    return not trace(mass, example).depends_on(2, example)
