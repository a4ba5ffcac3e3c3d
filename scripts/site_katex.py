"""A hook of MkDocs: puts the KaTeX of the frontend's packages into the site, so that a page fetches nothing."""

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

SOURCE = Path(__file__).resolve().parents[1] / "frontend" / "node_modules" / "katex" / "dist"
TARGET = "katex"


def on_files(files: Files, *, config: Any) -> Files:
    """Add the program, its style sheet and its fonts."""
    if not SOURCE.is_dir():
        raise PluginError("The site needs KaTeX from frontend/node_modules: run `make docs`, which installs it.")
    for path in [SOURCE / "katex.min.js", SOURCE / "katex.min.css", *sorted((SOURCE / "fonts").glob("*.woff2"))]:
        uri = f"{TARGET}/{path.relative_to(SOURCE).as_posix()}"
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files
