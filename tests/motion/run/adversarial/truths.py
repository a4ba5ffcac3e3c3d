"""True motions: closed forms, and references of SciPy's integrators for equations written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc

Rows = Callable[[np.ndarray], np.ndarray]


def damped(t: np.ndarray, rate: float, friction: float, x: float, v: float) -> np.ndarray:
    """x'' = −rate² x − friction x', in rows (x, v); a negative rate² is written as an imaginary rate."""
    half = -0.5 * friction
    root = np.sqrt(complex(half**2 - complex(rate) ** 2))
    if abs(root) < 1e-12 * max(abs(half), abs(rate), 1e-300):  # equal roots
        grown = np.exp(half * t)
        c = v - half * x
        return np.stack([(x + c * t) * grown, (v + half * c * t) * grown], axis=1)
    a, b = half + root, half - root
    first = (v - b * x) / (a - b)
    second = x - first
    one, other = first * np.exp(a * t), second * np.exp(b * t)
    return np.stack([(one + other).real, (a * one + b * other).real], axis=1)


def driven(t: np.ndarray, rate: float, friction: float, force: float, omega: float, x: float, v: float) -> np.ndarray:
    """x'' = −rate² x − friction x' + force cos(omega t) from t = 0, in rows (x, v)."""
    c = force / (rate**2 - omega**2 + 1j * omega * friction)
    free = damped(t, rate, friction, x - c.real, v - (1j * omega * c).real)
    wave = c * np.exp(1j * omega * t)
    return free + np.stack([wave.real, (1j * omega * wave).real], axis=1)


def pieces(t: np.ndarray, parts: Sequence[tuple[float, float, float]], x: float, v: float) -> np.ndarray:
    """x'' = −rate² (x − centre) with other numbers from one time on to the next: parts (from, rate, centre)."""
    found = np.zeros((len(t), 2))
    for k, (begin, rate, centre) in enumerate(parts):
        end = parts[k + 1][0] if k + 1 < len(parts) else np.inf
        inside = (t >= begin) & (t < end)
        shift = np.array([centre, 0.0])
        found[inside] = damped(t[inside] - begin, rate, 0.0, x - centre, v) + shift
        if np.isfinite(end):
            x, v = damped(np.array([end - begin]), rate, 0.0, x - centre, v)[0] + shift
    return found


def bounces(t: np.ndarray, gravity: float, restitution: float, y: float, v: float) -> np.ndarray:
    """A ball above y = 0, in rows (y, v)."""
    found, begin = np.zeros((len(t), 2)), 0.0
    for _ in range(10**5):
        landing = begin + (v + np.sqrt(v * v + 2 * gravity * y)) / gravity
        inside = (t >= begin) & (t <= landing)
        s = t[inside] - begin
        found[inside] = np.stack([y + v * s - 0.5 * gravity * s * s, v - gravity * s], axis=1)
        if landing > np.max(t):
            return found
        v, y, begin = restitution * (gravity * (landing - begin) - v), 0.0, landing
    raise AssertionError("the ball bounces too often")


def pendulum(t: np.ndarray, rate: float, angle: float) -> np.ndarray:
    """θ'' = −rate² sin θ from rest at θ = angle, in rows θ."""
    k = np.sin(0.5 * angle)
    sn, cn, dn, _ = ellipj(ellipk(k * k) - rate * t, k * k)
    del cn, dn
    return 2.0 * np.arcsin(np.clip(k * sn, -1.0, 1.0))


def rotating_pendulum(t: np.ndarray, rate: float, speed: float) -> np.ndarray:
    """θ'' = −rate² sin θ from θ = 0 with a speed above 2 rate, which turns over and over, in rows θ."""
    m = (2.0 * rate / speed) ** 2
    assert m < 1
    _, _, _, amplitude = ellipj(0.5 * speed * t, m)
    return 2.0 * np.asarray(amplitude)


def time_of_rotation(rate: float, speed: float, angle: float) -> float:
    """The time in which that pendulum turns from 0 to the angle."""
    return float(2.0 / speed * ellipkinc(0.5 * angle, (2.0 * rate / speed) ** 2))


def kepler(t: np.ndarray, mu: float, axis: float, eccentricity: float) -> np.ndarray:
    """A planet from its pericentre at (a(1 − e), 0) with positive y velocity, in rows (x, y)."""
    mean = np.sqrt(mu / axis**3) * t
    whole = np.round(mean / (2 * np.pi)) * 2 * np.pi
    m = mean - whole
    anomaly = m + np.sign(m) * 0.85 * eccentricity
    for _ in range(60):
        change = (anomaly - eccentricity * np.sin(anomaly) - m) / (1 - eccentricity * np.cos(anomaly))
        anomaly = anomaly - np.clip(change, -0.5, 0.5)
    x = axis * (np.cos(anomaly) - eccentricity)
    return np.stack([x, axis * np.sqrt(1 - eccentricity**2) * np.sin(anomaly)], axis=1)


def linear(matrix: np.ndarray, start: np.ndarray) -> Rows:
    """y' = matrix y, by eigenvectors; the matrix must have a basis of them."""
    values, vectors = np.linalg.eig(matrix)
    parts = np.linalg.solve(vectors, start.astype(complex))
    return lambda t: (np.exp(np.multiply.outer(t, values)) * parts @ vectors.T).real


def reference(
    slope: Callable[[float, np.ndarray], np.ndarray],
    start: Sequence[float],
    begin: float,
    end: float,
    method: str = "DOP853",
    rtol: float = 3e-14,
) -> Rows:
    """A fine reference with dense output, computed when it is asked for."""

    @lru_cache(maxsize=1)
    def solved() -> Callable[[np.ndarray], np.ndarray]:
        found = solve_ivp(
            slope, (begin, end), np.asarray(start, float), method=method, rtol=rtol, atol=0.03 * rtol, dense_output=True
        )
        assert found.success, found.message
        return found.sol

    return lambda t: np.asarray(solved()(t)).T
