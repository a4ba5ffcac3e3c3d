"""Optional packages: which extra brings them, and the sentence for a user who has not installed it."""

from __future__ import annotations

import importlib
import sys
from typing import Any

# As in pyproject.toml, by the names of the modules; a test compares the two.
EXTRAS = {
    "studio": ("starlette", "uvicorn", "websockets", "flatbuffers"),
    "plot": ("matplotlib",),
    "video": ("matplotlib", "imageio", "imageio_ffmpeg"),
    "data": ("xarray",),
    "notebook": ("anywidget",),
    "taylor": ("heyoka",),
}


class MissingExtra(ImportError):
    """A package that one of holonomy's extras brings is not installed."""


def require(extra: str, user: str, otherwise: str = "") -> None:
    """Import the packages of an extra, so that what follows may use them.

    **Arguments:** `user`, what needs them, as the subject of the sentence; `otherwise`, a clause about what to do
    without them.

    **Raises** `MissingExtra` with one sentence that names the first missing package and the command that installs it.
    """
    for module in EXTRAS[extra]:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # the package is there, and something that it needs itself is not
                raise
            package = module.replace("_", "-")
            end = f"; {otherwise}." if otherwise else "."
            sentence = f"{user} needs {package}, which is not installed: {command(extra)}{end}"
            raise MissingExtra(sentence, name=module) from None


def command(extra: str) -> str:
    """The command that adds an extra to this installation of holonomy."""
    if extra == "taylor" and sys.platform != "linux":  # PyPI has heyoka for Linux alone
        return "conda install -c conda-forge heyoka.py"
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    origin = _origin()
    parts = urlsplit(origin.get("url", ""))
    if parts.scheme == "file":  # a wheel or a checkout
        edited = "-e " if origin.get("dir_info", {}).get("editable") else ""
        return f'pip install {edited}"{url2pathname(parts.path)}[{extra}]"'
    if parts.scheme:
        prefix = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
        return f'pip install "holonomy[{extra}] @ {prefix}{origin["url"]}"'
    return f'pip install "holonomy[{extra}]"'


def _origin() -> dict[str, Any]:
    """Where holonomy was installed from, as installers record it; empty if that was an index, or if it is not known.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    import json  # here as above: `holonomy --help` does not wait for what only an error needs
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return json.loads(distribution("holonomy").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return {}
