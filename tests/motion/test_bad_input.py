"""One clear sentence for every mistake that can be known before a run."""

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
from tests.motion.examples import pendulum

import holonomy as hl

GOOD = {"dt": 0.01}


@pytest.fixture(autouse=True)
def as_a_user(monkeypatch):
    """Without the run time check of types, which only tests have and which would speak first."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([1.0, 2.0], [0.0], 1.0), GOOD, r"q0 must have shape \(1,\), one entry per coordinate \(theta\)"),
        (([1.0], [[0.0]], 1.0), GOOD, r"v0 must have shape \(1,\)"),
        (([np.nan], [0.0], 1.0), GOOD, "q0 must be finite"),
        ((["a"], [0.0], 1.0), GOOD, "q0 must be a real number"),
        (([1.0 + 1.0j], [0.0], 1.0), GOOD, "q0 must be a real number"),
        (([1.0], [0.0], 1.0), {"dt": 0.0}, "dt must be positive"),
        (([1.0], [0.0], 1.0), {"dt": -0.1}, "goes backwards when t_end < t0"),
        (([1.0], [0.0], 1.0), {"dt": np.inf}, "dt must be finite"),
        (([1.0], [0.0], 0.0), GOOD, "t_end must differ from t0"),
        (([1.0], [0.0], np.nan), GOOD, "t_end must be finite"),
        (([1.0], [0.0], 1.0), {**GOOD, "method": 4}, r"hl\.Gauss\(3\)"),
        (([1.0], [0.0], 1.0), {**GOOD, "engine": "warp"}, "engine must be"),
        (([1.0], [0.0], 1.0), {**GOOD, "save_every": 0}, "save_every must be a whole number"),
        (([1.0], [0.0], 1.0), {**GOOD, "save_at": [0.5, 0.2]}, "without repeating or turning back"),
        (([1.0], [0.0], 1.0), {**GOOD, "save_at": [0.5, 2.0]}, "between t0 = 0 and t_end = 1"),
    ],
)
def test_sentences(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        hl.simulate(pendulum, *arguments, **options)


def test_no_system():
    with pytest.raises(ValueError, match=r"takes a hl\.System first; got dict"):
        hl.simulate({}, [1.0], [0.0], 1.0)  # pyright: ignore[reportArgumentType]


def test_methods_refuse_impossible_options():
    with pytest.raises(ValueError, match="1 to 6 stages"):
        hl.Gauss(9)
    with pytest.raises(ValueError, match="orders 5"):
        hl.Adaptive(7)
    with pytest.raises(ValueError, match="rtol must lie between"):
        hl.Adaptive(8, rtol=-1)


def test_singular_mass_matrix_is_named_with_a_way_out():
    spherical = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + (jnp.sin(q[0]) * v[1]) ** 2) + jnp.cos(q[0]),
        coordinates={"theta": "angle", "phi": "angle"},
    )
    with pytest.raises(ValueError, match=r"singular at the initial state.*space=hl\.Sphere\(2\)"):
        hl.simulate(spherical, [0.0, 0.3], [1.0, 0.0], 1.0, dt=0.01)


def test_a_start_where_the_lagrangian_has_no_value():
    kepler = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) + 1.0 / jnp.sqrt(jnp.dot(q, q)), coordinates=("x", "y")
    )
    with pytest.raises(ValueError, match=r"energy at the initial state is -inf.*q0 = \[0\.0, 0\.0\]"):
        hl.simulate(kepler, [0.0, 0.0], [1.0, 0.0], 1.0, dt=0.01)


def test_time_steps_cannot_be_traced():
    with pytest.raises(ValueError, match="decides how many steps"):
        jax.jit(lambda end: hl.simulate(pendulum, [1.0], [0.0], end, dt=0.1).q[-1])(1.0)
    with pytest.raises(ValueError, match="pass dt"):
        jax.jit(lambda q: hl.simulate(pendulum, q, [0.0], 1.0).q[-1])(jnp.ones(1))


def test_points_off_their_space_come_with_the_projection():
    particle = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.dot(v, v), space=hl.spaces.Sphere(2))
    with pytest.raises(ValueError, match=r"q0 does not lie on .*The nearest point is \[1\.0, 0\.0, 0\.0\]"):
        hl.simulate(particle, [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0, dt=0.1)
    with pytest.raises(ValueError, match=r"v0 is not tangent.*The tangent part is \[0\.0, 1\.0, 0\.0\]"):
        hl.simulate(particle, [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], 1.0, dt=0.1)
