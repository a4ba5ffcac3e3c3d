"""Thumbnails of presets: a few frames of their motion, recorded once and shipped as a file beside each lab.

`python -m holonomy.studio.thumbnails [LAB ...]` records them. A page that shows them compiles nothing.
"""

from __future__ import annotations

import base64
import inspect
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.studio.labs import all_labs
from holonomy.studio.labs.base import AbstractLab, Preset
from holonomy.viewer.protocol.messages import (
    LabCard,
    LabView,
    PresetView,
    RodView,
    StoryView,
    Thumbnail,
    ThumbnailDot,
    ThumbnailLine,
)

if TYPE_CHECKING:
    from holonomy.studio.session.simulation import Simulation

FRAMES: Final = 49
_MANY_POINTS: Final = 24
"""Points above which half the frames are kept: the home page loads the thumbnails of all presets at once."""
_ROD: Final = -1
_LARGEST: Final = 32767
_SMALLEST_DOT: Final = 0.018
_MOST_CURVES: Final = 40
_TURN: Final = np.deg2rad(-35.0)
_TILT: Final = np.deg2rad(24.0)
"""From where space is seen: from the front, a little from the side and from above."""


def card(lab: AbstractLab) -> LabCard:
    """What the home page shows of a lab."""
    descriptor, found = lab.descriptor, read(lab)
    presets = tuple(PresetView(p.name, p.label, p.note, found.get(p.name)) for p in descriptor.presets)
    stories = tuple(StoryView(s.name, s.title, tuple(step.caption for step in s.steps)) for s in lab.stories.values())
    sentence = descriptor.sentence or lab.drawn(lab.opening()).summary
    return LabCard(descriptor.name, descriptor.title, sentence, descriptor.hint, presets, stories)


def file_of(lab: AbstractLab) -> Path:
    """Where the thumbnails of a lab are kept."""
    return Path(inspect.getfile(type(lab))).parent / "thumbnails.json"


def read(lab: AbstractLab) -> dict[str, Thumbnail]:
    """The recorded thumbnails of a lab by preset; none where none were recorded."""
    path = file_of(lab)
    if not path.is_file():
        return {}
    return {name: _thumbnail(kept["thumbnail"]) for name, kept in json.loads(path.read_text("utf-8")).items()}


def _thumbnail(kept: dict[str, Any]) -> Thumbnail:
    lines = tuple(ThumbnailLine(tuple(line.pop("points")), **line) for line in kept["lines"])
    dots = tuple(ThumbnailDot(**dot) for dot in kept["dots"])
    members: dict[str, Any] = {**kept, "lines": lines, "dots": dots, "curves": tuple(kept["curves"])}
    return Thumbnail(**members)


def made_from(lab: AbstractLab, preset: Preset) -> dict[str, Any]:
    """What decides a thumbnail; it is kept with it, so that a test can see which are out of date."""
    settings = lab.preset(preset.name)
    return {
        "picture": preset.picture,
        "seconds": preset.seconds,
        "parameters": dict(settings.parameters),
        "choices": dict(settings.choices),
        "toggles": dict(settings.toggles),
        "texts": dict(settings.texts),
    }


# ── Recording ─────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Record the thumbnails of the labs that are named, or of all."""
    wanted = sys.argv[1:]
    for lab in all_labs():
        if wanted and lab.name not in wanted:
            continue
        kernels = _compiled(lab)
        kept = {
            preset.name: {"made_from": made_from(lab, preset), "thumbnail": asdict(recorded(lab, preset, kernels))}
            for preset in lab.descriptor.presets
        }
        file_of(lab).write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        print(f"wrote {file_of(lab).parent.name}/{file_of(lab).name}")


def _compiled(lab: AbstractLab) -> Any:
    from holonomy.studio.compile.kernel import Kernel
    from holonomy.studio.compile.program import compile_program

    made: dict[Any, Kernel] = {}

    def kernel(structure: Any) -> Kernel:
        if structure not in made:
            made[structure] = Kernel(compile_program(lab.program(structure)))
        return made[structure]

    return kernel


def recorded(lab: AbstractLab, preset: Preset, kernels: Any) -> Thumbnail:
    """The motion of a preset, from its opening pose on."""
    from holonomy.studio.session.simulation import Simulation

    simulation = Simulation(lab, kernels, lab.preset(preset.name))
    view, picture = simulation.view, preset.picture
    per_frame = round(preset.seconds / (FRAMES - 1) / simulation.moment.segment.motion.dt)
    places = []
    for frame in range(FRAMES):
        if frame > 0:
            simulation.advance(per_frame)
        places.append(_seen(view, picture, simulation.reading.position))
    extent = simulation.controls().extents[picture]
    shown = _shown(view, picture, len(places[0]))
    index = {point: i for i, point in enumerate(shown)}
    moving = np.stack(places)[:: 2 if len(shown) > _MANY_POINTS else 1, shown] / extent
    surface = view.pictures[picture].kind == "surface"
    return Thumbnail(
        len(moving),
        preset.seconds,
        len(shown),
        _packed(moving),
        _lines(view, picture, index),
        _dots(simulation, picture, index),
        _curves(simulation, picture, extent),
        1.0 / extent if surface or view.pictures[picture].boundary in ("ball", "disc") else 0.0,
    )


def _seen(view: LabView, picture: int, position: np.ndarray) -> np.ndarray:
    """Points as the thumbnail shows them: those of space from a fixed direction."""
    if view.pictures[picture].kind in ("plane", "field") or position.shape[1] == 2:
        return position[:, :2]
    across = np.cos(_TURN) * position[:, 0] - np.sin(_TURN) * position[:, 1]
    depth = np.sin(_TURN) * position[:, 0] + np.cos(_TURN) * position[:, 1]
    return np.stack([across, np.cos(_TILT) * position[:, 2] + np.sin(_TILT) * depth], axis=1)


def _shown(view: LabView, picture: int, points: int) -> list[int]:
    """The points that something is drawn at in this picture."""
    found = {view.anchors + i for i, body in enumerate(view.bodies) if body.picture == picture}
    found |= {point for rod in view.rods if _picture_of(view, rod) == picture for point in (rod.start, rod.end)}
    found |= {s.first + k for s in view.shapes if s.picture == picture for k in range(s.count)}
    return sorted(point for point in found if point < points)


def _picture_of(view: LabView, rod: RodView) -> int:
    """A rod is in the picture of its bodies; anchors are in the first."""
    body = max(rod.start, rod.end) - view.anchors
    return view.bodies[body].picture if body >= 0 else 0


def _lines(view: LabView, picture: int, index: dict[int, int]) -> tuple[ThumbnailLine, ...]:
    lines = [
        ThumbnailLine((index[rod.start], index[rod.end]), _ROD, rod.ghost)
        for rod in view.rods
        if _picture_of(view, rod) == picture
    ]
    for shape in view.shapes:
        if shape.picture != picture or shape.kind in ("disc", "label"):
            continue
        points = [index[shape.first + k] for k in range(shape.count)]
        if shape.kind == "mesh":
            edges = {
                tuple(sorted((shape.faces[i], shape.faces[i - i % 3 + (i + 1) % 3]))) for i in range(len(shape.faces))
            }
            lines += [ThumbnailLine((points[a], points[b]), shape.colour, shape.ghost) for a, b in sorted(edges)]
        else:
            filled = shape.kind == "polygon"
            lines.append(ThumbnailLine(tuple(points), shape.colour, shape.ghost, filled))
    return tuple(lines)


def _dots(simulation: Simulation, picture: int, index: dict[int, int]) -> tuple[ThumbnailDot, ...]:
    view, radii = simulation.view, simulation.controls().radii
    return tuple(
        ThumbnailDot(
            index[view.anchors + i], body.colour, round(max(radii[i], _SMALLEST_DOT), 4), body.ghost, body.trail
        )
        for i, body in enumerate(view.bodies)
        if body.picture == picture
    )


def _curves(simulation: Simulation, picture: int, extent: float) -> tuple[str, ...]:
    """Lines that do not move, such as a fan of geodesics."""
    from holonomy.studio.session import backgrounds

    still = backgrounds.curves(simulation.lab, simulation.moment)
    if still is None or still.picture != picture:
        return ()
    found = []
    for curve in still.curves[:_MOST_CURVES]:
        points = np.frombuffer(base64.b64decode(curve.points), "<f4").reshape(-1, 3).astype(float)
        found.append(_packed(_seen(simulation.view, picture, points)[::4] / extent))
    return tuple(found)


def _packed(places: np.ndarray) -> str:
    """Coordinates beyond the picture are put on its edge, twice as far out as it reaches."""
    scaled = np.round(np.clip(np.nan_to_num(places), -1.0, 1.0) * _LARGEST)
    return base64.b64encode(scaled.astype("<i2").tobytes()).decode()


if __name__ == "__main__":
    main()
