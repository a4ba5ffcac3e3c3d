"""Numbers given once for all links of a chain, or link by link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.systems.parameters import number
from holonomy.types import AnyArray, Numbers

_OPTIONAL = ("damping", "rod_mass", "joint_damping", "spring_damping")


def per_link(**given: Numbers) -> dict[str, AnyArray]:
    """Each number as an array with one entry per link; frictions and rod masses that are zero throughout are left out.

    **Raises** `ValueError` where lists differ in length, are empty, or a friction is negative.
    """
    arrays = {name: number(name, value) for name, value in given.items()}
    for name, array in arrays.items():
        if array.ndim > 1:
            raise ValueError(f"{name} must be one number or a list with one for each link; got shape {array.shape}.")
        if array.ndim == 1 and array.shape[0] == 0:
            raise ValueError(f"A pendulum needs at least one link; {name} is an empty list.")
    counts = {name: array.shape[0] for name, array in arrays.items() if array.ndim == 1}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(
            f"Lists must have one number for each link, so equally many: {said}. A single number is for all."
        )
    links = max(counts.values(), default=1)
    full = {name: _full(array, links) for name, array in arrays.items()}
    for name in _OPTIONAL:
        if name in full and not isinstance(full[name], Tracer):
            if not np.any(full[name]):
                del full[name]
            else:
                positive(name, full[name], zero=True)
    return full


def positive(name: str, array: AnyArray, zero: bool = False) -> None:
    """Refuse numbers that are not positive (with `zero`: that are negative), naming the link."""
    if isinstance(array, Tracer):
        return
    bad = np.flatnonzero(array < 0 if zero else array <= 0)
    if len(bad):
        limit = "must not be negative" if zero else "must be greater than 0"
        raise ValueError(f"{name} {limit}; link {bad[0] + 1} has {array[bad[0]]:g}.")


def chosen(extra: Mapping[str, Numbers] | None, own: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The model's parameters and a user's, which must not share names."""
    both = set(extra or {}) & set(own)
    if both:
        raise ValueError(f"parameters must not rename the model's own: {', '.join(sorted(both))}.")
    return {**(extra or {}), **own}


def _full(array: Any, links: int) -> Any:
    if array.ndim == 1:
        return array
    return jnp.broadcast_to(array, (links,)) if isinstance(array, Tracer) else np.full(links, array)
