"""The motion so far as a web page that replays it, with the pictures and plots of its lab."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from holonomy import __version__
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.session import backgrounds
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.page import About, page
from holonomy.viewer.protocol import messages
from holonomy.viewer.recording import Recording, StateColumns, kept


def as_page(lab: AbstractLab, moment: Moment, controls: messages.Controls, readings: Iterable[Any]) -> str:
    """One HTML file with the viewer and the `readings` inside; see `export.rows`."""
    recording = recorded(lab, moment, controls, list(readings))
    certificate = controls.certificate
    known = [
        ("engine", certificate.engine),
        ("method", ", ".join((certificate.method, *certificate.traits))),
        ("step", f"{lab.step(moment.settings):.6g} s"),
        ("note", certificate.note),
    ]
    settings = moment.settings
    chosen = {**settings.parameters, **settings.choices, **settings.toggles}
    source = [
        ("holonomy", __version__),
        ("Python", platform.python_version()),
        ("settings", ", ".join(f"{name} = {_written(value)}" for name, value in chosen.items())),
    ]
    title = f"{lab.title}, {recording.table[0, 0]:.4g} s to {recording.table[-1, 0]:.4g} s"
    return page(
        recording, title, [About("Certificate", [row for row in known if row[1]]), About("Where it came from", source)]
    )


def recorded(lab: AbstractLab, moment: Moment, controls: messages.Controls, readings: list[Any]) -> Recording:
    """The readings as a recording: of the lab's view all but what would need a process that computes."""
    view = lab.view(moment.settings, 1)
    shown = replace(
        view, parameters=(), choices=(), toggles=(), texts=(), actions=(),
        summary=f"{view.summary} A recorded motion.",
        bodies=tuple(replace(body, grasp=False, throws=False) for body in view.bodies),
    )  # fmt: skip
    first = readings[0]
    sizes = [len(first.channel), len(first.q), len(first.v), len(first.energy), len(first.strain)]
    ends = np.cumsum(sizes)
    q, v, energy, strain = (tuple(range(a, b)) for a, b in itertools.pairwise(ends.tolist()))
    keep, _ = kept(len(readings), 1 + int(ends[-1]) + first.position.size)
    readings = [readings[i] for i in keep]
    table = np.array([np.concatenate([[r.t], r.channel, r.q, r.v, r.energy, r.strain]) for r in readings])
    still = replace(
        controls, phase="ready", message="", playing=False, held=None, parameters={}, choices={}, toggles={},
        undo=None, redo=None,
    )  # fmt: skip
    places = np.array([r.position for r in readings])
    return Recording(
        messages.Welcome(messages.PROTOCOL, __version__, (), "", False, shown), still, moment.index, table, places,
        np.zeros(places.shape[2]), StateColumns(q, v, energy, strain), tuple(_behind(lab, moment)),
    )  # fmt: skip


def _behind(lab: AbstractLab, moment: Moment) -> Iterator[messages.Notice]:
    """What stands still behind the last stretch of the motion."""
    found = (make(lab, moment) for _, make in backgrounds.KINDS)
    yield from (notice for notice in found if notice is not None)


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
