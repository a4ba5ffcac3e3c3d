"""Four rods pushed on a frictionless table: the shortest motion between two configurations, as a moving picture."""

from pathlib import Path

import numpy as np

import holonomy as hl

link = hl.Linkage(rods=4, base=3.0, rod_mass=0.2, hinge_mass=1.0)
start, goal = link.from_angles([0.4, 0.7]), link.from_angles([-0.3, 3.5])
motion = link.shortest(start, goal)[0]
meetings = link.conjugate_points(start, motion.velocity, 1.0)
print(f"length {motion.length:.12f}, {len(meetings)} conjugate points on the way")

points = link.geodesic(start, motion.velocity, np.linspace(0, 1, 60))
Path("out").mkdir(exist_ok=True)
print("written to", link.animate(points, "out/linkage.gif"))
