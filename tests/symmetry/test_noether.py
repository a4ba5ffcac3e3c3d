"""Cyclic coordinates and conserved quantities: what is conserved is constant along motions, what is not is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def rotation(q):
    return jnp.stack([-q[1], q[0]])


@pytest.fixture(scope="module")
def charge():
    """A charged particle in a uniform magnetic field along z and a weak spring; symmetric gauge it is not."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1] - 0.1 * (q @ q), coordinates=("x", "y")
    )


@pytest.fixture(scope="module")
def fall():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - 9.81 * q[1], coordinates=("x", "y"))


def hoop():
    """The lecture's bead on a hoop that turns at the rate 2, from positions that name the time."""

    def place(t, q):
        out = jnp.sin(q[0])
        return jnp.stack([out * jnp.cos(2 * t), out * jnp.sin(2 * t), -jnp.cos(q[0])])[None]

    return hl.System.from_positions(
        place, [1.0], potential=lambda t, q: -9.81 * jnp.cos(q[0]), coordinates={"theta": "angle"}
    )


def test_cyclic_coordinates_are_read_from_the_trace() -> None:
    def place(t, q):
        return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), -jnp.cos(q[0])])[None]

    ball = hl.System.from_positions(place, [1.0], potential=lambda t, q: -jnp.cos(q[0]), coordinates=("theta", "phi"))
    assert hl.cyclic(ball) == ("phi",)  # after sin² + cos² = 1
    assert hl.cyclic(hl.models.spherical_pendulum()) == ("phi",)
    assert hl.cyclic(hl.models.double_pendulum()) == ()
    assert hl.cyclic(hl.models.kepler()) == ()
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y", "z"))
    assert hl.cyclic(free) == ("x", "y", "z")
    assert hl.cyclic(free.forced(lambda t, q, v: jnp.stack([jnp.zeros(()), -v[1], jnp.zeros(())]))) == ("x", "z")
    assert hl.cyclic(free.constrained(velocity=lambda t, q, v: v[:1] - 2 * v[2:])) == ("y",)
    assert hl.cyclic(hl.System.from_metric(lambda x: jnp.eye(3), space=hl.Sphere(2))) == ()


def test_a_symmetry_up_to_a_total_derivative(charge) -> None:
    found = hl.noether(charge, rotation)
    assert found.invariance == "total derivative"
    assert found.defect < 1e-14
    run = hl.simulate(charge, [1.0, 0.3], [0.2, 1.0], 10.0, dt=0.01)
    values = np.asarray(found.along(run))
    assert np.ptp(values) < 1e-11
    x, y = run.q.T
    expected = x * run.v[:, 1] - y * run.v[:, 0] + (x**2 + y**2) / 2  # angular momentum and flux
    np.testing.assert_allclose(values - values[0], expected - expected[0], atol=1e-11)


def test_translation_in_a_uniform_field_and_a_boost(fall) -> None:
    down = hl.noether(fall, [0.0, 1.0])
    assert float(down(2.0, [0.0, 1.0], [0.0, 3.0])) == pytest.approx(3.0 + 9.81 * 2, abs=1e-12)
    boost = hl.noether(fall, lambda s, t, q: q + s * t * jnp.array([1.0, 0.0]))
    later = [float(boost(t, [0.3 + 0.7 * t, 0.0], [0.7, 0.0])) for t in (0.0, 1.0, 5.0)]
    assert np.ptp(later) < 1e-12  # t p - m x
    assert boost.invariance == "total derivative"
    assert hl.noether(fall, "x").invariance == "exact"
    assert "p_x is conserved" in str(hl.noether(fall, "x"))


def test_a_finite_group_maps_motions_to_motions() -> None:
    kepler = hl.models.kepler()

    def turned(s, q):
        return jnp.stack([jnp.cos(s) * q[0] - jnp.sin(s) * q[1], jnp.sin(s) * q[0] + jnp.cos(s) * q[1]])

    found = hl.noether(kepler, turned)
    assert found.invariance == "exact"
    run = hl.simulate(kepler, [1.0, 0.0], [0.0, 1.2], 5.0, dt=0.01, method=hl.Gauss(3))
    assert np.ptp(np.asarray(found.along(run))) < 1e-13
    other = hl.simulate(kepler, turned(0.7, jnp.array([1.0, 0.0])), turned(0.7, jnp.array([0.0, 1.2])), 5.0, dt=0.01,
                        method=hl.Gauss(3))  # fmt: skip
    np.testing.assert_allclose(other.q[-1], turned(0.7, run.q[-1]), atol=1e-12)


def test_jacobi_integral_where_the_energy_is_not_conserved() -> None:
    system = hoop()
    found = hl.jacobi_integral(system)
    assert "not the energy" in str(found)
    run = hl.simulate(system, [1.0], [0.5], 5.0, dt=0.01)
    assert np.ptp(np.asarray(found.along(run))) < 1e-10
    assert np.ptp(run.energy) > 0.1
    assert "It is the energy" in str(hl.jacobi_integral(hl.models.kepler()))


@pytest.mark.proof
def test_on_a_sphere_and_with_constraints() -> None:
    sphere = hl.System.from_metric(lambda x: jnp.eye(3), potential=lambda t, x: 9.81 * x[2], space=hl.Sphere(2))

    def about_z(q):
        return jnp.stack([-q[1], q[0], jnp.zeros(())])

    assert hl.noether(sphere, about_z).invariance == "exact"
    space = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - 9.81 * q[2], coordinates=("x", "y", "z"))
    rod = space.constrained(holonomic=lambda t, q: (q @ q - 1.0)[None])
    assert hl.noether(rod, about_z).invariance == "exact"
    with pytest.raises(ValueError, match="constraints do not allow"):
        hl.noether(rod, "x")


@pytest.mark.parametrize(
    "system, generator, words",
    [
        ("fall", lambda q: q, "no symmetry.*at the rate"),
        ("fall", "z", "no coordinate 'z'; the coordinates are x, y"),
        ("fall", lambda s, q: q + 1 + s, r"h\(0, q\) = q"),
        ("fall", lambda a, b, c, d: a, "function of"),
        ("fall", lambda q: q[:1], "shape"),
        ("fall", lambda q: np.cos(q), "jnp.cos"),
        ("fall", [1.0], "generator must have shape"),
        ("charge", "y", None),
    ],
)
def test_what_is_no_symmetry_is_refused(system, generator, words, request) -> None:
    given = request.getfixturevalue(system)
    if words is None:  # the spring breaks the translation of the gauge
        words = "no symmetry"
    with pytest.raises(ValueError, match=words):
        hl.noether(given, generator)


def test_forces_that_do_work_are_said(fall) -> None:
    drag = fall.forced(lambda t, q, v: -0.1 * v)
    with pytest.raises(ValueError, match="forces do work along it"):
        hl.noether(drag, "x")
    with pytest.raises(ValueError, match="do work"):
        hl.jacobi_integral(drag)
    with pytest.raises(ValueError, match="depends on the time"):
        hl.jacobi_integral(hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - t * q[0], coordinates=("x",)))
