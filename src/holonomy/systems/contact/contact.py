r"""Walls as a motion meets them: how far, how hard they push, and what an impact or the end of a contact does.

A wall is **closed** where its gap is zero. An impact (`impact.impact`) acts on the closed walls that are approached.
After it, of the closed walls that are neither approached nor left, those are **active** that have to push, which the
complementarity problem of `impact.push` decides; they are held as constraints until their multiplier is zero.

Impacts at speeds \(u, eu, e^2u, \dots\) under a normal acceleration \(-g\) end after \(2u/(g(1-e))\). Where that is
less than `PILE` of a step, contact begins at once, and is dated at the end of the series: exact where g is constant,
and elsewhere with an error of the order of the height of the bounces left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import lagrangian
from holonomy.systems.constraints import project
from holonomy.systems.constraints.conditions import Constraints, multipliers
from holonomy.systems.contact import contact_friction, impact
from holonomy.systems.contact.complementarity import CONTRADICTORY, SOLVED
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.systems.system import System

SLACK = 4e-14  # of the size of positions: a gap this much below zero is zero
CLOSED = 1e-10  # of the size of positions: gaps below this are closed when another wall is met
STILL = 1e-11  # of the speed: a wall left or approached more slowly is neither
BRIEF = 1e-9  # of a step: a speed that the accelerations give or take in less is none
PILE = 1e-3  # of a step: bounces that end within this are over
_PUSHES = 1e-12  # of the largest acceleration: less is no push
_SPANNED = 1e-10  # of a normal: what is left of one in the span of the others


def count(system: System) -> int:
    """How many walls there are."""
    return 0 if system.constraints is None else sum(system.constraints.walls)


def given(system: System) -> Constraints:
    """The constraints of a system that has some."""
    assert system.constraints is not None
    return system.constraints


class Touch(NamedTuple):
    """The state of contact: which walls are active; with friction, which contacts stick and where others slide to."""

    active: Any
    sticking: Any = None
    direction: Any = None


def apart(system: System) -> Touch:
    """No contact."""
    walls = given(system) if count(system) else None
    if walls is None or not walls.slip:
        return Touch(np.zeros(count(system), bool))
    c = walls.walls[0]
    return Touch(np.zeros(c, bool), np.zeros(c, bool), np.zeros((c, walls.slip)))


def touching(system: System, touch: Touch | None) -> System:
    """The system with these walls in contact; None for no motion under way."""
    if not count(system):
        return system
    active, sticking, direction = (None, None, None) if touch is None else touch
    return replace(system, constraints=replace(given(system), active=active, sticking=sticking, direction=direction))


def rough(system: System) -> int:
    """How many walls rub."""
    return given(system).walls[0] if count(system) and given(system).slip else 0


def gaps(system: System, t: Any, q: Any, v: Any) -> Any:
    """How far each wall is: unilateral conditions, then those on velocities."""
    walls = given(system)
    parts = [f(t, q, *system.last) for f in walls.unilateral] + [f(t, q, v, *system.last) for f in walls.ratchets]
    return jnp.concatenate(parts)


def pushes(system: System, t: Any, q: Any, v: Any) -> Any:
    """The multipliers of the walls in contact, zero for the others."""
    local = system.local(q)
    return multipliers(local, t, *local.enter(v))[given(system).bilateral :][: count(system)]


# ── What happens at a wall ────────────────────────────────────────────────────────────────────────────


class Settled(NamedTuple):
    """The outcome: the velocity, the contact, records of impacts, contacts and releases, their delay, a code."""

    v: Any
    touch: Touch
    made: Any
    delay: Any
    code: Any
    smooth: Any


class _Walls(NamedTuple):
    """The walls at a state, in local coordinates."""

    mass: Any
    normals: Any
    how: impact.Delassus
    rates: Any


def settle(
    system: System, way: Any, pace: Any, t: Any, q: Any, v: Any,
    before: Touch, met: Any, freed: Any, touched: Any, turned: Any,
) -> Settled:  # fmt: skip
    """What the walls do at a state where those `met` were reached, and those `freed` stopped pushing.

    `before` is the contact before, `touched` are the walls reached without being approached, `turned` those whose
    friction stopped sliding or gave way.
    """
    walls, was = given(system), before.active
    free = touching(system, None)
    local = free.local(q)
    y, w = local.enter(v)
    now = _walls(local, t, y, w)
    place = 1.0 + jnp.max(jnp.abs(q))
    c, r = walls.walls
    slope, weight, scale = _scales(now)
    near = jnp.concatenate([local.gaps(t, y) <= CLOSED * place * slope[:c], jnp.ones(r, bool)])
    closed = near | was | met
    e = jnp.concatenate([jnp.asarray(walls.restitution, q.dtype), jnp.zeros(r, q.dtype)])
    speed = _size(now.mass, w)
    hit = impact.impact(now.how, way * now.rates, closed, e, speed, walls.law)  # pyright: ignore[reportArgumentType]
    w = _struck(local, t, y, w, way, now, hit, e)
    rates = now.rates + way * (now.normals @ hit.change)
    rub = None
    if walls.slip:
        rub = contact_friction.rubbed(local, t, y, w, now.mass, now.normals, hit.impulses)
        w, rates = w + rub.change, rates + now.normals @ rub.change
    pulls = _accelerations(local, t, y, w, now.normals)
    strong = jnp.max(jnp.abs(pulls) / scale, initial=0.0)
    steady = jnp.abs(rates) <= scale * jnp.maximum(STILL * speed, BRIEF * pace * strong)
    left = _bouncing(now.how, way * rates, pulls, e, closed & steady & ~freed)
    piled = closed & ~steady & (way * rates > 0) & (left <= PILE * pace)
    able = closed & (steady | piled) & ~freed
    sticking, direction = None, None
    if rub is None:
        forces, _, code = impact.push(now.how, pulls, able)
    else:
        forces, _, sticking, direction, code = contact_friction.modes(local, t, y, w, rub, pulls, able, turned, pace)
    # what a push is measured by: other accelerations, and those of a motion at this speed through this room
    large = scale * strong + weight * speed**2 / (place * slope)
    pushing = able & (forces * weight > _PUSHES * large)
    active = _independent(now.how.gram, pushing)
    w = w + now.how.across @ impact.stopping(now.how.gram, active, rates)
    touch = Touch(active)
    if rub is not None and sticking is not None and direction is not None:
        touch = Touch(active, active & sticking, jnp.where(active[:, None], direction, 0.0))
        w = contact_friction.stuck(local, t, y, w, touch.sticking, rub)
    # a condition on velocities that is met is zero by continuity; only another wall's impact strikes it
    sudden = jnp.concatenate([jnp.ones(c, bool), jnp.zeros(r, bool)]) | ~met
    made = _made((hit.struck & sudden) | (met & touched), before, touch, turned if walls.slip else None)
    late = jnp.zeros(made.shape[0], w.dtype).at[c + r : 2 * (c + r)].set(jnp.where(piled & active, way * left, 0.0))
    code = _worst(_code(hit.code, code), rub)
    smooth = (hit.smooth | ~jnp.any(hit.struck)) & ~jnp.any(piled & active)
    return Settled(local.leave(y, w)[1], touch, made, jax.lax.stop_gradient(late), code, smooth)


def _worst(code: Any, rub: contact_friction.Rub | None) -> Any:
    """The code of the walls or, where that is good, of their friction."""
    return code if rub is None else jnp.where(code == Code.ok, _code(rub.code, rub.code), code)


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
    if turned is not None:
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
    left, kept = jax.lax.stop_gradient(gram), jnp.zeros(rows, bool)
    whole = jnp.diagonal(left)
    for k in range(rows):
        take = wanted[k] & (left[k, k] > _SPANNED * whole[k])
        column = left[:, k]
        left = jnp.where(take, left - jnp.outer(column, column) / jnp.where(take, column[k], 1.0), left)
        kept = kept.at[k].set(take)
    return kept


def _code(hit: Any, push: Any) -> Any:
    worst = jnp.where(hit != SOLVED, hit, push)
    bad = jnp.where(worst == CONTRADICTORY, jnp.int32(Code.squeezed), jnp.int32(Code.no_convergence))
    return jnp.where(worst == SOLVED, jnp.int32(Code.ok), bad)


def returned(system: System, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """A state with the walls in contact at zero, where only their rates were held."""
    exact = replace(system, constraints=replace(given(system), as_rates=False))
    local = exact.local(q)
    y, w = local.enter(v)
    held = local.hold(t, y, w)
    assert held is not None
    y, w, _ = project.settle(local, held, t, y, w)
    return local.leave(y, w)


# ── Asked by a person ─────────────────────────────────────────────────────────────────────────────────


def at_rest(system: System, t: Any, q: Any, v: Any) -> Any:
    """Which walls are in contact at a state: closed, not being left, and pushing."""
    quiet = [jnp.zeros(count(system), bool)] * 4
    return settle(system, jnp.ones(()), jnp.zeros(()), t, q, v, apart(system), *quiet).touch
