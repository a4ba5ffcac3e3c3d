"""Run every benchmark and write benchmarks/RESULTS.md: the tables of one run, with machine and versions."""

from __future__ import annotations

import platform
import subprocess
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "benchmarks"
PACKAGES = ("holonomy", "jax", "llvmlite", "diffrax", "scipy", "heyoka", "numba", "sympy", "mujoco", "numpy")


def machine() -> str:
    """The processor's name where the system tells it, and the number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        return f"{name}, {sum(line.startswith('processor') for line in lines)} cores"
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> str:
    """What was measured, and against what."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (not installed)")
    return ", ".join(found)


def section(path: Path, text: str) -> str:
    """A benchmark's output under a heading; what is no Markdown table stays as it was printed."""
    if "| --- |" not in text:
        text = f"```text\n{text}\n```"
    return text if text.startswith("## ") else f"## {path.stem.replace('_', ' ').capitalize()}\n\n{text}"


def main(names: list[str]) -> int:
    """Run the benchmarks named, or all; only a run of all writes the file."""
    chosen = [FOLDER / f"{name.removesuffix('.py')}.py" for name in names] or sorted(FOLDER.glob("[a-z]*.py"))
    parts = []
    for path in chosen:
        print(f"── {path.name}", flush=True)
        done = subprocess.run([sys.executable, str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return done.returncode
        parts.append(section(path, done.stdout.strip()))
    if not names:
        head = (
            "# Results\n\nThe last run of `make bench`: ratios are to peers in the same run, on the same machine.\n\n"
            f"{date.today().isoformat()}, {machine()}, Python {platform.python_version()}; {versions()}.\n"
        )
        (FOLDER / "RESULTS.md").write_text("\n\n".join([head.strip(), *parts]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
