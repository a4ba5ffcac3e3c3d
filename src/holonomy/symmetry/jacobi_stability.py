r"""Stability of a motion from the Jacobi equation of Jacobi's metric.

A motion of energy E is a geodesic of \(2(E - V')g\), with the unit velocity u and the length s as parameter. A field J
that joins it to its neighbours of the same energy satisfies \(\nabla_u\nabla_u J = -R(J, u)u\). With
\(P = \nabla_u J\) and \(ds/dt = 2(E - V')\) this is a linear equation for (J, P) in the time, whose coefficients are
known along a run; it is solved by Magnus's formula of order 6, in steps that are short where the motion is slow and the
metric nearly vanishes.

Reference: Blanes, Casas, Oteo and Ros, *The Magnus expansion and some of its applications*, 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.geometry.geodesic import deviation
from holonomy.geometry.metric import christoffel
from holonomy.motion import Run
from holonomy.symmetry.along_run import pieces
from holonomy.symmetry.energy_function import energy_values
from holonomy.systems.parameters import number
from holonomy.types import Tree, VectorLike

if TYPE_CHECKING:
    from holonomy.symmetry.jacobi_metric import JacobiMetric

_NODES = 0.5 + np.array([-1.0, 0.0, 1.0]) * np.sqrt(15) / 10
_RESOLVED = 0.1  # radians by which a field may turn in a step
_TERMS = 10  # of the exponential series: 0.1^11/11! is below rounding
_MOST = 5000  # steps within one of the run
_SAME_ENERGY = 1e-6  # of the kinetic energy: how far a run may be from the energy of the metric


@dataclass(frozen=True)
class JacobiStability:
    r"""How neighbours of the same energy part from a motion.

    At the saved times `t`, where the length of Jacobi's metric is `s`: `direction`, the field J scaled so that
    displacement and velocity across the motion have the length 1; `growth`, the logarithm of what it was
    scaled by; `curvature`, that of the plane of the motion and the field. Where the curvature stays negative neighbours
    part exponentially; where it is positive but varies they may do so too. `exponent` is the mean rate of growth after
    the first tenth of the time, an estimate of the largest Lyapunov exponent.
    """

    t: Float[np.ndarray, " times"]
    s: Float[np.ndarray, " times"]
    direction: Float[np.ndarray, "times n"]
    growth: Float[np.ndarray, " times"]
    curvature: Float[np.ndarray, " times"]

    @property
    def exponent(self) -> float:
        """The mean rate of growth after the first tenth of the time."""
        first = int(np.searchsorted(self.t, self.t[0] + 0.1 * (self.t[-1] - self.t[0])))
        return float((self.growth[-1] - self.growth[first]) / (self.t[-1] - self.t[first]))

    @property
    def field(self) -> Float[np.ndarray, "times n"]:
        """J itself, in coordinates: the displacement of neighbours; infinite where it has grown too much."""
        with np.errstate(over="ignore"):
            return self.direction * np.exp(self.growth)[:, None]


def stability(
    metric: JacobiMetric, run: Run, start: VectorLike | None = None, rate: VectorLike | None = None
) -> JacobiStability:
    """The field along a run from a displacement and its derivative by the length; see `JacobiMetric.stability`."""
    n = run.q.shape[1]
    if n < 2:
        raise ValueError("A motion of one degree of freedom has no neighbours of the same energy beside it.")
    _refuse_other_energies(metric, run)
    begin, width, count = _steps(metric, run)
    nodes = (begin[:, None] + width[:, None] * _NODES).ravel()
    q, v = run(nodes)
    flows = _flows(metric, jnp.asarray(q), jnp.asarray(v), jnp.asarray(width))
    first = np.concatenate([_given(metric, run, start), np.zeros(n) if rate is None else number("rate", rate)])
    if first.shape != (2 * n,):
        raise ValueError(f"start and rate must have one component per coordinate, shape ({n},).")
    at = np.concatenate([[0], np.cumsum(count)])
    spots = (jnp.asarray(run.q), jnp.asarray(run.v))
    rows, logs = _carried(flows, jnp.asarray(first))
    fields, sizes, curved = (np.asarray(x) for x in _looked_at(metric, *spots, jnp.asarray(np.asarray(rows)[at])))
    if not np.all(np.isfinite(sizes)):
        raise ValueError(
            "The Jacobi equation could not be followed along the run: it comes to rest, where Jacobi's metric vanishes."
        )
    growth = np.asarray(logs)[at] + np.log(sizes)
    return JacobiStability(np.asarray(run.t), metric.parameter(run), fields / sizes[:, None], growth, curved)


def _given(metric: JacobiMetric, run: Run, start: Any) -> np.ndarray:
    """The displacement, by default of length 1 in the kinetic metric and orthogonal to the motion."""
    if start is not None:
        return np.asarray(number("start", start))
    mass = np.asarray(metric.natural.metric(jnp.asarray(run.q[0])))
    across = np.linalg.svd((mass @ run.v[0])[None])[2][-1]
    return across / np.sqrt(across @ mass @ across)


def _refuse_other_energies(metric: JacobiMetric, run: Run) -> None:
    kinetic = float(metric.rate(run.q[0])) / 2
    system = metric.natural.local.system
    values = np.asarray(energy_values(system, jnp.asarray(run.t), jnp.asarray(run.q), jnp.asarray(run.v)))
    away = float(np.max(np.abs(values - float(metric.energy))))
    if away > _SAME_ENERGY * kinetic:
        raise ValueError(
            f"The metric is that of the energy {float(metric.energy):g}, and the run has other energies, "
            f"{values[0]:g} at its start; pass hl.energy_function(system)(t, q0, v0) to hl.jacobi_metric."
        )


def _steps(metric: JacobiMetric, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where steps begin, how long they are, and how many there are between saved times."""
    begin, width, count = pieces(run)
    q, v = run(begin + 0.5 * width)
    speed = np.asarray(_frequencies(metric, jnp.asarray(q), jnp.asarray(v)))
    parts = np.clip(np.ceil(np.nan_to_num(speed, nan=np.inf) * np.abs(width) / _RESOLVED), 1, _MOST).astype(int)
    inner = np.arange(np.sum(parts)) - np.repeat(np.cumsum(parts) - parts, parts)
    short = np.repeat(width / parts, parts)
    between = np.add.reduceat(parts, np.concatenate([[0], np.cumsum(count)[:-1]]))
    return np.repeat(begin, parts) + inner * short, short, between


def _generator(metric: JacobiMetric, x: Tree, speed: Tree) -> tuple[Tree, Tree, Tree]:
    """What carries (J, P): the connection along the velocity, ds/dt, and the curvature."""
    rate = metric.rate(x)
    carried = -jnp.einsum("ikj,k->ij", christoffel(metric, x), speed)
    bent = jax.vmap(lambda e: deviation(metric, x, speed / rate, e), out_axes=1)(jnp.eye(x.shape[0]))
    return carried, rate, bent


@eqx.filter_jit
def _frequencies(metric: JacobiMetric, q: Tree, v: Tree) -> Tree:
    """How fast fields turn, in radians per unit of time."""

    def one(x: Tree, speed: Tree) -> Tree:
        carried, rate, bent = _generator(metric, x, speed)
        return jnp.linalg.norm(carried) + rate * jnp.sqrt(jnp.linalg.norm(bent))

    return jax.lax.map(lambda at: one(*at), (q, v))


@eqx.filter_jit
def _flows(metric: JacobiMetric, q: Tree, v: Tree, width: Tree) -> Tree:
    """The matrices that take (J, P) from the beginning of each step to its end."""
    n = q.shape[1]

    def generator(x: Tree, speed: Tree) -> Tree:
        carried, rate, bent = _generator(metric, x, speed)
        return jnp.block([[carried, rate * jnp.eye(n)], [rate * bent, carried]])

    def bracket(a: Tree, b: Tree) -> Tree:
        return a @ b - b @ a

    def one(at: Tree, h: Tree) -> Tree:
        first = h * at[1]
        second = np.sqrt(15) / 3 * h * (at[2] - at[0])
        third = 10 / 3 * h * (at[2] - 2 * at[1] + at[0])
        once = bracket(first, second)
        twice = -bracket(first, 2 * third + once) / 60
        last = bracket(-20 * first - third + once, second + twice) / 240
        return _exponential(first + third / 12 + last)

    # one after the other: curvatures of all nodes at once would be long arrays that leave the cache
    at = jax.lax.map(lambda state: generator(*state), (q, v)).reshape(-1, 3, 2 * n, 2 * n)
    return jax.vmap(one)(at, width)


def _exponential(matrix: Tree) -> Tree:
    """The exponential series, of matrices whose eigenvalues are small since steps are short."""
    one = jnp.eye(matrix.shape[0], dtype=matrix.dtype)
    total = one
    for k in range(_TERMS, 0, -1):
        total = one + matrix @ total / k
    return total


@eqx.filter_jit
def _carried(flows: Tree, first: Tree) -> tuple[Tree, Tree]:
    """(J, P) of length 1 at the ends of the pieces, and the logarithms of what they were scaled by."""

    def onward(carry: Tree, flow: Tree) -> Tree:
        y, log = carry
        new = flow @ y
        size = jnp.linalg.norm(new)
        after = (new / size, log + jnp.log(size))
        return after, after

    size = jnp.linalg.norm(first)
    start = (first / size, jnp.log(size))
    _, rows = jax.lax.scan(onward, start, flows)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start, rows)


@eqx.filter_jit
def _looked_at(metric: JacobiMetric, q: Tree, v: Tree, y: Tree) -> Tree:
    """J, the length of displacement and velocity in the kinetic metric, and the curvature, at each saved time."""

    def one(x: Tree, speed: Tree, both: Tree) -> Tree:
        rate, mass, own = metric.rate(x), metric.natural.metric(x), metric(x)
        unit = speed / rate
        # components along the motion are a shift of the time, which rounding errors feed where the motion is slow
        j, p = (part - (part @ own @ unit) * unit for part in both.reshape(2, -1))
        way = jnp.where(jnp.any(j != 0), j, p)  # where neighbours meet, the direction in which they part
        curved = -(deviation(metric, x, unit, way) @ own @ way) / (way @ own @ way)
        return j, jnp.sqrt(j @ mass @ j + rate**2 * (p @ mass @ p)), curved

    return jax.lax.map(lambda at: one(*at), (q, v, y))
