r"""Constraints: conditions on positions and on velocities, and the forces that keep them.

Holonomic \(\varphi(t,q) = 0\) and velocity constraints \(a(t,q,v) = 0\), affine in v, act alike on velocities: with
\(r(t,q,v) = (\partial_t\varphi + \partial_q\varphi\,v,\; a)\) and \(N = \partial r/\partial v\) the motion solves

\[ M \dot v = f + N^\top\lambda, \qquad N\dot v + \dot r|_{\dot v = 0} = 0. \]

Where some conditions follow from the others, as many as are independent are held and the multipliers are those of
least norm among all that give the same force.

Walls are conditions that only push: unilateral \(\sigma(t,q) \ge 0\), and \(a(t,q,v) \ge 0\), affine in v. Which
are in contact is data, not structure: the row of a wall that is not is zero, and its multiplier's own equation is
\(\lambda = 0\), so that one program serves all sets of contacts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems import lagrangian
from holonomy.systems.dense_solve import back_substitute, factor
from holonomy.trace.function import Function
from holonomy.types import AnyArray, Number, Vector

if TYPE_CHECKING:
    from holonomy.systems.in_chart import Local

Normals: TypeAlias = Float[Array, "r n"]
Law = Literal["generalised", "joint", "pairwise"]
LAWS: tuple[Law, ...] = get_args(Law)
# One number for each unilateral condition. Without any it is no array, which would be one more leaf of every system.
PerWall: TypeAlias = Float[AnyArray, " c"] | tuple[()]


class Equations(eqx.Module):
    """Holonomic and velocity conditions, in the order in which they were given.

    `counts` are how many conditions there are of each kind; `ranks` how many of them are independent where that is
    fewer, else None.
    """

    holonomic: tuple[Function, ...] = ()
    velocity: tuple[Function, ...] = ()
    counts: tuple[int, int] = eqx.field(static=True, default=(0, 0))
    ranks: tuple[int, int] | None = eqx.field(static=True, default=None)

    @property
    def total(self) -> int:
        """How many conditions there are."""
        return sum(self.counts)


class Friction(eqx.Module):
    """Coulomb friction at the unilateral conditions; none where `dim` is zero.

    `coefficients` has one number for each unilateral condition; `slips` are their tangential velocities, `dim` numbers
    for each.
    """

    coefficients: PerWall = ()
    slips: tuple[Function, ...] = ()
    dim: int = eqx.field(static=True, default=0)


class Walls(eqx.Module):
    """Conditions that only push: `unilateral` ones on positions, then `ratchets` on velocities.

    `counts` are how many conditions there are of each kind. `restitution` has one number for each unilateral one; `law`
    says what several impacts at once do. `sizes` are the lengths in units of which the gaps of the first ones are
    judged, those of balls; for others it is the size of positions. Where there are many unilateral conditions, `window`
    of them are looked at together (`contact.many_walls`); zero stands for all.
    """

    unilateral: tuple[Function, ...] = ()
    ratchets: tuple[Function, ...] = ()
    restitution: PerWall = ()
    sizes: PerWall = ()
    friction: Friction = Friction()
    counts: tuple[int, int] = eqx.field(static=True, default=(0, 0))
    law: Law = eqx.field(static=True, default="generalised")
    window: int = eqx.field(static=True, default=0)

    @property
    def total(self) -> int:
        """How many conditions there are."""
        return sum(self.counts)


class Touch(NamedTuple):
    """The state of contact: which walls are active; with friction, which contacts stick and where others slide to.

    Where there are many walls, `near` are the numbers of those that this is said of.
    """

    active: Bool[AnyArray, " walls"]
    sticking: Bool[AnyArray, " c"] | None = None
    direction: Float[AnyArray, "c e"] | None = None
    near: Int[AnyArray, " c"] | None = None


class Treatment(eqx.Module):
    """How a method treats constraints.

    `as_rates` holds walls in contact by their rates alone, for methods that keep no conditions on positions. `passes`
    lets steps go on through positions where the normals are dependent.
    """

    as_rates: bool = eqx.field(static=True, default=False)
    passes: bool = eqx.field(static=True, default=False)


class Constraints(eqx.Module):
    """The constraints of a system: equations, then walls, and how a method treats them; false where there are none.

    `touch` is the state of contact, None where no motion is under way. Where there are many walls, `near` are the
    numbers of the unilateral ones that are looked at; None stands for all.
    """

    equations: Equations = Equations()
    walls: Walls = Walls()
    touch: Touch | None = None
    near: Int[AnyArray, " c"] | None = None
    treatment: Treatment = Treatment()

    def __bool__(self) -> bool:
        return bool(self.equations.total or self.walls.total)

    @property
    def facing(self) -> tuple[int, int]:
        """How many unilateral conditions are looked at together, and how many on velocities."""
        c, r = self.walls.counts
        return (c if self.near is None else self.near.shape[0]), r

    def of_near(self, values: AnyArray | tuple[()]) -> Array:
        """Of values for each unilateral condition those of the ones that are looked at."""
        every = jnp.asarray(values)
        return every if self.near is None else every.at[self.near].get(mode="promise_in_bounds")

    def everywhere(self, values: AnyArray) -> AnyArray:
        """Values for each unilateral condition, zero or False where it is not looked at."""
        if self.near is None:
            return values
        blank = jnp.zeros((self.walls.counts[0], *values.shape[1:]), values.dtype)
        return blank.at[self.near].set(values, mode="promise_in_bounds", unique_indices=True)

    @property
    def held_walls(self) -> Bool[Array, " rows"]:
        """Which rows of walls are held along a motion: those in contact, then the slips of those that stick."""
        assert self.touch is not None
        active, sticking, _, _ = self.touch
        if sticking is None:
            return jnp.asarray(active)
        held = jnp.repeat(active[: self.facing[0]] & sticking, self.walls.friction.dim)
        return jnp.concatenate([active, held])


class Held(eqx.Module):
    """The conditions that a step holds: all of them, or independent ones where some are redundant.

    With `walls`, those in contact too: after the holonomic conditions if they are held as positions, and after the
    velocity conditions otherwise; conditions on velocities come last.
    """

    local: Local
    pick: Int[Array, " r"] | None
    equations: tuple[int, int] = eqx.field(static=True)
    walls: bool = eqx.field(static=True, default=False)

    @property
    def counts(self) -> tuple[int, int]:
        """How many conditions on positions and how many on velocities are held."""
        m, k = self.equations
        if not self.walls:
            return m, k
        given = self._given
        c, r = given.facing
        r = r + c * given.walls.friction.dim
        return (m, k + c + r) if given.treatment.as_rates else (m + c, k + r)

    @property
    def _given(self) -> Constraints:
        return self.local.system.constraints

    @property
    def passes(self) -> bool:
        """Whether a step may go on through positions where the normals are dependent."""
        return self._given.treatment.passes

    @property
    def idle(self) -> Array | None:
        """One for each wall that is not in contact, zero for the other conditions; None where there are no walls."""
        if not self.walls:
            return None
        given = self._given
        m, k = self.equations
        away = 1.0 - given.held_walls.astype(self.local.anchor.dtype)
        return self._in_order(jnp.zeros(m + k, away.dtype), away)

    def _in_order(self, equations: Array, walls: Array) -> Array:
        """Rows of equations and of walls in the order in which they are held."""
        given, m = self._given, self.equations[0]
        if given.treatment.as_rates:
            return jnp.concatenate([equations, walls])
        c = given.facing[0]
        return jnp.concatenate([equations[:m], walls[:c], equations[m:], walls[c:]])

    def apart(self, rows: Array) -> tuple[Array, Array]:
        """Rows in the order in which they are held, as those of equations and those of walls."""
        if not self.walls:
            return rows, rows[:0]
        given, (m, k) = self._given, self.equations
        if given.treatment.as_rates:
            return rows[: m + k], rows[m + k :]
        c = given.facing[0]
        ends = (m, m + c, m + c + k)
        return (
            jnp.concatenate([rows[: ends[0]], rows[ends[1] : ends[2]]]),
            jnp.concatenate([rows[ends[0] : ends[1]], rows[ends[2] :]]),
        )

    def position(self, t: Number, y: Vector) -> Array:
        r"""\(\varphi(t, y)\), and \(\sigma(t, y)\) of the walls in contact."""
        every = self.local.holonomic(t, y)
        rows = every if self.pick is None else every[self.pick[: self.equations[0]]]
        given = self._given
        if not self.walls or given.treatment.as_rates:
            return rows
        gaps = jnp.where(given.held_walls[: given.facing[0]], self.local.gaps(t, y), 0.0)
        return jnp.concatenate([rows, gaps])

    def rates(self, t: Number, y: Vector, w: Vector) -> Array:
        r"""\(r(t, y, w)\), of positions first; zero along every motion that keeps the constraints."""
        every = self.local.rates(t, y, w)
        rows = every if self.pick is None else every[self.pick]
        if not self.walls:
            return rows
        facing = self.local.wall_rates(t, y, w)
        if self._given.walls.friction.dim:
            facing = jnp.concatenate([facing, self.local.slips(t, y, w).reshape(-1)])
        return self._in_order(rows, jnp.where(self._given.held_walls, facing, 0.0))

    def pulls(self, t: Number, y: Vector, w: Vector) -> Normals | None:
        r"""The directions along which multipliers act where they are not the normals: friction turns those of contacts
        that slide by \(-\mu\) times the gradient of the slip in its direction."""
        given, friction = self._given, self._given.walls.friction
        touch = given.touch
        if not self.walls or touch is None or touch.sticking is None:
            return None
        c, r = given.facing
        slopes = jax.jacfwd(lambda u: self.local.slips(t, y, u))(w)
        slides = touch.active[:c] & ~touch.sticking
        factors = given.of_near(friction.coefficients)[:, None] * self.sliding(t, y, w)
        along = jnp.where(slides[:, None], factors, 0.0)
        turn = jnp.concatenate(
            [-jnp.einsum("cd,cdn->cn", along, slopes), jnp.zeros((r + c * friction.dim, y.size), y.dtype)]
        )
        m, k = self.equations
        rows = [self._in_order(jnp.zeros(m + k, y.dtype), turn[:, j]) for j in range(y.size)]
        return self.normals(t, y) + jnp.stack(rows, axis=1)

    def sliding(self, t: Number, y: Vector, w: Vector) -> Array:
        """Where contacts slide to. What is kept of it serves as the slip passes through zero within a step."""
        touch = self._given.touch
        assert touch is not None
        assert touch.direction is not None
        direction = touch.direction
        if direction.shape[1] == 1:
            return jnp.asarray(direction)
        slips = self.local.slips(t, y, w)
        goes_on = jnp.sum(slips * direction, axis=1) > 0
        square = jnp.where(goes_on, jnp.sum(slips**2, axis=1), 1.0)
        return jnp.where(goes_on[:, None], slips / jnp.sqrt(square)[:, None], direction)

    def gradient(self, t: Number, y: Vector) -> Normals:
        r"""\(\partial\varphi/\partial y\)."""
        return jax.jacrev(lambda x: self.position(t, x))(y)

    def normals(self, t: Number, y: Vector) -> Normals:
        r"""\(N = \partial r/\partial w\); r is affine in w, so it does not matter at which w."""
        parts = [self.gradient(t, y)] if self.counts[0] else []
        if self.counts[1]:
            parts.append(jax.jacrev(lambda u: self.rates(t, y, u)[self.counts[0] :])(jnp.zeros_like(y)))
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts)

    def bias(self, t: Number, y: Vector, w: Vector) -> Array:
        r"""\(\dot r\) along the motion without its part linear in the acceleration."""
        return jax.jvp(lambda s, x: self.rates(s, x, w), (t, y), (jnp.ones_like(t), w))[1]

    @property
    def count(self) -> int:
        """How many conditions are held."""
        return sum(self.counts)


def all_equations(local: Local) -> Held:
    """All equations of a system, without its walls."""
    return Held(local, None, local.system.constraints.equations.counts)


def hold(local: Local, t: Number, y: Vector, w: Vector) -> Held | None:
    """The conditions to hold from a state on, None where there are none."""
    given = local.system.constraints
    walls, counts, ranks = given.touch is not None, given.equations.counts, given.equations.ranks
    if ranks is None:
        return Held(local, None, counts, walls) if walls or given.equations.total else None
    normals = all_equations(local).normals(t, y)
    weight = lagrangian.mass_matrix(local.lagrangian, t, y, w) if local.definite else jnp.eye(y.size, dtype=y.dtype)
    mass = factor(weight, definite=True)
    across = normals @ jax.vmap(lambda row: back_substitute(mass, row))(normals).T
    return Held(local, independent(across, counts, ranks), ranks, walls)


def independent(gram: Float[Array, "m m"], counts: tuple[int, int], ranks: tuple[int, int]) -> Int[Array, " r"]:
    """Rows that span the others, by Cholesky's elimination with the largest pivot; holonomic rows are taken first."""
    total = gram.shape[0]
    is_holonomic = jnp.arange(total) < counts[0]
    left = jax.lax.stop_gradient(gram)
    free = jnp.ones(total, bool)
    chosen = []
    for step in range(sum(ranks)):
        allowed = free & (is_holonomic if step < ranks[0] else ~is_holonomic)
        pivot = jnp.argmax(jnp.where(allowed, jnp.diagonal(left), -jnp.inf))
        column = left[:, pivot]
        left = left - jnp.outer(column, column) / column[pivot]
        free = free & (jnp.arange(total) != pivot)
        chosen.append(pivot)
    return jnp.stack(chosen)
