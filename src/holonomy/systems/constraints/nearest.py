"""The consistent state nearest to another one, by iterations on the host: `nearest_state` of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.nearest_state import FOUND as FOUND
from holonomy.nearest_state import NEAREST as NEAREST
from holonomy.nearest_state import ON_SURFACE as ON_SURFACE
from holonomy.nearest_state import SETTLED as SETTLED
from holonomy.nearest_state import nearest_state
from holonomy.start_checks import State
from holonomy.systems.constraints import at_state
from holonomy.types import AnyPoint, AnyTangent, Number

if TYPE_CHECKING:
    from holonomy.systems.system import System


def nearest(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Position, velocity, and by how much they miss conditions on positions and on velocities in units of the state.

    What cannot be found misses by NaN. None for systems that `at_state` does not evaluate.
    """
    if at_state.evaluated(system, t, q, v) is None:
        return None

    def look(y: np.ndarray, w: np.ndarray) -> State:
        found = at_state.evaluated(system, t, y, w)
        assert found is not None
        return found

    return nearest_state(look, system.constraints.equations.counts[0], np.asarray(q), np.asarray(v))
