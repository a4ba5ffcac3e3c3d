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

from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from holonomy.systems import lagrangian
from holonomy.systems.dense_solve import back_substitute, factor, solve
from holonomy.trace.function import Function

if TYPE_CHECKING:
    from holonomy.systems.in_chart import Local

Vector = Float[Array, " n"]
Matrix = Float[Array, "r n"]


class Constraints(eqx.Module):
    """Holonomic and velocity constraints in the order in which they were given, then walls.

    `counts` are how many holonomic and velocity conditions there are; `ranks` how many of them are independent where
    that is fewer, else None. `walls` are how many unilateral conditions there are and how many on velocities;
    `restitution` has one number for each, `law` says what several impacts at once do. `active` walls are in contact;
    None where no motion is under way. `as_rates` holds walls in contact by their rates alone, for methods that keep
    no conditions on positions. `passes` lets steps go on through positions where the normals are dependent.

    With `friction`, a coefficient for each unilateral condition, `slips` are their tangential velocities, `slip`
    numbers for each. Contacts are `sticking`, which holds their slips at zero, or slide along `direction`.

    Where there are many walls, `near` are the numbers of the `window` unilateral conditions that are looked at together
    (`contact.many_walls`); `active`, `sticking` and `direction` belong to these.
    """

    holonomic: tuple[Function, ...]
    velocity: tuple[Function, ...]
    counts: tuple[int, int] = eqx.field(static=True)
    ranks: tuple[int, int] | None = eqx.field(static=True)
    unilateral: tuple[Function, ...] = ()
    ratchets: tuple[Function, ...] = ()
    restitution: Any = None
    active: Any = None
    walls: tuple[int, int] = eqx.field(static=True, default=(0, 0))
    law: str = eqx.field(static=True, default="generalised")
    as_rates: bool = eqx.field(static=True, default=False)
    passes: bool = eqx.field(static=True, default=False)
    friction: Any = None
    slips: tuple[Function, ...] = ()
    sticking: Any = None
    direction: Any = None
    slip: int = eqx.field(static=True, default=0)
    near: Any = None
    window: int = eqx.field(static=True, default=0)

    @property
    def facing(self) -> tuple[int, int]:
        """How many unilateral conditions are looked at together, and how many on velocities."""
        c, r = self.walls
        return (c if self.near is None else self.near.shape[0]), r

    def of_near(self, values: Any) -> Any:
        """Of values for each unilateral condition those of the ones that are looked at."""
        return values if self.near is None else jnp.asarray(values).at[self.near].get(mode="promise_in_bounds")

    def everywhere(self, values: Any) -> Any:
        """Values for each unilateral condition, zero or False where it is not looked at."""
        if self.near is None:
            return values
        blank = jnp.zeros((self.walls[0], *values.shape[1:]), values.dtype)
        return blank.at[self.near].set(values, mode="promise_in_bounds", unique_indices=True)

    @property
    def held_walls(self) -> Array:
        """Which rows of walls are held: those in contact, then the slips of those that stick."""
        if not self.slip:
            return self.active
        return jnp.concatenate([self.active, jnp.repeat(self.active[: self.facing[0]] & self.sticking, self.slip)])

    @property
    def bilateral(self) -> int:
        """How many conditions are equations."""
        return sum(self.counts)


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
        r = r + c * given.slip
        return (m, k + c + r) if given.as_rates else (m + c, k + r)

    @property
    def _given(self) -> Constraints:
        given = self.local.system.constraints
        assert given is not None
        return given

    @property
    def passes(self) -> bool:
        """Whether a step may go on through positions where the normals are dependent."""
        return self._given.passes

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
        if given.as_rates:
            return jnp.concatenate([equations, walls])
        c = given.facing[0]
        return jnp.concatenate([equations[:m], walls[:c], equations[m:], walls[c:]])

    def apart(self, rows: Array) -> tuple[Array, Array]:
        """Rows in the order in which they are held, as those of equations and those of walls."""
        if not self.walls:
            return rows, rows[:0]
        given, (m, k) = self._given, self.equations
        if given.as_rates:
            return rows[: m + k], rows[m + k :]
        c = given.facing[0]
        ends = (m, m + c, m + c + k)
        return (
            jnp.concatenate([rows[: ends[0]], rows[ends[1] : ends[2]]]),
            jnp.concatenate([rows[ends[0] : ends[1]], rows[ends[2] :]]),
        )

    def position(self, t: Any, y: Vector) -> Array:
        r"""\(\varphi(t, y)\), and \(\sigma(t, y)\) of the walls in contact."""
        every = self.local.holonomic(t, y)
        rows = every if self.pick is None else every[self.pick[: self.equations[0]]]
        given = self.local.system.constraints
        if not self.walls or given is None or given.as_rates:
            return rows
        gaps = jnp.where(given.active[: given.facing[0]], self.local.gaps(t, y), 0.0)
        return jnp.concatenate([rows, gaps])

    def rates(self, t: Any, y: Vector, w: Vector) -> Array:
        r"""\(r(t, y, w)\), of positions first; zero along every motion that keeps the constraints."""
        every = self.local.rates(t, y, w)
        rows = every if self.pick is None else every[self.pick]
        if not self.walls:
            return rows
        facing = self.local.wall_rates(t, y, w)
        if self._given.slip:
            facing = jnp.concatenate([facing, self.local.slips(t, y, w).reshape(-1)])
        return self._in_order(rows, jnp.where(self._given.held_walls, facing, 0.0))

    def pulls(self, t: Any, y: Vector, w: Vector) -> Matrix | None:
        r"""The directions along which multipliers act where they are not the normals: friction turns those of contacts
        that slide by \(-\mu\) times the gradient of the slip in its direction."""
        given = self._given
        if not self.walls or not given.slip:
            return None
        c, r = given.facing
        slopes = jax.jacfwd(lambda u: self.local.slips(t, y, u))(w)
        slides = given.active[:c] & ~given.sticking
        along = jnp.where(slides[:, None], given.of_near(given.friction)[:, None] * self.sliding(t, y, w), 0.0)
        turn = jnp.concatenate(
            [-jnp.einsum("cd,cdn->cn", along, slopes), jnp.zeros((r + c * given.slip, y.size), y.dtype)]
        )
        m, k = self.equations
        rows = [self._in_order(jnp.zeros(m + k, y.dtype), turn[:, j]) for j in range(y.size)]
        return self.normals(t, y) + jnp.stack(rows, axis=1)

    def sliding(self, t: Any, y: Vector, w: Vector) -> Array:
        """Where contacts slide to. What is kept of it serves as the slip passes through zero within a step."""
        given = self._given
        if given.slip == 1:
            return given.direction
        slips = self.local.slips(t, y, w)
        goes_on = jnp.sum(slips * given.direction, axis=1) > 0
        square = jnp.where(goes_on, jnp.sum(slips**2, axis=1), 1.0)
        return jnp.where(goes_on[:, None], slips / jnp.sqrt(square)[:, None], given.direction)

    def gradient(self, t: Any, y: Vector) -> Matrix:
        r"""\(\partial\varphi/\partial y\)."""
        return jax.jacrev(lambda x: self.position(t, x))(y)

    def normals(self, t: Any, y: Vector) -> Matrix:
        r"""\(N = \partial r/\partial w\); r is affine in w, so it does not matter at which w."""
        parts = [self.gradient(t, y)] if self.counts[0] else []
        if self.counts[1]:
            parts.append(jax.jacrev(lambda u: self.rates(t, y, u)[self.counts[0] :])(jnp.zeros_like(y)))
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts)

    def bias(self, t: Any, y: Vector, w: Vector) -> Array:
        r"""\(\dot r\) along the motion without its part linear in the acceleration."""
        return jax.jvp(lambda s, x: self.rates(s, x, w), (t, y), (jnp.ones_like(t), w))[1]

    @property
    def count(self) -> int:
        """How many conditions are held."""
        return sum(self.counts)


def hold(local: Local, t: Any, y: Vector, w: Vector) -> Held | None:
    """The conditions to hold from a state on, None where there are no constraints."""
    constraints = local.system.constraints
    if constraints is None:
        return None
    walls = constraints.active is not None
    if constraints.ranks is None:
        return Held(local, None, constraints.counts, walls) if walls or constraints.bilateral else None
    normals = Held(local, None, constraints.counts).normals(t, y)
    weight = lagrangian.mass_matrix(local.lagrangian, t, y, w) if local.definite else jnp.eye(y.size, dtype=y.dtype)
    mass = factor(weight, definite=True)
    across = normals @ jax.vmap(lambda row: back_substitute(mass, row))(normals).T
    return Held(local, independent(across, constraints.counts, constraints.ranks), constraints.ranks, walls)


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


# ── The linear system of mass and constraints ─────────────────────────────────────────────────────────


class Bordered(NamedTuple):
    r"""A factorisation of \(\begin{pmatrix} M & -N^\top \\ N & 0\end{pmatrix}\)."""

    mass: Any
    across: Any
    schur: Any
    normals: Any


def border(
    mass: Float[Array, "n n"], normals: Matrix, definite: bool, idle: Array | None = None, pulls: Matrix | None = None
) -> Bordered:
    r"""Factor the system of mass and constraints; `definite` promises a positive definite mass matrix.

    With `idle` rows, \(\operatorname{diag}(\mathrm{idle})\) stands in place of the zero: an idle row is zero, and
    its multiplier is the row's right-hand side. With `pulls`, multipliers act along these rather than along normals.
    """
    pulls, symmetric = (normals, True) if pulls is None else (pulls, False)
    if definite:
        factored = factor(mass, definite=True)
        across = jax.vmap(lambda row: back_substitute(factored, row))(pulls).T
        return Bordered(factored, across, factor(with_idle(normals @ across, idle), definite=symmetric), normals)
    r = normals.shape[0]
    whole = jnp.concatenate(
        [
            jnp.concatenate([mass, -pulls.T], axis=1),
            jnp.concatenate([normals, with_idle(jnp.zeros((r, r), mass.dtype), idle)], axis=1),
        ]
    )
    return Bordered(factor(whole, definite=False), None, None, normals)


def with_idle(matrix: Float[Array, "r r"], idle: Array | None) -> Float[Array, "r r"]:
    """A matrix of multipliers with the equations of idle rows."""
    return matrix if idle is None else matrix + jnp.diag(idle)


def bordered_solve(bordered: Bordered, force: Vector, rate: Array) -> tuple[Vector, Array]:
    r"""x and \(\mu\) with \(Mx - N^\top\mu = f\) and \(Nx = r\)."""
    if bordered.schur is None:
        both = back_substitute(bordered.mass, jnp.concatenate([force, rate]))
        return both[: force.size], both[force.size :]
    free = back_substitute(bordered.mass, force)
    multipliers = back_substitute(bordered.schur, rate - bordered.normals @ free)
    return free + bordered.across @ multipliers, multipliers


def accelerate(local: Local, held: Held, t: Any, y: Vector, w: Vector) -> tuple[Vector, Array]:
    """Accelerations and the multipliers of the held conditions."""
    force = lagrangian.inertial_force(local.lagrangian, t, y, w)
    if local.applied is not None:
        force = force + local.applied(t, y, w)
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    bordered = border(mass, held.normals(t, y), local.definite, held.idle, held.pulls(t, y, w))
    return bordered_solve(bordered, force, -held.bias(t, y, w))


def multipliers(local: Local, t: Any, y: Vector, w: Vector) -> Array:
    """The multipliers of all conditions, walls last; of least norm where they are not unique."""
    held = hold(local, t, y, w)
    assert held is not None
    return with_sliding(held, t, y, w, spread(local, held, t, y, accelerate(local, held, t, y, w)[1]))


def spread(local: Local, held: Held, t: Any, y: Vector, values: Array) -> Array:
    r"""Multipliers of all conditions, of least norm, that give the same force as those of the held ones.

    With all normals a combination \(N = B N_h\) of the held ones, \(\lambda = B(B^\top B)^{-1}\lambda_h\).
    """
    values, pushes = held.apart(values)
    if held.pick is None:
        return jnp.concatenate([values, pushes]) if held.walls else values
    constraints = local.system.constraints
    assert constraints is not None
    few = Held(local, held.pick, held.equations).normals(t, y)
    every = Held(local, None, constraints.counts).normals(t, y)
    gram = factor(few @ few.T, definite=True)
    combination = jax.vmap(lambda row: back_substitute(gram, few @ row))(every)
    least = combination @ solve(combination.T @ combination, values, definite=True)
    return jnp.concatenate([least, pushes]) if held.walls else least


def with_sliding(held: Held, t: Any, y: Vector, w: Vector, values: Array) -> Array:
    """Multipliers of all conditions, the tangential forces of contacts that slide filled in."""
    given = held.local.system.constraints
    assert given is not None
    if not held.walls or not given.slip:
        return values
    c = given.facing[0]
    equations, pushes, kept = jnp.split(values, [given.bilateral, given.bilateral + c])
    rubbed = -(given.of_near(given.friction) * pushes)[:, None] * held.sliding(t, y, w)
    forces = jnp.where(given.sticking[:, None], kept.reshape(c, given.slip), rubbed)
    return jnp.concatenate([equations, pushes, forces.reshape(-1)])


def of_all_walls(given: Constraints, values: Array) -> Array:
    """Multipliers of all conditions, where those of many walls are only known of the ones that are looked at."""
    if given.near is None:
        return values
    m, (c, r) = given.bilateral, given.facing
    equations, pushes, ratchets, rubbed = jnp.split(values, [m, m + c, m + c + r])
    parts = [equations, given.everywhere(pushes), ratchets]
    if given.slip:
        parts.append(given.everywhere(rubbed.reshape(c, given.slip)).reshape(-1))
    return jnp.concatenate(parts)
