"""A ball that bounces until it rests: infinitely many impacts in a finite time."""

import numpy as np

import holonomy as hl

ball = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], coordinates={"z": "length"}
).constrained(unilateral=lambda t, q: q, restitution=0.7)
run = hl.simulate(ball, [1.0], [0.0], 4.0, dt=0.01)
impacts = run.events.t[run.events.of("impact")]
first = np.sqrt(2 / 9.81)
end = first * (1 + 0.7) / (1 - 0.7)  # the sum of the geometric series of flight times
rest = run.events.t[run.events.of("contact")][0]
print(f"{len(impacts)} impacts, the first at {impacts[0]:.12f} s ({first:.12f}); at rest from {rest:.6f} s ({end:.6f})")
run.plot("z").savefig("bouncing_ball.png")
