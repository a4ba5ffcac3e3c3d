"""Compiled programs as bytes, and back: numbers, words and machine code, and no objects of Python."""

from __future__ import annotations

import json
import re
import struct
from typing import Any, Final

import numpy as np

from holonomy.studio.compile.kernel import CompiledProgram, Layout
from holonomy.trace.native.object_file import Parcel

_LENGTH: Final = struct.Struct("<Q")
_NUMBERS: Final = re.compile(r"[<|][biufc](1|2|4|8|16)")


def encode(program: CompiledProgram) -> bytes:
    """The length of a description in JSON, the description, then the bytes that it refers to, one after the other."""
    pieces: list[bytes] = []
    parcels = {name: _described(parcel, pieces) for name, parcel in program.parcels.items()}
    layout = {name: int(value) for name, value in vars(program.layout).items()}
    about = {
        "parcels": parcels,
        "layout": layout,
        "engine": program.engine,
        "method": program.method,
        "traits": program.traits,
    }
    text = json.dumps(about).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *pieces])


def decode(data: bytes) -> CompiledProgram:
    """What `encode` was given. Raises `ValueError`, `KeyError` or `TypeError` for other bytes."""
    if len(data) < _LENGTH.size:
        raise ValueError("There is no description.")
    (length,) = _LENGTH.unpack_from(data)
    about = json.loads(data[_LENGTH.size : _LENGTH.size + length])
    pieces = _Pieces(data, _LENGTH.size + length)
    parcels = {name: _parcel(held, pieces) for name, held in about["parcels"].items()}
    pieces.end()
    layout = Layout(**{name: int(value) for name, value in about["layout"].items()})
    return CompiledProgram(parcels, layout, about["engine"], about["method"], tuple(about["traits"]))


def _described(parcel: Parcel, pieces: list[bytes]) -> dict[str, Any]:
    pieces.append(parcel.code)
    pieces.extend(np.ascontiguousarray(array).tobytes() for array in parcel.hidden)
    return {
        "code": len(parcel.code),
        "identity": parcel.identity,
        "scratch": int(parcel.scratch),
        "inputs": parcel.inputs,
        "hidden": [(array.shape, array.dtype.str) for array in parcel.hidden],
        "outputs": parcel.outputs,
    }


def _parcel(held: dict[str, Any], pieces: _Pieces) -> Parcel:
    code = pieces.take(held["code"])
    hidden = tuple(pieces.array(shape, kind) for shape, kind in _arrays(held["hidden"]))
    inputs, outputs = _arrays(held["inputs"]), _arrays(held["outputs"])
    return Parcel(code, held["identity"], held["scratch"], inputs, hidden, outputs)


def _arrays(listed: list[Any]) -> tuple[tuple[tuple[int, ...], str], ...]:
    found = tuple((tuple(map(int, shape)), str(kind)) for shape, kind in listed)
    if not all(_NUMBERS.fullmatch(kind) for _, kind in found):
        raise ValueError("An array does not hold numbers.")
    return found


class _Pieces:
    """Bytes that are taken off one after the other."""

    def __init__(self, data: bytes, at: int):
        self._data = data
        self._at = at

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self._data) - self._at:
            raise ValueError("The bytes end too early.")
        self._at += size
        return self._data[self._at - size : self._at]

    def array(self, shape: tuple[int, ...], kind: str) -> np.ndarray:
        dtype = np.dtype(kind)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        return np.frombuffer(self.take(size), dtype).reshape(shape).copy()

    def end(self) -> None:
        if self._at != len(self._data):
            raise ValueError("There are bytes left over.")
