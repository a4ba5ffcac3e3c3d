"""Runs and systems in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holonomy.extras import require

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod, Run
    from holonomy.show.notebook_widget import RunView, StudioView
    from holonomy.systems import System

_SHORTEST = 200  # pixels, of the height of a view


def view(
    run: Run,
    *,
    title: str | None = None,
    rods: bool | None = None,
    speed: float | None = None,
    height: int = 620,
    autoplay: bool = True,
) -> RunView:
    """The run as a widget: picture, plots, timeline. It replays in the page, without a kernel.

    **Arguments:** `title`, above the controls; `rods`, None to join particles whose distance stays the same, True to
    join them in their order from the origin, False to join none; `speed`, seconds of motion for one of the clock;
    `height`, in pixels; `autoplay`, whether time runs at once.

    Needs anywidget, which the extra `notebook` brings.
    """
    from holonomy.show.recording import record

    _checked(height)
    widgets = _widgets("run.view()")
    recording = record(run, title=title, rods=rods, speed=speed)
    return widgets.RunView(recording, height=height, autoplay=autoplay)


def studio(
    system: System,
    q0: Any,
    v0: Any = None,
    *,
    dt: float | None = None,
    method: AbstractMethod | None = None,
    title: str = "A system",
    rods: bool | None = None,
    speed: float = 1.0,
    height: int = 620,
    autoplay: bool = True,
) -> StudioView:
    """The system in motion as a widget, computed by the notebook's Python a little ahead of what is shown.

    **Arguments:** `q0`, `v0`, the start, at rest unless it is said; `dt`, the step, a quarter of a picture unless it is
    said; `method`, as for `simulate`; `title`, `rods`, `speed`, `height`, `autoplay` as for `run.view`.

    Numbers of the system have sliders, bodies with positions can be dragged. Needs anywidget, which the extra
    `notebook` brings.
    """
    import numpy as np

    from holonomy.show.notebook_session import Live

    _checked(height)
    widgets = _widgets("system.studio()")
    rest = np.zeros(np.shape(q0)) if v0 is None else v0
    live = Live(system, q0, rest, dt=dt, method=method, speed=speed, title=title, rods=rods)
    return widgets.StudioView(live, height=height, autoplay=autoplay)


def _checked(height: Any) -> None:
    if not isinstance(height, int) or height < _SHORTEST:
        raise ValueError(f"height is a whole number of pixels, at least {_SHORTEST}; got {height!r}.")


def _widgets(caller: str) -> Any:
    require("notebook", caller)
    from holonomy.show import notebook_widget

    return notebook_widget
