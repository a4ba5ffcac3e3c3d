"""Files of a lab's state and of the motion so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs import load
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Settings
from holonomy.studio.session.timeline import Moment, Segment

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


def rows(lab: AbstractLab, moment: Moment) -> Iterator[Any]:
    """The readings of the motion so far, computed again from its starts, bit for bit, at increasing times.

    Takes a while for a long motion; touches nothing that others use.
    """
    parts, lasts = _parts(lab, moment)
    stride = moment.segment.motion.stride
    stride *= 1 + sum(lasts) // (MOST_ROWS * stride)
    held: Any = None
    for part, last in zip(parts, lasts, strict=True):
        state = part.trajectory.start
        if held is not None and held.t < part.t0:
            yield held  # otherwise the file has the state after the change at that time
        held = part.motion.read(state)
        for index in range(0, last, stride):
            yield held
            state = part.motion.advance(state, min(stride, last - index))
            held = part.motion.read(state)
    yield held


def _parts(lab: AbstractLab, moment: Moment) -> tuple[tuple[Segment, ...], list[int]]:
    """The segments up to now that have the same coordinates, and how many steps of each are to be told."""
    outline = lab.outline(moment.settings)
    first = moment.number
    while first > 0 and lab.outline(moment.segments[first - 1].settings) == outline:
        first -= 1
    parts = moment.segments[first : moment.number + 1]
    return parts, [part.last for part in parts[:-1]] + [moment.index]


def history(lab: AbstractLab, moment: Moment, readings: Iterable[Any]) -> History:
    """The motion so far, from its `rows`."""
    listed = list(readings)
    t, q, v, channel, total = (
        np.array([getattr(row, name) for row in listed]) for name in ("t", "q", "v", "channel", "total")
    )
    return History(moment.settings, t, q, v, channel, total, sum(_parts(lab, moment)[1]))


def as_csv(lab: AbstractLab, settings: Settings, readings: Iterable[Any]) -> Iterator[bytes]:
    """A table of `rows`, line by line, after one of names: time, coordinates, velocities, channels that are neither."""
    names = lab.columns(settings)
    channels = lab.view(settings, 0).channels
    extra = [k for k, channel in enumerate(channels) if channel.name not in names]
    head = ["t", *names, *(f"{name}_dot" for name in names), *(channels[k].name for k in extra)]
    yield (",".join(head) + "\r\n").encode()
    for row in readings:
        numbers = (row.t, *row.q, *row.v, *np.asarray(row.channel)[extra])
        yield (",".join(repr(float(x)) for x in numbers) + "\r\n").encode()


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
