"""One function for all holonomies: transport on spaces and of metrics, a rolling ball, movers."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

ANGLE = 0.7


def circle(t: Any) -> Any:
    """A circle of latitude in coordinates (latitude from the pole, longitude)."""
    return jnp.stack([ANGLE + 0.0 * t, 2 * jnp.pi * t])


def test_transport_on_the_sphere_turns_by_the_enclosed_area() -> None:
    sphere = hl.Sphere(2, radius=1.5)
    matrix = hl.holonomy(sphere, lambda t: sphere.from_polar(circle(t)))
    start = np.asarray(sphere.from_polar(ANGLE, 0.0))
    np.testing.assert_allclose(matrix @ start, start, rtol=0, atol=3e-14)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), rtol=0, atol=3e-14)
    area = 2 * np.pi * (1 - np.cos(ANGLE))
    south = np.array([np.cos(ANGLE), 0.0, -np.sin(ANGLE)])
    east = np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(matrix @ south, np.cos(area) * south + np.sin(area) * east, rtol=0, atol=3e-14)
    # an octant, its sides geodesics: a quarter turn
    octant = hl.holonomy(hl.Sphere(2), np.eye(3))
    np.testing.assert_allclose(octant, [[1, 0, 0], [0, 0, -1], [0, 1, 0]], rtol=0, atol=1e-14)


def test_transport_on_the_hyperbolic_plane() -> None:
    plane = hl.Hyperbolic(2)
    matrix = hl.holonomy(plane, lambda t: plane.from_polar(circle(t)))
    area = 2 * np.pi * (np.cosh(ANGLE) - 1)
    assert (np.trace(matrix) - 1) / 2 == pytest.approx(np.cos(area), abs=1e-13)
    start = np.asarray(plane.from_polar(ANGLE, 0.0))
    np.testing.assert_allclose(matrix @ start, start, rtol=0, atol=3e-14)


def test_transport_of_a_metric_against_the_equation_of_transport() -> None:
    def metric(q: Any) -> Any:
        return jnp.diag(jnp.stack([1.0 + 0.2 * q[1] ** 2, jnp.sin(q[0]) ** 2]))

    def loop(t: Any) -> Any:
        angle = 2 * jnp.pi * t
        return jnp.stack([1.0 + 0.3 * jnp.cos(angle), 0.4 * jnp.sin(angle)])

    np.testing.assert_allclose(hl.holonomy(metric, loop), hl.geometry.holonomy(metric, loop), rtol=0, atol=1e-12)


def test_loops_of_several_pieces() -> None:
    """Parallels, meridians and polygons one after the other: on the sphere by the area inside, of a metric by the
    equation of transport, and of a swimmer by the pieces one by one."""
    sphere, wide, low = hl.Sphere(2), 0.9, 1.1

    def parallel(t: Any) -> Any:
        return sphere.from_polar(low, wide * t)

    pole, first, last = (np.asarray(sphere.from_polar(*x)) for x in ((0.0, 0.0), (low, 0.0), (low, wide)))
    matrix = hl.holonomy(sphere, [parallel, [last, pole, first]])
    area = wide * (1 - np.cos(low))
    np.testing.assert_allclose(matrix @ first, first, rtol=0, atol=1e-14)
    assert np.trace(matrix) == pytest.approx(1 + 2 * np.cos(area), abs=1e-13)

    def metric(q: Any) -> Any:
        return jnp.diag(jnp.stack([1.0 + 0.2 * q[1] ** 2, jnp.sin(q[0]) ** 2]))

    pieces = [
        lambda t: jnp.stack([1.0 + 0.3 * jnp.sin(jnp.pi * t), 0.4 * t]),
        lambda t: jnp.stack([1.0 + 0.0 * t, 0.4 - 0.4 * t]),
    ]
    np.testing.assert_allclose(hl.holonomy(metric, pieces), hl.geometry.holonomy(metric, pieces), rtol=0, atol=1e-12)
    swimmer, corners = hl.Purcell(), np.array([[0.0, 0.0], [0.8, 0.1], [0.3, 0.9]])
    whole = hl.perform(swimmer, hl.Gait.points(corners, smooth=False))
    joined = hl.Gait.joined([lambda t: corners[0] + t * (corners[1] - corners[0]), [*corners[1:], corners[0]]])
    apart = hl.perform(swimmer, joined)
    np.testing.assert_allclose(apart.displacement, whole.displacement, rtol=0, atol=1e-14)
    back = hl.perform(swimmer, joined.reversed()).element
    np.testing.assert_allclose(hl.SE2().compose(apart.element, back), hl.SE2().identity, rtol=0, atol=1e-14)


def test_a_ball_rolled_around_a_square_turns() -> None:
    """Shape: the point of contact in the plane; group: the rotations, here of the inverse of the ball's."""
    radius, side = 0.5, 0.3
    ball = hl.Mover.from_connection(
        lambda r: jnp.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]) / radius, hl.SO3(), ("x", "y")
    )
    np.testing.assert_allclose(ball.curvature([0.3, 0.2])[:, 0, 1], [0, 0, -1 / radius**2], rtol=0, atol=1e-14)
    element = hl.holonomy(ball, [[0.0, 0.0], [side, 0.0], [side, side], [0.0, side]])
    a = side / radius
    x, y = (lambda s: hl.SO3().group_exp([s, 0.0, 0.0])), (lambda s: hl.SO3().group_exp([0.0, s, 0.0]))
    group = hl.SO3()
    # rolling along +x turns about +y, along +y about -x; later turns stand on the left of the ball's rotation
    rotation = group.identity
    for turn in (y(a), x(-a), y(-a), x(a)):
        rotation = group.compose(turn, rotation)
    np.testing.assert_allclose(group.matrix(element), group.matrix(rotation).T, rtol=0, atol=1e-14)
    assert ball.controllability([0.0, 0.0])[:2] == (True, (1, 3))


def test_what_is_no_connection_is_refused() -> None:
    with pytest.raises(ValueError, match="holonomy takes a Mover"):
        hl.holonomy(3.0, hl.Gait.ellipse())  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="The gait is open"):
        hl.holonomy(hl.Purcell(), lambda t: jnp.stack([t, 0.5 * t]))


def test_purcell_in_space_with_three_joints() -> None:
    """The links in SE(3), with a joint more that bends out of the plane and rests: the motion in the plane."""
    size = 1 / 3
    drags = jnp.diag(jnp.array([size, 2 * size, 2 * size, 0.01, size**3 / 6, size**3 / 6]))
    space = hl.SE3()

    def places(r: Any) -> Any:
        rows = []
        for side, angle, tilt in ((-1.0, -r[0], 0.0 * r[2]), (1.0, r[1], r[2])):
            turn = hl.SO3().compose(
                hl.SO3().group_exp(jnp.stack([0.0 * angle, 0.0 * angle, angle])),
                hl.SO3().group_exp(jnp.stack([0.0 * tilt, tilt, 0.0 * tilt])),
            )
            out = hl.SO3().act(turn)(jnp.array([1.0, 0.0, 0.0]))
            rows.append(jnp.concatenate([turn, 0.5 * side * size * (jnp.array([1.0, 0.0, 0.0]) + out)]))
        return jnp.stack([rows[0], space.identity, rows[1]])

    swimmer = hl.Mover.from_drag(places, jnp.stack([drags] * 3), space, 3)
    assert swimmer.curvature([0.1, 0.2, 0.3]).shape == (6, 3, 3)
    found = hl.perform(swimmer, hl.Gait.fourier([0.0, 0.0, 0.0], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]))
    flat = hl.perform(hl.Purcell(size), hl.Gait.ellipse(0.0, 1.0)).displacement
    expected = np.array([1.0, 0.0, 0.0, 0.0, float(flat[0]), float(flat[1]), 0.0])
    np.testing.assert_allclose(found.displacement, expected, rtol=0, atol=1e-14)
    bent = hl.perform(swimmer, hl.Gait.fourier([0.0, 0.0, 0.0], [[0.7, 0.0, 0.0]], [[0.0, 0.5, 0.6]])).displacement
    assert np.linalg.norm(bent[:4]) == pytest.approx(1.0, abs=1e-14)
    assert abs(bent[6]) > 1e-4
