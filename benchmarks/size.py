"""A step of systems of many coordinates on one core, against the step that a person would write in JAX, in one run.

    python benchmarks/size.py [--cases lattice:8,bodies:100]

The hand-written step is RK4 with `jax.grad` of the same potential, in one `fori_loop`. Each case is a process of its
own that finds no code on disk. Memory is the growth of the process beyond what it held when the system was made.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

import holonomy as hl

CASES = (
    "lattice:8,lattice:28,lattice:50,lattice:100,lattice:316,lattice:1000,bodies:100,bodies:1000,"
    "string:10000,beam:10000,metric:200,chain:10,chain:100,chain:1000,chain:10000,chain:100000"
)
STEP = 1e-3
CHAIN_STEP = 0.05  # over the number of links, so that the fastest waves take many steps to a link
GRAVITY = 9.81
WORK = 4_000_000  # coordinates times steps in a measurement


def lattice(m: int) -> tuple[Any, Any, int, int]:
    """m × m masses with springs to their neighbours, and a quartic one to their place."""

    def potential(q: Any) -> Any:
        x = q.reshape(m, m)
        springs = jnp.sum((x[1:] - x[:-1]) ** 2) + jnp.sum((x[:, 1:] - x[:, :-1]) ** 2)
        return 0.5 * springs + 0.25 * jnp.sum(x**4)

    return lambda v: 0.5 * jnp.sum(v * v), potential, m * m, max(5, min(20_000, WORK // m**2))


def bodies(count: int) -> tuple[Any, Any, int, int]:
    """Bodies in space that attract each other, softened, all pairs."""

    def potential(q: Any) -> Any:
        x = q.reshape(count, 3)
        squares = jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)
        return -0.5 * jnp.sum(1 / jnp.sqrt(squares + 1e-2)) / count

    return lambda v: 0.5 * jnp.sum(v * v), potential, 3 * count, max(5, WORK // count**2)


def string(n: int) -> tuple[Any, Any, int, int]:
    """A string of n elements whose mass matrix is tridiagonal, as linear finite elements give it."""

    def kinetic(v: Any) -> Any:
        return 0.5 * jnp.sum(v * v) + jnp.sum(v[1:] * v[:-1]) / 6

    return kinetic, lambda q: 0.5 * jnp.sum((q[1:] - q[:-1]) ** 2) + 0.25 * jnp.sum(q**4), n, max(5, WORK // n // 4)


BESIDE = (1 / 6, 1 / 20, 1 / 50)  # the entries of a beam's mass matrix beside its diagonal


def beam(n: int) -> tuple[Any, Any, int, int]:
    """A beam whose constant mass matrix has three entries on each side of the diagonal."""

    def kinetic(v: Any) -> Any:
        return 0.5 * jnp.sum(v * v) + sum(c * jnp.sum(v[d:] * v[:-d]) for d, c in enumerate(BESIDE, 1))

    return kinetic, string(n)[1], n, max(5, WORK // n // 4)


def metric(n: int) -> tuple[Any, Any, int, int]:
    """Coordinates that are all coupled by a constant dense mass matrix."""
    matrix = dense_matrix(n)
    return lambda v: 0.5 * jnp.dot(v, matrix @ v), string(n)[1], n, max(5, WORK // n)


def dense_matrix(n: int) -> np.ndarray:
    """A positive definite matrix without zeros."""
    rows = np.random.default_rng(1).normal(size=(n, n)) / np.sqrt(n)
    return rows @ rows.T + np.eye(n)


KINDS = {"lattice": lattice, "bodies": bodies, "string": string, "beam": beam, "metric": metric}


def solved_by_hand(kind: str, n: int) -> Callable[[Any], Any]:
    """Solves with the mass matrix, which is factored before the first step."""
    if kind == "string":
        side = jnp.full(n, 1 / 6)
        lower, upper = side.at[0].set(0.0), side.at[-1].set(0.0)
        return lambda b: jax.lax.linalg.tridiagonal_solve(lower, jnp.ones(n), upper, b[:, None])[:, 0]
    if kind == "metric":
        factors = jnp.asarray(np.linalg.cholesky(dense_matrix(n)))
        return lambda b: jax.scipy.linalg.cho_solve((factors, True), b)
    if kind != "beam":
        return lambda b: b
    k = len(BESIDE)
    band = np.zeros((k + 1, n))
    band[k] = 1.0
    for d, c in enumerate(BESIDE, 1):
        band[k - d, d:] = c
    upper = scipy.linalg.cholesky_banded(band)  # row k - d holds the entries d beside the diagonal
    below, above = np.zeros((2, n, k))
    for d in range(1, k + 1):
        below[d:, d - 1] = above[:-d, d - 1] = upper[k - d, d:]

    def row(last: Any, given: Any) -> tuple[Any, Any]:
        couplings, right, pivot = given
        found = (right - jnp.dot(couplings, last)) / pivot
        return jnp.concatenate([found[None], last[:-1]]), found

    def solve(b: Any) -> Any:
        _, half = jax.lax.scan(row, jnp.zeros(k), (jnp.asarray(below), b, jnp.asarray(upper[k])))
        return jax.lax.scan(row, jnp.zeros(k), (jnp.asarray(above), half, jnp.asarray(upper[k])), reverse=True)[1]

    return solve


def by_hand(kind: str, potential: Any, n: int) -> Callable[..., Any]:
    """Many steps of RK4, written out."""
    slope, solve = jax.grad(lambda q: -potential(q)), solved_by_hand(kind, n)

    def force(q: Any) -> Any:
        return solve(slope(q))

    def step(_: Any, state: Any) -> Any:
        h = STEP
        q, v = state
        a = force(q)
        v2, a2 = v + h / 2 * a, force(q + h / 2 * v)
        v3, a3 = v + h / 2 * a2, force(q + h / 2 * v2)
        v4, a4 = v + h * a3, force(q + h * v3)
        return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a + 2 * a2 + 2 * a3 + a4)

    return jax.jit(lambda q, v, steps: jax.lax.fori_loop(0, steps, step, (q, v)))


def peak() -> float:
    """The most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def chain_by_hand(n: int) -> Callable[..., Any]:
    """Many steps of RK4 of a chain of n equal links in its angles, written out; tensions from a tridiagonal system."""
    length, mass = 1.0 / n, 1.0 / n

    def force(q: Any, v: Any) -> Any:
        along = jnp.stack([jnp.sin(q), -jnp.cos(q)], 1)
        across = jnp.stack([jnp.cos(q), jnp.sin(q)], 1)
        beside = jnp.sum(along[1:] * along[:-1], 1) / mass
        hung = jnp.concatenate([jnp.ones(1), jnp.full(n - 1, 2.0)]) / mass
        weight = jnp.concatenate([-GRAVITY * along[:1, 1], jnp.zeros(n - 1)])
        lower, upper = jnp.pad(-beside, (1, 0)), jnp.pad(-beside, (0, 1))
        tension = jax.lax.linalg.tridiagonal_solve(lower, hung, upper, (length * v * v + weight)[:, None])[:, 0]
        pull = along * tension[:, None]
        total = (jnp.pad(pull[1:], ((0, 1), (0, 0))) - pull) / mass
        relative = total - jnp.pad(total[:-1], ((1, 0), (0, 0)))
        relative = relative.at[0, 1].add(-GRAVITY)
        return jnp.sum(relative * across, 1) / length

    def step(_: Any, state: Any) -> Any:
        h = CHAIN_STEP / n
        q, v = state
        a = force(q, v)
        v2 = v + h / 2 * a
        a2 = force(q + h / 2 * v, v2)
        v3 = v + h / 2 * a2
        a3 = force(q + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = force(q + h * v3, v4)
        return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a + 2 * a2 + 2 * a3 + a4)

    return jax.jit(lambda q, v, steps: jax.lax.fori_loop(0, steps, step, (q, v)))


def hung(n: int) -> tuple[hl.System, Any, Any]:
    """`hl.Pendulum` of n equal links, of length 1 in all, and a start."""
    system = hl.Pendulum(np.full(n, 1.0 / n), np.full(n, 1.0 / n), gravity=GRAVITY)
    return system, np.linspace(0.5, 1.0, n), np.linspace(0.0, 1.0, n)


def chain(n: int) -> str:
    """A row for `hl.Pendulum` of n links."""
    system, q, v = hung(n)
    return row("chain", system, chain_by_hand(n), q, v, CHAIN_STEP / n, max(100, min(20_000, 4_000_000 // n)))


def timed(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - begin


def free(kind: str, size: int) -> tuple[hl.System, Any, Any]:
    """A system of a kind, and a random start."""
    kinetic, potential, n, _ = KINDS[kind](size)
    system = hl.System.from_lagrangian(lambda t, q, v: kinetic(v) - potential(q), space=hl.Euclidean(n))
    return system, *np.random.default_rng(0).normal(size=(2, n))


def measure(kind: str, size: int) -> str:
    """A row of the table."""
    _, potential, n, steps = KINDS[kind](size)
    return row(kind, *_with_hand(free(kind, size), by_hand(kind, potential, n)), STEP, steps)


def _with_hand(given: tuple[hl.System, Any, Any], hand: Any) -> tuple[hl.System, Any, Any, Any]:
    system, q, v = given
    return system, hand, q, v


METHODS: dict[str, hl.motion.AbstractMethod] = {"RK4": hl.RK4(), "Gauss(2)": hl.Gauss(2)}


def grown(kind: str, size: int, method: str) -> str:
    """The coordinates of a system, and by how many bytes the process grows through its first three steps."""
    system, q, v = hung(size) if kind == "chain" else free(kind, size)
    dt, before = CHAIN_STEP / size if kind == "chain" else STEP, peak()
    hl.simulate(system, q, v, 3 * dt, dt=dt, method=METHODS[method], save_at=[3 * dt])
    return f"{len(q)} {peak() - before:.0f}"


def memory(kind: str, sizes: tuple[int, int], method: str) -> str:
    """A row: vectors of n numbers for each further coordinate, and of all that the larger one grows by."""
    (few, small), (many, large) = (map(float, output("--grown", f"{kind}:{size}:{method}").split()) for size in sizes)
    each = (large - small) / (8 * (many - few))
    return f"| {kind} | {few:.0f} to {many:.0f} | {method} | {each:.0f} | {large / (8 * many):.0f} |"


def row(kind: str, system: hl.System, hand: Callable[..., Any], q: Any, v: Any, dt: float, steps: int) -> str:
    """A system's RK4 against the same by hand, beside its other methods."""
    n = len(q)

    def run(method: Any, count: int) -> hl.Run:
        return hl.simulate(system, q, v, count * dt, dt=dt, method=method, save_at=[count * dt])

    begin = time.perf_counter()
    first = run(hl.RK4(), 1)
    until = time.perf_counter() - begin
    end = hand(q, v, 3)
    error = np.max(np.abs(run(hl.RK4(), 3).q[-1] - np.asarray(end[0])))
    few, many, theirs = (min(times) for times in zip(*(_turn(run, hand, q, v, steps) for _ in range(5)), strict=True))
    ours, theirs = (many - few) / steps, theirs / steps
    verlet = "–" if kind == "chain" else f"{_each(run, hl.Verlet(), 4 * steps) / ours:.2f}"
    gauss = f"{_each(run, hl.Gauss(2), steps) / ours:.2f}"
    engine = dict(first.notes)["engine"].split(" ")[0]
    cells = (kind, n, f"{ours * 1e6:.2f}", engine, f"{theirs * 1e6:.2f}", f"{ours / theirs:.2f}", f"{error:.0e}")
    cells = (*cells, verlet, gauss, f"{until:.2f}")
    return "| " + " | ".join(str(c) for c in cells) + " |"


def _turn(run: Any, hand: Any, q: Any, v: Any, steps: int) -> tuple[float, float, float]:
    """Both in turn, so that they see the same machine."""
    return (
        timed(lambda: run(hl.RK4(), 1).q),
        timed(lambda: run(hl.RK4(), 1 + steps).q),
        timed(lambda: hand(q, v, steps)),
    )


def _each(run: Any, method: Any, steps: int) -> float:
    """Seconds a step of another method."""
    run(method, 1)
    few = min(timed(lambda: run(method, 1).q) for _ in range(3))
    return (min(timed(lambda: run(method, 1 + steps).q) for _ in range(3)) - few) / steps


def gas(side: int) -> str:
    """A row for side × side particles with springs up to a cutoff, in a periodic box: seconds of the processor."""
    n, box = side * side, 1.2 * side
    random = np.random.default_rng(0)
    x = 1.2 * np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(n, 2)
    x, v = x + random.uniform(-0.1, 0.1, x.shape), random.normal(size=x.shape)
    near = hl.Neighbours(x, 2.5, box=box)
    system = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - near.sum(x, lambda r, i, j: (2.5 - r) ** 2), coordinates={"x": (n, 2)}
    )

    def run(count: int) -> float:
        begin = time.process_time()
        hl.simulate(system, x, v, count * STEP, dt=STEP, method=hl.Verlet(), save_at=[count * STEP])
        return time.process_time() - begin

    first, steps = run(1), max(3, 100_000 // n)
    step = (min(run(1 + steps) for _ in range(2)) - min(run(1) for _ in range(2))) / steps
    return f"| {n} | {near.capacity} | {step * 1e3:.2f} | {step / n * 1e6:.2f} | {first:.1f} |"


GASES = (32, 100, 316)


def rope_by_hand(n: int, dt: float) -> Callable[..., Any]:
    """Many steps of Rattle of a chain of n unit masses on rods of length 1 / n, written out.

    Multipliers by Newton's method to round-off with tridiagonal matrices, velocities by one solve.
    """
    length = 1.0 / n
    rounding = 8 * np.finfo(float).eps / length  # of the squared length of a rod, whose ends have coordinates up to 1

    def solve(left: Any, middle: Any, right: Any, b: Any) -> Any:
        lower, upper = jnp.pad(left, (1, 0)), jnp.pad(right, (0, 1))
        return jax.lax.linalg.tridiagonal_solve(lower, middle, upper, b[:, None])[:, 0]

    def pulled(rods: Any, tension: Any) -> Any:
        """The sum of the pulls of the rods on each mass."""
        pull = rods * tension[:, None]
        return jnp.pad(pull, ((0, 1), (0, 0))) - jnp.pad(pull, ((1, 0), (0, 0)))

    def dots(a: Any, b: Any) -> tuple[Any, Any, Any]:
        """Minus the derivatives of a_i · (rod i) by the tensions along b: those before, at and after the diagonal."""
        return -jnp.sum(a[1:] * b[:-1], 1), 2 * jnp.sum(a * b, 1), -jnp.sum(a[:-1] * b[1:], 1)

    def step(_: Any, state: Any) -> Any:
        x, v = state
        rods = x[1:] - x[:-1]

        def newton(now: Any) -> Any:
            y, _, count = now
            new = y[1:] - y[:-1]
            gap = 0.5 * (jnp.sum(new * new, 1) - length**2)
            y = y + pulled(rods, solve(*dots(new, rods), gap))
            return y, jnp.max(jnp.abs(gap)) / length**2, count + 1

        start = (x + dt * v, jnp.asarray(1.0), 0)
        y, *_ = jax.lax.while_loop(lambda now: (now[1] > rounding) & (now[2] < 20), newton, start)
        u = (y - x) / dt
        new = y[1:] - y[:-1]
        return y, u + pulled(new, solve(*dots(new, new), jnp.sum(new * (u[1:] - u[:-1]), 1)))

    return jax.jit(lambda x, v, steps: jax.lax.fori_loop(0, steps, step, (x, v)))


def general_rope(n: int) -> hl.System:
    """The chain as a general system, its rods as one vectorised condition."""

    def rods(t: Any, x: Any) -> Any:
        return 0.5 * (jnp.sum((x[1:] - x[:-1]) ** 2, axis=1) - 1.0 / n**2)

    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v), coordinates={"x": (n, 3)})
    return free.constrained(holonomic=rods)


def rope(n: int, general: bool = False) -> str:
    """A row for a chain of n masses on rods in space, by Rattle(2), in processor time."""
    built = hl.models.bodies.chain(hl.Euclidean(3), n, 1.0 / n, rigid=True, mass=1.0)
    world, s = hl.World(hl.Euclidean(3), built.body), np.linspace(-1.0, 1.0, n)
    sideways = np.stack([0 * s, np.sin(3 * s), np.cos(2 * s)], 1)
    x, v = (np.asarray(world.points(z)) for z in world.project(0.0, built.points, sideways))
    dt, steps = 0.1 / n, max(5, 1_000_000 // n)
    system = general_rope(n) if general else world

    def run(count: int) -> Any:
        return hl.simulate(system, x, v, count * dt, dt=dt, method=hl.Rattle(2), save_at=[count * dt])

    def cost(call: Callable[[], Any]) -> float:
        begin = time.process_time()
        jax.block_until_ready(call())
        return time.process_time() - begin

    first = cost(lambda: run(1).q)
    hand = rope_by_hand(n, dt)
    error = np.max(np.abs(run(20).q[-1].reshape(n, 3) - np.asarray(hand(x, v, 20)[0])))
    many, few = (min(cost(lambda c=c: run(c).q) for _ in range(3)) for c in (1 + steps, 1))
    theirs = min(cost(lambda: hand(x, v, steps)) for _ in range(3)) / steps
    ours = (many - few) / steps
    name = "System" if general else "World"
    return f"| {name} | {n} | {ours * 1e6:.1f} | {theirs * 1e6:.1f} | {ours / theirs:.2f} | {error:.0e} | {first:.1f} |"


def main() -> None:
    """Print the table, or the row of one case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--one", help="a single case, in this process")
    parser.add_argument("--grown", help="the memory of a single case, in this process")
    options = parser.parse_args()
    if options.grown:
        kind, size, method = options.grown.split(":")
        print(grown(kind, int(size), method))
        return
    if options.one:
        kind, size = options.one.split(":")
        rows: dict[str, Callable[[int], str]] = {
            "gas": gas,
            "rope": rope,
            "chain": chain,
            "conditions": lambda n: rope(n, general=True),
        }
        print(rows[kind](int(size)) if kind in rows else measure(kind, int(size)))
        return
    print(
        "## Systems of many coordinates\n\nOne step on one core, from the Lagrangian; asked: ratio at most 0.7 up to "
        "10⁴ coordinates, 1.2 beyond.\n"
    )
    print(
        "| system | coordinates | RK4 µs | engine | by hand in XLA µs | ratio | difference | Verlet / RK4 | "
        "Gauss(2) / RK4 | first step s |"
    )
    print("| --- |" + " --- |" * 9, flush=True)
    for case in options.cases.split(","):
        print_row(case)
    print("\n`hl.Neighbours`: springs within a cutoff to about 13 others, periodic box; Verlet, processor time.\n")
    print("| particles | places in a cell | step ms | for each µs | first step s |\n| --- | --- | --- | --- | --- |")
    for side in GASES:
        print_row(f"gas:{side}")
    print("\nA rope of masses on rods in space with Rattle(2), as a `World` and as a general system, processor time.\n")
    print(
        "| system | masses | step µs | by hand in XLA µs | ratio | difference | first step s |\n| --- |" + " --- |" * 6
    )
    for count in (1000, 10_000):
        print_row(f"rope:{count}")
        print_row(f"conditions:{count}")
    print("\nMemory by which a process grows, in vectors of as many numbers as there are coordinates; asked: 50.\n")
    print("| system | coordinates | method | each further coordinate | all of the larger |\n| --- |" + " --- |" * 4)
    for kind, sizes in (("lattice", (316, 1000)), ("chain", (100_000, 1_000_000))):
        for method in METHODS:
            print(memory(kind, sizes, method), flush=True)


def print_row(case: str) -> None:
    """The row of a case, measured in a process of its own."""
    print(output("--one", case), flush=True)


def output(*options: str) -> str:
    """What this program prints with other options, or the end of its errors."""
    with tempfile.TemporaryDirectory() as empty:
        command, environment = [sys.executable, __file__, *options], {**os.environ, "HOLONOMY_CACHE": empty}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else done.stderr[-2000:]


if __name__ == "__main__":
    main()
