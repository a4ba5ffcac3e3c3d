"""From a scene to an `hl.System` and the arguments of `hl.simulate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import holonomy as hl
from holonomy import start_checks
from holonomy.scene import bodies, conditions, ensemble
from holonomy.scene.errors import SceneError
from holonomy.scene.evaluate import Value, evaluate
from holonomy.scene.expression import Expression
from holonomy.scene.functions import DOT, TIME
from holonomy.scene.names import value
from holonomy.scene.resolve import Setup, resolve
from holonomy.scene.spec import METHODS, SPACES, Scene, SpaceChoice
from holonomy.spaces.base import AbstractSpace

Time = Float[Array, ""]
Vector = Float[Array, " n"]


@dataclass(frozen=True)
class Built:
    """A scene made into objects: the system, and what `hl.simulate` wants to know besides."""

    setup: Setup
    system: hl.System
    events: tuple[hl.Event, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `hl.simulate` after the system, or of `hl.ensemble` where the scene has one."""
        setup = self.setup
        spread = setup.ensemble
        one = {"q0": jnp.asarray(setup.q), "v0": jnp.asarray(setup.v)}
        return {
            **(one if spread is None else ensemble.arguments(setup, spread, self.system)),
            "t_end": setup.t_end,
            "dt": setup.dt,
            "t0": setup.t,
            "save_every": setup.save_every,
            "method": method(setup),
            **({"events": self.events} if self.events else {}),
        }


def build(scene: Scene) -> Built:
    """The system of a scene, with its start and its method.

    **Raises** `SceneError` as `resolve` does, and `ValueError` where the formulas do not make a mechanical system.
    """
    setup = resolve(scene)
    free = setup.model.build(**setup.parameters) if setup.model is not None else typed_system(setup)
    _check_start(free, setup)
    formulas = Formulas(setup)
    return Built(setup, conditions.put_on(free, formulas), tuple(conditions.watched(formulas)))


def typed_system(setup: Setup) -> hl.System:
    """The system of a scene's own formulas, without its forces and constraints."""
    formulas = Formulas(setup)
    space = _space(setup)
    names = dict(setup.coordinates) if space is None else tuple(setup.coordinates)
    common: dict[str, Any] = {"coordinates": names, "parameters": dict(setup.parameters), "space": space}
    scene = setup.scene
    drawn = formulas.positions if scene.positions is not None else None
    if scene.lagrangian is not None:
        return hl.System.from_lagrangian(formulas.lagrangian, positions=drawn, **common)
    if scene.bodies is not None:
        drawn = drawn or bodies.centres(formulas)
        return hl.System.from_lagrangian(bodies.lagrangian(formulas), positions=drawn, **common)
    return hl.System.from_positions(formulas.positions, formulas.masses, potential=formulas.potential, **common)


def _space(setup: Setup) -> AbstractSpace | None:
    """The space that the scene names, or None for lines and circles."""
    given = setup.scene.space
    if given is None:
        return None
    several = given if isinstance(given, tuple) else (given,)
    scalars = {name: x for name, x in setup.parameters.items() if isinstance(x, float)}
    spaces = []
    for i, one in enumerate(several):
        where = f"space[{i}]" if isinstance(given, tuple) else "space"
        spaces.append(_one_space(SpaceChoice(one) if isinstance(one, str) else one, scalars, where))
    found = spaces[0] if len(spaces) == 1 else hl.Product(*spaces)
    count = len(setup.coordinates)
    if count != found.point_dim:
        raise SceneError(
            f"a point of {found} is {found.point_dim} numbers, but there are {count} coordinates; name one for each.",
            "coordinates",
        )
    return found


def _one_space(choice: SpaceChoice, scalars: Mapping[str, float], where: str) -> AbstractSpace:
    options: dict[str, Any] = {}
    if choice.name in ("sphere", "hyperbolic") and choice.radius is not None:
        options["radius"] = value(choice.radius, scalars, f"{where}.radius")
    elif choice.radius is not None:
        raise SceneError("only a sphere and a hyperbolic space have a radius.", f"{where}.radius")
    if choice.name in ("euclidean", "sphere", "hyperbolic"):
        size: tuple[int, ...] = (2 if choice.dim is None else choice.dim,)
    elif choice.dim is not None:
        raise SceneError(f"{choice.name} has one dimension only; remove this key.", f"{where}.dim")
    else:
        size = ()
    try:
        return getattr(hl, SPACES[choice.name])(*size, **options)
    except ValueError as error:
        raise SceneError(str(error), where) from None


def _check_start(system: hl.System, setup: Setup) -> None:
    """At the start the energy is finite and no velocity has negative kinetic energy."""
    state = (setup.t, jnp.asarray(setup.q), jnp.asarray(setup.v))
    if not np.isfinite(system.energy(*state)):
        raise SceneError("the energy has no finite value at the start; start elsewhere.", "initial")
    if not system.flat:
        return  # there only tangent vectors are velocities, and `hl.simulate` looks at them
    mass = np.asarray(system.mass_matrix(*state))
    if np.all(np.isfinite(mass)) and start_checks.is_indefinite(mass):
        raise SceneError(
            "the kinetic energy is negative for some velocities at the start: a mass is negative, or a sign is wrong "
            "(the Lagrangian is kinetic minus potential energy).",
            "lagrangian",
        )


def method(setup: Setup) -> Any:
    """The method a scene asks for, or None to let `hl.simulate` choose."""
    if setup.method is None:
        return None
    return METHODS[setup.method].make(**setup.options)


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

    def values(
        self, formulas: Sequence[Expression], t: Time, q: Vector, v: Vector | None, p: Mapping[str, Any]
    ) -> list[Float[Array, ""]]:
        """The value of each of some formulas; v is None where they may not use rates."""
        scope = self.scope(formulas, t, q, v, p)
        return [_array(evaluate(formula.tree, scope), q) for formula in formulas]

    def scope(
        self, formulas: Iterable[Expression], t: Time, q: Vector, v: Vector | None, p: Mapping[str, Any]
    ) -> dict[str, Value]:
        r"""The value of every name that these formulas use.

        The rate of a definition \(x(t, q)\) is its derivative along the motion,
        \(\partial_t x + (\partial x/\partial q) v\), by forward differentiation of the same tree.
        """
        made = self.setup.definitions
        needed = made.needed(formulas)
        still = {name: formula for name, formula in made.still.items() if name in needed}

        def placed(time: Time, point: Vector) -> dict[str, Value]:
            scope: dict[str, Value] = {**self._plain, **p, TIME: time, **dict(zip(self.setup.coordinates, point))}
            for name, formula in still.items():
                scope[name] = _array(evaluate(formula.tree, scope), point)
            return scope

        if v is None:
            return placed(t, q)
        scope, rates = placed(t, q), {}
        defined = [name for name in still if name + DOT in needed]
        if defined:

            def values(time: Time, point: Vector) -> dict[str, Value]:
                around = placed(time, point)  # once for all of them
                return {name: around[name] for name in defined}

            _, rates = jax.jvp(values, (t, q), (jnp.ones_like(t), v))
        scope.update({name + DOT: rate for name, rate in (*zip(self.setup.coordinates, v), *rates.items())})
        for name, formula in made.moving.items():
            if name in needed:
                scope[name] = evaluate(formula.tree, scope)
        return scope

    @property
    def _plain(self) -> dict[str, float]:
        """Parameters that are single numbers; a model may keep some of them out of its system's own."""
        return {name: x for name, x in self.setup.parameters.items() if isinstance(x, float)}

    @staticmethod
    def _given(part: Any) -> Any:
        if part is None:
            raise LookupError("This scene has no such formula.")
        return part


def _array(value: Value, like: Vector) -> Float[Array, ""]:
    return jnp.asarray(value, dtype=like.dtype)
