"""A run as one HTML file that replays anywhere, without a server and without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holonomy import files
from holonomy.motion.run.storage import provenance
from holonomy.show.recording import record
from holonomy.viewer.page import About, page

if TYPE_CHECKING:
    from holonomy.motion import Run

_ENDINGS = (".html", ".htm")
_LABELS = {
    "holonomy": "holonomy",
    "python": "Python",
    "versions": "versions",
    "machine": "machine",
    "parameters": "parameters",
}


def export(
    run: Run,
    path: str | Path,
    *,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    force: bool = False,
    **options: Any,
) -> Path:
    """Write a run to one HTML file with its viewer inside.

    **Arguments:** `title`, of the page, the file's name unless it is given; `about`, where the run came from, as
    `run.to_dataset().attrs` holds it; `force`, whether to write over a file that is there; `options`, as those of
    `run.view`.
    """
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise ValueError(f"A page to look at is an .html file; got {target.name!r}.")
    if target.exists() and not target.is_dir() and not force:
        raise ValueError(f"{target} is there already; choose another name, or write over it with force.")
    page = html(run, title=title or target.stem, about=about, **options)
    return files.write(target, page.encode("utf-8"))


def html(run: Run, *, title: str, about: Mapping[str, Any] | None = None, **options: Any) -> str:
    """The page as text; see `holonomy.viewer.page`."""
    known = provenance(run) if about is None else about
    rows = [(_LABELS[key], _plain(known[key])) for key in _LABELS if known.get(key) not in (None, "", "{}")]
    parts = [About("Certificate", run.certificate.rows()), About("Where it came from", rows)]
    return page(record(run, title=title, **options), title, parts)


def _plain(value: Any) -> str:
    """Attributes of a file hold mappings as JSON; a person reads them as a list."""
    try:
        found = json.loads(str(value))
    except ValueError:
        return str(value)
    return ", ".join(f"{k} = {v}" for k, v in found.items()) if isinstance(found, dict) else str(value)
