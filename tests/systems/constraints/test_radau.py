"""Radau with constraints: orders of everything, a published benchmark, stiffness, and tolerances that spoil λ."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import pendulum
from tests.systems.constraints import andrews
from tests.systems.constraints.examples import G, from_angles, rod_pendulum
from tests.systems.constraints.orders import HOLONOMIC, VELOCITY, observed, row

import holonomy as hl
from holonomy.show.figures.fixed_tolerance import worst_multiplier

DOCS = Path(__file__).resolve().parents[3] / "docs" / "constraints.md"
CASES = [(m, dt, "holonomic") for m, dt in HOLONOMIC] + [(m, dt, "velocity") for m, dt in VELOCITY]

# MATH.md §2, for a pendulum
NAMED = {
    "Radau(2, at='end')": (3, 3, 2),
    "Radau(3, at='end')": (5, 5, 5),
    "Radau(2, at='stages')": (3, 2, 1),
    "Radau(3, at='stages')": (5, 3, 2),
}


@pytest.mark.parametrize(("method", "dt", "kind"), CASES, ids=lambda x: getattr(x, "label", str(x)))
def test_observed_orders_are_those_of_the_docs(method, dt, kind):
    orders, _ = observed(method, dt, kind)
    assert np.all(np.abs(orders - np.round(orders)) < 0.1)
    assert row(method.label, kind, orders) in DOCS.read_text()
    if kind == "holonomic":
        assert tuple(np.round(orders)) == NAMED.get(method.label, (method.order,) * 3)


def test_the_docs_have_no_other_rows():
    rows = re.findall(r"^\| `[^|]*` \| (?:holonomic|velocity) \| \d .*$", DOCS.read_text(), re.MULTILINE)
    assert len(rows) == len(CASES)


def test_andrews_forces_are_those_of_the_test_set():
    """The metric's own Coriolis forces against those written out by the test set."""
    random = np.random.default_rng(1)
    q, v = andrews.Q0 + 0.1 * random.normal(size=7), 100 * random.normal(size=7)
    mass, a = andrews.mechanism.mass_matrix(0.0, q), andrews.mechanism.acceleration(0.0, q, v)
    loops = jax.jacfwd(lambda x: andrews.loops(0.0, x))(q)
    right = andrews.forces_by_hand(q, v) + loops.T @ andrews.mechanism.multipliers(0.0, q, v)
    np.testing.assert_allclose(mass @ a, right, rtol=1e-9, atol=1e-9 * np.max(np.abs(right)))


def test_andrews_initial_accelerations_and_multipliers():
    a = andrews.mechanism.acceleration(0.0, andrews.Q0, np.zeros(7))
    multipliers = andrews.mechanism.multipliers(0.0, andrews.Q0, np.zeros(7))
    np.testing.assert_allclose(a, andrews.A0, atol=1e-9 * np.max(np.abs(andrews.A0)))
    np.testing.assert_allclose(multipliers, andrews.LAMBDA0, atol=1e-9 * np.max(np.abs(andrews.LAMBDA0)))


@pytest.mark.parametrize(
    "method", [pytest.param(hl.Radau(3), marks=pytest.mark.proof), hl.Rattle(4)], ids=lambda m: m.label
)
def test_andrews_squeezing_mechanism(method):
    run = hl.simulate(andrews.mechanism, andrews.Q0, np.zeros(7), 0.03, dt=0.03 / 1200, method=method, save_every=1200)
    np.testing.assert_allclose(run.q[-1], andrews.Q_END, rtol=1e-7)
    assert run.certificate.violation < 1e-15


STEPS = (64, 256, 1024, 4096)


def multipliers_with_a_fixed_tolerance(tolerance, steps=STEPS):
    """Errors of λ on a circle for ever smaller steps, by a code that stops Newton's iteration at a tolerance."""
    return [worst_multiplier(*from_angles([1.2], [0.5]), 1.0, n, tolerance) for n in steps]


def multipliers_of_ours():
    """The same by the library, which stops when corrections no longer shrink."""
    errors = []
    for n in STEPS:
        run = hl.simulate(rod_pendulum, *from_angles([1.2], [0.5]), 1.0, dt=1 / n, method=hl.Radau(2))
        half = slice(n // 2 + 1, None)
        exact = G * run.q[half, 1] - np.sum(run.v[half] ** 2, axis=1)
        errors.append(float(np.max(np.abs(run.multipliers[half, 0] - exact))))
    return errors


def test_a_fixed_tolerance_makes_multipliers_worse_with_smaller_steps():
    """The thesis saw its rs2 multipliers get worse and could not say why: confirmed, on a circle."""
    fixed, ours = multipliers_with_a_fixed_tolerance(1e-6), multipliers_of_ours()
    assert fixed[3] > 3 * fixed[2] > 6 * fixed[1]
    np.testing.assert_allclose(np.log2(np.array(ours[:-1]) / np.array(ours[1:])), 4.0, atol=0.1)
    assert ours[3] < 1e-3 * fixed[3]
    np.testing.assert_allclose(ours[:3], multipliers_with_a_fixed_tolerance(None, STEPS[:3]), rtol=1e-2)


def test_the_iteration_of_the_other_code_ends_where_nothing_is_left_to_correct():
    """At rest every correction is exactly zero, and none is smaller than the one before."""
    assert worst_multiplier(np.array([0.0, -1.0]), np.zeros(2), 1.0, 4, None) < 1e-14


def test_stiff_damping_and_driving_under_a_constraint():
    """A rod with a strong damper follows its slow motion at steps far beyond the damper's time."""
    drag = 2e4
    slow = rod_pendulum.forced(lambda t, q, v, p: -drag * v + jnp.stack([drag * 0.3 * jnp.cos(t), 0.0]))
    angle = pendulum.forced(lambda t, q, v, p: -drag * v + jnp.stack([drag * 0.3 * jnp.cos(t) * jnp.cos(q[0])]))
    # θ' = 0.3 cos t cos θ up to 1/drag: sec θ integrates to gd⁻¹
    end = np.arctan(np.sinh(0.3 * np.sin(2.0)))
    run = hl.simulate(slow, [0.0, -1.0], [0.3, 0.0], 2.0, dt=0.05, method=hl.Radau(3))
    np.testing.assert_allclose(run.q[-1], [np.sin(end), -np.cos(end)], atol=2e-3)
    free = hl.simulate(angle, [0.0], [0.3], 2.0, dt=0.05, method=hl.Radau(3))
    np.testing.assert_allclose(run.q[-1], [np.sin(free.q[-1, 0]), -np.cos(free.q[-1, 0])], atol=1e-6)


@pytest.mark.parametrize(("method", "dt"), [(hl.Radau(2), 0.01), (hl.Radau(3), 0.05)], ids=["2", "3"])
def test_order_without_constraints(method, dt):
    run = hl.simulate(pendulum, [2.0], [0.0], 2.0, dt=dt, method=method)
    assert abs(run.observed_order() - method.order) < 0.2
    assert run.multipliers.shape == (len(run.t), 0)
