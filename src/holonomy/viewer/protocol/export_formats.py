"""The files that the studio exports: one row each for the page's menu, the server's answer and the messages."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal["html", "python", "toml", "csv", "netcdf"]
"""Files that the server makes, of the state and of the motion so far."""
PageKind = Literal["embed", "gif", "mp4", "webm", "png", "svg"]
"""Files that the page makes, of what it shows."""


class ExportFormat(NamedTuple):
    """A kind of file: its name and a note in the menu, its ending and media type.

    `readable` files are text that a person may want to read or copy: the page shows them instead of saving them.
    `film` is one that is made from when it is begun until it is stopped.
    """

    kind: Kind | PageKind
    label: str
    note: str
    ending: str
    media: str
    readable: bool = False
    film: bool = False


_TEXT: Final = "; charset=utf-8"
FORMATS: Final = (
    ExportFormat("html", "Web page", "one file that replays the motion anywhere", "html", f"text/html{_TEXT}"),
    ExportFormat(
        "embed", "Embed", "lines that put that web page into another", "txt", f"text/plain{_TEXT}", readable=True
    ),
    ExportFormat("gif", "GIF", "a moving image from now on", "gif", "image/gif", film=True),
    ExportFormat("mp4", "MP4", "a film from now on", "mp4", "video/mp4", film=True),
    ExportFormat("webm", "WebM", "a film from now on", "webm", "video/webm", film=True),
    ExportFormat("png", "PNG", "the picture at twice the size of the screen", "png", "image/png"),
    ExportFormat("svg", "SVG", "the picture as a drawing", "svg", "image/svg+xml"),
    ExportFormat("python", "Python", "a script that goes on and plots", "py", f"text/x-python{_TEXT}", readable=True),
    ExportFormat("toml", "Scene", "a TOML file for holonomy run", "toml", f"application/toml{_TEXT}", readable=True),
    ExportFormat("csv", "CSV", "the motion so far, as a table", "csv", f"text/csv{_TEXT}"),
    ExportFormat("netcdf", "NetCDF", "the motion so far, for xarray", "nc", "application/x-netcdf"),
)
BY_KIND: Final = {one.kind: one for one in FORMATS}
