"""A recording as one HTML file that replays anywhere, without a server and without a network."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import NamedTuple

from holonomy.viewer.bundle import bundle
from holonomy.viewer.palette import DARK, LIGHT
from holonomy.viewer.recording import Recording

PAGE_STYLE = f"""
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


class About(NamedTuple):
    """A table below the viewer: its heading, and rows of a name and a value."""

    heading: str
    rows: list[tuple[str, str]]


def page(recording: Recording, title: str, about: list[About]) -> str:
    """The page as text.

    Its content security policy names the one script and the two style sheets in it by their hashes and allows no
    address at all, so that nothing in the data can run and nothing is ever fetched.
    """
    viewer = bundle()
    script, style = _inline(viewer.script), viewer.style.replace("</", "<\\/")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}' '{_hash(PAGE_STYLE)}'; "
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
            f"<style>{PAGE_STYLE}</style>",
            "</head>",
            "<body>",
            '<div id="replay" data-holonomy-replay></div>',
            "<noscript>The motion needs JavaScript; what is known of it stands below.</noscript>",
            '<section id="about" aria-label="About this run">',
            *(f"<h2>{escape(part.heading)}</h2>\n{_table(part.rows)}" for part in about if part.rows),
            "</section>",
            f'<script type="application/json" data-holonomy-recording>{recording.text()}</script>',
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


def _table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(f'<tr><th scope="row">{escape(a)}</th><td>{escape(b)}</td></tr>' for a, b in rows)
    return f"<table><tbody>{cells}</tbody></table>"
