"""The mistakes of a first day: each gives one sentence that names the argument, the value and what to write instead."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

import holonomy as hl

ONE: Any = ("theta",)
CALLED: Any = hl.simulate  # with arguments that the static checker would refuse


@pytest.fixture(autouse=True)
def _as_users_run_it(monkeypatch):
    """The sentences must stand on their own, without the tests' type checks in front of them."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def swing(t, q, v):
    return 0.5 * v[0] ** 2 + jnp.cos(q[0])


def system(lagrangian: Any = swing, **options: Any) -> hl.System:
    return hl.System.from_lagrangian(lagrangian, coordinates=ONE, **options)


def moved(*args: Any, **options: Any) -> hl.Run:
    return hl.simulate(*args, **({"dt": 0.1, "method": hl.RK4()} | options))


def in_place(t, q, v):
    q[0] = 2.0
    return 0.5 * v[0] ** 2


def nothing(t, q, v):
    _ = 0.5 * v[0] ** 2


plain = system()
MISTAKES: dict[str, tuple[Any, type[Exception], str]] = {
    "numbers as text": (
        lambda: moved(plain, ["1.0"], [0.0], 1.0),
        ValueError,
        r"q0 must be a real number .* \['1\.0'\]",
    ),
    "np.cos": (lambda: system(lambda t, q, v: v[0] ** 2 - np.cos(q[0])), ValueError, r"jnp\.cos for np\.cos"),
    "math.cos": (lambda: system(lambda t, q, v: v[0] ** 2 - math.cos(q[0])), ValueError, r"math\.cos.*use jax\.numpy"),
    "if": (
        lambda: system(lambda t, q, v: v[0] ** 2 if q[0] > 0 else 0.0),
        ValueError,
        r"jnp\.where\(condition, a, b\)",
    ),
    "in place": (lambda: system(in_place), ValueError, r"x = x\.at\[0\]\.set\(value\)"),
    "no return": (lambda: system(nothing), ValueError, "lagrangian returned None: a return is missing"),
    "no p": (
        lambda: system(parameters={"g": 1.0}),
        ValueError,
        r"called as f\(t, q, v, p\), but takes \(t, q, v\).*lambda",
    ),
    "p too much": (
        lambda: system(lambda t, q, v, p: v[0] ** 2),
        ValueError,
        r"called as f\(t, q, v\), but takes \(t, q, v, p\)",
    ),
    "order of arguments": (lambda: system(lambda q, v, t: v[0] ** 2 - q[0]), ValueError, "in the order t, q, v"),
    "dt by place": (
        lambda: CALLED(plain, [1.0], [0.0], 1.0, 0.1),
        TypeError,
        r"by name; got 0\.1 .* Write dt=0\.1",
    ),
    "misspelt": (lambda: moved(plain, [1.0], [0.0], 1.0, save_evry=2), TypeError, "Did you mean save_every"),
    "no end": (lambda: CALLED(plain, [1.0], [0.0]), TypeError, "simulate needs t_end, too"),
    "too long": (
        lambda: moved(plain, [1.0], [0.0], 1e9, dt=1e-3),
        ValueError,
        r"1e\+12 states would be saved; pass save_every",
    ),
    "start by a wrong name": (lambda: moved(plain, {"phi": 1.0}, [0.0], 1.0), ValueError, "no coordinate 'phi'.*theta"),
    "half a start": (lambda: moved(plain, {}, [0.0], 1.0), ValueError, "needs a value for 'theta', too"),
    "method": (lambda: moved(plain, [1.0], [0.0], 1.0, method="Guass"), ValueError, r"no method 'Guass'.*mean 'Gauss'"),
    "method's number": (lambda: moved(plain, [1.0], [0.0], 1.0, method="Gauss(9)"), ValueError, "1 to 6 stages"),
    "two meanings": (
        lambda: system(lambda t, q, v, p: v[0] ** 2, parameters={"theta": 1.0}),
        ValueError,
        "'theta' is the name of a coordinate and of a parameter",
    ),
    "shape of a parameter": (
        lambda: hl.models.multi_pendulum().with_parameters(masses=[1.0]),
        ValueError,
        r"parameter 'masses' has shape \(3,\).*got shape \(1,\)",
    ),
    "system last": (lambda: moved([1.0], [0.0], plain, 1.0), ValueError, "takes a hl.System first; got list"),
    "missing file": (lambda: hl.load("nowhere.nc"), ValueError, "There is no file nowhere.nc"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_a_sentence(name):
    act, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words) as error:
        act()
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 400


def test_degrees_are_named():
    turning = hl.System.from_lagrangian(swing, coordinates={"theta": "angle"})
    with pytest.warns(UserWarning, match=r"theta starts at 90\. Angles are in radians.*jnp\.radians\(90\)"):
        hl.simulate(turning, [90.0], [0.0], 0.2, dt=0.1, method="RK4")
    for fine in (3.0, 12.57, 100.3):
        moved(turning, [fine], [0.0], 0.2)
    moved(plain, [90.0], [0.0], 0.2)  # not said to be an angle


def test_starts_and_methods_by_name():
    pair = hl.models.double_pendulum()
    by_place = hl.simulate(pair, [1.0, 0.5], [0.1, 0.2], 0.2, dt=0.1, method=hl.Gauss(2))
    start = {"theta2": 0.5, "theta1": 1.0}
    by_name = hl.simulate(pair, start, {"theta1": 0.1, "theta2": 0.2}, 0.2, dt=0.1, method="Gauss(2)")
    np.testing.assert_array_equal(by_name.q, by_place.q)
    for text, label in (("rk4", "RK4()"), ("RK4()", "RK4()"), ("gauss", "Gauss(3)"), ("Verlet", "Verlet()")):
        assert repr(hl.simulate(plain, [1.0], [0.0], 0.2, dt=0.1, method=text).method) == label
    slope = jax.grad(lambda x: moved(pair, {"theta1": x, "theta2": 0.0}, [0.0, 0.0], 0.2).q[-1, 0])(0.3)
    assert np.isfinite(slope)


def test_texts_of_systems_methods_and_events():
    pair = hl.models.double_pendulum()
    assert repr(pair) == ("<System: coordinates theta1, theta2; parameters g = 9.81, l1 = 1, l2 = 1, m1 = 1, m2 = 1>")
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], coordinates=("z",))
    on_ground = ball.forced(lambda t, q, v: -0.1 * v).constrained(unilateral=lambda t, q: q, restitution=0.5)
    assert repr(on_ground) == "<System: coordinates z; 1 force; constraints>"
    run = moved(on_ground, [1.0], [0.0], 0.6)
    assert repr(run.events).startswith("<Events: impact 0 at t = 0.4")
    assert repr(moved(plain, [1.0], [0.0], 0.2).events) == "<Events: none>"
    assert [repr(m) for m in (hl.RK4(), hl.Gauss(2), hl.Adaptive())][:2] == ["RK4()", "Gauss(2)"]
