"""Other numbers must not compile again."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.trace.native import compiler


@pytest.fixture
def compilations():
    """A function that tells how many functions were compiled so far, by XLA or to native code."""
    count = []

    def listener(event: str, duration_secs: float, **_: Any) -> None:
        if event.endswith("backend_compile_duration"):
            count.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield lambda: len(count) + compiler.compilations()
    jax.monitoring.unregister_event_duration_listener(listener)


def make(g, length):
    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * length**2 * v[0] ** 2 + p.m * g * length * jnp.cos(q[0]),
        coordinates={"theta": "angle"},
        parameters={"m": 1.0},
    )


@pytest.mark.parametrize(
    ("method", "engine"),
    [(hl.Gauss(2), "native"), (hl.Gauss(2), "xla"), (hl.RK4(), "native"), (hl.RK4(), "xla"), (hl.Adaptive(5), None)],
)
def test_nothing_compiles_twice(compilations, method, engine):
    before = compilations()
    hl.simulate(make(9.81, 1.1), [1.0], [0.0], 1.0, dt=0.01, method=method, engine=engine)
    first = compilations()
    assert first > before, "the first run must compile, or the counter does not count"
    again = make(3.71, 0.7).with_parameters(m=2.5)
    changes: list[dict[str, Any]] = [
        {"dt": 0.01},
        {"dt": 0.003},
        {"dt": 0.01, "save_every": 7},
        {"dt": 0.01, "save_at": [0.1, 0.25, 0.777]},
        {"dt": 0.01, "t0": 0.5},
    ]
    for change in changes:
        run = hl.simulate(again, [0.4], [1.3], 7.3, method=method, engine=engine, **change)
        assert run.result.ok
        assert np.all(np.isfinite(run(float(run.t[-1]) - 0.0123)[0]))
        assert len(run.certificate.rows()) > 5
    assert compilations() == first


def test_structure_is_part_of_the_key(compilations):
    """A different formula must not be mistaken for one already compiled."""
    hl.simulate(make(9.81, 1.1), [1.0], [0.0], 0.1, dt=0.01)
    before = compilations()
    other = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + p.m * 9.81 * jnp.sin(q[0]),
        coordinates={"theta": "angle"},
        parameters={"m": 1.0},
    )
    run = hl.simulate(other, [1.0], [0.0], 0.1, dt=0.01)
    assert compilations() > before
    assert np.all(run.v[1:] > 0)


def test_what_is_saved_compiles_once(compilations):
    def run(mass, t_end):
        saved = {"height": lambda t, q, v: -2.0 * jnp.cos(q[0]), "speed": lambda t, q, v, p: p.m * v[0]}
        system = make(9.81, 1.5).with_parameters(m=mass)
        return hl.simulate(system, [1.0], [0.0], t_end, dt=0.01, method=hl.RK4(), save=saved)

    run(1.5, 1.0)
    before = compilations()
    run(3.5, 0.9)
    assert compilations() == before
