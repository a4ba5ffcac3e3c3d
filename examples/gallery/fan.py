"""Forty double pendulums of slightly different lengths, as a fan."""

import numpy as np

import holonomy as hl

lengths = np.linspace(0.95, 1.05, 40)
many = hl.ensemble(hl.models.double_pendulum(), [1.5, 1.0], [0.0, 0.0], 6.0, {"l1": lengths}, dt=0.01, method=hl.RK4())
many.plot("theta2", spread="fan").savefig("fan.png")
