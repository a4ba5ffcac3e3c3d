r"""Contact along a motion: gaps and contact forces of the walls, and what an impact or the end of a contact does.

A wall is **closed** where its gap is zero. An impact (`impact.impact`) acts on the closed walls that are approached.
After it, of the closed walls that are neither approached nor left, those are **active** that have to push, which the
complementarity problem of `impact.push` decides; they are held as constraints until their multiplier is zero.

Impacts at speeds \(u, eu, e^2u, \dots\) under a normal acceleration \(-g\) end after \(2u/(g(1-e))\). Where that is
less than `PILE` of a step, contact begins at once, and is dated at the end of the series: exact where g is constant,
and elsewhere with an error of the order of the height of the bounces left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems import lagrangian
from holonomy.systems.constraints import project
from holonomy.systems.constraints.conditions import Touch, Walls
from holonomy.systems.constraints.kkt import multipliers
from holonomy.systems.contact import contact_friction, impact, many_walls
from holonomy.systems.contact.closeness import TOGETHER
from holonomy.systems.contact.complementarity import CONTRADICTORY, SOLVED
from holonomy.systems.in_chart import Local
from holonomy.systems.replace import replace
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray, Count, Flag, Number, Point, Tangent

if TYPE_CHECKING:
    from holonomy.systems.system import System

SLACK = 4e-14  # of the size of positions: a gap this much below zero is zero
STILL = 1e-11  # of the speed: a wall left or approached more slowly is neither
BRIEF = 1e-9  # of a step: a speed that the accelerations give or take in less is none
PILE = 1e-3  # of a step: bounces that end within this are over
_PUSHES = 1e-12  # of the largest acceleration: less is no push
_SPANNED = 1e-10  # of a normal: what is left of one in the span of the others


def count(system: System) -> int:
    """How many walls there are."""
    return system.constraints.walls.total


def facing(system: System) -> int:
    """How many walls are looked at together."""
    return sum(system.constraints.facing)


def apart(system: System) -> Touch:
    """No contact."""
    walls = system.constraints.walls
    near = np.arange(walls.window) if walls.window else None
    c, r = walls.window or walls.counts[0], walls.counts[1]
    if not walls.friction.dim:
        return Touch(np.zeros(c + r, bool), near=near)
    return Touch(np.zeros(c, bool), np.zeros(c, bool), np.zeros((c, walls.friction.dim)), near)


def touching(system: System, touch: Touch | None) -> System:
    """The system with these walls in contact; None for no motion under way."""
    if not count(system):
        return system
    if touch is None:
        return looking_at(system, None)
    return replace(system, constraints=replace(system.constraints, touch=touch._replace(near=None), near=touch.near))


def looking_at(system: System, near: Int[AnyArray, " c"] | None) -> System:
    """The system that looks at these of its walls, None for all; no motion under way."""
    return replace(system, constraints=replace(system.constraints, touch=None, near=near))


def with_window(system: System, size: int) -> System:
    """The system that looks at `size` of its walls together, zero for all of them; the state of contact stays."""
    given = system.constraints
    return replace(system, constraints=replace(given, walls=replace(given.walls, window=size)))


def windowed(system: System, size: int | None = None) -> System:
    """The system that looks at so many of its walls together, none in contact; by default at all where they are few."""
    c = system.constraints.walls.counts[0]
    size = size or many_walls.WINDOW
    changed = with_window(system, min(size, c) if c > many_walls.WINDOW else 0)
    return touching(changed, apart(changed))


def wider(system: System) -> System | None:
    """The system that looks at twice as many of its walls together, None if it looks at all."""
    walls = system.constraints.walls
    return windowed(system, 2 * walls.window) if 0 < walls.window < walls.counts[0] else None


def looking_wider(system: System, touch: Touch) -> Touch:
    """The contact as that of a system that looks at more walls together, those looked at so far among them."""
    walls, old = system.constraints.walls, touch.near
    assert old is not None
    number = jnp.arange(walls.counts[0])
    before = jnp.any(number[:, None] == old[None, :], axis=1)
    near = many_walls.smallest(jnp.where(before, -1.0, number.astype(float)), walls.window)
    k = old.shape[0]

    def moved(x: Any) -> Any:
        return jnp.concatenate([many_walls.carried(old, near, x[:k]), x[k:]])

    return Touch._make([*(None if x is None else moved(jnp.asarray(x)) for x in touch[:3]), near])


def facing_with_friction(system: System) -> int:
    """How many of the walls that are looked at together have friction."""
    return system.constraints.facing[0] if system.constraints.walls.friction.dim else 0


def with_friction(system: System) -> int:
    """How many walls have friction."""
    return system.constraints.walls.counts[0] if system.constraints.walls.friction.dim else 0


def gaps(system: System, t: Number, q: Point, v: Tangent) -> Float[Array, " walls"]:
    """How far each wall is: unilateral conditions, then those on velocities."""
    walls = system.constraints.walls
    parts = [f(t, q, *system.last) for f in walls.unilateral] + [f(t, q, v, *system.last) for f in walls.ratchets]
    return jnp.concatenate(parts)


def pushes(system: System, t: Number, q: Point, v: Tangent) -> Float[Array, " facing"]:
    """The multipliers of the walls in contact, zero for the others."""
    local = system.local(q)
    return multipliers(local, t, *local.enter(v))[system.constraints.equations.total :][: facing(system)]


# ── What happens at a wall ────────────────────────────────────────────────────────────────────────────


class Settled(NamedTuple):
    """The outcome: the velocity, the contact, records of impacts, contacts and releases, their delay, a code."""

    v: Tangent
    touch: Touch
    made: Bool[Array, " records"]
    delay: Float[Array, " records"]
    code: Count
    smooth: Flag


class _Walls(NamedTuple):
    """The walls at a state, in local coordinates."""

    mass: Any
    normals: Any
    how: impact.Delassus
    rates: Any


def settle(
    system: System, way: Number, pace: Number, t: Number, q: Point, v: Tangent, before: Touch,
    met: Bool[Array, " all"], freed: Bool[Array, " few"], touched: Bool[Array, " all"], turned: Bool[Array, " few"],
) -> Settled:  # fmt: skip
    """What the walls do at a state where those `met` were reached, and those `freed` stopped pushing.

    `before` is the contact before, `touched` are the walls reached without being approached, `turned` those whose
    friction stopped sliding or gave way. `met` and `touched` are said of all walls, `freed` and `turned` of those that
    `before` looks at.
    """
    place = 1.0 + jnp.max(jnp.abs(q))
    near, crowded = _closest(system, t, q, v, before, met, place)
    before, freed, turned = _renumbered(before, near, freed, turned)
    given, was = touching(system, before).constraints, before.active
    walls, total = given.walls, given.walls.counts[0]
    met, touched = (jnp.concatenate([given.of_near(x[:total]), x[total:]]) for x in (met, touched))
    local = looking_at(system, near).local(q)
    y, w = local.enter(v)
    now = _walls(local, t, y, w)
    c, r = given.facing
    slope, weight, scale = _scales(now)
    room = TOGETHER * given.of_near(_sizes(given.walls, place)) * slope[:c]
    closed = jnp.concatenate([local.gaps(t, y) <= room, jnp.ones(r, bool)]) | was | met
    e = jnp.concatenate([jnp.asarray(given.of_near(walls.restitution), q.dtype), jnp.zeros(r, q.dtype)])
    speed = _size(now.mass, w)
    hit = impact.impact(now.how, way * now.rates, closed, e, speed, walls.law)
    w = _struck(local, t, y, w, way, now, hit, e)
    rates = now.rates + way * (now.normals @ hit.change)
    data = None
    if walls.friction.dim:
        data = contact_friction.at_impact(local, t, y, w, now.mass, now.normals, hit.impulses)
        w, rates = w + data.change, rates + now.normals @ data.change
    pulls = _accelerations(local, t, y, w, now.normals)
    strong = jnp.max(jnp.abs(pulls) / scale, initial=0.0)
    steady = jnp.abs(rates) <= scale * jnp.maximum(STILL * speed, BRIEF * pace * strong)
    left = _bouncing(now.how, way * rates, pulls, e, closed & steady & ~freed)
    piled = closed & ~steady & (way * rates > 0) & (left <= PILE * pace)
    able = closed & (steady | piled) & ~freed
    sticking, direction = None, None
    if data is None:
        forces, _, code = impact.push(now.how, pulls, able)
    else:
        forces, _, sticking, direction, code = contact_friction.modes(local, t, y, w, data, pulls, able, turned, pace)
    # scale below which a force counts as zero: other accelerations, and those of a motion at this speed and extent
    large = scale * strong + weight * speed**2 / (place * slope)
    pushing = able & (forces * weight > _PUSHES * large)
    active = _independent(now.how.gram, pushing)
    w = w + now.how.across @ impact.stopping(now.how.gram, active, rates)
    touch = Touch(active, near=near)
    if data is not None and sticking is not None and direction is not None:
        stuck = active & sticking
        touch = Touch(active, stuck, jnp.where(active[:, None], direction, 0.0), near)
        w = contact_friction.stuck(local, t, y, w, stuck, data)
    # a condition on velocities that is met is zero by continuity; only another wall's impact strikes it
    sudden = jnp.concatenate([jnp.ones(c, bool), jnp.zeros(r, bool)]) | ~met
    made = _made((hit.struck & sudden) | (met & touched), before, touch, turned if walls.friction.dim else None)
    late = jnp.zeros(made.shape[0], w.dtype).at[c + r : 2 * (c + r)].set(jnp.where(piled & active, way * left, 0.0))
    code = jnp.where(crowded, jnp.int32(Code.crowded), _worst(_code(hit.code, code), data))
    smooth = (hit.smooth | ~jnp.any(hit.struck)) & ~jnp.any(piled & active)
    return Settled(local.leave(y, w)[1], touch, made, jax.lax.stop_gradient(late), code, smooth)


def _closest(system: System, t: Any, q: Any, v: Any, before: Touch, met: Any, place: Any) -> tuple[Any, Any]:
    """The walls to look at from a state on, None for all, and whether they are too few."""
    walls = system.constraints.walls
    if before.near is None:
        return None, jnp.bool_(False)
    local = touching(system, None).local(q)
    y, _ = local.enter(v)
    c = walls.counts[0]
    slopes = jnp.sqrt(jnp.sum(jax.jacfwd(lambda x: local.all_gaps(t, x))(y) ** 2, axis=1))
    held = touching(system, before).constraints.everywhere(before.active[: walls.window])
    known = jax.lax.stop_gradient((local.all_gaps(t, y), slopes))
    return many_walls.closest(*known, met[:c] | held, TOGETHER * _sizes(walls, place), walls.window)


def _sizes(walls: Walls, place: Any) -> Any:
    """The lengths in units of which the gaps of all walls are judged; `place` is the size of positions."""
    known = jnp.asarray(walls.sizes, place.dtype)
    return jnp.concatenate([known, jnp.broadcast_to(place, walls.counts[0] - known.shape[0])])


def _renumbered(before: Touch, near: Any, freed: Any, turned: Any) -> tuple[Touch, Any, Any]:
    """What was said of the walls that were looked at, said of those that are."""
    if near is None:
        return before, freed, turned
    old, k = before.near, near.shape[0]
    assert old is not None

    def moved(values: Any) -> Any:
        return jnp.concatenate([many_walls.carried(old, near, values[:k]), values[k:]])

    parts = [None if x is None else moved(jnp.asarray(x)) for x in before[:3]]
    return Touch._make([*parts, near]), moved(freed), moved(turned)


def _worst(code: Any, data: contact_friction.FrictionData | None) -> Any:
    """The code of the walls or, where that is good, of their friction."""
    return code if data is None else jnp.where(code == Code.ok, _code(data.code, data.code), code)


class _Scales(NamedTuple):
    """Each wall in its own units: lengths by the slope of its function, accelerations by its size in the kinetic
    metric, which is the root of `weight`."""

    slope: Any
    weight: Any
    scale: Any


def _scales(now: _Walls) -> _Scales:
    weight = jnp.diagonal(now.how.gram)
    return _Scales(_positive(jnp.sqrt(jnp.sum(now.normals**2, axis=1))), weight, _positive(jnp.sqrt(weight)))


def _made(struck: Any, before: Touch, after: Touch, turned: Any) -> Any:
    """Which records there are: impacts, contacts, releases, and with friction where it begins to stick or to slide."""
    was, now = before.active, after.active
    made = [struck, now & ~was, was & ~now]
    if turned is not None and before.sticking is not None and after.sticking is not None:
        made += [after.sticking & was & ~before.sticking, now & ~after.sticking & (before.sticking | turned)]
    return jnp.concatenate(made)


def _struck(local: Local, t: Any, y: Any, w: Any, way: Any, now: _Walls, hit: impact.Impact, e: Any) -> Any:
    r"""The velocity after an impact.

    After one alone, \(u^+ + e u = 0\) is made to hold as closely as the sum of both velocities can tell: the rounding
    of the impulse has a side, and over many impacts energy would grow with it.
    """
    after = w + way * hit.change
    of = jnp.sum(jnp.where(hit.struck, e, 0.0))
    still = local.wall_rates(t, y, jnp.zeros_like(w))
    off = now.normals @ (after + of * w) + (1.0 + of) * still
    weight = jnp.where(hit.struck, jnp.diagonal(now.how.gram), 1.0)
    return after - now.how.across @ jnp.where(hit.struck & hit.smooth, off / weight, 0.0)


def _walls(local: Local, t: Any, y: Any, w: Any) -> _Walls:
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    normals = jax.jacfwd(lambda u: local.wall_rates(t, y, u))(w)
    held = local.hold(t, y, w)
    how = impact.delassus(mass, None if held is None else held.normals(t, y), normals, local.definite)
    return _Walls(mass, normals, how, local.wall_rates(t, y, w))


def _accelerations(local: Local, t: Any, y: Any, w: Any, normals: Any) -> Any:
    """How fast the rates of the walls change while none of them pushes."""
    drift = jax.jvp(lambda s, x: local.wall_rates(s, x, w), (t, y), (jnp.ones_like(t), w))[1]
    return drift + normals @ local.acceleration(t, y, w)


def _bouncing(how: impact.Delassus, rates: Any, pulls: Any, e: Any, rests: Any) -> Any:
    """How long bounces that begin at these rates go on, for ever where nothing brings them back.

    What presses on a wall may itself lie on others: those that rest push while it bounces.
    """
    felt = pulls + how.gram @ impact.push(how, pulls, rests).multipliers
    back = (felt < 0) & (e < 1)
    return jnp.where(back, 2.0 * rates / jnp.where(back, -felt * (1.0 - e), 1.0), jnp.inf)


def _positive(x: Any) -> Any:
    """The same with 1 for 0, to divide by."""
    return jnp.where(x > 0, x, 1.0)


def _size(mass: Any, w: Any) -> Any:
    square = jnp.dot(w, mass @ w)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def _independent(gram: Any, wanted: Any) -> Any:
    """Those of the wanted rows that are not in the span of those before them; the motion needs no others."""
    rows = gram.shape[0]
    if rows == 1:
        return wanted
    start = jax.lax.stop_gradient(gram)
    whole = jnp.diagonal(start)

    def once(k: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        left, kept = now
        take = wanted[k] & (left[k, k] > _SPANNED * whole[k])
        column = left[:, k]
        left = jnp.where(take, left - jnp.outer(column, column) / jnp.where(take, column[k], 1.0), left)
        return left, kept.at[k].set(take)

    return jax.lax.fori_loop(0, rows, once, (start, jnp.zeros(rows, bool)))[1]


def _code(hit: Any, push: Any) -> Any:
    worst = jnp.where(hit != SOLVED, hit, push)
    bad = jnp.where(worst == CONTRADICTORY, jnp.int32(Code.squeezed), jnp.int32(Code.no_convergence))
    return jnp.where(worst == SOLVED, jnp.int32(Code.ok), bad)


def returned(system: System, t: Number, q: Point, v: Tangent) -> tuple[Point, Tangent]:
    """A state with the walls in contact at zero, where only their rates were held."""
    given = system.constraints
    exact = replace(system, constraints=replace(given, treatment=replace(given.treatment, as_rates=False)))
    local = exact.local(q)
    y, w = local.enter(v)
    held = local.hold(t, y, w)
    assert held is not None
    y, w, _ = project.settle(local, held, t, y, w)
    return local.leave(y, w)


# ── Asked by a person ─────────────────────────────────────────────────────────────────────────────────


def at_rest(system: System, t: Number, q: Point, v: Tangent) -> Touch:
    """Which walls are in contact at a state: closed, not being left, and pushing."""
    system = with_window(system, 0)
    quiet = [jnp.zeros(count(system), bool)] * 4
    return settle(system, jnp.ones(()), jnp.zeros(()), t, q, v, apart(system), *quiet).touch
