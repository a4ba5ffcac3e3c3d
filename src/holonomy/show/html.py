"""A run as one HTML file that replays anywhere, without a server and without a network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holonomy import files
from holonomy.motion.run.storage import provenance
from holonomy.show.bundle import bundle
from holonomy.show.recording import record
from holonomy.viewer.palette import DARK, LIGHT

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

_PAGE_STYLE = f"""
html, body {{ margin: 0; background: {LIGHT.paper}; color: {LIGHT.ink}; color-scheme: light dark; }}
#replay {{ height: 100vh; height: 100dvh; min-height: 34rem; }}
@media (max-width: 760px) {{ #replay {{ height: auto; }} }}
#about {{ max-width: 60rem; margin: 0 auto; padding: 2rem 1rem; }}
#about {{ font: 16px/1.4 "Source Serif 4", Charter, Georgia, serif; }}
#about h2 {{ font-size: 1.15rem; margin: 1.5rem 0 0.5rem; }}
#about table {{ border-collapse: collapse; }}
#about th {{ text-align: left; font-weight: 400; color: {LIGHT.faint}; vertical-align: top; }}
#about th {{ padding: 0.15rem 1.2rem 0.15rem 0; }}
#about td {{ padding: 0.15rem 0; overflow-wrap: anywhere; }}
@media (prefers-color-scheme: dark) {{
  html, body {{ background: {DARK.paper}; color: {DARK.ink}; }}
  #about th {{ color: {DARK.faint}; }}
}}
"""


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
    """The page as text.

    Its content security policy names the one script and the two style sheets in it by their hashes and allows no
    address at all, so that nothing in the data can run and nothing is ever fetched.
    """
    viewer = bundle()
    script, style = _inline(viewer.script), viewer.style.replace("</", "<\\/")
    recording = record(run, title=title, **options).text()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}' '{_hash(_PAGE_STYLE)}'; "
        "font-src data:; img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{style}</style>",
            f"<style>{_PAGE_STYLE}</style>",
            "</head>",
            "<body>",
            '<div id="replay" data-holonomy-replay></div>',
            "<noscript>The motion needs JavaScript; what is known of it stands below.</noscript>",
            _about(run, provenance(run) if about is None else about),
            f'<script type="application/json" data-holonomy-recording>{recording}</script>',
            f'<script type="module">{script}</script>',
            "</body>",
            "</html>",
            "",
        ]
    )


def _inline(script: str) -> str:
    """The script in a form that cannot end its element early: these marks occur in its strings only."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("<script", "<\\script")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _about(run: Run, about: Mapping[str, Any]) -> str:
    rows = [(_LABELS[key], _plain(about[key])) for key in _LABELS if about.get(key) not in (None, "", "{}")]
    return "\n".join(
        [
            '<section id="about" aria-label="About this run">',
            "<h2>Certificate</h2>",
            _table(run.certificate.rows()),
            "<h2>Where it came from</h2>",
            _table(rows),
            "</section>",
        ]
    )


def _plain(value: Any) -> str:
    """Attributes of a file hold mappings as JSON; a person reads them as a list."""
    try:
        found = json.loads(str(value))
    except ValueError:
        return str(value)
    return ", ".join(f"{k} = {v}" for k, v in found.items()) if isinstance(found, dict) else str(value)


def _table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(f'<tr><th scope="row">{escape(a)}</th><td>{escape(b)}</td></tr>' for a, b in rows)
    return f"<table><tbody>{cells}</tbody></table>"
