r"""The masses of a linkage, and the inner product of hinge velocities that they give.

A rod from hinge i - 1 to hinge i whose material point \(s \in [0, 1]\) moves with \((1-s)\dot p_{i-1} + s\dot p_i\) has
kinetic energy \(\frac12\bigl[(m - 2m' + m'')|\dot p_{i-1}|^2 + 2(m' - m'')\,\dot p_{i-1}\cdot\dot p_i
+ m''|\dot p_i|^2\bigr]\), with its mass m, first moment \(m' = \int s\,dm\) and second moment \(m'' = \int s^2\,dm\)
about hinge i - 1. A uniform rod has \(m' = m/2\), \(m'' = m/3\).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.systems.parameters import number
from holonomy.types import Numbers


class Masses(eqx.Module):
    """Masses of the hinges (n - 1); masses, first and second moments of the rods (n)."""

    hinge: Float[Array, " hinges"]
    rod: Float[Array, " rods"]
    first: Float[Array, " rods"]
    second: Float[Array, " rods"]

    def matrix(self) -> Float[Array, "hinges hinges"]:
        r"""M, symmetric and tridiagonal: \(T = \frac12\sum_{ij} M_{ij}\,\dot p_i\cdot\dot p_j\)."""
        diagonal, beside = self.bands()
        return jnp.diag(diagonal) + jnp.diag(beside, 1) + jnp.diag(beside, -1)

    def bands(self) -> tuple[Float[Array, " hinges"], Float[Array, " between"]]:
        """The diagonal of M and the numbers beside it."""
        start = self.rod - 2.0 * self.first + self.second
        return self.hinge + self.second[:-1] + start[1:], (self.first - self.second)[1:-1]

    def weights(self) -> Float[Array, " hinges"]:
        r"""\(w_i\) with \(\int y\,dm = \sum_i w_i y_i\): the total weight as weights of the hinges."""
        return self.hinge + self.first[:-1] + (self.rod - self.first)[1:]

    def parameters(self) -> dict[str, Array]:
        """The numbers under the names that a linkage's system gives them."""
        return {
            "hinge_mass": self.hinge,
            "rod_mass": self.rod,
            "rod_first_moment": self.first,
            "rod_second_moment": self.second,
        }

    @staticmethod
    def of(p: Mapping[str, Array]) -> Masses:
        """The masses among a system's parameters; the inverse of `parameters`."""
        hinges = p["rod_mass"].shape[0] - 1
        return Masses(
            jnp.broadcast_to(jnp.asarray(p["hinge_mass"]), (hinges,)),
            jnp.asarray(p["rod_mass"]),
            jnp.asarray(p["rod_first_moment"]),
            jnp.asarray(p["rod_second_moment"]),
        )


def masses(rods: int, rod_mass: Numbers, hinge_mass: Numbers, rod_moments: Sequence[Numbers] | None) -> Masses:
    """Masses from the arguments of `Linkage`; `ValueError` where they are no masses."""
    rod = _each("rod_mass", rod_mass, rods, "rod")
    hinge = _each("hinge_mass", hinge_mass, rods - 1, "moving hinge")
    if rod_moments is None:
        found = Masses(hinge, rod, rod / 2.0, rod / 3.0)
    else:
        if not isinstance(rod_moments, (tuple, list)) or len(rod_moments) != 2:
            raise ValueError(
                "rod_moments is a pair (first, second): the integrals of s dm and s² dm along a rod, each a number or "
                f"one per rod; got {rod_moments!r}."
            )
        first, second = (_each(f"rod_moments[{i}]", m, rods, "rod") for i, m in enumerate(rod_moments))
        found = Masses(hinge, rod, first, second)
        _refuse_moments(found)
    _refuse_massless(found)
    return found


def _each(name: str, value: Any, count: int, what: str) -> Float[Array, " count"]:
    given = number(name, value)
    if given.ndim == 0:
        given = jnp.broadcast_to(jnp.asarray(given), (count,))
    if given.shape != (count,):
        raise ValueError(
            f"{name} is one number, or one for each {what}, here {count}; got an array of shape {tuple(given.shape)}."
        )
    if not isinstance(given, Tracer):
        values = np.asarray(given)
        if np.any(values < 0):
            worst = int(np.argmin(values))
            raise ValueError(f"{name} must not be negative; {what} {worst + 1} has {values[worst]:g}.")
    return jnp.asarray(given, float)


def _refuse_moments(found: Masses) -> None:
    if not known(found):
        return
    m, first, second = (np.asarray(a) for a in (found.rod, found.first, found.second))
    slack = 1e-12 * (m + first)
    bad = (second > first + slack) | (first * first > m * second + slack * (m + 1e-300))
    if np.any(bad):
        i = int(np.argmax(bad))
        raise ValueError(
            f"No rod on 0 ≤ s ≤ 1 has mass {m[i]:g} and moments {first[i]:g}, {second[i]:g} (rod {i + 1}): a density "
            "needs second ≤ first and first² ≤ mass · second. A uniform rod has mass/2 and mass/3."
        )


def _refuse_massless(found: Masses) -> None:
    if not known(found):
        return
    matrix = np.asarray(found.matrix())
    if not np.any(matrix):
        raise ValueError(
            "All masses are zero, so nothing resists a push; give hinge_mass or rod_mass a positive number."
        )
    bare = np.flatnonzero(np.diag(matrix) == 0)
    if len(bare):
        raise ValueError(
            f"Hinge {bare[0] + 1} and the rods beside it have no mass, so that it could move without energy; give "
            "every moving hinge, or a rod beside it, a positive mass."
        )
    if np.linalg.eigvalsh(matrix).min() <= 1e-14 * np.diag(matrix).max():
        raise ValueError("These masses give some motion of the hinges no energy; give the hinges masses of their own.")
