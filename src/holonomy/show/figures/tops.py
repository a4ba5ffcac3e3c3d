"""Two bodies on a plane: a rattleback that turns back, and a tippe top that turns over."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style


def rattleback() -> Reproduction:
    """The spin about the vertical and the rocking of a rattleback, spun against its preferred sense."""
    model, run = _moved("rattleback", 20)
    rates, up = _in_body(run)
    spin, tilt = np.sum(rates * up, axis=1), np.degrees(up[:, :2])
    with style():
        left, right, figure = _panels()
        left.axhline(0.0, color="0.6", lw=1)
        left.plot(run.t, spin, color=OKABE_ITO[0])
        left.set_ylabel("spin about the vertical (rad/s)")
        left.set_title("it stops and turns back", loc="left")
        right.plot(run.t, tilt[:, 1], color=OKABE_ITO[2], lw=0.8, label="about the long axis")
        right.plot(run.t, -tilt[:, 0], color=OKABE_ITO[1], lw=1.2, label="about the short axis")
        right.set_ylabel("rocking (degrees)")
        right.set_title("its rocking takes the energy, and gives it back", loc="left")
        right.legend(loc="upper left", fontsize=9)
        for axes in (left, right):
            axes.set_xlabel("$t$ (s)")
            axes.set_xlim(0.0, model.t_end)
    drift = float(np.ptp(run.energy) / run.energy[0])
    data = {"first_spin": float(spin[0]), "largest_spin": float(spin.max()), "energy_drift": drift}
    return Reproduction(figure, data)


def tippe_top() -> Reproduction:
    """The inclination of a tippe top, and where its energy goes."""
    from holonomy.symmetry.along_run import integrals

    model, run = _moved("tippe_top", 10)
    system = run.system
    angle = np.degrees(np.arccos(np.clip(_in_body(run)[1][:, 2], -1.0, 1.0)))
    work = integrals(run, lambda t, q, v: system.raw_force(t, q, v) @ v)[:, 0]
    lost = run.energy - run.energy[0]
    with style():
        left, right, figure = _panels()
        left.plot(run.t, angle, color=OKABE_ITO[0])
        left.set_ylabel("inclination of the axis (degrees)")
        left.set_ylim(0.0, 185.0)
        left.set_yticks([0, 45, 90, 135, 180])
        left.set_title("it turns over and stands on its stem", loc="left")
        right.plot(run.t, 1e3 * lost, color=OKABE_ITO[1], lw=3.0, label="change of the energy")
        right.plot(run.t, 1e3 * work, color="black", lw=1.0, ls="--", label="work of friction")
        right.set_ylabel("energy (mJ)")
        right.set_title("friction takes what the spin had", loc="left")
        right.legend(loc="upper right", fontsize=9)
        for axes in (left, right):
            axes.set_xlabel("$t$ (s)")
            axes.set_xlim(0.0, model.t_end)
    balance = float(np.max(np.abs(lost - work)) / run.energy[0])
    return Reproduction(figure, {"last_angle": float(angle[-1]), "balance": balance})


def _moved(name: str, every: int) -> tuple[Any, Any]:
    from holonomy.models import find
    from holonomy.motion import simulate

    model = find(name)
    return model, simulate(model(), model.q, model.v, model.t_end, dt=model.dt, save_every=every)


def _in_body(run: Any) -> tuple[np.ndarray, np.ndarray]:
    """The angular velocity and the vertical in the body."""
    import jax

    from holonomy.models.rigid_bodies import body_rate, vertical

    return np.asarray(jax.jit(jax.vmap(body_rate))(run.q, run.v)), np.asarray(jax.jit(jax.vmap(vertical))(run.q))


def _panels() -> tuple[Any, Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.4))
    left, right = figure.subplots(1, 2)
    return left, right, figure
