"""Results belong to what a metric, curve or embedding is when it is called, not to what it was before."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.geometry import Embedding, curvature, geodesic, holonomy_angle, jacobi, transport
from holonomy.geometry.metric import traced
from holonomy.spaces import Chart
from holonomy.trace.function import trace
from holonomy.trace.native.compiler import compile

RADIUS = 1.0


def sphere(q: jax.Array) -> jax.Array:
    """The sphere whose radius is a global of this module."""
    return RADIUS**2 * jnp.diag(jnp.stack([jnp.ones(()), jnp.sin(q[0]) ** 2]))


class Torus:
    """A torus of revolution whose radii may be changed."""

    def __init__(self, large: float, small: float):
        self.large, self.small = large, small

    def metric(self, q: jax.Array) -> jax.Array:
        return jnp.diag(jnp.stack([jnp.full((), self.small**2), (self.large + self.small * jnp.cos(q[0])) ** 2]))

    def surface(self, q: jax.Array) -> jax.Array:
        reach = self.large + self.small * jnp.cos(q[0])
        return jnp.stack([reach * jnp.cos(q[1]), reach * jnp.sin(q[1]), self.small * jnp.sin(q[0])])

    def gaussian(self, q: jax.Array) -> float:
        return float(jnp.cos(q[0]) / (self.small * (self.large + self.small * jnp.cos(q[0]))))


POINT = jnp.array([0.8, 0.3])


def conformal(factors: list[float]):
    """The metric $e^{2a|q|^2}$ times the identity, where a is the first number in a list."""

    def metric(q: jax.Array) -> jax.Array:
        return jnp.exp(2.0 * (factors[0] * (q @ q))) * jnp.eye(2)

    return metric


def test_curvature_follows_a_changed_global(monkeypatch: pytest.MonkeyPatch) -> None:
    c = curvature(sphere)
    for radius in (1.0, 2.0):
        monkeypatch.setitem(globals(), "RADIUS", radius)
        assert float(c.gaussian(POINT)) == pytest.approx(radius**-2, rel=1e-12)
        assert float(c.scalar(POINT)) == pytest.approx(2.0 * radius**-2, rel=1e-12)


def test_curvature_follows_a_changed_attribute() -> None:
    torus = Torus(2.0, 0.7)
    c = curvature(torus.metric)
    for torus.large, torus.small in ((2.0, 0.7), (3.0, 1.1)):
        assert float(c.gaussian(POINT)) == pytest.approx(torus.gaussian(POINT), rel=1e-12)
        assert float(c.sectional(POINT, [1.0, 0.4], [0.2, 1.0])) == pytest.approx(torus.gaussian(POINT), rel=1e-12)


def test_every_part_of_the_curvature_follows_a_changed_list() -> None:
    """K = -4a exp(-2a|q|^2) for the factor exp(2a|q|^2); riemann, ricci and christoffel of one metric, not of two."""
    factors = [0.3]
    metric = conformal(factors)
    c = curvature(metric)
    for factor in (0.3, -0.2):
        factors[0] = factor
        expected = -4.0 * factor * np.exp(-2.0 * factor * float(POINT @ POINT))
        g = np.exp(2.0 * factor * float(POINT @ POINT))
        assert float(c.gaussian(POINT)) == pytest.approx(expected, rel=1e-12)
        assert np.allclose(c.ricci(POINT), expected * g * np.eye(2), rtol=1e-12, atol=1e-13)
        assert float(c.riemann(POINT)[0, 1, 0, 1]) == pytest.approx(expected * g, rel=1e-12)
        assert float(c.christoffel(POINT)[0, 0, 0]) == pytest.approx(2.0 * factor * float(POINT[0]), rel=1e-12)


def test_embeddings_follow_changed_values() -> None:
    torus, shift = Torus(2.0, 0.7), [1.0]
    e = Embedding(torus.surface)
    cylinder = Embedding(lambda q: jnp.stack([shift[0] * jnp.cos(q[0]), jnp.sin(q[0]), q[1]]))
    intrinsic = curvature(e.metric)
    for torus.large, torus.small in ((2.0, 0.7), (1.5, 0.2)):
        for found in (e.curvature.gaussian(POINT), intrinsic.gaussian(POINT)):
            assert float(found) == pytest.approx(torus.gaussian(POINT), rel=1e-11)
    for shift[0] in (1.0, 2.0):
        # the curvature of an ellipse with half-axes shift[0] and 1 where it meets its first axis
        assert float(cylinder.mean([0.0, 0.0])[0]) == pytest.approx(-shift[0] / 2.0, rel=1e-12)


def test_geodesics_and_jacobi_fields_follow_changed_values(monkeypatch: pytest.MonkeyPatch) -> None:
    torus = Torus(2.0, 0.7)
    for torus.large in (2.0, 3.0):
        # Clairaut: the inner and the outer equator are geodesics, run through with constant speed
        end = geodesic(torus.metric, [0.0, 0.0], [0.0, 1.0], 2.0)
        assert np.allclose(end, [0.0, 2.0], atol=1e-13)
        oblique = geodesic(torus.metric, [0.0, 0.0], [0.4, 1.0], 2.0)
        fresh = Torus(torus.large, torus.small)
        assert np.array_equal(oblique, geodesic(fresh.metric, [0.0, 0.0], [0.4, 1.0], 2.0))
    q, v = [np.pi / 2, 0.0], [0.0, 1.0]
    for radius in (1.0, 3.0):
        monkeypatch.setitem(globals(), "RADIUS", radius)
        # along the equator by the angle s, neighbours come together as cos s whatever the radius
        j, _ = jacobi(sphere, q, v, [1.0, 0.0], [0.0, 0.0], 0.7)
        assert np.allclose(j, [np.cos(0.7), 0.0], atol=1e-13)
    ends = []
    factors = [0.3]
    metric = conformal(factors)
    for factors[0] in (0.3, 0.6):
        ends.append(np.asarray(geodesic(metric, [0.2, 0.0], [0.0, 1.0], 0.5)))
        assert np.array_equal(ends[-1], geodesic(conformal([factors[0]]), [0.2, 0.0], [0.0, 1.0], 0.5))
    assert np.abs(ends[0] - ends[1]).max() > 1e-3


def test_transport_follows_a_changed_metric_and_a_changed_curve() -> None:
    angle = [0.6]

    def circle(t: jax.Array) -> jax.Array:
        return jnp.stack([jnp.full((), angle[0]), 2.0 * jnp.pi * t])

    def scaled(q: jax.Array) -> jax.Array:
        """The cone over a circle, whose opening is a closed-over value."""
        return jnp.diag(jnp.stack([jnp.ones(()), opening[0] ** 2 * q[0] ** 2]))

    for angle[0] in (0.6, 1.1):
        # around a parallel, vectors turn by 2 pi (1 - cos theta)
        expected = 2.0 * np.pi * (1.0 - np.cos(angle[0]))
        found = float(holonomy_angle(sphere, circle))
        assert np.allclose(np.exp(1j * found), np.exp(1j * expected), atol=1e-12)
    opening = [0.5]
    for opening[0] in (0.5, 0.8):
        turned = transport(scaled, lambda t: jnp.stack([jnp.ones(()), t]), [1.0, 0.0])
        # unrolled, the cone is a plane and the curve an arc by the angle of the opening
        assert np.allclose(turned, [np.cos(opening[0]), -np.sin(opening[0]) / opening[0]], atol=1e-12)


def test_a_chart_keeps_the_metric_that_it_was_given() -> None:
    factors = [0.3]
    metric = conformal(factors)
    chart = Chart(metric, 2)
    before = np.asarray(chart.exp([0.2, 0.0], [0.0, 1.0])), float(chart.curvature.gaussian([0.2, 0.0]))
    factors[0] = 0.9
    assert np.array_equal(chart.exp([0.2, 0.0], [0.0, 1.0]), before[0])
    assert float(chart.curvature.gaussian([0.2, 0.0])) == before[1]
    other = Chart(metric, 2)
    assert float(other.curvature.gaussian([0.2, 0.0])) == pytest.approx(-3.6 * np.exp(-1.8 * 0.04), rel=1e-12)


def test_other_numbers_compile_nothing() -> None:
    """Two metrics of one form have one program, and differ in its constants."""
    first, second = (traced(Torus(*radii).metric, POINT) for radii in ((2.1, 0.7), (3.1, 0.9)))
    assert first.program is second.program
    assert not np.array_equal(first(POINT), second(POINT))


def test_derivatives_by_closed_over_numbers() -> None:
    def end(large: jax.Array | float) -> jax.Array:
        def metric(q: jax.Array) -> jax.Array:
            return jnp.diag(jnp.stack([jnp.full((), 0.49), (large + 0.7 * jnp.cos(q[0])) ** 2]))

        return geodesic(metric, [0.1, 0.0], [0.3, 1.0], 1.0)

    slope = jax.jacfwd(end)(2.0)
    step = 1e-5
    difference = (end(2.0 + step) - end(2.0 - step)) / (2 * step)
    assert np.allclose(slope, difference, atol=1e-9)
    assert np.allclose(jax.jacrev(end)(2.0), slope, rtol=1e-10)


ZEROS = {
    "angle": (lambda x, zero: jax.lax.atan2(jax.lax.full_like(x, zero), x), -1.0),
    "reciprocal": (lambda x, zero: x / jax.lax.full_like(x, zero), 2.0),
}


@pytest.mark.parametrize("name", ZEROS)
def test_zero_and_minus_zero_are_different_constants(name: str) -> None:
    """atan2(±0, -1) = ±pi and 2/±0 = ±infinity, traced one after the other, in JAX and as machine code."""
    function, at = ZEROS[name]
    x = jnp.array(at)
    for order in ((0.0, -0.0), (-0.0, 0.0)):
        for make in (trace, compile):
            first, second = (make(lambda x, zero=zero: function(x, zero), (x,)) for zero in order)
            assert float(first(x)) == float(function(x, order[0])), make
            assert float(second(x)) == float(function(x, order[1])) == -float(first(x)), make


def test_arrays_of_zeros_of_both_signs() -> None:
    """An array too large to be taken apart keeps the sign of each zero, in another order too."""
    for seed in (1, 2):
        signs = np.where(np.random.default_rng(seed).random(5000) < 0.5, 0.0, -0.0)
        found = compile(lambda x, signs=signs: jnp.sum(x / signs > 0.0), (jnp.ones(5000),))(jnp.ones(5000))
        assert int(found) == int(np.sum(~np.signbit(signs)))
