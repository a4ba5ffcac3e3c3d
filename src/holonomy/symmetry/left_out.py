"""What depends on a coordinate that is to be left out, in words, and which of these move at a constant velocity."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp

from holonomy.symmetry.dependence import Dependence, TracedFunction, depends_on
from holonomy.symmetry.lift import MomentumLift, with_own
from holonomy.systems import System
from holonomy.trace.function import trace

_WORDS: Final = {
    "force": "force",
    "holonomic": "constraint on positions",
    "velocity": "velocity constraint",
    "wall": "wall",
    "ratchet": "one-sided velocity constraint",
    "slip": "friction at the walls",
}


def named(which: list[Dependence], every: tuple[Dependence, ...]) -> str:
    """Forces and conditions as the subject of a sentence, by their numbers where there are several."""
    words = []
    for one in which:
        several = sum(other.kind == one.kind for other in every) > 1
        words.append(f"the {_WORDS[one.kind]}" + (f" number {one.number + 1}" if several else ""))
    return " and ".join(dict.fromkeys(words))


def dependents(system: System) -> dict[int, tuple[str, int]]:
    """The coordinates on which forces or velocity constraints depend, with these in words, and their number."""
    every = depends_on(system)
    found = {}
    for i in range(len(system.names)):
        which = [d for d in every if d.kind not in ("lagrangian", "holonomic") and i in d.positions]
        if which:
            found[i] = (named(which, every), len(which))
    return found


def why_not_cyclic(system: System, i: int) -> str:
    """Why the momentum of coordinate i is not constant, in words."""
    name, every = system.names[i], depends_on(system)
    which = [d for d in every if i in d.acts]
    if not which:
        return f"the Lagrangian depends on {name}"
    said = f"{named(which, every)} may act along {name}"
    if all(d.kind == "velocity" for d in which):
        said += "; hl.chaplygin leaves out coordinates whose velocities are so constrained"
    return said


def constant_rates(system: System, lift: MomentumLift, base: System) -> set[int]:
    """The left-out coordinates whose velocities depend on parameters alone, those of the reduced system `base`."""
    n = base.space.point_dim
    shape = jax.ShapeDtypeStruct((n,), jnp.float64)
    example = (jax.ShapeDtypeStruct((), jnp.float64), shape, shape, base.parameters)

    def rate(k: int) -> Any:
        return trace(lambda t, z, w, p: lift.speeds(with_own(system, p), t, z, w, p)[k][None], example)

    return {i for k, i in enumerate(lift.out) if not TracedFunction(base, rate(k), velocity=True).contained}
