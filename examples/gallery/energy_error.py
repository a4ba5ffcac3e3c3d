"""The energy of a planet by a symplectic method and by RK4 with the same step."""

import numpy as np

import holonomy as hl

axes = None
for method in (hl.RK4(), hl.Gauss(2)):
    run = hl.simulate(hl.models.kepler(), [0.4, 0.0], [0.0, 2.0], 100.0, dt=0.05, method=method)
    figure = run.plot("energy", ax=axes)
    axes = figure.axes[0]
    print(method, np.ptp(run.energy))
figure.savefig("energy_error.png")
