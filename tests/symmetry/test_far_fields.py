"""Symmetries that `killing` finds near a point and that end far away: only combinations that hold everywhere stay."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def plane(potential):
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - potential(q[0], q[1]), coordinates=("x", "y"))


def bump(x, place, width):
    return jnp.exp(-(((x - place) / width) ** 2))


LEFT = {
    "half a plane": (lambda x, y: jnp.maximum(x - 5, 0.0) ** 2, 1),
    "half a plane, moved origin": (lambda x, y: jnp.maximum(x - 1e6 - 5, 0.0) ** 2, 1),
    "bump at 3e5": (lambda x, y: bump(x, 3e5, 1.0), 1),
    "round bump off the axis": (lambda x, y: bump(x, 300.0, 1.0) * bump(y, 40.0, 1.0), 1),
    "oval bump off the axis": (lambda x, y: bump(x, 300.0, 1.0) * bump(y, 40.0, 2.0), 0),
    "ring": (lambda x, y: bump(jnp.sqrt(x**2 + y**2), 30.0, 1.0), 1),
    "step": (lambda x, y: jnp.where(x > 30, 1.0, 2.0), 1),
    "oblique step": (lambda x, y: jnp.where(x + y > 30, 1.0, 2.0), 1),
    "round step": (lambda x, y: jnp.where(x**2 + y**2 > 900, 1.0, 2.0), 1),
    "two walls, one bent": (
        lambda x, y: jnp.maximum(x - 50, 0.0) ** 2 + y**2 * jnp.maximum(-x - 50, 0.0) ** 2, 0,
    ),
    "heavy spectator": (lambda x, y: 1e12 * y**2 + jnp.maximum(x - 5, 0.0) ** 2, 0),
    # and what ends nowhere
    "uniform": (lambda x, y: 0.0 * x, 3),
    "planets": (lambda x, y: -1.3e20 / jnp.sqrt(x**2 + y**2), 1),
    "screened": (lambda x, y: -jnp.exp(-jnp.sqrt(x**2 + y**2)) / jnp.sqrt(x**2 + y**2), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_only_what_holds_far_away_is_a_symmetry(name) -> None:
    potential, dim = LEFT[name]
    found = hl.killing(plane(potential))
    assert found.dim == dim
    assert found.structure.shape == (dim, dim, dim)
    if name != "uniform":
        assert "states looked at" in str(found) or dim == 0


def test_the_field_that_stays_is_the_right_one() -> None:
    oblique = hl.killing(plane(LEFT["oblique step"][0]))
    xi = np.asarray(oblique.fields[0](np.array([100.0, -7.0])))
    assert abs(xi[0] + xi[1]) < 1e-7 * abs(xi[0])
    ring = hl.killing(plane(LEFT["ring"][0]))
    q = np.array([3.0, 17.0])
    assert abs(np.dot(ring.fields[0](q), q)) < 1e-7 * np.linalg.norm(ring.fields[0](q)) * np.linalg.norm(q)


@pytest.mark.proof
def test_regions_masses_and_magnetic_fields() -> None:
    half = plane(LEFT["half a plane"][0])
    near = hl.killing(half, where={"x": (-9.0, 4.0)})
    assert near.dim == 3
    assert "x from -9 to 4" in str(near)
    assert hl.killing(half, where={"x": (-9.0, 6.0)}).dim == 1
    magnetic = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) + jnp.maximum(q[0] - 40.0, 0.0) ** 2 * v[1], coordinates=("x", "y")
    )
    assert hl.killing(magnetic).dim == 1
    late = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) - jnp.where(t > 100, q[0], 0.0), coordinates=("x", "y")
    )
    with pytest.raises(ValueError, match="depends on the time; it changes"):
        hl.killing(late)
    heavier = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (1 + jnp.maximum(q[0] - 5.0, 0.0) ** 2) * (v @ v), coordinates=("x", "y")
    )
    assert hl.killing(heavier).dim == 1
