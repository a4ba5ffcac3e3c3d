"""Forces, constraints, walls and events of scenes: the same motion as a system made in Python, and a sentence for each
mistake."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.scene import SceneError, build, dumps, load, loads

EXAMPLES = Path(__file__).parents[2] / "examples"
FREE = """
lagrangian = "m*(x_dot^2 + y_dot^2)/2 - m*g*y"
{}
coordinates = ["x", "y"]
[parameters]
m = 1.5
g = 9.81
l = 1.0
[let]
r2 = "x^2 + y^2"
[initial]
q = [0.6, -0.8]
v = [0.8, 0.6]
[motion]
t_end = 1
dt = 0.1
"""


def in_python() -> hl.System:
    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * (v @ v) - p.m * p.g * q[1],
        coordinates=("x", "y"),
        parameters={"m": 1.5, "g": 9.81, "l": 1.0},
    )


def test_forces_and_constraints_are_those_of_python() -> None:
    text = """
constraints = ["r2 - l^2"]
damping = { x = "0.2*m" }
forces = { y = "sin(t)*x_dot - r2_dot" }
"""
    scene = loads(FREE.format(text))
    assert loads(dumps(scene)) == scene
    typed = build(scene).system
    known = (
        in_python()
        .forced(
            lambda t, q, v, p: jnp.stack([-0.2 * p.m * v[0], jnp.sin(t) * v[0] - 2 * q @ v]),
        )
        .constrained(holonomic=lambda t, q, p: jnp.stack([q @ q - p.l**2]))
    )
    state = (0.7, np.array([0.6, -0.8]), np.array([0.8, 0.6]))
    np.testing.assert_allclose(typed.acceleration(*state), known.acceleration(*state), rtol=1e-13)
    np.testing.assert_allclose(typed.multipliers(*state), known.multipliers(*state), rtol=1e-13)
    skate = build(loads(FREE.format('velocity_constraints = ["x*x_dot - y_dot"]'))).system
    edge = in_python().constrained(velocity=lambda t, q, v, p: jnp.stack([q[0] * v[0] - v[1]]))
    np.testing.assert_allclose(skate.acceleration(*state), edge.acceleration(*state), rtol=1e-13)
    lighter = typed.with_parameters(m=0.5)
    assert float(lighter.multipliers(*state)[0]) != float(typed.multipliers(*state)[0])


def test_damping_of_all_coordinates_of_a_model() -> None:
    scene = loads('model = "double_pendulum"\ndamping = 0.3\nforces = { theta2 = "m1*cos(2*t)" }')
    known = hl.models.double_pendulum().forced(
        lambda t, q, v, p: -0.3 * v + jnp.stack([jnp.zeros(()), p.m1 * jnp.cos(2 * t)])
    )
    state = (0.4, np.array([0.3, 1.1]), np.array([-0.5, 0.9]))
    np.testing.assert_allclose(build(scene).system.acceleration(*state), known.acceleration(*state), rtol=1e-13)


def test_walls_and_events_along_a_run() -> None:
    """The example: a ball on a rod hits the right wall, loses a fifth of its velocity, and passes its lowest point."""
    built = build(load(EXAMPLES / "bouncing.toml"))
    run = hl.simulate(built.system, **{**built.arguments, "t_end": 0.7})
    assert [one.name for one in run.events] == ["impact 1", "lowest"]
    impact = run.events[0]
    assert impact.q[0] == pytest.approx(0.7, abs=1e-12)
    assert impact.v_after[0] == pytest.approx(-0.8 * impact.v_before[0], abs=1e-10)
    assert abs(run.events[1].q[0]) < 1e-12
    ended = loads(FREE.format('events = { out = { when = "x - 0.7", terminal = true, direction = 1 } }'))
    (event,) = build(ended).arguments["events"]
    assert (event.name, event.terminal, event.direction) == ("out", True, 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('walls = ["x + k"]', r'walls\[0\]: the formula "x \+ k" uses "k", which is not defined'),
        ('constraints = ["x_dot"]', r"constraints\[0\]: .* a rate of change that cannot be used here"),
        ("forces = { z = 1 }", r"forces\.z: there is no such coordinate"),
        ('damping = "x"', 'damping: the formula "x" uses "x", which is not defined'),
        ('walls = ["y"]\nrestitution = 2', "restitution: it lies between 0 and 1; this one is 2"),
        ("restitution = 0.5", 'restitution: the scene has no "walls"'),
        ('events = { a = "w" }', r'events\.a: the formula "w" uses "w"'),
        ("events = { a = { direction = 1 } }", r"events\.a"),
        ("constraints = []", "constraints: expected"),
        ('constrains = ["x"]', 'there is no such key; did you mean "constraints"'),
    ],
)
def test_mistakes(text: str, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        loads(FREE.format(text))
