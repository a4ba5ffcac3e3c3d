"""Chains of rods in the plane: where the bobs are, and how to reach with one of them."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Float

_SWEEPS: Final = 60
_CLOSE: Final = 1e-9
"""Relative to the chain's length: nearer than this is there."""


Angles = Float[np.ndarray, " links"]
Lengths = Float[np.ndarray, " links"]


def chain_points(angles: Angles, lengths: Lengths) -> Float[np.ndarray, "points 2"]:
    r"""The pivot at the origin, then the bobs: \(x_i = x_{i-1} + l_i(\sin\theta_i, -\cos\theta_i)\)."""
    rods = lengths[:, None] * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(rods, axis=0)])


def reach(angles: Angles, lengths: Lengths, bob: int, target: Float[np.ndarray, " 2"]) -> Angles:
    """Angles near the given ones that bring a bob to a target, by cyclic coordinate descent from the bob to the pivot.

    Each joint in turn rotates everything beyond it so that the bob points at the target. Rods beyond the bob keep their
    directions. A target out of reach is approached as far as the chain goes; angles change by less than a turn and
    never wrap.
    """
    angles = angles.copy()
    scale = float(lengths[: bob + 1].sum())
    for _ in range(_SWEEPS):
        for joint in range(bob, -1, -1):
            points = chain_points(angles, lengths)
            arm, goal = points[bob + 1] - points[joint], target - points[joint]
            if min(np.linalg.norm(arm), np.linalg.norm(goal)) <= _CLOSE * scale:
                continue  # a direction of length zero: any turn is as good as none
            cross, dot = arm[0] * goal[1] - arm[1] * goal[0], arm @ goal
            angles[joint : bob + 1] += np.arctan2(cross, dot)
        if np.linalg.norm(chain_points(angles, lengths)[bob + 1] - target) <= _CLOSE * scale:
            break
    return angles
