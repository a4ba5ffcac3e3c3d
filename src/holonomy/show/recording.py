"""A motion as a recording: all that the studio's viewer needs to replay it, without a process that computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from holonomy.motion.run.positions import Drawn, chain, drawn, kinetic
from holonomy.viewer import describe_run
from holonomy.viewer.recording import Recording, kept

if TYPE_CHECKING:
    from holonomy.motion import Run

_LONG, _SHORT = 120.0, 0.5
_REPLAY = 30.0
"""Seconds that the replay of a very long or very short run takes."""


def record(run: Run, *, title: str | None = None, rods: bool | None = None, speed: float | None = None) -> Recording:
    """The recording of a run.

    **Arguments:** `title`, of the picture; `rods`, None to join particles whose distance stays the same, True to join
    them in their order from the origin, False to join none; `speed`, seconds of motion for one of the clock, 1 unless
    the run is very long or very short.
    """
    if np.ndim(run.t) > 1:
        raise ValueError("A view shows one run; take one member of the batch first, as run[0].")
    if len(run.t) == 0:
        raise ValueError("The run saved no state, so there is nothing to show.")
    if rods is not None and not isinstance(rods, bool):
        raise ValueError(f"rods is True, False or None; got {rods!r}.")
    if speed is not None and not (np.isfinite(speed) and speed > 0):
        raise ValueError(f"speed must be positive; got {speed!r}.")
    picture = drawn(run)
    if picture is not None and rods is not None:
        picture = Drawn(picture.x, chain(picture.x.shape[1]) if rods else (), picture.note)
    moving = kinetic(run)
    shape = describe_run.RunView(
        run.names, run.kinds, moving is not None, np.shape(run.multipliers)[-1], describe_run.picture(picture)
    )
    table = columns(run, moving)
    spots = describe_run.spots(picture, len(table))
    middle = describe_run.middle(spots, shape.sketch)
    spots = spots - middle
    keep, thinned = kept(len(table), table.shape[1] + spots[0].size)
    table, spots = table[keep], spots[keep]
    # A run can go back in time; its recording goes forward all the same.
    if table[-1, 0] < table[0, 0]:
        table, spots = table[::-1], spots[::-1]
    duration = float(table[-1, 0] - table[0, 0])
    pace = float(speed) if speed is not None else _pace(duration)
    view = shape.lab(title or "A run", _summary(run, picture, middle), _method(run), run.dt, duration, pace)
    certificate = describe_run.certificate(run, _caution(run, table[:, 0], thinned))
    extent = describe_run.extent(spots)
    return Recording(
        describe_run.welcome(view),
        describe_run.controls(view, certificate, extent, pace),
        int(run.result.steps),
        table,
        spots,
        middle,
    )


def columns(run: Run, moving: Float[np.ndarray, " rows"] | None) -> Float[np.ndarray, "rows columns"]:
    """Time and the channels of a run, one row for each saved state; with the kinetic energy where it is known."""
    energy = np.asarray(run.energy)[:, None]
    if moving is not None:
        energy = np.concatenate([moving[:, None], energy - moving[:, None], energy], axis=1)
    parts = [np.asarray(run.t)[:, None], energy, run.q, run.v, run.multipliers]
    return np.concatenate([np.asarray(part, dtype=float) for part in parts], axis=1)


def _pace(duration: float) -> float:
    if duration == 0 or _SHORT <= duration <= _LONG:
        return 1.0
    power = 10.0 ** np.floor(np.log10(duration / _REPLAY))
    return float(power * max(f for f in (1, 2, 5) if f * power <= duration / _REPLAY * (1 + 1e-9)))


def _method(run: Run) -> str:
    return run.provenance.method_and_properties


def _summary(run: Run, picture: Drawn | None, middle: Float[np.ndarray, " d"]) -> str:
    first, last = float(run.t[0]), float(run.t[-1])
    said = [f"A recorded motion from {first:g} s to {last:g} s."]
    if picture is None:
        said.append("Its system does not know its positions, so there are plots and no picture.")
    elif picture.note:
        said.append(picture.note)
    said.append(describe_run.counted(middle))
    return " ".join(said).strip()


def _caution(run: Run, times: np.ndarray, thinned: int) -> str:
    said = []
    if not run.result.ok:
        said.append(str(run.result))
    if not run.provenance.conservative:
        said.append("The energy is not conserved: the system is driven or damped.")
    if thinned > 1:
        said.append(f"Of the saved states every {describe_run.ordinal(thinned)} is in this recording.")
    if len(times) > 1:
        said.append(f"Each picture is a computed state; they lie {float(np.median(np.diff(times))):.3g} s apart.")
    return " ".join(said)
