"""What a person gets wrong is said in a sentence; under jit nothing raises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.spaces import SE2, SO, SO3, Chart, Circle, Euclidean, Hyperbolic, Power, Product, Sphere


def test_a_point_off_its_space_is_offered_its_projection() -> None:
    with pytest.raises(ValueError, match=r"does not lie on Sphere.*space\.project\(x\) = \[0\.6, 0\. , 0\.8\]"):
        Sphere(2).distance([1.2, 0.0, 1.6], [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"y = .* does not lie on Hyperbolic"):
        Hyperbolic(2).distance([0.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="does not lie"):
        Hyperbolic(2, model="ball").exp([0.9, 0.9], [0.1, 0.0])
    with pytest.raises(ValueError, match="does not lie"):
        SO3().log([1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="does not lie"):
        SO(2).inner(np.diag([1.0, -1.0]).ravel(), np.zeros(4), np.zeros(4))
    with pytest.raises(ValueError, match="not finite"):
        Euclidean(2).exp([jnp.nan, 0.0], [0.0, 0.0])


def test_under_jit_nothing_raises() -> None:
    assert np.isfinite(jax.jit(Sphere(2).distance)(jnp.array([1.2, 0.0, 1.6]), jnp.array([0.0, 0.0, 1.0])))
    x = jnp.array([0.0, 0.6, 0.8])
    assert np.all(np.isnan(jax.jit(Sphere(2).log)(x, -x)))


def test_a_vector_that_is_not_tangent() -> None:
    with pytest.raises(ValueError, match=r"not tangent.*space\.tangent\(x, v\)"):
        Sphere(2).exp([0.0, 0.0, 1.0], [0.0, 0.1, 0.1])
    with pytest.raises(ValueError, match=r"w = .*not tangent"):
        Hyperbolic(2).transport([0.0, 0.0, 1.0], [0.1, 0.0, 0.0], [0.0, 0.0, 1.0])


def test_opposite_points_have_no_log() -> None:
    with pytest.raises(ValueError, match="antipodal"):
        Sphere(2, 2.0).log([0.0, 0.0, 2.0], [0.0, 0.0, -2.0])
    with pytest.raises(ValueError, match="antipodal"):
        (Sphere(2) ** 2).log([0.0, 0, 1, 1, 0, 0], [0.0, 0, 1, -1, 0, 0])
    with pytest.raises(ValueError, match="opposite"):
        Circle().log([0.0], [np.pi])
    with pytest.raises(ValueError, match="half turn"):
        SO3().log([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="half turn"):
        SE2().log([1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 3.0, 0.0])
    with pytest.raises(ValueError, match="half turn"):
        SO(4).log(np.eye(4).ravel(), np.diag([-1.0, -1.0, 1.0, 1.0]).ravel())


def test_wrong_dimensions() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\).*shape \(3,\)"):
        Sphere(2).distance([1.0, 0.0], [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"jax\.vmap"):
        Sphere(2).distance(np.eye(3), np.eye(3))
    with pytest.raises(ValueError, match="local coordinates"):
        Sphere(2).chart([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="3 polar coordinates"):
        Hyperbolic(3).from_polar(0.1, 0.2)
    with pytest.raises(ValueError, match="no polar coordinates"):
        SO3().from_polar(0.1, 0.2, 0.3)
    with pytest.raises(ValueError, match="one or more points"):
        Sphere(2).mean(np.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="weights"):
        Sphere(2).mean(np.eye(3), np.ones(2))
    with pytest.raises(ValueError, match="none negative"):
        Sphere(2).mean(np.eye(3), np.array([1.0, -1.0, 1.0]))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Sphere(0), "positive integer"),
        (lambda: Sphere(2, -1.0), "radius"),
        (lambda: Hyperbolic(2, jnp.nan), "radius"),
        (lambda: Sphere(2, model="ball"), "'embedded', 'polar'"),
        (lambda: SO(1), "at least 2"),
        (lambda: SE2(0.0), "length"),
        (lambda: Product(), "one or more spaces"),
        (lambda: Power(Sphere(2), 0), "positive integer"),
    ],
)
def test_constructors(build, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()


def test_a_chart_says_when_its_metric_is_none() -> None:
    flat = Chart(lambda q: jnp.diag(jnp.stack([jnp.ones(()), q[0] ** 2])), 2)
    with pytest.raises(ValueError, match="not positive definite"):
        flat.inner([0.0, 1.0], [1.0, 0.0], [1.0, 0.0])
