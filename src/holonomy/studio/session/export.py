"""Files of a lab's state and of the motion so far."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs import load
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Settings
from holonomy.studio.session.timeline import Moment

MOST_ROWS: Final = 100_000


@dataclass(frozen=True)
class History:
    """The motion so far under one outline, a row for each frame, the times increasing."""

    settings: Settings
    t: Float[np.ndarray, " times"]
    q: Float[np.ndarray, "times n"]
    v: Float[np.ndarray, "times n"]
    channel: Float[np.ndarray, "times channels"]
    total: Float[np.ndarray, " times"]
    steps: int


def history(lab: AbstractLab, moment: Moment) -> History:
    """Computed again from its starts, bit for bit. Takes a while for a long one; touches nothing that others use."""
    outline = lab.outline(moment.settings)
    first = moment.number
    while first > 0 and lab.outline(moment.segments[first - 1].settings) == outline:
        first -= 1
    parts = moment.segments[first : moment.number + 1]
    lasts = [part.last for part in parts[:-1]] + [moment.index]
    stride = moment.segment.motion.stride
    stride *= 1 + sum(lasts) // (MOST_ROWS * stride)
    rows: list[Any] = []
    for part, last in zip(parts, lasts, strict=True):
        state = part.trajectory.start
        if rows and part.t0 <= rows[-1].t:
            rows.pop()  # at that time the file has the state after the change
        rows.append(part.motion.read(state))
        for index in range(0, last, stride):
            state = part.motion.advance(state, min(stride, last - index))
            rows.append(part.motion.read(state))
    t, q, v, channel, total = (
        np.array([getattr(row, name) for row in rows]) for name in ("t", "q", "v", "channel", "total")
    )
    return History(moment.settings, t, q, v, channel, total, sum(lasts))


def as_csv(lab: AbstractLab, found: History) -> bytes:
    """A table with a line of names: time, coordinates, velocities, and the channels that are neither."""
    names = lab.columns(found.settings)
    channels = lab.view(found.settings, 0).channels
    extra = [k for k, channel in enumerate(channels) if channel.name not in names]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["t", *names, *(f"{name}_dot" for name in names), *(channels[k].name for k in extra)])
    for t, q, v, channel in zip(found.t, found.q, found.v, found.channel, strict=True):
        writer.writerow([repr(float(x)) for x in (t, *q, *v, *channel[extra])])
    return text.getvalue().encode()


def as_netcdf(module: str, found: History) -> bytes:
    """A file that `hl.load` reads as a run, for the lab of that module. Runs in a worker process."""
    from holonomy.motion import Code, Result
    from holonomy.motion.run import provenance
    from holonomy.motion.run.build import recorded
    from holonomy.motion.run.storage import encoded

    subject = load(module)
    system, method = subject.library(found.settings)
    made = provenance.of(
        system, method, engine="native (one machine function)", dt=subject.step(found.settings),
        why="chosen in the studio", maker="studio", order=None,  # the studio's page says the order beside the label
    )  # fmt: skip
    size = len(system.names)  # the coordinates of a second route are in the CSV file only
    result = Result(Code.ok, float(found.t[-1]), found.steps)
    run = recorded(system, method, made, found.t, found.q[:, :size], found.v[:, :size], found.total, result)
    return encoded(run)
