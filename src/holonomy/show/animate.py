"""A run as a moving picture."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from holonomy.extras import require
from holonomy.files import whole
from holonomy.motion.run.known_until import noise_from
from holonomy.motion.run.positions import ORIGIN, Drawn, chain, drawn
from holonomy.show.known import SAID
from holonomy.show.style import style
from holonomy.viewer.palette import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from holonomy.motion import Run

_FORMATS = (".gif", ".mp4", ".html")
_TRAIL = 60  # frames for which the way of the last particle is seen
_MARGIN = 0.08  # around the picture, as a part of its size


def animate(
    run: Run,
    path: str | Path,
    *,
    fps: int = 30,
    speed: float = 1.0,
    rods: bool | None = None,
    size: int = 480,
    dark: bool = False,
) -> Path:
    """See `Run.animate`. Needs matplotlib, imageio and imageio-ffmpeg, which the extra `video` brings."""
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise ValueError(f"An animation is a .gif, .mp4 or .html file; got {target.name!r}.")
    if np.ndim(run.t) > 1:
        raise ValueError("An animation shows one run; take one member of the batch first, as run[0].")
    if not fps > 0 or not speed > 0:
        raise ValueError(f"fps and speed must be positive; got fps={fps!r}, speed={speed!r}.")
    picture = drawn(run) if len(run.t) > 1 else None
    if picture is None:
        raise ValueError(
            "Nothing to draw: the system does not know its positions, or the run has one state. Pass positions=x(t, q) "
            "when making the system."
        )
    if target.suffix.lower() == ".html":
        from holonomy.show.html import export

        return export(run, target, rods=rods, speed=speed, force=True)
    require("video", "run.animate()")
    duration = abs(float(run.t[-1] - run.t[0]))
    times = np.linspace(float(run.t[0]), float(run.t[-1]), max(2, round(duration / speed * fps)))
    moved = drawn(run.resample(times))
    assert moved is not None  # it was known of the same run
    joined = picture.rods if rods is None else chain(picture.x.shape[1]) if rods else ()
    since = noise_from(run)
    known = np.full(len(times), True) if since is None else np.abs(times - times[0]) <= abs(since - times[0])
    frames = _frames(times, known, Drawn(moved.x, joined, picture.note), size, DARK if dark else LIGHT)
    return write(target, frames, fps)


def _frames(times: np.ndarray, known: np.ndarray, picture: Drawn, size: int, palette: Palette) -> Iterator[np.ndarray]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = np.asarray(picture.x)[..., :3]
    if places.shape[2] == 1:
        places = np.concatenate([places, np.zeros_like(places)], axis=2)
    three = places.shape[2] == 3
    ends = np.concatenate([places, np.zeros_like(places[:, :1])], axis=1)  # ORIGIN, which is -1, is the last one
    with style(layout=False, palette=palette):  # laying out anew for every frame would cost more than drawing it
        figure = Figure(figsize=(size / 100, size / 100), dpi=100)
        figure.subplots_adjust(left=0.15, right=0.96, bottom=0.12, top=0.93)
        canvas = FigureCanvasAgg(figure)
        axes: Any = figure.add_subplot(projection="3d" if three else None)
        _limits(axes, ends if any(ORIGIN in rod for rod in picture.rods) else places, unit="" if picture.note else "m")
        blank: list[list[float]] = [[]] * places.shape[2]
        trail = axes.plot(*blank, color=palette.bodies[1], linewidth=1.0, alpha=0.6)[0]
        lines = [axes.plot(*blank, "-", color=palette.rod, linewidth=2.0)[0] for _ in picture.rods]
        if any(ORIGIN in rod for rod in picture.rods):
            axes.plot(*([0.0] for _ in blank), "s", color=palette.rod, markersize=6)
        colours = [palette.bodies[i % len(palette.bodies)] for i in range(places.shape[1])]
        dots = [axes.plot(*blank, "o", color=colour, markersize=9)[0] for colour in colours]
        for k, t in enumerate(times):
            _place(trail, places[max(0, k - _TRAIL) : k + 1, -1])
            for line, (i, j) in zip(lines, picture.rods, strict=True):
                _place(line, ends[k, [i, j]])
            for dot, spot in zip(dots, places[k], strict=True):
                _place(dot, spot[None])
            axes.set_title(f"$t$ = {t:.2f} s" + ("" if known[k] else f", {SAID}"), loc="left")
            canvas.draw()
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _limits(axes: Any, points: Float[np.ndarray, "times points d"], unit: str) -> None:
    """Equal scales that hold all the points."""
    known = points.reshape(-1, points.shape[2])
    known = known[np.isfinite(known).all(axis=1)]
    low, high = known.min(axis=0), known.max(axis=0)
    half = (0.5 + _MARGIN) * max(float(np.max(high - low)), 1e-9)
    for axis, middle in zip("xyz", (low + high) / 2):
        getattr(axes, f"set_{axis}lim")(middle - half, middle + half)
        getattr(axes, f"set_{axis}label")(f"${axis}$" + (f" ({unit})" if unit else ""))
    if points.shape[2] == 2:
        axes.set_aspect("equal")


def _place(artist: Any, points: np.ndarray) -> None:
    artist.set_data(points[:, 0], points[:, 1])
    if points.shape[1] == 3:
        artist.set_3d_properties(points[:, 2])


def write(target: Path, frames: Any, fps: int) -> Path:
    """Frames as a .gif or .mp4 file, whole or not at all."""
    import imageio.v3 as iio

    with whole(target) as part, warnings.catch_warnings():
        # JAX warns of every fork; the child of this one becomes the encoder at once and touches nothing of JAX
        warnings.filterwarnings("ignore", message=".*os.fork", category=RuntimeWarning)
        pictures = list(frames)
        if target.suffix.lower() == ".gif":
            iio.imwrite(part, pictures, duration=1000 / fps, loop=0)
        else:
            iio.imwrite(part, pictures, fps=fps, codec="libx264", plugin="FFMPEG")
    return target
