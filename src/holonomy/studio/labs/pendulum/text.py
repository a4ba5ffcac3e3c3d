"""The Pendulum lab's state as text that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holonomy.models.catalogue import MOST_LINKS
from holonomy.studio.labs.base import Coordinates
from holonomy.studio.labs.methods import AHEAD, LIBRARY
from holonomy.studio.labs.methods import steps as steps_of
from holonomy.studio.labs.settings import Refusal, Settings, each_of

if TYPE_CHECKING:
    from holonomy.studio.labs.pendulum.lab import PendulumLab

_PLOTTED: Final = 10
"""Coordinates that the program plots, at most."""


def snippet(lab: PendulumLab, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
    """A Python program with the same system in the same state. Decimals are the shortest that read back exactly."""
    p = settings.parameters
    kind = "hl.ElasticPendulum" if settings.choices["model"] == "elastic" else "hl.Pendulum"
    springs = [f"    stiffness={p['stiffness']!r},"] if settings.choices["model"] == "elastic" else []
    steps, every = steps_of(lab, settings)
    method, options = LIBRARY[settings.choices["method"]]
    angles = ", ".join(f'"{name}"' for name in lab.columns(settings)[:_PLOTTED])
    return "\n".join(
        [
            f'"""A pendulum as the Holonomy studio showed it at t = {t:.6g} s."""',
            "",
            "import numpy as np",
            "",
            "import holonomy as hl",
            "",
            f"system = {kind}(",
            f"    lengths={_each(settings, 'length')},",
            f"    masses={_each(settings, 'mass')},",
            *springs,
            f"    gravity={p['gravity']!r},",
            f"    damping={p['damping']!r},",
            ")",
            f"t = {float(t)!r}",
            f"q = np.array({q.tolist()!r})  # {', '.join(lab.columns(settings))}",
            f"v = np.array({v.tolist()!r})",
            "",
            "run = hl.simulate(",
            f"    system, q, v, t + {AHEAD!r}, t0=t, dt=1 / {steps}, save_every={every},",
            f"    method={method.python(**options)}, throw=False,",
            ")",
            "print(run.certificate)",
            f'run.plot([{angles}]).savefig("pendulum.png")  # each over time; run.plot(x, y) has one against another',
            "",
        ]
    )


def scene(lab: PendulumLab, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
    """A scene file with the same system in the same state."""
    p, links = settings.parameters, int(settings.parameters["links"])
    if p["damping"] > 0:
        raise Refusal("A scene file has no air drag; set it to zero, or export the Python program.")
    if links > MOST_LINKS:
        raise Refusal(f"A scene file holds up to {MOST_LINKS} links; export the Python program for {links}.")
    elastic = settings.choices["model"] == "elastic"
    steps, every = steps_of(lab, settings)
    method, options = LIBRARY[settings.choices["method"]]
    system = _springs(settings) if elastic else _rods(settings)
    return "\n".join(
        [
            f'title = "Pendulum, as the studio showed it at t = {t:.6g} s"',
            *system,
            "",
            "[initial]",
            f"t = {float(t)!r}",
            f"q = {q.tolist()!r}",
            f"v = {v.tolist()!r}",
            "",
            "[motion]",
            f"t_end = {float(t) + AHEAD!r}",
            f'dt = "1/{steps}"',
            f"save_every = {every}",
            f"method = {method.toml(**options)}",
            "",
        ]
    )


def _rods(settings: Settings) -> list[str]:
    return [
        f'model = {{ name = "multi_pendulum", links = {int(settings.parameters["links"])} }}',
        "",
        "[parameters]",
        f"lengths = {_each(settings, 'length')}",
        f"masses = {_each(settings, 'mass')}",
        f"g = {settings.parameters['gravity']!r}",
    ]


def _springs(settings: Settings) -> list[str]:
    links, p = int(settings.parameters["links"]), settings.parameters
    numbers = range(1, links + 1)
    before = ["", *(f" - {{}}{i}" for i in numbers)]
    spans = [f"sqrt((x{i}{before[i - 1].format('x')})^2 + (y{i}{before[i - 1].format('y')})^2)" for i in numbers]
    energy = " + ".join(f"g*m{i}*y{i} + k*(s{i} - l{i})^2/2" for i in numbers)
    return [
        "positions = [" + ", ".join(f'["x{i}", "y{i}"]' for i in numbers) + "]",
        "masses = [" + ", ".join(f'"m{i}"' for i in numbers) + "]",
        f'potential = "{energy}"',
        "",
        "[coordinates]",
        *(f'{axis}{i} = "length"' for i in numbers for axis in "xy"),
        "",
        "[parameters]",
        f"g = {p['gravity']!r}",
        f"k = {p['stiffness']!r}",
        *(f"l{i} = {p[f'length{i}']!r}" for i in numbers),
        *(f"m{i} = {p[f'mass{i}']!r}" for i in numbers),
        "",
        "[let]",
        *(f's{i} = "{span}"' for i, span in zip(numbers, spans, strict=True)),
    ]


def _each(settings: Settings, kind: str) -> str:
    return repr(each_of(settings, kind).tolist())
