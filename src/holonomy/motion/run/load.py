"""Reading runs that `run.save` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from holonomy.motion.events import event_log
from holonomy.motion.events.event_log import Events
from holonomy.motion.loops.plain import Snapshot
from holonomy.motion.run import netcdf, provenance
from holonomy.motion.run.build import build
from holonomy.motion.run.netcdf import Variable
from holonomy.motion.run.positions import Drawn, rods
from holonomy.motion.run.provenance import Provenance
from holonomy.motion.run.result import Result
from holonomy.motion.run.run import Run
from holonomy.motion.run.storage import EVENT_COLUMNS


def attributes(path: str | Path) -> dict[str, Any]:
    """Where the run in a file came from: what `provenance` said of it when it was saved."""
    return netcdf.read(path).attributes


def load(path: str | Path) -> Run:
    """A run saved by `run.save`. It has its data, result and certificate, and no system to step on with."""
    source = Path(path)
    if not source.is_file():
        raise ValueError(f"There is no file {source}.")
    try:
        data, _, attributes = netcdf.read(source)
        return build(
            data["time"].values,
            Snapshot(**_arrays(data)),
            Result(*(attributes[f"result_{k}"] for k in ("code", "time", "steps"))),
            attributes["work"],
            _provenance(attributes),
            happened=_events(data, attributes),
            drawn=_picture(data),
            kinetic=data["kinetic"].values if "kinetic" in data else None,
        )
    except (OSError, KeyError) as error:
        raise ValueError(f"{source} is not a run saved by holonomy: {error}") from error


def _provenance(attributes: dict[str, Any]) -> Provenance:
    if "provenance" in attributes:
        return provenance.from_json(attributes["provenance"])
    return provenance.from_notes(json.loads(attributes["notes"]), float(attributes["dt"]))  # a file before version 0.2


def _events(data: dict[str, Variable], attributes: dict[str, Any]) -> Events | None:
    called = tuple(json.loads(attributes.get("event_names", "[]")))
    if "event_t" not in data:
        return event_log.none(data["q"].values.shape[1], called) if called else None
    t, which, q, before, after = (data[f"event_{name}"].values for name in EVENT_COLUMNS)
    return Events(t, which, q, before, after, len(t), called)


def _picture(data: dict[str, Variable]) -> Drawn | None:
    if "x" not in data:
        return None
    _, x, about = data["x"]
    if "rods" not in about:  # a file of an earlier version
        return Drawn(x, rods(x, None, data["time"].values, data["q"].values), "")
    return Drawn(x, tuple((int(i), int(j)) for i, j in json.loads(about["rods"])), str(about["note"]))


def _arrays(data: dict[str, Variable]) -> dict[str, Any]:
    rows = len(data["time"].values)
    empty = {"multipliers": np.zeros((rows, 0)), "violation": np.zeros((rows, 2))}
    held = {name: data[name].values if name in data else none for name, none in empty.items()}
    return held | {name: data[name].values for name in ("q", "v", "energy", "momentum", "pull")}
