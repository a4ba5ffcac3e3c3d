"""Four ways to the motion of a linkage against each other and against values of forty digits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models.linkages.routes import ROUTES
from holonomy.trace.native import compiler

LINK = hl.Linkage(rods=4, base=3.0)
HEAVY = hl.Linkage(4, 2.8, [0.3, 0.1, 0.5, 0.2], [1.0, 0.4, 0.7])
METHODS = {"sphere": hl.Gauss(4), "chart": hl.Gauss(4), "embedding": hl.Gauss(4), "rods": hl.Rattle(6)}
REFERENCE = np.array(
    [
        [0.6347357292366, -0.7727292889689],
        [1.6101729244237, -0.5524515591697],
        [2.5503294332228, -0.8931944812718],
    ]
)


def start(link: hl.Linkage, angles, rates):
    """Point and velocity on the sphere of angles and their rates."""
    at = jnp.asarray(angles, float)
    return jax.jvp(link.from_angles, (at,), (jnp.asarray(rates, float),))


def hinges_at(link: hl.Linkage, route: str, x, v, times, dt: float, gravity=0.0):
    """Hinges at the given times by one route, and the run."""
    system = link.system(route, gravity=gravity)
    run = hl.simulate(system, *link.state(route, x, v), float(times[-1]), dt=dt, method=METHODS[route], save_at=times)
    return system.places(run.t, run.q), run


SLOW = ("chart", "embedding")  # to trace


@pytest.mark.parametrize(
    "route", [pytest.param(route, marks=[pytest.mark.proof] if route in SLOW else []) for route in ROUTES]
)
def test_reference_geodesic(route: str) -> None:
    x, v = start(LINK, [0.4, 0.7], [1.0, 0.5])
    assert abs(LINK.energy(x, v) - 1.4524174564545) < 1e-12
    dt = 0.005 if route == "rods" else 0.02
    places, run = hinges_at(LINK, route, x, v, np.array([0.0, 1.0]), dt)
    assert np.abs(places[-1] - REFERENCE).max() < 1e-11
    assert np.abs(run.energy - run.energy[0]).max() < 1e-11


@pytest.mark.proof
def test_through_a_pole() -> None:
    """Aimed exactly at the pole: the routes without poles go through it and agree beyond it."""
    x = LINK.from_angles([0.9, 2.0])
    pole = np.array([1.0, 0.0, 0.0])
    motion = LINK.shortest(pole, x)[0]
    _, back = LINK.geodesic_flow(pole, motion.velocity, 1.0)
    v = -back
    times = np.array([0.0, 1.0, 2.0])
    exact = np.stack([LINK.hinges(p) for p in LINK.geodesic(x, v, times)])
    assert np.abs(LINK.geodesic(x, v, 1.0) - pole).max() < 1e-13
    for route in ("sphere", "embedding", "rods"):
        places, run = hinges_at(LINK, route, x, v, times, 0.005 if route == "rods" else 0.02)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-12
        assert np.abs(places - exact).max() < 1e-9
    places, _ = hinges_at(LINK, "chart", *_beside(x, v), times, 0.02)
    assert np.all(np.isfinite(places))


def _beside(x, v):
    """A start a little to the side, for the route that cannot pass the pole."""
    across = jnp.cross(x, v)
    return x, v + 0.2 * across


@pytest.mark.proof
def test_weight_by_every_route() -> None:
    """Rods and hinges of unlike masses under gravity: energy kept, four routes agree."""
    x, v = start(HEAVY, [0.3, 1.1], [0.4, -0.8])
    times = np.array([0.0, 0.5, 1.0])
    found = {r: hinges_at(HEAVY, r, x, v, times, 0.005 if r == "rods" else 0.02, gravity=2.0) for r in ROUTES}
    for route, (places, run) in found.items():
        assert np.abs(places - found["sphere"][0]).max() < 1e-9, route
        assert np.abs(run.energy - run.energy[0]).max() < 1e-9, route


@pytest.mark.parametrize("link", [LINK, HEAVY])
def test_bending_is_the_force_of_the_rods(link: hl.Linkage) -> None:
    """|II(v, v)| in M equals the constraint force of the multipliers in the inverse of M; M II(v, v) is that force."""
    system = link.system("rods")
    m = np.asarray(link.surface.ambient())
    random = np.random.default_rng(1)
    for _ in range(5):
        x = link.space.project(random.normal(size=3))
        v = link.space.tangent(x, random.normal(size=3))
        q, w = link.state("rods", x, v)
        force = np.asarray(system.constraint_forces(0.0, q, w)).reshape(-1)
        bent = np.asarray(link.bending(x, v, v)).reshape(-1)
        assert abs(np.sqrt(bent @ m @ bent) - np.sqrt(force @ np.linalg.solve(m, force))) < 1e-11
        np.testing.assert_allclose(m @ bent, force, rtol=0, atol=1e-11)
        np.testing.assert_allclose(link.tensions(x, v), -system.multipliers(0.0, q, w), rtol=0, atol=1e-11)


def test_tensions_at_rest_carry_the_weight() -> None:
    x = HEAVY.from_angles([0.3, 1.1])
    pulls = HEAVY.tensions(x, np.zeros(3), gravity=2.0)
    system = HEAVY.system("rods", gravity=2.0)
    q, w = HEAVY.state("rods", x, np.zeros(3))
    np.testing.assert_allclose(pulls, -system.multipliers(0.0, q, w), rtol=0, atol=1e-12)


def test_other_numbers_compile_nothing() -> None:
    counts = []
    for link in (LINK, hl.Linkage(4, 2.6, 0.4, [1.0, 2.0, 0.5])):
        x, v = start(link, [0.4, 0.7], [1.0, 0.5])
        hinges_at(link, "sphere", x, v, np.array([0.0, 0.2]), 0.02)
        counts.append(compiler.compilations())
    assert counts[0] == counts[1]


def test_a_potential_of_the_hinges() -> None:
    """A spring from the middle hinge to the base line: the energy of the sphere route is that of the rods route."""

    def spring(h):
        return 1.5 * h[1, 1] ** 2

    x, v = start(LINK, [0.4, 0.7], [1.0, 0.5])
    a, b = LINK.system("sphere", potential=spring), LINK.system("rods", potential=spring)
    assert abs(a.energy(0.0, x, v) - b.energy(0.0, *LINK.state("rods", x, v))) < 1e-13
    assert abs(a.energy(0.0, x, v) - LINK.energy(x, v) - spring(LINK.hinges(x))) < 1e-13


def test_rods_move_where_there_is_no_sphere() -> None:
    """Four rods on the base 1: a surface of genus 4, and the rods keep their length and energy."""
    link = hl.Linkage(4, 1.0)
    h = np.array([[0.0, 1.0], [0.8, 1.6], [1.6, 1.0]])
    h[2] = h[1] + _elbow(h[1], np.array([1.0, 0.0]))
    system = link.system("rods")
    q, v = system.project(0.0, h.reshape(-1), np.array([1.0, 0.0, 0.3, -0.2, 0.0, 0.5]))
    run = hl.simulate(system, q, v, 2.0, dt=0.01, method=hl.Rattle(4))
    ends = np.concatenate(
        [np.zeros((len(run.t), 1, 2)), run.q.reshape(-1, 3, 2), np.tile([[[1.0, 0.0]]], (len(run.t), 1, 1))], 1
    )
    assert np.abs(np.linalg.norm(np.diff(ends, axis=1), axis=2) - 1).max() < 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6


def _elbow(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """From a, a unit step to a point at distance one from b."""
    gap = b - a
    d = np.linalg.norm(gap)
    return gap / 2 + np.sqrt(1 - d**2 / 4) * np.array([-gap[1], gap[0]]) / d
