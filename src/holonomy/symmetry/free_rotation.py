r"""The free rigid body by quadrature.

In principal axes with \(I_1 \le I_2 \le I_3\) (or the other way round) the momentum \(M = I\Omega\) circles the third
axis, and Euler's equations have the solution \(\Omega = (a_1\,\mathrm{cn}\,u, \pm a_2\,\mathrm{sn}\,u,
a_3\,\mathrm{dn}\,u)\) with \(u = \nu t + u_0\). The body's first axis then turns about the momentum, which is constant
in space, at the rate \(\dot\varphi = |M|(I_2\Omega_2^2 + I_3\Omega_3^2)/(M_2^2 + M_3^2)\), a smooth periodic function
whose Fourier series is integrated.

Reference: Landau and Lifshitz, *Mechanics*, §37; Montgomery, *How much does the rigid body rotate?*, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import ellipj, ellipk, ellipkinc

from holonomy.spaces import SO3
from holonomy.symmetry.fourier import antiderivative
from holonomy.symmetry.natural import Natural, refuse_not_quadratic, refuse_others
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import Numbers

_SAME = 1e-10  # of the largest moment of inertia: what it may change from one rotation to another
_STEADY = 1e-15  # of |M||Ω|: a torque of inertia that is rounding
_SEPARATRIX = 1e-12  # of the parameter of the elliptic functions: nearer to 1 the period is infinite


@dataclass(frozen=True)
class FreeRotation:
    r"""A motion of a free rigid body.

    `moments` are its principal moments of inertia and `axes` the principal axes in the body, as columns; the third one
    is that which the momentum circles. `period` is that of the angular velocity in the body, after which the body has
    turned by `turn` about its momentum; `energy` and `momentum`, a vector in space, are constants. `motion(t)` gives
    rotations as unit quaternions and their derivatives.
    """

    moments: Float[np.ndarray, " 3"]
    axes: Float[np.ndarray, "3 3"]
    period: float
    turn: float
    energy: float
    momentum: Float[np.ndarray, " 3"]
    body: _Body | _Steady = field(repr=False)

    def rates(self, t: Numbers) -> Float[np.ndarray, "*times 3"]:
        """The angular velocity in the body at times t."""
        return self.body.rates(np.asarray(t, float)) @ self.axes.T

    def motion(self, t: Numbers) -> tuple[Float[np.ndarray, "*times 4"], Float[np.ndarray, "*times 4"]]:
        """Unit quaternions and their derivatives at times t, from the start at t = 0."""
        times = np.asarray(t, float)
        q = _times(self.body.turned(times), _conjugate(_quaternion(self.axes)))
        rate = self.rates(times)
        return q, 0.5 * _times(q, np.concatenate([np.zeros_like(rate[..., :1]), rate], axis=-1))


def free_rotation(system: System, q0: Any, v0: Any) -> FreeRotation:
    """The motion of a free rigid body from a state; see `quadrature`."""
    inertia = _inertia(system)
    q = np.asarray(vector("q", q0, (4,), system), float)
    v = np.asarray(vector("v", v0, (4,), system), float)
    q = q / np.linalg.norm(q)
    rate = 2 * _times(_conjugate(q), v)[1:]
    momentum = inertia @ rate
    size = float(np.linalg.norm(momentum))
    if not size > 0:
        raise ValueError("The body does not turn at the start, so that there is no motion to find.")
    moments, axes = _principal(inertia, rate)
    turning, first = axes.T @ rate, _times(q, _quaternion(axes))
    steady = np.linalg.norm(np.cross(momentum, rate)) <= _STEADY * size * np.linalg.norm(rate)
    body = _Steady(turning, first) if steady else _Body.started(moments, turning, first)
    space = _rotated(q, momentum)
    return FreeRotation(moments, axes, body.period, body.turn, float(rate @ momentum) / 2, space, body)


@dataclass(frozen=True)
class _Body:
    """Rates in principal axes by elliptic functions, and the angle about the momentum by a Fourier series."""

    size: np.ndarray  # a₁, ±a₂, a₃
    moments: np.ndarray
    nu: float
    first: float
    modulus: float
    mean: float = 0.0
    waves: tuple[np.ndarray, np.ndarray] = (np.zeros(0), np.zeros(0))
    frame: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))  # from the momentum's axis

    @property
    def half(self) -> float:
        """Half the period of the rates, which is the period of their squares."""
        return float(2 * ellipk(self.modulus) / self.nu)

    @property
    def period(self) -> float:
        """The period of the rates."""
        return 2 * self.half

    @property
    def turn(self) -> float:
        """The angle about the momentum in one period."""
        return self.mean * self.period

    @staticmethod
    def started(moments: np.ndarray, rate: np.ndarray, q: np.ndarray) -> _Body:
        """The motion from a rate in principal axes and the rotation of these."""
        i1, i2, i3 = moments
        # the differences 2E I₃ - M² and M² - 2E I₁ without cancellation
        upper = i1 * (i3 - i1) * rate[0] ** 2 + i2 * (i3 - i2) * rate[1] ** 2
        lower = i2 * (i2 - i1) * rate[1] ** 2 + i3 * (i3 - i1) * rate[2] ** 2
        nu = float(np.sqrt((i3 - i2) * lower / (i1 * i2 * i3)))
        modulus = float((i2 - i1) * upper / ((i3 - i2) * lower))
        if not modulus < 1 - _SEPARATRIX:
            raise ValueError(
                "The body turns on the separatrix, 2E = M²/I₂, where it comes near its middle axis for ever; the "
                "motion has no period. Choose another start."
            )
        size = np.sqrt([upper / (i1 * (i3 - i1)), upper / (i2 * (i3 - i2)), lower / (i3 * (i3 - i1))])
        size = size * [1.0, np.sign(i3 - i2), 1.0]
        phase = np.arctan2(rate[1] / size[1], rate[0] / size[0])
        found = _Body(size, moments, nu, float(ellipkinc(phase, modulus)), modulus)
        mean, waves = antiderivative(lambda theta: found.about(theta / (2 * np.pi) * found.half), "this start")
        found = replace(found, mean=mean, waves=waves)
        return replace(found, frame=_times(q, _conjugate(found.turned(np.zeros(())))))

    def rates(self, t: np.ndarray) -> np.ndarray:
        """The angular velocity in principal axes."""
        sn, cn, dn, _ = ellipj(self.nu * t + self.first, self.modulus)
        return self.size * np.stack([cn, sn, dn], axis=-1)

    def about(self, t: np.ndarray) -> np.ndarray:
        """The rate at which the first axis turns about the momentum."""
        rate = self.rates(t)
        square = (self.moments * rate) ** 2
        size = np.sqrt(np.sum(square, axis=-1))
        return size * (rate[..., 1:] ** 2 @ self.moments[1:]) / (square[..., 1] + square[..., 2])

    def angle(self, t: np.ndarray) -> np.ndarray:
        """The angle about the momentum since t = 0."""
        cosines, sines = self.waves
        waves = np.multiply.outer(2 * np.pi * t / self.half, np.arange(1, len(cosines) + 1))
        share = self.half / (2 * np.pi)
        return np.asarray(self.mean * t + share * ((np.cos(waves) - 1) @ cosines + np.sin(waves) @ sines))

    def turned(self, t: np.ndarray) -> np.ndarray:
        """The rotation of the principal axes."""
        momentum = self.moments * self.rates(t)
        up = momentum / np.linalg.norm(momentum, axis=-1, keepdims=True)
        half = 0.5 * self.angle(t)
        zero = np.zeros_like(half)
        about = np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1)
        return _times(self.frame, _times(about, _upright(up)))


@dataclass(frozen=True)
class _Steady:
    """Constant rates: about a principal axis, or about any axis of a ball."""

    rate: np.ndarray
    first: np.ndarray

    @property
    def period(self) -> float:
        """The time of a full turn."""
        return float(2 * np.pi / np.linalg.norm(self.rate))

    @property
    def turn(self) -> float:
        """A full turn."""
        return 2 * np.pi

    def rates(self, t: np.ndarray) -> np.ndarray:
        """The same angular velocity at all times."""
        return np.broadcast_to(self.rate, (*t.shape, 3))

    def turned(self, t: np.ndarray) -> np.ndarray:
        """The rotation of the principal axes."""
        speed = np.linalg.norm(self.rate)
        half = 0.5 * speed * t
        about = np.multiply.outer(np.sin(half), self.rate / speed)
        return _times(self.first, np.concatenate([np.cos(half)[..., None], about], axis=-1))


def _upright(up: np.ndarray) -> np.ndarray:
    """The rotation that takes `up` to the third axis and the first axis into the plane of the first and third.

    For directions with a positive third component, where its quaternion has a positive real part.
    """
    across = np.stack([1 - up[..., 0] ** 2, -up[..., 0] * up[..., 1], -up[..., 0] * up[..., 2]], axis=-1)
    across = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return _quaternion(np.stack([across, np.cross(up, across), up], axis=-2))


def _principal(inertia: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes, ordered so that the momentum circles the third axis, near whose positive side it is."""
    moments, axes = np.linalg.eigh(inertia)
    turning = axes.T @ rate
    # M² - 2E I₂, whose sign says which axis is circled
    outer = moments * (moments - moments[1]) * turning**2
    if np.sum(outer) < 0:
        moments, axes = moments[::-1], axes[:, ::-1]
    axes = axes * np.array([1.0, 1.0, 1.0 if axes[:, 2] @ rate >= 0 else -1.0])
    axes = axes * np.array([1.0, np.sign(np.linalg.det(axes)), 1.0])
    return moments, axes


def _inertia(system: System) -> np.ndarray:
    if not isinstance(system.space, SO3):
        raise ValueError(f"A start of a state is for free rigid bodies, systems on SO3; this one is on {system.space}.")
    refuse_others(system, "hl.quadrature")
    found = []
    for _, q, _ in states(system, 3):
        local = system.local(jnp.asarray(q))
        refuse_not_quadratic(local, np.zeros(3), "hl.quadrature")
        parts = Natural(local)
        zero = jnp.zeros(3)
        found.append(np.append(np.asarray(parts.metric(zero)), [parts.rest(zero), *parts.linear(zero)]))
    first, spread = found[0], np.max(np.ptp(found, axis=0))
    if spread > _SAME * np.max(np.abs(first)) or np.max(np.abs(first[10:])) > _SAME * np.max(np.abs(first)):
        raise ValueError(
            "The body is not free: its energy depends on its rotation, or its Lagrangian has a part of first degree in "
            "v. A heavy symmetric top reduces to one degree of freedom in Euler angles by hl.routh."
        )
    return first[:9].reshape(3, 3)


def _times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Products of quaternions."""
    p, q = np.broadcast_arrays(p, q)
    real = p[..., 0] * q[..., 0] - np.sum(p[..., 1:] * q[..., 1:], axis=-1)
    rest = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([real[..., None], rest], axis=-1)


def _conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def _rotated(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _times(_times(q, np.append(0.0, v)), _conjugate(q))[1:]


def _quaternion(m: np.ndarray) -> np.ndarray:
    """Unit quaternions with a real part that is not negative, of rotation matrices."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat()
    q = flat[:, [3, 0, 1, 2]].reshape(*m.shape[:-2], 4)
    return q * np.where(q[..., :1] < 0, -1.0, 1.0)
