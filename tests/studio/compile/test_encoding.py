"""Compiled programs as bytes: the same program comes back, and no bytes run anything."""

import pickle
import random

import numpy as np
import pytest

from holonomy.studio.compile.encoding import decode, encode
from holonomy.studio.compile.kernel import CompiledProgram, Layout
from holonomy.trace.native.object_file import ObjectFile

PARCEL = ObjectFile(
    b"\x00code",
    "machine",
    16,
    (((), "<f8"), ((2, 3), "<i4")),
    (np.arange(6.0).reshape(2, 3), np.array(True)),
    (((4,), "<f8"),),
)
PROGRAM = CompiledProgram({"step": PARCEL, "see": PARCEL}, Layout(2, 3, 4, 2, 0), "native", "RK4()", ("order 4",))


def test_a_program_comes_back() -> None:
    found = decode(encode(PROGRAM))
    assert (found.layout, found.engine, found.method, found.traits) == (PROGRAM.layout, "native", "RK4()", ("order 4",))
    assert list(found.object_files) == ["step", "see"]
    for file in found.object_files.values():
        assert (file.code, file.identity, file.scratch) == (PARCEL.code, PARCEL.identity, PARCEL.scratch)
        assert (file.inputs, file.outputs) == (PARCEL.inputs, PARCEL.outputs)
        for mine, its in zip(file.hidden, PARCEL.hidden, strict=True):
            np.testing.assert_array_equal(mine, its)
            assert mine.dtype == its.dtype


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was executed",)


def test_a_pickle_is_not_executed() -> None:
    with pytest.raises(ValueError):
        decode(pickle.dumps(Bomb()))


def test_other_bytes_are_refused() -> None:
    data = encode(PROGRAM)
    for size in range(len(data)):
        with pytest.raises((ValueError, KeyError, TypeError)):
            decode(data[:size])
    with pytest.raises(ValueError, match="left over"):
        decode(data + b"x")
    chance = random.Random(0)
    for _ in range(500):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            decode(bytes(damaged))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
