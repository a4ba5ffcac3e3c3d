"""Printed equations: read back from LaTeX they give the motion that is simulated; they are what the lecture prints."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp
from tests.systems.latex_reader import lines, value

import holonomy as hl
from holonomy.models import classics
from holonomy.systems.equations import verify
from holonomy.trace.symbolic import functions

STATE = np.random.default_rng(4)


def cart(t, q, v, p):
    """A cart on a spring that carries a pendulum, driven, in numbers and letters mixed."""
    x, a = q
    u, w = v
    bob = jnp.stack([u + p.l * w * jnp.cos(a), p.l * w * jnp.sin(a)])
    pull = 0.5 * p.k * (x - 0.3) ** 2 - 1.7 * x * jnp.sin(2.5 * t)
    return 0.5 * 3.0 * u**2 + 0.5 * p.m * jnp.dot(bob, bob) + p.m * 9.81 * p.l * jnp.cos(a) - pull


def charged(t, q, v, p):
    """A charge in a magnetic field that grows, and in a smooth well: terms of first degree in the velocities."""
    x, y = q
    field = p.B * (1 + t**2) * (x * v[1] - y * v[0]) / 2
    return 0.5 * p.m * (v[0] ** 2 + v[1] ** 2) + field - jnp.exp(-(x**2)) * jnp.tanh(y) + jnp.log(3.0 + x**2 + y**4)


def fast(t, q, v, p):
    """A relativistic particle: not quadratic in the velocities."""
    return -p.m * p.c**2 * jnp.sqrt(1 - (v[0] ** 2 + v[1] ** 2) / p.c**2) - p.k / jnp.sqrt(q[0] ** 2 + q[1] ** 2)


def triple(t, q, v, p):
    """Three links as positions of bobs, no structure given away."""
    x, y = jnp.cumsum(p.lengths * jnp.sin(q)), -jnp.cumsum(p.lengths * jnp.cos(q))
    u, w = jnp.cumsum(p.lengths * jnp.cos(q) * v), jnp.cumsum(p.lengths * jnp.sin(q) * v)
    return 0.5 * jnp.dot(p.m, u**2 + w**2) - p.g * jnp.dot(p.m, y) + 0.0 * jnp.sum(x)


UNSEEN = {
    "cart": (cart, ("x", "alpha"), {"m": 0.7, "l": 1.3, "k": 11.0}),
    "charged": (charged, ("x", "y"), {"m": 1.9, "B": 0.6}),
    "fast": (fast, ("x", "y"), {"m": 1.1, "c": 9.0, "k": 0.8}),
    "triple": (
        triple,
        ("theta1", "theta2", "theta3"),
        {"lengths": [1.0, 0.8, 1.1], "m": [1.0, 2.0, 0.5], "g": 9.81},
    ),
}
LATEX = {"x": "x", "y": "y", "alpha": r"\alpha", **{f"theta{i}": rf"\theta_{{{i}}}" for i in (1, 2, 3)}}


def dotted(name: str, dots: str) -> str:
    head, mark, below = LATEX[name].partition("_")
    return f"\\{dots}{{{head}}}{mark}{below}"


@pytest.mark.parametrize("case", UNSEEN)
def test_latex_read_back_gives_the_acceleration(case: str) -> None:
    """Lagrange's equations are linear in the accelerations: read them at 0 and at unit vectors, and solve."""
    lagrangian, coordinates, parameters = UNSEEN[case]
    system = hl.System.from_lagrangian(lagrangian, coordinates=coordinates, parameters=parameters)
    equations = system.equations()
    shown = lines(equations.part("lagrange"))
    n = len(coordinates)
    assert len(shown) == n
    for _ in range(3):
        t, q, v = STATE.uniform(0.2, 1), STATE.uniform(0.3, 1.2, n), STATE.uniform(-1, 1, n)
        names = {"t": t}
        for key, number in parameters.items():
            latex = "l" if key == "lengths" else key
            elements = {f"{latex}_{{{i + 1}}}": x for i, x in enumerate(np.atleast_1d(number))}
            names |= {latex: number} if np.ndim(number) == 0 else elements
        names |= {LATEX[c]: x for c, x in zip(coordinates, q)} | {dotted(c, "dot"): x for c, x in zip(coordinates, v)}

        def residual(a, names=names):
            here = names | {dotted(c, "ddot"): x for c, x in zip(coordinates, a)}
            return np.array([value(left, here) - value(right, here) for left, right in shown])

        rest = residual(np.zeros(n))
        mass = np.stack([residual(unit) - rest for unit in np.eye(n)], axis=1)
        np.testing.assert_allclose(np.linalg.solve(mass, -rest), system.acceleration(t, q, v), rtol=1e-12, atol=1e-12)
        if equations.sympy.accelerations is not None:
            direct = [value(right, names) for _, right in lines(equations.part("acceleration"))]
            np.testing.assert_allclose(direct, system.acceleration(t, q, v), rtol=1e-12, atol=1e-12)


# ── what the lecture prints ───────────────────────────────────────────────────────────────────────
T = sp.Symbol("t")
THETA, PHI, R, X = (sp.Function(name)(T) for name in ("theta", "phi", "r", "x"))
m, l, g, r, w, a, b, k, mu = sp.symbols("m l g r omega a b k mu")  # noqa: E741


def one_particle(x, coordinates, potential, **parameters):
    def positions(t, q, p):
        return jnp.stack(x(t, q, p))[None, :]

    return hl.System.from_positions(positions, lambda p: p.m[None], potential, coordinates, {"m": 1.0, **parameters})


def there(parts):
    assert parts is not None
    return parts


def vanishes(expression) -> bool:
    return sp.simplify(sp.expand_trig(expression)) == 0


def test_pendulum() -> None:
    found = classics.simple_pendulum(1.0, 1.0, 9.81).equations()
    (equation,) = found.sympy.lagrange
    assert vanishes(equation.lhs / (m * l**2) - (THETA.diff(T, 2) + g / l * sp.sin(THETA)))
    momentum = found.sympy.momentum_symbols[0]
    assert vanishes(found.sympy.hamiltonian - (momentum**2 / (2 * m * l**2) - m * g * l * sp.cos(THETA)))
    assert lines(found.part("lagrange")) == [
        (r"l^{2} m \ddot{\theta} + g l m \sin{\left(\theta \right)}", "0"),
    ]


def test_bead_on_a_turning_hoop_has_all_parts_of_the_kinetic_energy() -> None:
    system = one_particle(
        lambda t, q, p: [
            p.r * jnp.sin(q[0]) * jnp.cos(p.omega * t),
            p.r * jnp.sin(q[0]) * jnp.sin(p.omega * t),
            -p.r * jnp.cos(q[0]),
        ],
        ("theta",),
        lambda t, q, p: -p.m * p.g * p.r * jnp.cos(q[0]),
        r=0.5,
        omega=3.0,
        g=9.81,
    )
    found = system.equations().sympy
    (equation,) = found.lagrange
    printed = THETA.diff(T, 2) - w**2 * sp.sin(THETA) * sp.cos(THETA) + g / r * sp.sin(THETA)
    assert vanishes(equation.lhs / (m * r**2) - printed)
    assert sp.expand(found.T2 - m * r**2 * THETA.diff(T) ** 2 / 2) == 0
    assert found.T1 == 0
    assert sp.expand(found.T0 - m * r**2 * w**2 * sp.sin(THETA) ** 2 / 2) == 0
    assert "T_{0}" in system.equations().latex


def test_sliding_turntable_has_a_part_of_first_degree() -> None:
    """Polar coordinates on a turntable: T₂, T₁ and T₀ are all there."""
    system = one_particle(
        lambda t, q, p: [q[0] * jnp.cos(q[1] + p.omega * t), q[0] * jnp.sin(q[1] + p.omega * t)],
        ("r", "phi"),
        None,
        omega=0.7,
    )
    found = system.equations().sympy
    assert sp.expand(found.T2 - m * (R.diff(T) ** 2 + R**2 * PHI.diff(T) ** 2) / 2) == 0
    assert sp.expand(found.T1 - m * w * R**2 * PHI.diff(T)) == 0
    assert sp.expand(found.T0 - m * w**2 * R**2 / 2) == 0


def test_planet_in_polar_coordinates() -> None:
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * (q[0] ** 2 * v[1] ** 2 + v[0] ** 2) + p.mu / q[0], ("r", "theta"), {"mu": 1.0}
    )
    found = system.equations().sympy
    assert sp.expand(found.lagrange[0].lhs - (R.diff(T, 2) - R * THETA.diff(T) ** 2 + mu / R**2)) == 0
    momentum = found.momentum_symbols[1]
    assert sp.expand(found.momenta[1] - R**2 * THETA.diff(T)) == 0
    assert vanishes(there(found.hamilton)[2].rhs - (momentum**2 / R**3 - mu / R**2))
    assert there(found.hamilton)[3].rhs == 0


def test_spherical_pendulum() -> None:
    found = classics.spherical_pendulum(1.0, 1.0, 9.81).equations().sympy
    momentum = found.momentum_symbols[1]
    assert sp.expand(found.momenta[1] - m * l**2 * sp.sin(THETA) ** 2 * PHI.diff(T)) == 0
    torque = momentum**2 * sp.cos(THETA) / (m * l**2 * sp.sin(THETA) ** 3) - m * g * l * sp.sin(THETA)
    assert vanishes(there(found.hamilton)[2].rhs - torque)


def test_wire_in_the_coordinate_x() -> None:
    """The ellipse x²/a² + y²/b² = 1, lower branch (with the powers of b that the dimensions ask for)."""
    system = one_particle(
        lambda t, q, p: [q[0], -p.b / p.a * jnp.sqrt(p.a**2 - q[0] ** 2)],
        ("x",),
        lambda t, q, p: -p.m * p.g * p.b / p.a * jnp.sqrt(p.a**2 - q[0] ** 2),
        a=2.0,
        b=1.0,
        g=9.81,
    )
    (equation,) = system.equations().sympy.lagrange
    root = sp.sqrt(a**2 - X**2)
    known = (
        X.diff(T, 2) * ((b**2 - a**2) * X**2 + a**4) + a**2 * b**2 * X * X.diff(T) ** 2 / root**2 + a * b * g * X * root
    )
    assert sp.simplify(equation.lhs * a**2 * (a**2 - X**2) / m - known) == 0


def test_rod_sliding_on_two_walls_and_angle_of_two_masses() -> None:
    ladder = hl.System.from_positions(
        lambda t, q, p: p.l * jnp.diag(jnp.stack([jnp.cos(q[0]), jnp.sin(q[0])])),
        lambda p: jnp.stack([p.a, p.b]),
        lambda t, q, p: p.b * p.g * p.l * jnp.sin(q[0]),
        ("theta",),
        {"a": 1.0, "b": 2.0, "g": 9.81, "l": 1.5},
    )
    s, c, rate = sp.sin(THETA), sp.cos(THETA), THETA.diff(T)
    known = l**2 * ((a * s**2 + b * c**2) * THETA.diff(T, 2) + (a - b) * s * c * rate**2) + b * g * l * c
    assert sp.expand(ladder.equations().sympy.lagrange[0].lhs - known) == 0

    def arms(t, q, p):
        x, y = q[0] + p.k, q[0] - p.k
        return p.l * jnp.stack([jnp.stack([jnp.cos(x), jnp.sin(x)]), jnp.stack([jnp.cos(y), jnp.sin(y)])])

    parameters = {"a": 1.0, "b": 2.0, "k": 0.4, "l": 1.5}
    yoke = hl.System.from_positions(arms, lambda p: jnp.stack([p.a, p.b]), None, ("theta",), parameters)
    assert sp.expand(yoke.equations().sympy.T2 - (a + b) * l**2 * rate**2 / 2) == 0


# ── forces, metrics, and what is refused ──────────────────────────────────────────────────────────
def test_forces_stand_on_the_right() -> None:
    system = classics.simple_pendulum(1.0, 1.0, 9.81).forced(lambda t, q, v, p: -0.3 * p.l * v)
    found = system.equations().sympy
    assert sp.expand(found.forces[0] + 0.3 * l * THETA.diff(T)) == 0
    assert found.lagrange[0].rhs == found.forces[0]
    assert sp.expand(there(found.hamilton)[1].rhs + m * g * l * sp.sin(THETA) + 0.3 * l * THETA.diff(T)) == 0


def test_metric_and_choice_by_cases() -> None:
    half_plane = hl.System.from_metric(lambda q: jnp.eye(2) / q[1] ** 2, coordinates=("x", "y"))
    y = sp.Function("y")(T)
    found = half_plane.equations().sympy
    assert sp.expand(found.mass_matrix - sp.eye(2) / y**2) == sp.zeros(2)
    assert vanishes(there(found.accelerations)[0] - 2 * X.diff(T) * y.diff(T) / y)
    wall = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - jnp.where(q[0] < 0.5, 0.0, (q[0] - 0.5) ** 2), ("x",)
    )
    assert wall.equations().sympy.lagrange[0].lhs.has(sp.Piecewise)


def test_constraints_bring_multipliers() -> None:
    """A pendulum in Cartesian coordinates, and a skate: M a = f + Nᵀλ."""
    free = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) - p.m * p.g * q[1], ("x", "y"), {"m": 1.0, "g": 9.81, "l": 2.0}
    )
    found = free.constrained(holonomic=lambda t, q, p: jnp.dot(q, q)[None] - p.l**2).equations()
    y, tension = sp.Function("y")(T), found.sympy.multipliers[0]
    assert sp.expand(found.sympy.constraints[0].lhs - (X**2 + y**2 - l**2)) == 0
    assert [e.rhs for e in found.sympy.lagrange] == [2 * tension * X, 2 * tension * y]
    assert r"2 \lambda_{1} x" in found.part("lagrange")
    assert found.sympy.accelerations is found.sympy.hamiltonian is None
    skate = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), ("x", "y", "theta"))
    skate = skate.constrained(velocity=lambda t, q, v: (jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1])[None])
    rights = [e.rhs for e in skate.equations().sympy.lagrange]
    assert rights == [tension * sp.sin(THETA), -tension * sp.cos(THETA), 0]


def test_nothing_wrong_is_ever_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a wrong derivative of the sine inside, the comparison refuses."""
    monkeypatch.setitem(functions.SLOPES, "cos", lambda ring, p: (ring.apply("sin", p),))
    with pytest.raises(verify.Disagreement, match="not shown"):
        classics.simple_pendulum(1.0, 1.0, 9.81).equations()


def test_what_has_no_formula_is_named() -> None:
    import jax

    def searching(t, q, v):
        return 0.5 * v[0] ** 2 - jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, q[0])

    with pytest.raises(ValueError, match=r"Lagrangian has no readable form.*while_loop"):
        hl.System.from_lagrangian(searching, ("x",)).equations()
    with pytest.raises(ValueError, match="has no symbolic form"):
        hl.System.from_lagrangian(lambda t, q, v: v[0] ** 2 - jnp.fmod(q[0], 1.0), ("x",)).equations()
    with pytest.raises(ValueError, match="could not be checked"):
        hl.System.from_lagrangian(lambda t, q, v: v[0] ** 2 - jnp.sqrt(-1.0 - q[0] ** 2), ("x",)).equations()
    ball = hl.System.from_lagrangian(lambda t, q, v: jnp.dot(v, v), space=hl.spaces.Sphere(2))
    with pytest.raises(ValueError, match="writes formulas in coordinates"):
        ball.equations()
    with pytest.raises(ValueError, match="'t' would stand for two things"):
        hl.System.from_lagrangian(lambda t, q, v, p: p.t * v[0] ** 2, ("x",), {"t": 1.0}).equations()


def test_parts_of_the_latex() -> None:
    found = classics.double_pendulum(1.0, 1.0, 1.0, 1.0, 9.81).equations()
    assert found._repr_latex_() == f"$\\displaystyle {found.latex}$"
    assert found.parts == ("energy", "lagrange", "acceleration", "hamilton")
    assert [line.part for line in found.lines].count("hamilton") == 5
    assert "m_{1} + m_{2} \\sin^{2}" in found.part("acceleration")
    assert str(found).splitlines()[2] == (
        "l1*l2*m2*theta1_ddot*cos(theta1 - theta2) + l2^2*m2*theta2_ddot - l1*l2*m2*theta1_dot^2*sin(theta1 - theta2)"
        " + g*l2*m2*sin(theta2) = 0"
    )
    with pytest.raises(ValueError, match="energy, lagrange, acceleration, hamilton"):
        found.part("routh")


# ── as code ──────────────────────────────────────────────────────────────────────────────────────────


def test_letters_stand_for_the_usual_names() -> None:
    """In formulas `gravity` is g and `masses` are m; the word stays where the letter is taken."""
    chain = hl.Pendulum([1.0, 0.8], [1.0, 2.0]).equations().part("lagrange")
    assert r"g l_{1} \left(m_{1} + m_{2}\right) \sin{\left(\theta_{1} \right)}" in chain
    taken = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.mass * v[0] ** 2 - p.m * q[0], ("x",), parameters={"mass": 1.0, "m": 2.0}
    )
    assert r"\mathrm{mass}" in taken.equations().latex


def _state(count: int) -> tuple[np.ndarray, np.ndarray]:
    key = np.random.default_rng(3)
    return key.normal(size=count), key.normal(size=count)


def test_python_code_computes_the_acceleration() -> None:
    """Of a system whose accelerations are short, and of one that gives its mass matrix and force instead."""
    pair = hl.models.double_pendulum(m2=2.0, l1=0.7)
    names: dict[str, Any] = {}
    exec(pair.equations().python, names)  # noqa: S102  what is tested is that it is Python
    q, v = _state(2)
    numbers = [float(x) for x in pair.parameters.values()]
    np.testing.assert_allclose(names["acceleration"](0.0, *q, *v, *numbers), pair.acceleration(0.0, q, v), rtol=1e-12)
    chain = hl.models.multi_pendulum()
    exec(chain.equations().python, names)  # noqa: S102
    q, v = _state(3)
    numbers = [float(x) for value in chain.parameters.values() for x in np.ravel(value)]
    mass, force = names["mass_and_force"](0.0, *q, *v, *numbers)
    np.testing.assert_allclose(np.linalg.solve(mass, force), chain.acceleration(0.0, q, v), rtol=1e-11)
    rod = pair.constrained(holonomic=lambda t, q, p: q[:1] - q[1:])
    with pytest.raises(ValueError, match="without constraints; this one has 1"):
        _ = rod.equations().python


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_code_computes_the_acceleration(tmp_path: Path) -> None:
    chain = hl.models.multi_pendulum()
    (tmp_path / "chain.c").write_text(chain.equations().c)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "chain.so", "chain.c", "-lm"], cwd=tmp_path, check=True)
    call = ctypes.CDLL(str(tmp_path / "chain.so")).mass_and_force
    q, v = _state(3)
    numbers = [float(x) for value in chain.parameters.values() for x in np.ravel(value)]
    mass, force = np.zeros((3, 3)), np.zeros(3)
    call(*map(ctypes.c_double, (0.0, *q, *v, *numbers)), *(ctypes.c_void_p(x.ctypes.data) for x in (mass, force)))
    np.testing.assert_allclose(np.linalg.solve(mass, force), chain.acceleration(0.0, q, v), rtol=1e-11)


def test_julia_code_is_plain() -> None:
    """Numbers need no broadcasting; a name that the language keeps for itself gets another."""
    text = hl.models.simple_pendulum().equations().julia
    assert text == "function acceleration(t, theta, theta_dot, g, l, m)\n    return [-g * sin(theta) / l]\nend\n"
    spring = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 - p["end"] * q[0] ** 2, ("x",), parameters={"end": 2.0}
    )
    assert "(t, x, x_dot, end_)" in spring.equations().julia


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", ["double_pendulum", "spherical_pendulum", "rotating_hoop", "elastic_pendulum", "kepler"]
)
def test_sympy_finds_no_much_shorter_form(name):
    """Nothing but a common factor of all terms of an equation, or a double angle."""
    found = getattr(hl.models, name)().equations().sympy
    for formula in (*found.lagrange, *(found.accelerations or ()), found.T2, found.potential):
        ours = sp.count_ops(formula)
        assert ours < 10 or sp.count_ops(sp.simplify(formula)) > 0.74 * ours
