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
    with pytest.raises(ValueError, match="not bounded"):
        fled.motion(1.0)


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
