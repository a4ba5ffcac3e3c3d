"""Mutations of run files, and what must come of every one: a sentence, or the run that was saved."""

import copy
import json
import random
import struct
from pathlib import Path

import jax
import numpy as np

import holonomy as hl
from holonomy.motion.run import index as indices
from holonomy.motion.run import layout

FILES = Path(__file__).with_name("files")
END = struct.Struct("<Q16s")
MARK = b"holonomy-index-1"
ARRAYS = ("t", "q", "v", "energy", "momentum", "pull", "multipliers", "violation")
HOSTILE = (
    0,
    -1,
    1,
    2**31,
    2**62,
    -(2**63),
    1e308,
    float("nan"),
    "",
    "x" * 5000,
    None,
    [],
    {},
    [[]],
    True,
    "<O8",
    "<f16",
)


def split(data: bytes) -> tuple[bytes, dict]:
    """The part of a file that HDF5 reads, and its index."""
    length, mark = END.unpack(data[-END.size :])
    assert mark == MARK
    return data[: -END.size - length], json.loads(data[-END.size - length : -END.size])


def joined(image: bytes, index: object) -> bytes:
    text = json.dumps(index).encode()
    return image + text + END.pack(len(text), MARK)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file with bits flipped, bytes replaced, cut, repeated, moved or removed, as accidents do it."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5, 20))):
        at, size = chance.randrange(len(found)), chance.randrange(1, 200)
        kind = chance.randrange(7)
        if kind <= 1:
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            found[at : at + 8] = struct.pack(
                "<q", chance.choice((0, -1, 1, 2**31, 2**62, -(2**63), chance.getrandbits(60)))
            )
        elif kind == 3:
            found[at : at + size] = chance.randbytes(size)
        elif kind == 4:
            del found[at : at + size]
        elif kind == 5:
            found[at:at] = found[chance.randrange(len(found)) :][:size]
        elif kind == 6 and chance.random() < 0.3:
            del found[max(at, 1) :]
        if not found:
            return b""
    return bytes(found)


def forged(data: bytes, chance: random.Random) -> bytes:
    """The file with another index that is JSON again, as someone with bad intentions writes it."""
    image, index = split(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place, key = index, chance.choice(list(index))
        while isinstance(place[key], (dict, list)) and place[key] and chance.random() < 0.9:
            place = place[key]
            key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        if chance.random() < 0.1 and isinstance(place, dict) and place is not index:
            del place[key]
        elif isinstance(place[key], int) and chance.random() < 0.5:
            place[key] += chance.choice((-1, 1, 8, 1000, 2**33))
        else:
            place[key] = copy.deepcopy(chance.choice(HOSTILE))
        if not all(isinstance(part, dict) and part for part in index.values()):
            break
    return joined(image, index)


def resealed(data: bytes, folder: Path) -> bytes:
    """The file with the checksum that fits what is in it now, so that the checks behind the checksum are reached."""
    image, index = split(data)
    path = folder / "resealed.nc"
    path.write_bytes(data)
    try:
        with path.open("rb") as file:
            held = indices.read(file)
    except layout.Unreadable:
        return data
    index["attributes"]["checksum"] = layout.checksum(held.data, held.attributes)
    return joined(image, index)


def same(found: hl.Run, run: hl.Run) -> bool:
    """Whether a loaded run has the data, result, events, picture and provenance of another."""
    return (
        all(np.array_equal(getattr(found, name), getattr(run, name), equal_nan=True) for name in ARRAYS)
        and found.provenance == run.provenance
        and (found.result, found.work) == (run.result, run.work)
        and found.events.names == run.events.names
        and np.array_equal(found.events.q, run.events.q)
        and jax.tree.structure(found.drawn) == jax.tree.structure(run.drawn)
        and all(map(np.array_equal, jax.tree.leaves(found.drawn), jax.tree.leaves(run.drawn)))
    )
