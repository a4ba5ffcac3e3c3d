"""Brouwer's law: at round-off, errors of the energy do a random walk."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.show.style import OKABE_ITO, style

kepler = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) + 1.0 / jnp.sqrt(jnp.dot(q, q)), coordinates=("x", "y")
)
STEPS = 10**7
PER_PERIOD = 900  # so short that the method's own error is far below round-off
ECCENTRICITIES = (0.1, 0.13, 0.16, 0.19, 0.22, 0.25)


def energy_errors(marks):
    dt = 2 * np.pi / PER_PERIOD
    for e in ECCENTRICITIES:
        start = [1 - e, 0.0], [0.0, np.sqrt((1 + e) / (1 - e))]
        run = hl.simulate(kepler, *start, STEPS * dt, dt=dt, method=hl.Gauss(3), save_at=np.r_[0, marks] * dt)
        yield run.energy[1:] / run.energy[0] - 1


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_energy_error_grows_like_the_root_of_time():
    marks = np.unique(np.round(np.logspace(3, 7, 81)).astype(np.int64))
    errors = np.array(list(energy_errors(marks)))
    rms = np.sqrt(np.mean(errors**2, axis=0))
    slope = np.polyfit(np.log(marks), np.log(rms), 1)[0]
    _picture(marks, errors, rms, slope)
    assert 0.3 < slope < 0.7, "a drift would have slope 1"
    assert np.max(np.abs(errors)) < 5e-12


def _picture(marks, errors, rms, slope):
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(7, 4.6))
        axes = figure.add_subplot()
        for row in errors:
            axes.loglog(marks, np.maximum(np.abs(row), 1e-17), color=OKABE_ITO[5], linewidth=0.7)
        axes.loglog(
            marks, rms, color=OKABE_ITO[0], label=f"root mean square of {len(errors)} orbits, slope {slope:.2f}"
        )
        axes.loglog(marks, rms[0] * np.sqrt(marks / marks[0]), "--", color=OKABE_ITO[6], label="$\\sqrt{t}$ (Brouwer)")
        axes.loglog(marks, rms[0] * marks / marks[0], ":", color=OKABE_ITO[1], label="$t$ (a drift)")
        axes.set_ylim(1e-17, 1e-11)
        axes.set_xlabel("steps")
        axes.set_ylabel("relative energy error")
        axes.set_title(f"Kepler, Gauss(3), {PER_PERIOD} steps a period", loc="left")
        axes.legend(loc="upper left")
        target = Path("out/proof")
        target.mkdir(parents=True, exist_ok=True)
        figure.savefig(target / "brouwer.png")
