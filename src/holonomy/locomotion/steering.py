r"""Steering: the cheapest motion between two configurations that constraints or a connection allow.

The path is a polynomial in Legendre's basis (for a mover that of the shape, for a system that of a velocity which is
projected onto the directions that the constraints leave free), and the cost is minimised with the goal held. The cost
of what is found differs from the least one in second order of the error of the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Row, Shape
from holonomy.locomotion.curves import AbstractCurve
from holonomy.locomotion.gait import Gait
from holonomy.locomotion.groups import GroupSpace, Translations, components
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.reconstruct import begin, reconstruct, step
from holonomy.locomotion.search import jacobian, least_cost
from holonomy.spaces import SE2
from holonomy.systems import System
from holonomy.types import Number, Scalar, Unchecked, VectorLike

if TYPE_CHECKING:
    from holonomy.locomotion.reconstruct import Journey

_DEGREE = 13  # of the polynomials
_STEPS = 24  # of reconstruction while searching
_TIMES = 200  # steps of integration under constraints
_STARTS = 3  # first guesses, of which the best result is taken
_ON_GROUP = 1e-8  # how far a place may be from the group that it is passed as an element of
_MISS = 1e-7  # relative: how well the goal must be met


class Steering(NamedTuple):
    r"""A motion in unit time: `t`, `q`, one configuration in each row, the `cost` \(\frac12\int|\dot q|^2dt\), and in
    `miss` how far the end is from the goal."""

    t: Float[np.ndarray, " times"]
    q: Float[np.ndarray, "times _"]
    cost: float
    miss: float


def steer(
    mover_or_system: Mover | System | Unchecked, start: VectorLike, goal: VectorLike, *, seed: int = 0
) -> Steering:
    r"""The motion of least cost from one configuration to another: a sub-Riemannian geodesic.

    For a `Mover` a configuration is its place as `perform` reports it (on SE(2) x, y, theta, on SO(3) a quaternion),
    then its shape; the cost is that of the power metric. For a `System` with velocity constraints, whose points are
    coordinates, it is the coordinates, and the cost is that of the kinetic energy; potential and forces play no part,
    since a motor does the work. The result is the best of searches from several first guesses, which `seed` chooses;
    it is a local minimum.

    Raises `ValueError` where no motion to the goal is found.
    """
    rng = np.random.default_rng(seed)
    if isinstance(mover_or_system, Mover):
        return _steer_mover(mover_or_system, start, goal, rng)
    if isinstance(mover_or_system, System):
        return _steer_system(mover_or_system, start, goal, rng)
    raise ValueError(f"steer takes a Mover or a System, but got {mover_or_system!r}.")


class _Path(AbstractCurve):
    """From one shape to another, with a polynomial that vanishes at both ends."""

    first: Shape
    last: Shape
    waves: Float[Array, "degree shape"]

    @property
    def pieces(self) -> int:
        return 1

    @property
    def dim(self) -> int:
        return self.first.shape[0]

    def __call__(self, s: Scalar) -> Shape:
        return self.first + s * (self.last - self.first) + s * (1.0 - s) * (_legendre(s, len(self.waves)) @ self.waves)


def _legendre(s: Scalar, count: int) -> Row:
    """Legendre's polynomials on [0, 1]."""
    x = 2.0 * s - 1.0
    rows = [jnp.ones_like(x), x]
    for k in range(1, count - 1):
        rows.append(((2 * k + 1) * x * rows[-1] - k * rows[-2]) / (k + 1))
    return jnp.stack(rows[:count])


def _numbers(name: str, value: VectorLike, size: int) -> np.ndarray:
    array = np.asarray(value, float)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} is a configuration of {size} finite numbers, but {value!r} was given.")
    return array


def _chosen(found: list[tuple[float, float, np.ndarray]]) -> tuple[float, float, np.ndarray]:
    """The cheapest of those that meet the goal."""
    good = [one for one in found if one[0] < _MISS]
    if not good:
        raise ValueError(
            f"No motion to the goal was found: the nearest misses it by {min(one[0] for one in found):.1e}. Are all "
            "directions reachable (hl.integrability)? Try goals between, or another seed."
        )
    return min(good, key=lambda one: one[1])


# ── Movers ────────────────────────────────────────────────────────────────────────────────────────────


class _Task(eqx.Module):
    mover: Mover
    first: Shape
    last: Shape
    target: Row


def _moved_along(task: _Task, waves: Array, direction: Array) -> tuple[Row, Row]:
    def value(x: Array) -> Row:
        gait = Gait(_Path(task.first, task.last, x), 1.0)
        journey = reconstruct(task.mover, gait, _STEPS, jnp.zeros(0))
        miss = task.mover.lie.miss(task.target, journey.g, journey.turned)
        return jnp.concatenate([miss, 0.5 * journey.energy[None], journey.margins])

    return jax.jvp(value, (waves,), (direction,))


def _steer_mover(mover: Mover, start: VectorLike, goal: VectorLike, rng: np.random.Generator) -> Steering:
    lie, n, k = mover.lie, mover.shape_dim, mover.lie.dim
    if not isinstance(lie, Translations | GroupSpace):
        raise ValueError(
            f"steer knows places in a Euclidean space, on a circle, in SE2, SE3 or SO(n), not in {mover.group!r}."
        )
    size = components(lie)
    begun, wanted = _numbers("start", start, size + n), _numbers("goal", goal, size + n)
    target = _between(lie, begun[:size], wanted[:size])
    task = _Task(mover, mover.shape(begun[size:]), mover.shape(wanted[size:]), jnp.asarray(target))
    scale = max(float(np.abs(lie.miss(task.target, lie.identity, jnp.zeros(k))).max()), 1e-3)
    shape = (_DEGREE, n)

    def look(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = jacobian(_moved_along, task, x.reshape(shape))
        values[:k] = values[:k] / scale
        slopes = slopes.reshape(len(values), -1)
        slopes[:k] = slopes[:k] / scale
        return values, slopes

    found = []
    for _ in range(_STARTS):
        first = np.zeros(shape)
        first[:3] = rng.normal(size=(3, n)) * 0.5
        x = least_cost(look, first.ravel(), k, coarse=True)[0]
        values = look(x)[0]
        found.append((float(np.abs(values[:k]).max()), float(values[k]), x))
    miss, cost, x = _chosen(found)
    places, shapes = compiled.call(_track, task, x.reshape(shape))
    placed = np.stack([_placed(lie, begun[:size], row) for row in np.asarray(places)])
    return Steering(np.linspace(0.0, 1.0, len(placed)), np.concatenate([placed, shapes], axis=1), cost, miss * scale)


def _track(task: _Task, waves: Array) -> tuple[Array, Array]:
    gait = Gait(_Path(task.first, task.last, waves), 1.0)

    def onward(at: Journey, index: Array) -> tuple[Journey, Array]:
        new = step(task.mover, gait, index, 4 * _STEPS, at)
        return new, task.mover.lie.displacement(new.g, new.turned)

    first = begin(task.mover, jnp.zeros(0))
    rows = jax.lax.scan(onward, first, jnp.arange(4 * _STEPS))[1]
    start = task.mover.lie.displacement(first.g, first.turned)
    return jnp.concatenate([start[None], rows]), jax.lax.map(gait.path, jnp.arange(4 * _STEPS + 1) / (4 * _STEPS))


def _between(lie: Translations | GroupSpace, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The displacement that leads from one place to another."""
    change = goal - start
    if isinstance(lie, Translations):
        return change
    if isinstance(lie.space, SE2):
        return np.append(_turned(-start[2], change[:2]), change[2])
    for name, place in (("start", start), ("goal", goal)):
        if not np.abs(np.asarray(lie.space.project(place)) - place).max() < _ON_GROUP:
            raise ValueError(f"The place {place.tolist()} of {name} is no element of {lie.space!r}.")
    return np.asarray(lie.compose(lie.inverse(jnp.asarray(start)), jnp.asarray(goal)))


def _placed(lie: Translations | GroupSpace, start: np.ndarray, moved: np.ndarray) -> np.ndarray:
    if isinstance(lie, Translations):
        return start + moved
    if isinstance(lie.space, SE2):
        return np.append(start[:2] + _turned(start[2], moved[:2]), start[2] + moved[2])
    return np.asarray(lie.compose(jnp.asarray(start), jnp.asarray(moved)))


def _turned(angle: Number, v: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


# ── Systems with velocity constraints ─────────────────────────────────────────────────────────────────


class _Drive(eqx.Module):
    system: System
    first: Row


def _slope(drive: _Drive, s: Scalar, y: Row, waves: Array) -> Row:
    """The velocity in the directions that are free, and the rate of the cost."""
    system, q = drive.system, y[:-1]
    equations = system.constraints.equations
    mass = jax.hessian(lambda v: system.raw_lagrangian(0.0, q, v))(jnp.zeros_like(q))

    def rows(v: Row) -> Row:
        return jnp.concatenate([f(0.0, q, v, *system.last) for f in equations.velocity])

    normals = jax.jacfwd(rows)(jnp.zeros_like(q))
    lifted = jnp.linalg.solve(mass, normals.T)
    w = _legendre(s, waves.shape[0]) @ waves
    v = w - lifted @ jnp.linalg.solve(normals @ lifted, normals @ w)
    return jnp.append(v, 0.5 * v @ mass @ v)


def _driven(drive: _Drive, waves: Array) -> Float[Array, "times _"]:
    h = 1.0 / _TIMES

    def onward(y: Row, index: Array) -> tuple[Row, Row]:
        s = index * h

        def stage(so_far: tuple[Row, Row], c: Row) -> tuple[tuple[Row, Row], None]:
            total, last = so_far
            new = _slope(drive, s + c[0] * h, y + c[0] * h * last, waves)
            return (total + c[1] * h * new, new), None

        tableau = jnp.array([[0.0, 1 / 6], [0.5, 1 / 3], [0.5, 1 / 3], [1.0, 1 / 6]])
        new = jax.lax.scan(stage, (y, jnp.zeros_like(y)), tableau)[0][0]
        return new, new

    first = jnp.append(drive.first, 0.0)
    rows = jax.lax.scan(onward, first, jnp.arange(_TIMES))[1]
    return jnp.concatenate([first[None], rows])


def _driven_along(drive: _Drive, waves: Array, direction: Array) -> tuple[Row, Row]:
    return jax.jvp(lambda x: _driven(drive, x)[-1], (waves,), (direction,))


def _steer_system(system: System, start: VectorLike, goal: VectorLike, rng: np.random.Generator) -> Steering:
    equations = system.constraints.equations
    if not system.flat or not equations.velocity or equations.holonomic:
        raise ValueError("steer takes a system of plain coordinates with velocity constraints and no holonomic ones.")
    n = system.space.point_dim
    begun, wanted = _numbers("start", start, n), _numbers("goal", goal, n)
    drive = _Drive(system, jnp.asarray(begun))
    scale = max(float(np.abs(wanted - begun).max()), 1e-3)
    shape = (_DEGREE, n)

    def look(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = jacobian(_driven_along, drive, x.reshape(shape))
        slopes = slopes.reshape(n + 1, -1)
        values[:n] = (values[:n] - wanted) / scale
        slopes[:n] = slopes[:n] / scale
        return values, slopes

    found = []
    for _ in range(_STARTS):
        first = np.zeros(shape)
        first[0] = wanted - begun
        first[1:4] = rng.normal(size=(3, n)) * 2.0 * np.sqrt(scale)
        x = least_cost(look, first.ravel(), n, coarse=True)[0]
        values = look(x)[0]
        found.append((float(np.abs(values[:n]).max()), float(values[n]), x))
    miss, cost, x = _chosen(found)
    rows = np.asarray(compiled.call(_driven, drive, x.reshape(shape)))
    return Steering(np.linspace(0.0, 1.0, len(rows)), rows[:, :-1], cost, miss * scale)
