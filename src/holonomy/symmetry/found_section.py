r"""A section across the orbits of symmetries that `hl.killing` found, and the flows across it.

Where one coordinate is left, the section is the geodesic of the kinetic metric that begins orthogonal to the fields. It
stays orthogonal to them, since a geodesic has a constant product with a Killing field, so it crosses the orbits as far
as the fields are independent. Otherwise it is a plane in the chart. Along the geodesic and along the flows the fields
are carried as part of the state, so nothing here differentiates an integration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.integrate import integrate
from holonomy.symmetry.transport import Jet, Transport, christoffel, compiled, jacobi, with_rate
from holonomy.systems import System
from holonomy.types import Tree


class Placed(NamedTuple):
    """A point in the chart, the directions of the coordinates u there as columns, and the fields as rows."""

    y: Tree
    frame: Tree
    fields: Tree


@jax.tree_util.register_static
class FoundSection:
    """The section through a point, with directions `frame` there; fields are those of the transport."""

    def __init__(
        self, system: System, transport: Transport, frame: Tree, names: tuple[str, ...], along: tuple[str, ...]
    ) -> None:
        self.system, self.transport, self.frame = system, transport, np.asarray(frame, float)
        self.names, self.along = names, along
        self.local = system.local(jnp.asarray(transport.anchor))
        self._geodesic = with_rate(self._along_geodesic, lambda u, z, du: du * self._geodesic_rate(z))

    def __reduce__(self) -> tuple[Any, ...]:
        return FoundSection, (self.system, self.transport, self.frame, self.names, self.along)

    @property
    def is_geodesic(self) -> bool:
        """Whether the section is a geodesic, else a plane in the chart."""
        return len(self.names) == 1

    def placed(self, u: Tree) -> Placed:
        """The point of the section with coordinates u."""
        n = len(self.transport.origin)
        if not self.is_geodesic:
            y = self.transport.origin + self.frame @ u
            return Placed(y, jnp.asarray(self.frame), self.transport.jets(y).values)
        z = self._geodesic(u[0])
        return Placed(z[:n], z[n : 2 * n, None], z[2 * n : (2 + len(self.along)) * n].reshape(-1, n))

    def line(self, t: Any, u: Any, w: Any) -> Callable[[Any], Any]:
        """The Lagrangian at a state of the section, as a function of the velocities along the fields."""
        y, frame, fields = self.placed(u)
        across = frame @ w
        return lambda speeds: self.local.lagrangian(t, y, across + speeds @ fields)

    def adapted_system(self) -> System:
        """The system in the coordinates (u, s). It has no parameters: the fields belong to the values they have."""
        split = len(self.names)

        def moved(t: Any, z: Any, w: Any) -> Any:
            return self.line(t, z[:split], w[:split])(w[split:])

        return System.from_lagrangian(moved, dict.fromkeys((*self.names, *self.along), "number"))

    def point(self, u: Tree, s: Tree) -> Placed:
        """Where the flows for the times s lead the point with coordinates u, and directions and fields with it.

        All flows together are the flow of one field X, the sum of the fields with the weights s. It carries the
        directions of u as its derivative says, and the fields, which commute with X, too.
        """
        start = self.placed(u)
        n, r = start.frame.shape
        carried = jnp.concatenate([start.frame, start.fields.T], axis=1)

        def rate(_: Tree, z: Tree) -> Tree:
            y, columns, slope = z[:n], z[n : n + n * n].reshape(n, n), z[n + n * n :].reshape(n, n)
            direction = columns[:, r:] @ s
            change = christoffel(self.transport.metric, y, direction, Jet(direction[None], slope[None]))[1]
            return jnp.concatenate([direction, jnp.ravel(slope @ columns), jnp.ravel(change.slopes)])

        first = jnp.concatenate([start.y, jnp.ravel(carried), jnp.ravel(self._slope(u, s))])
        end = integrate(rate, first, loop=True, watched=0, derivatives=False)
        columns = end[n : n + n * n].reshape(n, n)
        return Placed(end[:n], columns[:, :r], columns[:, r:].T)

    def lead_back(self, t: Tree, z: Tree, w: Tree) -> tuple[Tree, Tree, Tree]:
        """States of the full system, and their energies, from rows of adapted ones."""
        return compiled(self._lead_back, t, z, w)

    def newton(self, z: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
        """A step of Newton's method towards the adapted coordinates of q, the velocities of v, and the distance."""
        return compiled(self._newton, z, q, v)

    def _lead_back(self, t: Tree, z: Tree, w: Tree) -> tuple[Tree, Tree, Tree]:
        split = len(self.names)

        def one(state: Tree) -> Tree:
            time, place, speed = state
            y, frame, fields = self.point(place[:split], place[split:])
            q, v = self.local.leave(y, frame @ speed[:split] + speed[split:] @ fields)
            return q, v, self.system.raw_energy(time, q, v)

        return jax.lax.map(one, (t, z, w))

    def _newton(self, z: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
        split = len(self.names)
        target, speed = jax.jvp(self.transport.coordinates, (q,), (v,))
        y, frame, fields = self.point(z[:split], z[split:])
        slope = jnp.concatenate([frame, fields.T], axis=1)
        away = target - y
        return jnp.linalg.solve(slope, away), jnp.linalg.solve(slope, speed), jnp.linalg.norm(away)

    def _slope(self, u: Tree, s: Tree) -> Tree:
        """The derivative of X at the point of the section with coordinates u."""
        if not self.is_geodesic:
            return jnp.tensordot(s, self.transport.jets(self.transport.origin + self.frame @ u).slopes, 1)
        n = len(self.transport.origin)

        def rate(_: Tree, z: Tree) -> Tree:
            y, speed, value, slope = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :].reshape(n, n)
            along, change = christoffel(self.transport.metric, y, speed, Jet(value[None], slope[None]))
            parts = speed, -along @ speed, change.values[0], jnp.ravel(change.slopes)
            return u[0] * jnp.concatenate(parts)

        value, slope = (jnp.tensordot(s, jnp.asarray(part), 1) for part in self.transport.first)
        start = jnp.concatenate([self.transport.origin, self.frame[:, 0], value, jnp.ravel(slope)])
        return integrate(rate, start, loop=True, watched=0, derivatives=False)[3 * n :].reshape(n, n)

    def _along_geodesic(self, u: Tree) -> Tree:
        values, slopes = self.transport.first
        rates = slopes @ self.frame[:, 0]
        start = np.concatenate([self.transport.origin, self.frame[:, 0], values.ravel(), rates.ravel()])
        return integrate(
            lambda _, z: u * self._geodesic_rate(z), jnp.asarray(start), loop=True, watched=0, derivatives=False
        )

    def _geodesic_rate(self, z: Tree) -> Tree:
        """The derivatives of place, direction, fields and their rates by the length along the geodesic."""
        n, k = len(self.transport.origin), len(self.along)
        y, speed, rest = z[:n], z[n : 2 * n], z[2 * n :].reshape(2, k, n)
        bent, twice = jacobi(self.transport.metric, y, speed, rest[0], rest[1])
        return jnp.concatenate([speed, bent, jnp.ravel(rest[1]), jnp.ravel(twice)])
