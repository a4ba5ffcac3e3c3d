"""Free balls moved from collision to collision: a queue of contacts, and lists of neighbours.

A list holds the pairs whose surfaces are nearer than a margin. It is complete until some ball has moved half the
margin, and a ball's speed is constant between its collisions, so that the time until then is known. Contacts of listed
pairs within that time are in the queue; a collision takes out those of its two balls and finds theirs anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from holonomy.motion.cluster_impacts import Impacts
from holonomy.motion.events.event_log import Events
from holonomy.motion.loops.plain import Snapshot
from holonomy.motion.methods.rattle_geodesic import pulled_by_sizes, sizes_violated
from holonomy.spaces import Carried
from holonomy.systems.bodies import World
from holonomy.systems.bodies.ball_flight import Flight, Pair, neighbours, spread_of
from holonomy.systems.contact.closeness import TOGETHER, of_squares
from holonomy.systems.quantities import pull_and_momentum
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray

_ALL_PAIRS = 48  # balls up to which every pair is listed, for the whole motion
_LISTED = 14  # neighbours of a ball, about, within the reach of a list
_NARROW = 0.5  # margin of a list at least, in radii of the largest ball
_AWAY = 1.0  # distance of the centre from the origin, in radii, from which all balls are written near it again
_REACH = 1.5  # way of a ball, in radii of the space, after which the place of all is looked at again
RECORDED = 128  # coordinates up to which records of collisions hold the whole state

Entry = tuple[float, int, int, int, int]


class Queue:
    """Balls in flight: points, velocities and times of their last changes, and the contacts that lie ahead."""

    def __init__(
        self, geometry: Flight, x: np.ndarray, u: np.ndarray, radii: np.ndarray, masses: np.ndarray, end: float
    ):
        self.geometry, self.x, self.u, self.end = geometry, x.copy(), u.copy(), end
        self.radii, self.masses = radii, masses
        self.hits = np.flatnonzero(radii > 0)
        self.since = np.zeros(len(x))
        self.stamps = np.zeros(len(x), int)
        self.moved = np.zeros(len(x))
        self.contacts: list[Entry] = []
        self.around: list[Int[np.ndarray, " near"]] = []
        self.horizon, self.margin, self.now = -1.0, 0.0, 0.0
        self.looked, self.code = 0, int(Code.ok)

    def states(self, t: float) -> tuple[Float[np.ndarray, "balls point"], Float[np.ndarray, "balls point"]]:
        """All points and velocities at a time before the next contact."""
        return self.geometry.moved(self.x, self.u, t - self.since)

    def next(self, until: float) -> Entry | None:
        """The next contact up to a time, with lists of neighbours made anew where that is needed."""
        while True:
            while self.contacts and self.contacts[0][0] <= min(self.horizon, until):
                entry = heapq.heappop(self.contacts)
                if self.stamps[entry[1]] == entry[3] and self.stamps[entry[2]] == entry[4]:
                    return entry
            if self.horizon >= until:
                return None
            self.listed(max(self.horizon, self.now))

    def written_anew(self, now: float, x: np.ndarray, u: np.ndarray) -> None:
        """Go on from states in other arrays, those after an isometry."""
        self.x, self.u, self.since[:] = x, u, now
        self.listed(now)

    def listed(self, now: float) -> None:
        """Make the lists of neighbours at a time, and the queue of contacts until a ball may leave them."""
        self.x, self.u = self.states(now)
        self.since[:], self.moved[:], self.now = now, 0.0, now
        near, lasts = self._near()
        self.horizon = now + lasts
        both = np.concatenate([near, near[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        cuts = np.searchsorted(both[order, 0], np.arange(1, len(self.x)))
        self.around = np.split(both[order, 1], cuts)
        times = self._times(near[:, 0], near[:, 1], now)
        found = np.flatnonzero(np.isfinite(times))
        self.contacts = [(float(times[k]), int(near[k, 0]), int(near[k, 1]), *self._stamps(near[k])) for k in found]
        heapq.heapify(self.contacts)

    def _near(self) -> tuple[np.ndarray, float]:
        """The pairs of a list, and how long it is complete."""
        count, widest = len(self.hits), float(np.max(self.radii, initial=0.0))
        x = self.x[self.hits]
        fastest = max(float(np.max(self.geometry.speeds(x, self.u[self.hits]), initial=0.0)), 1e-300)
        if count <= _ALL_PAIRS:
            first, second = np.triu_indices(count, 1)
            self.margin = 2.0 * np.pi if self.geometry.sign > 0 else np.inf  # on a sphere contacts recur for ever
            return np.stack([self.hits[first], self.hits[second]], axis=1), 0.5 * self.margin / fastest
        self.margin = max(spread_of(self.geometry, x, _LISTED) - 2.0 * widest, _NARROW * widest)
        return self.hits[neighbours(self.geometry, x, 2.0 * widest + self.margin)], 0.5 * self.margin / fastest

    def _stamps(self, pair: np.ndarray) -> tuple[int, int]:
        return int(self.stamps[pair[0]]), int(self.stamps[pair[1]])

    def _pair(self, first: np.ndarray, second: np.ndarray, t: float) -> Pair:
        size = np.asarray(self.geometry.chord(self.radii[first] + self.radii[second]))
        a, b = (self.geometry.moved(self.x[i], self.u[i], t - self.since[i]) for i in (first, second))
        return Pair(*a, *b, size)

    def _times(self, first: np.ndarray, second: np.ndarray, t: float, pair: Pair | None = None) -> np.ndarray:
        self.looked += len(first)
        pair = self._pair(first, second, t) if pair is None else pair
        return t + self.geometry.first_contacts(pair, min(self.horizon, self.end) - t)

    def collide(self, entry: Entry, restitution: float) -> list[tuple[int, int]]:
        """Carry out a contact, with all that are closed at its time and hang together with it: the balls at this time
        with their velocities after it, and their contacts found anew. Gives the pairs that were struck."""
        t, i, j = entry[:3]
        others = self.around[j][self.around[j] != i]
        first = np.concatenate([np.full(len(self.around[i]), i), np.full(len(others), j)])
        second = np.concatenate([self.around[i], others])
        pair = self._pair(first, second, t)
        closed = self.geometry.squares(pair.x, pair.y) <= (1.0 + of_squares(TOGETHER)) * pair.size
        own = int(np.argmax(second == j))
        closed[own] = True
        if np.count_nonzero(closed) > 1:
            ends = np.sort(np.stack([first, second], axis=1)[closed], axis=1)
            return self._collide_together(t, ends, restitution)
        one = pair.of(np.array([own]))
        after = self.geometry.reflected(one, (float(self.masses[i]), float(self.masses[j])), restitution)
        self._set(np.array([i, j]), t, np.concatenate([one.x, one.y]), np.concatenate(after))
        moved = np.where((first == i)[:, None], self.u[i], self.u[j])
        self._renew(first, second, t, pair._replace(u=moved, w=np.where((second == j)[:, None], self.u[j], pair.w)))
        return [(i, j)]

    def _listed_with(self, balls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The listed pairs with one of some balls, each once, the lower number first."""
        mine = np.concatenate([np.full(len(self.around[k]), k) for k in balls])
        others = np.concatenate([self.around[k] for k in balls])
        first, second = np.minimum(mine, others), np.maximum(mine, others)
        _, once = np.unique(first * len(self.x) + second, return_index=True)
        return first[once], second[once]

    def _collide_together(
        self, t: float, closed: Int[np.ndarray, "pairs 2"], restitution: float
    ) -> list[tuple[int, int]]:
        """The same where several contacts are closed, by the law of impact that walls and bodies obey."""
        while True:
            balls = np.unique(closed)
            first, second = self._listed_with(balls)
            pair = self._pair(first, second, t)
            touch = self.geometry.gaps_now(pair)[0] <= of_squares(TOGETHER) * pair.size
            found = np.unique(np.concatenate([closed, np.stack([first, second], axis=1)[touch]]), axis=0)
            if len(found) == len(closed):
                break
            closed = found
        x, u = self.geometry.moved(self.x[balls], self.u[balls], t - self.since[balls])
        law = Impacts(self.geometry, self.masses[balls], restitution, None)
        places, none = np.searchsorted(balls, closed), np.zeros(len(closed), int)
        after = law.bounced(x, u, places, none, np.zeros(len(balls), int))
        self.code = self.code or after.code
        self._set(balls, t, x, after.velocities)
        self._renew(first, second, t)
        return [(int(a), int(b)) for a, b in closed[after.struck]]

    def _set(self, balls: np.ndarray, t: float, x: np.ndarray, u: np.ndarray) -> None:
        """Balls that are at these points with these velocities from a time on."""
        before = self.geometry.speeds(self.x[balls], self.u[balls])
        self.moved[balls] += before * (t - self.since[balls])
        self.x[balls], self.u[balls] = self.geometry.on(x, u)
        self.since[balls] = t
        self.stamps[balls] += 1
        speeds = self.geometry.speeds(self.x[balls], self.u[balls])
        moving = speeds > 0
        if np.isfinite(self.horizon) and np.any(moving):
            left = np.maximum(0.5 * self.margin - self.moved[balls], 0.0)[moving] / speeds[moving]
            self.horizon = min(self.horizon, t + float(np.min(left)))

    def _renew(self, first: np.ndarray, second: np.ndarray, t: float, pair: Pair | None = None) -> None:
        """Find the contacts of pairs of which a ball has changed its velocity; `pair` where they are known there."""
        self.now = t
        times = self._times(first, second, t, pair)
        for k in np.flatnonzero(np.isfinite(times)):
            ends = np.array([first[k], second[k]])
            heapq.heappush(self.contacts, (float(times[k]), int(ends[0]), int(ends[1]), *self._stamps(ends)))


class Records:
    """The collisions that happened; states of worlds with few coordinates."""

    def __init__(self, world: World, states: bool = True):
        self.world, self.times, self.pairs = world, [], []
        self.states: list[tuple[np.ndarray, ...]] = []
        self.whole = states and world.count * world.point_space.point_dim <= RECORDED

    def add(self, time: float, pair: tuple[int, int], *states: np.ndarray) -> None:
        """One more, with the configuration and the velocities before and after it where they are kept."""
        self.times.append(time)
        self.pairs.append((min(pair), max(pair)))
        if self.whole:
            self.states.append(states)

    def events(self, t0: float, sign: float) -> Events:
        """The records with times as the run counts them."""
        called = sorted(set(self.pairs))
        place = {pair: n for n, pair in enumerate(called)}
        width = self.world.space.point_dim if self.whole else 0
        rows = [np.array([s[n] for s in self.states]).reshape(len(self.times), width) for n in range(3)]
        which = np.array([place[pair] for pair in self.pairs], int)
        names = tuple(f"impact {pair}" for pair in called)
        return Events(t0 + sign * np.array(self.times), which, rows[0], rows[1], rows[2], len(self.times), names)


def look(world: World, q: AnyArray, v: AnyArray) -> Snapshot:
    """The rows of a run from configurations and velocities, one row each."""
    return Snapshot(*(np.asarray(x) for x in _looked(world, q, v)))


@eqx.filter_jit
def _looked(world: World, q: Any, v: Any) -> Any:
    def one(q: Any, v: Any) -> Any:
        q, v = world.space.recentred(q, v)
        t = np.float64(0.0)
        pull, momentum = pull_and_momentum(world, t, q, v)
        seen = q, v, world.raw_energy(t, q, v), momentum, pull
        if world.rigid is None:
            return seen
        if world.flat:
            seen = *seen[:-1], jnp.abs(pull) + pulled_by_sizes(world, q)
        walls = jnp.zeros(0 if world.balls is None else len(world.balls), q.dtype)  # push at instants alone
        return *seen, jnp.concatenate([world.rigid.multipliers(world, t, q, v), walls]), sizes_violated(world, q, v)

    return jax.vmap(one)(q, v)


class Flying:
    """A queue of balls of a world, with the isometry that carries them where they are far from the origin.

    In hyperbolic space arrays lose the digits of what is far out, twice as many where velocities count. Before the
    balls have gone further than `_REACH` they are written near the origin again, and their contacts found anew.
    """

    def __init__(self, world: World, q: AnyArray, v: AnyArray, end: float, sign: float):
        geometry = world.flight
        assert geometry is not None
        self.world, self.geometry, self.sign = world, geometry, sign
        self.carried = isinstance(world.space, Carried)
        q, v = self._near(np.asarray(q), np.asarray(v))
        x, u = self._rows(q, v)
        radii = np.asarray(world.radii) / geometry.radius
        self.queue = Queue(geometry, *geometry.on(x, u), radii, np.asarray(world.masses), end)
        self.rest, self.since = q[x.size :], 0.0

    def arrays(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The configuration and the velocity at a time before the next contact."""
        states = self.queue.states(t)
        point, velocity = (self.geometry.radius * z.reshape(-1) for z in states)
        return np.concatenate([point, self.rest]), np.concatenate([self.sign * velocity, np.zeros(len(self.rest))])

    def next(self, until: float) -> Entry | None:
        """The next contact up to a time."""
        while True:
            stop = min(until, self._until()) if self.carried else until
            entry = self.queue.next(stop)
            if entry is not None or stop >= until:
                return entry
            self._recentre(stop)

    def _until(self) -> float:
        """A time up to which no ball has gone further than `_REACH`."""
        fastest = float(np.max(self.geometry.speeds(self.queue.x, self.queue.u), initial=0.0))
        return self.since + _REACH / fastest if fastest > 0 else np.inf

    def _recentre(self, t: float) -> None:
        self.since = t
        q, v = self.arrays(t)
        near, moving = self._near(q, v)
        if np.array_equal(near, q):
            return
        x, u = self._rows(near, moving)
        self.rest = near[x.size :]
        self.queue.written_anew(t, *self.geometry.on(x, u))

    def _near(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.carried:
            return q, v
        x, u = _recentred(self.world, q, v)
        return np.asarray(x), np.asarray(u)

    def _rows(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, u = (self.world.points(z) / self.geometry.radius for z in (q, v))
        return x, self.sign * u


@eqx.filter_jit
def _recentred(world: World, q: Any, v: Any) -> Any:
    space = world.space
    assert isinstance(space, Carried)
    return jax.lax.cond(space.away(q) > _AWAY, lambda x, u: space.recentred(x, u), lambda x, u: (x, u), q, v)


def fly(
    world: World, q: AnyArray, v: AnyArray, times: np.ndarray, t0: float, most: int, report: Callable[[float], object]
) -> tuple[np.ndarray, np.ndarray, Records, int, int]:
    """Configurations and velocities at the times, the collisions, a code of `Result` and the pairs looked at.

    Times before t0 are reached by turning all velocities round, which undoes elastic collisions.
    """
    assert world.restitution is not None
    sign = -1.0 if times[-1] < t0 else 1.0
    end = abs(float(times[-1]) - t0)
    balls = Flying(world, q, v, end, sign)
    records, code, none = Records(world), int(Code.ok), np.zeros(0)
    rows: list[tuple[np.ndarray, np.ndarray]] = []
    restitution = float(world.restitution)
    try:
        for time in np.abs(times - t0):
            while code == Code.ok and (entry := balls.next(float(time))) is not None:
                before = balls.arrays(entry[0]) if records.whole else (none, none)
                struck = balls.queue.collide(entry, restitution)
                after = balls.arrays(entry[0])[1] if records.whole else none
                for both in struck:
                    records.add(entry[0], both, *before, after)
                code = balls.queue.code
                if len(records.times) >= most:
                    code = int(Code.too_many_events)
            if code != Code.ok:
                break
            rows.append(balls.arrays(float(time)))
            report(float(time) / end if end else 1.0)
    except KeyboardInterrupt:
        code = int(Code.interrupted)
    width = len(np.asarray(q))
    found = [np.array([row[n] for row in rows]).reshape(len(rows), width) for n in (0, 1)]
    return found[0], found[1], records, code, balls.queue.looked
