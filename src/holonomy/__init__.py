"""Mechanics is geometry: describe a mechanical system once, get its motion, curvature, symmetries and pictures.

This file is the public surface and nothing else. Names load on first use, so that ``holonomy --help`` does not wait
for JAX; importing the package turns on double precision in JAX.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOMS = {
    "Euclidean": "spaces",
    "Circle": "spaces",
    "Sphere": "spaces",
    "Hyperbolic": "spaces",
    "Inhomogeneous": "spaces",
    "SO": "spaces",
    "SO3": "spaces",
    "SE2": "spaces",
    "SE3": "spaces",
    "Product": "spaces",
    "Power": "spaces",
    "Chart": "spaces",
    "Carried": "spaces",
    "System": "systems",
    "carry": "systems",
    "Body": "systems",
    "World": "systems",
    "combine": "systems",
    "Neighbours": "systems",
    "simulate": "motion",
    "Run": "motion",
    "SimulationError": "motion",
    "Event": "motion",
    "Result": "motion",
    "Stepper": "motion",
    "load": "motion",
    "RK4": "motion",
    "Euler": "motion",
    "SymplecticEuler": "motion",
    "Gauss": "motion",
    "Adaptive": "motion",
    "Taylor": "motion",
    "EventDriven": "motion",
    "Rattle": "motion",
    "Radau": "motion",
    "Splitting": "motion",
    "Verlet": "motion",
    "chaplygin": "symmetry",
    "cyclic": "symmetry",
    "noether": "symmetry",
    "energy_function": "symmetry",
    "jacobi_integral": "symmetry",
    "killing": "symmetry",
    "integrability": "symmetry",
    "routh": "symmetry",
    "quadrature": "symmetry",
    "jacobi_metric": "symmetry",
    "least_action": "symmetry",
    "equilibria": "symmetry",
    "normal_modes": "symmetry",
    "Mover": "locomotion",
    "Gait": "locomotion",
    "perform": "locomotion",
    "holonomy": "locomotion",
    "optimal_gait": "locomotion",
    "steer": "locomotion",
    "ensemble": "study",
    "ghost": "study",
    "lyapunov": "study",
    "section": "study",
    "Pendulum": "models",
    "ElasticPendulum": "models",
    "Linkage": "models",
    "Purcell": "models",
    "PushMePullYou": "models",
}
_MODULES = (
    "geometry",
    "spaces",
    "trace",
    "systems",
    "motion",
    "symmetry",
    "locomotion",
    "study",
    "models",
    "show",
    "scene",
    "studio",
    "testing",
)

if TYPE_CHECKING:
    from holonomy import geometry as geometry
    from holonomy import locomotion as locomotion
    from holonomy import models as models
    from holonomy import motion as motion
    from holonomy import scene as scene
    from holonomy import show as show
    from holonomy import spaces as spaces
    from holonomy import studio as studio
    from holonomy import study as study
    from holonomy import symmetry as symmetry
    from holonomy import systems as systems
    from holonomy import testing as testing
    from holonomy import trace as trace
    from holonomy.locomotion import Gait as Gait
    from holonomy.locomotion import Mover as Mover
    from holonomy.locomotion import holonomy as holonomy
    from holonomy.locomotion import optimal_gait as optimal_gait
    from holonomy.locomotion import perform as perform
    from holonomy.locomotion import steer as steer
    from holonomy.models import ElasticPendulum as ElasticPendulum
    from holonomy.models import Linkage as Linkage
    from holonomy.models import Pendulum as Pendulum
    from holonomy.models import Purcell as Purcell
    from holonomy.models import PushMePullYou as PushMePullYou
    from holonomy.motion import RK4 as RK4
    from holonomy.motion import Adaptive as Adaptive
    from holonomy.motion import Euler as Euler
    from holonomy.motion import Event as Event
    from holonomy.motion import EventDriven as EventDriven
    from holonomy.motion import Gauss as Gauss
    from holonomy.motion import Radau as Radau
    from holonomy.motion import Rattle as Rattle
    from holonomy.motion import Result as Result
    from holonomy.motion import Run as Run
    from holonomy.motion import SimulationError as SimulationError
    from holonomy.motion import Splitting as Splitting
    from holonomy.motion import Stepper as Stepper
    from holonomy.motion import SymplecticEuler as SymplecticEuler
    from holonomy.motion import Taylor as Taylor
    from holonomy.motion import Verlet as Verlet
    from holonomy.motion import load as load
    from holonomy.motion import simulate as simulate
    from holonomy.spaces import SE2 as SE2
    from holonomy.spaces import SE3 as SE3
    from holonomy.spaces import SO as SO
    from holonomy.spaces import SO3 as SO3
    from holonomy.spaces import Carried as Carried
    from holonomy.spaces import Chart as Chart
    from holonomy.spaces import Circle as Circle
    from holonomy.spaces import Euclidean as Euclidean
    from holonomy.spaces import Hyperbolic as Hyperbolic
    from holonomy.spaces import Inhomogeneous as Inhomogeneous
    from holonomy.spaces import Power as Power
    from holonomy.spaces import Product as Product
    from holonomy.spaces import Sphere as Sphere
    from holonomy.study import ensemble as ensemble
    from holonomy.study import ghost as ghost
    from holonomy.study import lyapunov as lyapunov
    from holonomy.study import section as section
    from holonomy.symmetry import chaplygin as chaplygin
    from holonomy.symmetry import cyclic as cyclic
    from holonomy.symmetry import energy_function as energy_function
    from holonomy.symmetry import equilibria as equilibria
    from holonomy.symmetry import integrability as integrability
    from holonomy.symmetry import jacobi_integral as jacobi_integral
    from holonomy.symmetry import jacobi_metric as jacobi_metric
    from holonomy.symmetry import killing as killing
    from holonomy.symmetry import least_action as least_action
    from holonomy.symmetry import noether as noether
    from holonomy.symmetry import normal_modes as normal_modes
    from holonomy.symmetry import quadrature as quadrature
    from holonomy.symmetry import routh as routh
    from holonomy.systems import Body as Body
    from holonomy.systems import Neighbours as Neighbours
    from holonomy.systems import System as System
    from holonomy.systems import World as World
    from holonomy.systems import carry as carry
    from holonomy.systems import combine as combine

__all__ = ["__version__", *_ROOMS, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def _double_precision() -> None:
    if "jax" not in sys.modules:
        os.environ.setdefault("JAX_ENABLE_X64", "1")  # read by JAX when it is imported; importing it here would be slow
        return
    import jax

    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        if jax.live_arrays():
            warnings.warn(
                "JAX was used in single precision before holonomy was imported; holonomy turns double precision on, "
                "and arrays made earlier stay single. Import holonomy first.",
                stacklevel=3,
            )
        jax.config.update("jax_enable_x64", True)


_double_precision()


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = getattr(importlib.import_module(f"holonomy.{_ROOMS[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"holonomy.{name}")
    else:
        from difflib import get_close_matches

        near = get_close_matches(name, (*_ROOMS, *_MODULES), 1)
        hint = f". Did you mean {near[0]}?" if near else ""
        raise AttributeError(f"holonomy has no public name {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
