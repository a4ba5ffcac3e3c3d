"""What `noether` and `jacobi_integral` say of systems whose symmetry ends somewhere: each sentence where it is false.

The systems hide their dependence on a coordinate or on the time: far away, late, in a step, a table, a loop, at odd
scales. True symmetries of the same kinds stay.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

TABLE = jnp.asarray(np.linspace(0.0, 1.0, 10) ** 2)


def plane(potential, **more):
    return hl.System.from_lagrangian(
        lambda t, q, v, *p: 0.5 * (v @ v) - potential(t, q[0], q[1], *p), coordinates=("x", "y"), **more
    )


def rotation(q):
    return jnp.stack([-q[1], q[0]])


def about(a, b):
    return lambda q: jnp.stack([b - q[1], q[0] - a])


def bump(x, place, width):
    return jnp.exp(-(((x - place) / width) ** 2))


BROKEN = {
    "step at 30": (lambda t, x, y: jnp.where(x > 30, 1.0, 2.0), "x"),
    "step at 3e5": (lambda t, x, y: jnp.where(x > 3e5, 1.0, 2.0), "x"),
    "step in a corner": (lambda t, x, y: jnp.where((x > 3e5) & (y > 3e5), y, 0.0), "x"),
    "bump at 30": (lambda t, x, y: bump(x, 30.0, 1.0), "x"),
    "bump at 3e5": (lambda t, x, y: bump(x, 3e5, 1.0), "x"),
    "bump in nanometres": (lambda t, x, y: 1e-20 * bump(x, 3e-8, 1e-9), "x"),
    "bump at 3e9": (lambda t, x, y: bump(x, 3e9, 1e4), "x"),
    "rational bump": (lambda t, x, y: 1 / (1 + (x - 3e5) ** 2), "x"),
    "bump off the axis": (lambda t, x, y: bump(x, 30.0, 1.0) * bump(y, 40.0, 1.0), rotation),
    "slope far away": (lambda t, x, y: jnp.maximum(x - 5, 0.0) ** 2, "x"),
    "slope, moved origin": (lambda t, x, y: jnp.maximum(x - 1e6 - 5, 0.0) ** 2, "x"),
    "late force": (lambda t, x, y: jnp.where(t > 100, x, 0.0), "x"),
    "cond": (lambda t, x, y: jax.lax.cond(x > 700, lambda: y, lambda: 2 * y), "x"),
    "switch": (lambda t, x, y: jax.lax.switch((x > 7).astype(int), [lambda: y, lambda: 2 * y]), "x"),
    "loop as long as x": (lambda t, x, y: jax.lax.while_loop(lambda s: s < x, lambda s: s + 1.0, 0.0), "x"),
    "fori_loop as long as x": (
        lambda t, x, y: jax.lax.fori_loop(0, x.astype(int) % 50, lambda i, s: s + 1.0, 0.0), "x",
    ),
    "piecewise": (
        lambda t, x, y: jnp.piecewise(x, [x < 0, x > 900.0], [lambda z: 0 * z, lambda z: 0 * z + 5, 1.0]), "x",
    ),
    "abs": (lambda t, x, y: 1e-9 * jnp.abs(x - 1e6), "x"),
    "floor": (lambda t, x, y: jnp.floor(1e-6 * x), "x"),
    "sign": (lambda t, x, y: jnp.sign(x + 4e4), "x"),
    "table": (lambda t, x, y: TABLE[jnp.clip((x / 1e5).astype(int), 0, 9)], "x"),
    "interpolation": (lambda t, x, y: jnp.interp(x, 1e-7 * jnp.arange(10.0), TABLE), "x"),
    "heavy spectator": (lambda t, x, y: 1e20 * y**2 + 1e-3 * bump(x, 30.0, 1.0), "x"),
    "anisotropy of molecules": (
        lambda t, x, y: 1e-21 * ((3e-10 / jnp.sqrt(1.1 * x**2 + y**2)) ** 12 - (9e-20 / (x**2 + y**2)) ** 3), rotation,
    ),
    "step off the centre": (lambda t, x, y: jnp.where(x > 900.0, 1e-5, 0.0), rotation),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_symmetry_that_ends_somewhere_is_none(name) -> None:
    potential, generator = BROKEN[name]
    with pytest.raises(ValueError, match="no symmetry"):
        hl.noether(plane(potential), generator)


TRUE = {
    "step in y": (lambda t, x, y: jnp.where(y > 3e5, 1.0, 2.0), "x"),
    "pulse in time": (lambda t, x, y: bump(t, 30.0, 1.0) * y, "x"),
    "ring": (lambda t, x, y: bump(jnp.sqrt(x**2 + y**2), 30.0, 1.0), rotation),
    "round well": (lambda t, x, y: jnp.where(x**2 + y**2 > 900, (x**2 + y**2 - 900) ** 2, 0.0), rotation),
    "steps in the radius": (lambda t, x, y: jnp.floor(x**2 + y**2) + jnp.abs(x**2 + y**2 - 4), rotation),
    "moved origin": (lambda t, x, y: ((x - 1e6) ** 2 + (y + 1e6) ** 2) ** 1.5, about(1e6, -1e6)),
    "fori_loop over y": (lambda t, x, y: jax.lax.fori_loop(0, 9, lambda i, s: s + y * i, 0.0), "x"),
    "molecules": (lambda t, x, y: 1e-21 * ((9e-20 / (x**2 + y**2)) ** 6 - (9e-20 / (x**2 + y**2)) ** 3), rotation),
    "planets": (lambda t, x, y: -1.3e20 / jnp.sqrt(x**2 + y**2), rotation),
    "table in y": (lambda t, x, y: TABLE[jnp.clip(y.astype(int), 0, 9)], "x"),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_symmetry_is_shown_by_the_formula(name) -> None:
    potential, generator = TRUE[name]
    found = hl.noether(plane(potential), generator)
    assert found.decided
    assert found.invariance == "exact"
    assert "by its formula" in str(found)


def test_what_no_formula_shows_is_said_to_be_looked_at() -> None:
    """A loop of unknown length that converges to the root of the radius: symmetric, and no formula."""

    @jax.custom_jvp
    def root(s):
        return jax.lax.while_loop(lambda r: jnp.abs(r * r - s) > 1e-14 * s, lambda r: 0.5 * (r + s / r), s + 1.0)

    @root.defjvp
    def _(s, ds):
        r = root(*s)
        return r, 0.5 * ds[0] / r

    def well(t, x, y):
        return root(x**2 + y**2)

    found = hl.noether(plane(well), rotation)
    assert not found.decided
    assert "at the 4000 states looked at, |q| and |t| from 1e-3 to 1e3" in str(found)
    there = hl.noether(plane(well), rotation, where={"x": (5.0, 9.0), "t": (0.0, 1.0)})
    assert "x from 5 to 9, t from 0 to 1" in str(there)
    h = hl.jacobi_integral(plane(well))
    assert not h.decided
    assert "states looked at" in str(h)
    with pytest.raises(ValueError, match="no symmetry"):
        hl.noether(plane(lambda t, x, y: root(x**2 + y**2) + 1e-3 * root(1 + y**2)), rotation)


def test_the_region_that_matters() -> None:
    """Half a plane is uniform; a run and a region that reach the other half find the slope."""
    slope = plane(lambda t, x, y: jnp.maximum(x - 5, 0.0) ** 2)
    near = hl.noether(slope, "x", where={"x": (-10.0, 4.0)})
    assert not near.decided
    assert "x from -10 to 4" in str(near)
    also = hl.noether(slope, "x", where=lambda t, q, v: q[0] < 5)
    assert "where the given condition holds" in str(also)
    with pytest.raises(ValueError, match="no symmetry"):
        hl.noether(slope, "x", where={"x": (-10.0, 6.0)})
    run = hl.simulate(slope, [0.0, 0.0], [1.0, 0.0], 7.0, dt=0.01)
    assert "along 1 run" in str(hl.noether(slope, "x", where={"x": (-10.0, 4.0)}, along=run[:300]))
    with pytest.raises(ValueError, match="no symmetry"):
        hl.noether(slope, "x", where={"x": (-10.0, 4.0)}, along=run)
    with pytest.raises(ValueError, match="has bounds for t, x, y"):
        hl.noether(slope, "x", where={"z": (0.0, 1.0)})


def test_quantities_that_jump_are_not_conserved() -> None:
    heavier = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.where(q[1] > 40, 2.0, 1.0) * v[0] ** 2 + 0.5 * v[1] ** 2, coordinates=("x", "y")
    )
    with pytest.raises(ValueError, match="not conserved: it jumps"):
        hl.noether(heavier, "x")
    free = plane(lambda t, x, y: 0.0)
    with pytest.raises(ValueError, match="not conserved: it jumps"):
        hl.noether(free, lambda q: jnp.where(q[0] > 30, jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])))
    for name in ("step at 30", "floor", "table", "loop as long as x"):
        with pytest.raises(ValueError, match="not conserved: it jumps"):
            hl.jacobi_integral(plane(BROKEN[name][0]))


LATE = {
    "pulse": lambda t, x, y: bump(t, 30.0, 1.0) * x,
    "late pulse in nanoseconds": lambda t, x, y: bump(t, 3e-7, 1e-9) * x,
    "step": lambda t, x, y: jnp.where(t > 100, x, 0.0),
    "step between": lambda t, x, y: jnp.where((t > 1e5) & (t < 1.1e5), x, 0.0),
    "cond": lambda t, x, y: jax.lax.cond(t > 1e4, lambda: x, lambda: 2 * x),
    "loop": lambda t, x, y: jax.lax.while_loop(lambda s: s < t, lambda s: s + 1.0, 0.0) * x,
    "table": lambda t, x, y: TABLE[jnp.clip((t / 1e4).astype(int), 0, 9)] * x,
}


@pytest.mark.parametrize("name", LATE)
def test_a_lagrangian_that_depends_on_the_time_late(name) -> None:
    with pytest.raises(ValueError, match="depends on the time"):
        hl.jacobi_integral(plane(LATE[name]))


def test_what_else_takes_or_gives_energy() -> None:
    free = plane(lambda t, x, y: 9.81 * y)
    late = free.forced(lambda t, q, v: jnp.where(t > 100, -v, 0.0 * v))
    with pytest.raises(ValueError, match="forces do work"):
        hl.jacobi_integral(late)
    far = free.forced(lambda t, q, v: -jnp.maximum(q[0] - 1e5, 0.0) * v)
    with pytest.raises(ValueError, match="forces do work"):
        hl.jacobi_integral(far)
    moving = free.constrained(unilateral=lambda t, q: (q[1] - jnp.where(t > 50, t - 50, 0.0))[None])
    with pytest.raises(ValueError, match="move"):
        hl.jacobi_integral(moving)
    lift = free.constrained(holonomic=lambda t, q: (q[1] - jnp.maximum(t - 50, 0.0))[None])
    with pytest.raises(ValueError, match="move"):
        hl.jacobi_integral(lift)
    belt = free.constrained(velocity=lambda t, q, v: (v[0] - jnp.where(t > 50, 1.0, 0.0))[None])
    with pytest.raises(ValueError, match="move"):
        hl.jacobi_integral(belt)
    floor = free.constrained(unilateral=lambda t, q: q[1:], restitution=0.5)
    with pytest.raises(ValueError, match=r"restitution 0\.5"):
        hl.jacobi_integral(floor)
    rough = free.constrained(unilateral=lambda t, q: q[1:], friction=0.1, slip=lambda t, q, v: v[:1])
    with pytest.raises(ValueError, match="friction"):
        hl.jacobi_integral(rough)
    # and what does not
    magnetic = free.forced(lambda t, q, v: jnp.stack([v[1], -v[0]]) * jnp.where(t > 9, q[0], 1.0))
    assert "is conserved" in str(hl.jacobi_integral(magnetic))
    elastic = free.constrained(unilateral=lambda t, q: q[1:])
    assert hl.jacobi_integral(elastic).decided
    knife = free.constrained(velocity=lambda t, q, v: (jnp.sin(t) * v[0] - jnp.cos(t) * v[1])[None])
    assert hl.jacobi_integral(knife).decided


def test_walls_and_friction_act_along_a_generator() -> None:
    free = plane(lambda t, x, y: 9.81 * y)
    wall = free.constrained(unilateral=lambda t, q: (1e6 - q[0])[None])
    with pytest.raises(ValueError, match="walls push or rub"):
        hl.noether(wall, "x")
    rough = free.constrained(unilateral=lambda t, q: q[1:], friction=0.1, slip=lambda t, q, v: v[:1])
    with pytest.raises(ValueError, match="walls push or rub"):
        hl.noether(rough, "x")
    smooth = free.constrained(unilateral=lambda t, q: q[1:])
    assert hl.noether(smooth, "x").decided
    ratchet = free.constrained(velocity_unilateral=lambda t, q, v: v[:1])
    with pytest.raises(ValueError, match="walls push or rub"):
        hl.noether(ratchet, "x")


def test_whether_jacobi_s_integral_is_the_energy() -> None:
    def place(speed):
        return lambda t, q: jnp.stack([q[0] + speed * t, q[1]])[None]

    def potential(t, q):
        return 9.81 * q[1]

    still = hl.System.from_positions(place(0.0), [1.0], potential=potential, coordinates=("x", "y"))
    assert str(hl.jacobi_integral(still)).endswith("It is the energy T + V.")
    carried = hl.System.from_positions(place(2.0), [1.0], potential=potential, coordinates=("x", "y"))
    assert "not the energy T + V, which may change" in str(hl.jacobi_integral(carried))
    turning = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1] - q[1] * v[0] + 0.5 * (q @ q), coordinates=("x", "y")
    )
    assert "need not be the energy" in str(hl.jacobi_integral(turning))


@pytest.mark.proof
def test_random_round_systems_are_found_round_and_others_are_not() -> None:
    """Thirty random potentials of the radius and of one more function: turned, and by odd units."""
    generator = np.random.default_rng(7)
    for _ in range(15):
        a, b = generator.normal(size=2).tolist()
        unit = 10.0 ** generator.uniform(-9, 9)
        kind = generator.integers(4)

        def radial(x, y, a=a, b=b, unit=unit, kind=kind):
            s = (x**2 + y**2) / unit**2
            return [a * s + b * s**2, a * jnp.exp(-s) + b * s, a / (1 + s), jnp.where(s > 2, a * (s - 2) ** 2, b)][kind]

        def beside(t, x, y, unit=unit, radial=radial):
            return radial(x, y) + 0.1 * radial(x - 3 * unit, y)

        assert hl.noether(plane(lambda t, x, y, radial=radial: radial(x, y)), rotation).decided
        with pytest.raises(ValueError, match="no symmetry"):
            hl.noether(plane(beside), rotation)
