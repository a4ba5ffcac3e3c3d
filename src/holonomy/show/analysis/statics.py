"""Equilibria of a system that nobody has guessed: where they are looked for, and which are the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.systems import System

if TYPE_CHECKING:
    from holonomy.symmetry.equilibria import Equilibrium

_GUESSED: Final = 4
"""Angles each of which is guessed at 0 and at a half turn."""
_TRIED: Final = 12
"""Further guesses, at random."""
_HOPELESS: Final = 5
"""Guesses without a result after which a system counts as one without equilibria, since a failed search is long."""
_BEHIND: Final = 1e-9
"""How far behind a wall an equilibrium may lie, which is then at the wall."""


def at_rest(system: System, q: np.ndarray, near: Iterable[np.ndarray] = ()) -> list[Equilibrium]:
    """The equilibria found from `near`, from q, from angles of 0 and π, and from random guesses, each once."""
    found: list[Equilibrium] = []
    failed = 0
    with np.errstate(all="ignore"):  # a guess may lie where the forces are infinite
        for guess in (*near, *_guesses(system, q)):
            try:
                found += hl.equilibria(system, guess)
            except (ValueError, np.linalg.LinAlgError):
                failed += 1
                if failed >= _HOPELESS and not found:
                    break
    found = [e for e in found if _allowed(system, e.q)]
    return [e for i, e in enumerate(found) if not any(_same(system, e.q, other.q) for other in found[:i])]


def _allowed(system: System, q: np.ndarray) -> bool:
    """Whether q is not behind a wall."""
    values = [f(jnp.zeros(()), jnp.asarray(q), *system.last) for f in system.constraints.walls.unilateral]
    return all(bool(np.all(np.asarray(sigma) >= -_BEHIND)) for sigma in values)


def _guesses(system: System, q: np.ndarray) -> Iterator[np.ndarray]:
    yield q
    angles = [i for i, c in enumerate(system.coordinates) if c.kind == "angle"][:_GUESSED]
    for values in itertools.product((0.0, np.pi), repeat=len(angles)):
        for base in (np.zeros_like(q), q):
            guess = base.copy()
            guess[angles] = values
            yield guess
    generator, size = np.random.default_rng(0), np.maximum(np.abs(q), 1.0)
    turns = np.array([c.kind == "angle" for c in system.coordinates])
    for _ in range(_TRIED):
        yield np.where(turns, np.pi, size) * generator.uniform(-1.0, 1.0, len(q))


def _same(system: System, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two configurations are one up to whole turns of angles."""
    gap = a - b
    turns = np.array([c.kind == "angle" for c in system.coordinates])
    gap = np.where(turns, gap - 2 * np.pi * np.round(gap / (2 * np.pi)), gap)
    return bool(np.max(np.abs(gap)) < 1e-6)
