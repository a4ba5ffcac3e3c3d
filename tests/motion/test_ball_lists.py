"""Lists of balls that may touch: all pairs are in them, whatever moves fast, and few others."""

import numpy as np
import pytest

import holonomy as hl
from holonomy.motion.ball_lists import BallLists
from holonomy.systems.bodies.ball_flight import flight, neighbours, reaching

SPACES = {"E": hl.Euclidean(3), "S": hl.Sphere(3), "H": hl.Hyperbolic(3)}


def _balls(where, count, size, rng):
    """Points at random within a ball of this size, and velocities of length one."""
    geometry = flight(SPACES[where])
    assert geometry is not None
    flat = rng.uniform(-size, size, (count, 3))
    start = np.zeros((count, len(geometry.signature)))
    away = np.zeros_like(start)
    away[:, :3] = flat
    if where != "E":
        start[:, 3] = 1.0
    points, _ = geometry.moved(start, away, 1.0)
    way = rng.standard_normal(points.shape)
    if where != "E":
        way -= (geometry.inner(way, points) / geometry.inner(points, points))[:, None] * points
    way = geometry.on(points, way)[1]
    return geometry, points, way / geometry.speeds(points, way)[:, None]


def _apart(geometry, x):
    """The distances of all pairs, from inner products alone."""
    first, second = np.triu_indices(len(x), 1)
    if geometry.sign == 0:
        return first, second, np.linalg.norm(x[first] - x[second], axis=1)
    cosines = geometry.sign * geometry.inner(x[first], x[second])
    return (
        first,
        second,
        np.arccos(np.clip(cosines, -1, 1)) if geometry.sign > 0 else np.arccosh(np.maximum(cosines, 1)),
    )


@pytest.mark.parametrize("where", "ESH")
def test_pairs_within_reach_are_those_of_all_pairs(where):
    """Reaches from 0.03 to 2, in H³ out to five radii."""
    rng = np.random.default_rng(3)
    geometry, x, _ = _balls(where, 200, 3.0 if where == "H" else 1.0, rng)
    reaches = 10.0 ** rng.uniform(-1.5, 0.3, len(x))
    first, second, apart = _apart(geometry, x)
    for found, reach in (
        (reaching(geometry, x, reaches), reaches[first] + reaches[second]),
        (neighbours(geometry, x, 1.5), np.full(len(first), 1.5)),
    ):
        near = apart <= reach
        assert 100 < np.sum(near) < 0.95 * len(near)
        assert {*map(tuple, found.tolist())} == {*zip(first[near].tolist(), second[near].tolist(), strict=True)}
        assert len(found) == np.sum(near)


@pytest.mark.parametrize("where", "ESH")
def test_no_contact_is_missed_and_one_fast_ball_lists_few_pairs(where):
    """Pairs of balls fly along geodesics for 60 steps. One is forty times as fast as the others; others are struck
    within a step and go on as fast from there. At all times every pair that overlaps is in the list."""
    rng = np.random.default_rng(4)
    geometry, x, u = _balls(where, 300, 1.2, rng)
    radius, h, fast = 0.05, 0.005, 40.0
    clusters = np.repeat(np.arange(150), 2)
    u[:2] *= fast
    lists, changed, overlaps = BallLists(geometry, np.full(300, radius), clusters, None), 0, 0
    for step in range(60):
        whole = np.ones(150)
        changed += lists.complete(x, h * lists.fastest(geometry.speeds(x, u)), whole) is not None
        middle, turned = geometry.moved(x, u, 0.5 * h)
        overlaps += _all_listed(geometry, lists, middle, radius)
        struck = clusters == rng.integers(1, 150)
        fall = np.zeros(150)
        if step % 3 == 0:
            turned[struck] *= fast
            fall[clusters[struck]] = 0.5
        speeds = lists.fastest(geometry.speeds(middle, turned))
        kept = lists.complete(np.where(struck[:, None], middle, x), h * speeds, fall)
        if kept is not None:
            assert np.sum(kept) <= len(lists.pairs)
            changed += 1
        x, u = geometry.moved(middle, turned, 0.5 * h)
        overlaps += _all_listed(geometry, lists, x, radius)
        if step % 3 == 0:
            u[struck] /= fast
    assert changed >= 20
    assert overlaps > 500
    fastest = np.sum(_apart(geometry, x)[2] <= 2.0 * (radius + 6.0 * h * fast))
    assert len(lists.pairs) < 0.5 * fastest


def _all_listed(geometry, lists, x, radius):
    first, second, apart = _apart(geometry, x)
    over = apart < 2.0 * radius
    listed = {tuple(sorted(pair)) for pair in lists.pairs.tolist()}
    assert {*zip(first[over].tolist(), second[over].tolist(), strict=True)} <= listed
    assert len(listed) == len(lists.pairs) == len(lists.sizes)
    return np.sum(over)


def test_a_change_of_frame_lists_all_anew():
    """Places of the list mean nothing where the points are written in another frame."""
    geometry, x, u = _balls("H", 60, 1.0, np.random.default_rng(5))
    lists = BallLists(geometry, np.full(60, 0.05), np.arange(60), None)
    ways, whole = 0.001 * lists.fastest(geometry.speeds(x, u)), np.ones(60)
    lists.seen_in(np.zeros(3))
    assert lists.complete(x, ways, whole) is not None
    lists.seen_in(np.zeros(3))
    assert lists.complete(x, ways, whole) is None
    before = lists.pairs
    lists.seen_in(np.ones(3))
    kept = lists.complete(x[::-1].copy(), ways, whole)
    assert kept is not None
    assert not np.any(kept)
    assert {*map(tuple, (59 - before[:, ::-1]).tolist())} == {*map(tuple, lists.pairs.tolist())}
