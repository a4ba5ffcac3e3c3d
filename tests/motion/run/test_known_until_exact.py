"""Until when chaotic and unstable runs are known, against exact states from 28-digit arithmetic."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest
from tests.reference.long_motions import MAGNETS, MOTIONS, TWINS, exact

import holonomy as hl
from holonomy.models.rigid_bodies import free_body


def _of_lagrangian(names, potential: Callable) -> hl.System:
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - potential(q), coordinates=names)


def _bodies(q):
    x = q.reshape(3, 2)
    return -sum(1 / jnp.sqrt(jnp.sum((x[i] - x[j]) ** 2) + 0.0625) for i, j in ((0, 1), (0, 2), (1, 2)))


def _magnets(q):
    return (q @ q) / 4 - sum(1 / jnp.sqrt(jnp.sum((q - jnp.array(m)) ** 2) + 0.0625) for m in MAGNETS)


def _driven() -> hl.System:
    system = _of_lagrangian({"theta": "angle"}, lambda q: -jnp.cos(q[0]))
    return system.forced(lambda t, q, v: jnp.array([1.2 * jnp.cos(0.6875 * t)]) - 0.5 * v)


def _double() -> hl.System:
    return hl.Pendulum([1.0, 1.0], [1.0, 1.0])


SYSTEMS = {
    "double pendulum": _double,
    "double pendulum, thrown": _double,
    "Hénon-Heiles": lambda: _of_lagrangian(("x", "y"), lambda q: (q @ q) / 2 + q[0] ** 2 * q[1] - q[1] ** 3 / 3),
    "three bodies": lambda: _of_lagrangian(tuple(f"q{i}" for i in range(6)), _bodies),
    "driven pendulum": _driven,
    "inverted pendulum": lambda: _of_lagrangian({"theta": "angle"}, lambda q: -9.81 * jnp.cos(q[0])),
    "elastic pendulum": lambda: _of_lagrangian(("x", "y"), lambda q: 20 * (jnp.sqrt(q @ q) - 1) ** 2 + 9.81 * q[1]),
    "magnetic pendulum": lambda: _of_lagrangian(("x", "y"), _magnets),
    "rigid body": lambda: free_body(1.0, 2.0, 3.0),
    "rod": lambda: hl.World(hl.Sphere(3), hl.models.bodies.rod(hl.Sphere(3), mass=1.0, stiffness=1.0).body),
}
CASES = [
    ("double pendulum", hl.Gauss(3), 2**-8),
    ("double pendulum", hl.Gauss(3), 2**-6),
    ("double pendulum", hl.RK4(), 2**-7),
    ("double pendulum, thrown", hl.Gauss(3), 2**-7),
    ("Hénon-Heiles", hl.Gauss(3), 2**-4),
    ("Hénon-Heiles", hl.Splitting(4), 2**-5),
    ("three bodies", hl.Gauss(3), 2**-6),
    ("three bodies", hl.Adaptive(rtol=1e-9, atol=1e-9), 2**-3),
    ("driven pendulum", hl.RK4(), 2**-5),
    ("inverted pendulum", hl.Gauss(3), 2**-6),
    ("elastic pendulum", hl.RK4(), 2**-9),
    ("elastic pendulum", hl.Gauss(3), 2**-6),
    ("magnetic pendulum", hl.Gauss(3), 2**-7),
    ("rigid body", hl.Gauss(2), 2**-7),
    ("rod", hl.Splitting(4), 2**-6),
]


def lost(run: hl.Run, rows: np.ndarray) -> float:
    """The time at which the run is a thousandth of the size of the motion off these exact states."""
    t, exact_q = rows[:, 0], rows[:, 1:]
    q = run.q[:, : exact_q.shape[1]]
    size = np.maximum(np.ptp(exact_q, axis=0), 1e-3)
    size = np.minimum(size, 2 * np.pi) if run.kinds[0] == "angle" else np.full_like(size, np.max(size))
    gap = np.max(np.abs(q - exact_q) / size, axis=1)
    k = int(np.argmax(gap > 1e-3))
    assert k > 0, f"the run is known to the end: {gap[-1]:.1e}"
    way = np.log(1e-3 / gap[k - 1]) / np.log(gap[k] / gap[k - 1])
    return float(t[k - 1] + way * (t[k] - t[k - 1]))


def _marked(case):
    """Two of the cases decide by default; the others run with the long tests."""
    soon = case[0] == "inverted pendulum" or case == CASES[1]
    return pytest.param(*case, marks=() if soon else pytest.mark.proof, id=f"{case[0]}, {case[1].label}, {case[2]}")


@pytest.mark.parametrize(("name", "method", "dt"), [_marked(case) for case in CASES])
def test_the_time_until_which_a_run_is_known_is_that_of_the_exact_motion(name, method, dt) -> None:
    motion, rows = MOTIONS[name], np.array(exact()[name])
    system = SYSTEMS[name]()
    n = system.space.point_dim
    q0, v0 = np.array(motion.start[:n]), np.array(motion.start[n:])
    if name == "rigid body":
        v0 = 0.5 * np.array([0.0, *motion.start[4:]])
    run = hl.simulate(system, q0, v0, motion.t_end, dt=dt, method=method)
    every = round((len(run.t) - 1) / (len(rows) - 1))
    true = TWINS.get(name) or lost(run[::every], rows)
    assert run.known_until() == pytest.approx(true, rel=0.12)
