"""From a scene as written to the numbers that a run needs, with everything checked that can be before computing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holonomy.models import Model, find
from holonomy.scene.bodies import check_bodies, check_inertia
from holonomy.scene.conditions import check_conditions
from holonomy.scene.ensemble import Spread, checked
from holonomy.scene.errors import SceneError, suggestion
from holonomy.scene.expression import Expression
from holonomy.scene.names import Definitions, check, check_free, definitions, moved, placed, value
from holonomy.scene.spec import METHODS, MOST_BYTES, MOST_SAVED, MethodChoice, ModelChoice, Scene

Numbers = float | tuple[float, ...]
_SAVED_PER_COORDINATE = 4
"""Numbers that a run keeps for each coordinate and saved state: position, velocity, momentum, force."""


@dataclass(frozen=True)
class Setup:
    """A scene ready to be built: every number computed, every name known, every default filled in.

    `model` is None when the scene has formulas of its own; `definitions` then holds its `[let]` table.
    """

    scene: Scene
    model: Model | None
    definitions: Definitions
    coordinates: Mapping[str, str]
    parameters: Mapping[str, Numbers]
    masses: tuple[float, ...]
    t: float
    q: tuple[float, ...]
    v: tuple[float, ...]
    t_end: float
    dt: float | None
    save_every: int
    method: str | None
    options: Mapping[str, Any]
    ensemble: Spread | None = None


def resolve(scene: Scene) -> Setup:
    """Check a scene as a whole and compute its numbers.

    **Raises** `SceneError` for parts that do not fit together: two systems or none, names unknown or taken twice, a
    coordinate without a start, numbers that are not finite, negative masses, a step or an end that cannot be.
    """
    model = _model(scene)
    check_free(scene)
    coordinates = _coordinates(scene, model)
    parameters = _parameters(scene, model)
    scalars = {name: value for name, value in parameters.items() if isinstance(value, float)}
    made = definitions(scene)
    if model is None:
        _formulas(scene, made)
    check_inertia(scene, scalars)
    check_conditions(scene, made, coordinates, scalars)
    t, t_end, dt = _times(scene, model, scalars)
    spread = checked(scene, coordinates, scalars, dt)
    _check_size(t_end - t, dt, scene.motion.save_every, len(coordinates), spread.members if spread else 1)
    method, options = _method(scene)
    return Setup(
        scene=scene,
        model=model,
        definitions=made,
        coordinates=coordinates,
        parameters=parameters,
        masses=_masses(scene, scalars),
        t=t,
        q=_state(scene, "q", coordinates, model.q if model else None, scalars),
        v=_state(scene, "v", coordinates, model.v if model else (0.0,) * len(coordinates), scalars),
        t_end=t_end,
        dt=dt,
        save_every=scene.motion.save_every,
        method=method,
        options=options,
        ensemble=spread,
    )


def _model(scene: Scene) -> Model | None:
    own = [name for name in ("lagrangian", "positions", "bodies") if getattr(scene, name) is not None]
    if scene.model is None:
        if not own:
            raise SceneError(
                'there is no system: give a "model", a "lagrangian", "bodies", or "positions" with "masses".'
            )
        if not scene.names:
            raise SceneError('there are no coordinates: give [coordinates], such as theta = "angle".')
        return None
    for name in ("lagrangian", "positions", "masses", "bodies", "potential", "coordinates", "space", "let"):
        if getattr(scene, name):
            raise SceneError('a scene with a "model" has its system already; remove this key or the model.', name)
    choice = scene.model if isinstance(scene.model, ModelChoice) else ModelChoice(scene.model)
    try:
        return find(choice.name, choice.links)
    except ValueError as error:
        raise SceneError(str(error), "model") from None


def _coordinates(scene: Scene, model: Model | None) -> dict[str, str]:
    if model is not None:
        return dict(model.coordinates)
    given = scene.coordinates
    if isinstance(given, Mapping):
        return dict(given)
    names = given or ()
    if len(set(names)) != len(names):
        raise SceneError("a coordinate is named twice.", "coordinates")
    return dict.fromkeys(names, "number")


def _parameters(scene: Scene, model: Model | None) -> dict[str, Numbers]:
    found: dict[str, Numbers] = dict(model.defaults) if model else {}
    for name, given in scene.parameters.items():
        where = f"parameters.{name}"
        if model and name not in found:
            raise SceneError(f"{model.name} has no such parameter{suggestion(name, found)}", where)
        if isinstance(given, tuple):
            if not model:
                raise SceneError("a list of numbers is only for a model's parameters; name each number here.", where)
            found[name] = tuple(value(part, {}, f"{where}[{i}]") for i, part in enumerate(given))
        else:
            found[name] = value(given, {}, where)
        if model:
            parameter = next(p for p in model.parameters if p.name == name)
            problem = model.problem(parameter, found[name])
            if problem:
                raise SceneError(f"the parameter {problem}", where)
    return found


def _formulas(scene: Scene, made: Definitions) -> None:
    if scene.lagrangian is not None:
        check(scene.lagrangian, moved(scene, made), "lagrangian")
        for name in ("masses", "bodies", "potential"):
            if getattr(scene, name) is not None:
                raise SceneError('beside a "lagrangian", "positions" are only drawn; remove this key.', name)
    elif scene.masses is None and scene.bodies is None:
        raise SceneError('the particles in "positions" need masses: give "masses", one for each.')
    allowed = placed(scene, made)
    points = scene.positions or ()
    width = len(scene.positions[0]) if scene.positions else 0
    for i, point in enumerate(points):
        for j, formula in enumerate(point):
            check(formula, allowed, f"positions[{i}][{j}]")
        if len(point) != width:
            raise SceneError(f"the point has {len(point)} formulas, the first one {width}.", f"positions[{i}]")
    if scene.potential is not None:
        check(scene.potential, allowed, "potential")
    check_bodies(scene, allowed)


def _masses(scene: Scene, scalars: Mapping[str, float]) -> tuple[float, ...]:
    if scene.masses is None:
        return ()
    if len(scene.masses) != len(scene.positions or ()):
        raise SceneError(
            f"{len(scene.masses)} masses for {len(scene.positions or ())} positions; give one each.", "masses"
        )
    masses = tuple(value(mass, scalars, f"masses[{i}]") for i, mass in enumerate(scene.masses))
    for i, mass in enumerate(masses):
        if mass < 0:
            raise SceneError(f"a mass cannot be negative; this one is {mass:g}.", f"masses[{i}]")
    return masses


def _state(
    scene: Scene, part: str, names: Mapping[str, str], suggested: tuple[float, ...] | None, scalars: Mapping[str, float]
) -> tuple[float, ...]:
    where = f"initial.{part}"
    given = getattr(scene.initial, part)
    if isinstance(given, tuple):
        if len(given) != len(names):
            raise SceneError(f"{len(given)} values for {len(names)} coordinates ({', '.join(names)}).", where)
        given = dict(zip(names, given))
    given = given or {}
    for name in given:
        if name not in names:
            raise SceneError(f"there is no such coordinate{suggestion(name, names)}", f"{where}.{name}")
    state = []
    for i, name in enumerate(names):
        if name in given:
            state.append(value(given[name], scalars, f"{where}.{name}"))
        elif suggested is not None:
            state.append(suggested[i])
        else:
            raise SceneError(f'the coordinate "{name}" has no starting value; give all of {", ".join(names)}.', where)
    return tuple(state)


def _times(scene: Scene, model: Model | None, scalars: Mapping[str, float]) -> tuple[float, float, float | None]:
    motion = scene.motion
    start = value(scene.initial.t, scalars, "initial.t") if scene.initial.t else 0.0
    if motion.t_end is None and model is None:
        raise SceneError('there is no end: give "t_end", the time at which to stop.', "motion")
    end = value(motion.t_end, scalars, "motion.t_end") if motion.t_end else start + (model.t_end if model else 0.0)
    step = value(motion.dt, scalars, "motion.dt") if motion.dt else (model.dt if model else None)
    if end <= start:
        raise SceneError(f"the end {end:g} must come after the start {start:g}.", "motion.t_end")
    if step is not None and step <= 0:
        raise SceneError(f"the step must be greater than 0; it is {step:g}.", "motion.dt")
    return start, end, step


def _check_size(duration: float, step: float | None, save_every: int, coordinates: int, members: int) -> None:
    """Refuse a run that would fill the memory: a scene may come from someone else."""
    if step is None:
        return
    count = members * duration / step / save_every
    size = 8 * count * _SAVED_PER_COORDINATE * coordinates
    if count > MOST_SAVED or size > MOST_BYTES:
        raise SceneError(
            f"{count:.3g} states would be saved, in {size:.2g} bytes; at most {MOST_SAVED} states and {MOST_BYTES:.0e} "
            "bytes are allowed; take a larger dt or save_every, or an earlier t_end.",
            "motion",
        )


def _method(scene: Scene) -> tuple[str | None, dict[str, Any]]:
    choice = scene.motion.method
    if choice is None:
        return None, {}
    choice = choice if isinstance(choice, MethodChoice) else MethodChoice(choice)
    allowed = METHODS[choice.name].options
    options: dict[str, Any] = {}
    for name in ("stages", "order", "rtol", "atol", "tol"):
        given = getattr(choice, name)
        if given is None:
            continue
        where = f"motion.method.{name}"
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise SceneError(f"{choice.name} has no such option; {takes}.", where)
        options[name] = value(given, {}, where) if isinstance(given, Expression) else given
        if name in ("rtol", "atol", "tol") and not 0 < options[name] < 1:
            raise SceneError(f"a tolerance lies between 0 and 1; this one is {options[name]:g}.", where)
    if choice.name == "radau" and options.get("stages") not in (None, 2, 3):
        raise SceneError(f"radau has 2 or 3 stages, not {options['stages']}.", "motion.method.stages")
    if choice.name == "adaptive" and options.get("order") not in (None, 5, 8):
        raise SceneError(f"adaptive has order 5 or 8, not {options['order']}.", "motion.method.order")
    return choice.name, options
