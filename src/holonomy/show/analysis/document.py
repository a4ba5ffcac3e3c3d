"""An analysis as a document: Markdown, one HTML file without a network, or LaTeX, with plots beside or inside it."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from holonomy import files
from holonomy.notation import GREEK
from holonomy.show.analysis.item import Item
from holonomy.viewer.palette import DARK, LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = (".md", ".html", ".tex")
_STYLE: Final = f"""
html {{ color-scheme: light dark; background: {LIGHT.paper}; color: {LIGHT.ink}; }}
body {{ max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 17px/1.5 Charter, Georgia, serif; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.2rem; margin-top: 2rem; }}
.formula {{ overflow-x: auto; margin: 0.6rem 0; }} .formula svg {{ height: auto; }}
img {{ max-width: 100%; background: white; }}
@media (prefers-color-scheme: dark) {{
  html {{ background: {DARK.paper}; color: {DARK.ink}; }} .formula svg {{ filter: invert(1); }}
}}
"""
_SIGNS: Final = {letter: f"\\{name}" for name, letter in GREEK.items()}
_SIGNS.update({"×": r"\times", "−": "-", "⁻": "^{-}", "′": "'", "∂": r"\partial", "·": r"\cdot"})
_SIGNS.update({digit: f"_{{{place}}}" for place, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")})
_SIGNS.update({digit: f"^{{{place}}}" for place, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})


def write(path: Path, title: str, items: Sequence[Item], figures: Mapping[str, Figure]) -> list[Path]:
    """Write an analysis; the ending says in which format. Figures are files beside it, in HTML they are inside.

    **Raises** `ValueError` for another ending. Returns the files that were written.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"An analysis is written as {', '.join(FORMATS)}; got {path.name!r}.")
    written: list[Path] = []
    if path.suffix != ".html":
        for name, figure in figures.items():
            place = path.with_name(f"{path.stem}-{name}.png")
            with files.whole(place) as part:
                figure.savefig(part)
            written.append(place)
    pictures = {caption(figure, name): f"{path.stem}-{name}.png" for name, figure in figures.items()}
    if path.suffix == ".html":
        text = _html(title, items, figures)
    else:
        text = (_markdown if path.suffix == ".md" else _latex)(title, items, pictures)
    files.write(path, text.encode("utf-8"))
    return [path, *written]


def caption(figure: Figure, name: str) -> str:
    """What a picture shows, in the words of its label; its name where it has none."""
    return str(figure.get_label()) or name


def markdown(title: str, items: Sequence[Item]) -> str:
    """The analysis as Markdown without figures, such as a terminal shows."""
    return _markdown(title, items, {})


def _markdown(title: str, items: Sequence[Item], pictures: Mapping[str, str]) -> str:
    parts = [f"# {title}"]
    for item in items:
        parts.append(f"## {item.title}")
        if item.text:
            parts.append(item.text)
        if item.formulas:
            parts.append(f"$$\n{item.latex}\n$$")
    parts += [f"![{said}]({file})" for said, file in pictures.items()]
    return "\n\n".join(parts) + "\n"


def _latex(title: str, items: Sequence[Item], pictures: Mapping[str, str]) -> str:
    parts = [
        "\\documentclass{article}\n\\usepackage{amsmath,graphicx}\n\\usepackage[T1]{fontenc}\n\\begin{document}",
        f"\\section*{{{_plain(title)}}}",
    ]
    for item in items:
        parts.append(f"\\subsection*{{{_plain(item.title)}}}")
        if item.text:
            parts.append(_plain(item.text))
        if item.formulas:
            parts.append(f"\\[\n{item.latex}\n\\]")
    parts += [
        f"\\begin{{center}}\\includegraphics[width=0.9\\linewidth]{{{file}}}\\\\{_plain(said)}\\end{{center}}"
        for said, file in pictures.items()
    ]
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def _plain(text: str) -> str:
    """Text for LaTeX: letters and signs that it writes otherwise."""
    for sign in "\\_%&#$":
        text = text.replace(sign, "\\textbackslash{}" if sign == "\\" else f"\\{sign}")
    return "".join(f"${_SIGNS[letter]}$" if letter in _SIGNS else letter for letter in text).replace("$$", "")


def _html(title: str, items: Sequence[Item], figures: Mapping[str, Figure]) -> str:
    parts = [f"<h1>{escape(title)}</h1>"]
    for item in items:
        parts.append(f"<h2>{escape(item.title)}</h2>")
        if item.text:
            parts.append(f"<p>{escape(item.text)}</p>")
        parts += [_formula(left, right) for left, right in item.formulas]
    for name, figure in figures.items():
        data = io.BytesIO()
        figure.savefig(data, format="png")
        picture = base64.b64encode(data.getvalue()).decode()
        said = caption(figure, name)
        parts.append(f'<img alt="{escape(said)}" src="data:image/png;base64,{picture}">')
        parts += [f"<p>{escape(said)}</p>"] if said != name else []
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _formula(left: str, right: str) -> str:
    """One formula as a drawing, since a page without a network cannot set it; its source where it cannot be drawn."""
    source = f"{left} = {right}"
    try:
        drawn = _drawn(source)
    except ValueError:
        return f'<div class="formula"><code>{escape(source)}</code></div>'
    return f'<div class="formula" role="img" aria-label="{escape(source)}">{drawn}</div>'


def _drawn(latex: str) -> str:
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import math_to_image

    known: Any = latex.replace(r"\operatorname", r"\mathrm").replace(r"\,", r"\ ")
    data = io.BytesIO()
    math_to_image(f"${known}$", data, format="svg", prop=FontProperties(size=14))
    text = data.getvalue().decode()
    return text[text.index("<svg") :]
