"""Runs as data: an xarray Dataset in memory, NetCDF on disk, with where they came from."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy import __version__, files
from holonomy.extras import require
from holonomy.motion.run import netcdf, table
from holonomy.motion.run.layout import Contents, Variable, sealed
from holonomy.motion.run.positions import drawn, kinetic
from holonomy.notation import KINDS, QUANTITIES, ascii_unit
from holonomy.types import Unchecked

if TYPE_CHECKING:
    import xarray as xr

    from holonomy.motion.run.run import Run


def to_dataset(run: Run) -> xr.Dataset:
    """The run as a Dataset: q and v by coordinate, energy, and provenance in the attributes.

    Needs xarray, which the extra `data` brings.
    """
    require("data", "run.to_dataset()")
    import xarray as xr

    held = contents(run)
    return xr.Dataset(dict(held.data), dict(held.coordinates), held.attributes)


def contents(run: Run) -> Contents:
    """The run as named arrays: what a file of it holds."""
    if np.ndim(run.t) > 1:
        raise ValueError("A data set holds one run; take one member of the batch first, as run[0].")
    data = {
        "q": _variable(("time", "coordinate"), run.q, long_name="position"),
        "v": _variable(("time", "coordinate"), run.v, long_name="velocity"),
        "energy": _variable(("time",), run.energy, long_name="energy", units=QUANTITIES["total"].unit),
        "momentum": _variable(("time", "coordinate"), run.momentum, long_name="momentum"),
        "pull": _variable(("time", "coordinate"), run.pull, long_name="derivative of L by q"),
    }
    if np.shape(run.multipliers)[-1]:
        data["multipliers"] = _variable(("time", "condition"), run.multipliers, long_name="multipliers")
        data["violation"] = _variable(("time", "level"), run.violation, long_name="largest violation")
    if len(run.events):
        data |= _event_rows(run)
    if (moving := kinetic(run)) is not None:
        data["kinetic"] = _variable(("time",), moving, long_name="kinetic energy", units=QUANTITIES["kinetic"].unit)
    if len(run.t) and (picture := drawn(run)) is not None:
        about = {"long_name": "positions of the particles", "units": KINDS["length"].unit, "note": picture.note}
        data["x"] = _variable(("time", "particle", "axis"), picture.x, **about, rods=json.dumps(picture.rods))
    coordinates = {
        "time": _variable(("time",), run.t, units=QUANTITIES["time"].unit),
        "coordinate": _variable(("coordinate",), list(run.names)),
        "unit": _variable(("coordinate",), [KINDS[k].unit for k in run.kinds]),
        "unit_rate": _variable(("coordinate",), [ascii_unit(KINDS[k].rate_unit) for k in run.kinds]),
    }
    return sealed(Contents(data, coordinates, provenance(run)))


def _variable(dimensions: tuple[str, ...], values: Any, **attributes: str) -> Variable:
    return Variable(dimensions, np.asarray(values), attributes)


EVENT_COLUMNS = ("t", "which", "q", "v_before", "v_after")


def _event_rows(run: Run) -> dict[str, Variable]:
    columns = {name: np.asarray(getattr(run.events, name))[: len(run.events)] for name in EVENT_COLUMNS}
    return {f"event_{name}": _variable(("event", "coordinate")[: x.ndim], x) for name, x in columns.items()}


def provenance(run: Run) -> dict[str, Unchecked]:
    """Versions, machine kind, parameters, method and how the run ended, as attributes of a file."""
    parameters = {} if run.system is None else {k: np.asarray(v).tolist() for k, v in run.system.parameters.items()}
    return {
        "title": "A motion computed by holonomy",
        "holonomy": __version__,
        "versions": json.dumps({name: _version(name) for name in ("jax", "numpy", "diffrax", "llvmlite")}),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "parameters": json.dumps(parameters),
        "provenance": run.provenance.to_json(),
        "notes": json.dumps(dict(run.notes)),
        "dt": float(run.dt),
        "result_code": int(run.result.code),
        "result_time": float(run.result.t),
        "result_steps": int(run.result.steps),
        "work": int(run.work),
        "event_names": json.dumps(run.events.names),
    }


def save(run: Run, path: str | Path) -> Path:
    """Write the run to a NetCDF file, or a CSV file where the name ends so; it appears whole or not at all.

    Raises `OSError` where the disk is full or the folder cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENCODERS:
        raise ValueError(
            f"run.save writes files that end in {' or '.join(_ENCODERS)}; got {str(path)!r}. "
            "hl.load reads those that end in .nc."
        )
    return files.write(path, _ENCODERS[ending](run))


def encoded(run: Run) -> bytes:
    """What a NetCDF file of the run holds."""
    return netcdf.encode(contents(run))


_ENCODERS = {".nc": encoded, ".csv": table.csv}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
