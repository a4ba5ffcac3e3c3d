"""Runs that go on through positions where the normals of the constraints are dependent."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.singular_linkages import (
    G,
    four_bars,
    four_bars_in_one_angle,
    in_one_angle,
    parallelogram,
    turned_to,
    upright,
)

import holonomy as hl

START = (0.25 * np.pi, -1.0)
HIGH_PRECISION = 1e-3
"""The largest change of energy, in joules, by which reports on the benchmark judge. The stricter class of its
specification has the same number, for errors of the first crank's end."""


@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Rattle(4), hl.Radau(3), hl.RK4()], ids=lambda m: m.label)
def test_a_parallelogram_stays_one_through_its_singular_positions(method):
    """With unequal masses, which push it off its branch; also where steps end in the singular position itself."""
    level = hl.Event(lambda t, q, v: q[0], terminal=True)
    fall = hl.simulate(in_one_angle(1.0, G), START[:1], START[1:], 2.0, dt=1e-3, method=hl.Gauss(3), events=[level])
    for parts in (20.0, 33.3, 40.0, 40.0 * (1.0 + 1e-7)):
        dt = float(fall.t[-1]) / parts
        end = 400 * dt
        run = hl.simulate(parallelogram(), *turned_to(*START), end, dt=dt, method=method, singular="pass")
        whole = hl.simulate(in_one_angle(1.0, G), START[:1], START[1:], end, dt=dt, method=hl.Gauss(3))
        room = 0.1 if method.order == 2 else 1e-4
        assert np.max(np.abs(run.q[:, 1] - np.sin(whole.q[:, 0]))) < room * (20.0 / parts) ** method.order
        np.testing.assert_allclose(run.q[:, 1], run.q[:, 3], atol=1e-9)
        assert np.sum(np.diff(np.sign(run.q[:, 1])) != 0) >= 4, "it passes the line several times"
        assert run.certificate.violation < 1e-9


@pytest.mark.parametrize("loops", [2, 3, 5])
def test_rows_of_four_bars_keep_their_energy_for_ten_seconds(loops):
    """The N-four-bar mechanism of the IFToMM benchmarks, for even and odd N, against the motion in one angle."""
    run = hl.simulate(four_bars(loops), *upright(loops), 10.0, dt=0.01, method=hl.Rattle(4), singular="pass")
    assert run.certificate.energy_drift < HIGH_PRECISION
    assert run.certificate.violation < 1e-9, "to round-off but for rows beside the ends of longer steps"
    whole = hl.simulate(four_bars_in_one_angle(loops), [0.5 * np.pi], [-1.0], 10.0, dt=0.01, method=hl.Gauss(3))
    np.testing.assert_allclose(run.q[:, 1], np.sin(whole.q[:, 0]), atol=1e-5)
    assert np.sum(np.diff(np.sign(run.q[:, 1])) != 0) >= 10


@pytest.mark.proof
def test_radau_passes_five_open_directions():
    """A step of the benchmark's run with N = 5 ends 1/24 of its length before the position where five open."""
    run = hl.simulate(four_bars(5), *upright(5), 6.0, dt=0.01, method=hl.Radau(3), singular="pass")
    assert run.certificate.energy_drift < 1e-4
    whole = hl.simulate(four_bars_in_one_angle(5), [0.5 * np.pi], [-1.0], 6.0, dt=0.01, method=hl.Gauss(3))
    np.testing.assert_allclose(run.q[:, 1], np.sin(whole.q[:, 0]), atol=1e-5)


def test_the_stop_is_the_default_and_names_the_option():
    with pytest.raises(hl.SimulationError, match="singular='pass' goes on along the smooth branch"):
        hl.simulate(parallelogram(), *turned_to(*START), 2.0, dt=0.01)


def test_the_certificate_says_that_singular_positions_are_passed():
    run = hl.simulate(parallelogram(), *turned_to(*START), 1.0, dt=0.01, singular="pass")
    assert "passed along the smooth branch" in str(run.certificate)
    assert run.provenance.singular == "pass"
    assert run.certificate.verdict == "good"


def test_what_cannot_pass_is_refused():
    start = turned_to(*START)
    with pytest.raises(ValueError, match="singular must be 'stop' or 'pass'; got 'jump'"):
        hl.simulate(parallelogram(), *start, 1.0, dt=0.01, singular="jump")
    with pytest.raises(ValueError, match="shortens its steps"):
        hl.simulate(parallelogram(), *start, 1.0, dt=0.01, method=hl.Adaptive(), singular="pass")
    walled = parallelogram().constrained(unilateral=lambda t, q: q[1] + 5.0)
    with pytest.raises(ValueError, match="cannot be combined with unilateral"):
        hl.simulate(walled, *start, 1.0, dt=0.01, singular="pass")
    with pytest.raises(ValueError, match="outside of jit, vmap and grad"):
        jax.jit(lambda q: hl.simulate(parallelogram(), q, start[1], 1.0, dt=0.01, singular="pass").q)(
            jnp.asarray(start[0])
        )
