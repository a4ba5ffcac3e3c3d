"""What a gait does: displacement, path, energy, efficiency."""

from __future__ import annotations

from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.locomotion import compiled
from holonomy.locomotion.gait import Gait, largest_gap
from holonomy.locomotion.momentum import momentum_dim
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.reconstruct import Journey, Outcome, begin, outcome, resolved, step
from holonomy.types import AnyArray, AnyScalar, Count, Unchecked, VectorLike

_SAMPLES = 128  # states of a path, at least
_STEPS = 16  # for each smooth piece, where the number must be known before the numbers are
_ERROR = 1e-6  # relative: an estimate above it is not a result


class Performance:
    r"""One period of a gait: the element of the group that the body has moved by, and what it took.

    `displacement`, on SE(2) the array (x, y, theta) with full turns counted, elsewhere the group's element; `element`,
    the group's element; `energy`, \(\int\dot r^\top G\dot r\,dt\); `length`, the length of the loop in the metric G;
    `momentum`, what is left of it at the end; `error`, the estimated error of the displacement; `steps`, how many steps
    were taken.
    """

    def __init__(self, mover: Mover, gait: Gait, start: AnyArray, found: Outcome, steps: int) -> None:
        self.mover, self.gait, self.steps = mover, gait, steps
        self._start, self._outcome, self._journey = start, found, found.journey

    @property
    def element(self) -> AnyArray:
        """The element of the group, as its space stores it."""
        return self._journey.g

    @property
    def displacement(self) -> AnyArray:
        """The displacement: (x, y, theta) on SE(2), else the element."""
        return self._outcome.displacement

    @property
    def energy(self) -> AnyScalar:
        r"""\(\int\dot r^\top G\dot r\,dt\) over the period, with the timing of the gait."""
        return self._journey.energy

    @property
    def length(self) -> AnyScalar:
        """The length of the loop in the metric of power; it does not depend on the timing."""
        return self._journey.length

    @property
    def momentum(self) -> AnyArray:
        """The momentum in the body's frame at the end of the period; empty for movers without one."""
        return self._journey.momentum

    @property
    def error(self) -> AnyScalar:
        """The estimated error of the displacement, in units of the algebra."""
        return self._journey.error

    @property
    def efficiency(self) -> AnyScalar:
        r"""\(\rho\,(d/\ell)^2\): distance \(d\), length \(\ell\), and the mover's reference drag \(\rho\).

        It is \(\rho U^2T/E\), the power to pull the body along at the mean speed U against that spent, for the same
        loop passed at constant power, which is the timing that costs least.
        """
        moved = self._outcome.moved
        return self.mover.reference * (moved @ moved) / self._journey.length**2

    @cached_property
    def _states(self) -> tuple[AnyArray, AnyArray]:
        parts = max(1, -(-_SAMPLES // self.steps))
        return compiled.call(_path, self.mover, self.gait, self._start, np.zeros(self.steps * parts))

    @property
    def path(self) -> AnyArray:
        """Where the body is at equally spaced times from 0 to the period, one row each, as `displacement` says it."""
        return self._states[0]

    @property
    def shapes(self) -> AnyArray:
        """The shapes at the same times."""
        return self._states[1]

    @property
    def t(self) -> Float[np.ndarray, " times"]:
        """The times of `path` and `shapes`."""
        return np.linspace(0.0, float(self.gait.period), len(self.path))

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.displacement), precision=6, separator=", ")
        return f"Performance(displacement={shown}, energy={float(self.energy):.6g})"


def perform(
    mover: Mover | Unchecked, gait: Gait | Unchecked, *, momentum: VectorLike | None = None, steps: int | None = None
) -> Performance:
    """One period of a gait, performed from the identity: displacement, path, energy, efficiency.

    `momentum` is that of the start in the body's frame, for movers that can have one (zero if it is not given). Where
    numbers are known the steps are as many as rounding needs; under `jax.jit`, `jax.vmap` or `jax.grad` there are
    `steps` of them, 16 for each smooth piece of the gait.

    Raises `ValueError` where the gait is for another number of shape variables, leaves the shapes that the mover can
    take, or cannot be followed.
    """
    if not isinstance(mover, Mover):
        raise ValueError(
            f"perform takes a mover, such as hl.Purcell() or hl.Mover.from_momentum(system, group), but got {mover!r}."
        )
    if not isinstance(gait, Gait):
        raise ValueError(f"perform takes a Gait, such as Gait.ellipse(...) or Gait.points(array), but got {gait!r}.")
    if gait.shape_dim != mover.shape_dim:
        raise ValueError(
            f"The gait moves {gait.shape_dim} shape variables, but the mover has {mover.shape_dim}: "
            f"{', '.join(mover.names)}."
        )
    start = _momentum(mover, momentum)
    if known(mover, gait, start):
        found, count = resolved(mover, gait, start, steps)
        _refuse_open(mover, found)
        _refuse_bad(mover, found.journey)
        return Performance(mover, gait, start, found, count)
    count = _STEPS * gait.path.pieces if steps is None else int(steps)
    return Performance(mover, gait, start, outcome(mover, gait, count, jnp.asarray(start)), count)


def _momentum(mover: Mover, given: VectorLike | None) -> AnyArray:
    if given is None:
        return np.zeros(momentum_dim(mover) if mover.conditions is not None else 0)
    size = momentum_dim(mover)
    if size == 0:
        raise ValueError("This mover has no momentum: its shape changes determine its motion. Leave momentum out.")
    value = jnp.asarray(given, float)
    if value.shape != (size,):
        raise ValueError(f"The momentum of this mover has {size} components, but one of shape {value.shape} was given.")
    return value


def _refuse_open(mover: Mover, found: Outcome) -> None:
    """Raise if a shape variable that is no angle ends elsewhere."""
    gap, first, size = (np.asarray(x) for x in (found.gap, found.first, found.size))
    for c, change, most in zip(mover.coordinates, gap, largest_gap(first, size), strict=True):
        if c.kind != "angle" and not abs(change) <= most:
            raise ValueError(
                f"The gait is open: {c.name} ends {change:.6g} away from where it begins, and it is not an angle."
            )


def _refuse_bad(mover: Mover, journey: Journey) -> None:
    if mover.margins is not None:
        n = mover.shape_dim
        margins, worst = np.asarray(journey.margins), np.asarray(journey.worst)
        for k, margin in enumerate(margins):
            if not margin > 0:
                mover.refuse_margins(np.where(np.arange(len(margins)) == k, margin, 1.0), worst[n * k : n * (k + 1)])
    if not np.all(np.isfinite(np.asarray(journey.g))):
        raise ValueError("The gait passes a shape at which the connection is not finite; the body cannot follow it.")
    if not journey.error <= _ERROR * (journey.travelled + 1e-300):
        raise ValueError(
            f"The gait varies too fast to be followed: the error is estimated as {float(journey.error):.1e}. Does it "
            "have corners? Give them as rows of Gait.points(..., smooth=False)."
        )


def _path(mover: Mover, gait: Gait, momentum: Array, steps: Array) -> tuple[Array, Array]:
    """The states at the ends of all steps; `steps` is an array of zeros of their number."""
    count = steps.shape[0]

    def onward(at: Journey, index: Count) -> tuple[Journey, Array]:
        new = step(mover, gait, index, count, at)
        return new, mover.lie.displacement(new.g, new.turned)

    first = begin(mover, momentum)
    rows = jax.lax.scan(onward, first, jnp.arange(count))[1]
    start = mover.lie.displacement(first.g, first.turned)
    shapes = jax.lax.map(gait.path, jnp.arange(count + 1) / count)
    return jnp.concatenate([start[None], rows]), shapes
