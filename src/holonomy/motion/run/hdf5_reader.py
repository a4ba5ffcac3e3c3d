"""A program that reads a run out of an HDF5 file without index, for `foreign`, in a process of its own.

    python hdf5_reader.py REQUEST < FILE > COPY

The copy holds the known arrays and, behind them, an index as `index` reads it. HDF5 was not made for files from
strangers: some make it loop for ever, reserve any amount of memory, read other files or crash. So this process limits
its own time and memory, and takes only plain arrays: no links, no external or virtual storage, no filters.

Nothing of the package is imported, so that the process starts at once.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys
import time
from typing import Any

_SIGNATURE = b"\x89HDF\r\n\x1a\n"  # with which NetCDF 4 and HDF5 files begin


class Refused(Exception):
    """Why a file is not read, as a clause."""


def limit(seconds: int, size: int) -> None:
    """Allow this process so many more seconds, and the memory it has now with 64 MB and six times the file's size."""
    import resource

    last = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (last, last))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    written = size + 8 * 2**20
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    if os.path.exists("/proc/self/statm"):
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        memory = used + 64 * 2**20 + 6 * size
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def convert(image: bytes, request: dict[str, object]) -> bytes:
    """The copy of an HDF5 file: its known arrays and an index, or an index that names the problem."""
    import h5py

    try:
        if not image.startswith(_SIGNATURE):
            raise Refused("it is not a NetCDF file")
        with h5py.File(h5py.h5f.open_file_image(image)) as file:
            parts, index = _copied(file, len(image), request)
    except Refused as error:
        parts, index = [], {"problem": str(error)}
    except MemoryError:
        parts, index = [], {"problem": "reading it takes more memory than its size allows"}
    except Exception as error:  # noqa: BLE001 - whatever HDF5 says of a damaged file is the reason
        reason = " ".join(str(error).split())[:200]
        parts, index = [], {"problem": f"HDF5 cannot read it ({reason or type(error).__name__})"}
    text = json.dumps(index).encode()
    return b"".join([*parts, text, struct.pack("<Q16s", len(text), b"holonomy-index-1")])


def _copied(file: Any, size: int, request: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
    parts: list[bytes] = []
    variables: dict[str, Any] = {}
    place = 0
    for name in request["variables"]:
        if name not in file:
            continue
        dataset = _plain(file, name)
        about = {key: _attribute(dataset, key) for key in request["about"].get(name, ()) if key in dataset.attrs}
        if name in request["texts"]:
            variables[name] = {"text": _words(dataset, name, size), "about": about}
            continue
        data = _numbers(dataset, name, size)
        kind = data.dtype.newbyteorder("<")
        variables[name] = {"type": kind.str, "shape": list(data.shape), "at": place, "about": about}
        parts.append(data.astype(kind, copy=False).tobytes())
        place += len(parts[-1])
        if place > size:
            raise Refused("its arrays are larger than the file")
    attributes = {name: _attribute(file, name) for name in request["attributes"] if name in file.attrs}
    return parts, {"variables": variables, "attributes": attributes}


def _plain(file: Any, name: str) -> Any:
    """A dataset that is stored in this file, as it is, in one piece."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise Refused(f"{name} is a link")
    dataset = file[name]
    if not isinstance(dataset, h5py.Dataset):
        raise Refused(f"{name} is no array")
    if len(dataset.shape or ()) > 4:
        raise Refused(f"{name} has {len(dataset.shape)} axes")
    if dataset.size == 0:  # nothing of it is read; xarray stores it as one that can grow
        return dataset
    made = dataset.id.get_create_plist()
    if made.get_layout() not in (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT) or made.get_nfilters():
        raise Refused(f"{name} is stored in pieces, compressed or virtually, which runs never are")
    if made.get_external_count():
        raise Refused(f"{name} is stored in another file")
    return dataset


def _numbers(dataset: Any, name: str, size: int) -> Any:
    import numpy as np

    if dataset.dtype.kind not in "fi" or dataset.dtype.itemsize > 8:
        raise Refused(f"{name} does not hold numbers")
    if dataset.size == 0:
        return np.zeros(dataset.shape or (0,), dataset.dtype)
    stored = dataset.id.get_storage_size()
    if stored != dataset.size * dataset.dtype.itemsize or stored > size:
        raise Refused(f"{name} is larger than the file")
    return np.asarray(dataset[()])


def _words(dataset: Any, name: str, size: int) -> list[str]:
    import h5py

    if (
        h5py.check_string_dtype(dataset.dtype) is None
        or len(dataset.shape) != 1
        or dataset.id.get_storage_size() > size
    ):
        raise Refused(f"{name} does not hold words")
    return [str(word) for word in dataset.asstr()[()]] if dataset.size else []


def _attribute(owner: Any, name: str) -> str | int | float:
    """An attribute with one value."""
    import h5py
    import numpy as np

    held = h5py.h5a.open(owner.id, name.encode())
    text = h5py.check_string_dtype(held.dtype) is not None
    if not (text or held.dtype.kind in "fi") or int(np.prod(held.shape or (), dtype=float)) > 1:
        raise Refused(f"its attribute {name} is neither a word nor a number")
    value = owner.attrs[name]
    if isinstance(value, h5py.Empty):
        return ""
    if not np.size(value):
        return ""
    one = np.asarray(value).reshape(-1)[0]
    if text:
        return one.decode() if isinstance(one, bytes) else str(one)
    return one.item()


def main() -> None:
    """Read the file on the standard input, and write the copy to the standard output."""
    request = json.loads(sys.argv[1])
    sys.path[:] = request["path"]
    import h5py  # noqa: F401  # pyright: ignore[reportUnusedImport] - before the memory is limited

    size = os.fstat(0).st_size
    limit(request["seconds"], size)
    with os.fdopen(0, "rb") as source, os.fdopen(1, "wb") as copy:
        copy.write(convert(source.read(), request))


if __name__ == "__main__":
    main()
