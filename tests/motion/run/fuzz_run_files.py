"""Loads mutated run files: ``python -m tests.motion.run.fuzz_run_files FIRST COUNT FOLDER`` prints what came of them.

Every file must give a sentence or the run that was saved. Files without index are read by `hdf5_reader.convert` under
the limits of `hdf5_reader.limit`, here in processes that read a hundred of them each: `hl.load` starts one for each.
"""

import io
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from tests.motion.run.run_files import FILES, damaged, forged, resealed, same, split

import holonomy as hl
from holonomy.motion.run import foreign, hdf5_reader, index, load
from holonomy.motion.run.layout import Contents

BATCH = 100
SECONDS = 4
SAVED = (FILES / "format-2.nc").read_bytes()


def mutated(seed: int, folder: Path) -> tuple[str, bytes]:
    """A file and whether its checksum can tell it from the one that was saved."""
    chance = random.Random(seed)
    kind = chance.choices(("damaged", "forged", "sealed", "hdf5"), (8, 5, 3, 4))[0]
    if kind == "damaged":
        return kind, damaged(SAVED, chance)
    if kind == "hdf5":
        return kind, damaged(split(SAVED)[0], chance)
    found = forged(SAVED, chance)
    return kind, resealed(found, folder) if kind == "sealed" else found


def read_here(file: io.BufferedReader) -> Contents:
    """What `foreign.read` does, in this process; a file that takes too long ends it, as it ends the reader."""
    file.seek(0)
    data = file.read()
    signal.alarm(SECONDS)
    copy = hdf5_reader.convert(data, foreign.request(len(data)))
    signal.alarm(0)
    path = Path(file.name).with_suffix(".copy")
    path.write_bytes(copy)
    with path.open("rb") as written:
        return index.read(written)


def outcome(kind: str, path: Path, run: hl.Run) -> str:
    try:
        with np.errstate(all="ignore"):
            found = load.load(path)
            str(found.certificate)
    except ValueError as error:
        sentence = str(error)
        right = "\n" not in sentence and len(sentence) < 700 and sentence.endswith(".")
        return "sentence" if right else f"no sentence: {sentence[:200]!r}"
    if kind == "sealed":  # a run with other numbers and the checksum that fits them
        return "other run"
    return "same run" if same(found, run) else "wrong run"


def work(seeds: range, folder: Path, pipe: int) -> None:
    """Load the files of these seeds, and write a line for each to the pipe."""
    foreign.read = read_here
    run = load.load(FILES / "format-2.nc")
    hdf5_reader.limit(600, len(SAVED))
    path = folder / f"{os.getpid()}.nc"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in seeds:
        kind, data = mutated(seed, folder)
        path.write_bytes(data)
        begun = time.perf_counter()
        try:
            said = outcome(kind, path, run)
        except Exception as error:  # noqa: BLE001 - reported, and a failure of the test
            said = f"{type(error).__name__}: {error}"[:200]
        taken = time.perf_counter() - begun
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        os.write(pipe, (json.dumps([seed, kind, said, taken, grown]) + "\n").encode())


def batch(seeds: range, folder: Path) -> list[list]:
    """The lines of one process; where HDF5 ended it, one that says so."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(seeds, folder, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as lines:
        rows = [json.loads(line) for line in lines]
    _, status = os.waitpid(child, 0)
    if len(rows) < len(seeds):
        stopped = "stopped" if os.WIFSIGNALED(status) else f"ended with {status}"
        rows.append([seeds[len(rows)], "hdf5", stopped, 0.0, 0.0])
    return rows


def main(first: int, count: int, folder: Path) -> None:
    """Load so many files, and print the numbers of each outcome, the longest time and the most memory."""
    rows: list[list] = []
    while len(rows) < count:
        at = first + len(rows)
        rows += batch(range(at, min(at + BATCH, first + count)), folder)
    known = ("sentence", "same run", "other run", "stopped")
    summary = {
        "outcomes": Counter(f"{kind}: {said}" for _, kind, said, _, _ in rows if said in known),
        "stopped": [row[0] for row in rows if row[2] == "stopped"],
        "wrong": [row for row in rows if row[2] not in known],
        "seconds": max(row[3] for row in rows),
        "megabytes": max(row[4] for row in rows),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
