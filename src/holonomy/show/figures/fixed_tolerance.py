"""The two-stage Radau scheme on a circle, as a code with a Newton tolerance of its own choice would have it.

Written out in NumPy, apart from the library: unknowns are two stage velocities and two multipliers, conditions at the
end of the step. The Newton matrix is kept from step to step and renewed when it takes more than four iterations, as
most codes do, so that the iteration ends with a residual of the size of the tolerance.
"""

from __future__ import annotations

import numpy as np

A = np.array([[5 / 12, -1 / 12], [3 / 4, 1 / 4]])
WEIGHT = np.array([0.0, -9.81])


def residual(z: np.ndarray, h: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The equations of a step for stage velocities and multipliers z."""
    w, lam = z[:4].reshape(2, 2), z[4:]
    places = q + h * A @ w
    forces = WEIGHT + lam[:, None] * places
    balance = w - v - h * A @ forces
    end = places[1]
    return np.concatenate([balance.ravel(), [0.5 * (end @ end - 1.0), end @ w[1]]])


def jacobian(z: np.ndarray, h: float, q: np.ndarray) -> np.ndarray:
    """Their derivatives."""
    lam, places = z[4:], q + h * A @ z[:4].reshape(2, 2)
    end = places[1]
    out = np.zeros((6, 6))
    by_w = np.eye(4) - h * h * np.kron(A * lam[None] @ A, np.eye(2))
    out[:4, :4] = by_w
    for i in range(2):
        for j in range(2):
            out[2 * i : 2 * i + 2, 4 + j] = -h * A[i, j] * places[j]
    out[4, :4] = np.kron(h * A[1], end)
    out[5, :4] = np.kron(h * A[1], z[2:4])
    out[5, 2:4] += end
    return out


def worst_multiplier(q: np.ndarray, v: np.ndarray, span: float, steps: int, tolerance: float | None) -> float:
    """The largest error of λ, against the exact λ of the state it belongs to, over the second half of a run.

    `tolerance` None goes on until corrections no longer shrink.
    """
    h, worst = span / steps, 0.0
    z = np.concatenate([v, v, np.full(2, -(v @ v) + 9.81 * q[1])])
    inverse = np.linalg.inv(jacobian(z, h, q))
    for step in range(steps):
        last, count = np.inf, 0
        while True:
            value = residual(z, h, q, v)
            if tolerance is not None and np.max(np.abs(value)) <= tolerance:
                break
            change = inverse @ value
            size = np.max(np.abs(change[:4]))
            z = z - change
            count += 1
            if tolerance is None and size >= 0.5 * last and size < 1e-10:
                break
            if count > 4:
                inverse, count = np.linalg.inv(jacobian(z, h, q)), 0
            last = size
        q, v = q + h * A[1] @ z[:4].reshape(2, 2), z[2:4]
        if 2 * step >= steps:
            worst = max(worst, abs(z[5] - (9.81 * q[1] - v @ v) / (q @ q)))
    return worst
