"""Equilibria of a system that nobody has guessed: where they are looked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from holonomy.symmetry.equilibria import Equilibrium, search
from holonomy.systems import System

_GUESSED: Final = 4
"""Angles each of which is guessed at 0 and at a half turn."""
_TRIED: Final = 12
"""Further guesses, at random."""
_HOPELESS: Final = 5
"""Guesses without a result after which a system counts as one without equilibria, since a failed search is long."""


def at_rest(system: System, q: np.ndarray, near: Iterable[np.ndarray] = ()) -> list[Equilibrium]:
    """The equilibria found from `near`, from q, from angles of 0 and π, and from random guesses, each once."""
    with np.errstate(all="ignore"):  # a guess may lie where the forces are infinite
        return search(system, (*near, *_guesses(system, q)), _HOPELESS)[0]


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
