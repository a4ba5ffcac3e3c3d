"""The colours of figures, exported pages and the studio, and the same as TypeScript and CSS.

Bodies and curves have the colours of Okabe and Ito (2008), which people with any kind of colour vision can tell apart,
on paper and on a blackboard. `python -m holonomy.viewer.palette` writes the frontend's files.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

BLUE: Final = "#0072b2"
VERMILLION: Final = "#d55e00"
GREEN: Final = "#009e73"
PURPLE: Final = "#cc79a7"
ORANGE: Final = "#e69f00"
SKY: Final = "#56b4e9"
BLACK: Final = "#000000"
YELLOW: Final = "#f0e442"
INK: Final = "#1c1d20"

OKABE_ITO: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, YELLOW)


@dataclass(frozen=True)
class Palette:
    """The colours of one colour scheme, as #rrggbb.

    `paper` is the background, `margin` that of the controls, `line` a rule between parts, `ink` text, `faint` text
    that is less important, `accent` what can be clicked, `warning` a problem; `grid` and `rod` belong to pictures,
    `on_map` is drawn on heat maps.
    `bodies` are in the order of the bodies, `energies` in that of the kinds of energy; a total energy is drawn in ink.
    """

    paper: str
    margin: str
    line: str
    ink: str
    faint: str
    accent: str
    warning: str
    grid: str
    rod: str
    on_map: str
    bodies: tuple[str, ...]
    energies: tuple[str, ...]


LIGHT: Final = Palette(
    paper="#fdfcf8",
    margin="#f5f3ec",
    line="#dedbd1",
    ink=INK,
    faint="#5f6166",
    accent="#0069a5",
    warning="#a84300",
    grid="#e9e7df",
    rod="#4b4d52",
    on_map=INK,
    bodies=(BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY),
    energies=(ORANGE, GREEN, PURPLE, BLUE),
)
DARK: Final = Palette(
    paper="#15171a",
    margin="#1b1e22",
    line="#363a40",
    ink="#eceae4",
    faint="#a2a4a8",
    accent=SKY,
    warning=ORANGE,
    grid="#26292d",
    rod="#b4b6ba",
    on_map=INK,
    bodies=(SKY, ORANGE, GREEN, PURPLE, VERMILLION, BLUE),
    # a lighter green than GREEN, which is too dark for a thin line on black
    energies=(ORANGE, "#2bbd93", PURPLE, SKY),
)

FRONTEND: Final = Path(__file__).resolve().parents[3] / "frontend" / "src"
_NOTE: Final = "Written by `python -m holonomy.viewer.palette`. Edit that file."


def typescript() -> str:
    """The whole of `frontend/src/palette.ts`."""
    members = [
        f"  readonly {f.name}: {'string' if isinstance(getattr(LIGHT, f.name), str) else 'readonly string[]'};"
        for f in fields(Palette)
    ]
    interface = "\n".join(["export interface Palette {", *members, "}"])
    return "\n\n".join([f"// {_NOTE}", interface, _object("LIGHT", LIGHT), _object("DARK", DARK)]) + "\n"


def _object(name: str, palette: Palette) -> str:
    def written(value: str | tuple[str, ...]) -> str:
        return f'"{value}"' if isinstance(value, str) else f"[{', '.join(map(written, value))}]"

    rows = [f"  {f.name}: {written(getattr(palette, f.name))}," for f in fields(palette)]
    return "\n".join([f"export const {name}: Palette = {{", *rows, "};"])


def css() -> str:
    """The whole of `frontend/src/palette.css`: the single colours as custom properties of the studio and its page.

    The system's scheme, unless the attribute `data-theme` of the root element names one.
    """

    def properties(palette: Palette, indent: str) -> list[str]:
        values = [(f.name, getattr(palette, f.name)) for f in fields(palette)]
        return [f"{indent}--{name}: {value};" for name, value in values if isinstance(value, str)]

    light = [".holonomy,", ".holonomy-page {", "  color-scheme: light;", *properties(LIGHT, "  "), "}"]
    dark = [
        "@media (prefers-color-scheme: dark) {",
        '  :root:not([data-theme="light"]) :is(.holonomy, .holonomy-page) {',
        "    color-scheme: dark;",
        *properties(DARK, "    "),
        "  }",
        "}",
        ':root[data-theme="dark"] :is(.holonomy, .holonomy-page) {',
        "  color-scheme: dark;",
        *properties(DARK, "  "),
        "}",
    ]
    return "\n".join([f"/* {_NOTE} */", "", *light, *dark]) + "\n"


WRITTEN: Final = {"palette.ts": typescript, "palette.css": css}


def main() -> None:
    """Write the files, or say that this is not a checkout."""
    if not FRONTEND.is_dir():
        raise SystemExit(f"There is no folder {FRONTEND}: the palette is written in a checkout of the repository.")
    for name, content in WRITTEN.items():
        (FRONTEND / name).write_text(content(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
