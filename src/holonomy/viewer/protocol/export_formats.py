"""The files that the studio exports: one row each for the page's menu, the server's answer and the messages."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal["python", "toml", "csv", "netcdf"]


class ExportFormat(NamedTuple):
    """A kind of file: its name and a note in the menu, its ending and media type.

    `readable` files are text that a person may want to read or copy: the page shows them instead of saving them.
    """

    kind: Kind
    label: str
    note: str
    ending: str
    media: str
    readable: bool


FORMATS: Final = (
    ExportFormat(
        "python", "Python", "a script that reproduces this state", "py", "text/x-python; charset=utf-8", readable=True
    ),
    ExportFormat(
        "toml", "Scene", "a TOML file for holonomy run", "toml", "application/toml; charset=utf-8", readable=True
    ),
    ExportFormat("csv", "CSV", "the motion so far, as a table", "csv", "text/csv; charset=utf-8", readable=False),
    ExportFormat("netcdf", "NetCDF", "the motion so far, for xarray", "nc", "application/x-netcdf", readable=False),
)
BY_KIND: Final = {one.kind: one for one in FORMATS}
