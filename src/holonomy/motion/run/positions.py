"""What can be drawn of a motion: places of its particles, and which of them stay at one distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.spaces import AbstractSpace
from holonomy.types import AnyArray

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run
    from holonomy.systems import System

ORIGIN = -1
"""In a rod, the fixed point at the origin instead of a particle."""

_SEEN = 200  # saved states that are looked at
_MOST_PARTICLES = 64  # particles among which rods are looked for
_MOST_RODS = 256
_CONSTANT = 1e-7  # relative change of a distance that counts as none: above the errors of a method, below motion
_ELSEWHERE = 8  # random configurations in which a rod must have the same length
_ROWS = 256  # states per compiled call
_WORDS = {
    "embedded": "drawn as it lies in space",
    "stereographic": "drawn by stereographic projection from the south pole",
    "poincare": "drawn in Poincaré's ball, whose boundary is at infinity",
    "rotation_vector": "each rotation drawn as its axis times its angle",
}


class Drawn(eqx.Module):
    """Places of particles at the times of a run, (times, particles, d), and the rods between them.

    A rod is a pair of particles, or of `ORIGIN` and a particle. `note` says what the places are, unless that is plain.
    """

    x: Float[AnyArray, "times particles d"]
    rods: tuple[tuple[int, int], ...] = eqx.field(static=True)
    note: str = eqx.field(static=True)


def drawn(run: Run) -> Drawn | None:
    """What is known of the picture of a run, or None where nothing is."""
    if run.drawn is not None or run.system is None:
        return run.drawn
    found = places(run.system, run.t, run.q)
    if found is None:
        return None
    x, note = found
    return Drawn(x, () if note else rods(x, run.system, run.t, run.q), note)


def places(system: System, t: AnyArray, q: AnyArray) -> tuple[np.ndarray, str] | None:
    """Where to draw a system's particles, (times, particles, d), and a sentence about it that may be empty.

    They are the system's own positions or, on a curved space, the space's customary picture of its points.
    """
    if system.positions is not None:
        return system.places(t, q), ""
    pictures = {} if system.flat else system.space.pictures()
    if not pictures:
        return None
    name = next(iter(pictures))
    return np.asarray(_pictured(system.space, name, np.asarray(q))), f"{system.space!r}, {_WORDS.get(name, name)}."


@eqx.filter_jit
def _pictured(space: AbstractSpace, name: str, q: Any) -> Any:
    picture = space.pictures()[name]
    return jax.vmap(lambda x: jnp.atleast_2d(picture(x)))(q)


def rods(x: np.ndarray, system: System | None, t: AnyArray, q: AnyArray) -> tuple[tuple[int, int], ...]:
    """Pairs whose distance stays the same along the motion while one of the two moves.

    Where the coordinates are free, it must stay the same in other configurations too: two planets on a circle about
    each other are no rod.
    """
    count = x.shape[1]
    if count > _MOST_PARTICLES or len(x) < 2:
        return ()
    rows = np.unique(np.linspace(0, len(x) - 1, _SEEN).astype(int))
    pairs = _constant(x[rows])
    if pairs and system is not None and not system.constraints and system.flat and system.positions is not None:
        scatter = np.random.default_rng(0).normal(size=(_ELSEWHERE, np.shape(q)[1]))
        elsewhere = system.places(np.full(_ELSEWHERE, float(t[0])), np.asarray(q[:1]) + scatter)
        pairs &= _constant(elsewhere, moved=False)
    return tuple(sorted(pairs))[:_MOST_RODS]


def _constant(x: np.ndarray, *, moved: bool = True) -> set[tuple[int, int]]:
    x = x[np.isfinite(x).all(axis=(1, 2))]
    if len(x) < 2:
        return set()
    points = np.concatenate([np.zeros_like(x[:, :1]), x], axis=1)
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    size = float(np.max(np.abs(x)))
    steady = np.ptp(apart, axis=0) <= _CONSTANT * size
    if moved:
        moving = np.max(np.ptp(points, axis=0), axis=1) > _CONSTANT * size
        steady &= (moving[:, None] | moving[None]) & (apart.min(axis=0) > 1e-6 * size)
    first, second = np.nonzero(np.triu(steady, 1))
    return {(int(i) + ORIGIN, int(j) + ORIGIN) for i, j in zip(first, second, strict=True)}


def chain(particles: int) -> tuple[tuple[int, int], ...]:
    """Rods that join the particles in their order, from the origin."""
    return tuple((k - 1 if k else ORIGIN, k) for k in range(particles))


def kinetic(run: Run) -> Float[np.ndarray, " times"] | None:
    r"""The kinetic energy \(T = L(t, q, v) - L(t, q, 0)\) where that is quadratic in v, else None.

    Of a run with its system this is looked at in a few of its states; a file remembers the energy itself.
    """
    if run.kinetic is not None or run.system is None or len(run.t) == 0:
        return None if run.kinetic is None else np.asarray(run.kinetic)
    t, q, v = (np.asarray(a) for a in (run.t, run.q, run.v))
    some = np.linspace(0, len(t) - 1, 8).astype(int)
    energy, double = (_moving(run.system, t[some], q[some], factor * v[some]) for factor in (1.0, 2.0))
    if not np.all(np.abs(double - 4 * energy) <= 1e-9 * np.max(np.abs(double), initial=1e-300)):
        return None
    return np.concatenate(
        [_moving(run.system, *(a[at : at + _ROWS] for a in (t, q, v))) for at in range(0, len(t), _ROWS)]
    )


def _moving(system: System, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """L less what it is at rest, in batches of one compiled size."""
    short = _ROWS - len(t)
    t, q, v = np.pad(t, (0, short), mode="edge"), *(np.pad(a, ((0, short), (0, 0)), mode="edge") for a in (q, v))
    return np.asarray(_lagrangians(system, t, q, v))[: _ROWS - short]


@eqx.filter_jit
def _lagrangians(system: System, t: Any, q: Any, v: Any) -> Any:
    def moving(t: Any, q: Any, v: Any) -> Any:
        return system.raw_lagrangian(t, q, v) - system.raw_lagrangian(t, q, jnp.zeros_like(v))

    return jax.vmap(moving)(jnp.asarray(t), jnp.asarray(q), jnp.asarray(v))
