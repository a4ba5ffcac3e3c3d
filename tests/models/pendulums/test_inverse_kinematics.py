"""Reaching with a bob: there, near, never further than needed, and out of reach."""

import numpy as np
import pytest

from holonomy.models import chain_points, reach

METHODS = ("cyclic", "least motion")


def cases(count=40):
    key = np.random.default_rng(1)
    for _ in range(count):
        n = int(key.integers(1, 9))
        lengths, angles = key.uniform(0.3, 1.5, n), key.uniform(-3.0, 3.0, n)
        bob = int(key.integers(n))
        yield lengths, angles, bob, chain_points(key.uniform(-3.0, 3.0, n), lengths)[bob + 1]


@pytest.mark.parametrize("method", METHODS)
def test_what_can_be_reached_is_reached_and_the_rest_keeps_its_direction(method):
    for lengths, angles, bob, target in cases():
        found = reach(angles, lengths, bob, target, method)
        np.testing.assert_allclose(chain_points(found, lengths)[bob + 1], target, atol=1e-10)
        np.testing.assert_array_equal(found[bob + 1 :], angles[bob + 1 :])


def test_least_motion_is_stationary_along_what_keeps_the_bob_there():
    for lengths, angles, bob, target in cases():
        found = reach(angles, lengths, bob, target, "least motion")[: bob + 1]
        slope = lengths[: bob + 1] * np.stack([np.cos(found), np.sin(found)])
        change = found - angles[: bob + 1]
        free = change - np.linalg.pinv(slope) @ (slope @ change)
        assert np.max(np.abs(free)) < 1e-6 * (1 + np.max(np.abs(change)))


def test_a_small_drag_is_a_small_motion():
    angles, lengths = np.array([0.3, -0.2, 0.9, 0.1]), np.ones(4)
    target = chain_points(angles, lengths)[4] + np.array([1e-3, -2e-3])
    for method in METHODS:
        assert np.max(np.abs(reach(angles, lengths, 3, target, method) - angles)) < 0.02
    least = np.linalg.norm(reach(angles, lengths, 3, target, "least motion") - angles)
    assert least < np.linalg.norm(reach(angles, lengths, 3, target) - angles)


@pytest.mark.parametrize("method", METHODS)
def test_out_of_reach_is_approached_as_far_as_the_chain_goes(method):
    lengths = np.array([1.0, 0.5, 0.7])
    target = np.array([6.0, 8.0])
    end = chain_points(reach(np.array([0.3, -0.2, 0.9]), lengths, 2, target, method), lengths)[3]
    np.testing.assert_allclose(end, 2.2 * target / 10.0, atol=1e-9)
    uneven = np.array([3.0, 0.5, 0.7])  # cannot come nearer to the pivot than 1.8
    end = chain_points(reach(np.array([0.3, -0.2, 0.9]), uneven, 2, np.array([0.3, 0.4]), method), uneven)[3]
    np.testing.assert_allclose(end, 1.8 * np.array([0.6, 0.8]), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_straight_chain_bends_towards_its_pivot(method):
    for target in ([0.0, -2.0], [0.0, 0.0], [0.0, 1e-9]):
        found = reach(np.zeros(3), np.ones(3), 2, np.array(target), method)
        np.testing.assert_allclose(chain_points(found, np.ones(3))[3], target, atol=1e-10)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one angle per length"):
        reach(np.zeros(2), np.ones(3), 0, np.ones(2))
    with pytest.raises(ValueError, match="bob counts from 0 to 1"):
        reach(np.zeros(2), np.ones(2), 2, np.ones(2))
    with pytest.raises(ValueError, match="two finite numbers"):
        reach(np.zeros(2), np.ones(2), 1, np.array([np.nan, 0.0]))
    with pytest.raises(ValueError, match="'cyclic' or 'least motion'"):
        reach(np.zeros(2), np.ones(2), 1, np.ones(2), "magic")
