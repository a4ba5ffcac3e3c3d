"""Systems with L = T2(q, v) + T1(q, v) - V(q) and nothing else: no forces, no constraints, no time."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System, lagrangian
from holonomy.systems.in_chart import Local
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion
from holonomy.types import Matrix, Scalar, Tree, Vector

_QUADRATIC = 1e-9  # of the largest Taylor coefficient of L


class Natural(eqx.Module):
    """A system in coordinates of the chart at one point, by the parts of its Lagrangian."""

    local: Local

    def metric(self, y: Vector) -> Matrix:
        """The kinetic metric, the second derivatives of L by v."""
        return lagrangian.mass_matrix(self.local.lagrangian, jnp.zeros(()), y, jnp.zeros_like(y))

    def rest(self, y: Vector) -> Scalar:
        """L at rest: T0 - V, minus the effective potential."""
        return self.local.lagrangian(jnp.zeros(()), y, jnp.zeros_like(y))

    def linear(self, y: Vector) -> Vector:
        """The coefficients of the part of L of first degree in v."""
        return lagrangian.momentum(self.local.lagrangian, jnp.zeros(()), y, jnp.zeros_like(y))


def refuse_others(system: System, what: str, *, velocity: bool = False) -> None:
    """Raise `ValueError`, in the name of the function `what`, for forces and constraints; `velocity` ones may pass."""
    held = system.constraints
    if system.forces:
        raise ValueError(
            f"{what} looks at the Lagrangian, and this system has forces besides; a force that has a potential belongs "
            "into the Lagrangian."
        )
    if held.equations.holonomic or held.walls.unilateral or held.walls.ratchets:
        raise ValueError(
            f"{what} takes systems without holonomic constraints and walls; describe the system in coordinates that "
            "satisfy the constraints by themselves."
        )
    if held.equations.velocity and not velocity:
        raise ValueError(f"{what} takes systems without velocity constraints; this one has some.")


def refuse_not_quadratic(local: Local, origin: np.ndarray, what: str) -> None:
    """Raise unless L is of degree two in v and free of t at the point, judged by its Taylor polynomial in both."""
    n = len(origin)
    start = np.random.default_rng(2).uniform(0.3, 0.9, n + 1)

    def at_point(z: Tree) -> Tree:
        return local.lagrangian(z[0], jnp.asarray(origin), z[1:])

    try:
        series = Expansion(at_point, n + 1)
        (found,) = series.at(start, 3)
    except Unsupported as error:
        raise ValueError(f"The Lagrangian has no Taylor series: {error}") from error
    powers, size = series.ring(3).powers, np.max(np.abs(found))
    if np.max(np.abs(found[powers[:, 0] > 0])) > _QUADRATIC * size:
        raise ValueError(f"The Lagrangian depends on the time; {what} takes systems whose Lagrangian does not.")
    if np.max(np.abs(found[powers[:, 1:].sum(axis=1) > 2])) > _QUADRATIC * size:
        raise ValueError(
            f"The Lagrangian is not quadratic in the velocities, so that it has no kinetic metric; {what} needs one."
        )
