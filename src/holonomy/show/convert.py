"""A saved run as another kind of file, by the ending of its name."""

from __future__ import annotations

from pathlib import Path

from holonomy import files
from holonomy.motion.run.load import attributes, load
from holonomy.show.animate import animate
from holonomy.show.html import export
from holonomy.show.plot import plot

PAGES = (".html", ".htm")
TABLES = (".csv", ".parquet")
PICTURES = (".png", ".svg", ".pdf")
FILMS = (".gif", ".mp4")


def convert(source: Path, target: Path, *, title: str | None = None, speed: float | None = None) -> Path:
    """Write the run in the file `source` as a page that replays it, a table, a picture or a film.

    **Arguments:** `title`, of a page, the name of the source unless it is given; `speed`, of a page or film: seconds of
    motion for one of the clock. A file that is there is written over.
    """
    ending = target.suffix.lower()
    known = (*PAGES, *TABLES, *PICTURES, *FILMS)
    if ending not in known:
        raise ValueError(f"A run is exported to a file that ends in {', '.join(known)}; got {target.name!r}.")
    run = load(source)
    if ending in PAGES:
        return export(run, target, title=title or source.stem, about=attributes(source), force=True, speed=speed)
    if ending in TABLES:
        return run.save(target)
    if ending in FILMS:
        return animate(run, target, speed=1.0 if speed is None else speed)
    with files.whole(target) as part:
        plot(run).savefig(part, format=ending[1:])
    return target
