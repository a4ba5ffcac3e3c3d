r"""A system seen in coordinates around one point of its configuration space.

Every method that needs coordinates works on a `Local`: it enters at the present point, steps, and leaves. Where points
are their own coordinates (R^n, circles, a user's chart) entering and leaving do nothing. Elsewhere the chart
\(y \mapsto x(y)\) with \(x(0)\) the present point carries velocities by \(dx\) and momenta by \((dx^\top)^{-1}\); the
change from one chart to the next is then an exact symplectic map of phase space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems import lagrangian
from holonomy.systems.constraints import conditions, kkt, sparse
from holonomy.systems.dense_solve import solve
from holonomy.systems.lagrangian import Force, Solves
from holonomy.systems.mass_structure import MassStructure
from holonomy.trace.some_rows import some_rows
from holonomy.types import Covector, Number, Point, Scalar, Tangent, Vector

if TYPE_CHECKING:
    from holonomy.systems.system import System


class Local(eqx.Module):
    """A system in the chart at `anchor`; coordinates y, velocities w, momenta as covectors of y."""

    system: System
    anchor: Point

    @property
    def definite(self) -> bool:
        """Whether the mass matrix is known to be positive definite."""
        return self.system.definite

    @property
    def structure(self) -> MassStructure | None:
        """The structure of the mass matrix that solves use, or None to factor it whole."""
        return self.system.mass

    def solves(self, t: Number, y: Vector) -> Solves:
        """What the mass matrix at (t, y) is solved with: the system's own way, its structure, or None for whole."""
        inverse = self.system.inverse
        if inverse is None or self.system.constraints:
            return self.structure
        return lambda r: inverse(t, y, r, *self.system.last)

    @property
    def origin(self) -> Vector:
        """The coordinates of the anchor."""
        return self.anchor if self.system.flat else jnp.zeros(self.system.space.dim, self.anchor.dtype)

    def point(self, y: Vector) -> Point:
        """The configuration with coordinates y."""
        if self.system.flat:
            return y
        return self.system.space.chart(self.anchor, y)

    def lagrangian(self, t: Number, y: Vector, w: Vector) -> Scalar:
        """L in these coordinates."""
        x, v = self.leave(y, w)
        return self.system.raw_lagrangian(t, x, v)

    @property
    def applied(self) -> Force | None:
        """Generalised forces as a covector of y, or None when there are none."""
        if not self.system.forces:
            return None

        def covector(t: Any, y: Any, w: Any) -> Any:
            x, v = self.leave(y, w)
            ambient = self.system.raw_force(t, x, v)
            return ambient if self.system.flat else self._pull(y, ambient)

        return covector

    @property
    def force(self) -> Force | None:
        """Applied forces and those of the constraints, as a covector of y; None when there are neither."""
        applied = self.applied
        given = self.system.constraints
        if given.touch is None and not given.equations.total:
            return applied

        def covector(t: Any, y: Any, w: Any) -> Any:
            held = self.hold(t, y, w)
            assert held is not None
            multipliers = kkt.accelerate(self, held, t, y, w)[1]
            if sparse.structures(self) is None:
                total = held.normals(t, y).T @ multipliers
            else:
                total = sparse.normals(held, t, y).pull(multipliers)
            return total if applied is None else total + applied(t, y, w)

        return covector

    def acceleration(self, t: Number, y: Vector, w: Vector) -> Vector:
        """The second derivative of y along the motion."""
        held = self.hold(t, y, w)
        if held is not None:
            return kkt.accelerate(self, held, t, y, w)[0]
        if self.system.direct is not None:
            return self.system.direct(t, y, w, *self.system.last)
        force, solves = self.applied, self.solves(t, y)
        return lagrangian.acceleration(self.lagrangian, force, t, y, w, self.definite, solves)

    def hold(self, t: Number, y: Vector, w: Vector) -> conditions.Held | None:
        """The constraints to hold from this state on, or None when there are none."""
        return conditions.hold(self, t, y, w)

    def holonomic(self, t: Number, y: Vector) -> Float[Array, " holonomic"]:
        """All holonomic conditions, zero where they hold."""
        given = self.system.constraints.equations
        return _joined([f(t, self.point(y), *self.system.last) for f in given.holonomic], y.dtype)

    def rates(self, t: Number, y: Vector, w: Vector) -> Float[Array, " conditions"]:
        """How fast the holonomic conditions change, then the velocity conditions; zero where they hold."""
        given = self.system.constraints.equations
        parts = []
        if given.holonomic:
            parts.append(jax.jvp(self.holonomic, (t, y), (jnp.ones_like(t), w))[1])
        if given.velocity:
            x, v = self.leave(y, w)
            parts += [f(t, x, v, *self.system.last) for f in given.velocity]
        return _joined(parts, y.dtype)

    def gaps(self, t: Number, y: Vector) -> Float[Array, " walls"]:
        """How far the unilateral constraints that are looked at are from contact."""
        given = self.system.constraints.walls
        return self._of_walls(given.unilateral, (t, self.point(y), *self.system.last))

    def all_gaps(self, t: Number, y: Vector) -> Float[Array, " walls"]:
        """How far all unilateral constraints are from contact."""
        given = self.system.constraints.walls
        return _joined([f(t, self.point(y), *self.system.last) for f in given.unilateral], y.dtype)

    def wall_rates(self, t: Number, y: Vector, w: Vector) -> Float[Array, " walls"]:
        """How fast the gaps change, then the conditions on velocities that only push."""
        given = self.system.constraints.walls
        parts = [jax.jvp(self.gaps, (t, y), (jnp.ones_like(t), w))[1]] if given.unilateral else []
        if given.ratchets:
            x, v = self.leave(y, w)
            parts += [f(t, x, v, *self.system.last) for f in given.ratchets]
        return _joined(parts, y.dtype)

    def slips(self, t: Number, y: Vector, w: Vector) -> Float[Array, "walls e"]:
        """The tangential velocities of the unilateral constraints, one row for each."""
        x, v = self.leave(y, w)
        return self._of_walls(self.system.constraints.walls.friction.slips, (t, x, v, *self.system.last))

    def _of_walls(self, functions: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """The values of functions of all walls, one row for each that is looked at."""
        near = self.system.constraints.near
        if near is None:
            return _joined([f(*args) for f in functions], self.anchor.dtype)
        rows, first = None, 0
        for function in functions:
            count = jax.eval_shape(function, *args).shape[0]
            part = some_rows(function, args, jnp.clip(near - first, 0, count - 1))
            here = (near >= first).reshape((-1,) + (1,) * (part.ndim - 1))
            rows = part if rows is None else jnp.where(here, part, rows)
            first += count
        return rows

    def enter(self, v: Tangent) -> tuple[Vector, Vector]:
        """Coordinates and velocity of the anchor moving with the ambient velocity v."""
        if self.system.flat:
            return self.anchor, v
        return self.origin, self._least_squares(self.origin, v)

    def leave(self, y: Vector, w: Vector) -> tuple[Point, Tangent]:
        """The point and ambient velocity of a state in coordinates."""
        if self.system.flat:
            return y, w
        return jax.jvp(self.point, (y,), (w,))

    def enter_momentum(self, p: Covector) -> Vector:
        """An ambient covector as a covector of the coordinates."""
        if self.system.flat:
            return p
        return self._pull(self.origin, p)

    def leave_momentum(self, y: Vector, p: Vector) -> Covector:
        """The ambient covector, tangent to the space, that restricts to p at y."""
        if self.system.flat:
            return p
        frame = jax.jacfwd(self.point)(y)
        return frame @ solve(frame.T @ frame, p, definite=True)

    def _pull(self, y: Any, covector: Any) -> Any:
        return jax.vjp(self.point, y)[1](covector)[0]

    def _least_squares(self, y: Any, v: Any) -> Any:
        frame = jax.jacfwd(self.point)(y)
        return solve(frame.T @ frame, frame.T @ v, definite=True)


def _joined(parts: list[Any], dtype: Any) -> Any:
    if not parts:
        return jnp.zeros(0, dtype)
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)
