"""The end of a step by a method that does not keep constraints by itself: projection onto them."""

from __future__ import annotations

import jax.numpy as jnp

from holonomy.motion.methods.base import Status
from holonomy.systems.constraints.conditions import Held
from holonomy.systems.constraints.project import settle, still_redundant, turned, worse
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code
from holonomy.types import Time, Vector


def finish(
    local: Local, held: Held | None, t: Time, h: Time, y: Vector, w: Vector, start: Vector
) -> tuple[Vector, Vector, Status]:
    """A step's end brought back to the constraints: coordinates, velocity, and how that went."""
    if held is None:
        return y, w, Status(jnp.int32(Code.ok), jnp.int32(1))
    y, w, code = settle(local, held, t + h, y, w)
    changed = worse(turned(local, held, t, h, start, y, w), still_redundant(local, held, t + h, y, w))
    return y, w, Status(worse(changed, code), jnp.int32(1))
