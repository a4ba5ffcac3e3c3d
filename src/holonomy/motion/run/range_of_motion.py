"""In what units the error of a coordinate counts: the range of its motion, beside those that it is coupled to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from holonomy.systems.coupling import coupled_blocks

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_NEGLIGIBLE = 1e-6  # of the range of coupled coordinates: one that moves less does not matter by its size
_SHARE = 1e-10  # of the kinetic energy of the block: one that has less does not matter by its energy
_UNIFORM = 1e-9  # of its path: what a uniform motion leaves of a coordinate counts at least so much
_LOOKED = 1024  # states from which a range is found, of many
_ROUNDINGS = 256  # in units of the last place of the largest position
_AT_REST = 16  # last places by which a coordinate at rest may change
_TURN = 1.0  # radians: an error of an angle that goes round is measured against this


class Scale(NamedTuple):
    """For each coordinate the size of its motion, the error that rounding explains, and the part of the size that the
    last place of its numbers has, zero where it is at rest."""

    size: Float[np.ndarray, " point"]
    rounding: Float[np.ndarray, " point"]
    place: Float[np.ndarray, " point"]


def scale_of(run: Run, t: Float[np.ndarray, " times"], q: Float[np.ndarray, "times point"]) -> Scale:
    """The range of motion of each coordinate along states of a run at these times."""
    some = slice(None, None, max(1, len(q) // _LOOKED))
    t, q = np.asarray(t, float)[some], np.asarray(q, float)[some]
    good = np.all(np.isfinite(q), axis=1)
    t, q = t[good], q[good]
    n = q.shape[1]
    if not len(q):
        return Scale(np.ones(n), np.zeros(n), np.zeros(n))
    whole = np.ptp(q, axis=0)
    eps = float(np.finfo(np.asarray(run.q).dtype).eps)
    rounding = _ROUNDINGS * eps * np.max(np.abs(q), axis=0)
    flat = run.system is not None and run.system.flat
    size = np.maximum(_beside_uniform(t, q) if flat else whole, _UNIFORM * whole)
    angles = np.array([kind == "angle" for kind in run.kinds] or [False] * n)
    if len(angles) == n:
        size = np.where(angles, np.minimum(whole, _TURN), size)
    size = _with_coupled(run, size, angles if len(angles) == n else np.zeros(n, bool))
    size = np.maximum(size, np.maximum(rounding, float(np.finfo(float).tiny)))
    place = rounding / _ROUNDINGS
    counts = whole > _AT_REST * place
    if len(angles) == n:  # an angle at rest has a direction, which many turns leave no digits of
        counts |= angles & (place > _UNIFORM)
    return Scale(size, rounding, np.where(counts, place / size, 0.0))


def of_states(q: Float[np.ndarray, "*batch times point"], kinds: tuple[str, ...]) -> Float[np.ndarray, "*batch point"]:
    """The range of each coordinate along many motions, without what it is coupled to; of an angle a radian at most."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.nanmax(q, axis=-2) - np.nanmin(q, axis=-2)
    angles = np.array([kind == "angle" for kind in kinds])
    return np.where(angles, np.minimum(whole, _TURN), whole) if len(angles) == q.shape[-1] else whole


def _beside_uniform(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The range that is left of each coordinate when the best uniform motion is taken away."""
    if len(t) < 4:
        return np.ptp(q, axis=0)
    s = t - np.mean(t)
    s /= max(float(np.max(np.abs(s))), 1e-300)
    centred = q - q[:1]
    centred = centred - np.mean(centred, axis=0)
    rest = centred - np.outer(s, s @ centred / float(s @ s))
    return np.ptp(rest, axis=0)


def _with_coupled(run: Run, size: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The sizes, those of coordinates that hardly move raised to a small part of what moves in their block."""
    if run.system is None or len(size) < 2:
        return size
    if not run.system.flat:
        return np.maximum(size, _NEGLIGIBLE * np.max(size))
    if all(np.min(size[kind]) >= _NEGLIGIBLE * np.max(size[kind]) for kind in (angles, ~angles) if np.any(kind)):
        return size
    blocks = coupled_blocks(run.system)
    some = slice(None, None, max(1, len(run.t) // _LOOKED))
    with np.errstate(all="ignore"):
        energy = np.nan_to_num(np.max(np.abs(np.asarray(run.momentum)[some] * np.asarray(run.v)[some]), axis=0))
    raised = size.copy()
    for block in np.unique(blocks):
        for kind in (True, False):
            here = (blocks == block) & (angles == kind)
            if not np.any(here):
                continue
            most, strongest = np.max(size[here]), np.max(energy[blocks == block])
            weak = here & (energy <= _SHARE * strongest) & (size < _NEGLIGIBLE * most)
            raised[weak] = _NEGLIGIBLE * most
    return raised
