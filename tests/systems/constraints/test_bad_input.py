"""One clear sentence for every mistake with constraints, and the good part of a run that fails on the way."""

import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
from tests.motion.examples import pendulum
from tests.systems.constraints.examples import from_angles, rod_pendulum, skate

import holonomy as hl

plane = hl.System.from_metric(lambda q: jnp.eye(2), coordinates=("x", "y"))
UP = np.array([0.0, 1.0])


@pytest.fixture(autouse=True)
def as_a_user(monkeypatch):
    """Without the run time check of types, which only tests have and which would speak first."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"Pass holonomic=phi\(t, q\), velocity=a\(t, q, v\), unilateral=sigma\(t, q\), or several"),
        ({"holonomic": 3.0}, "holonomic constraint must be a function"),
        ({"holonomic": lambda t, q: jnp.eye(2)}, r"one number per condition, shape \(m,\).*it returned shape \(2, 2\)"),
        ({"holonomic": lambda t, q: q[0] + p}, "could not be evaluated"),  # pyright: ignore
        ({"velocity": lambda t, q, v: jnp.dot(v, v) - 1.0}, "must be affine in v.*component 0 is not"),
        ({"velocity": lambda t, q, v: jnp.stack([v[0], v[0] * v[1]])}, "component 1 is not"),
    ],
)
def test_sentences_when_constraining(options, words):
    with pytest.raises(ValueError, match=words):
        plane.constrained(**options)


def test_an_inconsistent_start_comes_with_the_projected_one():
    with pytest.raises(ValueError, match=r"q0 is about 0\.0494 away.*nearest consistent state is q0 = \[0\.52999"):
        hl.simulate(rod_pendulum, [0.5, -0.8], [0.0, 0.0], 1.0, dt=0.1)
    with pytest.raises(ValueError, match=r"v0 is about 0\.48 away.*v0 = \[0\.64, 0\.48\]"):
        hl.simulate(rod_pendulum, [0.6, -0.8], [1.0, 0.0], 1.0, dt=0.1)


def test_a_start_within_rounding_of_the_constraints_is_put_on_them():
    q, v = from_angles([0.4], [0.2])
    run = hl.simulate(rod_pendulum, q * (1 + 1e-10), v, 0.1, dt=0.1)
    assert run.violation[0, 0] < 1e-15


def test_contradictions_are_refused():
    both = plane.constrained(holonomic=lambda t, q: jnp.stack([q[0], q[0] - 1.0]))
    with pytest.raises(ValueError, match="Either they contradict each other, or the start is too far away"):
        hl.simulate(both, [0.0, 0.0], [0.0, 0.0], 1.0, dt=0.1)
    later = plane.constrained(holonomic=lambda t, q: q[0] - t).constrained(velocity=lambda t, q, v: v[0] - 1.0 - t)
    with pytest.raises(ValueError, match="contradict each other: they hold at the initial state, but no acceleration"):
        hl.simulate(later, [0.0, 0.0], [1.0, 0.0], 1.0, dt=0.1)
    flat = plane.constrained(holonomic=lambda t, q: q[0] ** 2)
    with pytest.raises(ValueError, match="do not restrict any motion at q0"):
        hl.simulate(flat, [0.0, 0.0], [0.0, 1.0], 1.0, dt=0.1)


@pytest.mark.parametrize(
    ("system", "method", "words"),
    [
        (rod_pendulum, hl.Gauss(3), r"Gauss\(3\) cannot hold holonomic constraints.*hl\.Rattle\(4\) or hl\.Radau\(3\)"),
        (skate, hl.Rattle(4), r"Rattle\(4\) cannot hold velocity constraints.*hl\.Gauss\(3\) or hl\.Radau\(3\)"),
        (pendulum, hl.Rattle(4), "for systems with holonomic constraints and this one has none"),
    ],
)
def test_a_method_that_cannot_hold_a_constraint_is_refused(system, method, words):
    n = len(system.names)
    with pytest.raises(ValueError, match=words):
        hl.simulate(system, np.zeros(n), np.zeros(n), 1.0, dt=0.1, method=method)


def test_methods_refuse_impossible_options():
    with pytest.raises(ValueError, match="orders 2, 4 and 6"):
        hl.Rattle(3)
    with pytest.raises(ValueError, match="2 stages"):
        hl.Radau(4)
    with pytest.raises(ValueError, match="at='end' or at='stages'"):
        hl.Radau(3, at="middle")


def test_a_step_too_large_for_newton_keeps_the_good_part():
    fast = from_angles([0.9], [0.1])
    kicked = rod_pendulum.forced(lambda t, q, v, p: jnp.where(t > 0.45, 1.0, 0.0) * jnp.stack([3e4, 0.0]))
    with pytest.raises(hl.SimulationError, match=r"could not be solved|changed their rank") as caught:
        hl.simulate(kicked, *fast, 2.0, dt=0.1, method=hl.Rattle(2))
    run = caught.value.run
    assert 4 <= len(run.t) <= 6
    assert np.all(np.isfinite(run.q))
    assert run.certificate.violation < 1e-14


@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Radau(3), hl.RK4()], ids=lambda m: m.label)
def test_a_change_of_rank_is_reported(method):
    """A point on the cross x y = 0 comes to where its two lines meet, and there is more than one way on."""
    cross = plane.constrained(holonomic=lambda t, q: q[0] * q[1])
    run = hl.simulate(cross, [1.0, 0.0], [-1.0, 0.0], 2.0, dt=0.03, method=method, throw=False)
    assert run.result.name == "rank_change"
    assert abs(run.result.t - 1.0) < 0.03
    np.testing.assert_allclose(run.q[:, 0], 1.0 - run.t, atol=1e-13)


def test_a_condition_that_stops_following_from_the_others_is_reported():
    """Both say x = 0 to first order at the start; a little further only one of them can hold."""
    system = hl.System.from_metric(lambda q: jnp.eye(3), coordinates=("x", "y", "z")).constrained(
        holonomic=lambda t, q: jnp.stack([q[2], q[2] + q[0] ** 4])
    )
    run = hl.simulate(system, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0, dt=0.01, method=hl.Rattle(2), throw=False)
    assert run.result.name == "rank_change"
    assert 0.0 < run.result.t < 0.2


def test_degrees_of_freedom_cannot_be_traced():
    import jax

    with pytest.raises(ValueError, match="cannot be traced"):
        jax.jit(lambda q: rod_pendulum.virtual_displacements(0.0, q))(jnp.array([0.6, -0.8]))


def test_positions_are_needed_for_cartesian_constraint_forces():
    with pytest.raises(ValueError, match="need positions"):
        plane.constrained(holonomic=lambda t, q: q[0]).constraint_forces(0.0, UP, np.zeros(2))


def test_combine_takes_systems():
    with pytest.raises(ValueError, match="the second is int"):
        hl.combine(pendulum, 3)  # pyright: ignore[reportArgumentType]
