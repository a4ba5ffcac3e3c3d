"""What the forces of a system are in all states, as far as their form shows it: from a potential, taking energy, none.

An answer of yes is a proof; no means that it was not shown.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System
from holonomy.trace.graph.series import Otherwise, ring
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic import identities
from holonomy.trace.taylor_polynomial import Expansion


class ForceKinds:
    """The kinds of the forces of a system around a configuration; each is looked at when it is asked for."""

    def __init__(self, system: System, q: np.ndarray) -> None:
        self._local = system.local(jnp.asarray(q))
        self._n = self._local.origin.size

    @cached_property
    def conservative(self) -> bool:
        """Whether the forces on a system at rest derive from a potential."""
        applied = self._local.applied
        if applied is None:
            return True
        return identities.closed(lambda y: applied(jnp.zeros(()), y, jnp.zeros_like(y)), self._n)

    @cached_property
    def takes_energy(self) -> bool:
        """Whether the part of the forces that depends on velocities does no positive work."""
        if self._local.applied is None:
            return True
        return identities.never_positive(self._power, [self._n, self._n], 1)

    @cached_property
    def takes_nothing(self) -> bool:
        """Whether the part of the forces that depends on velocities does no work at all."""
        return self._local.applied is None or identities.vanishes(self._power, [self._n, self._n])

    @cached_property
    def of_positions(self) -> bool:
        """Whether no applied force depends on velocities."""
        applied = self._local.applied
        return applied is None or identities.vanishes(
            lambda y, w: applied(jnp.zeros(()), y, w) - applied(jnp.zeros(()), y, jnp.zeros_like(y)),
            [self._n, self._n],
        )

    @cached_property
    def without_gyroscopic(self) -> bool:
        """Whether L has no terms linear in the velocities but derivatives by the time, which make no force."""

        def linear(y: Any) -> Any:
            return jax.grad(self._local.lagrangian, argnums=2)(jnp.zeros(()), y, jnp.zeros_like(y))

        return identities.closed(linear, self._n)

    @cached_property
    def smooth(self) -> bool:
        """Whether forces are differentiable at rest, by velocities too: dry friction is not."""
        applied, n = self._local.applied, self._n
        if applied is None:
            return True
        try:
            forces = Expansion(lambda z: applied(jnp.zeros(()), z[:n], z[n:]), 2 * n)
            of, corners = ring(2 * n, 1), set[str]()
            start = of.coordinates(np.concatenate([np.asarray(self._local.origin), np.zeros(n)]))
            sides = np.array([forces.along(start, of, Otherwise(k, 2 * n), corners)[0] for k in (0, -1, -2, -3)])
        except Unsupported:
            return False
        if not corners:
            return True
        size = np.max(np.abs(sides))
        return bool(np.isfinite(size) and np.max(np.abs(sides - sides[0])) <= 1e-6 * size)

    def _power(self, y: Any, w: Any) -> Any:
        applied = self._local.applied
        assert applied is not None
        time = jnp.zeros(())
        return jnp.dot(applied(time, y, w) - applied(time, y, jnp.zeros_like(y)), w)[None]
