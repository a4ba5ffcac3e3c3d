"""Other numbers must not compile again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


@pytest.fixture
def compilations():
    count = []

    def listener(name, *_, **__):
        if name.endswith("backend_compile_duration"):
            count.append(name)

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield count
    jax.monitoring.unregister_event_duration_listener(listener)


def make(g, length):
    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * length**2 * v[0] ** 2 + p.m * g * length * jnp.cos(q[0]),
        coordinates={"theta": "angle"},
        parameters={"m": 1.0},
    )


@pytest.mark.parametrize("method", [hl.Gauss(2), hl.RK4(), hl.Adaptive(5)], ids=lambda m: m.label)
def test_nothing_compiles_twice(compilations, method):
    hl.simulate(make(9.81, 1.1), [1.0], [0.0], 1.0, dt=0.01, method=method)
    assert len(compilations) > 0, "the first run must compile, or the counter does not count"
    compilations.clear()
    again = make(3.71, 0.7).with_parameters(m=2.5)
    for change in (
        {"dt": 0.01},
        {"dt": 0.003},
        {"dt": 0.01, "save_every": 7},
        {"dt": 0.01, "save_at": [0.1, 0.25, 0.777]},
        {"dt": 0.01, "t0": 0.5},
    ):
        run = hl.simulate(again, [0.4], [1.3], 7.3, method=method, **change)
        assert run.result.ok
        run(float(run.t[-1]) - 0.0123)
        assert len(run.certificate.rows()) > 5
    assert compilations == []


def test_structure_is_part_of_the_key(compilations):
    """A different formula must not be mistaken for one already compiled."""
    hl.simulate(make(9.81, 1.1), [1.0], [0.0], 0.1, dt=0.01)
    compilations.clear()
    other = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + p.m * 9.81 * jnp.sin(q[0]),
        coordinates={"theta": "angle"},
        parameters={"m": 1.0},
    )
    run = hl.simulate(other, [1.0], [0.0], 0.1, dt=0.01)
    assert len(compilations) > 0
    assert np.all(run.v[1:] > 0)
