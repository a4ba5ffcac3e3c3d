r"""Rigid bodies turned out of the plane of \(H^2 \times E\): rods keep their lengths, other distances do not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from holonomy.motion import Run
    from holonomy.systems import World

TURN = 1.0  # angular velocity about the first axis of the hyperbolic plane, at the start
FLOW = 1.0  # velocity of the flow along that axis
END = 8.0


def _space() -> Any:
    from holonomy.spaces import Euclidean, Hyperbolic, Product

    return Product(Hyperbolic(2), Euclidean(1))


def _placed(shape: np.ndarray) -> np.ndarray:
    """Points of the hyperbolic plane at height 0 from vectors at its origin."""
    import jax

    plane = _space().factors[0]
    points = np.asarray(jax.vmap(lambda y: plane.exp(plane.origin, y))(np.append(shape, np.zeros((len(shape), 1)), 1)))
    return np.append(points, np.zeros((len(points), 1)), axis=1)


def _velocities(points: np.ndarray, flow: float, turn: float) -> np.ndarray:
    """Along the boost of the first axis, and out of the plane in proportion to the distance from that axis."""
    import jax

    plane = _space().factors[0]
    along = flow * np.asarray(jax.vmap(plane.killing()["boost_x"])(points[:, :3]))
    return np.append(along, turn * np.arcsinh(points[:, 1:2]), axis=1)


def _world(points: np.ndarray, pairs: np.ndarray) -> World:
    import jax

    from holonomy.systems import Body, World

    lengths = np.asarray(jax.vmap(_space().distance)(points[pairs[:, 0]], points[pairs[:, 1]]))
    rows = [(int(i), int(j), float(d)) for (i, j), d in zip(pairs, lengths, strict=True)]
    return World(_space(), Body(np.ones(len(points)), rods=rows))


def _run(world: World, points: np.ndarray, velocities: np.ndarray, end: float, method: Any, dt: float) -> Run:
    from holonomy.motion import simulate

    _, u = world.project(0.0, points, velocities)
    u = np.asarray(u).reshape(-1)[: points.size].reshape(points.shape)
    return simulate(world, points, u, end, dt=dt, method=method, save_at=np.linspace(0.0, end, 201))


def _heights(run: Run) -> np.ndarray:
    return np.asarray(run.local)[:, :, 3]


def rod() -> Reproduction:
    """The force in the rod and how far it is turned out of the plane."""
    from matplotlib import pyplot as plt

    from holonomy.motion import Rattle

    points = _placed(np.array([[0.0, -0.5], [0.0, 0.5]]))
    world = _world(points, np.array([[0, 1]]))
    run = _run(world, points, _velocities(points, FLOW, TURN), END, Rattle(6), 0.02)
    rise = np.abs(_heights(run)[:, 1] - _heights(run)[:, 0])
    force, length = run.multipliers[:, 0], run.distance(0, 1)
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0))
        left.plot(run.t, force, label="multiplier of the rod")
        left.plot(run.t, rise, label="height of the rod out of the plane")
        _axes(left, "t", "")
        right.plot(rise, force, ".", markersize=3)
        _axes(right, "height of the rod out of the plane", "multiplier", legend=False)
        figure.suptitle("A rigid rod in $H^2\\times E$: out of the plane it feels less of the curvature", fontsize=12)
    return Reproduction(figure, {"t": run.t, "multiplier": force, "height": rise, "length": float(np.ptp(length))})


@cache
def _turned_triangle() -> Run:
    from holonomy.motion import Rattle

    points = _placed(_corners())
    world = _world(points, np.array([[0, 1], [0, 2], [1, 2]]))
    return _run(world, points, _velocities(points, 0.0, TURN), END, Rattle(6), 0.02)


def triangle() -> Reproduction:
    """The forces in the sides, and the distance of a corner from the middle of the opposite side."""
    from matplotlib import pyplot as plt

    run = _turned_triangle()
    median, rise = _median(run), np.ptp(_heights(run), axis=1)
    sides = np.stack([run.distance(i, j) for i, j in ((0, 1), (0, 2), (1, 2))])
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0))
        for n, name in enumerate(("01", "02", "12")):
            left.plot(run.t, run.multipliers[:, n], label=f"side {name}")
        _axes(left, "t", "multiplier")
        right.plot(run.t, median - median[0], label="corner 0 to the middle of side 12, change")
        right.plot(run.t, 0.05 * rise, "--", color="0.5", label="height out of the plane / 20")
        _axes(right, "t", "distance")
        figure.suptitle(
            "A rigid triangle in $H^2\\times E$: its sides keep their lengths, its medians do not", fontsize=12
        )
    kept = float(np.max(np.abs(sides - sides[:, :1])))
    return Reproduction(figure, {"t": run.t, "multipliers": run.multipliers, "median": median, "sides": kept})


def refine() -> Reproduction:
    """How much distances within the rigid triangle change, for a body of ever more points that its corners carry."""
    from matplotlib import pyplot as plt

    run = _turned_triangle()
    data: dict[str, Any] = {"t": run.t}
    with style():
        figure, axis = plt.subplots(figsize=(7.6, 4.4))
        for parts in (1, 2, 4, 8):
            data[f"{parts} parts"] = strain = _strain(run, parts)
            axis.plot(run.t, 100.0 * strain, label=f"{parts} to a side" if parts > 1 else "the three rods")
        _axes(axis, "t", "largest change of a distance of neighbours, percent")
        axis.set_title("The rigid triangle of $H^2\\times E$, refined: turning it is no isometry", fontsize=12)
    return Reproduction(figure, data)


def _strain(run: Run, parts: int) -> np.ndarray:
    """The largest relative change of the distance of neighbours among points that the corners carry along."""
    import jax

    space, (places, pairs) = _space(), _refined(parts)
    behind = 1.0 - places[:, 0]
    along = np.where(behind > 0, places[:, 2] / np.where(behind > 0, behind, 1.0), 0.0)

    def between(a: Any, b: Any, s: Any) -> Any:
        return space.exp(a, s * space.log(a, b))

    def lengths(corners: Any) -> Any:
        side = jax.vmap(lambda s: between(corners[1], corners[2], s))(along)
        points = jax.vmap(lambda m, s: between(corners[0], m, s))(side, behind)
        return jax.vmap(space.distance)(points[pairs[:, 0]], points[pairs[:, 1]])

    found = np.asarray(jax.jit(jax.vmap(lengths))(np.asarray(run.local)))
    return np.max(np.abs(found / found[0] - 1.0), axis=1)


def _corners() -> np.ndarray:
    angles = np.pi / 2 + 2.0 * np.pi * np.arange(3) / 3
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(3.0)


def _refined(parts: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of points that cut each side of a triangle into parts, and the pairs of neighbours."""
    places = [(i, j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    number = {place: n for n, place in enumerate(places)}
    joined = [((i, j), (i + a, j + b)) for i, j in places for a, b in ((-1, 0), (0, -1), (-1, 1))]
    pairs = [(number[one], number[other]) for one, other in joined if other in number]
    return np.array([[i, j, parts - i - j] for i, j in places]) / parts, np.array(pairs)


def _median(run: Run) -> np.ndarray:
    """The distance of corner 0 from the middle of the geodesic between corners 1 and 2."""
    import jax

    space, x = _space(), np.asarray(run.local)

    def one(a: Any, b: Any, c: Any) -> Any:
        return space.distance(a, space.exp(b, 0.5 * space.log(b, c)))

    return np.asarray(jax.vmap(one)(x[:, 0], x[:, 1], x[:, 2]))


def _axes(axis: Axes, across: str, up: str, legend: bool = True) -> None:
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    if legend:
        axis.margins(y=0.3)  # room for the legend
        axis.legend(fontsize=9, loc="upper right")
