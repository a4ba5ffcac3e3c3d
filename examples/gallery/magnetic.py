"""A charge in a magnetic field and a slope: it drifts across the slope."""

import holonomy as hl

charge = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * (v @ v) + 2.0 * (q[0] * v[1] - q[1] * v[0]) - 0.5 * q[1],
    coordinates={"x": "length", "y": "length"},
)
run = hl.simulate(charge, [0.0, 0.0], [1.0, 0.0], 20.0, dt=0.02, method=hl.RK4())
run.plot("x", "y").savefig("magnetic.png")
