"""The catalogue: systems that have a name.

`catalogue()` lists them, and each is an attribute here, both without importing JAX: `hl.models.kepler(mu=2.0)` makes
the `hl.System`, and `hl.models.kepler` knows its parameters and a start that shows it well. `find(name)` gives the same
by its name. The functions that build them are in `holonomy.models.classics` and `holonomy.models.rigid_bodies`.

Chains of links are `Pendulum` and `ElasticPendulum`, with `accelerations` and `tensions` in time proportional to their
length, `to_elastic` and `to_rigid` between them, and `reach`, `chain_points` to drag one. `Linkage` is a chain pinned
at both ends, and the geometry of the sphere of its configurations.

Bodies for `hl.World` are built by the functions of `holonomy.models.bodies`: `rod`, `triangle`, `ring`, `chain`,
`cloth`, `cubic_lattice` and `tetrahedral_lattice`, placed in a space.

Systems with wheels, for `hl.simulate`: `car_with_trailers`, `driven_snakeboard`; and `sphere_slide`, a particle that
leaves a sphere.

Movers, for `hl.perform`: `Purcell` and `links`, `PushMePullYou` and `three_spheres` swim in a viscous fluid; `raft`,
`falling_cat`, `space_robot` and `curved_body` have momentum zero; `car`, `snake` and `snakeboard` have wheels, and
`rolling_ball` rolls on a plane.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from holonomy.models.catalogue import catalogue, find
from holonomy.models.model import Model, Parameter

if TYPE_CHECKING:
    from holonomy.models import bodies
    from holonomy.models.linkages.linkage import Linkage
    from holonomy.models.movers.inertial import curved_body, falling_cat, raft, space_robot
    from holonomy.models.movers.rolling import rolling_ball
    from holonomy.models.movers.wheels import car, snake, snakeboard
    from holonomy.models.pendulums.elastic import ElasticPendulum, to_elastic, to_rigid
    from holonomy.models.pendulums.inverse_kinematics import chain_points, reach
    from holonomy.models.pendulums.pendulum import Pendulum, accelerations, directions, tensions
    from holonomy.models.rolling import car_with_trailers, driven_snakeboard, sphere_slide
    from holonomy.models.swimmers.links import Purcell, links
    from holonomy.models.swimmers.spheres import PushMePullYou, three_spheres

    simple_pendulum: Model
    double_pendulum: Model
    multi_pendulum: Model
    spherical_pendulum: Model
    kepler: Model
    rotating_hoop: Model
    elliptical_wire: Model
    elastic_pendulum: Model
    chain: Model
    elastic_chain: Model
    linkage: Model
    free_rigid_body: Model
    heavy_top: Model
    rattleback: Model
    tippe_top: Model
    ball_on_plate: Model

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
    "car": "movers.wheels",
    "car_with_trailers": "rolling",
    "driven_snakeboard": "rolling",
    "sphere_slide": "rolling",
    "curved_body": "movers.inertial",
    "falling_cat": "movers.inertial",
    "raft": "movers.inertial",
    "rolling_ball": "movers.rolling",
    "snake": "movers.wheels",
    "snakeboard": "movers.wheels",
    "space_robot": "movers.inertial",
    "Purcell": "swimmers.links",
    "links": "swimmers.links",
    "PushMePullYou": "swimmers.spheres",
    "three_spheres": "swimmers.spheres",
}

__all__ = [
    "ElasticPendulum",
    "Linkage",
    "Model",
    "Parameter",
    "Pendulum",
    "Purcell",
    "PushMePullYou",
    "accelerations",
    "bodies",
    "car",
    "car_with_trailers",
    "catalogue",
    "chain_points",
    "curved_body",
    "directions",
    "driven_snakeboard",
    "falling_cat",
    "find",
    "links",
    "raft",
    "reach",
    "rolling_ball",
    "snake",
    "snakeboard",
    "space_robot",
    "sphere_slide",
    "tensions",
    "three_spheres",
    "to_elastic",
    "to_rigid",
]


_CATALOGUED = frozenset(model.name for model in catalogue())


def __dir__() -> list[str]:
    return sorted({*__all__, *_CATALOGUED})


def __getattr__(name: str) -> object:
    """Models by their names; what needs JAX loads on first use."""
    if name in _CATALOGUED:
        return find(name)
    if name == "bodies":
        return importlib.import_module("holonomy.models.bodies")
    if name not in _FILES:
        from difflib import get_close_matches

        near = get_close_matches(name, (*_CATALOGUED, *_FILES), 1)
        hint = f". Did you mean {near[0]}?" if near else ""
        raise AttributeError(f"holonomy.models has no public name {name!r}{hint}")
    module = importlib.import_module(f"holonomy.models.{_FILES[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value
