r"""Bodies of springs whose balls collide: steps of a splitting method that end where two balls touch.

Bodies act on each other by collisions alone, so that every cluster of joined vertices may take a step of any length.
In a step of length h all clusters move to its end. Where two balls of a list of neighbours touched on the way, their
clusters go back and take the step to the contact, located to round-off with the method's own step \(\Phi_\tau\); the
balls bounce, and the two clusters go on to the end of the step, which may meet further contacts. The paths between are
cubic in time, through the points and velocities at both ends, which decides only which pairs are looked at and where
the search begins. Contacts of different clusters are found at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.motion.ball_collisions import Records
from holonomy.motion.methods.base import PositionVelocity
from holonomy.motion.methods.splitting import AbstractSplitting
from holonomy.motion.save_times import Plan
from holonomy.spaces import Carried
from holonomy.systems.bodies import World
from holonomy.systems.bodies.ball_flight import Pair, neighbours, spread_of
from holonomy.systems.bodies.clusters import clusters
from holonomy.systems.result_code import Code
from holonomy.trace.compile_cache import CompileCache
from holonomy.types import AnyArray

Rows = Float[np.ndarray, "vertices point"]
Places = Float[np.ndarray, "pairs point"]
Times = Float[np.ndarray, " pairs"]
Flat = Float[np.ndarray, " coordinates"]

_LISTED = 10  # neighbours of a ball, about, within the reach of a list
_NARROW = 0.5  # margin of a list at least, in radii of the largest ball
_RESERVE = 2.0  # steps of the fastest ball that a list must reach further
_ROUNDS = 200  # contacts of one cluster in a step above which it is crowded
_SAMPLES = np.linspace(0.0, 1.0, 17)  # of a cubic path, between which a contact is looked for
_HALVINGS = 30  # of such an interval, for the start of Newton's method
_NEWTON = 12  # iterations at most
_NEAR = 1e-8  # change of a time, in steps, after which the next iteration of Newton's method is at round-off


class Moving(NamedTuple):
    """A step under way: the states of the clusters at their own times within it, and at its end."""

    since: Float[np.ndarray, " vertices"]
    q: Flat
    v: Flat
    end_q: Flat
    end_v: Flat


class Contacts(NamedTuple):
    """Pairs that touch, and when in the step."""

    pairs: Int[np.ndarray, "contacts 2"]
    times: Times


class Bodies:
    """The world on the host: its clusters, its list of neighbours, and the compiled step."""

    def __init__(self, world: World, splitting: AbstractSplitting, sign: float):
        geometry = world.flight
        assert geometry is not None
        assert world.restitution is not None
        self.shape, self.geometry, self.sign = (world.count, world.point_space.point_dim), geometry, sign
        self.masses, self.restitution = np.asarray(world.masses), float(world.restitution)
        self.radii = np.asarray(world.radii) / geometry.radius
        self.hits = np.flatnonzero(self.radii > 0)
        self.clusters = clusters(world.bodies)
        self.groups = int(self.clusters.max()) + 1
        self.move, self.recentre = _compiled(world, splitting)
        self.pairs, self.sizes = np.zeros((0, 2), int), np.zeros(0)
        self.left, self.work = -1.0, 0

    def step(self, q: Flat, v: Flat, h: float) -> tuple[Flat, Flat, Contacts, int]:
        """The state a time h > 0 later, the contacts on the way, and a code of `Result`."""
        now = self._to_end(Moving(np.zeros(self.shape[0]), q, v, q, v), h)
        self._list(now, h)
        met = np.full(len(self.pairs), np.inf)
        look = np.arange(len(self.pairs))
        happened = Contacts(np.zeros((0, 2), int), np.zeros(0))
        for _ in range(_ROUNDS):
            met[look] = self._contacts(now, look, h)
            first = self._mutually_first(met)
            if not len(first):
                return *self.recentre(now.end_q, now.end_v), happened, int(Code.ok)
            now, good = self._collide(now, Contacts(self.pairs[first], met[first]), h)
            met[first] = np.inf
            happened = Contacts(*(np.concatenate(both) for both in zip(happened, good, strict=True)))
            touched = np.zeros(self.groups, bool)
            touched[self.clusters[good.pairs]] = True
            look = np.flatnonzero(np.any(touched[self.clusters[self.pairs]], axis=1))
        return q, v, happened, int(Code.crowded)

    def _to_end(self, now: Moving, h: float) -> Moving:
        self.work += 1
        end = self.move(self.sign * (h - now.since), now.q, now.v)
        return now._replace(end_q=end[0], end_v=end[1])

    def _rows(self, q: Flat, v: Flat) -> tuple[Rows, Rows]:
        """Points and velocities in units of the radius; the velocities in the direction of the run."""
        scale = 1.0 / self.geometry.radius
        return scale * self._points(q), self.sign * scale * self._points(v)

    def _points(self, z: Flat) -> Rows:
        """The vertices of an array, of which they are a view."""
        return z[: self.shape[0] * self.shape[1]].reshape(self.shape)

    def _list(self, now: Moving, h: float) -> None:
        """Make the list of neighbours anew where a ball may have left it by the end of the step."""
        (x, u), (y, w) = self._rows(now.q, now.v), self._rows(now.end_q, now.end_v)
        speeds = [np.max(self.geometry.speeds(a[self.hits], b[self.hits]), initial=0.0) for a, b in ((x, u), (y, w))]
        way = 2.0 * h * float(max(speeds))
        self.left -= way
        if not self.left < _RESERVE * way:
            return
        widest = float(np.max(self.radii, initial=0.0))
        margin = max(spread_of(self.geometry, x[self.hits], _LISTED) - 2.0 * widest, _NARROW * widest)
        self.left = max(margin, 2.0 * (1.0 + _RESERVE) * way)
        near = neighbours(self.geometry, x[self.hits], 2.0 * widest + self.left) if len(self.hits) > 1 else self.pairs
        self.left -= way
        self.pairs = self.hits[near]
        self.sizes = np.asarray(self.geometry.chord(self.radii[self.pairs].sum(axis=1)))

    def _contacts(self, now: Moving, look: np.ndarray, h: float) -> Times:
        """When the listed pairs with these numbers first touch, about; infinite where they do not."""
        i, j = self.pairs[look].T
        begin = np.maximum(now.since[i], now.since[j])
        states, ends = self._rows(now.q, now.v), self._rows(now.end_q, now.end_v)
        first, second = (_between(states, ends, now.since, h, k, begin) for k in (i, j))
        gap, rate = self.geometry.gaps_now(Pair(*first, *second, self.sizes[look]))
        last, last_rate = self.geometry.gaps_now(Pair(ends[0][i], ends[1][i], ends[0][j], ends[1][j], self.sizes[look]))
        found = np.full(len(look), np.inf)
        overlap = (gap < 0) & (rate < 0)
        found[overlap] = begin[overlap]
        left = h - begin
        some = np.flatnonzero(~overlap & ((last < 0) | ((rate < 0) & (last_rate > 0))))
        part = _first_zero(gap[some], (rate * left)[some], last[some], (last_rate * left)[some])
        found[some] = begin[some] + part * left[some]
        return found

    def _mutually_first(self, met: Times) -> np.ndarray:
        """The contacts that are the first ones of both their clusters: no contact can prevent another of them."""
        some = np.flatnonzero(np.isfinite(met))
        a, b = self.clusters[self.pairs[some]].T
        earliest = np.full(self.groups, np.inf)
        np.minimum.at(earliest, a, met[some])
        np.minimum.at(earliest, b, met[some])
        first = some[(met[some] <= earliest[a]) & (met[some] <= earliest[b])]
        taken: set[int] = set()
        kept: list[int] = []
        for k in first:  # of contacts at the same instant one of each cluster
            ends = set(self.clusters[self.pairs[k]].tolist())
            if not ends & taken:
                kept.append(int(k))
                taken |= ends
        return np.array(kept, int)

    def _collide(self, now: Moving, contacts: Contacts, h: float) -> tuple[Moving, Contacts]:
        """The contacts located to round-off and carried out, and those of them that did happen."""
        i, j = contacts.pairs.T
        begin = np.maximum(now.since[i], now.since[j])
        times, sizes = contacts.times.copy(), np.asarray(self.geometry.chord(self.radii[contacts.pairs].sum(axis=1)))
        place = np.full(self.groups, -1)
        place[self.clusters[i]] = place[self.clusters[j]] = np.arange(len(i))
        which = place[self.clusters]
        chosen: Bool[np.ndarray, " vertices"] = which >= 0
        near, tries = False, 0
        while True:
            self.work, tries = self.work + 1, tries + 1
            since = np.where(chosen, times[which], now.since)
            q, v = self.move(self.sign * (since - now.since), now.q, now.v)
            x, u = self._rows(q, v)
            gap, rate = self.geometry.gaps_now(Pair(x[i], u[i], x[j], u[j], sizes))
            falls = rate < 0
            after = np.clip(times - np.where(falls, gap / np.where(falls, rate, 1.0), 0.0), begin, h)
            if near or tries == _NEWTON:
                break
            near, times = bool(np.all(np.abs(after - times) <= _NEAR * h)), after
        good = np.flatnonzero(falls)
        v = self._bounced(v, x, u, contacts.pairs[good], sizes[good])
        taken = np.isin(which, good)
        now = now._replace(since=np.where(taken, since, now.since), q=self._mixed(taken, q, now.q),
                           v=self._mixed(taken, v, now.v))  # fmt: skip
        return self._to_end(now, h), Contacts(contacts.pairs[good], times[good])

    def _mixed(self, taken: Bool[np.ndarray, " vertices"], new: Flat, old: Flat) -> Flat:
        """The new rows of some vertices."""
        found = old.copy()
        self._points(found)[taken] = self._points(new)[taken]
        return found

    def _bounced(self, v: Flat, x: Rows, u: Rows, pairs: np.ndarray, sizes: Times) -> Flat:
        found = v.copy()
        rows = self._points(found)
        for (i, j), size in zip(pairs, sizes, strict=True):
            pair = Pair(x[[i]], u[[i]], x[[j]], u[[j]], np.array([size]))
            after = self.geometry.reflected(pair, (float(self.masses[i]), float(self.masses[j])), self.restitution)
            for k, point, velocity in ((i, pair.x, after[0]), (j, pair.y, after[1])):
                rows[k] = self.sign * self.geometry.radius * self.geometry.on(point, velocity)[1][0]
        return found


def _between(
    states: tuple[Rows, Rows], ends: tuple[Rows, Rows], since: np.ndarray, h: float, k: np.ndarray, t: Times
) -> tuple[Places, Places]:
    """Points and velocities of some vertices at times of the step, on cubic paths to its end."""
    length = (h - since[k])[:, None]
    s = np.where(length > 0, (t - since[k])[:, None] / np.where(length > 0, length, 1.0), 0.0)
    (x, u), (y, w) = ((a[k], b[k]) for a, b in (states, ends))
    if not np.any(s):
        return x, u
    r = 1.0 - s
    place = r * r * (1.0 + 2.0 * s) * x + s * s * (3.0 - 2.0 * s) * y + length * s * r * (r * u - s * w)
    slope = np.where(length > 0, 6.0 * s * r * (y - x) / np.where(length > 0, length, 1.0), 0.0)
    return place, slope + r * (1.0 - 3.0 * s) * u + s * (3.0 * s - 2.0) * w


def _first_zero(gap: Times, rate: Times, last: Times, last_rate: Times) -> Times:
    """Where cubics on [0, 1] with these values and slopes at the ends first go below zero, infinite where nowhere."""

    def value(s: Any) -> Any:
        r = 1.0 - s
        ends = r * r * (1.0 + 2.0 * s) * gap[:, None] + s * s * (3.0 - 2.0 * s) * last[:, None]
        return ends + s * r * (r * rate[:, None] - s * last_rate[:, None])

    if not len(gap):
        return np.zeros(0)
    # the minimum of the cubic as one more place to look: a contact that grazes lies around it
    a, b = 6.0 * (gap - last) + 3.0 * (rate + last_rate), 6.0 * (last - gap) - 4.0 * rate - 2.0 * last_rate
    root = np.sqrt(np.maximum(b * b - 4.0 * a * rate, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(b >= 0, -2.0 * rate / (b + root), (root - b) / (2.0 * a))  # the quotient that does not cancel
    least = np.clip(np.nan_to_num(least, nan=0.5), 0.0, 1.0)
    places = np.sort(np.concatenate([np.broadcast_to(_SAMPLES, (len(gap), len(_SAMPLES))), least[:, None]], axis=1))
    values = value(places)
    falls = (values[:, :-1] >= 0) & (values[:, 1:] < 0)
    some = np.any(falls, axis=1)
    k = np.argmax(falls, axis=1)
    rows = np.arange(len(gap))
    low, high = places[rows, k], places[rows, k + 1]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = value(middle[:, None])[:, 0] >= 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(some, low, np.inf)


_steps = CompileCache()
Mover = Callable[..., tuple[Flat, Flat]]


def _compiled(world: World, splitting: AbstractSplitting) -> tuple[Mover, Mover]:
    """The step with times of their own for all vertices, and the state written near the origin."""
    dynamic, static = eqx.partition(world, lambda leaf: isinstance(leaf, np.ndarray | jax.Array))
    numbers, form = jax.tree.flatten(dynamic)  # a list: the objects of a world would be taken apart in every call
    leaves, tree = jax.tree.flatten(static)

    def build() -> tuple[Any, Any]:
        def whole(numbers: Any) -> World:
            return eqx.combine(jax.tree.unflatten(form, numbers), static)

        def move(numbers: Any, times: Any, q: Any, v: Any) -> Any:
            return tuple(splitting.step_of_each(whole(numbers), jnp.zeros(()), times, PositionVelocity(q, v)))

        return jax.jit(move), jax.jit(lambda numbers, q, v: whole(numbers).recentred(q, v))

    move, recentre = _steps.get((form, tree, tuple(leaves), splitting.label), build)
    numbers = jax.device_put(numbers)

    def host(found: Any) -> tuple[Flat, Flat]:
        return np.asarray(found[0]), np.asarray(found[1])

    carried = isinstance(world.space, Carried)
    return (
        lambda times, q, v: host(move(numbers, times, q, v)),
        lambda q, v: host(recentre(numbers, q, v)) if carried else (q, v),
    )


def fly(
    world: World,
    splitting: AbstractSplitting,
    q: AnyArray,
    v: AnyArray,
    rows: Plan,
    most: int,
    report: Callable[[float], object],
) -> tuple[np.ndarray, np.ndarray, Records, int, int, int]:
    """Configurations and velocities at the saved times, the collisions, a code of `Result`, the steps and the work.

    A run backwards takes steps of negative length and turns velocities round where it looks for contacts, which undoes
    elastic collisions.
    """
    sign, h = float(np.sign(rows.dt)), abs(rows.dt)
    bodies, records = Bodies(world, splitting, sign), Records(world, states=False)
    state = (np.asarray(q, float), np.asarray(v, float))
    saved: list[tuple[np.ndarray, np.ndarray]] = []
    code, steps = int(Code.ok), 0
    try:
        for count, rest in zip(rows.counts, rows.rests, strict=True):
            for _ in range(int(count)):
                *new, contacts, code = bodies.step(*state, h)
                code = code if np.all(np.isfinite(new)) else int(Code.not_finite)
                if code != Code.ok:
                    break
                state = (new[0], new[1])
                for k in np.argsort(contacts.times, kind="stable"):
                    i, j = contacts.pairs[k].tolist()
                    records.add(steps * h + float(contacts.times[k]), (i, j))
                steps += 1
                if len(records.times) >= most:
                    code = int(Code.too_many_events)
                    break
            if code != Code.ok:
                break
            saved.append(bodies.step(*state, abs(float(rest)))[:2] if rest else state)
            report(steps / max(rows.steps, 1))
    except KeyboardInterrupt:
        code = int(Code.interrupted)
    found = [np.array([row[n] for row in saved]).reshape(len(saved), len(state[0])) for n in (0, 1)]
    return found[0], found[1], records, code, steps, bodies.work
