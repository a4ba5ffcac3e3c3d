"""`simulate(..., save=...)`: what is kept is what a run of whole states has."""

from __future__ import annotations

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion.loops import pieces

N = 20


def chain():
    def lagrangian(t, q, v):
        stretch = jnp.diff(q.x, prepend=0.0)
        return 0.5 * jnp.sum(v.x**2) - 0.5 * jnp.sum(stretch**2) + 0.5 * v.theta**2 + jnp.cos(q.theta)

    return hl.System.from_lagrangian(lagrangian, coordinates={"x": (N,), "theta": "angle"})


PULLED = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * v[0] ** 2 - 0.5 * p.k * q[0] ** 2, coordinates={"x": "length"}, parameters={"k": 1.0}
)
START = np.r_[0.1 * np.sin(np.arange(N)), 1.0], np.zeros(N + 1)


@pytest.fixture(scope="module")
def whole():
    return hl.simulate(chain(), *START, 2.0, dt=0.01, method=hl.RK4())


def test_names_and_functions_are_those_of_whole_states(whole, monkeypatch):
    monkeypatch.setattr(pieces, "ROWS", 64)  # several pieces, the last one shorter
    wanted = {"theta": "theta", "x": "x", "middle": lambda t, q, v: jnp.stack([t, q.x.mean(), v.theta])}
    run = hl.simulate(chain(), *START, 2.0, dt=0.01, method=hl.RK4(), save=wanted)
    saved = run.saved
    assert saved is not None
    assert list(saved) == ["theta", "x", "middle"]
    np.testing.assert_array_equal(saved.t, whole.t)
    np.testing.assert_array_equal(saved["theta"], whole["theta"])
    np.testing.assert_array_equal(saved["x"], whole["x"])
    expected = np.stack([whole.t, whole["x"].mean(axis=1), whole["omega"]], axis=1)
    np.testing.assert_allclose(saved["middle"], expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(run.t, whole.t[[0, -1]])
    np.testing.assert_array_equal(run.q, whole.q[[0, -1]])
    assert run.certificate.energy_drift == whole.certificate.energy_drift > 0
    with pytest.raises(KeyError, match="did not save 'y'; it saved theta, x, middle"):
        saved["y"]


def test_files_and_data_sets_have_it(whole, tmp_path):
    run = hl.simulate(chain(), *START, 2.0, dt=0.01, method=hl.RK4(), save_every=10, save=["x", "energy"])
    back = hl.load(run.save(tmp_path / "kept.nc"))
    assert back.saved is not None
    for name in ("x", "energy"):
        np.testing.assert_array_equal(back.saved[name], whole[name][::10])
    assert back.certificate.energy_drift == run.certificate.energy_drift
    assert run.to_dataset()["saved_x"].shape == (21, N)
    assert run[:1].saved is None  # a part of the states is no part of these times


def test_events_and_walls_end_it_at_their_time():
    fall = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 10 * q[0], coordinates={"y": "length"})
    down = hl.Event(lambda t, q, v: q[0], terminal=True)
    run = hl.simulate(fall, [5.0], [0.0], 3.0, dt=0.3, events=[down], save=lambda t, q, v: v[0])
    assert run.saved is not None
    assert run.result.t == pytest.approx(1.0, abs=1e-12) == run.saved.t[-1] == run.t[-1]
    assert run.saved["<lambda>"][-1] == pytest.approx(-10.0, abs=1e-11)
    assert len(run.saved) == 5


def test_a_step_that_is_found_keeps_it_too():
    spring = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates={"x": "length"})
    run = hl.simulate(spring, [1.0], [0.0], 3.0, save_at=[1.0, 2.0, 3.0], save="x")
    assert run.saved is not None
    np.testing.assert_allclose(run.saved["x"], np.cos([1.0, 2.0, 3.0]), atol=1e-8)
    assert run.certificate.verdict == "good"


def test_an_energy_that_is_no_number_ends_what_is_saved():
    cliff = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 + jnp.where(q[0] > 1.0, jnp.nan, 0.0), coordinates={"x": "length"}
    )
    run = hl.simulate(cliff, [0.0], [1.0], 2.0, dt=0.1, method=hl.RK4(), save="x", throw=False)
    assert run.saved is not None
    assert not run.result.ok
    assert len(run.saved) < 13
    assert np.all(np.isfinite(run.saved.energy))


@pytest.mark.parametrize(
    ("save", "sentence"),
    [
        ("y", "no variable 'y'"),
        (["x", 3], "save takes names of variables and functions"),
        ([], "save takes a name, a function"),
        ({1: "x"}, "save takes a name, a function"),
    ],
)
def test_what_cannot_be_saved_is_refused(save, sentence):
    spring = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates={"x": "length"})
    with pytest.raises((ValueError, KeyError), match=sentence):
        hl.simulate(spring, [1.0], [0.0], 1.0, dt=0.1, save=save)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda q: q, r"function 'f' of save is called as f\(t, q, v, p\), but takes \(q\)"),
        (lambda t, q, v: None, "function 'f' of save returned None"),
        (lambda t, q, v: q[3], "function 'f' of save"),
        (lambda t, q, v: "high", "function 'f' of save could not be evaluated"),
    ],
    ids=["arguments", "nothing", "index", "words"],
)
def test_a_function_that_is_wrong_is_named(function, sentence):
    with pytest.raises(ValueError, match=sentence):
        hl.simulate(PULLED, [1.0], [0.0], 1.0, dt=0.1, save={"f": function})


def test_functions_take_the_parameters_where_they_want_them():
    wanted = {"pull": lambda t, q, v, p: p.k * q[0], "x": lambda t, q, v: q[0]}
    run = hl.simulate(PULLED.with_parameters(k=4.0), [1.0], [0.0], 1.0, dt=0.1, method=hl.RK4(), save=wanted)
    assert run.saved is not None
    np.testing.assert_allclose(run.saved["pull"], 4.0 * run.saved["x"], rtol=1e-15)


def test_more_than_the_memory_is_refused_with_its_size():
    with pytest.raises(ValueError, match=r"Saving 1000001 times of .* numbers takes .* GB.*pass save"):
        hl.simulate(chain(), *START, 1e3, dt=1e-3, method=hl.RK4(), save=lambda t, q, v: jnp.tile(q.x, 10**4))


def test_times_that_memory_does_not_hold_are_refused_before_they_are_made(monkeypatch):
    four_gigabytes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**20}
    monkeypatch.setattr(os, "sysconf", four_gigabytes.__getitem__)
    with pytest.raises(ValueError, match=r"Saving 1000000000 times of 5 numbers takes 40 GB, and .* has 4.29 GB"):
        hl.simulate(chain(), *START, 1e6, dt=1e-3, method=hl.RK4(), save="energy")


def test_under_jit_it_is_refused():
    with pytest.raises(ValueError, match="leave out save"):
        jax.jit(lambda q: hl.simulate(chain(), q, START[1], 1.0, dt=0.1, save="x").q)(START[0])
