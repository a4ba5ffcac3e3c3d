r"""Inverse kinematics of a chain of rods in the plane: angles that bring a bob to a target.

Angles \(\theta_i\) are from the downward vertical and absolute, as those of `Pendulum`. Rods beyond the bob keep their
directions. A target out of reach is approached as far as the chain goes. Computed on the host in NumPy, for one target
at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from jaxtyping import Float, Real

_SWEEPS: Final = 60
"""Sweeps of cyclic descent at most; `_settle` does what is left."""
_CLOSE: Final = 1e-9
"""Relative to the chain's length: nearer than this is there."""
_CORRECTIONS: Final = 60
"""Damped corrections at most."""
_NEWTON: Final = 20
"""Steps of Newton's method at most."""
_THERE: Final = 1e-13
"""Relative to the chain's length: a few units of round-off."""

Angles = Float[np.ndarray, " links"]
Lengths = Float[np.ndarray, " links"]
Target = Float[np.ndarray, " 2"]
# Not that of `holonomy.types`, which imports JAX: the studio's server starts without it.
ArrayLike: TypeAlias = Real[np.ndarray, "..."] | Sequence[object]


def chain_points(angles: Angles, lengths: Lengths) -> Float[np.ndarray, "points 2"]:
    r"""The pivot at the origin, then the bobs: \(x_i = x_{i-1} + l_i(\sin\theta_i, -\cos\theta_i)\)."""
    rods = lengths[:, None] * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(rods, axis=0)])


def reach(
    angles: ArrayLike,
    lengths: ArrayLike,
    bob: int,
    target: ArrayLike,
    method: str = "cyclic",
) -> Angles:
    r"""Angles near the given ones that bring bob number `bob` (from 0) to a target, the pivot being the origin.

    **Arguments:** `method`, ``"cyclic"`` (cyclic coordinate descent from the bob to the pivot: each joint in turn
    rotates everything between it and the bob so that the bob points at the target; most of the motion is near the bob)
    or ``"least motion"`` (the angles of locally least \(\sum(\Delta\theta_i)^2\)). Angles never wrap.
    """
    angles, lengths = np.asarray(angles, float), np.asarray(lengths, float)
    target = np.asarray(target, float)
    if angles.ndim != 1 or angles.shape != lengths.shape:
        raise ValueError(f"There must be one angle per length; got shapes {angles.shape} and {lengths.shape}.")
    if not 0 <= bob < len(angles):
        raise ValueError(f"bob counts from 0 to {len(angles) - 1}; got {bob}.")
    if target.shape != (2,) or not np.all(np.isfinite(target)):
        raise ValueError(f"The target must be two finite numbers x, y; got {target!r}.")
    if method not in ("cyclic", "least motion"):
        raise ValueError(f"method is 'cyclic' or 'least motion'; got {method!r}.")
    part = slice(0, bob + 1)
    edge = _at_the_edge(angles[part], lengths[part], target)
    found = angles.copy()
    if edge is not None:
        found[part] = edge
    elif method == "cyclic":
        found[part] = _settle(_cyclic(angles[part], lengths[part], target), lengths[part], target)
    else:
        found[part] = _least(angles[part], lengths[part], target)
    return found


def _cyclic(angles: Angles, lengths: Lengths, target: Target) -> Angles:
    """Cyclic coordinate descent with the last bob: its sweeps come near at once and then slow down."""
    angles = angles.copy()
    scale = float(lengths.sum())
    for _ in range(_SWEEPS):
        for joint in range(len(angles) - 1, -1, -1):
            points = chain_points(angles, lengths)
            arm, goal = points[-1] - points[joint], target - points[joint]
            if min(np.linalg.norm(arm), np.linalg.norm(goal)) <= _CLOSE * scale:
                continue  # the direction is undefined: this joint does not turn
            cross, dot = arm[0] * goal[1] - arm[1] * goal[0], arm @ goal
            angles[joint:] += np.arctan2(cross, dot)
        if np.linalg.norm(chain_points(angles, lengths)[-1] - target) <= _CLOSE * scale:
            break
    return angles


def _slope(angles: Angles, lengths: Lengths) -> Float[np.ndarray, "2 links"]:
    """The derivative of the last bob's place by the angles."""
    return lengths * np.stack([np.cos(angles), np.sin(angles)])


def _settle(angles: Angles, lengths: Lengths, target: Target) -> Angles:
    """The last bob at the target, by small corrections of least norm (Levenberg and Marquardt)."""
    scale = float(lengths.sum())
    now, damping = angles.copy(), 1e-3
    miss = target - chain_points(now, lengths)[-1]
    for _ in range(_CORRECTIONS):
        if np.linalg.norm(miss) <= _THERE * scale:
            break
        slope = _slope(now, lengths)
        if np.linalg.norm(slope.T @ miss) <= 1e-7 * scale * np.linalg.norm(miss):
            # with all rods in line with the target the Jacobian is singular: bend the chain a little
            now, damping = now + 0.05 * (-1.0) ** np.arange(len(now)), 1e-3
            miss = target - chain_points(now, lengths)[-1]
            continue
        square = slope @ slope.T + damping * np.linalg.norm(miss) * scale * np.eye(2)
        step = slope.T @ np.linalg.solve(square, miss)
        new = now + step * min(1.0, 1.0 / float(np.max(np.abs(step))))
        left = target - chain_points(new, lengths)[-1]
        if np.linalg.norm(left) < np.linalg.norm(miss):
            now, miss, damping = new, left, damping / 4
        else:
            damping *= 8
    return now


def _least(angles: Angles, lengths: Lengths, target: Target) -> Angles:
    """The nearest angles with the last bob at the target: first reach it, then approach the given angles along the
    configurations that keep it there."""
    now, share = _settle(angles, lengths, target), 1.0
    if np.linalg.norm(chain_points(now, lengths)[-1] - target) > _CLOSE * float(lengths.sum()):
        now = _settle(_cyclic(angles, lengths, target), lengths, target)
    for _ in range(_CORRECTIONS):
        slope, back = _slope(now, lengths), angles - now
        step = back - np.linalg.pinv(slope) @ (slope @ back)
        if np.max(np.abs(step)) <= 0.1:
            newer = _stationary(now, angles, lengths, target)
            if newer is not None:
                return newer
        new = _settle(now + share * step, lengths, target)
        if np.linalg.norm(new - angles) < np.linalg.norm(back):
            now, share = new, min(1.0, 1.3 * share)
        else:
            share /= 2
    return now


def _stationary(now: Angles, angles: Angles, lengths: Lengths, target: Target) -> Angles | None:
    """Newton's method for the least of |θ - θ₀|² with the end at the target; None where it leads further away."""
    n, bound = len(now), np.linalg.norm(now - angles) + 1e-9
    for _ in range(_NEWTON):
        slope, back = _slope(now, lengths), angles - now
        pull = np.linalg.lstsq(slope.T, back, rcond=None)[0]
        bending = lengths * (pull[1] * np.cos(now) - pull[0] * np.sin(now))
        matrix = np.block([[np.eye(n) + np.diag(bending), slope.T], [slope, np.zeros((2, 2))]])
        miss = target - chain_points(now, lengths)[-1]
        step = np.linalg.lstsq(matrix, np.concatenate([back, miss]), rcond=None)[0][:n]
        now = now + step
        if np.max(np.abs(step)) <= 1e-11:
            there = np.linalg.norm(target - chain_points(now, lengths)[-1]) <= _CLOSE * float(lengths.sum())
            return now if there and np.linalg.norm(now - angles) <= bound else None
    return None


def _at_the_edge(angles: Angles, lengths: Lengths, target: Target) -> Angles | None:
    """The stretched or folded chain that points at a target beyond reach or too near; None when it can be reached."""
    distance = float(np.linalg.norm(target))
    longest = int(np.argmax(lengths))
    inner = max(0.0, 2 * float(lengths[longest]) - float(lengths.sum()))
    if inner < distance < float(lengths.sum()):
        return None
    if distance == 0.0 and inner == 0.0:
        return None
    towards = float(np.arctan2(target[0], -target[1])) if distance > 0 else float(angles[longest])
    wanted = np.full_like(angles, towards)
    if distance <= inner:
        wanted += np.pi
        wanted[longest] = towards
    return wanted + 2 * np.pi * np.round((angles - wanted) / (2 * np.pi))
