"""Best gaits: closed forms, and two routes that must agree."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

BEST_KNOWN = (0.087273, 0.78661)  # displacement and path length of the stroke known as most efficient


def field() -> hl.Mover:
    """The flat plane with curvature 1: the displacement is minus the enclosed area."""
    return hl.Mover.from_connection(lambda r: jnp.stack([jnp.zeros(()), r[0]])[None], hl.Euclidean(1), 2)


@pytest.mark.parametrize("method", ["wong", "descent"])
def test_in_a_constant_field_circles_are_best(method: str) -> None:
    mover, area = field(), 0.7
    gait = hl.optimal_gait(mover, [area], method)
    found = hl.perform(mover, gait)
    assert found.displacement[0] == pytest.approx(area, rel=1e-12)
    assert 0.5 * found.energy == pytest.approx(2 * np.pi * area, rel=1e-8)
    shapes = np.asarray(found.shapes)[:-1]
    radii = np.linalg.norm(shapes - shapes.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, np.sqrt(area / np.pi), rtol=1e-6)


@pytest.mark.parametrize("method", [pytest.param("wong", marks=pytest.mark.proof), "descent"])
def test_screws_in_space(method: str) -> None:
    """A connection along one screw of SE(3): the turn and the way along the axis are in proportion to the area."""
    pitch, turn = 0.5, 0.7
    screw = jnp.array([0.0, 0.0, pitch, 0.0, 0.0, 1.0])
    mover = hl.Mover.from_connection(lambda r: jnp.outer(screw, jnp.stack([0.0 * r[0], r[0]])), hl.SE3(), 2)
    target = np.asarray(hl.SE3().group_exp(turn * screw))
    for wanted in (target, [None] * 4 + [None, None, pitch * turn]):
        found = hl.perform(mover, hl.optimal_gait(mover, wanted, method))
        np.testing.assert_allclose(found.displacement, target, rtol=0, atol=1e-12)
        assert 0.5 * found.energy == pytest.approx(2 * np.pi * turn, rel=1e-8)


@pytest.mark.proof
def test_a_rolled_ball_turns_by_circles() -> None:
    r"""A circle of radius a in units of the ball's turns it by \(2\pi(\sqrt{1 + a^2} - 1)\); none is cheaper."""
    radius = 0.4
    ball = hl.Mover.from_connection(lambda r: jnp.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]), hl.SO3(), 2)
    circle = hl.perform(ball, hl.Gait.ellipse(0.0, radius))
    turn = np.linalg.norm(hl.SO3().group_log(circle.displacement))
    assert turn == pytest.approx(2 * np.pi * (np.sqrt(1 + radius**2) - 1), abs=1e-13)
    for method in ("wong", "descent"):
        found = hl.perform(
            ball, hl.optimal_gait(ball, circle.displacement, method, start=hl.Gait.ellipse(0.0, [0.5, 0.3]))
        )
        np.testing.assert_allclose(found.displacement, circle.displacement, rtol=0, atol=1e-12)
        assert found.length == pytest.approx(2 * np.pi * radius, rel=1e-7)


@pytest.mark.proof
def test_small_strokes_are_circles_in_the_metric() -> None:
    swimmer, small = hl.Purcell(), 1e-4
    found = hl.perform(swimmer, hl.optimal_gait(swimmer, [small, None, 0.0], "descent", harmonics=2))
    metric, b = np.asarray(swimmer.power([0.0, 0.0])), 5 / 81
    # the best small stroke is not about the straight position but somewhere better: at most the cost there
    assert 0.5 * found.energy <= 2 * np.pi * np.sqrt(np.linalg.det(metric)) / b * small * (1 + 1e-3)
    middle = np.asarray(found.shapes)[:-1].mean(axis=0)
    curvature = abs(np.asarray(swimmer.curvature(middle))[:, 0, 1][0])
    here = 2 * np.pi * np.sqrt(np.linalg.det(np.asarray(swimmer.power(middle)))) / curvature * small
    assert 0.5 * found.energy == pytest.approx(here, rel=0.02)


@pytest.mark.proof
def test_wong_and_descent_agree_and_beat_the_known_stroke() -> None:
    swimmer = hl.Purcell(length=1 / 3)
    wanted = [BEST_KNOWN[0], 0.0, 0.0]
    one, two = (hl.perform(swimmer, hl.optimal_gait(swimmer, wanted, method)) for method in ("wong", "descent"))
    for found in (one, two):
        np.testing.assert_allclose(found.displacement, wanted, rtol=0, atol=1e-12)
        assert found.length < BEST_KNOWN[1] - 1e-5
    assert one.energy == pytest.approx(two.energy, rel=1e-6)
    # at constant power, as extremals are
    assert one.energy == pytest.approx(one.length**2, rel=1e-7)


def test_mistakes() -> None:
    swimmer = hl.Purcell()
    with pytest.raises(ValueError, match="has 1 components, but those of this mover have 3"):
        hl.optimal_gait(swimmer, [0.1])
    with pytest.raises(ValueError, match="the best gait is to rest"):
        hl.optimal_gait(swimmer, [0.0, None, 0.0])
    with pytest.raises(ValueError, match="knows the methods 'wong' and 'descent'"):
        hl.optimal_gait(swimmer, [0.1, None, 0.0], "magic")
    with pytest.raises(ValueError, match="The search cannot begin there"):
        hl.optimal_gait(swimmer, [0.1, None, 0.0], start=[3.3, 0.0])
    with pytest.raises(ValueError, match="scallop theorem"):
        hl.optimal_gait(hl.models.links([1.0, 1.0]), [0.1, None, None])
