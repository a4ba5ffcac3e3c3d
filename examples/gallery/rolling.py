"""A car with two trailers, a snakeboard driven from rest, a particle that leaves a sphere."""

import matplotlib.pyplot as plt
import numpy as np

import holonomy as hl

figure, panels = plt.subplots(1, 3, figsize=(11, 3.8), width_ratios=(1, 1.5, 1), constrained_layout=True)
car = hl.models.car_with_trailers(2)
run = hl.simulate(car, np.zeros(5), [1.0, 0.0, 0.7, 0.0, 0.0], 6.0, dt=0.02)
panels[0].plot(*run.x[:, 0].T, *run.x[:, 1].T, *run.x[:, 2].T, linewidth=1)
for k in range(0, len(run), 60):
    panels[0].plot(*run.x[k].T, "o-k", markersize=3, alpha=0.6)
board = hl.simulate(hl.models.driven_snakeboard(), np.zeros(3), np.zeros(3), 4.0, dt=0.01)
panels[1].plot(*board.x[:, 0].T, *board.x[:, 1].T)
slide = hl.simulate(hl.models.sphere_slide(), [0.0, 1.0], [0.5, 0.0], 0.95, dt=0.005)
panels[2].add_patch(plt.Circle((0, 0), 1.0, color="0.85"))
panels[2].plot(slide["x"], slide["y"])
panels[2].plot(*slide.events.q[slide.events.of("release")[0]], "o")
for axes, title in zip(panels, ("car with two trailers", "snakeboard", "off a sphere"), strict=True):
    axes.set(title=title, xlabel="$x$ (m)", ylabel="$y$ (m)", aspect="equal")
figure.savefig("rolling.png")
