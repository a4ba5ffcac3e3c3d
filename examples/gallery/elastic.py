"""The path of a pendulum on a spring."""

import holonomy as hl

model = hl.models.elastic_pendulum
run = hl.simulate(model(), model.q, model.v, 15.0, dt=0.01, method=hl.RK4())
run.plot("x", "y").savefig("elastic.png")
