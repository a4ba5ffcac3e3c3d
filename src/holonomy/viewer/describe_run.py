"""What the studio's viewer is told about a system that is no lab: coordinates, channels, bodies, plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.motion.run.known_until import noise_from
from holonomy.motion.run.positions import ORIGIN, Drawn
from holonomy.notation import KINDS, QUANTITIES, rate_symbol, symbol

if TYPE_CHECKING:
    from holonomy.motion import Run
    from holonomy.viewer.protocol import messages

TURN: Final = 2 * np.pi
_MANY: Final = 10
"""Curves in one plot, and paths in one picture, to begin with."""
_MOST_BODIES: Final = 400
_WINDOW: Final = 40.0
"""Seconds of the clock that a plot shows at most."""
_ROOM: Final = 1.12
"""Half-width of the picture over the farthest place: a margin of 12 %."""
_FAR: Final = 3.0
"""In half-widths of all places: when the middle of the picture leaves the origin."""
_FRAME: Final = 1 / 60


def ordinal(n: int) -> str:
    """2nd, 3rd, 4th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th") if n % 100 not in (11, 12, 13) else "th"
    return f"{n}{ending}"


@dataclass(frozen=True)
class PictureShape:
    """The form of a picture: its dimension, particles and rods, counted with the fixed point if there is one."""

    dimension: int
    bodies: int
    anchors: int
    rods: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RunView:
    """The form of what is shown."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    natural: bool
    multipliers: int
    sketch: PictureShape | None

    def lab(self, title: str, summary: str, method: str, dt: float, duration: float, speed: float) -> messages.LabView:
        """The description that the viewer gets."""
        from holonomy.viewer.protocol import messages

        channels = self.channels()
        window = min(duration, _WINDOW * speed) or 1.0
        return messages.LabView(
            name="run", title=title, summary=summary, revision=1,
            anchors=0 if self.sketch is None else self.sketch.anchors,
            pictures=self._pictures(title), coordinates=self._coordinates(), parameters=(), choices=(), toggles=(),
            texts=(), actions=(), bodies=self._bodies(), rods=self._rods(), shapes=(), energies=self.energies(),
            channels=channels, plots=self._plots(channels, window), method=method, dt=dt, frame_seconds=_FRAME * speed,
            speed_low=speed / 10, speed_high=speed * 10,
        )  # fmt: skip

    def energies(self) -> tuple[messages.EnergyView, ...]:
        """Kinetic, potential and total energy, or the total alone where the two are not known."""
        from holonomy.viewer.protocol import messages

        label = "Total" if self.natural else "Energy"
        total = messages.EnergyView("total", label, QUANTITIES["total"].symbol, total=True)
        if not self.natural:
            return (total,)
        parts = (("kinetic", "Kinetic"), ("potential", "Potential"))
        return (*(messages.EnergyView(name, label, QUANTITIES[name].symbol) for name, label in parts), total)

    def channels(self) -> tuple[messages.ChannelView, ...]:
        """Energies, coordinates, velocities, multipliers."""
        from holonomy.viewer.protocol import messages

        named = list(zip(self.names, self.kinds, strict=True))
        energies = [
            messages.ChannelView(e.name, e.symbol, f"{e.label} energy", QUANTITIES[e.name].unit, "Energy")
            for e in self.energies()
        ]
        places = [
            messages.ChannelView(
                name, symbol(name), name, KINDS[kind].unit, KINDS[kind].group,
                period=TURN if kind == "angle" else None, colour=i,
            )
            for i, (name, kind) in enumerate(named)
        ]  # fmt: skip
        rates = [
            messages.ChannelView(
                f"d_{name}",
                rate_symbol(name),
                f"rate of {name}",
                KINDS[kind].rate_unit,
                KINDS[kind].rate_group,
                colour=i,
            )
            for i, (name, kind) in enumerate(named)
        ]
        forces = [
            messages.ChannelView(
                f"multiplier{i}", symbol(f"lambda{i}"), f"multiplier {i}", "", "Multipliers", colour=i - 1
            )
            for i in range(1, self.multipliers + 1)
        ]
        return (*energies, *places, *rates, *forces)

    def _coordinates(self) -> tuple[messages.CoordinateView, ...]:
        from holonomy.viewer.protocol import messages

        return tuple(
            messages.CoordinateView(
                name, symbol(name), KINDS[kind].unit, rate_symbol(name), KINDS[kind].rate_unit,
                TURN if kind == "angle" else None,
            )
            for name, kind in zip(self.names, self.kinds, strict=True)
        )  # fmt: skip

    def _pictures(self, title: str) -> tuple[messages.PictureView, ...]:
        from holonomy.viewer.protocol import messages

        if self.sketch is None:
            return ()
        return (messages.PictureView("picture", title, "space" if self.sketch.dimension == 3 else "plane"),)

    def _bodies(self) -> tuple[messages.BodyView, ...]:
        from holonomy.viewer.protocol import messages

        count = 0 if self.sketch is None else self.sketch.bodies
        return tuple(
            messages.BodyView(f"particle {i + 1}", count <= _MANY or i == count - 1, i, grasp=False)
            for i in range(count)
        )

    def _rods(self) -> tuple[messages.RodView, ...]:
        from holonomy.viewer.protocol import messages

        return () if self.sketch is None else tuple(messages.RodView(i, j) for i, j in self.sketch.rods)

    def _plots(self, channels: tuple[messages.ChannelView, ...], window: float) -> tuple[messages.PlotView, ...]:
        from holonomy.viewer.protocol import messages

        def members(group: str) -> tuple[str, ...]:
            return tuple(c.name for c in channels if c.group == group)[:_MANY]

        kinds = list(dict.fromkeys(self.kinds))
        plots = [messages.PlotView("Energies", "time", ("t",), members("Energy"), window)]
        plots += [
            messages.PlotView(KINDS[kind].group, "time", ("t",), members(KINDS[kind].group), window)
            for kind in kinds[:2]
        ]
        place, rate = (members(group) for group in (KINDS[kinds[0]].group, KINDS[kinds[0]].rate_group))
        plots.append(messages.PlotView("Phase", "phase", place, rate, window))
        return tuple(plots[:3] if len(plots) > 3 else plots)


def picture(drawn: Drawn | None) -> PictureShape | None:
    """The form of what is drawn."""
    if drawn is None:
        return None
    _, count, d = drawn.x.shape
    shown = min(count, _MOST_BODIES)
    anchors = int(any(ORIGIN in rod for rod in drawn.rods))
    rods = tuple((i + anchors, j + anchors) for i, j in drawn.rods if max(i, j) < shown)
    return PictureShape(3 if d >= 3 else 2, shown, anchors, rods)


def spots(drawn: Drawn | None, rows: int) -> Float[np.ndarray, "rows points d"]:
    """The points of the picture, two or three numbers each, the fixed one first if there is one."""
    sketch = picture(drawn)
    if drawn is None or sketch is None:
        return np.zeros((rows, 0, 2))
    x = np.asarray(drawn.x, dtype=float)[:, : sketch.bodies, :3]
    missing = sketch.dimension - x.shape[2]
    if missing > 0:
        x = np.concatenate([x, np.zeros((*x.shape[:2], missing))], axis=2)
    return np.concatenate([np.zeros((rows, sketch.anchors, sketch.dimension)), x], axis=1)


def middle(points: Float[np.ndarray, "rows points d"], sketch: PictureShape | None) -> Float[np.ndarray, " d"]:
    """The middle of the picture: the origin, unless everything happens far from it."""
    origin = np.zeros(points.shape[2])
    finite = points[np.isfinite(points).all(axis=(1, 2))]
    if sketch is None or sketch.anchors or not finite.size:
        return origin
    low, high = finite.min(axis=(0, 1)), finite.max(axis=(0, 1))
    centre, spread = (low + high) / 2, float(np.max(high - low)) / 2
    if spread == 0 or np.max(np.abs(centre)) <= _FAR * spread:
        return origin
    round_to = 10.0 ** np.floor(np.log10(spread))
    return np.round(centre / round_to) * round_to


def counted(middle: Float[np.ndarray, " d"]) -> str:
    """A sentence that says where the middle of the picture is, if not at the origin."""
    return f"Places are counted from ({', '.join(f'{x:g}' for x in middle)}) m." if middle.any() else ""


def extent(points: Float[np.ndarray, "rows points d"]) -> float:
    """Half the width of a square or cube about the origin that holds every place."""
    finite = np.abs(points[np.isfinite(points)])
    size = float(finite.max()) if finite.size else 0.0
    return _ROOM * size if size > 0 else 1.0


def welcome(view: messages.LabView) -> messages.Welcome:
    """The first notice of a recording."""
    from holonomy import __version__
    from holonomy.viewer.protocol import messages

    return messages.Welcome(messages.PROTOCOL, __version__, (), "", False, view)


def controls(
    view: messages.LabView, certificate: messages.CertificateView, size: float, speed: float
) -> messages.Controls:
    """What the viewer's controls show at first."""
    from holonomy.viewer.protocol import messages

    count = max(1, len(view.bodies))
    radius = max(0.008, 0.05 / max(1.0, count / 4) ** 0.5)
    return messages.Controls(
        phase="ready", message="", playing=False, speed=speed, held=None, parameters={}, choices={}, toggles={},
        texts={}, extents=tuple(size for _ in view.pictures), radii=(radius,) * len(view.bodies),
        certificate=certificate, undo=None, redo=None,
    )  # fmt: skip


def certificate(run: Run, note: str) -> messages.CertificateView:
    """The run's certificate in the viewer's words."""
    from holonomy.viewer.protocol import messages

    known = run.certificate
    traits = [] if known.why == "asked for" else [known.why]
    traits += [f"drift of {name} {drift:.1e}" for name, drift in known.conserved.items()]
    if known.constraints:
        traits.append(f"largest violation of a constraint {known.violation:.1e}")
    limit = DRIFT_LIMIT if run.provenance.conservative else None
    return messages.CertificateView(known.engine, known.method, tuple(traits), note, limit, noise_from(run))
