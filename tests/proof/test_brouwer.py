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
ECCENTRICITIES = (0.10, 0.12, 0.14, 0.16, 0.18, 0.20, 0.22, 0.24, 0.26, 0.28)


def energy_errors(marks):
    dt = 2 * np.pi / PER_PERIOD
    for e in ECCENTRICITIES:
        start = [1 - e, 0.0], [0.0, np.sqrt((1 + e) / (1 - e))]
        run = hl.simulate(kepler, *start, STEPS * dt, dt=dt, method=hl.Gauss(3), save_at=np.r_[0, marks] * dt)
        yield run.energy[1:] / run.energy[0] - 1


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_energy_error_grows_no_faster_than_the_root_of_time():
    marks = np.unique(np.round(np.logspace(3, 7, 81)).astype(np.int64))
    errors = np.array(list(energy_errors(marks)))
    rms = np.sqrt(np.mean(errors**2, axis=0))
    late = marks > 10**5  # before, the walk is shorter than one unit in the last place
    slope = np.polyfit(np.log(marks[late]), np.log(rms[late]), 1)[0]
    _picture(marks, errors, rms, slope, late)
    assert slope < 0.65, "a random walk has slope 1/2, a drift 1; with coefficients in one part this was 1"
    assert np.max(np.abs(errors)) < 2e-14


def _picture(marks, errors, rms, slope, late):
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(7, 4.6))
        axes = figure.add_subplot()
        for row in errors:
            axes.loglog(marks, np.maximum(np.abs(row), 1e-17), color=OKABE_ITO[5], linewidth=0.7)
        axes.loglog(
            marks,
            rms,
            color=OKABE_ITO[0],
            label=f"root mean square of {len(errors)} orbits, slope {slope:.2f} after $10^5$",
        )
        axes.loglog(
            marks,
            rms[late][0] * np.sqrt(marks / marks[late][0]),
            "--",
            color=OKABE_ITO[6],
            label="$\\sqrt{t}$ (Brouwer)",
        )
        axes.loglog(marks, rms[late][0] * marks / marks[late][0], ":", color=OKABE_ITO[1], label="$t$ (a drift)")
        axes.set_ylim(1e-17, 1e-11)
        axes.set_xlabel("steps")
        axes.set_ylabel("relative energy error")
        axes.set_title(f"Kepler, Gauss(3), {PER_PERIOD} steps a period", loc="left")
        axes.legend(loc="upper left")
        target = Path("out/proof")
        target.mkdir(parents=True, exist_ok=True)
        figure.savefig(target / "brouwer.png")
