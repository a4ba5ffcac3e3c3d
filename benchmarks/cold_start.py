"""Cold start: from `import holonomy` to the end of a double pendulum run, and the same again with other numbers."""

import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import time
begin = time.perf_counter()
import holonomy as hl
import jax.numpy as jnp

def lagrangian(t, q, v, p):
    (a, b), (u, w) = q, v
    return u**2 + w**2 / 2 + u * w * jnp.cos(a - b) + p.g * (2 * jnp.cos(a) + jnp.cos(b))

def run(g, start):
    system = hl.System.from_lagrangian(lagrangian, coordinates={"a": "angle", "b": "angle"}, parameters={"g": g})
    return hl.simulate(system, start, [0.0, 0.0], 10.0, dt=0.01, engine=ENGINE)

imported = time.perf_counter()
run(9.81, [1.5, 1.5])
first = time.perf_counter()
run(3.7, [1.1, 0.4])
second = time.perf_counter()
print(imported - begin, first - begin, second - first)
"""


def measure(engine: str, repeats: int = 3) -> list[float]:
    """Medians of import, first run and second run, each repeat in a new process with no code on disk."""
    rows = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as empty:
            out = subprocess.run(
                [sys.executable, "-c", PROGRAM.replace("ENGINE", repr(engine))],
                env={**os.environ, "HOLONOMY_CACHE": empty},
                capture_output=True,
                text=True,
                check=True,
            )
        rows.append([float(x) for x in out.stdout.split()])
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    print("## Cold start\n")
    print("Double pendulum, 10 s, `Gauss(3)`, dt = 0.01, nothing compiled before.\n")
    print("| engine | import | import to end of run | second run, other numbers | asked |")
    print("| --- | --- | --- | --- | --- |")
    for engine in ("native", "xla"):
        imported, first, second = measure(engine)
        print(f"| {engine} | {imported:.2f} s | {first:.2f} s | {1000 * second:.1f} ms | 2.5 s, 50 ms |")


if __name__ == "__main__":
    main()
