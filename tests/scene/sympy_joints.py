"""Test systems of `sympy.physics.mechanics` that are chains of joints; see `sympy_systems`."""

from __future__ import annotations

from typing import Any

import sympy as sp
from tests.scene.sympy_systems import g, joined, me, moving


def inverted_pendulum_on_a_cart() -> Any:
    (q, theta), (u, w) = moving("q theta")
    mc, m, length, moment, F = sp.symbols("mc m l I F")
    rail, cart = me.RigidBody("rail"), me.RigidBody("cart", mass=mc)
    bar = me.RigidBody("bar", mass=m)
    bar.central_inertia = me.inertia(bar.frame, 0, 0, moment)
    system = me.System.from_newtonian(rail)
    system.add_joints(
        me.PrismaticJoint("slide", rail, cart, q, u, joint_axis=rail.x),
        me.PinJoint("hinge", cart, bar, theta, w, child_point=-length * bar.y, joint_axis=cart.z),
    )
    system.apply_uniform_gravity(-g * rail.y)
    system.add_loads(me.Force(cart, F * rail.x))
    return joined(system)


def chaos_pendulum() -> Any:
    (theta, phi), (w, a) = moving("theta phi")
    mA, mB, lA, lB, IA, IBx, IBy, IBz = sp.symbols("mA mB lA lB IA IBx IBy IBz")
    ceiling, rod, plate = me.RigidBody("ceiling"), me.RigidBody("rod", mass=mA), me.RigidBody("plate", mass=mB)
    rod.central_inertia = me.inertia(rod.frame, IA, IA, 0)
    plate.central_inertia = me.inertia(plate.frame, IBx, IBy, IBz)
    system = me.System.from_newtonian(ceiling)
    system.add_joints(
        me.PinJoint("J1", ceiling, rod, theta, w, child_point=-lA * rod.z, joint_axis=ceiling.y),
        me.PinJoint("J2", rod, plate, phi, a, parent_point=(lB - lA) * rod.z, joint_axis=rod.z),
    )
    system.apply_uniform_gravity(g * ceiling.z)
    return joined(system)


def prismatic_joints() -> Any:
    (q1, q2), (u1, u2) = moving("q1 q2")
    m, k1, k2, c1, c2 = sp.symbols("m k1 k2 c1 c2")
    wall, one, two = me.RigidBody("wall"), me.RigidBody("one", mass=m), me.RigidBody("two", mass=m)
    system = me.System.from_newtonian(wall)
    system.add_joints(me.PrismaticJoint("J1", wall, one, q1, u1), me.PrismaticJoint("J2", one, two, q2, u2))
    for before, after, push in ((wall, one, k1 * q1 + c1 * u1), (one, two, k2 * q2 + c2 * u2)):
        system.add_loads(me.Force(before, push * wall.x), me.Force(after, -push * wall.x))
    return joined(system)


def four_bar() -> Any:
    q, u = moving("q1 q2 q3")
    l1, l2, l3, l4, rho = sp.symbols("l1 l2 l3 l4 rho")
    base = me.RigidBody("base", mass=0)
    system = me.System.from_newtonian(base)
    last, tip = base, base.masscenter
    for i, size in enumerate((l2, l3, l4)):
        link = me.RigidBody(f"link{i}", mass=rho * size)
        link.central_inertia = me.inertia(link.frame, 0, 0, rho * size**3 / 12)
        system.add_joints(
            me.PinJoint(
                f"J{i}", last, link, q[i], u[i], parent_point=tip, child_point=-size / 2 * link.x, joint_axis=last.z
            )
        )
        last, tip = link, link.masscenter.locatenew(f"tip{i}", size / 2 * link.x)
    loop = tip.pos_from(base.masscenter) + l1 * base.x
    system.add_holonomic_constraints(loop.dot(base.x), loop.dot(base.y))
    system.q_ind, system.q_dep = q[:1], q[1:]
    system.u_ind, system.u_dep = u[:1], u[1:]
    return joined(system)


def cylindrical_joint() -> Any:
    (z, psi, theta), (uz, upsi, utheta) = moving("z psi theta")
    m1, m2, length, J, I1, I2, I3, k = sp.symbols("m1 m2 l J I1 I2 I3 k")
    base, body, arm = me.RigidBody("base"), me.RigidBody("body", mass=m1), me.RigidBody("arm", mass=m2)
    body.central_inertia = me.inertia(body.frame, 0, 0, J)
    arm.central_inertia = me.inertia(arm.frame, I1, I2, I3)
    system = me.System.from_newtonian(base)
    system.add_joints(
        me.CylindricalJoint("shaft", base, body, psi, z, upsi, uz, joint_axis=base.z),
        me.PinJoint("hinge", body, arm, theta, utheta, child_point=length * arm.z, joint_axis=-body.y),
    )
    system.apply_uniform_gravity(-g * base.z)
    system.add_loads(me.Force(body, -k * z * base.z))
    return joined(system)


def planar_joint() -> Any:
    (x, y, alpha, beta), (ux, uy, ua, ub) = moving("x y alpha beta")
    m1, m2, d, length, I1, I2, F, k, c = sp.symbols("m1 m2 d l I1 I2 F k c")
    base, body, arm = me.RigidBody("base"), me.RigidBody("body", mass=m1), me.RigidBody("arm", mass=m2)
    body.central_inertia, arm.central_inertia = me.inertia(body.frame, 0, 0, I1), me.inertia(arm.frame, 0, 0, I2)
    # the joint turns about the x axis of its frames and slides along y and z
    inside, outside = me.ReferenceFrame("inside"), me.ReferenceFrame("outside")
    inside.orient_explicit(base.frame, sp.Matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    outside.orient_explicit(body.frame, sp.Matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    system = me.System.from_newtonian(base)
    plane = me.PlanarJoint(
        "plane", base, body, alpha, [x, y], ua, [ux, uy], parent_interframe=inside, child_interframe=outside
    )
    hinge = me.PinJoint(
        "hinge", body, arm, beta, ub, parent_point=d * body.x, child_point=-length * arm.x, joint_axis=body.z
    )
    system.add_joints(plane, hinge)
    system.add_loads(me.Force(body, F * base.x), *_couple(body, arm, (-k * beta - c * ub) * base.z))
    return joined(system)


def _couple(one: Any, two: Any, torque: Any) -> tuple[Any, Any]:
    return me.Torque(two, torque), me.Torque(one, -torque)


def spherical_joint() -> Any:
    q, u = moving("a b c")
    m, length = sp.symbols("m l")
    moments = sp.symbols("I1 I2 I3 I12 I23 I31")
    base, body = me.RigidBody("base"), me.RigidBody("body", mass=m)
    body.central_inertia = me.inertia(body.frame, *moments)
    system = me.System.from_newtonian(base)
    system.add_joints(
        me.SphericalJoint(
            "ball", base, body, q, u, child_point=length * body.z, rot_type="BODY", amounts=q, rot_order="XYZ"
        )
    )
    system.apply_uniform_gravity(-g * base.z)
    return joined(system)


def geared_discs() -> Any:
    (q1, q2), (u1, u2) = moving("q1 q2")
    I1, I2, T1, T2, c = sp.symbols("I1 I2 T1 T2 c")
    base, one, two = me.RigidBody("base"), me.RigidBody("one"), me.RigidBody("two")
    one.central_inertia, two.central_inertia = me.inertia(one.frame, 0, 0, I1), me.inertia(two.frame, 0, 0, I2)
    pins = (
        me.PinJoint("J1", base, one, q1, u1, joint_axis=base.z),
        me.PinJoint("J2", one, two, q2, u2, joint_axis=one.z),
    )
    system = me.System.from_newtonian(base)
    system.add_joints(*pins)
    system.add_actuators(
        me.TorqueActuator.at_pin_joint(T1, pins[0]), me.TorqueActuator.at_pin_joint(T2 - c * u2, pins[1])
    )
    return joined(system)
