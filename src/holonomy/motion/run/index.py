"""The index at the end of a file of a run, and reading by it.

A file of a run is NetCDF, and behind what HDF5 needs of it stands an index: JSON text with the attributes and, of each
array, its type, shape and place in the file; then the index's length and a mark. Reading needs nothing else, so that
no library for a format with links, filters and virtual arrays ever sees a file from someone else, and the work is
bounded by the file's own size.
"""

from __future__ import annotations

import json
import math
import os
import struct
from typing import Any, BinaryIO, Final

import numpy as np

from holonomy.motion.run.layout import (
    ABOUT,
    ATTRIBUTES,
    DIMENSIONS,
    INTEGERS,
    OF_BATCHES,
    TEXTS,
    TYPES,
    Contents,
    Unreadable,
    Variable,
    axes,
)

_END: Final = struct.Struct("<Q16s")
_MARK: Final = b"holonomy-index-1"
_LONGEST_INDEX: Final = 4 * 2**20
_MOST_AXES: Final = 4


def indexed(image: bytes, contents: Contents, places: dict[str, int]) -> bytes:
    """The bytes of a file with the index of its contents behind them; `places` are the offsets of its arrays.

    An index that would be too long to be read is left out, and the file is read as one without.
    """
    variables = contents.data | contents.coordinates
    index = {
        "attributes": contents.attributes,
        "variables": {name: _entry(name, variables[name], places.get(name, 0)) for name in variables},
    }
    text = json.dumps(index).encode()
    if len(text) > _LONGEST_INDEX:
        return image
    return b"".join([image, text, _END.pack(len(text), _MARK)])


def _entry(name: str, variable: Variable, place: int) -> dict[str, Any]:
    about = {key: variable.attributes[key] for key in ABOUT.get(name, ()) if key in variable.attributes}
    if name in TEXTS:
        return {"text": variable.values.tolist(), "about": about}
    shape = list(variable.values.shape)
    return {"type": variable.values.dtype.str, "shape": shape, "at": place, "about": about}


def has_index(file: BinaryIO) -> bool:
    """Whether a file ends with the mark of an index."""
    size = os.fstat(file.fileno()).st_size
    if size < _END.size:
        return False
    file.seek(size - _END.size)
    return _END.unpack(file.read(_END.size))[1] == _MARK


def read(file: BinaryIO) -> Contents:
    """The contents of a file that has an index. Raises `Unreadable`."""
    end = os.fstat(file.fileno()).st_size - _END.size
    index = _load(file, end)
    variables, attributes = index.get("variables"), index.get("attributes")
    if not isinstance(variables, dict) or not isinstance(attributes, dict):
        raise Unreadable("its index lists no variables and attributes")
    known = {name: entry for name, entry in variables.items() if name in DIMENSIONS}
    batch = any(name in OF_BATCHES for name in known)
    budget = end
    data: dict[str, Variable] = {}
    for name, entry in known.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("about", {}), dict):
            raise Unreadable(f"its index does not describe {name}")
        values = _texts(name, entry) if name in TEXTS else _array(file, name, entry, end, budget)
        budget -= 0 if name in TEXTS else values.nbytes
        about = {key: _attribute(key, value, str) for key, value in entry.get("about", {}).items()}
        data[name] = Variable(axes(name, batch), values, about)
    said = {key: _attribute(key, attributes[key], kind) for key, kind in ATTRIBUTES.items() if key in attributes}
    return Contents(data, {}, said)


def _load(file: BinaryIO, end: int) -> dict[str, Any]:
    file.seek(end)
    length, _ = _END.unpack(file.read(_END.size))
    if length > min(end, _LONGEST_INDEX):
        raise Unreadable("its index is longer than the file or than 4 MB")
    file.seek(end - length)
    try:
        index = json.loads(file.read(length).decode())
    except (ValueError, RecursionError):
        raise Unreadable("its index is damaged") from None
    if not isinstance(index, dict):
        raise Unreadable("its index is damaged")
    if "problem" in index:
        raise Unreadable(str(index["problem"])[:300])
    return index


def _attribute(name: str, value: Any, kind: type) -> Any:
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 2**53 else value
    if type(value) is not kind:
        raise Unreadable(f"its attribute {name} must be of type {kind.__name__}")
    return value


def _texts(name: str, entry: dict[str, Any]) -> np.ndarray:
    words = entry.get("text")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Unreadable(f"{name} must be a list of words")
    return np.array(words, object)


def _array(file: BinaryIO, name: str, entry: dict[str, Any], end: int, budget: int) -> np.ndarray:
    """An array from its place; its type, shape and size are checked before anything is read or reserved."""
    kind, shape, place = entry.get("type"), entry.get("shape"), entry.get("at")
    allowed = TYPES["whole" if name in INTEGERS else "real"]
    if kind not in allowed:
        raise Unreadable(f"{name} must have one of the types {', '.join(allowed)}")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_count(size, end) for size in shape):
        raise Unreadable(f"the shape of {name} is none, or larger than the file")
    dtype, count = np.dtype(kind), math.prod(shape)
    size = count * dtype.itemsize
    if place is None or not _count(place, end) or place + size > end or size > budget:
        raise Unreadable(f"{name} does not fit into the file")
    file.seek(place)
    data = file.read(size)
    if len(data) != size:
        raise Unreadable(f"{name} does not fit into the file")
    return np.frombuffer(data, dtype, count).reshape(shape).copy()


def _count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
