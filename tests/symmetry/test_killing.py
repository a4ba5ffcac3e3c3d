"""Killing fields without an ansatz: how many there are, what algebra they form, what they are far from the point."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.symmetry import lie_algebra

sin, cos = jnp.sin, jnp.cos
TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]


def metric(function, names, potential=None):
    return hl.System.from_metric(function, potential=potential, coordinates=names)


def odd(q):
    """Cartesian coordinates as functions of coordinates that hide them."""
    return jnp.stack([q[0] + 0.3 * q[1] ** 2, q[1] + 0.2 * sin(q[2]), q[2] * jnp.exp(0.3 * q[0])])


def pulled_back(q):
    frame = jax.jacfwd(odd)(q)
    return frame.T @ frame


def sphere(q):
    return jnp.diag(jnp.stack([1.0, sin(q[0]) ** 2]))


def torus(q):
    return jnp.diag(jnp.stack([1.0, (2 + cos(q[0])) ** 2]))


def tilted(t, q):
    """A spherical pendulum in angles about an axis that is not the vertical."""
    return (TURN @ jnp.stack([sin(q[0]) * cos(q[1]), sin(q[0]) * sin(q[1]), cos(q[0])]))[None]


def top(weight):
    def lagrangian(t, q, v):
        spin = v[2] + v[1] * cos(q[0])
        return 0.65 * (v[0] ** 2 + sin(q[0]) ** 2 * v[1] ** 2) + 0.35 * spin**2 - weight * cos(q[0])

    return hl.System.from_lagrangian(lagrangian, coordinates=("theta", "phi", "psi"))


def kepler():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + 1 / jnp.sqrt(q @ q), coordinates=("x", "y", "z"))


def three_bodies():
    def lagrangian(t, q, v):
        x, y, z = q.reshape(3, 2)
        gaps = [jnp.sqrt(d @ d) for d in (x - y, y - z, z - x)]
        return 0.5 * (v @ v) + sum(1 / r for r in gaps)

    return hl.System.from_lagrangian(lagrangian, coordinates=("x1", "y1", "x2", "y2", "x3", "y3"))


def pendulum_in_tilted_coordinates():
    return hl.System.from_positions(
        tilted, [1.0], potential=lambda t, q: 9.81 * tilted(t, q)[0, 2], coordinates=("a", "b")
    )


def generic(q):
    off = 0.3 * q[0]
    return jnp.stack([jnp.stack([2 + sin(q[0] * q[1]), off]), jnp.stack([off, 1.5 + q[1] ** 2 * cos(q[0])])])


def skate():
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y", "theta"))
    return free.constrained(velocity=lambda t, q, v: (sin(q[2]) * v[0] - cos(q[2]) * v[1])[None])


CASES = {
    "E3 in odd coordinates": (lambda: metric(pulled_back, ("a", "b", "c")), 6, "se(3)", "isotropic"),
    "S2": (lambda: metric(sphere, ("theta", "phi")), 3, "so(3)", "isotropic"),
    "S2 with a potential": (lambda: metric(sphere, ("theta", "phi"), lambda t, q: cos(q[0])), 1, "R", "neither"),
    "H2 x E": (lambda: hl.Product(hl.Hyperbolic(2), hl.Euclidean(1)), 4, "so(2,1)+R", "homogeneous"),
    "torus": (lambda: metric(torus, ("u", "w")), 1, "R", "neither"),
    "inhomogeneous space": (lambda: hl.Inhomogeneous(3), 3, "so(3)", "neither"),
    "Kepler": (kepler, 3, "so(3)", "neither"),
    "three bodies in the plane": (three_bodies, 4, "se(2)+R", "neither"),
    "double pendulum without gravity": (lambda: hl.models.double_pendulum(g=0.0), 1, "R", "neither"),
    "double pendulum": (hl.models.double_pendulum, 0, "0", "neither"),
    "free symmetric top": (lambda: top(0.0), 4, "so(3)+R", "homogeneous"),
    "heavy symmetric top": (lambda: top(1.0), 2, "R^2", "neither"),
    "spherical pendulum in tilted coordinates": (pendulum_in_tilted_coordinates, 1, "R", "neither"),
    "generic metric": (lambda: metric(generic, ("a", "b")), 0, "0", "neither"),
    "charge in a magnetic field": (
        lambda: hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1], coordinates=("x", "y")),
        3, "se(2)", "isotropic",
    ),
    "skate": (skate, 3, "se(2)", "homogeneous"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_how_many_there_are_and_which_algebra(case) -> None:
    make, dim, algebra, kind = CASES[case]
    found = hl.killing(make())
    assert (found.dim, found.algebra, found.kind) == (dim, algebra, kind)
    kept, zero = found.gap
    assert zero < 1e-12
    assert kept > 1e-3  # a clear decision
    jacobi = np.einsum("ijl,lkm->ijkm", found.structure, found.structure)
    total = jacobi + np.einsum("jkim->ijkm", jacobi) + np.einsum("kijm->ijkm", jacobi)
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


def test_units_do_not_matter() -> None:
    """The Earth in SI units, at its place and at the default one, and a spring of atomic size."""
    earth = hl.System.from_lagrangian(
        lambda t, q, v: 6e24 * (0.5 * (v @ v) + 1.3e20 / jnp.sqrt(q @ q)), coordinates=("x", "y", "z")
    )
    assert hl.killing(earth).algebra == "so(3)"
    assert hl.killing(earth, at=[1.5e11, 2e10, 3e9]).algebra == "so(3)"
    atom = hl.System.from_lagrangian(lambda t, q, v: 1e-27 * (v @ v) - 10.0 * (q @ q), coordinates=("x", "y"))
    assert hl.killing(atom, at=[1e-10, 2e-10]).dim == 1


def test_fields_away_from_the_point_in_odd_coordinates() -> None:
    """Every field must be a combination of the six motions of Euclidean space, the same one at all points."""
    found = hl.killing(metric(pulled_back, ("a", "b", "c")))
    points = [found.at, *np.random.default_rng(3).normal(size=(4, 3))]
    ours, known = [], []
    for q in points:
        x, frame = np.asarray(odd(q)), np.asarray(jax.jacfwd(odd)(q))
        motions = [*np.eye(3), *[np.cross(axis, x) for axis in np.eye(3)]]
        known.append(np.linalg.solve(frame, np.array(motions).T))
        ours.append(np.array([f(q) for f in found.fields]).T)
    ours, known = np.concatenate(ours), np.concatenate(known)
    weights = np.linalg.lstsq(known[:9], ours[:9], rcond=None)[0]
    np.testing.assert_allclose(ours, known @ weights, atol=1e-9)
    assert np.linalg.matrix_rank(weights) == 6


@pytest.mark.proof
def test_the_tilted_pendulum_turns_about_the_vertical() -> None:
    found = hl.killing(pendulum_in_tilted_coordinates())

    def about_vertical(q):
        x, frame = np.asarray(tilted(0.0, q)[0]), np.asarray(jax.jacfwd(lambda p: tilted(0.0, p)[0])(q))
        return np.linalg.lstsq(frame, np.cross([0.0, 0.0, 1.0], x), rcond=None)[0]

    rate = np.asarray(found.fields[0](found.at)) @ about_vertical(found.at) / np.sum(about_vertical(found.at) ** 2)
    for q in np.array([[1.1, 0.3], [0.4, 1.2], [2.0, 2.0], [1.5, -2.0]]):
        np.testing.assert_allclose(found.fields[0](q), rate * about_vertical(q), atol=1e-9)
    run = hl.simulate(found.system, [1.2, 0.4], [0.3, 0.8], 2.0, dt=0.005, method=hl.Gauss(4))
    assert np.ptp(np.asarray(found.momenta_along(run[::40])), axis=0).max() < 1e-11


@pytest.mark.proof
def test_momenta_on_a_curved_space_are_conserved() -> None:
    space = hl.Sphere(2)
    system = hl.System.from_lagrangian(lambda t, x, v: 0.5 * (v @ v) - 2.0 * x[2] ** 2, space=space)
    found = hl.killing(system)
    assert found.dim == 1
    run = hl.simulate(system, [1.0, 0.0, 0.0], [0.0, 0.7, 0.5], 2.0, dt=0.02, method=hl.Gauss(4))
    momenta = np.asarray(found.momenta_along(run[::10]))
    expected = run.q[::10, 0] * run.v[::10, 1] - run.q[::10, 1] * run.v[::10, 0]
    np.testing.assert_allclose(momenta[:, 0] / momenta[0, 0], expected / expected[0], atol=1e-11)


@pytest.mark.parametrize(
    "system, words",
    [
        (lambda: kepler().forced(lambda t, q, v: -v), "has forces"),
        (lambda: kepler().constrained(holonomic=lambda t, q: q[:1]), "holonomic constraints"),
        (lambda: hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - t * q[0], ("x",)), "depends on the time"),
        (lambda: hl.System.from_lagrangian(lambda t, q, v: -jnp.sqrt(1 - 0.1 * v[0] ** 2), ("x",)), "not quadratic"),
    ],
)
def test_what_cannot_be_looked_at_is_said(system, words) -> None:
    with pytest.raises(ValueError, match=words):
        hl.killing(system())
    with pytest.raises(ValueError, match="point at must have shape"):
        hl.killing(kepler(), at=[1.0, 2.0])


def algebra(brackets, dim, seed):
    c = np.zeros((dim, dim, dim))
    for (i, j), (k, value) in brackets.items():
        c[i, j, k], c[j, i, k] = value, -value
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0] @ np.diag(np.linspace(0.5, 2.0, dim))
    return np.einsum("ai,bj,ijk,kc->abc", turn, turn, c, np.linalg.inv(turn))


@pytest.mark.parametrize(
    "brackets, dim, expected",
    [
        ({(0, 1): (2, 1), (1, 2): (0, 1), (2, 0): (1, 1)}, 3, "so(3)"),
        ({(0, 1): (2, 1), (1, 2): (0, 1), (2, 0): (1, -1)}, 3, "so(2,1)"),
        ({(0, 1): (2, 1), (0, 2): (1, -1)}, 3, "se(2)"),
        ({(0, 1): (1, 1), (0, 2): (2, -1)}, 3, "e(1,1)"),
        ({(0, 1): (2, 1)}, 3, "heis(3)"),
        ({(0, 1): (1, 1)}, 2, "aff(1)"),
        ({(0, 1): (1, 1)}, 3, "aff(1)+R"),
        ({(0, 1): (2, 1), (0, 2): (1, -1)}, 5, "se(2)+R^2"),
        ({(0, 1): (2, 1), (1, 2): (0, 1), (2, 0): (1, 1), (3, 4): (5, 1), (3, 5): (4, -1)}, 6, "so(3)+se(2)"),
        ({}, 4, "R^4"),
    ],
)
def test_names_do_not_depend_on_the_basis(brackets, dim, expected) -> None:
    for seed in range(12):
        assert lie_algebra.name(algebra(brackets, dim, seed)) == expected
