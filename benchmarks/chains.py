"""A step of RK4 on chains of N links, one core: ours in the angles, MuJoCo's on the same chain, in one run.

`hl.Pendulum` brings an acceleration of its own, in time proportional to N; MuJoCo solves the same mechanics for any
tree of bodies. Times are of many steps from Python, divided by their number.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import time
from collections.abc import Callable

import numpy as np

import holonomy as hl

COUNTS = (2, 10, 100, 1000, 10_000)
STEP = 1e-5
PEER_LARGEST = 100


def best(run: Callable[[], object], times: int = 5) -> float:
    run()
    found = np.inf
    for _ in range(times):
        begin = time.perf_counter()
        run()
        found = min(found, time.perf_counter() - begin)
    return found


def ours(n: int) -> tuple[float, float, str]:
    """Seconds a step, seconds until the first step is done, and the engine."""
    system = hl.Pendulum(np.full(n, 1.0 / n), np.full(n, 1.0 / n))
    q, v = np.linspace(0.5, 1.0, n), np.zeros(n)
    steps = max(20, 200_000 // n)

    def run(count: int) -> hl.Run:
        return hl.simulate(system, q, v, count * STEP, dt=STEP, method=hl.RK4(), save_at=[count * STEP])

    begin = time.perf_counter()
    first = run(1)
    until = time.perf_counter() - begin
    few, many = best(lambda: run(1)), best(lambda: run(1 + steps))
    return (many - few) / steps, until, dict(first.notes)["engine"].split(" ")[0]


def theirs(n: int) -> float:
    """Seconds a step of MuJoCo's RK4 on the chain of point-like bobs on massless rods; nan where it is not there."""
    try:
        import mujoco
    except ImportError:
        return float("nan")
    length, mass = 1.0 / n, 1.0 / n
    body = ""
    for k in reversed(range(n)):
        at = f"0 0 {0.0 if k == 0 else -length}"
        body = (
            f'<body pos="{at}"><joint type="hinge" axis="0 1 0"/>'
            f'<inertial pos="0 0 {-length}" mass="{mass}" diaginertia="1e-9 1e-9 1e-9"/>{body}</body>'
        )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="RK4" timestep="{STEP}" gravity="0 0 -9.81"><flag contact="disable"/></option>'
        f"<worldbody>{body}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = np.diff(np.linspace(0.5, 1.0, n), prepend=0.0)
    steps = max(20, 20_000 // n)

    def run() -> None:
        mujoco.mj_step(model, data, steps)

    return best(run) / steps


def main() -> None:
    print("## Chains of N links\n\nOne step of RK4 on one core.\n")
    print("| links | ours µs | engine | µs a link | MuJoCo µs | ratio | asked | first step s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for n in COUNTS:
        step, until, engine = ours(n)
        peer = theirs(n) if n <= PEER_LARGEST else float("nan")
        asked = "0.2" if n <= PEER_LARGEST else "linear"
        other = ("–", "–") if np.isnan(peer) else (f"{peer * 1e6:.1f}", f"{step / peer:.3f}")
        cells = (n, f"{step * 1e6:.2f}", engine, f"{step * 1e6 / n:.3f}", *other, asked, f"{until:.2f}")
        print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
