"""Test systems of `sympy.physics.mechanics` that roll; see `sympy_systems`."""

# ruff: noqa: E741  O is the origin, as in SymPy's documentation

from __future__ import annotations

from typing import Any

import sympy as sp
from tests.scene.sympy_systems import T, cos, g, ground, kane, lagrange, me, moving, sin


def _disc(q: Any, N: Any, contact: Any) -> tuple[Any, Any, Any, Any]:
    """The frames and the body of a disc that touches the ground in a point: leaning frame, disc's frame, body."""
    m, r = sp.symbols("m r")
    yaw = N.orientnew("Y", "Axis", [q[0], N.z])
    lean = yaw.orientnew("L", "Axis", [q[1], yaw.x])
    turned = lean.orientnew("D", "Axis", [q[2], lean.y])
    centre = contact.locatenew("C", r * lean.z)
    moments = me.inertia(lean, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    return yaw, lean, turned, me.RigidBody("disc", centre, turned, m, (moments, centre))


def rolling_disc() -> Any:
    """By Kane's method with components of the angular velocity as speeds; the contact point is at rest."""
    q, _ = moving("yaw lean spin")
    u = [me.dynamicsymbols(f"w{i}") for i in range(3)]
    m = sp.Symbol("m")
    N, contact = ground()
    _, lean, turned, disc = _disc(q, N, contact)
    w = turned.ang_vel_in(N)
    spin = u[0] * lean.x + u[1] * lean.y + u[2] * lean.z
    kinematic = [w.dot(axis) - one for axis, one in zip((lean.x, lean.y, lean.z), u, strict=True)]
    turned.set_ang_vel(N, spin)
    lean.set_ang_vel(N, spin - (turned.ang_vel_in(lean).dot(lean.y)) * lean.y)
    disc.masscenter.v2pt_theory(contact, N, turned)
    found = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=kinematic)
    found.kanes_equations([disc], [(disc.masscenter, -m * g * N.z)])
    return found


def rolling_disc_by_lagrange() -> Any:
    """By Lagrange's method with multipliers; the disc of the scene `rolling_disc`."""
    q, _ = moving("x y yaw lean spin")
    m, r = sp.symbols("m r")
    N, O = ground()
    contact = me.Point("contact")
    yaw, lean, turned, disc = _disc(q[2:], N, contact)
    centre = disc.masscenter
    centre.set_pos(O, q[0] * N.x + q[1] * N.y + r * cos(q[3]) * N.z)
    velocity = q[0].diff(T) * N.x + q[1].diff(T) * N.y - r * sin(q[3]) * q[3].diff(T) * N.z
    centre.set_vel(N, velocity)
    disc.potential_energy = m * g * r * cos(q[3])
    slip = velocity + turned.ang_vel_in(N).cross(-r * lean.z)
    return lagrange(N, q, [disc], nonhol_coneqs=[slip.dot(yaw.x), slip.dot(yaw.y)])


def rolling_disc_with_a_mass() -> Any:
    """By Kane's method; the contact point is at rest."""
    q, u = moving("yaw lean spin")
    m, mp, b = sp.symbols("m mp b")
    N, contact = ground()
    yaw, lean, turned, disc = _disc(q, N, contact)
    yaw.set_ang_vel(N, u[0] * N.z)
    lean.set_ang_vel(yaw, u[1] * yaw.x)
    turned.set_ang_vel(lean, u[2] * lean.y)
    disc.masscenter.v2pt_theory(contact, N, turned)
    P = disc.masscenter.locatenew("P", b * turned.x)
    P.v2pt_theory(disc.masscenter, N, turned)
    loads = [(disc.masscenter, -m * g * N.z), (P, -mp * g * N.z)]
    return kane(N, q, u, [disc, me.Particle("P", P, mp)], loads)


def rolling_ball() -> Any:
    q, _ = moving("x y psi theta phi")
    m, r, A, B, C, alpha = sp.symbols("m r A B C alpha")
    N, O = ground()
    body = N.orientnew("body", "Body", q[2:], "313")
    centre = O.locatenew("G", q[0] * N.x + q[1] * N.y + r * N.z)
    centre.set_vel(N, centre.pos_from(O).dt(N))
    ball = me.RigidBody("ball", centre, body, m, (me.inertia(body, A, B, C), centre))
    slip = centre.vel(N) + body.ang_vel_in(N).cross(-r * N.z)
    weight = [(centre, m * g * (sin(alpha) * N.x - cos(alpha) * N.z))]
    return lagrange(N, q, [ball], weight, nonhol_coneqs=[slip.dot(N.x), slip.dot(N.y)])


def cart_with_two_wheels() -> Any:
    """By Kane's method: the contact points of the wheels do not slip, which leaves two of five speeds."""
    q, u = moving("q1 x y q2 q3")
    heading, x, y, left, right = q
    mA, mB, IA, J, K, a, b, R, alpha = sp.symbols("mA mB IA J K a b R alpha")
    N, O = ground()
    A = N.orientnew("A", "Axis", [heading, N.z])
    A.set_ang_vel(N, u[0] * N.z)
    D = O.locatenew("D", x * N.x + y * N.y)
    D.set_vel(N, u[1] * N.x + u[2] * N.y)
    centre = D.locatenew("A*", a * A.y)
    centre.v2pt_theory(D, N, A)
    bodies = [me.RigidBody("cart", centre, A, mA, (me.inertia(A, 0, 0, IA), centre))]
    slips = []
    for name, turn, speed, side in (("B", left, u[3], b), ("C", right, u[4], -b)):
        wheel = A.orientnew(name, "Axis", [turn, A.x])
        wheel.set_ang_vel(A, speed * A.x)
        hub = D.locatenew(f"{name}*", side * A.x)
        hub.v2pt_theory(D, N, A)
        touching = hub.locatenew(f"{name}^", -R * A.z)
        slips.append((hub.vel(N) + wheel.ang_vel_in(N).cross(touching.pos_from(hub))).dot(A.y))
        bodies.append(me.RigidBody(name, hub, wheel, mB, (me.inertia(A, J, K, K), hub)))
    loads = [(body.masscenter, body.mass * g * (sin(alpha) * N.y - cos(alpha) * N.z)) for body in bodies]
    kinematic = [speed - coordinate.diff(T) for coordinate, speed in zip(q, u, strict=True)]
    found = me.KanesMethod(
        N, q_ind=q, u_ind=[u[0], u[2]], u_dependent=[u[1], u[3], u[4]], kd_eqs=kinematic,
        velocity_constraints=[D.vel(N).dot(A.x), *slips],
    )  # fmt: skip
    found.kanes_equations(bodies, loads)
    return found


def bicycle() -> Any:
    """By Kane's method: the rear contact is at rest, and the front one is held there by three conditions."""
    q, u = moving("yaw lean steer rear pitch front")
    yaw, lean, steer, _, pitch, _ = q
    mwr, mframe, mfork, mwf, Rr, Rf, h = sp.symbols("mwr mframe mfork mwf Rr Rf h")
    length, fork, offset, c1, c3, f1, f3 = sp.symbols("length fork offset c1 c3 f1 f3")
    N, contact = ground()
    Y = N.orientnew("Y", "Axis", [yaw, N.z])
    L = Y.orientnew("L", "Axis", [lean, Y.x])
    B = L.orientnew("B", "Axis", [pitch + h, L.y])  # the frame, with the axis of the steering head as its x axis
    K = B.orientnew("K", "Axis", [steer, B.x])
    rear, front = me.ReferenceFrame("rear"), me.ReferenceFrame("front")  # wheels: their turns do not matter
    for frame, before, speed in (
        (Y, N, u[0] * N.z), (L, Y, u[1] * Y.x), (B, L, u[4] * L.y), (K, B, u[2] * B.x), (rear, B, u[3] * B.y),
        (front, K, u[5] * K.y),
    ):  # fmt: skip
        frame.set_ang_vel(before, speed)
    hub = contact.locatenew("hub", Rr * L.z)
    head = hub.locatenew("head", length * B.z)
    rider = hub.locatenew("rider", -c1 * B.x + c3 * B.z)
    middle = head.locatenew("middle", -f1 * K.x + f3 * K.z)
    ahead = head.locatenew("ahead", fork * K.x + offset * K.z)
    touching = ahead.locatenew("touching", Rf * (K.y.dot(N.z) * K.y - N.z).normalize())
    points = (
        (hub, contact, rear), (head, hub, B), (rider, hub, B), (middle, head, K), (ahead, head, K),
        (touching, ahead, front),
    )  # fmt: skip
    for point, before, frame in points:
        point.v2pt_theory(before, N, frame)
    upright, straight = B.orientnew("B0", "Axis", [-h, B.y]), K.orientnew("K0", "Axis", [-h, K.y])
    Ir1, Ir2, If1, If2 = sp.symbols("Ir1 Ir2 If1 If2")
    Ib, Ik = (sp.symbols(f"I{x}1 I{x}2 I{x}3 I{x}31") for x in "bk")
    bodies = [
        me.RigidBody("rear", hub, rear, mwr, (me.inertia(B, Ir1, Ir2, Ir1), hub)),
        me.RigidBody("frame", rider, B, mframe, (me.inertia(upright, *Ib[:3], 0, 0, Ib[3]), rider)),
        me.RigidBody("fork", middle, K, mfork, (me.inertia(straight, *Ik[:3], 0, 0, Ik[3]), middle)),
        me.RigidBody("front", ahead, front, mwf, (me.inertia(K, If1, If2, If1), ahead)),
    ]
    found = me.KanesMethod(
        N, q_ind=[*q[:4], q[5]], q_dependent=[pitch], u_ind=u[1:4], u_dependent=[u[0], *u[4:]],
        kd_eqs=[b - a.diff(T) for a, b in zip(q, u, strict=True)],
        configuration_constraints=[touching.pos_from(contact).dot(N.z)],
        velocity_constraints=[touching.vel(N).dot(axis) for axis in (Y.x, Y.y, Y.z)],
        constraint_solver="CRAMER",  # elimination divides by an expression that is zero and not seen to be
    )  # fmt: skip
    found.kanes_equations(bodies, [(body.masscenter, -body.mass * g * N.z) for body in bodies])
    return found


def rolling_disc_without_multipliers() -> Any:
    """By Lagrange's method with the velocity of rolling put into the Lagrangian, which velocity constraints forbid."""
    q, _ = moving("yaw lean spin")
    m, r = sp.symbols("m r")
    N, contact = ground()
    _, _, turned, disc = _disc(q, N, contact)
    disc.masscenter.v2pt_theory(contact, N, turned)
    disc.potential_energy = m * g * r * cos(q[1])
    return lagrange(N, q, [disc])
