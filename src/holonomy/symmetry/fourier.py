"""Integrals of smooth periodic functions, to round-off by Fourier series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_SAMPLES = (32, 64, 128, 256, 512, 1024, 2048, 4096)  # of the integrand over a period
_RESOLVED = 1e-13  # of the mean: what the last Fourier coefficients may be


def antiderivative(rate: Callable[[np.ndarray], np.ndarray], at: str) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    r"""The mean of a function with period \(2\pi\), and the coefficients \(a_k\) of \(\cos k\theta\), \(b_k\) of
    \(\sin k\theta\), k = 1, 2, ..., of the integral of the rest.

    **Raises** `ValueError` where the series does not settle; `at` names the motion in its sentence.
    """
    for count in _SAMPLES:
        theta = 2 * np.pi * (np.arange(count) + 0.5) / count  # not at the ends, which may be turning points
        with np.errstate(invalid="ignore", divide="ignore"):
            values = rate(theta)
        if not np.all(np.isfinite(values)):
            break
        found = np.fft.rfft(values) / count * np.exp(-1j * np.pi * np.arange(count // 2 + 1) / count)
        mean, waves = float(found[0].real), 2 * found[1 : count // 2]
        tail = np.max(np.abs(waves[-len(waves) // 4 :]))
        if tail < _RESOLVED * mean:
            kept = np.flatnonzero(np.abs(waves) > 1e-17 * mean)
            waves = waves[: int(kept[-1]) + 1] if kept.size else waves[:1]
            # f = Re Σ wₖ exp(ikθ), so its integral is Re Σ wₖ/(ik) exp(ikθ)
            whole = waves / (1j * np.arange(1, len(waves) + 1))
            return mean, (whole.real.copy(), -whole.imag)
    raise ValueError(
        f"The integrand of the period is not smooth enough at {at}: the motion comes near an equilibrium, where the "
        "period is infinite (a separatrix), near a singularity, or over a kink or a narrow step of the potential. "
        "Choose another energy."
    )
