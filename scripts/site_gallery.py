"""A hook of MkDocs: runs the programs of the gallery and puts their pictures into the site."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("examples/first_day", "examples/gallery")
TARGET = "gallery"
# one process runs them all, since importing takes longer than most of them
RUN_ALL = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files that the programs write."""
    programs = [str(path) for folder in PROGRAMS for path in sorted((ROOT / folder).glob("*.py"))]
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", RUN_ALL, *programs],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PluginError(f"A program of the gallery failed: {done.stderr.strip()[-800:]}")
        for path in sorted(Path(folder).iterdir()):
            files.append(File.generated(config, f"{TARGET}/{path.name}", content=path.read_bytes()))
    return files
