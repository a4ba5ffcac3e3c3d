"""Scenes on configuration spaces, of chains and linkages, and with many members."""

from __future__ import annotations

import numpy as np
import pytest

import holonomy as hl
from holonomy.models import find
from holonomy.scene import SceneError, loads, perform
from holonomy.scene.build_system import build

SPHERE = """
lagrangian = "m*(x_dot^2 + y_dot^2 + z_dot^2)/2 - m*g*z"
space = { name = "sphere", radius = "2*r" }
coordinates = ["x", "y", "z"]
[parameters]
m = 1.5
g = 9.81
r = 0.5
[initial]
q = [0.6, 0.8, 0]
v = [0, 0, 1]
[motion]
t_end = 0.5
dt = 0.01
"""


def test_a_scene_on_a_sphere_is_the_system_that_python_makes():
    built = build(loads(SPHERE))
    assert built.system.space == hl.Sphere(2)
    run = hl.simulate(built.system, **built.arguments)
    own = hl.System.from_lagrangian(lambda t, q, v: 0.75 * v @ v - 1.5 * 9.81 * q[2], space=hl.Sphere(2))
    other = hl.simulate(own, [0.6, 0.8, 0.0], [0.0, 0.0, 1.0], 0.5, dt=0.01)
    np.testing.assert_allclose(run["z"], other.q[:, 2], atol=1e-13)


def test_a_product_of_spaces():
    scene = loads(
        'lagrangian = "(x_dot^2 + y_dot^2 - w_dot^2 + h_dot^2)/2 - h"\n'
        'space = [{ name = "hyperbolic", dim = 2 }, { name = "euclidean", dim = 1 }]\n'
        'coordinates = ["x", "y", "w", "h"]\n'
        "[initial]\nq = [0, 0, 1, 0]\nv = [1, 0, 0, 0.5]\n[motion]\nt_end = 1\ndt = 0.05"
    )
    built = build(scene)
    run = hl.simulate(built.system, **built.arguments)
    np.testing.assert_allclose(run.q[-1], [np.sinh(1), 0, np.cosh(1), 0.5 - 0.5], atol=1e-10)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('space = "sphere"', "coordinates: a point of Sphere.* is 3 numbers, but there are 2 coordinates"),
        ('space = { name = "se2", dim = 3 }', "space.dim: se2 has one dimension only"),
        ('space = { name = "so3", radius = 3 }', "space.radius: only a sphere and a hyperbolic space"),
        ('space = { name = "sphere", radius = -1 }', "space: Sphere needs radius to be a positive number"),
        ('space = "spere"', 'space: there is no space "spere"; did you mean "sphere"'),
    ],
)
def test_spaces_that_cannot_be(line, sentence):
    text = f'lagrangian = "x_dot^2"\ncoordinates = ["x", "y"]\n{line}\n[initial]\nq = [1, 0]\n[motion]\nt_end = 1'
    with pytest.raises(SceneError, match=sentence):
        build(loads(text))


def test_chains_and_linkages_are_those_of_the_library():
    chain = find("chain", 7).build(damping=0.1, masses=2.0)
    other = hl.Pendulum(np.full(7, 10 / 7), np.full(7, 2.0), 9.81, 0.1)
    q, v = np.linspace(0.1, 1, 7), np.linspace(1, -1, 7)
    np.testing.assert_allclose(chain.acceleration(0.0, q, v), other.acceleration(0.0, q, v), rtol=1e-12)
    springs = find("elastic_chain", 2)
    assert springs.build().energy(0.0, springs.q, springs.v) == pytest.approx(0.0, abs=1e-9)
    five = find("linkage", 5)
    link = hl.Linkage(5, 4.0)
    energy = float(link.energy(np.array(five.q), np.array(five.v)))
    assert float(five.build().energy(0.0, five.q, five.v)) == pytest.approx(energy, rel=1e-12)
    assert "Gauss" in str(hl.simulate(five.build(), five.q, five.v, 0.05, dt=0.01).certificate.method)


def test_an_ensemble_has_members_of_its_own(tmp_path):
    scene = loads(
        'model = "simple_pendulum"\n[motion]\nt_end = 1\ndt = 0.02\n[ensemble]\nmembers = 12\n'
        "spread = { theta = 0.1, theta_dot = 0.2 }\nbetween = { g = [1, 12] }\nseed = 3\n[outputs]\npicture = false"
    )
    done = perform(scene, tmp_path, "many")
    run = done.run
    assert run.q.shape == (12, 51, 1)
    assert 0.03 < np.std(run.q[:, 0, 0]) < 0.3
    assert 0.06 < np.std(run.v[:, 0, 0]) < 0.6
    system = hl.models.simple_pendulum(g=12.0)
    last = hl.simulate(system, run.q[-1, 0], run.v[-1, 0], 1.0, dt=0.02)
    np.testing.assert_allclose(run.q[-1], last.q, atol=1e-12)
    again = perform(scene, tmp_path, "again").run
    np.testing.assert_array_equal(run.q, again.q)
    assert hl.load(tmp_path / "many.nc").q.shape == run.q.shape


def test_members_on_a_space_stay_on_it():
    scene = loads(SPHERE + "[ensemble]\nmembers = 5\nspread = { x = 0.1, y_dot = 0.1 }")
    built = build(scene)
    given = built.arguments
    np.testing.assert_allclose(np.linalg.norm(given["q0s"], axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.sum(given["q0s"] * given["v0s"], axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("members = 4\nspread = { a = 1 }", r"ensemble\.spread\.a: there is no such number"),
        ("members = 4\nbetween = { mu = [1] }", r"ensemble\.between\.mu: expected two numbers"),
        ("members = 4\nspread = { mu = 1 }\nbetween = { mu = [1, 2] }", "it is in \"spread\" already"),
        ("members = 4", "its members are all alike"),
        ("members = 1", "expected a whole number from 2"),
        ("members = 100000\nspread = { x = 1 }", r"motion: 4e\+08 states would be saved"),
    ],
)  # fmt: skip
def test_ensembles_that_cannot_be(lines, sentence):
    with pytest.raises(SceneError, match=sentence):
        build(loads(f'model = "kepler"\n[ensemble]\n{lines}'))
