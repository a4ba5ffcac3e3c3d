"""A run as a moving picture."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.extras import require
from holonomy.files import whole
from holonomy.show.style import OKABE_ITO, style
from holonomy.viewer.palette import LIGHT

if TYPE_CHECKING:
    from holonomy.motion import Run

_FORMATS = (".gif", ".mp4")


def animate(
    run: Run, path: str | Path, *, fps: int = 30, speed: float = 1.0, rods: bool = True, size: int = 480
) -> Path:
    """Write the particles' motion to a .gif or .mp4 file, in time that runs `speed` times as fast as the clock.

    Frames lie at equal times on the motion itself (`run(t)`), not on the saved states. `rods` joins the particles in
    their order, from the origin in the plane.

    Needs matplotlib, imageio and imageio-ffmpeg, which the extra `video` brings.
    """
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise ValueError(f"An animation is a .gif or .mp4 file; got {target.name!r}.")
    if run.system is None or run.system.positions is None:
        raise ValueError(
            "Nothing to draw: the system does not know its positions. Pass positions=x(t, q) when making it."
        )
    if not fps > 0 or not speed > 0:
        raise ValueError(f"fps and speed must be positive; got fps={fps!r}, speed={speed!r}.")
    require("video", "run.animate()")
    duration = abs(float(run.t[-1] - run.t[0]))
    times = np.linspace(run.t[0], run.t[-1], max(2, round(duration / speed * fps)))
    states = run(times)[0]
    places = run.system.places(times, states)
    frames = _frames(times, places, rods, size)
    return write(target, frames, fps)


def _frames(times: np.ndarray, places: np.ndarray, rods: bool, size: int) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    three = places.shape[2] == 3
    flat = places if places.shape[2] > 1 else np.concatenate([places, np.zeros_like(places)], axis=2)
    if rods:
        flat = np.concatenate([np.zeros_like(flat[:, :1]), flat], axis=1)
    reach = 1.08 * max(float(np.max(np.abs(flat))), 1e-9)
    with style(layout=False):  # laying out anew for every frame would cost more than drawing it
        figure = Figure(figsize=(size / 100, size / 100), dpi=100)
        figure.subplots_adjust(left=0.15, right=0.96, bottom=0.12, top=0.93)
        canvas = FigureCanvasAgg(figure)
        axes: Any = figure.add_subplot(projection="3d" if three else None)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="$x$ (m)", ylabel="$y$ (m)")
        if three:
            axes.set(zlim=(-reach, reach), zlabel="$z$ (m)")
        else:
            axes.set_aspect("equal")
        trail = axes.plot(*_blank(three), color=OKABE_ITO[1], linewidth=1.0, alpha=0.5)[0]
        line = axes.plot(*_blank(three), "-" if rods else "", color=LIGHT.rod, linewidth=2.0)[0]
        dots = [axes.plot(*_blank(three), "o", color=OKABE_ITO[i % 8], markersize=9)[0] for i in range(places.shape[1])]
        for k, t in enumerate(times):
            _place(trail, flat[max(0, k - 60) : k + 1, -1])
            _place(line, flat[k])
            for dot, spot in zip(dots, flat[k, -places.shape[1] :], strict=True):
                _place(dot, spot[None])
            axes.set_title(f"$t$ = {t:.2f} s", loc="left")
            canvas.draw()
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _blank(three: bool) -> tuple[list[float], ...]:
    return ([], [], []) if three else ([], [])


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
