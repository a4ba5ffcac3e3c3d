"""Which names a scene defines, and whether every formula uses only names it may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holonomy.scene.errors import SceneError, clipped, suggestion
from holonomy.scene.expression import Expression, compute
from holonomy.scene.functions import CONSTANTS, DOT, FUNCTIONS, RESERVED, TIME
from holonomy.scene.spec import Scene


@dataclass(frozen=True)
class Definitions:
    """The `[let]` table sorted out.

    `still` are the definitions that depend on time and configuration alone, so that each has a rate of change `x_dot`;
    `moving` are those that use a rate themselves. Both keep the order of the file.
    """

    still: Mapping[str, Expression]
    moving: Mapping[str, Expression]

    def needed(self, formulas: Iterable[Expression]) -> frozenset[str]:
        """The names, definitions and rates included, that these formulas use directly or through others."""
        found: set[str] = set()
        waiting = [name for formula in formulas for name in formula.names]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            base = name.removesuffix(DOT)
            source = self.moving.get(name) or self.still.get(name) or self.still.get(base)
            if source is not None:
                waiting += [base, *source.names]
        return frozenset(found)


def check_free(scene: Scene) -> None:
    """Every name of the scene means one thing. **Raises** `SceneError` for a name already taken."""
    taken: dict[str, str] = {}
    tables = (("coordinates", scene.names), ("parameters", scene.parameters), ("let", scene.let))
    for table, names in tables:
        for name in names:
            if name in RESERVED:
                raise SceneError(
                    f"the name already means {_meaning(name)} in formulas; choose another.", f"{table}.{name}"
                )
            if name.endswith(DOT):
                raise SceneError(f"names that end in {DOT} mean rates of change; choose another.", f"{table}.{name}")
            if name in taken:
                raise SceneError(f"the name is already in {taken[name]}; choose another.", f"{table}.{name}")
            taken[name] = table


def _meaning(name: str) -> str:
    if name in FUNCTIONS:
        return f"the function {name}"
    return "the time" if name == TIME else f"the constant {CONSTANTS[name][0]:.5f}…"


def definitions(scene: Scene) -> Definitions:
    """The `[let]` table of a scene, each definition checked against what stands before it.

    **Raises** `SceneError` for a name that is not known, comes later, or has no rate of change.
    """
    rates = [name + DOT for name in scene.names]
    known = [TIME, *scene.names, *scene.parameters]
    still: dict[str, Expression] = {}
    moving: dict[str, Expression] = {}
    for name, formula in scene.let.items():
        allowed = [*known, *rates, *still, *(other + DOT for other in still), *moving]
        later = set(scene.let) - set(still) - set(moving)
        check(formula, allowed, f"let.{name}", later=later)
        if all(used in known or used in still for used in formula.names):
            still[name] = formula
        else:
            moving[name] = formula
    return Definitions(still, moving)


def placed(scene: Scene, made: Definitions) -> list[str]:
    """Names for formulas of time and configuration: positions, potential."""
    return [TIME, *scene.names, *scene.parameters, *made.still]


def moved(scene: Scene, made: Definitions) -> list[str]:
    """Names for formulas that may use rates too: the Lagrangian."""
    rates = [name + DOT for name in (*scene.names, *made.still)]
    return [*placed(scene, made), *rates, *made.moving]


def check(formula: Expression, allowed: Iterable[str], where: str, later: Iterable[str] = ()) -> None:
    """Every name of the formula is allowed. **Raises** `SceneError` for the first that is not, with what is."""
    names = list(allowed)
    for used in formula.names:
        if used in names:
            continue
        problem, span = f'the formula "{clipped(formula.text)}" uses "{used}", ', formula.span_of(used)
        if used in later:
            raise SceneError(
                problem + "which is defined by itself or further down; each may use those before it.", where, span=span
            )
        if used.removesuffix(DOT) in names and used.endswith(DOT):
            raise SceneError(problem + "a rate of change that cannot be used here.", where, span=span)
        raise SceneError(problem + f"which is not defined{suggestion(used, names)}", where, span=span)


def value(formula: Expression, scalars: Mapping[str, float], where: str) -> float:
    """The number that a formula of parameters gives. **Raises** `SceneError` when there is none."""
    check(formula, scalars, where)
    try:
        return compute(formula.tree, scalars)
    except (ArithmeticError, ValueError):
        raise SceneError(f'the formula "{clipped(formula.text)}" has no finite value.', where) from None
