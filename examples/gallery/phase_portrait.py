"""The phase portrait of a pendulum: swinging inside of the separatrix, turning outside."""

import numpy as np

import holonomy as hl

speeds = np.linspace(-9.0, 9.0, 19)[:, None]
many = hl.ensemble(hl.models.simple_pendulum(), [0.0], speeds, 3.0, dt=0.01, method=hl.RK4())
many.plot("theta", "omega").savefig("phase_portrait.png")
