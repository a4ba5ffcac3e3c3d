"""Geodesics, transport and holonomy against what is known in closed form and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from holonomy.geometry import (
    Embedding,
    curvature,
    deviation,
    geodesic,
    geodesic_flow,
    holonomy,
    holonomy_angle,
    jacobi,
    transport,
)
from holonomy.geometry.metric import bend
from holonomy.spaces import Chart, Inhomogeneous, Sphere


def sphere(q: jax.Array) -> jax.Array:
    return jnp.diag(jnp.stack([jnp.ones(()), jnp.sin(q[0]) ** 2]))


def disc(q: jax.Array) -> jax.Array:
    """The hyperbolic plane in the unit disc."""
    return 4.0 / (1.0 - q @ q) ** 2 * jnp.eye(2)


def ellipsoid(q: jax.Array) -> jax.Array:
    return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), 1.5 * jnp.sin(q[0]) * jnp.sin(q[1]), 0.6 * jnp.cos(q[0])])


def stereographic(q: jax.Array) -> jax.Array:
    """The sphere without a point, which a geodesic through the origin meets at distance pi."""
    return 4.0 / (1.0 + q @ q) ** 2 * jnp.eye(2)


def polar_plane(q: jax.Array) -> jax.Array:
    return jnp.diag(jnp.stack([jnp.ones(()), q[0] ** 2]))


def inhomogeneous(q: jax.Array) -> jax.Array:
    return (q @ q + 2.0) * jnp.eye(3)


def wavy(centre: tuple[float, float], size: float):
    """A closed curve, not round, and the map from the unit disc to its inside."""
    middle = jnp.asarray(centre)

    def inside(s: jax.Array, angle: jax.Array) -> jax.Array:
        reach = size * s * (1.0 + 0.2 * jnp.sin(3.0 * angle))
        return middle + reach * jnp.stack([jnp.cos(angle), jnp.sin(angle)])

    return lambda t: inside(jnp.ones(()), 2.0 * jnp.pi * t), inside


def total_curvature(metric, inside) -> float:
    """The integral of K over the inside, by Gauss-Legendre in the radius and the trapezoidal rule around."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    angles = np.arange(64) * 2 * np.pi / 64
    k = curvature(metric)

    def density(s, angle):
        jacobian = jnp.linalg.det(jax.jacfwd(lambda a: inside(a[0], a[1]))(jnp.stack([s, angle])))
        q = inside(s, angle)
        return k.gaussian(q) * jnp.sqrt(jnp.linalg.det(metric(q))) * jacobian

    values = jax.jit(jax.vmap(jax.vmap(density, in_axes=(0, None)), in_axes=(None, 0)))((nodes + 1) / 2, angles)
    return float(np.sum(np.asarray(values) * weights[None, :] / 2) * 2 * np.pi / 64)


@pytest.mark.parametrize(
    ("metric", "centre", "size"),
    [(sphere, (1.2, 0.3), 0.5), (disc, (0.2, -0.1), 0.35), (Embedding(ellipsoid).metric, (1.1, 0.7), 0.5)],
    ids=["sphere", "hyperbolic plane", "ellipsoid"],
)
def test_holonomy_is_the_integral_of_curvature(metric, centre, size) -> None:
    loop, inside = wavy(centre, size)
    total = total_curvature(metric, inside)
    assert abs(total) > 0.1
    assert abs(float(holonomy_angle(metric, loop)) - total) < 1e-10


def test_circle_of_latitude() -> None:
    angle = holonomy_angle(sphere, lambda t: jnp.stack([jnp.full((), 0.7), 2 * jnp.pi * t]))
    np.testing.assert_allclose(angle, 2 * np.pi * (1 - np.cos(0.7)), rtol=1e-13)


def test_transport_in_the_flat_plane_does_not_depend_on_the_path() -> None:
    w = jnp.array([0.3, -0.8])
    start, end = np.array([1.0, 0.2]), np.array([2.0, 1.4])
    straight = transport(polar_plane, np.stack([start, end]), w)
    detour = transport(polar_plane, np.stack([start, [3.0, -1.0], [0.5, 2.0], end]), w)
    bent = transport(polar_plane, lambda t: jnp.asarray(start + t * (end - start)) + jnp.sin(jnp.pi * t) * 0.4, w)
    np.testing.assert_allclose(detour, straight, atol=1e-13)
    np.testing.assert_allclose(bent, straight, atol=1e-13)

    def cartesian(q, v):
        place = lambda p: jnp.stack([p[0] * jnp.cos(p[1]), p[0] * jnp.sin(p[1])])  # noqa: E731
        return jax.jvp(place, (jnp.asarray(q),), (v,))[1]

    np.testing.assert_allclose(cartesian(end, straight), cartesian(start, w), atol=1e-13)


def test_transport_keeps_lengths_and_is_undone_backwards() -> None:
    curve = lambda t: jnp.stack([0.8 + 0.5 * t * jnp.sin(3 * t), 2.0 * t])  # noqa: E731
    w = jnp.array([0.3, -0.8])
    times = jnp.linspace(0.0, 1.0, 5)
    along = transport(sphere, curve, w, at=times)
    lengths = jax.vmap(lambda t, a: a @ sphere(curve(t)) @ a)(times, along)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-13)
    back = transport(sphere, lambda t: curve(1.0 - t), along[-1])
    np.testing.assert_allclose(back, w, atol=1e-14)


def test_geodesics_of_the_sphere_are_great_circles() -> None:
    space, q, v = Sphere(2), jnp.array([0.7, 0.3]), jnp.array([0.3, 1.0])
    times = jnp.array([2.0, -1.0, 0.0, 20.0])
    found = jax.vmap(space.from_polar)(geodesic(sphere, q, v, times))
    x, u = jax.jvp(space.from_polar, (q,), (v,))
    np.testing.assert_allclose(found, jax.vmap(lambda t: space.exp(x, t * u))(times), atol=3e-14)


def test_geodesics_of_the_inhomogeneous_space() -> None:
    space = Inhomogeneous(3)
    q, v = jnp.array([3.0, -1.0, 0.5]), jnp.array([-1.0, 0.2, 0.3])
    np.testing.assert_allclose(geodesic(inhomogeneous, q, v, 6.0), space.exp(q, 6.0 * v), rtol=1e-13)


def test_derivatives_of_a_geodesic() -> None:
    space, q = Sphere(2, model="polar"), jnp.array([0.7, 0.3])
    v = jnp.array([0.3, 1.0])

    def shot(v):
        return geodesic(sphere, q, v, 1.3)

    def closed(v):
        return space.exp(q, 1.3 * v)

    exact = jax.jacfwd(closed)(v)
    # reverse mode transposes what forward mode computes, so it tests both
    np.testing.assert_allclose(jax.jacrev(shot)(v), exact, atol=1e-13)


@pytest.mark.proof
def test_other_derivatives_of_a_geodesic_and_shooting() -> None:
    space, q, v = Sphere(2, model="polar"), jnp.array([0.7, 0.3]), jnp.array([0.3, 1.0])
    # by the arc length, and by parameters of the metric: one that scales it and changes nothing, and one that does
    speed = jax.jacfwd(lambda s: geodesic(sphere, q, v, s))(1.3)
    np.testing.assert_allclose(speed, geodesic_flow(sphere, q, v, 1.3)[1], atol=1e-14)
    slope = jax.grad(lambda a: geodesic(lambda q: a * sphere(q), q, v, 1.3)[0])(2.0)
    np.testing.assert_allclose(slope, 0.0, atol=1e-13)

    def squashed(a):
        return geodesic(lambda q: jnp.diag(jnp.stack([jnp.ones(()), a * jnp.sin(q[0]) ** 2])), q, v, 1.3)[0]

    # the same sphere with its longitude stretched by sqrt(a)
    expected = jax.grad(lambda a: space.exp(q, 1.3 * jnp.stack([v[0], v[1] * jnp.sqrt(a)]))[0])(1.0)
    np.testing.assert_allclose(jax.grad(squashed)(1.0), expected, rtol=1e-12)
    exact = jax.jacfwd(jax.jacfwd(lambda v: space.exp(q, 1.3 * v)[0]))(v)
    found = jax.jacfwd(jax.jacfwd(lambda v: geodesic(sphere, q, v, 1.3)[0]))(v)
    np.testing.assert_allclose(found, exact, atol=1e-12)
    shot, y = Chart(sphere, 2), jnp.array([1.4, 1.5])
    np.testing.assert_allclose(jax.grad(shot.distance)(q, y), jax.grad(space.distance)(q, y), atol=1e-11)
    with pytest.raises(ValueError, match="no geodesic"):
        # more than half a turn around the origin: no straight line joins these points of the plane
        Chart(polar_plane, 2).log([1.0, 0.0], [1.0, 4.0])


@pytest.mark.proof
def test_jacobi_fields_are_derivatives_of_geodesics() -> None:
    # through the closed form of the inhomogeneous space's geodesics
    space = Inhomogeneous(3)
    q, v = jnp.array([0.7, -0.2, 0.4]), jnp.array([0.3, 0.5, -0.1])
    j, dj = jnp.array([0.2, -0.4, 0.1]), jnp.array([-0.3, 0.1, 0.6])
    moved = dj - bend(inhomogeneous, q, v, j)
    expected = jax.jit(lambda: jax.jvp(lambda q, v: space.exp(q, 2.0 * v), (q, v), (j, moved))[1])()
    np.testing.assert_allclose(jacobi(inhomogeneous, q, v, j, dj, 2.0)[0], expected, rtol=1e-12)
    # on the sphere, across the equator: cos s, and it bends back with the curvature
    field, rate = jacobi(sphere, [np.pi / 2, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0], np.array([0.5, 1.0]))
    np.testing.assert_allclose(field, [[np.cos(0.5), 0], [np.cos(1.0), 0]], atol=1e-14)
    np.testing.assert_allclose(rate[:, 0], [-np.sin(0.5), -np.sin(1.0)], rtol=1e-13)
    bent = deviation(sphere, jnp.array([np.pi / 2, 0.0]), jnp.array([0.0, 1.0]), jnp.array([1.0, 0.0]))
    np.testing.assert_allclose(bent, [-1.0, 0.0], atol=1e-15)


def test_a_chart_shoots_as_well_as_the_closed_form() -> None:
    shot, exact = Chart(sphere, 2), Sphere(2, model="polar")
    x, y, w = jnp.array([1.0, 0.2]), jnp.array([1.4, 1.5]), jnp.array([0.3, -0.4])
    v = shot.log(x, y)
    np.testing.assert_allclose(v, exact.log(x, y), atol=1e-12)
    np.testing.assert_allclose(shot.distance(x, y), exact.distance(x, y), rtol=1e-12)
    np.testing.assert_allclose(shot.transport(x, v, w), exact.transport(x, v, w), atol=1e-12)
    given = Chart(sphere, 2, distance=exact.distance)
    assert float(given.distance(x, y)) == float(exact.distance(x, y))


def test_what_cannot_be_carried_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be continued"):
        geodesic(stereographic, [0.0, 0.0], [0.5, 0.0], 4.0)
    with pytest.raises(ValueError, match="not closed"):
        holonomy(sphere, lambda t: jnp.stack([1.0 + t, t]))
    with pytest.raises(ValueError, match="at least two points"):
        transport(sphere, np.ones(2), [1.0, 0.0])
    with pytest.raises(ValueError, match=r"w has shape \(3,\)"):
        transport(sphere, lambda t: jnp.stack([1.0 + t, t]), np.ones(3))


def conformal_reference(slope, q0: list[float], v0: list[float], s: float, step: float) -> np.ndarray:
    """The end of a geodesic of f(x) times the identity, where slope(x) = (f, f'), by a method of order 8 with many
    steps.
    """

    def rate(_: float, y: np.ndarray) -> list[float]:
        f, df = slope(y[0])
        square = y[2] ** 2 + y[3] ** 2
        return [y[2], y[3], (0.5 * df * square - df * y[2] ** 2) / f, -df * y[2] * y[3] / f]

    found = solve_ivp(rate, (0.0, s), [*q0, *v0], method="DOP853", rtol=1e-13, atol=1e-14, max_step=step)
    return found.y[:2, -1]


@pytest.mark.parametrize(
    ("height", "width", "centre"),
    [(1.0, 0.05, 5.3), (1.0, 0.02, 3.37), (0.5, 0.01, 6.1), (0.5, 0.005, 8.03), (1e-3, 0.02, 4.44), (1e-6, 0.05, 4.4)],
)
def test_a_geodesic_does_not_pass_over_a_narrow_bump(height: float, width: float, centre: float) -> None:
    """Flat but for a Gaussian ridge, which 16 stages on 10 units of length do not meet."""

    def metric(q: jax.Array) -> jax.Array:
        return (1.0 + height * jnp.exp(-(((q[0] - centre) / width) ** 2))) * jnp.eye(2)

    def slope(x: float) -> tuple[float, float]:
        bump = height * np.exp(-(((x - centre) / width) ** 2))
        return 1.0 + bump, -2.0 * (x - centre) / width**2 * bump

    q0, v0, s = [0.0, 0.0], [1.0, 0.5], 10.0
    expected = conformal_reference(slope, q0, v0, s, width / 4)
    assert np.abs(expected - np.array([10.0, 5.0])).max() > 1e-8
    assert np.allclose(geodesic(metric, q0, v0, s), expected, rtol=0.0, atol=2e-12)


def test_a_geodesic_does_not_pass_over_a_ditch() -> None:
    """A groove with the profile of a rational function, which has a pole near the real line, met from both sides."""

    def slope(x: float) -> tuple[float, float]:
        z = (x - 7.2) / 0.02
        return 1.0 - 0.5 / (1.0 + z * z), z / (1.0 + z * z) ** 2 / 0.02

    def metric(q: jax.Array) -> jax.Array:
        z = (q[0] - 7.2) / 0.02
        return (1.0 - 0.5 / (1.0 + z * z)) * jnp.eye(2)

    for q0, v0 in (([0.0, 0.0], [1.0, 0.2]), ([12.0, 1.0], [-1.0, 0.3])):
        expected = conformal_reference(slope, q0, v0, 10.0, 0.004)
        assert np.allclose(geodesic(metric, q0, v0, 10.0), expected, rtol=0.0, atol=1e-11)


def test_transport_does_not_pass_over_a_cap() -> None:
    """Around a loop that crosses a narrow bump the holonomy is the curvature inside, which is not zero."""

    def metric(q: jax.Array) -> jax.Array:
        z = ((q - jnp.array([0.413, 0.0])) / 0.01) ** 2
        return jnp.exp(-jnp.sum(z)) * jnp.eye(2) + jnp.eye(2)

    square = jnp.array([[0.0, -0.004], [1.0, -0.004], [1.0, 1.0], [0.0, 1.0]])
    found = holonomy_angle(metric, square)
    fine = np.linspace(0.0, 1.0, 65)[:, None]
    corners = np.asarray(square)
    split = [a + fine[:-1] * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    assert abs(float(found)) > 1e-3
    assert float(found) == pytest.approx(float(holonomy_angle(metric, jnp.asarray(np.concatenate(split)))), abs=1e-11)
