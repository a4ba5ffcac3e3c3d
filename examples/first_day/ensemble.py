"""A thousand double pendulums with slightly different starts: when are they spread over all angles?"""

import numpy as np

import holonomy as hl

pendulum = hl.models.double_pendulum()
starts = np.random.default_rng(0).normal([2.0, 2.0], 1e-3, (1000, 2))
many = hl.ensemble(pendulum, starts, [0.0, 0.0], 10.0, dt=0.01, method=hl.RK4(), save_every=5)
spread = np.quantile(many["theta2"], 0.95, axis=0) - np.quantile(many["theta2"], 0.05, axis=0)
first = many.t[0, np.argmax(spread > np.pi)]
print(many.certificate)
print(f"nine tenths of them span half a turn from t = {first:.2f} s on")
many.plot().savefig("ensemble.png")
