"""A planet on an ellipse: ten turns, and how far the ellipse itself has turned."""

import numpy as np

import holonomy as hl

planet = hl.models.kepler()
run = hl.simulate(planet, {"x": 0.4, "y": 0.0}, {"x": 0.0, "y": 2.0}, 20 * np.pi, dt=0.02, method="Gauss(3)")
momentum = run["x"] * run["y_dot"] - run["y"] * run["x_dot"]
print(run.certificate)
print(f"angular momentum changed by {np.ptp(momentum):.1e}, the planet ends at {run.q[-1]}")
run.plot("x", "y").savefig("kepler.png")
