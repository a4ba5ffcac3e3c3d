"""A bead on a turning hoop: above a critical speed it leaves the lowest point (bifurcation diagram)."""

import numpy as np
from matplotlib.figure import Figure

import holonomy as hl

hoop = hl.models.rotating_hoop().forced(lambda t, q, v, p: -2.0 * v)
speeds = np.linspace(1.0, 8.0, 60)
figure = Figure(figsize=(6, 4))
axes = figure.add_subplot(xlabel="speed of the hoop (rad/s)", ylabel="angle of rest (rad)")
for start in (0.1, -0.1):
    many = hl.ensemble(hoop, [start], [0.0], 40.0, {"omega": speeds}, dt=0.02, method=hl.RK4(), save_every=2000)
    rest = many["theta"][:, -1]
    axes.plot(speeds, rest, "o", markersize=3)
expected = np.arccos(np.minimum(1.0, 9.81 / speeds**2))
axes.plot(speeds, expected, linewidth=0.8)
figure.savefig("hoop.png")
far = np.abs(speeds**2 - 9.81) > 1.0  # at the critical speed itself the bead never comes to rest
error = np.abs(np.abs(rest) - expected)[far].max()
print(f"critical speed {np.sqrt(9.81):.4f} rad/s; angles of rest differ from arccos(g/r omega^2) by {error:.1e}")
