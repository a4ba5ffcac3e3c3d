"""What a function of a system contains is read from its trace, through comparisons, loops, tables and rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.symmetry.dependence import depends_on

TABLE = jnp.asarray(np.linspace(0.0, 1.0, 10) ** 2)


def plane(potential, parameters=None):
    """A unit mass in the plane in a potential V(t, x, y)."""
    return hl.System.from_lagrangian(
        lambda t, q, v, *p: 0.5 * (v @ v) - potential(t, q[0], q[1], *p), coordinates=("x", "y"), parameters=parameters
    )


CONTAINED = {
    "where": (lambda t, x, y: jnp.where(x > 30, 1.0, 2.0), "x"),
    "where with equal slopes": (lambda t, x, y: jnp.where(x > 30, y + 1.0, y), "xy"),
    "far step": (lambda t, x, y: jnp.where(x > 3e5, y, 2 * y), "xy"),
    "cond": (lambda t, x, y: jax.lax.cond(x > 30, lambda: 1.0, lambda: 2.0), "x"),
    "switch": (lambda t, x, y: jax.lax.switch((x > 30).astype(int), [lambda: y, lambda: 2 * y]), "xy"),
    "loop over y": (lambda t, x, y: jax.lax.fori_loop(0, 5, lambda i, s: s + y, 0.0), "y"),
    "loop as long as x": (lambda t, x, y: jax.lax.fori_loop(0, x.astype(int), lambda i, s: s + 1.0, 0.0), "x"),
    "while of x": (lambda t, x, y: jax.lax.while_loop(lambda s: s < x, lambda s: s + 1.0, 0.0), "x"),
    "piecewise": (lambda t, x, y: jnp.piecewise(x, [x < 0, x > 9], [lambda z: 0 * z, lambda z: 0 * z + 5, 1.0]), "x"),
    "abs": (lambda t, x, y: jnp.abs(x), "x"),
    "floor": (lambda t, x, y: jnp.floor(y), "y"),
    "rounding": (lambda t, x, y: jnp.round(x) * y, "xy"),
    "sign": (lambda t, x, y: jnp.sign(x - 30), "x"),
    "max": (lambda t, x, y: jnp.maximum(x - 5, 0.0) ** 2, "x"),
    "table": (lambda t, x, y: TABLE[jnp.clip(y.astype(int), 0, 9)], "y"),
    "interpolation": (lambda t, x, y: jnp.interp(x, jnp.arange(10.0), TABLE), "x"),
    "is finite": (lambda t, x, y: jnp.isfinite(1 / x) * 1.0, "x"),
    "straight-through estimate": (lambda t, x, y: x - jax.lax.stop_gradient(x), "x"),
    "bump": (lambda t, x, y: jnp.exp(-((x - 3e5) ** 2)), "x"),
    "time in a comparison": (lambda t, x, y: jnp.where(t > 100, x, 0.0), "tx"),
    # and what is not there
    "numbers that cancel": (lambda t, x, y: 0.3 * x - 0.1 * x - 0.2 * x, ""),
    "the same absolute value": (lambda t, x, y: jnp.abs(x) - jnp.abs(-x), ""),
    "polar": (lambda t, x, y: (y * jnp.cos(x)) ** 2 + (y * jnp.sin(x)) ** 2, "y"),
    "step in the radius": (
        lambda t, x, y: jnp.where((y * jnp.cos(x)) ** 2 + (y * jnp.sin(x)) ** 2 > 3, y, 2 * y) + jnp.floor(y), "y",
    ),
    "time that cancels": (lambda t, x, y: jnp.cos(3 * t) ** 2 + jnp.sin(3 * t) ** 2 + t - x - t, "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINED)
def test_what_a_lagrangian_contains(name) -> None:
    potential, expected = CONTAINED[name]
    system = plane(potential)
    (found,) = depends_on(system)
    assert "t" * found.time + "".join("xy"[i] for i in sorted(found.positions)) == expected
    assert found.velocities == {0, 1}
    assert "".join(hl.cyclic(system)) == "".join(c for c in "xy" if c not in expected)


def test_what_else_acts_and_on_what_it_depends() -> None:
    free = plane(lambda t, x, y: 0.0)
    system = free.forced(lambda t, q, v: jnp.stack([jnp.where(t > 100, jnp.sin(q[1]), 0.0), 0.0]))
    system = system.constrained(velocity=lambda t, q, v: (jnp.sin(q[0]) * v[1])[None])
    system = system.constrained(unilateral=lambda t, q: (q[1] - jnp.maximum(t - 50, 0.0))[None], friction=0.1,
                                slip=lambda t, q, v: v[:1] * q[0])  # fmt: skip
    _, force, knife, wall, slip = depends_on(system)
    assert (force.kind, force.time, force.positions, force.acts) == ("force", True, {1}, {0})
    assert (knife.kind, knife.positions, knife.velocities, knife.acts) == ("velocity", {0}, {1}, {1})
    assert (wall.kind, wall.time, wall.positions, wall.acts) == ("wall", True, {1}, {1})
    assert (slip.kind, slip.positions, slip.acts) == ("slip", {0}, {0})
    # a force through positions, of which the turning cancels
    central = hl.System.from_positions(
        lambda t, q: (q[0] * jnp.stack([jnp.cos(q[1]), jnp.sin(q[1])]))[None], [1.0], coordinates=("r", "phi")
    ).forced(cartesian=lambda t, q, v: (-q[0] * jnp.stack([jnp.cos(q[1]), jnp.sin(q[1])]))[None])
    force = depends_on(central)[1]
    assert (force.positions, force.acts) == ({0}, {0})
    assert hl.cyclic(central) == ("phi",)


def test_a_coordinate_is_cyclic_for_all_values_of_parameters() -> None:
    system = plane(lambda t, x, y, p: p["k"] * x + p["gap"] * y - p["gap"] * y, {"k": 0.0, "gap": 1.0})
    assert hl.cyclic(system) == ("y",)
