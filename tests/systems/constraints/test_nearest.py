"""The nearest consistent state: the iterations on the host and those that are traced find the same one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.systems.constraints import add, at_state
from holonomy.systems.constraints.nearest import nearest


def _system(size: float = 1.0) -> hl.System:
    """A weight on an ellipsoid that may only move along a field; one condition is given twice, in other units."""

    def surface(t: Any, q: Any) -> Any:
        gap = q[0] ** 2 + 2.0 * q[1] ** 2 + 0.5 * q[2] ** 2 - 1.0 - 0.1 * t
        return jnp.stack([gap, 1e3 * gap])

    free = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) + 0.3 * size * jnp.cos(q[0]) * v[1] ** 2 - 9.81 * q[2],
        coordinates=("x", "y", "z"),
    )
    return free.constrained(holonomic=surface, velocity=lambda t, q, v: q[1] * v[0] - v[2] + 0.2)


def test_the_host_finds_what_traced_code_finds() -> None:
    system, q, v = _system(), np.array([0.9, 0.5, -0.8]), np.array([0.1, -1.0, 2.0])
    found = nearest(system, 0.4, q, v)
    assert found is not None
    traced = jax.jit(lambda t, x, w: system.project(t, x, w))(0.4, q, v)
    for ours, theirs in zip(found[:2], traced, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
    near = [np.asarray(x) for x in system.project(0.4, q, v)]
    assert all(np.array_equal(a, b) for a, b in zip(near, found[:2], strict=True))
    assert isinstance(system.project(0.4, q, v)[0], jax.Array)


def test_the_move_is_orthogonal_in_the_kinetic_metric() -> None:
    """The theorem that makes it the nearest: M times the move is a combination of the normals at the end."""
    system, q, v = _system(), np.array([0.9, 0.5, -0.8]), np.array([0.1, -1.0, 2.0])
    near_q, near_v = (np.asarray(x) for x in system.project(0.4, q, v))
    start, end = at_state.evaluated(system, 0.4, q, v), at_state.evaluated(system, 0.4, near_q, near_v)
    assert start is not None
    assert end is not None
    push = start.mass @ (near_q - q)
    normal = end.conditions.normals[0] / np.linalg.norm(end.conditions.normals[0])
    np.testing.assert_allclose(push, (push @ normal) * normal, atol=1e-11)
    pull = end.mass @ (near_v - v)
    rest = pull - end.conditions.normals.T @ np.linalg.lstsq(end.conditions.normals.T, pull, rcond=1e-9)[0]
    np.testing.assert_allclose(rest, 0, atol=1e-11)
    np.testing.assert_allclose(end.conditions.position, 0, atol=1e-10)
    np.testing.assert_allclose(end.conditions.rates, 0, atol=1e-10)


def test_values_at_a_state_are_those_of_the_system() -> None:
    system, q, v = _system(), np.array([0.3, -0.5, 0.8]), np.array([0.4, 1.0, 0.2])
    seen = at_state.evaluated(system, 0.1, q, v)
    assert seen is not None
    np.testing.assert_allclose(seen.mass, system.mass_matrix(0.1, q, v), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(seen.energy, system.energy(0.1, q, v), rtol=1e-13)
    assert at_state.evaluated(system, 0.1, q.astype(np.float32), v) is None


def test_what_cannot_be_found_is_refused() -> None:
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=("x", "y"))
    nowhere = free.constrained(holonomic=lambda t, q: q[:1] ** 2 + q[1:] ** 2 + 1.0)
    with pytest.raises(ValueError, match="No state near"):
        nowhere.project(0.0, np.array([1.0, 0.3]), np.zeros(2))
    broken = free.constrained(holonomic=lambda t, q: jnp.log(q[:1]))
    with pytest.raises(ValueError, match="No state near"):
        broken.project(0.0, np.array([-1.0, 0.3]), np.zeros(2))


def test_conditions_that_are_affine_by_their_form_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(add, "_second_difference", None)
    assert _system().constraints.equations.counts == (2, 1)
