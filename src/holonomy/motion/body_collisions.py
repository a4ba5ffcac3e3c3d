r"""Bodies whose balls collide: steps of a splitting method, or of `Rattle` with rods, that end where two balls touch.

Bodies act on each other by collisions alone, so that every cluster of joined vertices may take a step of any length.
In a step of length h all clusters move to its end. Where two balls of a list of neighbours touched on the way, their
clusters go back and take the step to the contact, located to round-off with the method's own step \(\Phi_\tau\); the
balls bounce, with all that touch in these clusters at this instant (`cluster_impacts`), and the clusters go on to the
end of the step, which may meet further contacts. The paths between are cubic in time, through the points and velocities
at both ends, which decides only which pairs are looked at and where the search begins. Contacts of different clusters
are found at once.

The compiled step moves all clusters, those that do not collide with length zero (`cluster_steps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.motion.ball_collisions import Records
from holonomy.motion.ball_lists import BallLists
from holonomy.motion.cluster_impacts import Impacts
from holonomy.motion.cluster_steps import Flat, steps_of
from holonomy.motion.methods.compositions import COMPOSITIONS
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import AbstractSplitting
from holonomy.motion.save_times import Plan
from holonomy.systems.bodies import World
from holonomy.systems.bodies.ball_flight import Pair
from holonomy.systems.bodies.clusters import clusters
from holonomy.systems.contact.closeness import TOGETHER, of_squares
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray

Rows = Float[np.ndarray, "vertices point"]
Places = Float[np.ndarray, "pairs point"]
Times = Float[np.ndarray, " pairs"]
NewTimes = Float[np.ndarray, " listed"]  # of a list that has changed

_STRONGEST = 2.0  # damping of half a step, by a bound, up to which its series is of use
_ROUNDS = 200  # contacts of one cluster in a step above which it is crowded
_SAMPLES = np.linspace(0.0, 1.0, 17)  # of a cubic path, between which a contact is looked for
_HALVINGS = 30  # of such an interval, for the start of Newton's method
_NEWTON = 12  # iterations at most
_TOGETHER = 1e-6  # of a step: contacts whose times differ by less are located together
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


class Groups(NamedTuple):
    """Listed pairs that are to touch, by their numbers in the list, their groups, and when in the step, about."""

    listed: Int[np.ndarray, " contacts"]
    of: Int[np.ndarray, " contacts"]
    times: Times


class Bodies:
    """The world on the host: its clusters, its list of neighbours, and the compiled step."""

    def __init__(self, world: World, method: AbstractSplitting | Rattle, sign: float):
        geometry = world.flight
        assert geometry is not None
        assert world.restitution is not None
        self.shape, self.geometry, self.sign = (world.count, world.point_space.point_dim), geometry, sign
        self.impacts = Impacts(geometry, np.asarray(world.masses), float(world.restitution), None)
        self.clusters = clusters(world.bodies)
        self.groups = int(self.clusters.max()) + 1
        self.list = BallLists(geometry, np.asarray(world.radii) / geometry.radius, self.clusters, world.rods)
        self.steps = steps_of(world, method)
        self.work, self.code = 0, int(Code.ok)

    def step(self, q: Flat, v: Flat, h: float) -> tuple[Flat, Flat, Contacts, int]:
        """The state a time h > 0 later, the contacts on the way, and a code of `Result`."""
        self.code = int(Code.ok)
        now = self._to_end(Moving(np.zeros(self.shape[0]), q, v, q, v), h)
        self.list.seen_in(q[self.shape[0] * self.shape[1] :])
        touched = np.ones(self.groups, bool)
        met = self._listed(now, h, touched, np.full(len(self.list.pairs), np.inf))
        look = np.arange(len(met))
        happened = Contacts(np.zeros((0, 2), int), np.zeros(0))
        for _ in range(_ROUNDS):
            met[look] = self._contacts(now, look, h)
            first = self._first(met, now.since, h)
            if self.code != Code.ok or not len(first.listed):
                end_q, end_v, code = self.steps.end(q, now.end_q, now.end_v)
                return end_q, end_v, happened, self.code or code
            now, good = self._collide(now, first, h)
            met[first.listed] = np.inf
            happened = Contacts(*(np.concatenate(both) for both in zip(happened, good, strict=True)))
            touched = np.zeros(self.groups, bool)
            touched[self.clusters[good.pairs]] = True
            met = self._listed(now, h, touched, met)
            look = np.flatnonzero(np.any(touched[self.clusters[self.list.pairs]], axis=1))
        return q, v, happened, int(Code.crowded)

    def _to_end(self, now: Moving, h: float) -> Moving:
        end_q, end_v = self._moved(self.sign * (h - now.since), now.q, now.v)
        return now._replace(end_q=end_q, end_v=end_v)

    def _moved(self, times: np.ndarray, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        self.work += 1
        q, v, code = self.steps.move(times, q, v)
        self.code = self.code or code
        return q, v

    def _rows(self, q: Flat, v: Flat) -> tuple[Rows, Rows]:
        """Points and velocities in units of the radius; the velocities in the direction of the run."""
        scale = 1.0 / self.geometry.radius
        return scale * self._points(q), self.sign * scale * self._points(v)

    def _points(self, z: Flat) -> Rows:
        """The vertices of an array, of which they are a view."""
        return z[: self.shape[0] * self.shape[1]].reshape(self.shape)

    def _listed(self, now: Moving, h: float, touched: Bool[np.ndarray, " clusters"], met: Times) -> NewTimes:
        """The times of the pairs in a list that is complete for the ways that the touched clusters have left."""
        (x, u), (y, w) = self._rows(now.q, now.v), self._rows(now.end_q, now.end_v)
        speeds = np.maximum(self.geometry.speeds(x, u), self.geometry.speeds(y, w))
        part = np.zeros(self.groups)
        part[self.clusters] = 1.0 - now.since / h
        kept = self.list.complete(x, h * self.list.fastest(speeds), np.where(touched, part, 0.0))
        if kept is None:
            return met
        return np.concatenate([met[kept], np.full(len(self.list.pairs) - int(np.sum(kept)), np.inf)])

    def _contacts(self, now: Moving, look: np.ndarray, h: float) -> Times:
        """When the listed pairs with these numbers first touch, about; infinite where they do not."""
        (i, j), sizes = self.list.pairs[look].T, self.list.sizes[look]
        begin = np.maximum(now.since[i], now.since[j])
        states, ends = self._rows(now.q, now.v), self._rows(now.end_q, now.end_v)
        first, second = (_between(states, ends, now.since, h, k, begin) for k in (i, j))
        gap, rate = self.geometry.gaps_now(Pair(*first, *second, sizes))
        last, last_rate = self.geometry.gaps_now(
            Pair(ends[0][i], ends[1][i], ends[0][j], ends[1][j], self.list.sizes[look])
        )
        found = np.full(len(look), np.inf)
        overlap = (gap < 0) & (rate < 0)
        found[overlap] = begin[overlap]
        left = h - begin
        some = np.flatnonzero(~overlap & ((last < 0) | ((rate < 0) & (last_rate > 0))))
        part = _first_zero(gap[some], (rate * left)[some], last[some], (last_rate * left)[some])
        some, part = some[np.isfinite(part)], part[np.isfinite(part)]  # nothing may be left of the step
        found[some] = begin[some] + part * left[some]
        # closed at the end, by a contact just beyond it: it may be met together with one just before
        beyond = ~np.isfinite(found) & (last <= of_squares(TOGETHER) * sizes) & (last_rate < 0)
        found[beyond] = h
        return found

    def _first(self, met: Times, since: np.ndarray, h: float) -> Groups:
        """The contacts that are the first ones of both their clusters, in groups of clusters that have such contacts at
        about the same time: no other contact can prevent those of a group."""
        some = np.flatnonzero(np.isfinite(met))
        a, b = self.clusters[self.list.pairs[some]].T
        earliest = np.full(self.groups, np.inf)
        np.minimum.at(earliest, a, met[some])
        np.minimum.at(earliest, b, met[some])
        first = some[met[some] <= np.minimum(earliest[a], earliest[b]) + _TOGETHER * h]
        groups = _components(self.clusters[self.list.pairs[first]])
        times = np.full(int(groups.max(initial=-1)) + 1, np.inf)
        np.minimum.at(times, groups, met[first])
        begin = np.max(since[self.list.pairs[first]], axis=1, initial=0.0)
        late = np.zeros(len(times), bool)
        late[groups[begin > times[groups]]] = True  # a cluster that has passed the contact of others
        kept = ~late[groups] | (met[first] == times[groups])
        first = first[kept]
        return Groups(first, _components(self.clusters[self.list.pairs[first]]), met[first])

    def _collide(self, now: Moving, groups: Groups, h: float) -> tuple[Moving, Contacts]:
        """The contacts located to round-off and carried out, and those of them that did happen."""
        count = int(groups.of.max()) + 1
        place = np.full(self.groups, -1)
        place[self.clusters[self.list.pairs[groups.listed]]] = groups.of[:, None]
        which = place[self.clusters]
        chosen: Bool[np.ndarray, " vertices"] = which >= 0
        begin, times = np.zeros(count), np.full(count, np.inf)
        np.maximum.at(begin, which[chosen], now.since[chosen])
        np.minimum.at(times, groups.of, groups.times)
        times = np.maximum(times, begin)
        near, tries = False, 0
        while True:
            tries += 1
            since = np.where(chosen, times[which], now.since)
            q, v = self._moved(self.sign * (since - now.since), now.q, now.v)
            x, u = self._rows(q, v)
            gap, rate = self._gaps(x, u, groups.listed)
            after = np.full(count, np.inf)
            falls = rate < 0
            own = times[groups.of] - np.where(falls, gap / np.where(falls, rate, 1.0), -np.inf)
            np.minimum.at(after, groups.of, own)
            after = np.clip(np.where(np.isfinite(after), after, times), begin, h)
            if near or tries == _NEWTON:
                break
            near, times = bool(np.all(np.abs(after - times) <= _NEAR * h)), after
        leading = groups.listed[falls & (own <= after[groups.of])]
        closed = self._closed(x, u, which, leading)
        hit = np.isin(which, np.unique(which[self.list.pairs[leading, 0]]))
        closed = closed[hit[self.list.pairs[closed, 0]]]
        if not len(closed):
            return now, Contacts(np.zeros((0, 2), int), np.zeros(0))
        names, of = np.unique(which[self.list.pairs[closed, 0]], return_inverse=True)
        number = np.full(count + 1, -1)
        number[names] = np.arange(len(names))
        law = self.impacts._replace(allowed=None if self.steps.allowed is None else self._allowed_at(q))
        after_impact = law.bounced(x, u, self.list.pairs[closed], of, np.where(hit, number[which], -1))
        self.code = self.code or after_impact.code
        taken = np.isin(which, np.unique(which[self.list.pairs[closed[after_impact.struck], 0]]))
        w = v.copy()
        self._points(w)[taken] = (self.sign * self.geometry.radius * after_impact.velocities)[taken]
        now = now._replace(since=np.where(taken, since, now.since), q=self._mixed(taken, q, now.q),
                           v=self._mixed(taken, w, now.v))  # fmt: skip
        struck = self.list.pairs[closed[after_impact.struck]]
        return self._to_end(now, h), Contacts(struck, times[which[struck[:, 0]]])

    def _closed(self, x: Rows, u: Rows, which: np.ndarray, leading: np.ndarray) -> np.ndarray:
        """The listed pairs within the groups that touch, the leading ones among them."""
        a, b = which[self.list.pairs].T
        within = np.flatnonzero((a == b) & (a >= 0))
        gap, _ = self._gaps(x, u, within)
        return np.union1d(within[gap <= of_squares(TOGETHER) * self.list.sizes[within]], leading)

    def _gaps(self, x: Rows, u: Rows, listed: np.ndarray) -> tuple[Times, Times]:
        i, j = self.list.pairs[listed].T
        return self.geometry.gaps_now(Pair(x[i], u[i], x[j], u[j], self.list.sizes[listed]))

    def _allowed_at(self, q: Flat) -> Callable[[Rows], Rows]:
        """The projection onto velocities that keep the rods at a configuration, by rows."""
        allowed = self.steps.allowed
        assert allowed is not None

        def projected(ways: Rows) -> Rows:
            flat = np.zeros_like(q)
            self._points(flat)[:] = ways
            return self._points(allowed(q, flat))

        return projected

    def _mixed(self, taken: Bool[np.ndarray, " vertices"], new: Flat, old: Flat) -> Flat:
        """The new rows of some vertices."""
        found = old.copy()
        self._points(found)[taken] = self._points(new)[taken]
        return found


def _components(ends: Int[np.ndarray, "contacts 2"]) -> Int[np.ndarray, " contacts"]:
    """For each contact the number of its group: contacts joined over the clusters that they have in common."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(ends):
        return np.zeros(0, int)
    names, numbers = np.unique(ends, return_inverse=True)
    a, b = numbers.reshape(-1, 2).T
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(len(names), len(names)))
    return connected_components(graph, directed=False)[1][a]


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


def _refuse_strong_damping(world: World, method: AbstractSplitting | Rattle, h: float) -> None:
    """Damping acts by a series in the step, which has no value where the step is too long for it."""
    if not (world.damped and isinstance(method, Rattle)):
        return
    rate = 0.5 * world.damping_rate * float(np.max(np.abs(COMPOSITIONS[method.order])))
    if rate * h > _STRONGEST:
        raise ValueError(
            f"The springs are damped too strongly for dt = {h:g} beside rods and collisions: take dt below "
            f"{_STRONGEST / rate:.1g}, less damping, or, for up to 40 balls, hl.Radau(3)."
        )


def fly(
    world: World,
    method: AbstractSplitting | Rattle,
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
    _refuse_strong_damping(world, method, h)
    bodies, records = Bodies(world, method, sign), Records(world, states=False)
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
