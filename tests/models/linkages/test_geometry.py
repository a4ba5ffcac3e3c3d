"""Theorems about the sphere of configurations: Gauss and Bonnet, two routes to curvature, geodesics, their fields."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

LINK = hl.Linkage(rods=4, base=3.0)
X = LINK.from_angles([0.4, 0.7])
V = jax.jvp(LINK.from_angles, (jnp.array([0.4, 0.7]),), (jnp.array([1.0, 0.5]),))[1]


@pytest.mark.parametrize("base", [2.2, 3.0, 3.8])
@pytest.mark.parametrize("mass", [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
def test_gauss_bonnet(base: float, mass: tuple[float, float]) -> None:
    assert abs(hl.Linkage(4, base, *mass).total_curvature() - 4 * np.pi) < 1e-10


def test_areas_and_lengths() -> None:
    assert abs(LINK.volume() - 21.3263517842) < 1e-9
    assert abs(hl.Linkage(4, 3.5).volume() - 9.6559034086) < 1e-9
    # three rods: the length of the closed curve of configurations, summed over a fine polygon with Richardson's step
    link = hl.Linkage(3, 2.0)
    t = np.linspace(0, 2 * np.pi, 4001)
    h = np.stack([np.asarray(link.hinges([np.sin(a), np.cos(a)])) for a in t[::10]]).reshape(-1, 4)

    def polygon(step: int) -> float:
        return float(np.sum(np.linalg.norm(np.diff(h[::step], axis=0), axis=1)))

    assert abs(link.volume() - (4 * polygon(1) - polygon(2)) / 3) < 1e-6


@pytest.mark.proof  # takes long to trace
@pytest.mark.parametrize("rods", [5, 6])
def test_curvature_from_the_metric_and_from_the_embedding(rods: int) -> None:
    """Sectional curvatures of random planes, at a random point and at a pole."""
    link = hl.Linkage(rods, rods - 1.3, np.linspace(0.1, 0.5, rods), np.linspace(1.0, 0.4, rods - 1))
    random = np.random.default_rng(rods)
    for x in (link.space.project(random.normal(size=rods - 1)), np.eye(rods - 1)[0], -np.eye(rods - 1)[1]):
        u, v = (link.space.tangent(x, random.normal(size=rods - 1)) for _ in range(2))
        by_metric, by_gauss = link.intrinsic_curvature.sectional(x, u, v), link.curvature.sectional(x, u, v)
        assert abs(by_metric - by_gauss) < 1e-10
        # the same from the whole tensor, and traces of it
        ricci = np.asarray(link.curvature.ricci(x))
        np.testing.assert_allclose(ricci, ricci.T, rtol=0, atol=1e-12)
        second = np.asarray(link.second(x)).reshape(rods - 2, rods - 2, -1)
        m = np.asarray(link.surface.ambient())
        trace = np.einsum("aaN->N", second)
        assert abs(link.curvature.scalar(x) - (trace @ m @ trace - link.total_bending(x))) < 1e-11
        # second(x) is normal to the surface
        tangents = np.stack([np.asarray(link.push(x, c)).reshape(-1) for c in np.asarray(link.frame(x)).T])
        assert np.abs(np.einsum("abN,NP,cP->abc", second, m, tangents)).max() < 1e-12


@pytest.mark.proof
def test_scalar_curvature_of_five_rods_in_fields() -> None:
    link = hl.Linkage(5, 3.7, np.linspace(0.1, 0.5, 5), np.linspace(1.0, 0.4, 4))
    x = np.array([[0.5, -0.5, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])
    scalar, bending = link.fields(x)
    for row, a, b in zip(x, scalar, bending, strict=True):
        assert abs(link.curvature.scalar(row) - a) < 1e-11
        assert abs(link.total_bending(row) - b) < 1e-11


def test_geodesics_in_any_order_of_times_and_back() -> None:
    times = np.array([0.7, -0.3, 0.0, 1.4])
    points, velocities = LINK.geodesic_flow(X, V, times)
    np.testing.assert_allclose(points[2], X, rtol=0, atol=1e-15)
    again = LINK.geodesic(points[3], velocities[3], np.array([-0.7, -1.7]))
    np.testing.assert_allclose(again, np.stack([points[0], points[1]]), rtol=0, atol=1e-12)
    energies = [LINK.energy(p / np.linalg.norm(p), v) for p, v in zip(points, velocities, strict=True)]
    np.testing.assert_allclose(energies, LINK.energy(X, V), rtol=1e-13)


@pytest.mark.proof
def test_jacobi_fields_bend_by_curvature() -> None:
    r"""On a surface \(J = f\,n\) with \(f'' + K|v|^2 f = 0\): f' from f by integrating K along the geodesic."""
    speed2 = 2 * float(LINK.energy(X, V))
    across = np.asarray(LINK.frame(X)) @ np.array([1.0, 0.0])
    across = across - float(LINK.inner(X, across, V)) / speed2 * np.asarray(V)
    across = across / np.sqrt(float(LINK.inner(X, across, across)))
    nodes, weights = np.polynomial.legendre.leggauss(15)
    times = 0.25 * np.concatenate([(nodes + 1) / 2, [1.0]])
    fields, rates = LINK.jacobi(X, V, np.zeros(3), across, times)
    points, velocities = LINK.geodesic_flow(X, V, times)
    k = np.asarray(LINK.fields(points)[0])
    sizes, slopes = [], []
    for x, v, j, dj in zip(points, velocities, fields, rates, strict=True):
        x = x / jnp.linalg.norm(x)
        assert abs(LINK.inner(x, j, v)) < 1e-11
        size = np.sqrt(float(LINK.inner(x, j, j)))
        sizes.append(size)
        slopes.append(float(LINK.inner(x, j, dj)) / size)
    lost = np.sum(0.25 * weights / 2 * k[:-1] * speed2 * np.array(sizes[:-1]))
    assert abs(slopes[-1] - (1.0 - lost)) < 1e-10


@pytest.mark.proof
def test_conjugate_points_are_zeros_of_a_jacobi_field() -> None:
    found = LINK.conjugate_points(X, V, 3.0, samples=200)
    assert len(found) >= 1
    speed2 = 2 * float(LINK.energy(X, V))
    across = np.asarray(LINK.frame(X)) @ np.array([1.0, 0.0])
    across = across - float(LINK.inner(X, across, V)) / speed2 * np.asarray(V)
    fields, _ = LINK.jacobi(X, V, np.zeros(3), across, found)
    assert np.abs(fields).max() < 1e-10


@pytest.mark.proof
def test_shortest_motions_arrive_and_are_short() -> None:
    y = LINK.from_angles([-0.3, 3.5])
    found = LINK.shortest(X, y)
    assert len(found) >= 2
    for motion in found:
        assert np.abs(LINK.geodesic(X, motion.velocity, 1.0) - y).max() < 1e-12
        assert abs(np.sqrt(2 * LINK.energy(X, motion.velocity)) - motion.length) < 1e-12
    best = found[0]
    assert best.length == min(m.length for m in found)
    # the shortest one is conjugate to nothing on the way, and reversed it is the shortest one back
    assert len(LINK.conjugate_points(X, best.velocity, 1.0, samples=200)) == 0
    assert abs(LINK.shortest(y, X)[0].length - best.length) < 1e-11
    # mirror images in the base line have mirror motions
    assert abs(LINK.shortest(-X, -y)[0].length - best.length) < 1e-11


@pytest.mark.proof
def test_symmetric_configurations_are_a_closed_geodesic() -> None:
    circle = LINK.mirror_geodesic()
    times = np.linspace(0, 1, 9)
    points = LINK.geodesic(circle.start, circle.velocity, times)
    assert np.abs(points[-1] - circle.start).max() < 1e-12
    for x in points:
        h = np.asarray(LINK.hinges(x))
        np.testing.assert_allclose(h[::-1] * [-1, 1] + [3.0, 0.0], h, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="not symmetric"):
        hl.Linkage(4, 3.0, hinge_mass=[1.0, 1.0, 2.0]).mirror_geodesic()
    with pytest.raises(ValueError, match="4 and 5 rods"):
        hl.Linkage(6, 5.0).mirror_geodesic()


def test_dragging_reaches_what_can_be_reached() -> None:
    x = LINK.drag(X, 2, np.array([1.5, 0.3]))
    np.testing.assert_allclose(LINK.hinges(x)[1], [1.5, 0.3], rtol=0, atol=1e-9)
    # the first hinge turns about the origin until the other three rods are stretched: cos = 1/6
    x = LINK.drag(X, 1, np.array([0.0, 3.0]))
    np.testing.assert_allclose(LINK.hinges(x)[0], [1 / 6, np.sqrt(35) / 6], rtol=0, atol=1e-3)
    with pytest.raises(ValueError, match="1 to 3"):
        LINK.drag(X, 4, np.zeros(2))
