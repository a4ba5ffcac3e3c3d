"""Writing runs as NetCDF through h5netcdf's own interface, laid out as xarray lays them out, with an index behind."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from holonomy.motion.run.index import indexed
from holonomy.motion.run.layout import Contents, Variable


def encode(contents: Contents) -> bytes:
    """The bytes of a file of a run: NetCDF-4, and the index by which `hl.load` reads it."""
    import h5py

    image = hdf5(contents)
    with h5py.File(io.BytesIO(image), "r") as file:
        places = {name: file[name].id.get_offset() or 0 for name in contents.data | contents.coordinates}
    return indexed(image, contents, places)


def hdf5(contents: Contents) -> bytes:
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
