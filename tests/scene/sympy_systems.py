"""Test systems of `sympy.physics.mechanics`, described in its own objects: frames, points, bodies, joints, actuators.

Each function returns SymPy's method object, its equations formed. Names of coordinates and parameters are those of the
scene of the same name in `examples/sympy`, so that both sides take the same numbers.
"""

# ruff: noqa: E741  O is the origin, as in SymPy's documentation

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.physics import mechanics
from sympy.physics.mechanics.models import multi_mass_spring_damper as masses_in_a_row
from sympy.physics.mechanics.models import n_link_pendulum_on_cart

me: Any = mechanics  # SymPy does not say its types
T = me.dynamicsymbols._t
sin, cos = sp.sin, sp.cos
g = sp.Symbol("g")


def ground() -> tuple[Any, Any]:
    """A frame and a point that rest."""
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    return frame, origin


def moving(names: str) -> tuple[Any, Any]:
    """Coordinates, and the speeds that are their rates, each as a list."""
    q = [me.dynamicsymbols(name) for name in names.split()]
    return q, [me.dynamicsymbols(f"u_{name}") for name in names.split()]


def kane(frame: Any, q: Any, u: Any, bodies: Any, loads: Any, **more: Any) -> Any:
    """Kane's equations with the rates of the coordinates as speeds."""
    kinematic = [b - a.diff(T) for a, b in zip(q, u, strict=True)]
    found = me.KanesMethod(frame, q_ind=q, u_ind=u, kd_eqs=kinematic, **more)
    found.kanes_equations(bodies, loads)
    return found


def lagrange(frame: Any, q: Any, bodies: Any, loads: Any = None, **more: Any) -> Any:
    """Lagrange's equations of bodies that know their potential energies."""
    found = me.LagrangesMethod(me.Lagrangian(frame, *bodies), q, forcelist=loads, frame=frame, **more)
    found.form_lagranges_equations()
    return found


def joined(system: Any) -> Any:
    """The equations of a system of joints, by Kane's method."""
    system.validate_system()
    system.form_eoms()
    return system.eom_method


def mass_spring_damper() -> Any:
    (q,), (u,) = moving("q")
    m, k, c = sp.symbols("m k c")
    N, O = ground()
    P = O.locatenew("P", q * N.x)
    P.set_vel(N, u * N.x)
    return kane(N, [q], [u], [me.Particle("P", P, m)], [(P, (-k * q - c * u) * N.x)])


def two_masses_springs_dampers() -> Any:
    q, u = moving("q1 q2")
    m, c1, c2, k1, k2 = sp.symbols("m c1 c2 k1 k2")
    N, O = ground()
    P = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    for point, speed in zip(P, u, strict=True):
        point.set_vel(N, speed * N.x)
    between = k2 * (q[1] - q[0]) + c2 * (u[1] - u[0])
    loads = [(P[0], (-k1 * q[0] - c1 * u[0] + between) * N.x), (P[1], -between * N.x)]
    return kane(N, q, u, [me.Particle(f"p{i}", point, m) for i, point in enumerate(P)], loads)


def multi_mass_spring_damper() -> Any:
    return masses_in_a_row(3, apply_gravity=True, apply_external_forces=True)


def simple_pendulum() -> Any:
    (theta,), _ = moving("theta")
    m, length = sp.symbols("m l")
    N, O = ground()
    A = N.orientnew("A", "Axis", [theta, N.z])
    P = O.locatenew("P", -length * A.y)
    P.v2pt_theory(O, N, A)
    bob = me.Particle("bob", P, m)
    bob.potential_energy = m * g * P.pos_from(O).dot(N.y)
    return lagrange(N, [theta], [bob])


def nonminimal_pendulum() -> Any:
    (x, y), _ = moving("x y")
    m, length = sp.symbols("m l")
    N, O = ground()
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, P.pos_from(O).dt(N))
    weight = [(P, m * g * N.x)]
    return lagrange(N, [x, y], [me.Particle("bob", P, m)], weight, hol_coneqs=[x**2 + y**2 - length**2])


def double_pendulum() -> Any:
    (q1, q2), _ = moving("q1 q2")
    m, length = sp.symbols("m l")
    N, O = ground()
    bobs, last = [], O
    for i, q in enumerate((q1, q2)):
        A = N.orientnew(f"A{i}", "Axis", [q, N.z])
        P = last.locatenew(f"P{i}", -length * A.y)
        P.v2pt_theory(last, N, A)
        bobs.append(me.Particle(f"bob{i}", P, m))
        bobs[-1].potential_energy = m * g * P.pos_from(O).dot(N.y)
        last = P
    return lagrange(N, [q1, q2], bobs)


def links_on_a_cart() -> Any:
    return n_link_pendulum_on_cart(3, cart_force=True, joint_torques=True)


def disc_on_an_incline() -> Any:
    (y, theta), _ = moving("y theta")
    m, R, alpha = sp.symbols("m R alpha")
    N, O = ground()
    plane = N.orientnew("plane", "Axis", [-alpha, N.z])
    B = plane.orientnew("B", "Axis", [-theta, plane.z])
    centre = O.locatenew("C", y * plane.x)
    centre.set_vel(N, y.diff(T) * plane.x)
    disc = me.RigidBody("disc", centre, B, m, (me.inertia(B, 0, 0, m * R**2 / 2), centre))
    disc.potential_energy = m * g * centre.pos_from(O).dot(N.y)
    return lagrange(N, [y, theta], [disc], hol_coneqs=[y - R * theta])


def spinning_top() -> Any:
    q, _ = moving("psi theta phi")
    m, length, A, B, C = sp.symbols("m l A B C")
    N, O = ground()
    body = N.orientnew("body", "Body", q, "313")
    centre = O.locatenew("G", length * body.z)
    centre.v2pt_theory(O, N, body)
    top = me.RigidBody("top", centre, body, m, (me.inertia(body, A, B, C), centre))
    top.potential_energy = m * g * centre.pos_from(O).dot(N.z)
    return lagrange(N, q, [top])


def slider_crank() -> Any:
    (theta, phi, x), _ = moving("theta phi x")
    m1, m2, m3, a, b, torque = sp.symbols("m1 m2 m3 a b T")
    N, O = ground()
    crank = N.orientnew("crank", "Axis", [theta, N.z])
    rod = N.orientnew("rod", "Axis", [phi, N.z])
    pin = O.locatenew("pin", a * crank.x)
    pin.v2pt_theory(O, N, crank)
    centres = O.locatenew("G1", a / 2 * crank.x), pin.locatenew("G2", b / 2 * rod.x), O.locatenew("G3", x * N.x)
    centres[0].v2pt_theory(O, N, crank)
    centres[1].v2pt_theory(pin, N, rod)
    centres[2].set_vel(N, x.diff(T) * N.x)
    bodies = [
        me.RigidBody("crank", centres[0], crank, m1, (me.inertia(crank, 0, 0, m1 * a**2 / 12), centres[0])),
        me.RigidBody("rod", centres[1], rod, m2, (me.inertia(rod, 0, 0, m2 * b**2 / 12), centres[1])),
        me.Particle("slider", centres[2], m3),
    ]
    for body, centre in zip(bodies, centres, strict=True):
        body.potential_energy = body.mass * g * centre.pos_from(O).dot(N.y)
    end = pin.pos_from(O) + b * rod.x - x * N.x
    return lagrange(N, [theta, phi, x], bodies, [(crank, torque * N.z)], hol_coneqs=[end.dot(N.x), end.dot(N.y)])


def elastic_pendulum() -> Any:
    q, u = moving("x y")
    m, k, length, c = sp.symbols("m k l c", positive=True)
    N, O = ground()
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    way = me.LinearPathway(O, P)
    loads = [*me.LinearSpring(k, way, length).to_loads(), *me.LinearDamper(c, way).to_loads(), (P, -m * g * N.y)]
    return kane(N, q, u, [me.Particle("bob", P, m)], loads)


def rotating_hoop() -> Any:
    (theta,), _ = moving("theta")
    m, r, omega = sp.symbols("m r omega")
    N, O = ground()
    hoop = N.orientnew("hoop", "Axis", [omega * T, N.z])
    arm = hoop.orientnew("arm", "Axis", [-theta, hoop.y])
    P = O.locatenew("P", -r * arm.z)
    P.v2pt_theory(O, N, arm)
    bead = me.Particle("bead", P, m)
    bead.potential_energy = m * g * P.pos_from(O).dot(N.z)
    return lagrange(N, [theta], [bead])


def turntable() -> Any:
    q, u = moving("x y")
    m, k, c, W = sp.symbols("m k c W")
    N, O = ground()
    table = N.orientnew("table", "Axis", [W * T, N.z])
    P = O.locatenew("P", q[0] * table.x + q[1] * table.y)
    P.set_vel(table, u[0] * table.x + u[1] * table.y)
    P.v1pt_theory(O, N, table)
    return kane(N, q, u, [me.Particle("P", P, m)], [(P, -k * P.pos_from(O) - c * P.vel(table))])


def atwood() -> Any:
    (x, y), _ = moving("x y")
    m1, m2, m3, mp, R, J = sp.symbols("m1 m2 m3 mp R J")
    N, O = ground()
    wheel = N.orientnew("wheel", "Axis", [x / R, N.z])
    pulley = O.locatenew("pulley", -x * N.x)
    pulley.set_vel(N, -x.diff(T) * N.x)
    bodies: list[Any] = [me.RigidBody("pulley", pulley, wheel, mp, (me.inertia(wheel, 0, 0, J), pulley))]
    bodies[0].potential_energy = mp * g * x  # the x axis points down
    for i, (mass, at) in enumerate(((m1, x), (m2, y - x), (m3, -y - x))):
        P = O.locatenew(f"P{i}", at * N.x)
        P.set_vel(N, at.diff(T) * N.x)
        bodies.append(me.Particle(f"weight{i}", P, mass))
        bodies[-1].potential_energy = -mass * g * at
    return lagrange(N, [x, y], bodies)


def duffing_spring() -> Any:
    (x,), (u,) = moving("x")
    m, k, b, length, c, F, W = sp.symbols("m k b l c F W")
    N, O = ground()
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, u * N.x)
    way = me.LinearPathway(O, P)
    spring = me.DuffingSpring(linear_stiffness=k, nonlinear_stiffness=b, pathway=way, equilibrium_length=length)
    loads = [*spring.to_loads(), *me.LinearDamper(c, way).to_loads(), (P, F * cos(W * T) * N.x)]
    return kane(N, [x], [u], [me.Particle("P", P, m)], loads)
