"""A Poincaré section of the Hénon–Heiles system: order and chaos at one energy."""

import numpy as np

import holonomy as hl

stars = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * (v @ v) - 0.5 * (q @ q) - q[0] ** 2 * q[1] + q[1] ** 3 / 3, coordinates=("x", "y")
)
axes = None
for y in (-0.1, 0.1, 0.25, 0.4):
    speed = np.sqrt(2 / 8 - y**2 + 2 * y**3 / 3)  # of energy 1/8
    crossings = hl.section(stars, [0.0, y], [speed, 0.0], 3000.0, lambda t, q, v: q[0], dt=0.1, method=hl.RK4())
    figure = crossings.plot("y", "y_dot", ax=axes)
    axes = figure.axes[0]
figure.savefig("section.png")
