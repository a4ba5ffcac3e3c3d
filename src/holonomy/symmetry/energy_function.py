r"""The energy function \(h = v\cdot\partial L/\partial v - L\) of a system, and what it is.

With \(L = T_2 + T_1 + T_0 - V\) it is \(h = T_2 + V - T_0 = T_2 + V'\), where \(V' = V - T_0\) is the effective
potential. Along every motion

\[\frac{dh}{dt} = Q\cdot v - \frac{\partial L}{\partial t},\]

with the forces Q, those of the constraints included. It is the energy T + V where \(T_1 = T_0 = 0\), that is, where
positions do not depend on the time. Turning points, periods, Jacobi's metric and phase portraits are those of h.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from holonomy.motion import Run
from holonomy.symmetry.conserved import Conserved
from holonomy.symmetry.jacobi_integral import jacobi_integral
from holonomy.systems import System, lagrangian
from holonomy.systems.equations.energies import LagrangianForm, lagrangian_form
from holonomy.systems.state_vector import vector
from holonomy.types import AnyArray, Number, Scalar, Tree, VectorLike


@dataclass(frozen=True)
class EnergyFunction:
    r"""\(h = v\cdot\partial L/\partial v - L\): call it with a state, or `along` a run; `print` says what it is.

    `form` is what the trace tells of the Lagrangian, for all states at once; `reason` says why h is not known to be
    conserved, and is empty where it is conserved.
    """

    system: System
    form: LagrangianForm

    def __call__(self, t: Number, q: VectorLike, v: VectorLike) -> Scalar:
        """The value at a state."""
        shape = (self.system.space.point_dim,)
        q, v = vector("q", q, shape, self.system), vector("v", v, shape, self.system)
        return energy_value(self.system, jnp.asarray(t, float), jnp.asarray(q), jnp.asarray(v))

    def along(self, run: Run) -> Float[AnyArray, " times"]:
        """The values at the saved times of a run."""
        return energy_values(self.system, jnp.asarray(run.t), jnp.asarray(run.q), jnp.asarray(run.v))

    def effective_potential(self, q: VectorLike, t: Number = 0.0) -> Scalar:
        """V′ = V − T₀, the value of a state at rest in the coordinates."""
        at = jnp.asarray(vector("q", q, (self.system.space.point_dim,), self.system))
        return -self.system.raw_lagrangian(jnp.asarray(t, float), at, jnp.zeros_like(at))

    @property
    def is_energy(self) -> bool | None:
        """Whether h is the energy T + V; None where T and V are not known apart, as in a Lagrangian."""
        return None if self.form.moving is None else not self.form.moving

    @property
    def conserved(self) -> bool:
        """Whether h is conserved along every motion, or was at all states that were looked at."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why h is not known to be conserved: the sentence of `hl.jacobi_integral`; empty where it is."""
        return self._integral if isinstance(self._integral, str) else ""

    @property
    def looked_at(self) -> str:
        """At which states h was looked at, in words; empty where formulas decide whether it is conserved."""
        return "" if isinstance(self._integral, str) or self._integral.decided else self._integral.looked_at

    @cached_property
    def _integral(self) -> Conserved | str:
        try:
            return jacobi_integral(self.system)
        except ValueError as error:
            return str(error)

    def __repr__(self) -> str:
        what = {
            None: "h = v·∂L/∂v - L",
            True: "h = v·∂L/∂v - L, the energy T + V,",
            False: "h = v·∂L/∂v - L = T2 + V - T0, which is not the energy T + V,",
        }[self.is_energy]
        if not self.conserved:
            return f"{what} is not known to be conserved: {self.reason}"
        return f"{what} is conserved{' ' * bool(self.looked_at)}{self.looked_at}."


def energy_function(system: System) -> EnergyFunction:
    r"""The energy function \(h = v\cdot\partial L/\partial v - L\) of a system, and what is known of it.

    ```python
    import holonomy as hl

    h = hl.energy_function(hl.models.rotating_hoop())
    print(h.conserved, float(h(0.0, [0.1], [0.0])))
    ```
    """
    return EnergyFunction(system, lagrangian_form(system))


@eqx.filter_jit
def energy_value(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """h at a state."""
    return lagrangian.energy_function(system.raw_lagrangian, t, q, v)


@eqx.filter_jit
def energy_values(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """h at many states."""
    return jax.vmap(lambda *state: lagrangian.energy_function(system.raw_lagrangian, *state))(t, q, v)
