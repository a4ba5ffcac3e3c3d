"""The members of a scene's ensemble: their starts and their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from holonomy.scene.errors import SceneError, suggestion
from holonomy.scene.functions import DOT
from holonomy.scene.names import value
from holonomy.scene.spec import Scene

if TYPE_CHECKING:
    import holonomy as hl
    from holonomy.scene.resolve import Setup

Numbers = Float[np.ndarray, " members"]


@dataclass(frozen=True)
class Spread:
    """An ensemble in numbers: standard deviations, and pairs of a first and a last number, by name."""

    members: int
    deviations: Mapping[str, float]
    ends: Mapping[str, tuple[float, float]]
    seed: int


def checked(scene: Scene, coordinates: Iterable[str], scalars: Mapping[str, float], dt: float | None) -> Spread | None:
    """The ensemble of a scene, or None where it has none.

    **Raises** `SceneError` for a name that is no coordinate, rate or parameter, for one with both a spread and ends,
    and where nothing tells members apart or the scene has no step.
    """
    given = scene.ensemble
    if given is None:
        return None
    names = list(coordinates)
    known = [*names, *(name + DOT for name in names), *scalars]
    for table, entries in (("spread", given.spread), ("between", given.between)):
        for name in entries:
            if name not in known:
                raise SceneError(f"there is no such number{suggestion(name, known)}", f"ensemble.{table}.{name}")
            if table == "between" and name in given.spread:
                raise SceneError('it is in "spread" already; give one of them.', f"ensemble.between.{name}")
    if not (given.spread or given.between):
        raise SceneError('its members are all alike: give "spread" or "between".', "ensemble")
    if dt is None:
        raise SceneError('an ensemble has one step for all its members: give "dt".', "motion")
    if scene.outputs.animation:
        raise SceneError("an ensemble has no animation; remove this key.", "outputs.animation")
    deviations = {name: value(x, scalars, f"ensemble.spread.{name}") for name, x in given.spread.items()}
    ends = {name: _pair(x, scalars, f"ensemble.between.{name}") for name, x in given.between.items()}
    return Spread(given.members, deviations, ends, given.seed)


def _pair(given: tuple[Any, ...], scalars: Mapping[str, float], where: str) -> tuple[float, float]:
    if len(given) != 2:
        raise SceneError(f"expected two numbers, the first and the last, got {len(given)}.", where)
    return value(given[0], scalars, f"{where}[0]"), value(given[1], scalars, f"{where}[1]")


def arguments(setup: Setup, spread: Spread, system: hl.System) -> dict[str, Any]:
    """`q0s`, `v0s` and `parameters` for `hl.ensemble`; on a curved space the nearest points and tangent vectors."""
    import jax

    random = np.random.default_rng(spread.seed)
    steps = np.linspace(0.0, 1.0, spread.members)
    around = {name: size * random.standard_normal(spread.members) for name, size in spread.deviations.items()}
    across = {name: first + (last - first) * steps for name, (first, last) in spread.ends.items()}

    def numbers(name: str, own: float) -> Numbers:
        return across[name] if name in across else own + around.get(name, np.zeros(spread.members))

    names = list(setup.coordinates)
    q = np.stack([numbers(name, x) for name, x in zip(names, setup.q, strict=True)], axis=1)
    v = np.stack([numbers(name + DOT, x) for name, x in zip(names, setup.v, strict=True)], axis=1)
    if not system.flat:
        q = np.asarray(jax.vmap(system.space.project)(q))
        v = np.asarray(jax.vmap(system.space.tangent)(q, v))
    varied = [name for name in (*around, *across) if name in setup.parameters]
    own = {name: numbers(name, float(setup.parameters[name])) for name in varied}  # type: ignore[arg-type]
    return {"q0s": q, "v0s": v, "parameters": own or None}
