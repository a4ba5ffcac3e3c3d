"""Equilibria that the linear part does not decide: verdicts against closed forms, sampled potentials and simulation."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

POWERS = [(i, j) for i in range(9) for j in range(9) if 0 < i + j <= 8]

# potentials by their coefficients: verdict at the origin, order that decides, directions without stiffness
CASES = {
    "x³": ({(3, 0): 1.0, (0, 2): 1.0}, "unstable", 3, 1),
    "x⁴": ({(4, 0): 1.0, (0, 2): 1.0}, "stable", 4, 1),
    "-x⁴": ({(4, 0): -1.0, (0, 2): 1.0}, "unstable", 4, 1),
    "1e-12 x⁶": ({(6, 0): 1e-12, (0, 2): 1.0}, "stable", 6, 1),
    "x² - 1e-13 y²": ({(2, 0): 1.0, (0, 2): -1e-13}, "unstable", 2, 0),
    "x⁴ + y⁴": ({(4, 0): 1.0, (0, 4): 1.0}, "stable", 4, 2),
    "x⁴ + y⁶": ({(4, 0): 1.0, (0, 6): 1.0}, "stable", 6, 2),
    "x⁴ - y⁶": ({(4, 0): 1.0, (0, 6): -1.0}, "unstable", 6, 2),
    "x² y": ({(2, 1): 1.0}, "unstable", 3, 2),
    "monkey saddle": ({(3, 0): 1.0, (1, 2): -3.0}, "unstable", 3, 2),
    "(x - y²)² + y⁶": ({(2, 0): 1.0, (1, 2): -2.0, (0, 4): 1.0, (0, 6): 1.0}, "stable", 6, 1),
    "(x - y²)² + y⁵": ({(2, 0): 1.0, (1, 2): -2.0, (0, 4): 1.0, (0, 5): 1.0}, "unstable", 5, 1),
    "x² + 2 x y² + 0.9 y⁴": ({(2, 0): 1.0, (1, 2): 2.0, (0, 4): 0.9}, "unstable", 4, 1),
    "x² y²": ({(2, 2): 1.0}, "undecided", 10, 2),
    "saddle": ({(2, 0): 1.0, (0, 2): -1.0}, "unstable", 2, 0),
}


@pytest.fixture(scope="module")
def general():
    """A polynomial potential of two coordinates in any unit, a magnetic field, damping, a force that circulates."""

    def lagrangian(t, q, v, p):
        x = (q - p["origin"]) * p["scale"]
        potential = sum(p["c"][k] * x[0] ** i * x[1] ** j for k, (i, j) in enumerate(POWERS))
        return 0.5 * p["m"] * (v @ v) + p["field"] * (q[0] * v[1] - q[1] * v[0]) - p["unit"] * potential

    def force(t, q, v, p):
        return -p["damping"] * v - p["cubic"] * v**3 + p["turning"] * jnp.stack([-q[1], q[0]])

    zero = dict.fromkeys(("field", "damping", "cubic", "turning"), 0.0)
    values = {"c": np.zeros(len(POWERS)), "origin": np.zeros(2), "scale": 1.0, "m": 1.0, "unit": 1.0, **zero}
    return hl.System.from_lagrangian(lagrangian, coordinates=("x", "y"), parameters=values).forced(force)


def with_potential(system, terms, **values):
    c = np.zeros(len(POWERS))
    for powers, value in terms.items():
        c[POWERS.index(powers)] = value
    return system.with_parameters(c=c, **values)


def farthest(system, start, speed, t_end=60.0):
    """How far a motion comes from the origin; infinite where it ends in infinity."""
    run = hl.simulate(system, start, speed, t_end, dt=0.02, method=hl.RK4(), throw=False)
    away = np.max(np.abs(np.asarray(run.q)))
    return away if np.isfinite(away) else np.inf


@pytest.mark.parametrize("name", CASES)
def test_degenerate_potentials(general, name) -> None:
    terms, stability, order, soft = CASES[name]
    (one,) = hl.equilibria(with_potential(general, terms), [[0.0, 0.0]])
    assert (one.stability, one.order, one.degenerate) == (stability, order, soft), one.reason
    assert one.reason


@pytest.mark.parametrize(
    "origin, scale, m, unit",
    [
        ((1e6, -3e6), 1.0, 1.0, 1.0),
        ((0.0, 0.0), 1e9, 1.0, 1e-9),
        ((3.0e9, 0.0), 1e-9, 1e9, 1e12),
        ((1e3 * np.pi, 1.0), 7.0, 1e-9, 1.0),
    ],
)
def test_units_and_origins_do_not_matter(general, origin, scale, m, unit) -> None:
    """Newton's method comes to a degenerate point slowly and stops before it; that is known and counts."""
    at = np.array(origin)
    for name in ("x³", "-x⁴", "x⁴ + y⁴", "(x - y²)² + y⁶"):
        terms, stability, order, soft = CASES[name]
        system = with_potential(general, terms, origin=at, scale=scale, m=m, unit=unit)
        found = hl.equilibria(system, [at + np.array([0.1, 0.07]) / scale, at, at - np.array([0.02, 0.03]) / scale])
        assert [(e.stability, e.order, e.degenerate) for e in found] == [(stability, order, soft)], (name, found)


def test_verdicts_hold_in_simulation(general) -> None:
    for name, (terms, stability, order, _) in CASES.items():
        if stability == "undecided" or max(abs(x) for x in terms.values()) < 1 or order > 5 or "1e-" in name:
            continue  # so slow that a simulation shows nothing
        system = with_potential(general, terms)
        starts = [0.15 * np.array([np.cos(a), np.sin(a)]) for a in np.arange(12) * np.pi / 6 + 0.1]
        away = [farthest(system, start, np.zeros(2)) for start in starts]
        assert (max(away) > 1.0) == (stability == "unstable"), (name, away)


def test_no_verdict_contradicts_the_potential(general) -> None:
    """Random forms of degree 2 to 6 and what follows them, against the lowest value on small circles."""
    rng = np.random.default_rng(5)
    counted = {"stable": 0, "unstable": 0, "undecided": 0}
    angles = np.linspace(0, 2 * np.pi, 4001)
    for k in range(40):
        degree = (2, 3, 4, 4, 6)[k % 5]
        terms = {}
        for i, j in POWERS:
            if i + j == degree or (i + j > degree and rng.random() < 0.2):
                terms[i, j] = float(rng.integers(-3, 4))
        if k % 2 and degree % 2 == 0:  # bowls, half of them with a valley in their first form
            a, b = rng.integers(-2, 3, 2)
            terms = {
                (degree - i, i): float(np.prod([(degree - k) / (k + 1) for k in range(i)])) * a ** (degree - i) * b**i
                for i in range(degree + 1)
            }
            terms[0, degree + 2] = 1.0
        if not any(terms.values()):
            continue
        (found,) = hl.equilibria(with_potential(general, terms), [[0.0, 0.0]])
        counted[found.stability] += 1
        radius = 10.0 ** np.linspace(-3, -1.5, 7)[:, None]
        x, y = radius * np.cos(angles), radius * np.sin(angles)
        values = sum(c * x**i * y**j for (i, j), c in terms.items())
        lowest = np.min(values / radius**degree, axis=1)
        if found.stability == "stable":
            assert np.all(lowest > 0), (terms, found.reason)
        if found.stability == "unstable":
            assert np.min(lowest) < 0, (terms, found.reason)
    assert counted["stable"] > 8
    assert counted["unstable"] > 12


def test_forces_that_depend_on_velocities(general) -> None:
    bowl, hill = {(2, 0): 1.0, (0, 2): 1.0}, {(2, 0): -1.0, (0, 2): -1.0}

    def at_zero(terms, **values):
        (one,) = hl.equilibria(with_potential(general, terms, **values), [[0.0, 0.0]])
        return one

    top = at_zero(hill, field=2.0)  # a magnetic field holds a maximum: linear motion neither grows nor dies out
    assert top.stability == "undecided"
    assert "no minimum" in top.reason
    assert np.max(np.abs(np.real(top.eigenvalues))) <= top.uncertainty
    assert farthest(with_potential(general, hill, field=2.0), [0.01, 0.0], [0.0, 0.0], 30.0) < 0.1
    lost = at_zero(hill, field=2.0, damping=0.1)  # and damping takes that away (Kelvin, Tait and Chetaev)
    assert lost.stability == "unstable"
    assert farthest(with_potential(general, hill, field=2.0, damping=0.1), [0.01, 0.0], [0.0, 0.0], 200.0) > 0.5
    assert at_zero(bowl, cubic=0.1).stability == "stable"
    feeding = at_zero(bowl, cubic=-0.1)
    assert feeding.stability == "undecided"
    assert "feed energy in" in feeding.reason
    assert at_zero(bowl, turning=0.3).stability == "unstable"
    assert at_zero(bowl, turning=0.3, damping=1.0).stability == "stable"
    assert at_zero(CASES["x³"][0], damping=0.1).stability == "unstable"
    assert at_zero(CASES["x⁴"][0], damping=0.1).stability == "stable"
    assert at_zero(CASES["x⁴"][0], turning=0.01).stability in ("unstable", "undecided")
    assert at_zero(CASES["-x⁴"][0], field=1.0).stability == "undecided"


def test_a_ring_of_equilibria(general) -> None:
    hat = {(4, 0): 1.0, (2, 2): 2.0, (0, 4): 1.0, (2, 0): -2.0, (0, 2): -2.0}
    guesses = [[1.1, 0.2], [-0.3, 0.9], [0.1, -1.2], [-0.8, -0.3], [0.0, 0.0]]
    ring, top = hl.equilibria(with_potential(general, hat), guesses)
    assert top.stability == "unstable"
    assert ring.family is not None
    assert ring.family.dimension == 1
    np.testing.assert_allclose(ring.family.tangent[:, 0] @ ring.q, 0.0, atol=1e-9)
    assert ring.stability == "undecided"
    assert "across it the potential rises" in ring.reason
    (still,) = hl.equilibria(with_potential(general, hat, damping=0.3), guesses[:4])
    assert still.stability == "stable"
    assert still.family is not None


def test_families_with_rolling_and_edges() -> None:
    def rolling(t, q, v):
        return jnp.stack([v[0] - jnp.cos(q[2]) * v[3], v[1] - jnp.sin(q[2]) * v[3]])

    names = {"x": "length", "y": "length", "heading": "angle", "turn": "angle"}
    disc = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2 + 0.25 * v[3] ** 2, coordinates=names
    ).constrained(velocity=rolling)
    rng = np.random.default_rng(0)
    (one,) = hl.equilibria(disc, [rng.normal(size=4) for _ in range(3)])
    assert one.family is not None
    assert one.family.dimension == 4
    assert one.stability == "undecided"

    def edge(t, q, v):
        return (jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1])[None]

    slope = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * (v @ v) + p["g"] * q[0], coordinates={"x": "length", "y": "length", "a": "angle"},
        parameters={"g": 4.9},
    ).constrained(velocity=lambda t, q, v, p: edge(t, q, v))  # fmt: skip
    found = hl.equilibria(slope, [rng.normal(size=3) for _ in range(4)])
    for one in found:  # across the slope, at any place
        assert abs(np.cos(one.q[2])) < 1e-9
        assert one.family is not None
        assert one.family.dimension == 2
        np.testing.assert_allclose(one.family.tangent[2], 0.0, atol=1e-9)
    assert len(found) <= 2
    (free,) = hl.equilibria(slope.with_parameters(g=0.0), [rng.normal(size=3) for _ in range(2)])
    assert free.family is not None
    assert free.family.dimension == 3


def test_families_on_a_sphere_and_of_a_free_rod() -> None:
    beads = hl.System.from_lagrangian(lambda t, x, v: 0.5 * (v @ v) - x[2] ** 2, space=hl.Sphere(2))
    south, ring = hl.equilibria(beads, [[0.02, 0.0, -1.0], [0.1, 0.7, 0.3], [-0.5, -0.3, -0.1]])
    assert south.stability == "unstable"
    assert ring.family is not None
    np.testing.assert_allclose(abs(ring.family.tangent[:, 0] @ np.cross(ring.q, [0, 0, 1.0])), 1.0, atol=1e-9)
    rod = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v @ v - (jnp.hypot(q[0] - q[2], q[1] - q[3]) - 1) ** 2,
        coordinates=("x1", "y1", "x2", "y2"),
    )
    (one,) = hl.equilibria(rod, [[0.3, 1.0, 1.4, 2.0], [5.0, -2.0, 3.0, 3.0]])
    assert one.family is not None
    assert one.family.dimension == 3
    along = np.concatenate([one.q[:2] - one.q[2:], one.q[2:] - one.q[:2]])
    np.testing.assert_allclose(along @ one.family.tangent, 0.0, atol=1e-7)


def test_the_triangle_of_lagrange() -> None:
    """Below the mass ratio of Routh, ½(1 − √(23/27)) = 0.0385, no small motion grows; above it one does."""

    def lagrangian(t, q, v, p):
        m, (x, y) = p["m"], q
        near, far = jnp.hypot(x + m, y), jnp.hypot(x - 1 + m, y)
        return 0.5 * ((v[0] - y) ** 2 + (v[1] + x) ** 2) + (1 - m) / near + m / far

    three = hl.System.from_lagrangian(lagrangian, coordinates=("x", "y"), parameters={"m": 0.01})
    routh = 0.5 * (1 - np.sqrt(23 / 27))
    for m in (0.01, routh - 1e-3, routh + 1e-3, 0.1):
        (corner,) = hl.equilibria(three.with_parameters(m=m), [[0.5 - m, 0.85]])
        np.testing.assert_allclose(corner.q, [0.5 - m, np.sqrt(0.75)], atol=1e-9)
        assert corner.stability == ("undecided" if m < routh else "unstable"), corner.reason
    (between,) = hl.equilibria(three, [[0.8, 0.0]])
    assert between.stability == "unstable"


def test_dependent_constraints_and_singular_positions() -> None:
    def plane(potential, constraint):
        free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - potential(q), coordinates=("x", "y"))
        return free.constrained(holonomic=lambda t, q: constraint(q))

    twice = plane(lambda q: 9.81 * q[1], lambda q: jnp.stack([q @ q - 1, 2 * (q @ q) - 2]))
    low, high = hl.equilibria(twice, [[0.3, -0.8], [0.2, 0.9]])
    assert (low.stability, high.stability) == ("stable", "unstable")
    assert "1 of 2 constraints follow from the others" in low.reason
    cross = plane(lambda q: q[1] ** 2 + q[0], lambda q: (q[0] * q[1])[None])
    branches = plane(lambda q: q @ q, lambda q: (q[0] ** 2 - q[1] ** 2)[None])
    (centre,) = hl.equilibria(branches, [[0.0, 0.0]])
    assert centre.stability == "undecided"
    assert "singular position" in centre.reason
    with pytest.raises(ValueError, match="is left"):
        hl.equilibria(cross, [[0.4, 0.0]])


def one_coordinate(potential):
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - potential(t, q[0]), coordinates=("x",))


def test_what_cannot_be_decided_is_said() -> None:
    def flat(t, x):
        safe = jnp.where(x == 0, 1.0, x)
        return jnp.where(x == 0, 0.0, jnp.exp(-1 / safe**2))

    (one,) = hl.equilibria(one_coordinate(flat), [[0.0]])
    assert one.stability == "undecided"
    for corner, at in ((lambda t, x: jnp.maximum(x - 5, 0.0) ** 2, 5.0), (lambda t, x: jnp.abs(x), 0.0)):
        (one,) = hl.equilibria(one_coordinate(corner), [[at]])
        assert one.stability == "undecided"
        assert "corner" in one.reason
    (one,) = hl.equilibria(one_coordinate(lambda t, x: jnp.maximum(x - 5, 0.0) ** 2), [[0.0]])
    assert one.family is not None
    swing = one_coordinate(lambda t, x: (1 + 0.3 * jnp.sin(t)) * x**2)
    (one,) = hl.equilibria(swing, [[0.2]])
    assert one.stability == "undecided"
    assert "times looked at" in one.reason
    with pytest.raises(ValueError, match="not at t ="):
        hl.equilibria(one_coordinate(lambda t, x: (x - jnp.sin(t)) ** 2), [[0.2]])
    rubbing = one_coordinate(lambda t, x: -(x**2)).forced(lambda t, q, v: -jnp.sign(v))
    (one,) = hl.equilibria(rubbing, [[0.0]])
    assert one.stability == "undecided"  # dry friction holds it near the top
    assert "corner" in one.reason
    held = one_coordinate(lambda t, x: x**2).constrained(unilateral=lambda t, q: (q[0] - 1.0)[None])
    with pytest.raises(ValueError, match="unilateral constraint is violated"):
        hl.equilibria(held, [1.2])


def test_minima_nanometres_apart_are_two() -> None:
    double = one_coordinate(lambda t, x: ((1e9 * x) ** 2 - 1) ** 2)
    found = hl.equilibria(double, [[0.3e-9], [0.7e-9], [-2e-9]])
    assert sorted((round(float(e.q[0]) * 1e9, 6), e.stability) for e in found) == [
        (-1.0, "stable"),
        (0.0, "unstable"),
        (1.0, "stable"),
    ]


def test_double_frequencies_have_a_space_of_shapes() -> None:
    ring = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v @ v - 0.5 * ((q[0] - q[1]) ** 2 + (q[1] - q[2]) ** 2 + (q[2] - q[0]) ** 2),
        coordinates=("x", "y", "z"),
    )
    found = hl.normal_modes(ring, np.zeros(3))
    assert found.groups == ((0,), (1, 2))
    assert found.squares[0] == 0.0
    assert found.squares[1] == found.squares[2] == pytest.approx(3.0, rel=1e-12)
    assert "double" in repr(found)
    np.testing.assert_allclose(found.shapes.T @ found.shapes, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found.shapes[:, 1], np.array([2, -1, -1]) / np.sqrt(6), atol=1e-12)


def test_a_pole_of_coordinates_is_no_family() -> None:
    """At the bottom of a spherical pendulum the longitude has no mass, in any unit."""
    for unit in (1e-9, 1.0):
        pendulum = hl.System.from_lagrangian(
            lambda t, q, v: unit * (0.5 * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) + 9.81 * jnp.cos(q[0])),  # noqa: B023
            coordinates={"theta": "angle", "phi": "angle"},
        )
        for guess in ([0.1, 0.3], [3.0, 0.3]):
            with pytest.raises(ValueError, match="along 1 phi costs no kinetic energy"):
                hl.equilibria(pendulum, [guess])
