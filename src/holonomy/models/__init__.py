"""The catalogue: systems that have a name.

`catalogue()` lists them and `find(name)` gives one, both without importing JAX; `find(name).build()` makes the
`hl.System`. The functions that build them are in `holonomy.models.classics`.

Chains of links are `Pendulum` and `ElasticPendulum`, with `accelerations` and `tensions` in time proportional to their
length, `to_elastic` and `to_rigid` between them, and `reach`, `chain_points` to drag one. `Linkage` is a chain pinned
at both ends, and the geometry of the sphere of its configurations.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from holonomy.models.catalogue import Model, Parameter, catalogue, find

if TYPE_CHECKING:
    from holonomy.models.linkages.linkage import Linkage
    from holonomy.models.pendulums.elastic import ElasticPendulum, to_elastic, to_rigid
    from holonomy.models.pendulums.inverse_kinematics import chain_points, reach
    from holonomy.models.pendulums.pendulum import Pendulum, accelerations, directions, tensions

_FILES = {
    "Pendulum": "pendulums.pendulum",
    "accelerations": "pendulums.pendulum",
    "directions": "pendulums.pendulum",
    "tensions": "pendulums.pendulum",
    "ElasticPendulum": "pendulums.elastic",
    "to_elastic": "pendulums.elastic",
    "to_rigid": "pendulums.elastic",
    "Linkage": "linkages.linkage",
    "chain_points": "pendulums.inverse_kinematics",
    "reach": "pendulums.inverse_kinematics",
}

__all__ = [
    "ElasticPendulum",
    "Linkage",
    "Model",
    "Parameter",
    "Pendulum",
    "accelerations",
    "catalogue",
    "chain_points",
    "directions",
    "find",
    "reach",
    "tensions",
    "to_elastic",
    "to_rigid",
]


def __getattr__(name: str) -> object:
    """Names that need JAX load on first use."""
    if name not in _FILES:
        raise AttributeError(f"holonomy.models has no public name {name!r}")
    module = importlib.import_module(f"holonomy.models.{_FILES[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value
