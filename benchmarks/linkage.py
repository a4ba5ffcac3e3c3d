"""K and |II|² of four rods on a grid of the sphere: ours, and the source material's finite differences in Node.

    python benchmarks/linkage.py [--size 512] [--no-peers]

Node runs on one core and ours on all; the ratio of times is given as measured and per core.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

import holonomy as hl

PEER = Path(__file__).with_name("linkage_differences.mjs")


def grid(size: int) -> np.ndarray:
    """Midpoints of cells of equal angles, as points of the sphere, (size², 3)."""
    phi = ((np.arange(size) + 0.5) / size - 0.5) * np.pi
    t = 2 * np.pi * (np.arange(size) + 0.5) / size
    a, b = (x.reshape(-1) for x in np.meshgrid(phi, t, indexing="ij"))
    return np.stack([np.sin(a), np.cos(a) * np.sin(b), np.cos(a) * np.cos(b)], axis=1)


def ours(size: int, base: float, rod: float, hinge: float) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Seconds of the first call and of the best later one with other numbers, and the two fields."""
    points = grid(size)
    start = time.perf_counter()
    hl.Linkage(4, 0.5 * (base + 3.0), rod + 0.1, hinge).fields(points)
    first = time.perf_counter() - start
    best, fields = np.inf, None
    for _ in range(5):
        start = time.perf_counter()
        fields = hl.Linkage(4, base, rod, hinge).fields(points)
        best = min(best, time.perf_counter() - start)
    assert fields is not None
    k, bending = (np.asarray(f).reshape(size, size) for f in fields)
    return first, best, k, bending


def theirs(node: str, *numbers: float) -> dict:
    """Time and a sample of the values of the finite-difference version."""
    done = subprocess.run([node, str(PEER), *map(str, numbers)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    node = None if options.no_peers else shutil.which("node")
    cores = len(os.sched_getaffinity(0))
    print(f"K and |II|² on a {options.size} × {options.size} grid, {cores} cores\n")
    print("| base | rods, hinges | first call s | other numbers s | Node s | ratio | per core | error of K, Node |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for base, rod, hinge in ((3.0, 0.0, 1.0), (2.5, 1.0, 1.0)):
        first, best, k, _ = ours(options.size, base, rod, hinge)
        row = f"| {base:g} | {rod:g}, {hinge:g} | {first:.2f} | {best:.3f} |"
        if node is None:
            print(row + " – | – | – | – |", flush=True)
            continue
        peer = theirs(node, options.size, base, rod, hinge)
        seconds = peer["milliseconds"] / 1000
        wrong = max(abs(value - k[a, b]) for a, b, value, _ in peer["sample"])
        print(
            row + f" {seconds:.3f} | {seconds / best:.1f} × | {seconds / best / cores:.1f} × | {wrong:.1e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
