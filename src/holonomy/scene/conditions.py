"""Forces, constraints, walls and events of a scene: their names checked, and put on a system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from holonomy.scene.errors import SceneError, suggestion
from holonomy.scene.expression import Expression, compute
from holonomy.scene.functions import DOT, TIME
from holonomy.scene.names import Definitions, check
from holonomy.scene.spec import EventChoice, Scene

if TYPE_CHECKING:
    import holonomy as hl
    from holonomy.scene.build_system import Formulas


def check_conditions(scene: Scene, made: Definitions, coordinates: Iterable[str], scalars: Mapping[str, float]) -> None:
    """Every formula uses names that it may. **Raises** `SceneError` for the first that does not."""
    names = list(coordinates)
    placed = [TIME, *names, *scalars, *made.still]
    moved = [*placed, *(name + DOT for name in (*names, *made.still)), *made.moving]
    for table, given in (("forces", scene.forces), ("damping", damping(scene, names))):
        for name in given:
            if name not in names:
                raise SceneError(f"there is no such coordinate{suggestion(name, names)}", f"{table}.{name}")
    for name, formula in scene.forces.items():
        check(formula, moved, f"forces.{name}")
    for name, formula in damping(scene, names).items():
        check(formula, scalars, f"damping.{name}" if isinstance(scene.damping, Mapping) else "damping")
    lists = (("constraints", placed), ("walls", placed), ("velocity_constraints", moved))
    for key, allowed in lists:
        for i, formula in enumerate(getattr(scene, key) or ()):
            check(formula, allowed, f"{key}[{i}]")
    for name, event in events(scene).items():
        check(event.when, moved, f"events.{name}")
    _restitution(scene, scalars)


def damping(scene: Scene, coordinates: Iterable[str]) -> dict[str, Expression]:
    """The coefficient of damping of each coordinate that has one."""
    given = scene.damping
    if given is None:
        return {}
    return dict(given) if isinstance(given, Mapping) else dict.fromkeys(coordinates, given)


def events(scene: Scene) -> dict[str, EventChoice]:
    """The events of a scene by name, each as a table."""
    return {name: e if isinstance(e, EventChoice) else EventChoice(e) for name, e in scene.events.items()}


def _restitution(scene: Scene, scalars: Mapping[str, float]) -> float:
    if scene.restitution is None:
        return 1.0
    if not scene.walls:
        raise SceneError('the scene has no "walls", which alone have a restitution.', "restitution")
    check(scene.restitution, scalars, "restitution")
    try:
        value = compute(scene.restitution.tree, scalars)
    except (ArithmeticError, ValueError):
        value = float("nan")
    if not 0 <= value <= 1:
        raise SceneError(f"it lies between 0 and 1; this one is {value:g}.", "restitution")
    return value


def put_on(system: hl.System, formulas: Formulas) -> hl.System:
    """The system with the forces, constraints and walls of the scene."""
    import jax.numpy as jnp

    setup = formulas.setup
    scene, names = setup.scene, list(setup.coordinates)
    losses = damping(scene, names)
    if scene.forces or losses:

        def force(t: Any, q: Any, v: Any, p: Any) -> Any:
            given = [*scene.forces.values(), *losses.values()]
            value = formulas.values(given, t, q, v, p)
            pushes = dict(zip(scene.forces, value))
            drags = dict(zip(losses, value[len(scene.forces) :]))
            parts = [pushes.get(name, 0.0) - drags.get(name, 0.0) * v[i] for i, name in enumerate(names)]
            return jnp.stack([jnp.asarray(part, dtype=q.dtype) for part in parts])

        system = system.forced(force)
    found: dict[str, Any] = {}
    if (still := scene.constraints) is not None:
        found["holonomic"] = lambda t, q, p: jnp.stack(formulas.values(still, t, q, None, p))
    if (moving := scene.velocity_constraints) is not None:
        found["velocity"] = lambda t, q, v, p: jnp.stack(formulas.values(moving, t, q, v, p))
    if (walls := scene.walls) is not None:
        found["unilateral"] = lambda t, q, p: jnp.stack(formulas.values(walls, t, q, None, p))
        scalars = {name: value for name, value in setup.parameters.items() if isinstance(value, float)}
        found["restitution"] = _restitution(scene, scalars)
    return system.constrained(**found) if found else system


def watched(formulas: Formulas) -> list[hl.Event]:
    """The events of the scene as `hl.simulate` takes them."""
    import holonomy as hl

    def sigma(formula: Expression) -> Any:
        return lambda t, q, v, p: formulas.values([formula], t, q, v, p)[0]

    return [
        hl.Event(sigma(event.when), direction=event.direction, terminal=event.terminal, name=name)
        for name, event in events(formulas.setup.scene).items()
    ]
