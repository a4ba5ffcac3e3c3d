"""From a scene to an `hl.System` and the arguments of `hl.simulate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import holonomy as hl

from .evaluate import Value, evaluate
from .expression import Expression
from .functions import DOT, TIME
from .resolution import Setup, resolve
from .spec import METHODS, Scene

Time = Float[Array, ""]
Vector = Float[Array, " n"]


@dataclass(frozen=True)
class Built:
    """A scene made into objects: the system, and what `hl.simulate` wants to know besides."""

    setup: Setup
    system: hl.System

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `hl.simulate` after the system."""
        setup = self.setup
        return {
            "q0": jnp.asarray(setup.q),
            "v0": jnp.asarray(setup.v),
            "t_end": setup.t_end,
            "dt": setup.dt,
            "t0": setup.t,
            "save_every": setup.save_every,
            "method": method(setup),
        }


def build(scene: Scene) -> Built:
    """The system of a scene, with its start and its method.

    **Raises** `SceneError` as `resolve` does, and `ValueError` where the formulas do not make a mechanical system.
    """
    setup = resolve(scene)
    if setup.model is not None:
        return Built(setup, setup.model.build(**setup.parameters))
    formulas = Formulas(setup)
    common: dict[str, Any] = {"coordinates": dict(setup.coordinates), "parameters": dict(setup.parameters)}
    if scene.lagrangian is not None:
        drawn = formulas.positions if scene.positions is not None else None
        system = hl.System.from_lagrangian(formulas.lagrangian, positions=drawn, **common)
    else:
        system = hl.System.from_positions(formulas.positions, formulas.masses, potential=formulas.potential, **common)
    return Built(setup, system)


def method(setup: Setup) -> Any:
    """The method a scene asks for, or None to let `hl.simulate` choose."""
    if setup.method is None:
        return None
    return getattr(hl, METHODS[setup.method][0])(**setup.options)


@dataclass(frozen=True)
class Formulas:
    """A scene's formulas as functions of JAX arrays, in the signatures that `hl.System` takes."""

    setup: Setup

    def lagrangian(self, t: Time, q: Vector, v: Vector, p: Mapping[str, Any]) -> Float[Array, ""]:
        """L(t, q, v, p)."""
        formula = self._given(self.setup.scene.lagrangian)
        return _array(evaluate(formula.tree, self.scope([formula], t, q, v, p)), q)

    def potential(self, t: Time, q: Vector, p: Mapping[str, Any]) -> Float[Array, ""]:
        """V(t, q, p); zero if the scene gives none."""
        formula = self.setup.scene.potential
        if formula is None:
            return jnp.zeros_like(q[0])
        return _array(evaluate(formula.tree, self.scope([formula], t, q, None, p)), q)

    def positions(self, t: Time, q: Vector, p: Mapping[str, Any]) -> Float[Array, "particles d"]:
        """x(t, q, p)."""
        points = self._given(self.setup.scene.positions)
        scope = self.scope([formula for point in points for formula in point], t, q, None, p)
        return jnp.stack([jnp.stack([_array(evaluate(f.tree, scope), q) for f in point]) for point in points])

    def masses(self, p: Mapping[str, Any]) -> Float[Array, " particles"]:
        """The mass of each particle as a function of the parameters."""
        masses = self._given(self.setup.scene.masses)
        return jnp.stack([jnp.asarray(evaluate(mass.tree, p), dtype=jnp.float64) for mass in masses])

    def scope(
        self, formulas: Iterable[Expression], t: Time, q: Vector, v: Vector | None, p: Mapping[str, Any]
    ) -> dict[str, Value]:
        r"""The value of every name that these formulas use.

        The rate of a definition $x(t, q)$ is its derivative along the motion,
        $\partial_t x + (\partial x/\partial q) v$, by forward differentiation of the same tree.
        """
        made = self.setup.definitions
        needed = made.needed(formulas)
        still = {name: formula for name, formula in made.still.items() if name in needed}

        def placed(time: Time, point: Vector) -> dict[str, Value]:
            scope: dict[str, Value] = {**p, TIME: time, **dict(zip(self.setup.coordinates, point))}
            for name, formula in still.items():
                scope[name] = _array(evaluate(formula.tree, scope), point)
            return scope

        if v is None:
            return placed(t, q)
        defined = {name: name + DOT for name in still if name + DOT in needed}
        scope = placed(t, q)
        scope.update({name + DOT: rate for name, rate in zip(self.setup.coordinates, v)})
        if defined:
            _, rates = jax.jvp(lambda s, x: {n: placed(s, x)[n] for n in defined}, (t, q), (jnp.ones_like(t), v))
            scope.update({defined[name]: rate for name, rate in rates.items()})
        for name, formula in made.moving.items():
            if name in needed:
                scope[name] = evaluate(formula.tree, scope)
        return scope

    @staticmethod
    def _given(part: Any) -> Any:
        if part is None:
            raise LookupError("This scene has no such formula.")
        return part


def _array(value: Value, like: Vector) -> Float[Array, ""]:
    return jnp.asarray(value, dtype=like.dtype)
