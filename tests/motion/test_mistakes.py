"""The mistakes of a first day: each gives one sentence that names the argument, the value and what to write instead."""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

import holonomy as hl

ONE: Any = ("theta",)
CALLED: Any = hl.simulate  # with arguments that the static checker would refuse


def unchecked(value: Any) -> Any:
    """An argument that the static checker would refuse."""
    return value


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


def circle() -> hl.System:
    free = hl.System.from_lagrangian(lambda t, q, v: v @ v, coordinates=("x", "y"))
    return free.constrained(holonomic=lambda t, q: jnp.stack([q @ q - 1]))


def sphere() -> hl.System:
    return hl.System.from_lagrangian(lambda t, x, v: v @ v, coordinates=("x", "y", "z"), space=hl.Sphere(2))


plain = system()


@cache
def run() -> Any:
    return moved(plain, [1.0], [0.0], 0.5)


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
    "a folder that is not there": (
        lambda: run().save("nowhere/run.nc"),
        ValueError,
        "The folder nowhere does not exist; make it first",
    ),
    "a file that is not known": (
        lambda: run().save("run.xls"),
        ValueError,
        r"end in \.nc, \.csv, \.parquet; got 'run.xls'",
    ),
    "indefinite metric": (
        lambda: moved(
            hl.System.from_metric(lambda q: jnp.diag(jnp.array([1.0, -1.0])), coordinates=("x", "y")),
            *[[0.0, 0.0]] * 2,
            1.0,
        ),
        ValueError,
        r"not positive definite at q0 = \[0\.0, 0\.0\]: its eigenvalues are -1, 1",
    ),
    "massless coordinate": (
        lambda: moved(
            hl.System.from_lagrangian(lambda t, q, v: v[0] ** 2, coordinates=("x", "y")), *[[0.0, 0.0]] * 2, 1.0
        ),
        ValueError,
        "mass matrix is singular at the initial state",
    ),
    "element that is not there": (
        lambda: system(lambda t, q, v: v[1] ** 2),
        ValueError,
        "takes an element that is not there: index 1 is out of bounds",
    ),
    "vector instead of a number": (
        lambda: system(lambda t, q, v: v),
        ValueError,
        r"must return a single number, shape \(\)",
    ),
    "unknown parameter in a formula": (
        lambda: system(lambda t, q, v, p: p.k * v[0] ** 2, parameters={"g": 1.0}),
        ValueError,
        "no parameter 'k'; there are g",
    ),
    "unknown parameter": (
        lambda: hl.models.kepler().with_parameters(gm=1.0),
        ValueError,
        "no parameter 'gm'; it has m, mu. Did you mean",
    ),
    "parameter as text": (
        lambda: system(lambda t, q, v, p: v[0] ** 2, parameters={"g": "9.81"}),
        ValueError,
        "parameter 'g' must be a real number",
    ),
    "a number of coordinates": (
        lambda: hl.System.from_lagrangian(swing, coordinates=2),  # pyright: ignore[reportArgumentType]
        ValueError,
        r"names in a row, such as \('theta', 'phi'\).*got 2",
    ),
    "kind of a coordinate": (
        lambda: hl.System.from_lagrangian(swing, coordinates={"theta": "degrees"}),
        ValueError,
        "unknown kind 'degrees'; the kinds are angle, length, number",
    ),
    "no coordinates": (lambda: hl.System.from_lagrangian(swing), ValueError, "Name the coordinates, such as"),
    "too many values": (
        lambda: moved(plain, [1.0, 2.0], [0.0], 1.0),
        ValueError,
        r"one entry per coordinate \(theta\)",
    ),
    "not a number": (lambda: moved(plain, [float("nan")], [0.0], 1.0), ValueError, "q0 must be finite"),
    "negative step": (lambda: moved(plain, [1.0], [0.0], 1.0, dt=-0.1), ValueError, "dt must be positive"),
    "step as text": (lambda: moved(plain, [1.0], [0.0], 1.0, dt="0.1"), ValueError, "dt must be a number; got '0.1'"),
    "no time": (lambda: moved(plain, [1.0], [0.0], 0.0), ValueError, "t_end must differ from t0"),
    "half a step saved": (
        lambda: moved(plain, [1.0], [0.0], 1.0, save_every=1.5),
        ValueError,
        "a whole number of steps",
    ),
    "method without parentheses": (
        lambda: moved(plain, [1.0], [0.0], 1.0, method=hl.RK4),
        ValueError,
        r"method must be one such as hl\.Gauss\(3\)",
    ),
    "method that cannot": (
        lambda: moved(circle(), [1.0, 0.0], [0.0, 0.0], 1.0, method=hl.Gauss(2)),
        ValueError,
        r"cannot hold holonomic constraints.*use hl\.Rattle\(4\)",
    ),
    "start off the constraint": (
        lambda: moved(circle(), [2.0, 0.0], [0.0, 0.0], 1.0),
        ValueError,
        "The nearest consistent state is",
    ),
    "start off the sphere": (
        lambda: moved(sphere(), [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], 1.0),
        ValueError,
        r"does not lie on Sphere.*The nearest point is \[0\.707",
    ),
    "bounce that gains energy": (
        lambda: plain.constrained(unilateral=lambda t, q: q, restitution=1.5),
        ValueError,
        "between 0 .* and 1 .*; got 1.5",
    ),
    "shape of a force": (
        lambda: plain.forced(lambda t, q, v: jnp.zeros(3)),
        ValueError,
        r"one component per coordinate, shape \(1,\)",
    ),
    "ensemble without dt": (
        lambda: hl.ensemble(plain, [[1.0], [2.0]], [0.0], 1.0),
        ValueError,
        "one step for all its members: pass dt",
    ),
    "members that do not fit": (
        lambda: hl.ensemble(plain, [[1.0], [2.0]], [[0.0]] * 3, 1.0, dt=0.1),
        ValueError,
        "q0s 2, v0s 3",
    ),
    "time outside": (lambda: run()(7.0), ValueError, r"times from 0 to 0\.5; asked for 7"),
    "index outside": (lambda: run()[1000], IndexError, "There are 6 states, so an index is from -6 to 5"),
    "variable that is none": (lambda: run()["phi"], KeyError, "no variable 'phi'; it has: theta, theta_dot"),
    "name of a model": (
        lambda: hl.models.keplar,
        AttributeError,
        r"no public name 'keplar'\. Did you mean kepler",
    ),
    "name of a function": (lambda: hl.simulat, AttributeError, r"no public name 'simulat'\. Did you mean simulate"),
    "no velocity": (lambda: moved(plain, [1.0], None, 1.0), ValueError, "v0 is None; pass its numbers, zeros"),
    "event of q alone": (
        lambda: moved(plain, [1.0], [0.0], 1.0, events=[hl.Event(lambda q: q[0])]),
        ValueError,
        r"sigma of event 0 is called as f\(t, q, v\), but takes \(q\)",
    ),
    "function instead of an event": (
        lambda: moved(plain, [1.0], [0.0], 1.0, events=[lambda t, q, v: q[0]]),
        ValueError,
        r"list of hl\.Event",
    ),
    "engine": (lambda: moved(plain, [1.0], [0.0], 1.0, engine="gpu"), ValueError, "None, 'native' or 'xla'; got 'gpu'"),
    "saved after the end": (
        lambda: moved(plain, [1.0], [0.0], 1.0, save_at=[0.0, 2.0]),
        ValueError,
        "save_at must lie between",
    ),
    "potential that is a number": (
        lambda: hl.System.from_metric(lambda q: jnp.eye(1), potential=unchecked(3.0), coordinates=("x",)),
        ValueError,
        "potential must be a function; got 3",
    ),
    "metric of another size": (
        lambda: hl.System.from_metric(lambda q: jnp.eye(3), coordinates=("x", "y")),
        ValueError,
        r"\(n, n\) matrix, shape \(2, 2\)",
    ),
    "positions in a row": (
        lambda: hl.System.from_positions(lambda t, q: jnp.stack([q[0], q[0]]), [1.0], coordinates=("x",)),
        ValueError,
        r"array \(particles, d\), such as",
    ),
    "one mass too many": (
        lambda: hl.System.from_positions(lambda t, q: jnp.stack([q, q]).T, [1.0, 2.0], coordinates=("x",)),
        ValueError,
        "There are 1 particles",
    ),
    "velocity constraint that is no such": (
        lambda: plain.constrained(velocity=lambda t, q, v: v**2),
        ValueError,
        "must be affine in v",
    ),
    "spring to nowhere": (
        lambda: hl.Body([1.0, 1.0], springs=[(0, 2, 1.0, 1.0)]),
        ValueError,
        "whole numbers from 0 to 1; got 2",
    ),
    "reduction by what is not cyclic": (
        lambda: hl.routh(plain, {"theta": 1.0}),
        ValueError,
        "'theta' is not cyclic",
    ),
    "a system that swims": (
        lambda: hl.perform(unchecked(plain), hl.Gait.ellipse((0.0, 0.0), (1.0, 1.0))),
        ValueError,
        r"takes a mover, such as hl\.Purcell\(\)",
    ),
    "negative mass": (lambda: hl.models.kepler(m=-1.0), ValueError, "m is -1; it must be greater than 0"),
}
PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
HEAD = """# Mistakes, and what is said about them

A mistake gives one sentence that names the argument, its value and what to write instead.
`tests/motion/test_mistakes.py` makes each of these, and `python -m tests.motion.test_mistakes` writes this table.

| mistake | the sentence |
| --- | --- |
"""


@cache
def sentence(name: str) -> str:
    """What is said about a mistake."""
    act, kind, _ = MISTAKES[name]
    try:
        act()
    except kind as error:
        return str(error.args[0])
    raise AssertionError(f"nothing is said about {name}")


def page() -> str:
    """The table of all mistakes."""
    rows = [(name, sentence(name).replace("|", "\\|").replace("<", "&lt;")) for name in MISTAKES]
    return HEAD + "".join(f"| {name} | {said} |\n" for name, said in rows)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_a_sentence(name):
    text = sentence(name)
    assert re.search(MISTAKES[name][2], text)
    assert "\n" not in text
    assert len(text) < 400


def test_the_table_of_mistakes_is_current():
    assert page() == PAGE.read_text(), "run: python -m tests.motion.test_mistakes"


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
    many = hl.ensemble(pair, [[1.0, 0.5], [0.9, 0.5]], [0.1, 0.2], 0.2, dt=0.1, method="Gauss(2)")
    np.testing.assert_array_equal(many.q[0], by_place.q)
    traced = jax.eval_shape(lambda x: moved(pair, {"theta1": x, "theta2": 0.0}, [0.0, 0.0], 0.2).q, 0.3)
    assert traced.shape == (3, 2)


def test_a_kinetic_energy_of_the_wrong_sign_is_warned_of():
    def turned(n):
        names = [f"x{i}" for i in range(n)]
        return hl.System.from_lagrangian(lambda t, q, v: jnp.dot(q, q) - 0.5 * v[0] ** 2 + jnp.sum(v[1:] ** 2), names)

    for n in (2, 12):  # factored whole, and by its structure
        with pytest.warns(UserWarning, match="negative kinetic energy at the initial state.*look for a wrong sign"):
            moved(turned(n), np.full(n, 0.1), np.zeros(n), 0.1)


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


if __name__ == "__main__":
    jaxtyping.config.update("jaxtyping_disable", True)
    PAGE.write_text(page())
