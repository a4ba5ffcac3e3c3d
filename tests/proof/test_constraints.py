"""A million steps of rods: energy in a band that does not grow, constraints at round-off throughout."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.systems.constraints.examples import FOUR_BAR_START, double_rods, four_bar, from_angles, rod_pendulum

import holonomy as hl
from holonomy.show.style import OKABE_ITO, style

STEPS, DT = 10**6, 0.01
SYSTEMS = {
    "pendulum": (rod_pendulum, from_angles([1.2], [0.5])),
    "double pendulum": (double_rods, from_angles([1.2, 0.4], [0.5, 1.0])),
    "four-bar loop": (four_bar, tuple(np.asarray(x) for x in FOUR_BAR_START)),
}
METHODS = {
    "Rattle(2)": (hl.Rattle(2), DT, 1),
    "Rattle(4)": (hl.Rattle(4), DT, 1),
    "RK4 with projection": (hl.RK4(), DT, 20),
    "Adaptive(5, rtol=1e-7)": (hl.Adaptive(5, rtol=1e-7, atol=1e-7), 0.5, 1),
}


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_a_million_steps():
    found = {}
    for name, (system, start) in SYSTEMS.items():
        for label, (method, dt, every) in METHODS.items():
            run = hl.simulate(system, start[0], start[1], STEPS * DT, dt=dt, method=method, save_every=every)
            found[name, label] = (run.t, run.energy - run.energy[0], float(np.max(run.violation)))
    _picture(found)
    for (name, label), (_, error, violation) in found.items():
        assert violation < 1e-12, (name, label)
        tenth = len(error) // 10
        first, last = np.max(np.abs(error[:tenth])), np.max(np.abs(error[-tenth:]))
        if label.startswith("Rattle"):
            assert last < 1.2 * first, (name, label, "the band grows")
        if label.startswith("RK4"):
            assert last > 3 * first, (name, label, "projection alone should let the energy drift")


def _picture(found):
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(11, 3.9))
        for k, name in enumerate(SYSTEMS):
            axes = figure.add_subplot(1, len(SYSTEMS), k + 1)
            for colour, label in zip(OKABE_ITO, METHODS, strict=False):
                t, error, _ = found[name, label]
                edges = np.unique(np.round(np.logspace(0, np.log10(len(t) - 1), 120)).astype(int))
                worst = [np.max(np.abs(error[a:b])) for a, b in pairwise(edges)]
                axes.loglog(t[edges[1:]], np.maximum(worst, 1e-16), color=colour, label=label)
            axes.set_title(name)
            axes.set_xlabel("time (s)")
            axes.set_ylim(1e-15, 1e2)
        figure.axes[0].set_ylabel("energy error |E − E₀| (J)")
        figure.axes[0].legend(fontsize=8, loc="lower right")
        target = Path(__file__).resolve().parents[2] / "docs" / "images" / "constraints.png"
        figure.savefig(target)
