"""Thesis, appendix E: how far one turn of a pendulum turns the raft that carries it."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

MASS, INERTIA, BOB, LENGTH = 2.0, 0.7, 1.3, 0.9
ANGLES = np.linspace(0.05, np.pi / 2, 16)


def make() -> Reproduction:
    """Dots: the holonomy of one turn at each polar angle; line: the closed form."""
    from matplotlib.figure import Figure

    from holonomy.locomotion import Gait, perform
    from holonomy.models import raft

    mover = raft(MASS, INERTIA, BOB, LENGTH)
    turned = [perform(mover, Gait.fourier([a, 0.0], turns=[0, 1])).displacement[2] for a in ANGLES]
    fine = np.linspace(0.0, np.pi / 2, 200)
    with style():
        figure = Figure(figsize=(6.6, 4.4))
        axes = figure.subplots()
        axes.plot(np.degrees(fine), np.degrees(_known(fine)), color=OKABE_ITO[0], label=r"$-2\pi J/(I+J)$")
        axes.plot(np.degrees(ANGLES), np.degrees(turned), "o", color=OKABE_ITO[1], label="holonomy of one turn")
        axes.set_xlabel("polar angle of the pendulum (degrees)")
        axes.set_ylabel("turn of the raft (degrees)")
        axes.set_title("A pendulum driven once around turns its raft the other way", fontsize=12)
        axes.legend()
    gap = float(np.abs(np.array(turned) - _known(ANGLES)).max())
    return Reproduction(figure, {"angle": ANGLES, "turn": np.array(turned), "largest difference": gap})


def _known(angle: np.ndarray) -> np.ndarray:
    j = BOB * MASS / (BOB + MASS) * (LENGTH * np.sin(angle)) ** 2
    return -2 * np.pi * j / (INERTIA + j)
