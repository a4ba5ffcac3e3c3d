"""The answers that the lecture prints, against ours: equal as formulas, or the slide is wrong in the way that is said.

`docs/lecture.md` has the table.
"""

import jax.numpy as jnp
import sympy as sp

import holonomy as hl

m, g, r, w, mu, rod = sp.symbols("m g r w mu l", positive=True)
sin, cos = jnp.sin, jnp.cos


def same(ours, printed) -> bool:
    return sp.simplify(sp.expand_trig(sp.expand(ours - printed))) == 0


def by_name(found):
    """The formulas of a system with plain symbols for coordinates, velocities and accelerations."""
    swap, t = {}, found.t
    for q in found.coordinates:
        name = q.func.__name__
        swap[sp.diff(q, t, 2)] = sp.Symbol(f"{name}_ddot")
        swap[sp.diff(q, t)] = sp.Symbol(f"{name}_dot")
        swap[q] = sp.Symbol(name)
    plain = {p: sp.Symbol(str(p), positive=True) for p in found.parameters.values()}

    def written(e):
        for old, new in swap.items():
            e = e.subs(old, new)
        return e.subs(plain)

    return written


def equation(system):
    """Left minus right side of the first of Lagrange's equations, with plain symbols."""
    found = system.equations().sympy
    return by_name(found)(found.lagrange[0].lhs - found.lagrange[0].rhs)


def test_the_elliptical_wire_lacks_a_factor_b() -> None:
    a, b, x, x_dot, x_ddot = sp.symbols("a b x x_dot x_ddot", positive=True)
    system = hl.System.from_positions(
        lambda t, q, p: jnp.stack([q[0], -p["b"] / p["a"] * jnp.sqrt(p["a"] ** 2 - q[0] ** 2)])[None],
        masses=lambda p: jnp.stack([p["m"]]),
        potential=lambda t, q, p: -p["m"] * p["g"] * p["b"] / p["a"] * jnp.sqrt(p["a"] ** 2 - q[0] ** 2),
        coordinates=("x",),
        parameters={"a": 2.0, "b": 1.5, "m": 1.0, "g": 9.81},
    )
    swap = {sp.Symbol(k): v for k, v in {"x": x, "x_dot": x_dot, "x_ddot": x_ddot}.items()}
    ours = equation(system).subs(swap) * a**2 * (a**2 - x**2) / m
    inertia = x_ddot * ((b**2 - a**2) * x**2 + a**4)
    right = inertia + a**2 * b**2 * x * x_dot**2 / (a**2 - x**2) + a * b * g * x * sp.sqrt(a**2 - x**2)
    printed = inertia + a**2 * b * x * x_dot**2 / (a**2 - x**2) + a * g * x * sp.sqrt(a**2 - x**2)
    assert same(ours, right)
    assert same(printed.subs(b, 1), right.subs(b, 1))
    assert not same(printed, right)


def test_the_turning_hoop() -> None:
    theta, theta_ddot = sp.symbols("theta theta_ddot")
    system = hl.System.from_positions(
        lambda t, q, p: (
            p["r"] * jnp.stack([sin(q[0]) * cos(p["w"] * t), sin(q[0]) * sin(p["w"] * t), -cos(q[0])])[None]
        ),
        masses=lambda p: jnp.stack([p["m"]]),
        potential=lambda t, q, p: -p["m"] * p["g"] * p["r"] * cos(q[0]),
        coordinates={"theta": "angle"},
        parameters={"r": 1.0, "w": 2.0, "m": 1.0, "g": 9.81},
    )
    printed = theta_ddot - w**2 * sp.sin(theta) * sp.cos(theta) + g / r * sp.sin(theta)
    assert same(equation(system) / (m * r**2), printed)
    found = system.equations().sympy
    assert found.potential is not None
    assert found.T0 is not None
    effective = by_name(found)(found.potential) - by_name(found)(found.T0)
    right = -m * g * r * sp.cos(theta) - m * r**2 * w**2 * sp.sin(theta) ** 2 / 2
    assert same(effective, right)
    assert not same(effective, -m * g * r * sp.cos(theta) - m * r**2 * w**2 * sp.sin(2 * theta) / 2)  # as printed
    torque = -m * g * r * sp.sin(theta) + m * r**2 * w**2 * sp.sin(theta) * sp.cos(theta)
    assert same(-sp.diff(effective, theta), torque)  # printed right


def test_kepler_needs_its_mass_and_a_two() -> None:
    R, R_dot, R_ddot, theta_dot, p = sp.symbols("R R_dot R_ddot theta_dot p_theta", positive=True)
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p["m"] * (q[0] ** 2 * v[1] ** 2 + v[0] ** 2) + p["mu"] / q[0],
        coordinates={"R": "length", "theta": "angle"},
        parameters={"m": 1.0, "mu": 1.0},
    )
    assert hl.cyclic(system) == ("theta",)
    swap = {
        sp.Symbol("R"): R,
        sp.Symbol("R_dot"): R_dot,
        sp.Symbol("R_ddot"): R_ddot,
        sp.Symbol("theta_dot"): theta_dot,
    }
    ours = equation(system).subs(swap) / m
    assert same(ours, R_ddot - R * theta_dot**2 + mu / (m * R**2))
    assert not same(ours, R_ddot - R * theta_dot**2 + mu / R**2)  # as printed, for its L with V = -mu/r
    reduced = hl.routh(system.with_parameters(m=1.0), {"theta": 1.0})
    ours = equation(reduced).subs(swap).subs({m: 1, sp.Symbol("p_theta", positive=True): p})
    assert same(ours, R_ddot - p**2 / R**3 + mu / R**2)  # printed right, for unit mass
    h = R_dot**2 / 2 + p**2 / (2 * R**2) - mu / R
    speed = 2 * h - p**2 / R**2 + 2 * mu / R
    assert same(speed, R_dot**2)
    assert not same(speed - mu / R, R_dot**2)  # the slide has mu/r under the root


def test_the_spherical_pendulum_by_routh() -> None:
    theta, theta_ddot = sp.symbols("theta theta_ddot")
    p = sp.Symbol("p_phi", positive=True)
    reduced = hl.routh(hl.models.spherical_pendulum(), {"phi": 0.7})
    centrifugal = p**2 * sp.cos(theta) / (m * rod**2 * sp.sin(theta) ** 3)
    assert same(equation(reduced), m * rod**2 * theta_ddot - centrifugal + m * g * rod * sp.sin(theta))  # printed right


def test_two_masses_joined_by_a_variable_rod() -> None:
    x, y, length, theta = sp.symbols("x y length theta")
    x_dot, y_dot, length_dot, theta_dot = sp.symbols("x_dot y_dot length_dot theta_dot")

    def ends(t, q, p):
        return jnp.stack([q[:2], q[:2] + q[2] * jnp.stack([cos(q[3]), sin(q[3])])])

    system = hl.System.from_positions(
        ends,
        masses=lambda p: jnp.stack([p["m"], p["m"]]),
        coordinates=("x", "y", "length", "theta"),
        parameters={"m": 1.0},
    )
    found = system.equations().sympy
    momenta = [by_name(found)(e) for e in found.momenta]
    along_x = 2 * m * x_dot + m * length_dot * sp.cos(theta) - m * length * theta_dot * sp.sin(theta)
    assert same(momenta[0], along_x)  # printed right
    turning = (
        m * (x + length * sp.cos(theta)) * (y_dot + length_dot * sp.sin(theta) + length * theta_dot * sp.cos(theta))
        - m * (y + length * sp.sin(theta)) * (x_dot + length_dot * sp.cos(theta) - length * theta_dot * sp.sin(theta))
        + m * (x * y_dot - y * x_dot)
    )
    assert same(-y * momenta[0] + x * momenta[1] + momenta[3], turning)  # with the generator (-y, x, 0, 1)
    assert not same(-y * momenta[0] + x * momenta[1] + momenta[2], turning)  # (-y, x, 1, 0), as printed
    assert hl.noether(system, lambda q: jnp.stack([-q[1], q[0], 0.0, 1.0])).invariance == "exact"


def test_the_generalised_force_on_two_particles_on_a_circle() -> None:
    theta, a, alpha, m_A, m_B = sp.symbols("theta a alpha m_A m_B", positive=True)
    places = {
        "x1": a * sp.cos(theta + alpha), "y1": -a * sp.sin(theta + alpha),
        "x2": -a * sp.cos(theta - alpha), "y2": a * sp.sin(theta - alpha),
    }  # fmt: skip
    potential = g * (m_A * places["y1"] + m_B * places["y2"])
    ours = -sp.diff(potential, theta)
    assert same(ours, g * (m_A * places["x1"] + m_B * places["x2"]))  # the slide has the other sign
    system = hl.System.from_positions(
        lambda t, q, p: jnp.stack([
            jnp.stack([cos(q[0] + p["alpha"]), -sin(q[0] + p["alpha"])]),
            jnp.stack([-cos(q[0] - p["alpha"]), sin(q[0] - p["alpha"])]),
        ]),
        masses=[1.0, 3.0],
        potential=lambda t, q, p: 9.81 * (-sin(q[0] + p["alpha"]) + 3.0 * sin(q[0] - p["alpha"])),
        coordinates={"theta": "angle"},
        parameters={"alpha": 0.4},
    )  # fmt: skip
    for rest in hl.equilibria(system, [[0.3], [3.0]]):
        x1, x2 = system.place(0.0, rest.q)[:, 0]
        assert abs(x1 + 3.0 * x2) < 1e-10  # m1 x1 + m2 x2 = 0, printed right
