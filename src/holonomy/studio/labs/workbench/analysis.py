"""The analysis of a typed system for the page: titled formulas and sentences, and reduced systems to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.show.analysis import Item, analyse
from holonomy.studio.labs.settings import Refusal, Settings, Structure
from holonomy.studio.labs.workbench import system

if TYPE_CHECKING:
    from holonomy.studio.labs.workbench.lab import WorkbenchLab


def equations(lab: WorkbenchLab, derivation: Structure) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Everything that `analyse` finds of the system at its start."""
    parts: dict[str, Any] = dict(derivation)
    settings = lab.completed(Settings(dict(parts["parameters"]), dict(parts["choices"]), {}, dict(parts["texts"])))
    found, _ = system.library(settings)
    items = analyse(found, *lab.start(settings))
    return "", tuple((item.title, item.latex, item.text, _state(lab, item)) for item in items)


def _state(lab: WorkbenchLab, item: Item) -> str:
    """The reduced system of an item as a document of the studio; empty where there is none."""
    from holonomy.studio.session.share_link import Document, written

    if item.reduced is None:
        return ""
    reduced = item.reduced
    texts = {
        "coordinates": ", ".join(f"{name} {kind}" for name, kind in reduced["coordinates"].items()),
        "lagrangian": reduced["lagrangian"],
        "parameters": _listed(reduced["parameters"]),
        "start": _listed({**reduced["q"], **{f"{name}_dot": rate for name, rate in reduced["v"].items()}}),
    }
    try:
        settings = lab.completed(Settings({}, {}, {}, texts))
    except Refusal:  # a name that the lab does not take
        return ""
    q, v = (np.array(list(reduced[part].values())) for part in "qv")
    return written(lab, Document(settings, 1.0, 0.0, q, v, None))


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())
