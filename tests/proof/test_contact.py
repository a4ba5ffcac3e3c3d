"""A hundred thousand bounces."""

import numpy as np
import pytest
from tests.systems.contact.examples import billiard, in_circle

import holonomy as hl

pytestmark = pytest.mark.proof

BOUNCES = 100_000


def test_circle_keeps_angular_momentum_over_a_hundred_thousand_bounces():
    spin = 0.3 * 0.8 - 0.1 * 0.6
    chord = 2 * np.sqrt(1 - spin**2)
    # a step longer than a chord: what is left to round are the impacts, not positions on the way
    dt = 2.0
    end = dt * round((BOUNCES + 1) * chord / dt)
    run = hl.simulate(
        billiard(in_circle),
        [0.3, 0.1],
        [0.6, 0.8],
        end,
        dt=dt,
        method=hl.RK4(),
        save_every=1000,
        max_events=2 * BOUNCES,
    )
    assert len(run.events) >= BOUNCES
    at = run.events
    after = at.q[:, 0] * at.v_after[:, 1] - at.q[:, 1] * at.v_after[:, 0]
    assert np.max(np.abs(after - spin)) < 1e-13
    assert np.max(np.abs(run.q[:, 0] * run.v[:, 1] - run.q[:, 1] * run.v[:, 0] - spin)) < 1e-13
    assert np.max(np.abs(run.energy - 0.5)) < 1e-13
    assert np.max(np.hypot(*run.q.T)) < 1 + 1e-9
    # as many chords as time allows, none missed
    np.testing.assert_allclose(np.diff(at.t), chord, rtol=1e-9)
