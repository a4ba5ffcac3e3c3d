"""An overview on a dark background."""

import holonomy as hl

run = hl.simulate(hl.models.double_pendulum(), [2.2, 1.0], [0.0, 0.0], 12.0, dt=0.01, method=hl.RK4())
run.plot(dark=True).savefig("dark.png")
