"""Equilibria with their stability, and normal modes, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

G = 9.81


@pytest.fixture(scope="module")
def hoop():
    """The lecture's bead on a hoop of radius 1 that turns at the rate w."""
    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + 0.5 * p["w"] ** 2 * jnp.sin(q[0]) ** 2 + G * jnp.cos(q[0]),
        coordinates={"theta": "angle"},
        parameters={"w": 4.0},
    )


def test_the_hoop_has_a_bifurcation(hoop) -> None:
    found = hl.equilibria(hoop, [[0.1], [3.0], [1.0], [-1.0], [7.0]])
    angle = np.arccos(G / 16)
    assert [(round(float(e.q[0]), 9), e.stability) for e in found] == [
        (0.0, "unstable"),
        (round(np.pi, 9), "unstable"),
        (round(angle, 9), "stable"),
        (round(-angle, 9), "stable"),
    ]
    np.testing.assert_allclose(np.abs(np.imag(found[2].eigenvalues)), 4 * np.sin(angle), rtol=1e-10)
    assert hl.equilibria(hoop.with_parameters(w=3.0), {"theta": 0.1})[0].stability == "stable"
    (at,) = hl.equilibria(hoop.with_parameters(w=np.sqrt(G)), [0.3])
    assert (at.stability, at.order, at.degenerate) == ("stable", 4, 1)  # V' = g θ⁴/8 there


def test_the_rod_on_two_walls() -> None:
    """The lecture: a force F pushes the lower end, and the rod rests where tan theta = m2 g / F."""

    def ends(t, q):
        zero = jnp.zeros(())
        return jnp.stack([jnp.stack([jnp.cos(q[0]), zero]), jnp.stack([zero, jnp.sin(q[0])])])

    rod = hl.System.from_positions(
        ends, [1.0, 2.0], potential=lambda t, q: 2 * G * jnp.sin(q[0]), coordinates={"theta": "angle"}
    ).forced(cartesian=lambda t, q, v: jnp.array([[-5.0, 0.0], [0.0, 0.0]]))
    (found,) = hl.equilibria(rod, [0.5])
    assert np.tan(found.q[0]) == pytest.approx(2 * G / 5, abs=1e-10)
    assert found.stability == "unstable"


def test_with_a_constraint_and_on_a_sphere() -> None:
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - G * q[1], coordinates=("x", "y"))
    bob = free.constrained(holonomic=lambda t, q: (jnp.dot(q, q) - 1.0)[None])
    low, high = hl.equilibria(bob, [[0.1, -0.9], [0.1, 0.9]])
    assert (low.stability, high.stability) == ("stable", "unstable")
    np.testing.assert_allclose(low.multipliers, -G / 2, atol=1e-10)  # half of the tension over the length
    np.testing.assert_allclose(hl.normal_modes(bob, low.q).frequencies, np.sqrt(G), rtol=1e-10)
    ball = hl.System.from_lagrangian(lambda t, x, v: 0.5 * (v @ v) - G * x[2], space=hl.Sphere(2))
    (south,) = hl.equilibria(ball, [[0.6, 0.0, -0.8]])
    np.testing.assert_allclose(south.q, [0.0, 0.0, -1.0], atol=1e-10)
    assert south.stability == "stable"


def test_modes_of_the_double_pendulum() -> None:
    system = hl.models.double_pendulum(m1=1.0, m2=1.0, l1=1.0, l2=1.0, g=G)
    found = hl.normal_modes(system, [0.0, 0.0])
    np.testing.assert_allclose(found.squares, G * np.array([2 - np.sqrt(2), 2 + np.sqrt(2)]), rtol=1e-12)
    ratios = found.shapes[1] / found.shapes[0]
    np.testing.assert_allclose(ratios, [np.sqrt(2), -np.sqrt(2)], rtol=1e-12)
    mass = np.asarray(system.mass_matrix(0.0, [0.0, 0.0]))
    np.testing.assert_allclose(found.shapes.T @ mass @ found.shapes, np.eye(2), atol=1e-12)
    up = hl.normal_modes(system, [np.pi, np.pi])
    assert np.all(up.squares < 0)
    assert np.all(np.imag(up.frequencies) > 0)


def test_what_cannot_be_answered_is_said(hoop) -> None:
    with pytest.raises(ValueError, match="no equilibrium: the force"):
        hl.normal_modes(hoop, [0.5])
    with pytest.raises(ValueError, match="depend on velocities"):
        hl.normal_modes(hoop.forced(lambda t, q, v, p: -v), [0.0])
    slope = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - q[0], coordinates=("x",))
    with pytest.raises(ValueError, match="No equilibrium was found"):
        hl.equilibria(slope, [0.0])
    massless = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v[0] + v[1]) ** 2 - q @ q, coordinates=("x", "y"))
    with pytest.raises(ValueError, match=r"singular.*along 1 x"):
        hl.equilibria(massless, [0.0, 0.0])
    both = massless.constrained(holonomic=lambda t, q: jnp.stack([q[0], q[0] - 1.0]))
    with pytest.raises(ValueError, match="contradict each other"):
        hl.equilibria(both, [0.0, 0.0])
    with pytest.raises(ValueError, match="no coordinate 'phi'"):
        hl.equilibria(hoop, {"phi": 0.0})


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_units_of_energy_do_not_matter(unit):
    """Equilibria of a bead on a turning hoop, and on a rod of fixed length, in atomic and in astronomical units."""

    def hoop(t, q, v):
        return unit * (0.5 * v[0] ** 2 + 8.0 * jnp.sin(q[0]) ** 2 + 9.81 * jnp.cos(q[0]))

    bead = hl.System.from_lagrangian(hoop, coordinates={"theta": "angle"})
    found = hl.equilibria(bead, [[0.1], [0.8]])
    np.testing.assert_allclose([one.q[0] for one in found], [0.0, np.arccos(9.81 / 16.0)], rtol=0, atol=1e-10)
    assert [one.stability for one in found] == ["unstable", "stable"]
    with pytest.raises(ValueError, match="is no equilibrium"):
        hl.normal_modes(bead, [0.8])
    held = hl.System.from_lagrangian(
        lambda t, q, v: unit * (0.5 * jnp.dot(v, v) - 9.81 * q[1]), coordinates=("x", "y")
    ).constrained(holonomic=lambda t, q: jnp.dot(q, q) - 1.0)
    (low,) = hl.equilibria(held, [0.3, -0.8])
    np.testing.assert_allclose(low.q, [0.0, -1.0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(low.multipliers, [-9.81 * unit / 2], rtol=1e-10)
    np.testing.assert_allclose(hl.normal_modes(held, low.q).frequencies, [np.sqrt(9.81)], rtol=1e-9)
