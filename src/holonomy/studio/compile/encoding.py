"""Compiled programs as bytes, and back: numbers, words and machine code, and no objects of Python."""

from __future__ import annotations

import json
import re
import struct
from typing import Any, Final

import numpy as np

from holonomy.studio.compile.kernel import CompiledProgram, Layout
from holonomy.trace.native.object_file import ObjectFile

_LENGTH: Final = struct.Struct("<Q")
_NUMBERS: Final = re.compile(r"[<|][biufc](1|2|4|8|16)")


def encode(program: CompiledProgram) -> bytes:
    """The length of a description in JSON, the description, then the bytes that it refers to, one after the other."""
    pieces: list[bytes] = []
    object_files = {name: _described(file, pieces) for name, file in program.object_files.items()}
    layout = {name: int(value) for name, value in vars(program.layout).items()}
    about = {
        "object_files": object_files,
        "layout": layout,
        "engine": program.engine,
        "method": program.method,
        "traits": program.traits,
        "quick": program.quick,
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
    object_files = {name: _object_file(held, pieces) for name, held in about["object_files"].items()}
    pieces.end()
    layout = Layout(**{name: int(value) for name, value in about["layout"].items()})
    words = about["engine"], about["method"], tuple(about["traits"])
    return CompiledProgram(object_files, layout, *words, bool(about["quick"]))


def _described(file: ObjectFile, pieces: list[bytes]) -> dict[str, Any]:
    pieces.append(file.code)
    pieces.extend(np.ascontiguousarray(array).tobytes() for array in file.hidden)
    return {
        "code": len(file.code),
        "identity": file.identity,
        "scratch": int(file.scratch),
        "inputs": file.inputs,
        "hidden": [(array.shape, array.dtype.str) for array in file.hidden],
        "outputs": file.outputs,
    }


def _object_file(held: dict[str, Any], pieces: _Pieces) -> ObjectFile:
    code = pieces.take(held["code"])
    hidden = tuple(pieces.array(shape, kind) for shape, kind in _arrays(held["hidden"]))
    inputs, outputs = _arrays(held["inputs"]), _arrays(held["outputs"])
    return ObjectFile(code, held["identity"], held["scratch"], inputs, hidden, outputs)


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
