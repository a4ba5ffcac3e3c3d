"""NetCDF files through h5netcdf's own interface, laid out as xarray lays them out, so that each reads the other's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Variable(NamedTuple):
    """An array, a name for each of its axes, and what is said about it."""

    dimensions: tuple[str, ...]
    values: np.ndarray
    attributes: dict[str, Any]


class Contents(NamedTuple):
    """What a file holds: data, the coordinates that label it, and attributes of the whole.

    A coordinate with the name of a dimension labels that dimension; any other is an auxiliary coordinate in the sense
    of the CF conventions. `read` does not tell coordinates from data and returns all variables as data.
    """

    data: dict[str, Variable]
    coordinates: dict[str, Variable]
    attributes: dict[str, Any]


def encode(contents: Contents) -> bytes:
    """The bytes of a NetCDF-4 file.

    It is made in memory: HDF5 that cannot write to its file, because the disk is full, ends the whole process.
    """
    import h5netcdf

    variables = contents.data | contents.coordinates
    sizes = {name: size for v in variables.values() for name, size in zip(v.dimensions, v.values.shape)}
    auxiliary = {name: v for name, v in contents.coordinates.items() if name not in sizes}
    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        for name, value in contents.attributes.items():
            file.attrs[name] = value
        file.dimensions = sizes
        for name, variable in variables.items():
            written = _create(file, name, variable)
            for key, value in variable.attributes.items():
                written.attrs[key] = value
            labels = [a for a, v in auxiliary.items() if set(v.dimensions) <= set(variable.dimensions)]
            if labels and name in contents.data:
                written.attrs["coordinates"] = " ".join(labels)
    return memory.getvalue()


def _create(file: Any, name: str, variable: Variable) -> Any:
    import h5py

    dimensions, values, _ = variable
    if values.dtype.kind == "U":
        text = values.astype(object)
        return file.create_variable(name, dimensions, h5py.string_dtype(), data=text)
    return file.create_variable(name, dimensions, data=values, fillvalue=np.nan if values.dtype.kind == "f" else None)


def read(path: str | Path) -> Contents:
    """Every variable and attribute of a NetCDF-4 file. Raises `OSError` if it is no such file."""
    import h5netcdf

    with h5netcdf.File(str(path), "r", decode_vlen_strings=True) as file:
        found = {
            str(name): Variable(tuple(v.dimensions), np.asarray(v[...]), dict(v.attrs))
            for name, v in file.variables.items()
        }
        return Contents(found, {}, dict(file.attrs))
