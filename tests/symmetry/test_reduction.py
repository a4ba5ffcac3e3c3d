"""Routh's reduction and quadrature: the same motions as those of the full systems."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

import holonomy as hl


@pytest.fixture(scope="module")
def kepler():
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 1 / q[0],
        coordinates={"r": "length", "phi": "angle"},
    )


@pytest.fixture(scope="module")
def pendulum():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + jnp.cos(q[0]), coordinates={"theta": "angle"})


def top():
    def lagrangian(t, q, v):
        spin = v[2] + v[1] * jnp.cos(q[0])
        return 0.65 * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) + 0.35 * spin**2 - jnp.cos(q[0])

    return hl.System.from_lagrangian(lagrangian, coordinates={"theta": "angle", "phi": "angle", "psi": "angle"})


def difference(system, q0, v0, names) -> float:
    """The largest difference between a run of the full system and one of the reduced system, reconstructed."""
    momenta = np.asarray(system.momentum(0.0, q0, v0))
    reduced = hl.routh(system, {name: momenta[system.names.index(name)] for name in names})
    kept = [i for i, name in enumerate(system.names) if name not in names]
    how = {"dt": 0.01, "method": hl.Gauss(4)}
    run = hl.simulate(reduced, np.asarray(q0)[kept], np.asarray(v0)[kept], 10.0, **how)
    full = hl.simulate(system, q0, v0, 10.0, **how)
    back = reduced.reconstruct(run, {name: q0[system.names.index(name)] for name in names})
    assert back.names == system.names
    np.testing.assert_allclose(back.energy, full.energy, atol=1e-11)
    return max(float(np.max(np.abs(back.q - full.q))), float(np.max(np.abs(back.v - full.v))))


def test_kepler_without_its_angle(kepler) -> None:
    assert difference(kepler, [1.0, 0.3], [0.1, 1.1], ["phi"]) < 1e-10


@pytest.mark.proof
@pytest.mark.parametrize(
    "make, q0, v0, names",
    [
        (hl.models.spherical_pendulum, [1.0, 0.0], [0.2, 1.0], ["phi"]),
        (top, [0.8, 0.0, 0.5], [0.1, 0.4, 3.0], ["phi", "psi"]),
    ],
)
def test_spherical_pendulum_and_heavy_top(make, q0, v0, names) -> None:
    assert difference(make(), q0, v0, names) < 1e-10


@pytest.mark.proof
def test_a_lagrangian_that_is_not_quadratic() -> None:
    fast = hl.System.from_lagrangian(lambda t, q, v: -jnp.sqrt(1 - v @ v) - q[0] ** 2, coordinates=("x", "y"))
    reduced = hl.routh(fast, {"y": 0.5})
    v = [0.2, np.sqrt((1 - 0.04) * 0.25 / 1.25)]  # with momentum 0.5 along y
    assert float(fast.momentum(0.0, [0.3, 0.0], v)[1]) == pytest.approx(0.5, abs=1e-14)
    np.testing.assert_allclose(
        reduced.acceleration(0.0, [0.3], [0.2]), fast.acceleration(0.0, [0.3, 0.0], v)[:1], rtol=1e-12
    )


def test_the_period_of_kepler_and_its_motion_by_quadrature(kepler) -> None:
    reduced = hl.routh(kepler, {"phi": 1.1})
    energy = float(reduced.energy(0.0, [1.0], [0.1]))
    found = hl.quadrature(reduced, energy)
    assert found.kind == "oscillation"
    axis = -1 / (2 * energy)
    assert found.period == pytest.approx(2 * np.pi * axis**1.5, rel=1e-13)
    eccentricity = np.sqrt(1 - 1.21 / axis)
    np.testing.assert_allclose(found.turning, [axis * (1 - eccentricity), axis * (1 + eccentricity)], rtol=1e-13)
    times = np.linspace(0.0, 20.0, 9)
    run = hl.simulate(reduced, [found.turning[0]], [0.0], 20.0, dt=0.01, method=hl.Gauss(4), save_at=times)
    place, speed = found.motion(times)
    np.testing.assert_allclose(place, run.q[:, 0], atol=1e-12)
    np.testing.assert_allclose(speed, run.v[:, 0], atol=1e-12)
    assert found.time(found.turning[1]) == pytest.approx(found.period / 2, rel=1e-13)


def test_a_pendulum_by_elliptic_integrals(pendulum) -> None:
    swing = hl.quadrature(pendulum, -np.cos(1.0))
    assert swing.period == pytest.approx(4 * ellipk(np.sin(0.5) ** 2), rel=1e-14)
    np.testing.assert_allclose(swing.turning, [-1.0, 1.0], rtol=1e-14)
    spin = hl.quadrature(pendulum, 1.5)
    share = 2 / (1 + 1.5)
    assert spin.kind == "rotation"
    assert spin.period == pytest.approx(2 * np.sqrt(share) * ellipk(share), rel=1e-14)
    np.testing.assert_allclose(spin.motion(spin.period)[0] - spin.motion(0.0)[0], 2 * np.pi, rtol=1e-13)
    slow = hl.quadrature(pendulum, 1 - 1e-6)
    assert slow.period == pytest.approx(4 * ellipk(1 - 5e-7), rel=1e-9)  # the energy itself has 10 digits from the top
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 1 / q[0] ** 2, coordinates=("x",))
    fled = hl.quadrature(free, 1.0, start=2.0)
    assert (fled.kind, fled.period) == ("unbounded", np.inf)
    np.testing.assert_allclose(fled.turning, [1.0, np.inf], rtol=1e-14)
    assert fled.time(3.0) == pytest.approx(2.0, rel=1e-14)  # q² = 1 + 2t²
    q, v = fled.motion([-2.0, 0.0, 2.0, 1e3])
    np.testing.assert_allclose(q, np.sqrt(1 + 2 * np.array([-2.0, 0.0, 2.0, 1e3]) ** 2), rtol=1e-14)
    np.testing.assert_allclose(v, 2 * np.array([-2.0, 0.0, 2.0, 1e3]) / q, atol=1e-14)


def test_a_hyperbola_by_quadrature(kepler) -> None:
    """The time from the turning point by Kepler's equation, far out and near."""
    energy, momentum = 0.4, 1.5
    found = hl.quadrature(hl.routh(kepler, {"phi": momentum}), energy, start=3.0)
    axis, eccentricity = 1 / (2 * energy), np.sqrt(1 + 2 * energy * momentum**2)
    assert found.turning[0] == pytest.approx(axis * (eccentricity - 1), rel=1e-14)
    for r in (1.0, 3.0, 1e4):
        angle = np.arccosh((r / axis + 1) / eccentricity)
        expected = axis**1.5 * (eccentricity * np.sinh(angle) - angle)
        assert found.time(r) == pytest.approx(expected, rel=1e-13)
        place, speed = found.motion(expected)
        assert float(place) == pytest.approx(r, rel=1e-13)
        assert float(speed) == pytest.approx(np.sqrt(2 * (energy + 1 / r) - (momentum / r) ** 2), rel=1e-13)
    with pytest.raises(ValueError, match=r"does not reach q = 0.1: it turns at 0.84"):
        found.time(0.1)


def test_motions_without_turning_points_and_to_infinity_in_a_finite_time() -> None:
    power = hl.System.from_lagrangian(lambda t, q, v, p: 0.5 * v[0] ** 2 + p.k * q[0] ** 4, ("x",), {"k": 0.0})
    free = hl.quadrature(power, 0.5, start=2.0)
    assert free.kind == "unbounded"
    np.testing.assert_allclose(free.motion([-3.0, 4.0]), [[-1.0, 6.0], [1.0, 1.0]], atol=1e-14)
    assert free.time(-1.0) == pytest.approx(-3.0, rel=1e-14)
    fast = hl.quadrature(power.with_parameters(k=1.0), 1.0, start=0.0)
    with pytest.raises(ValueError, match=r"at t = 1.311.*infinity in a finite time"):
        fast.motion(2.0)


@pytest.fixture(scope="module")
def body():
    return hl.models.free_rigid_body()


@pytest.mark.parametrize(
    "moments, rate",
    [
        ((1.0, 2.0, 3.0), (0.8, 0.0, 1.1)),  # about the third axis
        ((1.0, 2.0, 3.0), (0.9, 0.3, -0.2)),  # about the first
        ((1.0, 1.0, 3.0), (0.6, 0.4, -1.6)),  # symmetric
        ((3.0, 3.0, 3.0), (0.6, 0.4, 1.6)),  # a ball
        ((1.0, 2.0, 3.0), (0.0, 1.5, 0.0)),  # about a principal axis
    ],
)
def test_the_free_rigid_body_by_quadrature(body, moments, rate) -> None:
    turned = body.with_parameters(dict(zip(("i1", "i2", "i3"), moments, strict=True)))
    q0 = np.array([0.5, 0.5, -0.5, 0.5])
    v0 = np.asarray(hl.SO3().lift(q0, np.array(rate)))
    found = hl.quadrature(turned, start=(q0, v0))
    run = hl.simulate(turned, q0, v0, 20.0, dt=0.01, method=hl.Gauss(4), save_every=100)
    q, v = found.motion(run.t)
    np.testing.assert_allclose(q, run.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(v, run.v, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.rates(found.period), rate, rtol=0, atol=1e-12)


def test_how_much_the_rigid_body_rotates(body) -> None:
    """Montgomery: 2ET/|M| less the solid angle that the momentum encloses in the body, here from its area."""
    q0, v0 = [1.0, 0.0, 0.0, 0.0], 0.5 * np.array([0.0, 0.3, 0.5, 1.5])
    found = hl.quadrature(body, start=(q0, v0))
    times = np.linspace(0.0, found.period, 4001)
    momentum = found.rates(times) * [1.0, 2.0, 3.0]
    size = np.linalg.norm(momentum[0])
    x, y, z = momentum.T / size
    angle = np.unwrap(np.arctan2(y, x))
    area = np.trapezoid(1 - z, angle)
    expected = 2 * found.energy * found.period / size - area
    assert found.turn % (2 * np.pi) == pytest.approx(expected % (2 * np.pi), abs=1e-6)


def test_what_is_no_free_rigid_body(body, pendulum) -> None:
    upright = [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="not free"):
        hl.quadrature(hl.models.heavy_top(), start=(upright, [0.0, 0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="systems on SO3"):
        hl.quadrature(pendulum, start=([0.1], [0.0]))
    with pytest.raises(ValueError, match="separatrix"):
        hl.quadrature(body, start=(upright, 0.5 * np.array([0.0, 1.0, 0.0, np.sqrt(1 / 3)])))
    with pytest.raises(ValueError, match="does not turn"):
        hl.quadrature(body, start=(upright, [0.0, 0.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="leave energy out"):
        hl.quadrature(body, 1.0, start=(upright, [0.0, 1.0, 0.0, 0.0]))  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_energies_that_no_motion_has(pendulum) -> None:
    with pytest.raises(ValueError, match="below the potential, whose least value between -10 and 10 is -1"):
        hl.quadrature(pendulum, -2.0)
    with pytest.raises(ValueError, match=r"not above the potential 0.98"):
        hl.quadrature(pendulum, 0.0, start=3.0)
    with pytest.raises(ValueError, match="separatrix"):
        hl.quadrature(pendulum, 1.0)
    with pytest.raises(ValueError, match=r"one degree of freedom.*hl\.routh"):
        hl.quadrature(hl.models.double_pendulum(), 1.0)


def test_momenta_that_make_no_sense(kepler) -> None:
    bounded = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - jnp.cos(v[1]) - q[0] ** 2, ("x", "y"))
    with pytest.raises(ValueError, match=r"p_y = 2 .*cannot occur"):
        hl.routh(bounded, {"y": 2.0})
    with pytest.raises(ValueError, match=r"'r' is not cyclic.*cyclic coordinates are phi"):
        hl.routh(kepler, {"r": 1.0})
    with pytest.raises(ValueError, match="no coordinate 'z'"):
        hl.routh(kepler, {"z": 1.0})
    with pytest.raises(ValueError, match="must be finite"):
        hl.routh(kepler, {"phi": np.nan})
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x",))
    with pytest.raises(ValueError, match="none would be left"):
        hl.routh(free, {"x": 1.0})
