"""Bodies in curved space: time for a unit of simulated time, and vertex-steps a second of a cloth in H³.

    python benchmarks/bodies.py [--rows 32,316] [--steps 1000] [--only rods]

The published research code needs 500 ms (rod in S³, error 5e-14), 390 ms (rod in H³, 2e-10) and 0.9 to 1.1 s (triangle)
for a unit of time with its Gauss method of order 6 at dt = 0.01, and 2 to 12 s for rigid rod and triangle with its
three-stage Radau method at dt = 0.01. A cloth has springs along both directions of its grid, two for each vertex; the
step is Splitting(2). Chains of rods take steps of Rattle(2); free balls fill one twentieth of S³.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy.spatial import KDTree

import holonomy as hl
from holonomy.models import bodies
from holonomy.show.figures import body_examples
from holonomy.spaces import Carried
from holonomy.systems.bodies.placing import placed
from holonomy.systems.bodies.world import settled

SHORT, LONG = 10.0, 400.0  # of simulated time: the difference leaves out what a call costs once


def seconds(call: Callable[[], Any]) -> float:
    """The least of three."""
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - begin)
    return min(found)


def elastic(where: str, shape: str, dt: float) -> str:
    """A row of the first table."""
    world, begin = body_examples.world(where, shape), body_examples.start(where, shape)

    def run(end: float) -> Any:
        return hl.simulate(world, *begin, end, dt=dt, method=hl.Splitting(8), save_at=[0.0, end])

    first = seconds(lambda: run(SHORT).q)
    each = (seconds(lambda: run(LONG).q) - first) / (LONG - SHORT)
    times = np.array([0.0, SHORT])
    side, ends = list(body_examples.SIDES[shape].items())[-1]
    error = abs(float(run(SHORT).distance(*ends)[-1]) - float(body_examples.exact(where, shape, times)[side][-1]))
    return f"| {shape} in {where}³ | {dt:g} | {1e3 * each:.4f} | {error:.1e} |"


def cloth(rows: int) -> str:
    """A row of the second table."""
    space = hl.Hyperbolic(3)
    sheet = bodies.cloth(space, rows, rows, 1.0 / rows, shear=False, stiffness=100.0)
    world = hl.World(space, sheet.body)
    velocities = world.killing_velocities(sheet.points, boost_x=1.0)
    steps = max(64, 20_000_000 // rows**2 // 32 * 32)

    def run(count: int) -> Any:
        return hl.simulate(
            world, sheet.points, velocities, count * 1e-3, dt=1e-3, method=hl.Splitting(2), save_at=[0.0, count * 1e-3]
        )

    begin = time.perf_counter()
    run(32)
    first = time.perf_counter() - begin
    few, many = seconds(lambda: run(32).q), seconds(lambda: run(32 + steps).q)
    each = (many - few) / steps
    drift = run(32 + steps).certificate.energy_drift_relative
    count = rows * rows
    return f"| {count} | {count / each:.2e} | {1e9 * each / count:.1f} | {first:.1f} | {drift:.1e} |"


def rigid(where: str, shape: str, dt: float) -> str:
    """A row of the table of rigid bodies: time, and errors of the multipliers and of the positions at t = 10."""
    world, begin = body_examples.rigid_world(where, shape), body_examples.start(where, shape)

    def run(end: float) -> Any:
        return hl.simulate(world, *begin, end, dt=dt, method=hl.Rattle(6), save_at=[0.0, end])

    first, far = seconds(lambda: run(SHORT).q), 250.0  # the points of H³ can be told up to 300 radii from the start
    each = (seconds(lambda: run(far).q) - first) / (far - SHORT)
    found = run(SHORT)
    across = -0.5 * np.sinh(1.0) if where == "H" else 0.5 * np.sin(1.0)
    force = abs(float(found.multipliers[-1, -1]) - across)
    flow = body_examples.SPACES[where].isometries()[body_examples.FLOWS[where]]
    last = np.asarray(world.space.points(found.q[-1]) if isinstance(world.space, Carried) else found.q[-1])
    truth = np.ravel([flow(SHORT, x) for x in begin[0]])
    place = float(np.max(np.abs(last - truth)) / np.max(np.abs(truth)))
    return f"| {shape} in {where}³ | {dt:g} | {1e3 * each:.3f} | {force:.1e} | {place:.1e} |"


def chain_of_rods(space: Any, count: int) -> tuple[hl.World, np.ndarray, np.ndarray]:
    """A chain of rods that begins to bend: its world, points and velocities."""
    built = bodies.chain(space, count + 1, 2.0 / count, rigid=True, mass=1.0 / count)
    world, s = hl.World(space, built.body), np.linspace(-1.0, 1.0, count + 1)
    velocities = np.zeros(built.points.shape)
    velocities[:, 1], velocities[:, 2] = np.sin(3.0 * s), np.cos(2.0 * s)
    velocities = np.asarray(jax.vmap(space.tangent)(built.points, velocities))
    q, v = world.project(0.0, built.points, velocities)
    return world, np.asarray(q), np.asarray(v)


def iteration(space: Any, count: int) -> str:
    """A row of the table of iterations: many steps in one compiled call, divided by all iterations in them; processor
    time, the least of five, and the memory that the compiled call needs beside its state."""
    world, q, v = chain_of_rods(space, count)
    method, zero, steps = hl.Rattle(2), jax.numpy.zeros(()), max(2, 20_000 // count)

    def once(_: Any, now: Any) -> Any:
        state, made = now
        state, status = method.step(world, zero, jax.numpy.asarray(0.1 / count), state)
        return state, made + status.work

    start = method.start(world, zero, jax.numpy.asarray(q), jax.numpy.asarray(v)), jax.numpy.int32(0)
    many = jax.jit(lambda now: jax.lax.fori_loop(0, steps, once, now)).lower(start).compile()
    made, spent = int(many(start)[1]), []
    for _ in range(5):
        begin = time.process_time()
        jax.block_until_ready(many(start))
        spent.append(time.process_time() - begin)
    memory: Any = many.memory_analysis()
    each = f"{1e9 * min(spent) / (made * count):.0f} | {1e9 * min(spent) / (steps * count):.0f}"
    return f"| {type(space).__name__} | {count} | {each} | {made / steps} | {memory.temp_size_in_bytes / 1e6:.2f} |"


def rods(space: Any, count: int) -> str:
    """A row of the table of chains of rods."""
    world, *states = chain_of_rods(space, count)
    start = [np.asarray(world.points(z)) for z in states]
    dt, steps = 0.1 / count, 100

    def run(taken: int) -> Any:
        return hl.simulate(world, start[0], start[1], taken * dt, dt=dt, method=hl.Rattle(2), save_at=[0.0, taken * dt])

    begin = time.perf_counter()
    run(10)
    first = time.perf_counter() - begin
    each = (seconds(lambda: run(10 + steps).q) - seconds(lambda: run(10).q)) / steps
    worst = run(10 + steps).certificate.violation
    cost = f"{1e3 * each:.3f} | {1e6 * each / count:.2f} | {first:.1f}"
    return f"| {type(space).__name__} | {count} | {cost} | {worst:.1e} |"


def gas(count: int, collisions: int) -> str:
    """A row of the table of free balls in S³: time for a collision, without the first list of neighbours."""
    rng, radius = np.random.default_rng(0), (0.05 * 2.0 * np.pi**2 / (count * 4.0 / 3.0 * np.pi)) ** (1.0 / 3.0)
    x = rng.standard_normal((20 * count, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    tree, free, kept = KDTree(x), np.ones(len(x), bool), []
    for i in range(len(x)):
        if free[i] and len(kept) < count:
            kept.append(i)
            free[tree.query_ball_point(x[i], 2.02 * radius)] = False
    x = x[kept]
    v = rng.standard_normal(x.shape)
    v -= np.sum(v * x, axis=1, keepdims=True) * x
    world = hl.World(hl.Sphere(3), hl.Body(np.ones(count), radii=radius), collisions=True)

    def run(most: int) -> Any:
        return hl.simulate(world, x, v, 100.0, dt=100.0, max_events=most, throw=False)

    run(1)
    begin = time.perf_counter()
    run(1)
    middle = time.perf_counter()
    run(1 + collisions)
    each = (2.0 * (time.perf_counter() - middle) - (time.perf_counter() - begin)) / collisions
    return f"| {count} | {collisions} | {1e6 * each:.0f} |"


def box(side: int, steps: int) -> str:
    """A row of the table of colliding bodies: side³ pairs of balls joined by springs, between smooth walls in E³."""
    rng, count, dt = np.random.default_rng(0), side**3, 0.01
    grid = 0.6 * np.stack(np.meshgrid(*[np.arange(side) - (side - 1) / 2] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    way = rng.standard_normal(grid.shape)
    way *= 0.15 / np.linalg.norm(way, axis=2, keepdims=True)
    points = (grid + np.concatenate([-way, way], axis=1)).reshape(-1, 3)
    velocities, half = rng.standard_normal(points.shape), 0.3 * side
    springs = [(2 * n, 2 * n + 1, 100.0, 0.3) for n in range(count)]

    def walls(x: Any) -> Any:
        return 50.0 * jax.numpy.sum(jax.nn.relu(jax.numpy.abs(x) - half) ** 4)

    body = hl.Body(np.ones(2 * count), springs=springs, radii=0.1)
    world = hl.World(hl.Euclidean(3), body, potential=walls, collisions=True)

    def run(taken: int) -> Any:
        every = max(taken // 100, 1)
        return hl.simulate(world, points, velocities, taken * dt, dt=dt, save_every=every, max_events=10**8)

    run(2)
    begin = time.perf_counter()
    found = run(steps)
    spent, met = time.perf_counter() - begin, len(found.events)
    cost = f"{1e3 * spent / steps:.1f} | {1e6 * spent / met:.0f}"
    return f"| {count} | {steps} | {met} | {cost} | {found.certificate.energy_drift_relative:.1e} |"


def on_rods(space: Any, count: int, steps: int, alike: bool = True) -> str:
    """A row of the table of colliding rigid bodies: triangles of balls on rods, on a grid, turned at random.

    Velocities are drawn in orthonormal frames, `alike` in all spaces, or as arrays of the space, of which the tangent
    parts in H³ are longer the further out a ball is."""
    rng, side = np.random.default_rng(0), int(np.ceil(count ** (1 / 3)))
    grid = 0.5 * np.stack(np.meshgrid(*[np.arange(side) - (side - 1) / 2] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    flat = 0.15 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    turns = np.linalg.qr(rng.standard_normal((count, 3, 3)))[0]
    points = np.asarray(placed(space, (grid[:count] + np.einsum("nij,kj->nki", turns, flat)).reshape(-1, 3)))
    drawn = rng.standard_normal((len(points), 3 if alike else points.shape[1]))
    velocities = np.asarray(jax.vmap(partial(_in_frame, space) if alike else space.tangent)(points, drawn))
    ends = np.array([(3 * n + a, 3 * n + b) for n in range(count) for a, b in ((0, 1), (1, 2), (0, 2))])
    lengths = np.asarray(jax.vmap(space.distance)(points[ends[:, 0]], points[ends[:, 1]]))
    triangles = [(*row, float(length)) for row, length in zip(ends.tolist(), lengths, strict=True)]
    world = hl.World(space, hl.Body(np.ones(3 * count), rods=triangles, radii=0.08), collisions=True)
    q, v = (np.asarray(world.points(z)) for z in settled(world, *world._state(0.0, points, velocities)[1:]))

    fastest = float(np.sqrt(np.max(jax.vmap(space.inner)(q, v, v))))

    def run(taken: int) -> Any:
        end = 0.01 * taken
        return hl.simulate(world, q, v, end, dt=0.01, save_at=[0.0, end], method=hl.Rattle(2), max_events=10**7)

    spent = []
    for taken in (2 + steps, 2, 2 + steps):  # the first one compiles
        begin = time.process_time()
        found = run(taken)
        spent.append(time.process_time() - begin)
    cost = f"{spent[0] - spent[2]:.1f} | {1e3 * (spent[2] - spent[1]) / steps:.2f}"
    kept = f"{found.certificate.energy_drift_relative:.1e} | {found.certificate.violation:.1e}"
    return f"| {type(space).__name__} | {3 * count} | {fastest:.1f} | {len(found.events)} | {cost} | {kept} |"


def _in_frame(space: Any, x: Any, components: Any) -> Any:
    return space.frame(x) @ jax.numpy.linalg.inv(jax.numpy.linalg.cholesky(space.metric(x))).T @ components


def _small_bodies(row: Callable[[str, str, float], str]) -> None:
    for where in "SH":
        for shape in ("rod", "triangle"):
            for dt in (0.1, 0.05):
                print(row(where, shape, dt), flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="32,100,316")
    parser.add_argument("--steps", type=int, default=10_000, help="of the box of 1000 bodies")
    parser.add_argument("--only", choices=["rods"], help="chains of rods and colliding bodies with rods alone")
    options = parser.parse_args()
    if options.only:
        return _rods()
    print("## Bodies in curved space\n\nSplitting(8) on one core, one machine function; error of a side at t = 10.\n")
    print("| body | dt | ms per unit of time | error |\n| --- | --- | --- | --- |")
    _small_bodies(elastic)
    print(f"\nA cloth in H³, {jax.default_backend()}, Splitting(2), springs along both directions of the grid.\n")
    print("| vertices | vertex-steps a second | ns a vertex-step | first run s | energy drift |")
    print("| --- | --- | --- | --- | --- |")
    for rows in options.rows.split(","):
        print(cloth(int(rows)), flush=True)
    print("\nRigid bodies along a Killing flow, Rattle(6), one machine function; errors at t = 10.\n")
    print("| body | dt | ms per unit of time | error of the multiplier | of the positions, relative |")
    print("| --- | --- | --- | --- | --- |")
    _small_bodies(rigid)
    print(f"\nChains of rods, {jax.default_backend()}, Rattle(2).\n")
    print("| space | rods | ms a step | µs a rod | first run s | largest violation |")
    print("| --- | --- | --- | --- | --- | --- |")
    for space in (hl.Euclidean(3), hl.Sphere(3), hl.Hyperbolic(3)):
        for count in (1000, 10000):
            print(rods(space, count), flush=True)
    _rods()
    print("\nPairs of balls joined by springs that collide in a box in E³, Splitting(4), dt = 0.01.\n")
    print("| bodies | steps | collisions | ms a step | µs a collision | largest energy drift, relative |")
    print("| --- | --- | --- | --- | --- | --- |")
    for side, steps in ((5, 1000), (10, options.steps)):
        print(box(side, steps), flush=True)
    print("\nFree balls in S³, EventDriven.\n\n| balls | collisions | µs a collision |\n| --- | --- | --- |")
    for count in (100, 1000, 10000):
        print(gas(count, max(1000, count)), flush=True)
    return None


def _rods() -> None:
    print("\nChains of rods by iterations of the step, Rattle(2), processor time.\n")
    print("| space | rods | ns a rod and iteration | ns a rod and step | iterations | MB beside the state |")
    print("| --- | --- | --- | --- | --- | --- |")
    for space in (hl.Euclidean(3), hl.Sphere(3), hl.Hyperbolic(3)):
        for count in (100, 1000, 10_000, 100_000):
            print(iteration(space, count), flush=True)
    print("\nTriangles of balls on rods that collide, Rattle(2), dt = 0.01, processor time.\n")
    print("| space | balls | fastest | collisions | compiled in s | ms a step | energy drift, relative | violation |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for space in (hl.Euclidean(3), hl.Sphere(3, radius=3.0), hl.Hyperbolic(3)):
        for count in (13, 334):
            print(on_rods(space, count, 100), flush=True)
    print(on_rods(hl.Hyperbolic(3), 334, 100, alike=False), flush=True)


if __name__ == "__main__":
    main()
