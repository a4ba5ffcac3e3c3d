"""Events of awkward functions: moved by actions, several zeros in a step, no number, jumps, stretches of zero."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.events.examples import ball, bounce, oscillator

import holonomy as hl

free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2, coordinates=("x",))
# the slow compilation of these once more, in the other engine, among the long runs
ENGINES = ["native", pytest.param("xla", marks=pytest.mark.proof)]


def moved(sigma, q=0.0, v=1.0, t_end=1.0, engine=None, method=None, **options):
    """A particle at constant speed from q, in steps of 0.1."""
    event = hl.Event(sigma, **options)
    method = method or hl.RK4()
    return hl.simulate(free, [q], [v], t_end, dt=0.1, method=method, engine=engine, events=event, throw=False)


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_after_an_action_signs_are_those_of_the_new_state(engine):
    run = moved(lambda t, q, v: q[0] - 0.2, 0.5, -1.0, 1.5, engine, direction=-1, action=lambda t, q, v: (q - 0.1, -v))
    np.testing.assert_allclose(run.events.t, [0.3], rtol=0, atol=1e-15)  # it rises through 0.2 later, and never falls
    wrapped = moved(lambda t, q, v: q[0] - 0.5, 0.0, 1.0, 9.0, engine, action=lambda t, q, v: (q - 1.0, v))
    np.testing.assert_allclose(wrapped.events.t, 0.5 + np.arange(9), rtol=0, atol=1e-13)
    np.testing.assert_allclose(wrapped.q[-1], [0.0], rtol=0, atol=1e-13)


def test_actions_that_leave_a_function_at_zero_or_carry_another_over_it():
    """A reflection leaves zero where it came from; a jump of 3 carries a second function past its zero: no event."""
    turned = moved(lambda t, q, v: jnp.abs(q[0]) - 0.5, 0.0, 1.0, 3.0, action=lambda t, q, v: (-q, v))
    np.testing.assert_allclose(turned.events.t, [0.5, 1.5, 2.5], rtol=0, atol=1e-14)
    events = [
        hl.Event(lambda t, q, v: q[0] - 0.43, action=lambda t, q, v: (q + 3.0, v)),
        hl.Event(lambda t, q, v: q[0] - 2.0),
        hl.Event(lambda t, q, v: 1e3 * (q[0] - 3.5), name="beyond"),
    ]
    run = hl.simulate(free, [0.0], [1.0], 1.0, dt=0.1, method=hl.Gauss(2), events=events)
    assert [h.name for h in run.events] == ["event 0", "beyond"]
    np.testing.assert_allclose(run.events.t, [0.43, 0.5], rtol=0, atol=1e-14)


def test_an_action_into_a_wall_is_a_result():
    walled = free.constrained(unilateral=lambda t, q: 1.0 - q)
    event = hl.Event(lambda t, q, v: q[0] - 0.5, action=lambda t, q, v: (q + 0.7, v))
    run = hl.simulate(walled, [0.0], [1.0], 2.0, dt=0.1, events=event, throw=False)
    assert run.result.name == "inconsistent"
    assert "action" in str(run.result)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("zeros", [(0.02, 0.05, 0.08), (0.031, 0.033, 0.035), (0.05, 0.0501, 0.095)])
def test_all_zeros_of_a_cubic_within_one_step(zeros, engine):
    for direction, wanted in ((0, zeros), (1, zeros[::2]), (-1, zeros[1:2])):
        run = moved(
            lambda t, q, v, z=zeros: (q[0] - z[0]) * (q[0] - z[1]) * (q[0] - z[2]), engine=engine, direction=direction
        )
        np.testing.assert_allclose(run.events.t, wanted, rtol=0, atol=1e-13)


def test_zeros_of_a_wave_forwards_and_backwards():
    """Nine waves in one turn of an oscillator, in steps of nearly half a wave."""
    wave = hl.Event(lambda t, q, v: jnp.sin(9.0 * jnp.arctan2(-v[0], q[0]) + 1.0))
    wanted = (np.pi * np.arange(1, 5) - 1.0) / 9.0
    run = hl.simulate(oscillator, [1.0], [0.0], 1.2, dt=0.3, method=hl.Gauss(4), events=wave)
    np.testing.assert_allclose(run.events.t, wanted[wanted < 1.2], rtol=0, atol=1e-10)
    back = hl.simulate(oscillator, run.q[-1], run.v[-1], 0.0, t0=1.2, dt=0.3, method=hl.Gauss(4), events=wave)
    np.testing.assert_allclose(back.events.t[::-1], run.events.t, rtol=0, atol=1e-10)


@pytest.mark.parametrize("engine", ENGINES)
def test_functions_without_value_or_with_jumps_end_in_a_code(engine):
    none = moved(lambda t, q, v: jnp.sqrt(0.55 - q[0]) + 1.0, engine=engine)
    assert none.result.name == "event_not_finite"
    assert float(none.result.t) == pytest.approx(0.5)
    assert np.all(np.isfinite(none.q))
    assert moved(lambda t, q, v: jnp.sign(q[0] - 0.53), engine=engine).result.name == "event_jumps"
    assert moved(lambda t, q, v: 1.0 / (q[0] - 0.53), engine=engine).result.name == "event_jumps"
    assert moved(lambda t, q, v: jnp.floor(4.0 * q[0]) - 1.5, engine=engine).result.name == "event_jumps"
    # a saw tooth jumps down and is looked at where it rises; a steep function does not jump
    saw = moved(lambda t, q, v: (3.1 * q[0] + 0.5) % 1.0 - 0.5, engine=engine, direction=1)
    np.testing.assert_allclose(saw.events.t, np.arange(1, 4) / 3.1, rtol=0, atol=1e-13)
    for steep in (lambda t, q, v: jnp.tanh(1e8 * (q[0] - 0.52)), lambda t, q, v: jnp.cbrt(q[0] - 0.52)):
        run = moved(steep, engine=engine)
        assert run.result.ok
        np.testing.assert_allclose(run.events.t, [0.52], rtol=0, atol=1e-14)
    with pytest.raises(hl.SimulationError, match="without being zero"):
        hl.simulate(free, [0.0], [1.0], 1.0, dt=0.1, events=hl.Event(lambda t, q, v: jnp.sign(q[0] - 0.53)))


def test_a_stretch_of_zeros_is_no_event_but_coming_to_it_is():
    assert len(moved(lambda t, q, v: jnp.maximum(q[0] - 0.5, 0.0)).events) == 0
    assert len(moved(lambda t, q, v: jnp.maximum(q[0] - 0.52, 0.0)).events) == 0
    assert len(moved(lambda t, q, v: jnp.zeros(())).events) == 0
    down = moved(lambda t, q, v: jnp.maximum(q[0] - 0.52, 0.0), 1.0, -1.0)
    np.testing.assert_allclose(down.events.t, [0.48], rtol=0, atol=1e-14)
    dead = moved(lambda t, q, v: q[0] - jnp.clip(q[0], 0.33, 0.66), direction=1)
    np.testing.assert_allclose(dead.events.t, [0.33], rtol=0, atol=1e-14)  # rises to zero, stays, and rises on


def test_a_zero_of_higher_order_is_one_event():
    """However flat the function is around it; the flatter, the less can be told when it is reached."""
    for power in (2, 3, 5, 8):
        for zero in (0.52, 0.6, 0.5999):  # within a step, at the end of one, near the end of one
            run = moved(lambda t, q, v, n=power, z=zero: -((q[0] - z) ** n))
            assert run.result.ok
            assert len(run.events) == 1
            assert abs(run.events.t[0] - zero) < 1e-12 ** (1 / power)
    assert len(moved(lambda t, q, v: -((q[0] - 0.52) ** 3), direction=1).events) == 0
    kept = moved(lambda t, q, v: (q[0] - 0.52) ** 2, action=lambda t, q, v: (q, v))
    assert len(kept.events) == 1
    # a zero that is left at once, and touched again in the same step
    for zeros, wanted in (((0.02, 0.05, 0.05), (0.02, 0.05)), ((0.02, 0.0201, 0.0201), (0.02, 0.0201))):
        run = moved(lambda t, q, v, z=zeros: (q[0] - z[0]) * (q[0] - z[1]) * (q[0] - z[2]))
        np.testing.assert_allclose(run.events.t, wanted, rtol=0, atol=1e-7)


def test_names_are_in_the_log_the_certificate_and_files(tmp_path):
    events = [
        hl.Event(lambda t, q, v: q[1], direction=-1, action=bounce, name="landing"),
        hl.Event(lambda t, q, v: v[1], direction=-1),
        hl.Event(lambda t, q, v: q[1] - 0.5, direction=1, name="half way up"),
    ]
    run = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 1.4, dt=0.01, method=hl.RK4(), events=events)
    assert [h.name for h in run.events] == ["landing", "half way up", "event 1", "landing"]
    assert list(run.events.of("landing")) == [0, 3]
    assert list(run.events.of("event")) == [0, 1, 2, 3]
    assert "2 × landing" in str(run.certificate)
    again = hl.load(run.save(tmp_path / "run.nc"))
    assert again.events.names == run.events.names
    assert again.events[1].name == "half way up"
    for bad in ("", 3):
        with pytest.raises(ValueError, match="name must be a text"):
            hl.Event(lambda t, q, v: q[0], name=bad)
    for names, words in ((("a", "a"), "different names"), (("a", "impact 0"), "does not begin with")):
        twice = [hl.Event(lambda t, q, v: q[0], name=n) for n in names]
        with pytest.raises(ValueError, match=words):
            hl.simulate(ball, [0.0, 1.0], [0.0, 0.0], 1.0, dt=0.1, events=twice)
