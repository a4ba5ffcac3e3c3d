"""The gait with the displacement of a given one and the least cost. Runs in a worker process: it needs JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.studio.labs.settings import Settings
from holonomy.studio.labs.swimmer import gait, system
from holonomy.studio.labs.swimmer import settings as table
from holonomy.viewer.protocol import messages

_POINTS = gait.MOST_POINTS
_HARMONICS = 5  # of the search: each costs seconds


def optimised(settings: Settings) -> messages.SetText:
    """The command that sets the best gait near the present one; `ValueError` says why there is none."""
    model = table.model(settings)
    axes, origin = table.plane(settings)
    if model.momentum or model.group == "so3" or table.turns(settings).any():
        raise ValueError("The search is for gaits without turns or momentum, with a displacement in a plane or line.")
    if len(origin) != 2:
        raise ValueError("The search is for movers with two shape variables; choose a chain of three links.")
    row = np.array(list(model.numbers_of(settings.parameters).values()))
    mover = system.mover(model, int(settings.parameters.get("links", 0)), jnp.asarray(row))
    start = hl.Gait.points(origin + table.points(settings) @ axes.T, smooth=table.smooth(settings))
    wanted: list[float | None] = np.asarray(hl.perform(mover, start).displacement).tolist()
    if model.group in ("sphere", "hyperbolic"):
        wanted[1:] = [None, None]  # by its symmetry the body stays on its axis
    best = hl.optimal_gait(mover, wanted, "descent", start=start, harmonics=_HARMONICS)
    shapes = np.asarray(jax.vmap(best.path)(jnp.arange(_POINTS) / _POINTS))
    points = (shapes - origin) @ np.linalg.pinv(axes).T
    return messages.SetText(gait.NAME, gait.written(points), True)
