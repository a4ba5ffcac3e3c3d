"""Runs as data: an xarray Dataset in memory, NetCDF on disk, with where they came from."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy import __version__, files
from holonomy.extras import require
from holonomy.motion.run import known_until, netcdf, table
from holonomy.motion.run.judgement import to_json
from holonomy.motion.run.layout import DIMENSIONS, Contents, Variable, axes, sealed
from holonomy.motion.run.positions import drawn, kinetic
from holonomy.notation import KINDS, QUANTITIES, ascii_unit
from holonomy.types import Unchecked

if TYPE_CHECKING:
    import xarray as xr

    from holonomy.motion.run.provenance import Provenance
    from holonomy.motion.run.run import Run
    from holonomy.motion.run.saved import Saved


def to_dataset(run: Run) -> xr.Dataset:
    """The run as a Dataset: q and v by coordinate, energy, and provenance in the attributes.

    A batch has the dimension `member`, and each parameter that differs from member to member is a coordinate of it.
    Needs xarray, which the extra `data` brings.
    """
    require("data", "run.to_dataset()")
    import xarray as xr

    held = contents(run)
    data = {name: variable for name, variable in held.data.items() if name not in ("parameter_values", "saved_values")}
    if run.saved is not None:
        for name, rows in run.saved.values.items():
            own = [f"{name}_{k}" for k in range(1, np.ndim(rows))]
            data[f"saved_{name}"] = Variable(("saved", *own), np.asarray(rows), {})
    return xr.Dataset(data, held.coordinates | _differing(run), held.attributes)


def _differing(run: Run) -> dict[str, Variable]:
    """The parameters that differ from member to member of a batch, as coordinates of its members."""
    if np.ndim(run.t) == 1:
        return {}
    found: dict[str, Variable] = {}
    for name, values in run.parameters.items():
        array = np.asarray(values)
        if np.any(array != array[:1]):
            own = [f"{name}_{k}" for k in range(1, array.ndim)]
            found[f"parameter_{name}" if name in DIMENSIONS else name] = Variable(("member", *own), array, {})
    return found


def contents(run: Run) -> Contents:
    """The run as named arrays: what a file of it holds."""
    if np.ndim(run.t) > 2:
        raise ValueError("A data set holds one run or one batch; of a batch of batches take run[0].")
    batch = np.ndim(run.t) == 2

    def variable(name: str, values: Any, **attributes: str) -> Variable:
        return Variable(axes(name, batch), np.asarray(values), attributes)

    data = {
        "q": variable("q", run.q, long_name="position"),
        "v": variable("v", run.v, long_name="velocity"),
        "energy": variable("energy", run.energy, long_name="energy", units=QUANTITIES["total"].unit),
        "momentum": variable("momentum", run.momentum, long_name="momentum"),
        "pull": variable("pull", run.pull, long_name="derivative of L by q"),
    }
    if np.shape(run.multipliers)[-1]:
        data["multipliers"] = variable("multipliers", run.multipliers, long_name="multipliers")
        data["violation"] = variable("violation", run.violation, long_name="largest violation")
    if np.any(np.asarray(run.events.count)):
        columns = {f"event_{name}": np.asarray(getattr(run.events, name)) for name in EVENT_COLUMNS}
        data |= {name: variable(name, x if batch else x[: len(run.events)]) for name, x in columns.items()}
    if batch:
        data |= {name: variable(name, values) for name, values in _of_members(run).items()}
    else:
        data |= _derived(run, variable)
    if run.saved is not None:
        values = [np.reshape(np.asarray(x, float), (len(run.saved), -1)) for x in run.saved.values.values()]
        kept = {"time": run.saved.t, "energy": run.saved.energy, "violation": run.saved.violation}
        kept["values"] = np.concatenate(values, axis=1)
        data |= {f"saved_{name}": variable(f"saved_{name}", x) for name, x in kept.items()}
    coordinates = {
        "time": variable("time", run.t[0] if batch else run.t, units=QUANTITIES["time"].unit),
        "coordinate": variable("coordinate", list(run.names)),
        "unit": variable("unit", [KINDS[k].unit for k in run.kinds]),
        "unit_rate": variable("unit_rate", [ascii_unit(KINDS[k].rate_unit) for k in run.kinds]),
    }
    return sealed(Contents(data, coordinates, provenance(run)))


def _derived(run: Run, variable: Callable[..., Variable]) -> dict[str, Variable]:
    """What can be computed of one run where its system is known: its kinetic energy and its picture."""
    data: dict[str, Variable] = {}
    if (moving := kinetic(run)) is not None:
        data["kinetic"] = variable("kinetic", moving, long_name="kinetic energy", units=QUANTITIES["kinetic"].unit)
    if len(run.t) and (picture := drawn(run)) is not None:
        about = {"long_name": "positions of the particles", "units": KINDS["length"].unit, "note": picture.note}
        data["x"] = variable("x", picture.x, **about, rods=json.dumps(picture.rods))
    return data


def _of_members(run: Run) -> dict[str, np.ndarray]:
    """How each member of a batch ended, its parameters, and its times where they are not those of the first."""
    whole = {"code": run.result.code, "steps": run.result.steps, "work": run.work}
    found = {f"member_{name}": np.asarray(values, np.int64) for name, values in whole.items()}
    found["member_time"] = np.asarray(run.result.t, float)
    if run.happened is not None:
        found["member_events"] = np.asarray(run.happened.count, np.int64)
    t = np.asarray(run.t)
    if not np.array_equal(t, np.broadcast_to(t[:1], t.shape), equal_nan=True):
        found["member_times"] = t
    if run.parameters:
        rows = [np.reshape(np.asarray(x, float), (len(t), -1)) for x in run.parameters.values()]
        found["parameter_values"] = np.concatenate(rows, axis=1)
    return found


EVENT_COLUMNS = ("t", "which", "q", "v_before", "v_after")


def provenance(run: Run) -> dict[str, Unchecked]:
    """Versions, machine kind, parameters, method and how the run ended, as attributes of a file.

    Of a batch the parameters are those of the first member, and the other figures are of the whole: the worst code, the
    latest time, all steps.
    """
    batch = np.ndim(run.t) > 1
    parameters = {k: np.asarray(x[0] if batch else x).tolist() for k, x in run.parameters.items()}
    return {
        "title": "A motion computed by holonomy",
        "holonomy": __version__,
        "versions": json.dumps({name: _version(name) for name in ("jax", "numpy", "diffrax", "llvmlite")}),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "parameters": json.dumps(parameters),
        "provenance": _judged(run).to_json(),
        "notes": json.dumps(dict(run.notes)),
        "dt": float(run.dt),
        "result_code": int(np.max(np.asarray(run.result.code))),
        "result_time": float(np.max(np.asarray(run.result.t))),
        "result_steps": int(np.sum(np.asarray(run.result.steps))),
        "work": int(np.sum(np.asarray(run.work))),
        "event_names": json.dumps(run.events.names),
    } | ({} if run.saved is None else {"saved_names": json.dumps(shapes(run.saved))})


def _judged(run: Run) -> Provenance:
    """The provenance with what the certificate says, of each member of a batch."""
    grown = known_until.in_words(run)
    if run.system is None:  # of a run that was loaded
        return replace(run.provenance, growth=grown)
    found = run.certificate
    return replace(run.provenance, growth=grown, judgement=to_json(found.each or (found.judgement,)))


def shapes(saved: Saved) -> dict[str, list[int]]:
    """The shape of each value that a run kept, at one time."""
    return {name: list(np.shape(rows)[1:]) for name, rows in saved.values.items()}


def save(run: Run, path: str | Path) -> Path:
    """Write the run to a NetCDF file, or a CSV or Parquet file where the name ends so; it appears whole or not at all.

    Raises `OSError` where the disk is full or the folder cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENCODERS:
        raise ValueError(
            f"run.save writes files that end in {', '.join(_ENCODERS)}; got {str(path)!r}. "
            "hl.load reads those that end in .nc."
        )
    return files.write(path, _ENCODERS[ending](run))


def encoded(run: Run) -> bytes:
    """What a NetCDF file of the run holds."""
    return netcdf.encode(contents(run))


_ENCODERS = {".nc": encoded, ".csv": table.csv, ".parquet": table.parquet}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
