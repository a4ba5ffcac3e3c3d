"""Small vibrations about an equilibrium, one frequency for each space of shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from scipy.linalg import eigh

from holonomy.symmetry.kernel_series import noise
from holonomy.symmetry.rest import Rest, at_rest, linear, shown
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import StateLike

_AT_REST = 1e-7  # of a configuration that a user calls an equilibrium: how far it may be off
_SIGN = 1e-9  # of the largest: forces below are taken for zero
_ROUNDING = 64 * np.finfo(float).eps  # of the largest square for each mode: what rounding makes of eigenvalues
_WORDS = {2: "double", 3: "threefold", 4: "fourfold"}


@dataclass(frozen=True)
class NormalModes:
    r"""Small vibrations \(\delta q = u\cos\omega t\) about an equilibrium q.

    `frequencies` are angular frequencies in rising order of their `squares`; imaginary where a displacement grows
    instead. The columns of `shapes` are the displacements u, orthonormal in the kinetic metric. `groups` are the modes
    by equal squares: of a group of several, the space that its shapes span is determined and the shapes are not, and
    those near coordinates are given. Squares are known to `uncertainty`, those within it of zero are given as zero.
    """

    q: np.ndarray
    frequencies: Complex[np.ndarray, " modes"] | Float[np.ndarray, " modes"]
    squares: np.ndarray
    shapes: np.ndarray
    groups: tuple[tuple[int, ...], ...] = ()
    uncertainty: float = 0.0

    def __repr__(self) -> str:
        several = [
            f"{self.frequencies[group[0]]:.6g} is {_WORDS.get(len(group), f'{len(group)}-fold')}"
            for group in self.groups
            if len(group) > 1
        ]
        listed = np.array2string(self.frequencies, precision=6, separator=", ")
        return f"<normal modes of angular frequencies {listed}{''.join('; ' + one for one in several)}>"


def normal_modes(system: System, q: StateLike) -> NormalModes:
    """The normal modes of small vibrations about the equilibrium q.

    **Fails** with `ValueError` where q is no equilibrium (it says which force is left), where forces depend on
    velocities or do not derive from a potential, since there are then no modes in phase.
    """
    at = np.asarray(vector("q", q, (system.space.point_dim,), system), float)
    rest = at_rest(system, at)
    multipliers = np.linalg.lstsq(rest.normals.T, -rest.force, rcond=None)[0] if len(rest.normals) else np.zeros(0)
    left = rest.force + rest.normals.T @ multipliers
    if _moves(system, at, multipliers, rest, left):
        raise ValueError(
            f"q = {shown(at)} is no equilibrium: the force {shown(left)} is left there. Find one near it with "
            "hl.equilibria."
        )
    parts = linear(system, at, multipliers)
    mass, damping, spring = (parts.along(matrix) for matrix in (parts.mass, parts.damping, parts.spring))
    critical = np.sqrt(np.max(np.abs(mass), initial=0.0) * np.max(np.abs(spring), initial=0.0))
    if np.max(np.abs(damping), initial=0.0) > _SIGN * critical:
        raise ValueError(
            "Forces depend on velocities here (damping or a turning frame), so there are no normal modes; "
            "hl.equilibria gives the eigenvalues of the motion."
        )
    if np.max(np.abs(spring - spring.T), initial=0.0) > _SIGN * np.max(np.abs(spring), initial=0.0):
        raise ValueError(
            "The stiffness is not symmetric here, since forces have no potential or constraints act on velocities, so "
            "there are no normal modes; hl.equilibria gives the eigenvalues of the motion."
        )
    values, vectors = eigh(0.5 * (spring + spring.T), mass)
    unsure = _ROUNDING * len(values) * float(np.max(np.abs(values), initial=0.0))
    values = np.where(np.abs(values) <= unsure, 0.0, values)
    groups = _groups(values, unsure)
    for group in groups:
        vectors[:, group] = _near_coordinates(vectors[:, group], mass)
        values[list(group)] = np.mean(values[list(group)])
    return NormalModes(at, np.emath.sqrt(values), values, parts.frame @ parts.free @ vectors, groups, unsure)


def _moves(system: System, q: np.ndarray, multipliers: np.ndarray, rest: Rest, left: np.ndarray) -> bool:
    """Whether forces or violations are left that neither rounding nor a last digit of q explains."""
    size = float(np.max(np.abs(q), initial=0.0))
    forces = _AT_REST * size * np.max(np.abs(rest.slope), axis=1, initial=0.0)
    if len(multipliers):  # forces that constraints balance, up to rounding
        forces = forces + _ROUNDING * np.max(np.abs(rest.force), initial=0.0)
    gaps = _AT_REST * size * np.max(np.abs(rest.normals[: len(rest.gap)]), axis=1, initial=0.0)
    over = np.abs(np.concatenate([left, rest.gap])) > np.concatenate([forces, gaps])
    if not np.any(over):
        return False
    return bool(np.any(np.abs(np.concatenate([left, rest.gap]))[over] > noise(system, q, multipliers)[over]))


def _groups(values: np.ndarray, unsure: float) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = []
    for k, value in enumerate(values):
        if found and value - values[found[-1][-1]] <= unsure:
            found[-1].append(k)
        else:
            found.append([k])
    return tuple(tuple(group) for group in found)


def _near_coordinates(shapes: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Another basis of the space of shapes, orthonormal in the metric, that does not depend on how they were found."""
    if shapes.shape[1] < 2:
        return shapes
    found: list[np.ndarray] = []
    rest = shapes @ shapes.T @ mass  # the projection of coordinates onto the space
    for _ in range(shapes.shape[1]):
        sizes = np.einsum("ik,ij,jk->k", rest, mass, rest) / np.diag(mass)
        column = rest[:, int(np.argmax(np.round(sizes, 9)))]
        found.append(column / np.sqrt(column @ mass @ column))
        rest = rest - np.outer(found[-1], found[-1] @ mass @ rest)
    return np.column_stack(found)
