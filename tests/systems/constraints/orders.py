"""Observed orders of position, velocity and multipliers; `python -m tests.constraints.orders` prints the table."""

import functools

import numpy as np
from tests.motion.examples import pendulum
from tests.systems.constraints.examples import from_angles, rod_pendulum, skate, skate_on_slope

import holonomy as hl

SPAN = 1.0
LOOKS = np.linspace(0.25, SPAN, 4) * 1.0
OMEGA = 1.7

# the method and the largest of three halved steps, small enough for the leading term, large enough for round-off
HOLONOMIC = [
    (hl.Rattle(2), 1 / 64),
    (hl.Rattle(4), 1 / 32),
    (hl.Rattle(6), 1 / 16),
    (hl.Radau(2, at="end"), 1 / 128),
    (hl.Radau(3, at="end"), 1 / 32),
    (hl.Radau(2, at="stages"), 1 / 128),
    (hl.Radau(3, at="stages"), 1 / 32),
    (hl.RK4(), 1 / 64),
    (hl.SymplecticEuler(), 1 / 1024),
    (hl.Euler(), 1 / 1024),
]
VELOCITY = [
    (hl.Gauss(1), 1 / 64),
    (hl.Gauss(2), 1 / 32),
    (hl.Gauss(3), 1 / 8),
    (hl.Radau(2, at="end"), 1 / 64),
    (hl.Radau(3, at="end"), 1 / 16),
    (hl.Radau(2, at="stages"), 1 / 64),
    (hl.Radau(3, at="stages"), 1 / 16),
    (hl.RK4(), 1 / 64),
    (hl.SymplecticEuler(), 1 / 1024),
    (hl.Euler(), 1 / 1024),
]


@functools.cache
def rod_reference():
    """The rod's motion from that of an angle, by a method of order 12, and its multipliers from formula."""
    run = hl.simulate(pendulum, [1.2], [0.5], SPAN, dt=1 / 64, method=hl.Gauss(6), save_at=LOOKS)
    states = [from_angles(q, v) for q, v in zip(run.q, run.v, strict=True)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    # towards the pivot: centripetal force and the weight's part along the rod
    tension = np.sum(v * v, axis=1) - 9.81 * q[:, 1]
    return q, v, -tension[:, None]


@functools.cache
def skate_reference():
    """The closed form of the skate on a slope; the blade's force balances what is left across it."""
    slope = float(skate.parameters.slope)
    q = np.stack([skate_on_slope(t, slope, OMEGA) for t in LOOKS])
    phase = OMEGA * LOOKS
    size = slope / (2 * OMEGA)
    v = np.stack([size * np.sin(2 * phase), size * (1 - np.cos(2 * phase)), np.full(len(LOOKS), OMEGA)], axis=1)
    across = np.stack([np.sin(phase), -np.cos(phase)], axis=1)
    acceleration = slope * np.stack([np.cos(2 * phase), np.sin(2 * phase)], axis=1)
    gravity = np.array([slope, 0.0])
    force = 2.0 * np.sum((acceleration - gravity) * across, axis=1)
    return q, v, force[:, None]


def observed(method, dt, kind):
    """Orders of q, v and λ from three steps, each half of the one before."""
    system, exact = (rod_pendulum, rod_reference()) if kind == "holonomic" else (skate, skate_reference())
    q, v = from_angles([1.2], [0.5]) if kind == "holonomic" else (np.zeros(3), np.array([0.0, 0.0, OMEGA]))
    errors = []
    for k in (1, 2, 4):
        run = hl.simulate(system, q, v, SPAN, dt=dt / k, method=method, save_at=LOOKS)
        found = (run.q, run.v, run.multipliers)
        errors.append([np.max(np.abs(a - b)) for a, b in zip(found, exact, strict=True)])
    return np.log2(np.array(errors[1]) / np.array(errors[2])), errors


def row(label, kind, orders):
    """A row of the docs' table."""
    return f"| `{label}` | {kind} | " + " | ".join(f"{x:.0f}" for x in orders) + " |"


def table():
    """Every row of the docs' table."""
    return [
        row(method.label, kind, observed(method, dt, kind)[0])
        for kind, methods in (("holonomic", HOLONOMIC), ("velocity", VELOCITY))
        for method, dt in methods
    ]


if __name__ == "__main__":
    for kind, methods in (("holonomic", HOLONOMIC), ("velocity", VELOCITY)):
        for method, dt in methods:
            orders, errors = observed(method, dt, kind)
            print(row(method.label, kind, orders), np.round(orders, 3), np.array(errors[2]))
