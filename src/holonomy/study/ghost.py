"""A second run that starts near the first one, and how fast the two diverge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import jax
import numpy as np
from jaxtyping import Float

from holonomy.motion import Run, simulate
from holonomy.motion.simulate import Options
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import Numbers, VectorLike

_STRETCHES = 8  # of the time in which the runs diverge, whose rates give the error of the mean rate


@dataclass(frozen=True)
class Ghost:
    r"""Two runs of one system, `run` and `ghost`, at the same times.

    `divergence` is their distance in phase space, \(\sqrt{d(q,q')^2+|v-v'|^2}\), d the distance in the space (angles
    count the short way round); `separation` is how far apart the particles are on average, where positions are known.
    """

    run: Run
    ghost: Run
    divergence: Float[np.ndarray, " times"]
    separation: Float[np.ndarray, " times"] | None

    @property
    def t(self) -> Float[np.ndarray, " times"]:
        """The saved times."""
        return np.asarray(self.run.t)

    @property
    def energies(self) -> tuple[np.ndarray, np.ndarray]:
        """The energies of both."""
        return np.asarray(self.run.energy), np.asarray(self.ghost.energy)

    def growth(self, until: float = 1e-2) -> tuple[float, float]:
        """The mean rate at which the logarithm of the divergence grows, with its error, while it is below `until`.

        An estimate of the largest Lyapunov exponent over that time only. The error is from the scatter of the rates of
        eight stretches of it. Below `until` the ghost is a small disturbance; later the distance saturates.
        """
        d = self.divergence
        over = np.flatnonzero(d >= until)
        last = int(over[0]) if len(over) else len(d) - 1
        first = int(np.flatnonzero(d > 0)[0]) if np.any(d > 0) else last
        if last - first < 2 * _STRETCHES:
            raise ValueError(
                f"The runs diverge by {until:g} within {last - first} saved times, too few to measure growth; start "
                "the ghost nearer, save more often, or raise until."
            )
        marks = np.linspace(first, last, _STRETCHES + 1).astype(int)
        rates = np.diff(np.log(d[marks])) / np.diff(self.t[marks])
        whole = np.log(d[last] / d[first]) / (self.t[last] - self.t[first])
        return float(whole), float(np.std(rates, ddof=1) / np.sqrt(_STRETCHES))


def ghost(
    system: System,
    q0: VectorLike,
    v0: VectorLike,
    t_end: float,
    *,
    offset: Numbers = 1e-9,
    offset_v: Numbers = 0.0,
    **options: Unpack[Options],
) -> Ghost:
    """A run and its ghost, which starts at q0 + offset, v0 + offset_v.

    **Arguments:** `offset`, a number for every coordinate or one for each; on a curved space the ghost's start is
    projected back onto it. `options` go to `simulate`. Without dt the first run's step serves both.
    """
    shape = (system.space.point_dim,)
    q, v = vector("q0", q0, shape, system), vector("v0", v0, shape, system)
    shift, kick = (_offset(name, x, shape) for name, x in (("offset", offset), ("offset_v", offset_v)))
    if not np.any(shift) and not np.any(kick):
        raise ValueError("The ghost must start elsewhere: offset and offset_v are both zero.")
    run = simulate(system, q, v, t_end, **options)
    near, speed = q + shift, v + kick
    if not system.flat:
        near = np.asarray(system.space.project(near))
        speed = np.asarray(system.space.tangent(near, speed))
    if system.constraints:
        near, speed = (np.asarray(x) for x in system.project(options.get("t0", 0.0), near, speed))
    same: dict[str, Any] = {**options, "dt": run.dt, "save_every": 1, "save_at": run.t}
    second = simulate(system, near, speed, t_end, **same)
    rows = min(len(run.t), len(second.t))
    apart = np.asarray(jax.vmap(system.space.distance)(run.q[:rows], second.q[:rows]))
    speeds = np.linalg.norm(np.asarray(run.v[:rows]) - np.asarray(second.v[:rows]), axis=1)
    places = None
    if system.positions is not None:
        gaps = system.places(run.t[:rows], run.q[:rows]) - system.places(run.t[:rows], second.q[:rows])
        places = np.mean(np.linalg.norm(gaps, axis=2), axis=1)
    return Ghost(run, second, np.hypot(apart, speeds), places)


def _offset(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(value, float)
    if array.shape not in ((), shape) or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be one finite number or {shape[0]} of them; got {value!r}.")
    return np.broadcast_to(array, shape)
