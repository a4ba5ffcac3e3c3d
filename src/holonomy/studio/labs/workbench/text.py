"""The Workbench lab's state as text that other programs read: a scene, and a Python program that holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holonomy.scene.expression import Expression, number, parse
from holonomy.scene.spec import Initial, MethodChoice, Motion
from holonomy.scene.write import dumps
from holonomy.studio.labs.base import Coordinates
from holonomy.studio.labs.methods import AHEAD, LIBRARY, steps
from holonomy.studio.labs.settings import Settings
from holonomy.studio.labs.workbench import typed

if TYPE_CHECKING:
    from holonomy.studio.labs.workbench.lab import WorkbenchLab


def scene(lab: WorkbenchLab, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
    """A scene file with the same system in the same state."""
    found = typed.read(settings.texts)
    names = lab.columns(settings)
    each_second, each_frame = steps(lab, settings)
    row, options = LIBRARY[settings.choices["method"]]
    whole = replace(
        found.scene,
        title=f"A system as the studio showed it at t = {t:.6g} s",
        parameters={name: number(settings.parameters[name]) for name in found.values},
        initial=Initial(q=_named(names, q), v=_named(names, v), t=number(float(t))),
        motion=Motion(
            t_end=number(float(t) + AHEAD),
            dt=parse(f"1/{each_second}"),
            save_every=each_frame,
            method=MethodChoice(row.name, **{name: options[name] for name in row.options if name in options}),
        ),
    )
    return dumps(whole)


def snippet(lab: WorkbenchLab, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
    """A Python program with the same system in the same state, which holds the scene."""
    names = ", ".join(f'"{name}"' for name in lab.columns(settings))
    return "\n".join(
        [
            f'"""A system as the Holonomy studio showed it at t = {t:.6g} s."""',
            "",
            "import holonomy as hl",
            "",
            "SCENE = r'''",
            scene(lab, settings, t, q, v) + "'''",
            "",
            "built = hl.scene.build(hl.scene.loads(SCENE))",
            "system = built.system  # an hl.System, such as hl.killing(system) and hl.equilibria(system, q) take",
            "run = hl.simulate(system, **built.arguments, throw=False)",
            "print(run.certificate)",
            f'run.plot([{names}]).savefig("workbench.png")  # each over time; run.plot(x, y) has one against another',
            "",
        ]
    )


def _named(names: tuple[str, ...], values: Coordinates) -> dict[str, Expression]:
    return {name: number(float(x)) for name, x in zip(names, values, strict=True)}
