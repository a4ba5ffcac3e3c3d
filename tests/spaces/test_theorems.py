"""Every space keeps the theorems of Riemannian geometry, and `check_space` notices one that does not."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.spaces import (
    SE2,
    SE3,
    SO,
    SO3,
    Chart,
    Circle,
    Euclidean,
    Hyperbolic,
    Inhomogeneous,
    Product,
    Sphere,
)
from holonomy.testing import TheoremFailed, check_space


def bumpy(q: jax.Array) -> jax.Array:
    return jnp.diag(jnp.stack([2.0 + jnp.sin(q[1]), 1.0 + q[0] ** 2])) + 0.3


NEAR_AND_FAR = (1e-9, 1e-3, 1.0, 3.0)
# radius, dimension and degenerate points differ from space to space; the theorems do not
QUICK = [
    (Euclidean(2), NEAR_AND_FAR, None),
    (Circle(2.0), (1e-9, 1.0, 6.2), None),
    # the north pole, the south pole and the equator
    (Sphere(2, 1.7), (*NEAR_AND_FAR, 5.3), 1.7 * np.array([[0, 0, 1.0], [0, 0, -1.0], [0.6, 0.8, 0]])),
    (Hyperbolic(2, 0.6), (1e-9, 1e-3, 1.0, 1.8), None),
]
LONG = [
    (SO3(), NEAR_AND_FAR, np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [0, 0.6, 0, 0.8]])),
    (Sphere(3, 1.3, model="polar"), (1e-6, 1.0), None),
    (Hyperbolic(3), NEAR_AND_FAR, np.array([[0, 0, 0, 1.0], [3.0, 0, -4.0, np.sqrt(26.0)]])),
    (Hyperbolic(3, 1.5, model="polar"), (1e-6, 1.0), None),
    (Hyperbolic(2, 1.5, model="ball"), (1e-6, 1.0), None),
    (Inhomogeneous(3), NEAR_AND_FAR, np.array([[0, 0, 0.0], [25.0, 0, 0], [0.1, 0.2, 0.3]])),
    (SE2(1.3), NEAR_AND_FAR, None),
    (SE3(0.5), (1e-9, 1.0), None),
    (SO(4), (1e-9, 1.0, 2.0), None),
    (Product(Hyperbolic(2), Euclidean(1)), NEAR_AND_FAR, None),
    (Sphere(2) ** 2, NEAR_AND_FAR, None),
]


@pytest.mark.parametrize(("space", "distances", "points"), QUICK, ids=repr)
def test_theorems(space, distances, points) -> None:
    check_space(space, distances=distances, points=points, tolerance=2e-12)


# what takes second derivatives, compiled for minutes over all spaces, is left to the long runs
DEEP = ("geodesic equation", "transport is parallel", "killing equation", "change of chart", "mean", "isometries")


@pytest.mark.parametrize(
    "space",
    [SO3(), Product(Hyperbolic(2), Euclidean(1)), SE2(1.3) ** 2],
    ids=lambda s: type(s).__name__,
)
def test_first_order_theorems(space) -> None:
    check_space(space, distances=NEAR_AND_FAR, tolerance=2e-12, skip=(*DEEP, "gradient of the distance"))


@pytest.mark.proof
def test_first_order_theorems_in_other_dimensions() -> None:
    for space, distances in (
        (Sphere(1), NEAR_AND_FAR),
        (Sphere(4, 0.7), (1e-9, 1.0, 2.1)),
        (Hyperbolic(1), NEAR_AND_FAR),
    ):
        check_space(space, distances=distances, tolerance=1e-9, skip=DEEP)


@pytest.mark.proof
def test_a_chart_keeps_the_first_order_theorems() -> None:
    # its geodesics come from an integrator: derivatives of derivatives of that take too long to compile
    skip = (*DEEP, "gradient of the distance", "tangent vectors")
    check_space(Chart(bumpy, 2), distances=(1e-3, 0.5), tolerance=1e-12, skip=skip)


@pytest.mark.proof
@pytest.mark.parametrize(("space", "distances", "points"), LONG, ids=repr)
def test_theorems_everywhere(space, distances, points) -> None:
    # the origin of R^3 seen from 25 away in the inhomogeneous space is ill-conditioned by that much
    check_space(space, distances=distances, points=points, tolerance=1e-9)


def test_a_wrong_space_is_named() -> None:
    class Wrong(Euclidean):
        def transport(self, x: Any, v: Any, w: Any) -> Any:
            return w + 0.1 * v

    with pytest.raises(TheoremFailed, match="transport is an isometry") as caught:
        check_space(Wrong(2), distances=(0.5,))
    assert caught.value.theorem == "transport is an isometry"
    assert caught.value.residual > 0.01
    assert set(caught.value.sample) == {"x", "v", "w", "y", "s"}


def test_skip_must_name_a_theorem() -> None:
    with pytest.raises(ValueError, match="skip names"):
        check_space(Euclidean(2), skip=("no such theorem",))
