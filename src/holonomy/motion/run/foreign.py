"""Reading files of runs that have no index: those of format 1, and those that another program wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, Final

from holonomy.motion.run import index
from holonomy.motion.run.layout import ABOUT, ATTRIBUTES, DIMENSIONS, TEXTS, Contents, Unreadable

_READER: Final = Path(__file__).with_name("hdf5_reader.py")
_SECONDS: Final = 1  # for a file of some kilobytes, which takes some milliseconds
_BYTES_PER_SECOND: Final = 50 * 2**20  # what reading takes on a slow disk
_LONGEST_WAIT: Final = 120.0  # for a process that does not even start; a loop in HDF5 ends after its own seconds


def request(size: int) -> dict[str, object]:
    """What the reader is told: the names to look for, and how long it may take for a file of this size."""
    return {
        "variables": list(DIMENSIONS),
        "texts": TEXTS,
        "about": ABOUT,
        "attributes": list(ATTRIBUTES),
        "seconds": _SECONDS + size // _BYTES_PER_SECOND,
    }


def read(file: BinaryIO) -> Contents:
    """The contents of a file that HDF5 reads, in a process with limits of time and memory. Raises `Unreadable`."""
    asked = request(os.fstat(file.fileno()).st_size) | {"path": sys.path}
    # no filters from elsewhere are loaded, and no threads are started for arithmetic
    settings = os.environ | {"HDF5_PLUGIN_PRELOAD": "::", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    with tempfile.TemporaryFile() as copy:
        try:
            done = subprocess.run(
                [sys.executable, "-I", str(_READER), json.dumps(asked)],
                stdin=file.fileno(),
                stdout=copy,
                stderr=subprocess.DEVNULL,
                env=settings,
                timeout=_LONGEST_WAIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unreadable("reading it took too long") from None
        if done.returncode or not index.has_index(copy):
            raise Unreadable("HDF5 could not read it within the time and memory that a file of its size may take")
        return index.read(copy)
