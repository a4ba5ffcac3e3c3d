r"""A reduced system compared with the full one on a short run, from states that belong to each other.

Both motions are integrated to round-off over a time in which something happens: the least over the coordinates of
\(\sqrt{|q_i|/|a_i|}\) and \(|q_i|/s_i\). Differences are counted in \(|q_i| + Ts_i\) for positions, \(s_i\) for
velocities and \(M_{ii}s_i\) for momenta, where \(s_i = \sqrt{2T_2/M_{ii}}\) is the speed at which a coordinate alone
has all kinetic energy, so that units do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.integrate import integrate
from holonomy.symmetry.found_section import FoundSection
from holonomy.symmetry.transport import compiled
from holonomy.systems import System, lagrangian
from holonomy.systems.constraints.conditions import all_equations
from holonomy.systems.parameters import Parameters
from holonomy.systems.quantities import ambient_acceleration, pull_and_momentum
from holonomy.types import AnyArray, Tree

if TYPE_CHECKING:
    from holonomy.symmetry.reduced_system import ReducedSystem

_ALLOWED = 1e-8  # of the size of positions, velocities, momenta
_SHORTER = (1.0, 0.1, 0.01)  # of the time, where a motion does not exist so long
_FAR = 1e3  # times its size: a motion that runs away so far is compared over less time
_PRECISE = 1e-12  # of the size: errors of a step on the host
_TURN = 1.0  # what counts as the size of an angle

State = tuple[Any, Any, Any]  # t, q, v
Small = tuple[Any, Any, Any, Any]  # t, z, w of the reduced system, and the coordinates left out
LeadBack = Callable[[Tree, Tree, Tree, Tree], tuple[Tree, Tree]]


class Compared(eqx.Module):
    """The number of starts, the longest time, the largest difference in units of the size, and the parameters then."""

    starts: AnyArray
    span: AnyArray
    difference: AnyArray
    parameters: Parameters

    def said(self, now: Parameters) -> str:
        """In words, for a system with the parameters `now`."""
        count = int(self.starts)
        if not count:
            return "not compared with the full motion, which could be followed from no random start"
        sentence = (
            f"compared with the full motion from {count} {'start' if count == 1 else 'starts'} over "
            f"t = {float(self.span):.3g}: largest difference {float(self.difference):.0e} of its size"
        )
        other = [
            f"{name} = {float(x):.6g}"
            for name, x in self.parameters.items()
            if np.ndim(x) == 0 and float(x) != float(now[name])
        ]
        return f"{sentence} (with {', '.join(other)})" if other else sentence


def compare(
    reduced: ReducedSystem,
    target: System,
    starts: Iterable[tuple[Small, State]],
    lead_back: LeadBack,
    wanted: int = 3,
) -> Compared:
    """The comparison from some pairs of a reduced and a full state; raise `ValueError` for motions that differ.

    **Arguments:** `target`, the full system; `lead_back(t, z, w, place)`, its state from a reduced one with the
    coordinates left out at `place`; `wanted`, how many starts are enough.
    """
    count, longest, worst = 0, 0.0, 0.0
    for small, large in starts:
        found = _one(reduced, target, small, large, lead_back)
        if found is None:
            continue
        if max(found[1].values()) > _ALLOWED:  # a motion that is slow beside the others may have lost its digits
            found = _one(reduced, target, small, large, lead_back, fine=True) or found
        span, misses = found
        count, longest, worst = count + 1, max(longest, span), max(worst, *misses.values())
        _refuse_other_motion(span, misses, large)
        if count == wanted:
            break
    return Compared(np.asarray(float(count)), np.asarray(longest), np.asarray(worst), reduced.parameters)


def _refuse_other_motion(span: float, misses: dict[str, float], start: State) -> None:
    if all(miss <= _ALLOWED for miss in misses.values()):
        return
    name = max(misses, key=lambda k: misses[k])
    t, q, v = start
    what = f"the {name} differ by {misses[name]:.1e} of their size, where {_ALLOWED:.0e} is allowed"
    if not np.all(np.isfinite(list(misses.values()))):
        what = "it cannot be followed, while the full motion can"
    raise ValueError(
        f"The reduced motion is not that of the full system: after t = {span:.3g} from q = "
        f"{np.array2string(np.asarray(q), precision=4)}, v = {np.array2string(np.asarray(v), precision=4)} at "
        f"t = {float(t):.3g} {what}. Simulate the full system, or leave out other coordinates."
    )


def _one(
    reduced: ReducedSystem, target: System, small: Small, large: State, lead_back: LeadBack, *, fine: bool = False
) -> tuple[float, dict[str, float]] | None:
    """How long the motions from one start were followed, and by how much they differ; None where that cannot be.

    A `fine` motion is integrated to the precision of each coordinate's own velocity, however slow it is.
    """
    t, q, v = (jnp.asarray(x) for x in large)
    at, z, w, place = (jnp.asarray(x) for x in small)
    how = jnp.asarray(float(fine))
    angles = np.array([c.kind == "angle" for c in target.coordinates]) if target.flat else np.zeros(q.shape, bool)
    found = None
    for part in _SHORTER:
        ran: _Ran = compiled(_followed, target, t, q, v, jnp.asarray(angles), jnp.asarray(part), how)
        if not np.isfinite(float(ran.span)) or not float(ran.far) < _FAR:
            continue
        end = _reduced_followed(reduced, at, z, w, place, ran.span)
        back = lead_back(t + ran.span, *end)
        ours, known = (compiled(_seen, target, t + ran.span, *state) for state in (back, (ran.q, ran.v)))
        misses = {
            "positions": _miss(back[0], ran.q, ran.sizes.place),
            "velocities": _miss(back[1], ran.v, ran.sizes.speed),
            "momenta": _miss(ours.momentum, known.momentum, ran.sizes.momentum),
            "constraints": float(ours.missed),
        }
        found = float(ran.span), misses
        if np.all(np.isfinite(list(misses.values()))):
            break
    return found


def _miss(ours: Tree, known: Tree, unit: Tree) -> float:
    unit = np.asarray(unit) + np.abs(np.asarray(known))
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(known)) / unit))


class _Sizes(NamedTuple):
    """What counts as the size of each position, velocity and momentum."""

    place: Tree
    speed: Tree
    momentum: Tree


class _Ran(NamedTuple):
    """How long a motion was followed, where it came to, its sizes, and how far it went in units of them."""

    span: Tree
    q: Tree
    v: Tree
    sizes: _Sizes
    far: Tree


class _Seen(NamedTuple):
    momentum: Tree
    missed: Tree


def _followed(system: System, t: Tree, q: Tree, v: Tree, angles: Tree, part: Tree, fine: Tree) -> Tree:
    """The motion from a state over a part of the time in which something happens."""
    sizes = _sizes(system, t, q, v)
    a, tiny = jnp.abs(ambient_acceleration(system, t, q, v)), jnp.finfo(q.dtype).tiny
    size = jnp.where(angles, _TURN, sizes.place)
    times = jnp.minimum(jnp.sqrt(size) / jnp.sqrt(a + tiny), size / (sizes.speed + tiny))
    least = jnp.min(jnp.where(size > 0, times, jnp.inf))
    span = part * jnp.where(least < jnp.inf, least, 1.0)
    speed = _positive(sizes.speed + span * a)
    sizes = sizes._replace(place=_positive(sizes.place + span * speed), speed=speed)
    own = jnp.where(fine > 0, _positive(jnp.abs(v) + span * a), speed)
    y, w = _flow(system, t, span, q, v, sizes._replace(place=_positive(jnp.abs(q) + span * own), speed=own))
    far = jnp.max(jnp.abs(y) / sizes.place) + jnp.max(jnp.abs(w) / sizes.speed)
    return _Ran(span, y, w, sizes, far)


def _flow(system: System, t: Tree, span: Tree, q: Tree, v: Tree, sizes: _Sizes) -> tuple[Tree, Tree]:
    n, units = q.shape[0], jnp.concatenate([sizes.place, sizes.speed])

    def rate(s: Tree, y: Tree) -> Tree:
        place, speed = y[:n] * sizes.place, y[n:] * sizes.speed
        return span * jnp.concatenate([speed, ambient_acceleration(system, t + s * span, place, speed)]) / units

    end = integrate(rate, jnp.concatenate([q, v]) / units, loop=True, watched=0, derivatives=False) * units
    return end[:n], end[n:]


def _reduced_followed(reduced: ReducedSystem, t: Tree, z: Tree, w: Tree, place: Tree, span: Tree) -> Tree:
    """Position and velocity of the reduced system after a time, and the coordinates left out, from `place` on."""
    start, n = jnp.concatenate([z, w, place]), z.shape[0]
    if isinstance(reduced.section, FoundSection):
        end = _on_host(reduced, float(t), np.asarray(start), float(span), n)
    else:
        end = compiled(_integrated, reduced, t, start, span, jnp.zeros(n))
    return end[:n], end[n : 2 * n], end[2 * n :]


def _integrated(reduced: ReducedSystem, t: Tree, start: Tree, span: Tree, zero: Tree) -> Tree:
    n = zero.shape[0]
    sizes = _sizes(reduced, t, start[:n], start[n : 2 * n])
    first = jnp.abs(_rates(reduced, t, start, zero))
    speed = sizes.speed + span * first[n : 2 * n]
    units = [sizes.place + span * speed, speed, jnp.abs(start[2 * n :]) + span * first[2 * n :]]
    every = jnp.concatenate([_positive(x) for x in units])

    def rate(s: Tree, y: Tree) -> Tree:
        return span * _rates(reduced, t + s * span, y * every, zero) / every

    return integrate(rate, start / every, loop=True, watched=0, derivatives=False) * every


def _on_host(reduced: ReducedSystem, t: float, start: np.ndarray, span: float, n: int) -> Tree:
    """The same with one evaluation compiled, where that takes seconds."""
    from scipy.integrate import solve_ivp

    first = np.abs(_rate_at(reduced, t, start, n))
    every = np.abs(start) + span * np.max(first[n:]) + span * np.max(first[:n])
    found = solve_ivp(
        lambda s, y: span * _rate_at(reduced, t + s * span, y * every, n) / every,
        (0.0, 1.0),
        start / every,
        method="DOP853",
        rtol=_PRECISE,
        atol=_PRECISE,
    )
    return jnp.asarray(found.y[:, -1] * every if found.success else np.full_like(start, np.nan))


def _rate_at(reduced: ReducedSystem, t: float, state: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(compiled(_rates, reduced, jnp.asarray(t), jnp.asarray(state), jnp.zeros(n)))


def _rates(reduced: ReducedSystem, t: Tree, state: Tree, zero: Tree) -> Tree:
    """The rate of position, velocity and the coordinates left out; `zero` has the length of a position."""
    n = zero.shape[0]
    z, w = state[:n], state[n : 2 * n]
    return jnp.concatenate([w, ambient_acceleration(reduced, t, z, w), reduced.left_out_speeds(t, z, w)])


def _sizes(system: System, t: Tree, q: Tree, v: Tree) -> _Sizes:
    """Sizes of a state without the way that is gone."""
    if not system.flat:
        speed, momentum = (jnp.max(jnp.abs(x)) for x in (v, pull_and_momentum(system, t, q, v)[1]))
        every = (jnp.max(jnp.abs(q)), _positive(speed[None])[0], _positive(momentum[None])[0])
        return _Sizes(*(jnp.full_like(q, x) for x in every))
    mass = lagrangian.mass_matrix(system.raw_lagrangian, t, q, v)
    own, twice = jnp.abs(jnp.diagonal(mass)), jnp.abs(jnp.dot(v, mass @ v))
    speed = jnp.maximum(jnp.sqrt(twice / jnp.where(own > 0, own, jnp.inf)), jnp.abs(v))
    return _Sizes(jnp.abs(q), _positive(speed), _positive(own * speed))


def _positive(x: Tree) -> Tree:
    """Sizes, those that are zero replaced by the largest, or by one where all are."""
    largest = jnp.max(x)
    return jnp.where(x > 0, x, jnp.where(largest > 0, largest, 1.0))


def _seen(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """The momentum, and by how much a state misses the constraints as a part of their terms."""
    momentum = pull_and_momentum(system, t, q, v)[1]
    if not system.constraints.equations.total:
        return _Seen(momentum, jnp.zeros(()))
    local = system.local(q)
    y, w = local.enter(v)
    held = all_equations(local)
    terms = jnp.abs(held.normals(t, y)) @ jnp.abs(w) + jnp.abs(held.rates(t, y, jnp.zeros_like(w)))
    return _Seen(momentum, jnp.max(jnp.abs(held.rates(t, y, w)) / (terms + jnp.finfo(y.dtype).tiny)))
