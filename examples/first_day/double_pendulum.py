"""A double pendulum as a moving picture."""

import holonomy as hl

pendulum = hl.models.double_pendulum(m2=2.0)
run = hl.simulate(pendulum, {"theta1": 2.5, "theta2": 2.0}, [0.0, 0.0], 3.0, dt=0.01)
print(run.certificate)
run.animate("double_pendulum.gif", fps=10, size=320)
run.plot("x2", "y2").savefig("double_pendulum.png")
