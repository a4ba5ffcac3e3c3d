"""Systems that several tests study; made once, so that their compiled code is shared."""

import numpy as np

import holonomy as hl

double = hl.Pendulum([1.0, 1.0], [1.0, 1.0])
CHAOTIC = ([2.0, 2.5], [0.0, 0.0])

henon_heiles = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * (v @ v) - 0.5 * (q @ q) - q[0] ** 2 * q[1] + q[1] ** 3 / 3, coordinates=("x", "y")
)


def on_section(energy, y, vy=0.0):
    """A state of Hénon and Heiles's system with x = 0, vx > 0 and this energy."""
    return [0.0, y], [np.sqrt(2 * energy - vy**2 - y**2 + 2 * y**3 / 3), vy]
