"""The compiled loops: one for the host to drive in chunks, one to be traced by a user's jit, vmap or grad."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.motion.methods.base import AbstractMethod, Status, keep_if
from holonomy.motion.methods.geodesic_state import GeodesicState
from holonomy.motion.methods.rattle_geodesic import pulled_by_sizes, sizes_violated
from holonomy.motion.save_times import Plan
from holonomy.systems import System, World
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.conditions import Held, all_equations
from holonomy.systems.constraints.kkt import of_all_walls
from holonomy.systems.constraints.tolerance import close
from holonomy.systems.in_chart import Local
from holonomy.systems.quantities import pull_and_momentum
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray, AnyCount, Count, Number, Point, State, Tangent, Tree, Vector, Whole

LARGE = 128  # coordinates above which looking at every state for what is not finite costs as much as moving it
TOGETHER = 32  # steps of large systems that are looked at together
REMEMBERED = 256  # steps of a traced run above which reverse mode does some again rather than remember all


class Snapshot(NamedTuple):
    r"""What is saved at a time; `pull` is \(\partial L/\partial q\), whose zeros tell cyclic coordinates.

    With constraints, `pull` also counts how these act on each coordinate, and `violation` is the largest
    \(|\varphi|\) and the largest rate or velocity constraint; without, it and `multipliers` are None.
    """

    q: Float[AnyArray, "*rows point"]
    v: Float[AnyArray, "*rows point"]
    energy: Float[AnyArray, "*rows"]
    momentum: Float[AnyArray, "*rows point"]
    pull: Float[AnyArray, "*rows point"]
    multipliers: Float[AnyArray, "*rows conditions"] | None = None
    violation: Float[AnyArray, "*rows 2"] | None = None

    def columns(self) -> dict[str, AnyArray]:
        """The fields by name; multipliers without columns, and no violations, where there are no constraints."""
        fields = self._asdict()
        if self.multipliers is None:
            rows = self.energy.shape
            array = np if isinstance(self.energy, np.ndarray) else jnp
            fields |= {"multipliers": array.zeros((*rows, 0)), "violation": array.zeros((*rows, 2))}
        return fields


class Progress(NamedTuple):
    """Where a loop is: the method's state, whole steps done, the code so far, iterations in all and at most a step."""

    state: State
    index: AnyCount  # pyright: ignore[reportIncompatibleMethodOverride]
    code: AnyCount
    work: AnyCount
    worst: AnyCount


def begin(system: System, method: AbstractMethod, t: Number, q: Point, v: Tangent) -> Progress:
    """The loop's state at an initial condition."""
    return Progress(
        method.start(system, jnp.asarray(t, q.dtype), q, v),
        jnp.int64(0),
        jnp.int32(Code.ok),
        jnp.int64(0),
        jnp.int32(0),
    )


def advance(system: Tree, method: AbstractMethod, t0: Number, dt: Number, now: Progress) -> Progress:
    """One step, or nothing once a step has failed; a failed step leaves the last good state.

    The system is whatever the method moves: the studio's methods of their own move others than a `System`.
    """
    new, status = _step(system, method, t0 + now.index * dt, dt, now.state)
    code = _judge(new, status)
    good = (now.code == Code.ok) & (code == Code.ok)
    return Progress(
        keep_if(good, new, now.state),
        now.index + good.astype(now.index.dtype),
        jnp.where(now.code == Code.ok, code, now.code),
        now.work + status.work.astype(now.work.dtype),
        jnp.maximum(now.worst, status.work),
    )


def _step(system: Tree, method: AbstractMethod, t: Any, h: Any, state: Any) -> tuple[Any, Status]:
    """The method's step in the precision of its state; the clock itself always runs in double."""
    real = _real(state)
    return method.step(system, jnp.asarray(t, real), jnp.asarray(h, real), state)


def _steps(
    system: System, method: AbstractMethod, t0: Any, index: Any, dt: Any, h: Any, state: Any, count: Any
) -> tuple[Any, Status, Count]:
    """Steps of length h from the one with this number on, to the first that fails; the status is that of all, and last
    is the most iterations that one took.
    """
    if isinstance(count, int) and count == 1:
        new, status = _step(system, method, t0 + index * dt, h, state)
        return new, status, status.work

    def one(now: Any) -> Any:
        k, state, (_, work), worst = now
        new, status = _step(system, method, t0 + (index + k) * dt, h, state)
        taken = status.work.astype(work.dtype)
        return k + 1, new, Status(status.code, work + taken), jnp.maximum(worst, taken)

    start = (jnp.int64(0), state, Status(jnp.int32(Code.ok), jnp.int64(0)), jnp.int64(0))
    return jax.lax.while_loop(lambda now: (now[0] < count) & (now[2].code == Code.ok), one, start)[1:]


def judged_step(system: System, method: AbstractMethod, t: Number, h: Number, state: State) -> tuple[State, Status]:
    """A step whose code says also whether the new state is finite."""
    new, status = _step(system, method, t, h, state)
    return new, Status(_judge(new, status), status.work)


def _real(state: Any) -> Any:
    return jax.tree.leaves(state)[0].dtype


def look(system: System, method: AbstractMethod, t: Number, state: State) -> Snapshot:
    """The snapshot of a state."""
    t = jnp.asarray(t, _real(state))
    q, v = method.read(system, t, state)
    q, v = system.space.recentred(q, v)
    pull, momentum = pull_and_momentum(system, t, q, v)
    energy = system.raw_energy(t, q, v)
    if not system.constraints:
        return Snapshot(q, v, energy, momentum, pull)
    if isinstance(state, GeodesicState):
        assert isinstance(system, World)
        multipliers, violation = method.multipliers(system, t, state), sizes_violated(system, q, v)
        if system.flat:
            pull = jnp.abs(pull) + pulled_by_sizes(system, q)
        return Snapshot(q, v, energy, momentum, pull, multipliers, violation)
    local = system.local(q)
    y, w = local.enter(v)
    every = all_equations(local)
    gaps, rates = every.position(t, y), every.rates(t, y, w)
    if system.flat and every.count:
        pull = jnp.abs(pull) + _pulled(local, every, t, y)
    touch = system.constraints.touch
    if touch is not None:
        gaps = jnp.concatenate([gaps, wall_violations(local, t, y)])
        moving = local.wall_rates(t, y, w)
        rates = jnp.concatenate([rates, jnp.where(touch.active, moving, 0.0)])
        if system.flat:
            normals = jax.jacfwd(lambda u: local.wall_rates(t, y, u))(w)
            pull = jnp.abs(pull) + jnp.sum(jnp.abs(normals), axis=0)
    worst = [jnp.max(jnp.abs(x)) if x.shape[0] else jnp.zeros((), q.dtype) for x in (gaps, rates)]
    violation = jnp.stack(worst)
    forces = of_all_walls(system.constraints, method.multipliers(system, t, state))
    return Snapshot(q, v, energy, momentum, pull, forces, violation)


def _pulled(local: Local, every: Held, t: Any, y: Any) -> Any:
    """How strongly the equations act on each coordinate."""
    both = sparse.structures(local)
    if both is None:
        return jnp.sum(jnp.abs(every.normals(t, y)), axis=0)
    return sparse.strengths(both[1], sparse.normals(every, t, y), y)


def wall_violations(local: Local, t: Number, y: Vector) -> Float[Array, " walls"]:
    """How far each unilateral constraint is from what it should be: below zero, or off zero in contact."""
    given = local.system.constraints
    gap = local.all_gaps(t, y)
    held = given.everywhere(given.held_walls[: given.facing[0]])
    return jnp.where(held, jnp.abs(gap), jnp.maximum(-gap, 0.0))


def _judge(state: Any, status: Status) -> Any:
    finite = jnp.bool_(True)
    for leaf in jax.tree.leaves(state):
        finite = finite & jnp.all(jnp.isfinite(leaf))
    broken = (status.code == Code.ok) & ~finite
    return jnp.where(broken, jnp.int32(Code.not_finite), status.code)


def _ahead(system: System, method: AbstractMethod, t: Any, rest: Any, now: Progress) -> tuple[Any, Any]:
    """The state a fraction of a step ahead, and whether that step was good."""
    new, status = _step(system, method, t, rest, now.state)
    code = _judge(new, status)
    return keep_if(code == Code.ok, new, now.state), code


# ── Driven from the host ──────────────────────────────────────────────────────────────────────────────


def _turn(
    system: System, method: AbstractMethod, t0: Any, dt: Any, last: Any, rest: Any, carry: Any
) -> tuple[Progress, Any, Any, Any]:
    """Whole steps towards the one with number `last`, or the one beside the grid: the progress, the newest state,
    whether it lies beside, and whether steps are taken one by one from now on.

    One step in the code serves both: it is the largest part of the program.
    """
    n, _, _, careful = carry
    together = TOGETHER if system.space.point_dim > LARGE else 1
    whole = n.index < last
    count = 1 if together == 1 else jnp.where(whole & ~careful, jnp.minimum(last - n.index, together), 1)
    new, status, worst = _steps(system, method, t0, n.index, dt, jnp.where(whole, dt, rest), n.state, count)
    code = _judge(new, status)
    good = code == Code.ok
    on = whole & good
    state = keep_if(on, new, n.state)
    index = n.index + on.astype(n.index.dtype) * count
    final = good | (count == 1)
    work = n.work + jnp.where(final, status.work, 0).astype(n.work.dtype)
    worst = jnp.where(final, jnp.maximum(n.worst, worst), n.worst).astype(n.worst.dtype)
    if together > 1:  # several that fail are taken again one by one, up to the one that fails
        careful = careful | ((count > 1) & ~good)
        code = jnp.where(count > 1, jnp.int32(Code.ok), code)
    return Progress(state, index, code, work, worst), keep_if(good, new, state), ~whole, careful


def chunk(
    system: System,
    method: AbstractMethod,
    now: Progress,
    t0: Number,
    dt: Number,
    counts: Int[AnyArray, " rows"],
    rests: Float[AnyArray, " rows"],
    rows: Whole,
) -> tuple[Progress, Snapshot, Count]:
    """At most as many rows of a plan as `counts` has; rows, steps and times are data: one compilation serves all plans.

    Returns the progress, the snapshots, and the number of rows that are good.
    """

    def row(carry: Any) -> Any:
        k, now, saved = carry
        last, rest = now.index + counts[k], rests[k]

        def going(c: Any) -> Any:
            n, _, beside, _ = c
            return (n.code == Code.ok) & ((n.index < last) | ((rest != 0) & ~beside))

        start = (now, now.state, jnp.bool_(False), jnp.bool_(False))
        now, seen, _, _ = jax.lax.while_loop(going, partial(_turn, system, method, t0, dt, last, rest), start)
        good = now.code == Code.ok
        shot = look(system, method, t0 + now.index * dt + jnp.where(good, rest, 0.0), seen)
        saved = jax.tree.map(lambda buffer, value: buffer.at[k].set(value), saved, shot)
        return k + good, now, saved

    shapes = jax.eval_shape(lambda: look(system, method, t0, now.state))
    empty = jax.tree.map(lambda s: jnp.zeros((counts.shape[0], *s.shape), s.dtype), shapes)
    done, now, saved = jax.lax.while_loop(
        lambda c: (c[0] < rows) & (c[1].code == Code.ok), row, (jnp.int64(0), now, empty)
    )
    return now, saved, done


# ── Traced by the user ────────────────────────────────────────────────────────────────────────────────


def traced(system: System, method: AbstractMethod, plan: Plan, q: Point, v: Tangent) -> tuple[Progress, Snapshot]:
    """The whole plan as scans, for jit, vmap and grad. Rows after a failure are NaN.

    Reverse mode remembers a state per row of a long plan and about the square root of the steps within one, and does
    the steps in between again.
    """
    t0, dt = jnp.asarray(plan.t0, q.dtype), jnp.asarray(plan.dt, q.dtype)
    long = plan.steps > REMEMBERED

    def row(now: Progress, count: Any, longest: int, rest: Any) -> tuple[Progress, Snapshot]:
        def once(n: Progress, k: Any) -> tuple[Progress, None]:
            new = advance(system, method, t0, dt, n)
            return (new if count is None else keep_if(k < count, new, n)), None

        now = _scan(once, now, longest, long)
        t = t0 + now.index * dt
        state, code = now.state, now.code
        if rest is not None:
            safe = jnp.where(rest == 0, dt, rest)
            ahead, ahead_code = _ahead(system, method, t, safe, now)
            state = keep_if(rest != 0, ahead, state)
            code = jnp.where((rest != 0) & (code == Code.ok), ahead_code, code)
            t = t + rest
        shot = look(system, method, t, state)
        return now._replace(code=code), keep_if(
            code == Code.ok, shot, jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), shot)
        )

    now = begin(system, method, t0, q, v)
    if system.constraints:
        now = now._replace(code=consistent(system, t0, q, v))
    parts: list[Snapshot] = []
    for counts, rests in _segments(plan):
        longest = int(counts.max())
        even = bool(np.all(counts == longest))
        rows = (None if even else jnp.asarray(counts), None if not rests.any() else jnp.asarray(rests, q.dtype))
        body: Any = partial(_row_of, row, longest)
        now, shots = jax.lax.scan(jax.checkpoint(body) if long else body, now, rows, length=len(counts))
        parts.append(shots)
    return now, jax.tree.map(lambda *xs: jnp.concatenate(xs), *parts)


def _row_of(row: Any, longest: int, now: Progress, given: Any) -> tuple[Progress, Snapshot]:
    return row(now, given[0], longest, given[1])


def _scan(once: Any, now: Progress, length: int, long: bool) -> Progress:
    """Steps one after the other; where they are many, in blocks whose inside is not remembered."""
    block = math.isqrt(length)
    if not long or block < 2:
        return jax.lax.scan(once, now, jnp.arange(length))[0]
    whole = block * (length // block)

    def several(n: Progress, ks: Any) -> tuple[Progress, None]:
        return jax.lax.scan(once, n, ks)

    now, _ = jax.lax.scan(jax.checkpoint(several), now, jnp.arange(whole).reshape(-1, block))
    return jax.lax.scan(once, now, jnp.arange(whole, length))[0] if whole < length else now


def consistent(system: System, t: Number, q: Point, v: Tangent) -> Count:
    """A code: whether an initial state lies on the constraints, since nothing can be raised here."""
    local = system.local(q)
    y, w = local.enter(v)
    near, enough = jnp.ones(1, bool), close(q.dtype)
    if system.constraints.walls.unilateral:
        inside = jnp.any(local.all_gaps(t, y) < -enough * (1.0 + jnp.max(jnp.abs(q))))
        near = near & ~inside
    if not system.constraints.equations.total:
        return jnp.where(jnp.all(near), jnp.int32(Code.ok), jnp.int32(Code.inconsistent))
    outside = near
    every = all_equations(local)
    both = sparse.structures(local)
    if both is None:
        sizes = jnp.sqrt(jnp.sum(every.normals(t, y) ** 2, axis=1))
    else:
        sizes = sparse.sizes(both[1], sparse.normals(every, t, y), y)
    near = jnp.abs(every.rates(t, y, w)) <= enough * sizes * (1.0 + jnp.max(jnp.abs(v)))
    if m := every.counts[0]:
        near = near.at[:m].set(
            near[:m] & (jnp.abs(every.position(t, y)) <= enough * sizes[:m] * (1.0 + jnp.max(jnp.abs(q))))
        )
    return jnp.where(jnp.all(near) & jnp.all(outside), jnp.int32(Code.ok), jnp.int32(Code.inconsistent))


def _segments(plan: Plan) -> list[tuple[np.ndarray, np.ndarray]]:
    """The start, the even rows and an odd last one apart, so that the common case is a plain nested scan."""
    n = len(plan.counts)
    cuts = [0, n]
    if n > 2:
        cuts = [0, 1, n] if plan.counts[-1] == plan.counts[1] and plan.rests[-1] == 0 else [0, 1, n - 1, n]
    return [(plan.counts[a:b], plan.rests[a:b]) for a, b in pairwise(cuts)]
