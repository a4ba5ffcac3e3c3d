"""Rigid bodies of scenes: one sentence for each mistake. `test_sympy_systems` has their motions."""

import pytest

from holonomy.scene import SceneError, dumps, loads

TOP = """
bodies = [{ %s }]
potential = "m*g*l*cos(theta)"
%s
coordinates = ["psi", "theta", "phi"]
[parameters]
m = 1.2
l = 0.4
A = 0.2
C = 0.1
g = 9.81
[initial]
q = [0.0, 0.5, 0.0]
[motion]
t_end = 3.0
"""
MASS, PLACE = 'mass = "m"', 'at = [0, 0, "l*cos(theta)"]'
TURN, INERTIA = 'turn = [{ z = "psi" }, { x = "theta" }]', 'inertia = ["A", "A", "C"]'


def read(*parts: str, more: str = ""):
    return loads(TOP % (", ".join(parts), more))


def test_a_scene_of_bodies_is_written_and_read_again() -> None:
    scene = read(MASS, PLACE, TURN, INERTIA)
    assert loads(dumps(scene)) == scene


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((PLACE, TURN, INERTIA), r'bodies\[0\]: the key "mass" is missing'),
        (('mass = "-m"', PLACE, TURN, INERTIA), r"bodies\[0\]\.mass: a mass cannot be negative; this one is -1\.2"),
        (('mass = "theta"', PLACE), r'bodies\[0\]\.mass: .*uses "theta"'),
        ((MASS, 'at = ["z"]'), r'bodies\[0\]\.at\[0\]: .*uses "z", which is not defined'),
        ((MASS, PLACE, 'turn = [{ w = "psi" }]', INERTIA), r"bodies\[0\]\.turn\[0\]: a rotation has one axis"),
        ((MASS, PLACE, 'turn = [{ z = "chi" }]', INERTIA), r'bodies\[0\]\.turn\[0\]\.z: .*uses "chi"'),
        ((MASS, PLACE, TURN), r'bodies\[0\]: a body with "turn" needs "inertia" too'),
        ((MASS, PLACE, INERTIA), r'bodies\[0\]: a body with "inertia" needs "turn" too'),
        ((MASS, PLACE, TURN, 'inertia = "A"'), "turns about several axes has three or six moments"),
        ((MASS, PLACE, TURN, 'inertia = ["A", "C"]'), r"bodies\[0\]\.inertia: expected 1, 3 or 6 .* got 2"),
        ((MASS, PLACE, TURN, 'inertia = ["A", "A", "-C"]'), "a moment of inertia cannot be negative"),
        ((MASS, PLACE, 'spin = "psi"'), r"bodies\[0\]\.spin: there is no such key"),
    ],
)
def test_mistakes(parts: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        read(*parts)


def test_two_systems_in_one_scene() -> None:
    with pytest.raises(SceneError, match="bodies: beside a"):
        read(MASS, PLACE, more='lagrangian = "theta_dot^2"')
