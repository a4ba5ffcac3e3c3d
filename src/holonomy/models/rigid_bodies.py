r"""Rigid bodies: free, with a fixed point, and on a horizontal plane that they touch in one point.

A rotation is a unit quaternion \(e = (e_0, e_1, e_2, e_3)\) that takes the body's axes to those of space, with the
angular velocity in the body \(\Omega = 2\,\bar e\dot e\). A body on a plane has besides the horizontal place (x, y) of
its centre of mass; its height follows from the contact. Let \(\gamma\) be the vertical in the body and
\(\rho(\gamma)\) the point of its surface where the outer normal is \(-\gamma\), seen from the centre of mass: that
point touches the plane, the centre of mass is at the height \(-\gamma\cdot\rho\), and the surface moves there with the
horizontal velocity \(u = (\dot x, \dot y) + R(\Omega\times\rho)\), the velocity of slip. Bodies that roll have
\(u = 0\), and bodies that slide a friction along \(-u\).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces import SO3, Euclidean, Product
from holonomy.spaces import quaternion as qt
from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.types import Scalar, Vector

Space: TypeAlias = Float[Array, " 3"]
Contact: TypeAlias = Callable[[Space, Parameters], Space]
Inertia: TypeAlias = Callable[[Parameters], Float[Array, "3 3"]]

_TURN = {f"e{i}": "number" for i in range(4)}
_PLACE = {**_TURN, "x": "length", "y": "length"}


def body_rate(q: Vector, v: Vector) -> Space:
    """The angular velocity in the body."""
    return 2.0 * qt.multiply(qt.conjugate(q[:4]), v[:4])[1:]


def vertical(q: Vector) -> Space:
    """The upward vertical in the body."""
    return qt.rotate(qt.conjugate(q[:4]), jnp.array([0.0, 0.0, 1.0]))


def free_body(i1: float, i2: float, i3: float) -> System:
    r"""\(L = \tfrac12(I_1\Omega_1^2 + I_2\Omega_2^2 + I_3\Omega_3^2)\) on SO(3)."""

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        return jnp.dot(_moments(p), body_rate(q, v) ** 2) / 2

    return System.from_lagrangian(
        lagrangian, _TURN, {"i1": i1, "i2": i2, "i3": i3}, space=SO3(), positions=lambda t, q, p: _axes(q)
    )


def heavy_top(m: float, l: float, i1: float, i2: float, i3: float, g: float) -> System:  # noqa: E741
    r"""\(L = \tfrac12\Omega\cdot I\Omega - m g l\,\gamma_3\) on SO(3), about a fixed point of the third axis.

    The moments of inertia are those about the fixed point; \(I_1 = I_2\) is Lagrange's top.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        kinetic = jnp.dot(_moments(p), body_rate(q, v) ** 2) / 2
        return kinetic - p["m"] * p["g"] * p["l"] * vertical(q)[2]

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "1 3"]:
        return (p["l"] * _axes(q)[2])[None, :]

    parameters = {"m": m, "l": l, "i1": i1, "i2": i2, "i3": i3, "g": g}
    return System.from_lagrangian(lagrangian, _TURN, parameters, space=SO3(), positions=positions)


def rattleback(
    m: float, a: float, b: float, c: float, h: float, i1: float, i2: float, i3: float, delta: float, g: float
) -> System:
    r"""An ellipsoid with half axes a, b, c that rolls without slipping on a plane.

    Its centre of mass is on the third axis, h below the centre. The principal axes of inertia, with the moments
    \(I_1, I_2, I_3\), are turned by \(\delta\) about the third axis against the axes of the ellipsoid: it prefers one
    sense of turning, and spun in the other one it rocks, stops and turns back.
    """

    def contact(up: Space, p: Parameters) -> Space:
        squares = jnp.stack([p["a"], p["b"], p["c"]]) ** 2
        return -squares * up / jnp.sqrt(jnp.dot(squares, up**2)) + p["h"] * jnp.array([0.0, 0.0, 1.0])

    def inertia(p: Parameters) -> Float[Array, "3 3"]:
        cos, sin, zero = jnp.cos(p["delta"]), jnp.sin(p["delta"]), jnp.zeros(())
        turn = jnp.stack([jnp.stack([cos, -sin, zero]), jnp.stack([sin, cos, zero]), jnp.array([0.0, 0.0, 1.0])])
        return (turn * _moments(p)[None, :]) @ turn.T

    parameters = {"m": m, "a": a, "b": b, "c": c, "h": h, "i1": i1, "i2": i2, "i3": i3, "delta": delta, "g": g}
    system = on_plane(contact, inertia, parameters)
    return system.constrained(velocity=lambda t, q, v, p: slip(contact, q, v, p))


def tippe_top(m: float, r: float, d: float, i1: float, i3: float, mu: float, u0: float, g: float) -> System:
    r"""A ball of radius r that slides on a plane, its centre of mass d below its centre on the axis of symmetry.

    Friction is \(-\mu N u/\sqrt{u^2 + u_0^2}\), Coulomb's law made smooth below the slip \(u_0\), with the pressure N
    of the plane, which follows from the condition that the ball neither leaves the plane nor sinks into it. Spun fast,
    it turns over and stands on its stem.
    """

    def contact(up: Space, p: Parameters) -> Space:
        return jnp.stack([jnp.zeros(()), jnp.zeros(()), p["d"]]) - p["r"] * up

    def inertia(p: Parameters) -> Float[Array, "3 3"]:
        return jnp.diag(jnp.stack([p["i1"], p["i1"], p["i3"]]))

    parameters = {"m": m, "r": r, "d": d, "i1": i1, "i3": i3, "mu": mu, "u0": u0, "g": g}
    return on_plane(contact, inertia, parameters).forced(sliding_friction(contact, inertia))


def ball_on_plate(m: float, r: float, i: float, omega: float, k: float) -> System:
    r"""A ball of moment of inertia I that rolls without slipping on a plate that turns with the rate \(\omega\).

    A spring of stiffness k pulls its centre to the axis of the plate. Without it the centre moves on a circle with the
    rate \(\omega I/(I + mr^2)\), 2/7 of that of the plate for a solid ball.
    """

    def contact(up: Space, p: Parameters) -> Space:
        return -p["r"] * up

    def inertia(p: Parameters) -> Float[Array, "3 3"]:
        return p["i"] * jnp.eye(3)

    def rolling(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Float[Array, " 2"]:
        return slip(contact, q, v, p) - p["omega"] * jnp.stack([-q[5], q[4]])

    parameters = {"m": m, "r": r, "i": i, "omega": omega, "k": k, "g": 0.0}
    system = on_plane(contact, inertia, parameters, lambda q, p: p["k"] * jnp.dot(q[4:], q[4:]) / 2)
    return system.constrained(velocity=rolling)


def on_plane(
    contact: Contact,
    inertia: Inertia,
    parameters: dict[str, float],
    potential: Callable[[Vector, Parameters], Scalar] | None = None,
) -> System:
    r"""A body that touches a horizontal plane, free to slide:
    \(L = \tfrac12 m(\dot x^2 + \dot y^2 + \dot z^2) + \tfrac12\Omega\cdot I\Omega - mgz\), \(z = -\gamma\cdot\rho\).

    **Arguments:** `contact`, the point \(\rho(\gamma, p)\) of the surface with the outer normal \(-\gamma\), from the
    centre of mass, and `inertia`, the matrix I(p), both in the body's axes; `parameters`, with m and g among them;
    `potential` V(q, p), a further energy. Positions are those of the centre of mass and of the contact.
    """

    def lagrangian(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Scalar:
        up, rate = vertical(q), body_rate(q, v)
        point = contact(up, p)
        rise = -jnp.dot(up, jnp.cross(rate, point))
        kinetic = p["m"] * (v[4] ** 2 + v[5] ** 2 + rise**2) / 2 + jnp.dot(rate, inertia(p) @ rate) / 2
        energy = kinetic + p["m"] * p["g"] * jnp.dot(up, point)
        return energy if potential is None else energy - potential(q, p)

    def positions(t: Scalar, q: Vector, p: Parameters) -> Float[Array, "2 3"]:
        up = vertical(q)
        point = contact(up, p)
        centre = jnp.append(q[4:], -jnp.dot(up, point))
        return jnp.stack([centre, centre + qt.rotate(q[:4], point)])

    space = Product(SO3(), Euclidean(2))
    return System.from_lagrangian(lagrangian, _PLACE, parameters, space=space, positions=positions)


def slip(contact: Contact, q: Vector, v: Vector, p: Parameters) -> Float[Array, " 2"]:
    """The horizontal velocity of the body's surface at the contact."""
    turned = qt.rotate(q[:4], jnp.cross(body_rate(q, v), contact(vertical(q), p)))
    return v[4:] + turned[:2]


def sliding_friction(
    contact: Contact, inertia: Inertia
) -> Callable[[Scalar, Vector, Vector, Parameters], Float[Array, " 6"]]:
    r"""Smoothed Coulomb friction at the contact as a generalised force, with mu and u0 among the parameters.

    The plane acts with \(N(\gamma - \mu d)\), d the direction of slip. With \(m\ddot z = N - mg\) and
    \(I\dot\Omega = N\rho\times(\gamma - \mu d) - \Omega\times I\Omega\) the condition \(z = -\gamma\cdot\rho\),
    differentiated twice, is one linear equation for N.
    """

    def force(t: Scalar, q: Vector, v: Vector, p: Parameters) -> Float[Array, " 6"]:
        up, rate, sliding = vertical(q), body_rate(q, v), slip(contact, q, v, p)
        along = sliding / jnp.sqrt(jnp.dot(sliding, sliding) + p["u0"] ** 2)
        pressure = normal_force(contact, inertia, up, rate, qt.rotate(qt.conjugate(q[:4]), jnp.append(along, 0.0)), p)
        rub = -p["mu"] * pressure * along
        return jax.grad(lambda w: jnp.dot(rub, slip(contact, q, w, p)))(v)

    return force


def normal_force(contact: Contact, inertia: Inertia, up: Space, rate: Space, along: Space, p: Parameters) -> Scalar:
    """The pressure of the plane on a body that slides in the direction `along`, all vectors in the body's axes."""
    point, moments = contact(up, p), inertia(p)

    def rise(vertical: Space) -> Scalar:
        return -jnp.dot(vertical, jnp.cross(rate, contact(vertical, p)))

    changed = jax.jvp(rise, (up,), (jnp.cross(up, rate),))[1]
    lever = jnp.cross(point, up)
    by_force = jnp.linalg.solve(moments, jnp.cross(point, up - p["mu"] * along))
    by_turning = jnp.linalg.solve(moments, jnp.cross(rate, moments @ rate))
    return (p["g"] + changed + jnp.dot(lever, by_turning)) / (1 / p["m"] + jnp.dot(lever, by_force))


def _moments(p: Parameters) -> Space:
    return jnp.stack([p["i1"], p["i2"], p["i3"]])


def _axes(q: Vector) -> Float[Array, "3 3"]:
    """The body's axes in space, one row each."""
    return qt.to_matrix(q[:4]).T
