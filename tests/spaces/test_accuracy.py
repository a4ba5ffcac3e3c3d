"""Digits: near and far points of S^3 and H^3, against 60-digit arithmetic and there and back.

What can be kept depends on how points are stored. A stored point carries a relative error eps in its coordinates, so a
round trip can return a point to eps of its coordinates' size, and a tangent vector to eps of its own size plus the
error of the stored end point as seen from its start. Distances between stored points have no such excuse: they are
functions of the numbers given, and are compared to 1e-14 of themselves.
"""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from holonomy.spaces import Carried, Hyperbolic, Inhomogeneous, Product, Sphere, embedded

DISTANCES = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 5.0, 10.0, 20.0, 30.0]
H3, S3 = Hyperbolic(3), Sphere(3)


@jax.jit
def h3_trip(x, v):
    y = H3.exp(x, v)
    back = H3.log(x, y)
    return y, back, H3.distance(x, y), H3.exp(x, back)


h3_distance = jax.jit(H3.distance)


@jax.jit
def s3_trip(x, v):
    y = S3.exp(x, v)
    back = S3.log(x, y)
    return y, back, S3.distance(x, y), S3.exp(x, back)


def hyperbolic_distance(x: np.ndarray, y: np.ndarray) -> Any:
    """From the spacelike parts as stored, w following from them."""
    with mpmath.workdps(80):
        s, t = [mpmath.mpf(float(a)) for a in x[:-1]], [mpmath.mpf(float(a)) for a in y[:-1]]
        ws, wt = mpmath.sqrt(1 + sum(a * a for a in s)), mpmath.sqrt(1 + sum(a * a for a in t))
        return mpmath.acosh(ws * wt - sum(a * b for a, b in zip(s, t, strict=True)))


def start(space, scale: float, seed: int):
    """A point about `scale` from the origin and a unit tangent vector there."""
    a, b = jax.random.split(jax.random.PRNGKey(seed))
    direction = jax.random.normal(a, (3,))
    x = space.chart(space.origin, jnp.sinh(scale) * direction / jnp.linalg.norm(direction))
    v = space.random_tangent(b, x)
    return x, v / space.norm(x, v)


@pytest.mark.parametrize("d", DISTANCES)
def test_round_trips_in_h3(d: float) -> None:
    for seed in range(3):
        x, unit = start(H3, 0.0 if seed == 0 else 1.0, seed)
        v = d * unit
        y, back, distance, again = h3_trip(x, v)
        assert abs(float(distance) - float(hyperbolic_distance(np.asarray(x), np.asarray(y)))) <= 1e-14 * d
        assert float(jnp.max(jnp.abs(again - y))) <= 1e-14 * max(1.0, d) * float(jnp.max(jnp.abs(y)))
        # the stored y is uncertain by eps |y|, which seen from x is at most eps e^|x| (1 + d)
        assert float(H3.norm(x, H3.tangent(x, back - v))) <= 1e-14 * (d if seed == 0 else 1.0 + d)


@pytest.mark.parametrize("far", [0.0, 4.0, 9.0, 18.0])
@pytest.mark.parametrize("d", [1e-6, 1e-3, 1.0, 10.0, 30.0])
def test_distances_anywhere_in_h3(far: float, d: float) -> None:
    for seed in range(3):
        x, unit = start(H3, far, seed)
        y = h3_trip(x, d * unit)[0]
        exact = float(hyperbolic_distance(np.asarray(x), np.asarray(y)))
        # a change of eps in stored coordinates changes the distance by up to eps sinh(R), R of the nearer point
        allowed = (1e-14 + 4e-16 * float(jnp.linalg.norm(x[:-1]))) * exact
        assert abs(float(h3_distance(x, y)) - exact) <= allowed
        assert abs(float(h3_distance(y, x)) - exact) <= allowed


@pytest.mark.parametrize("gap", [np.pi - 1e-12, np.pi - 1e-6, 2.0, 1.0, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12])
def test_round_trips_in_s3_up_to_the_cut_locus(gap: float) -> None:
    d = np.pi - gap
    for seed in range(3):
        a, b = jax.random.split(jax.random.PRNGKey(seed))
        x = S3.random(a)
        v = S3.random_tangent(b, x)
        v = d * v / S3.norm(x, v)
        y, back, distance, again = s3_trip(x, v)
        assert float(jnp.max(jnp.abs(again - y))) <= 1e-14
        # the length is good to round-off of the stored points; the direction is as uncertain as y seen from -x
        assert abs(float(distance) - d) <= 1e-15 + 4e-16 * d
        assert float(jnp.max(jnp.abs(back - v))) <= 1e-14 * max(1.0, 1.0 / gap)


def test_distance_of_near_points_of_the_sphere_against_long_arithmetic() -> None:
    for seed, d in enumerate([1e-12, 1e-7, 1e-2, 1.0, 3.0, 3.14159265]):
        x, v = S3.random(jax.random.PRNGKey(seed)), jax.random.normal(jax.random.PRNGKey(seed + 50), (4,))
        v = S3.tangent(x, v)
        y = S3.exp(x, d * v / jnp.linalg.norm(v))
        with mpmath.workdps(60):
            p, q = [[mpmath.mpf(float(c)) for c in a] for a in (x, y)]
            p, q = [[c / mpmath.sqrt(sum(e * e for e in a)) for c in a] for a in (p, q)]
            less = mpmath.sqrt(sum((s - t) ** 2 for s, t in zip(p, q, strict=True)))
            more = mpmath.sqrt(sum((s + t) ** 2 for s, t in zip(p, q, strict=True)))
            exact = 2 * mpmath.atan2(less, more)
            # normalising the stored points costs eps of their size, once
            assert abs(float(S3.distance(x, y)) - float(exact)) <= 1e-14 * float(exact) + 2e-16


def test_inhomogeneous_distance_against_the_formula_of_the_thesis() -> None:
    space = Inhomogeneous(3)

    def thesis(p: np.ndarray, q: np.ndarray) -> Any:
        with mpmath.workdps(60):
            p, q = mpmath.matrix(p.tolist()), mpmath.matrix(q.tolist())
            plus, minus = mpmath.norm(p + q), mpmath.norm(p - q)
            a, b = (plus + minus) / 2, (plus - minus) / 2

            def big_f(c: Any) -> Any:
                return mpmath.asinh(c / mpmath.sqrt(2)) + c * mpmath.sqrt(c * c + 2) / 2

            return big_f(a) - big_f(b)

    rng = np.random.default_rng(3)
    distance = jax.jit(space.distance)
    for size in (1e-3, 1.0, 30.0):
        for step in (1e-10, 1e-3, 1.0, 50.0):
            p = size * rng.normal(size=3)
            q = p + step * rng.normal(size=3)
            exact = float(thesis(p, q))
            assert abs(float(distance(p, q)) - exact) <= 4e-15 * exact
            # opposite points, where the formula of the thesis has no derivative
            exact = float(thesis(p, -p))
            assert abs(float(distance(p, -p)) - exact) <= 4e-15 * exact
            assert np.all(np.isfinite(jax.grad(distance)(jnp.asarray(p), jnp.asarray(-p))))
    # the two masses of the curvature detector
    detector = space.distance(np.array([-25.0, 0.5, 0.0]), np.array([-25.0, -0.5, 0.0]))
    assert abs(float(detector) - 25.0399733602) < 5e-11


def test_polar_coordinates_of_the_thesis() -> None:
    a, b, g = 0.7, 1.1, -2.0
    sphere = [np.sin(a) * np.sin(b) * np.cos(g), np.sin(a) * np.sin(b) * np.sin(g), np.sin(a) * np.cos(b), np.cos(a)]
    hyper = [np.sinh(a) * np.sin(b) * np.cos(g), np.sinh(a) * np.sin(b) * np.sin(g), np.sinh(a) * np.cos(b), np.cosh(a)]
    np.testing.assert_allclose(S3.from_polar(a, b, g), sphere, rtol=1e-15)
    np.testing.assert_allclose(H3.from_polar(a, b, g), hyper, rtol=1e-15)
    cylinder = Product(Hyperbolic(2), Sphere(2))
    for space in (S3, H3, Sphere(2, 3.0), Hyperbolic(3, 2.0, model="ball"), Hyperbolic(3, model="polar")):
        c = jnp.array([a, b, g])[: space.dim]
        np.testing.assert_allclose(space.to_polar(space.from_polar(c)), c, rtol=1e-14)
    c = jnp.array([a, g, b, g])
    np.testing.assert_allclose(cylinder.to_polar(cylinder.from_polar(*c)), c, rtol=1e-14)


@pytest.mark.parametrize("distance", [1.0, 10.0, 12.0, 20.0, 100.0, 150.0])
def test_the_tangent_part_far_out_is_its_own_tangent_part(distance):
    space = Hyperbolic(3)
    x = np.asarray(space.from_polar(distance, 1.0, 0.3))
    for v in ([0.3, 0.5, 0.9, 0.2], [1.0, -2.0, 0.5, -1.0], [1e-8, 3.0, 0.0, 4.0]):
        once = space.tangent(x, np.array(v))
        np.testing.assert_array_equal(space.tangent(x, once), once)
        scaled = once / 7.3  # rounds again, and stays tangent to rounding
        np.testing.assert_allclose(space.tangent(x, scaled), scaled, rtol=1e-15)


def test_recentring_moves_nothing() -> None:
    """Points, velocities and charts of a carried configuration, before and after its centre is put at the origin."""
    plane = Hyperbolic(2, 1.5)
    space = Carried(plane**3, plane.from_polar(1.2, 0.4))
    rng = np.random.default_rng(3)

    @jax.jit
    def both(x, w, y):
        """Points and their velocities before and after, those of a place in the chart too, and what stays the same."""
        v = space.tangent(x, w)
        new, rate = space.recentred(x, v)
        (after, moved), (before, went) = (jax.jvp(space.points, (q,), (u,)) for q, u in ((new, rate), (x, v)))
        there = space.chart(new, space.recentred_local(x, y)[0])
        charts = space.points(there), space.points(space.chart(x, y[0]))
        return (after, before), (moved, went), charts, (space.recentred(new, rate)[0], new), space.distance(x, new)

    for length in (0.0, 1e-9, 0.5, 3.0):
        points = (plane**3).random(jax.random.key(1))
        x = jnp.concatenate([points, length * jnp.array([0.6, -0.8])])
        w, y = rng.normal(size=11), 0.1 * rng.normal(size=(1, 6))
        places, velocities, charts, again, distance = both(x, w, y)
        size = np.max(np.abs(places[1]))
        for pair in (places, velocities, charts):
            np.testing.assert_allclose(*pair, rtol=0, atol=1e-13 * size)
        np.testing.assert_allclose(*again, rtol=0, atol=1e-14 * size)
        np.testing.assert_allclose(distance, 0.0, atol=1e-12)


@pytest.mark.parametrize("distance", [0.0, 1e-8, 0.9, 1.1, 5.0, 30.0, 300.0])
def test_boosts_by_rapidity(distance: float) -> None:
    """A step along and against the radius, and the way back after one across it, without points of size e^R."""
    rho = distance * jnp.array([0.6, 0.0, 0.8])
    along = np.sinh(0.3) * np.array([0.6, 0.0, 0.8])
    for sign in (1.0, -1.0):
        end = embedded.rapidity_chart(rho, jnp.asarray(sign * along))
        np.testing.assert_allclose(end, (distance + sign * 0.3) * np.array([0.6, 0.0, 0.8]), rtol=1e-15, atol=1e-15)
    across = embedded.rapidity_chart(rho, jnp.array([0.0, np.sinh(0.5), 0.0]))
    np.testing.assert_allclose(np.linalg.norm(across), _hypotenuse(distance, 0.5), rtol=1e-15, atol=1e-15)


def _hypotenuse(a: float, b: float) -> float:
    with mpmath.workdps(300):
        return float(mpmath.acosh(mpmath.cosh(a) * mpmath.cosh(b)))
