"""Catalogued models that are made by the classes for chains and linkages."""

from __future__ import annotations

import jax.numpy as jnp

from holonomy.models.linkages.linkage import Linkage
from holonomy.models.pendulums.elastic import ElasticPendulum
from holonomy.models.pendulums.pendulum import Pendulum
from holonomy.systems import System

PerLink = tuple[float, ...]


def chain(masses: PerLink, lengths: PerLink, gravity: float, damping: float) -> System:
    """`hl.Pendulum`."""
    return Pendulum(jnp.asarray(lengths), jnp.asarray(masses), gravity, damping)


def elastic_chain(masses: PerLink, lengths: PerLink, gravity: float, damping: float, stiffness: PerLink) -> System:
    """`hl.ElasticPendulum`."""
    return ElasticPendulum(jnp.asarray(lengths), jnp.asarray(masses), jnp.asarray(stiffness), gravity, damping)


def linkage(rods: int, base: float, rod_mass: float, hinge_mass: float, gravity: float) -> System:
    """`hl.Linkage(...).system()`: its configuration is a point of a sphere."""
    return Linkage(rods, base, rod_mass, hinge_mass).system(gravity=gravity)
