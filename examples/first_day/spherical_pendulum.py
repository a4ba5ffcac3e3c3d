"""A spherical pendulum on its sphere: points of R³, no angles, no pole."""

import numpy as np

import holonomy as hl

ball = hl.System.from_lagrangian(
    lambda t, x, v: 0.5 * v @ v - 9.81 * x[2], coordinates=("x", "y", "z"), space=hl.Sphere(2)
)
start, velocity = [np.sin(1.2), 0.0, -np.cos(1.2)], [0.0, 0.8, 0.0]
run = hl.simulate(ball, start, velocity, 10.0, dt=0.01)
spin = run["x"] * run["y_dot"] - run["y"] * run["x_dot"]
print(run.certificate)
print(f"off the sphere by {np.abs(np.linalg.norm(run.q, axis=1) - 1).max():.1e}; spin changed by {np.ptp(spin):.1e}")
run.plot("x", "y", "z").savefig("spherical_pendulum.png")
