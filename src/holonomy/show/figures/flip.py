"""A free rigid body spun about its middle axis turns over again and again (Dzhanibekov's flip)."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style
from holonomy.types import AnyArray

INERTIA = np.array([1.0, 2.0, 3.0])
SPIN = np.array([0.01, 2.0, 0.01])
END = 40.0


def body_rate(q: Any, v: Any) -> Any:
    """The angular velocity in the body: twice the vector part of the conjugate of q times its derivative."""
    import jax.numpy as jnp

    w, r = q[0], q[1:]
    return 2.0 * (w * v[1:] - v[0] * r - jnp.cross(r, v[1:]))


def body() -> Any:
    """The free rigid body on the rotation group, L = ½ Ω·IΩ."""
    import jax.numpy as jnp

    from holonomy.spaces import SO3
    from holonomy.systems import System

    return System.from_lagrangian(
        lambda t, q, v, p: 0.5 * jnp.dot(p.inertia, body_rate(q, v) ** 2),
        space=SO3(),
        parameters={"inertia": INERTIA},
    )


def make() -> Reproduction:
    """The angular velocity in the body over time, and the middle axis in space."""
    import jax
    from matplotlib.figure import Figure

    from holonomy.motion import simulate

    run = simulate(body(), [1.0, 0.0, 0.0, 0.0], 0.5 * np.r_[0.0, SPIN], END, dt=0.01)
    rates = np.asarray(jax.jit(jax.vmap(body_rate))(run.q, run.v))
    axis = _turned(run.q, np.array([0.0, 1.0, 0.0]))
    momentum = _turned(run.q, INERTIA * rates)
    with style():
        figure = Figure(figsize=(10.5, 4.4))
        left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
        for k in range(3):
            left.plot(run.t, rates[:, k], color=OKABE_ITO[k], label=f"$\\Omega_{k + 1}$, $I_{k + 1}$ = {INERTIA[k]:g}")
        left.set_xlabel("$t$ (s)")
        left.set_ylabel("angular velocity in the body (rad/s)")
        left.set_title("spun about the middle axis", loc="left")
        left.legend(loc="upper right", ncols=3, fontsize=9)
        left.set_ylim(-2.4, 3.1)
        right.plot(run.t, axis[:, 1], color=OKABE_ITO[1])
        right.set_xlabel("$t$ (s)")
        right.set_ylabel("middle axis · its first direction in space")
        right.set_title("it turns over, and back", loc="left")
        right.set_ylim(-1.1, 1.1)
    flips = int(np.sum(np.diff(np.sign(rates[:, 1])) != 0))
    drift = float(np.max(np.abs(momentum - momentum[0])))
    return Reproduction(figure, {"flips": flips, "momentum_drift": drift, "energy_drift": float(np.ptp(run.energy))})


def _turned(q: AnyArray, u: np.ndarray) -> np.ndarray:
    """Body vectors u in space, for quaternions q (one per row)."""
    u = np.broadcast_to(u, (len(q), 3))
    across = np.cross(q[:, 1:], u)
    return u + 2.0 * (q[:, :1] * across + np.cross(q[:, 1:], across))
