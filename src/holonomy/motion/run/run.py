"""A motion: its states at the saved times, how it ended, and how good it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import equinox as eqx
import jax
import numpy as np
from jax.tree_util import GetAttrKey
from jaxtyping import Float

from holonomy.motion.events import event_log
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.run import select, summary
from holonomy.motion.run.certificate import Certificate, certify
from holonomy.motion.run.positions import Drawn
from holonomy.motion.run.provenance import Provenance
from holonomy.motion.run.result import Result
from holonomy.motion.run.saved import Saved
from holonomy.motion.run.select import RunState
from holonomy.motion.run.watched_integrals import Drift, Measurable, watch
from holonomy.systems import System, World
from holonomy.systems.parameters import Parameters
from holonomy.types import AnyArray, Numbers, Whole

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holonomy.show.notebook_widget import RunView


def _result_of(_: None, leaves: Iterable[Any]) -> Result:
    """A result of any leaves: JAX and Equinox put their own marks in place of numbers, which Result() would refuse."""
    made = object.__new__(Result)
    vars(made).update(zip(_RESULT, leaves, strict=True))
    return made


_RESULT = tuple(field.name for field in fields(Result))
jax.tree_util.register_pytree_with_keys(
    Result, lambda r: ([(GetAttrKey(name), getattr(r, name)) for name in _RESULT], None), _result_of
)


class Run(eqx.Module):
    """What `simulate` returns. Arrays have time first; under vmap a batch axis stands before it.

    `t`, `q`, `v`, `energy` are the saved states; `multipliers` those of the constraints, holonomic, then velocity, then
    unilateral (no columns for a free system); `violation` the largest constraint and the largest rate of one there;
    `result` says how the run ended; `events` what happened on the way; `certificate` how good it is; `run(t)` is the
    state between saved times; `saved` what `simulate(..., save=...)` kept. `provenance` says how it was made. `system`
    is None for a run loaded from a file; `whole` the run that this one is a part of; `integrals` what `watch` found.
    """

    t: Float[AnyArray, "*batch times"]
    q: Float[AnyArray, "*batch times point"]
    v: Float[AnyArray, "*batch times point"]
    energy: Float[AnyArray, "*batch times"]
    momentum: Float[AnyArray, "*batch times point"]
    pull: Float[AnyArray, "*batch times point"]
    multipliers: Float[AnyArray, "*batch times conditions"]
    violation: Float[AnyArray, "*batch times 2"]
    result: Result
    work: Whole
    system: System | None
    method: AbstractMethod | None
    provenance: Provenance = eqx.field(static=True)
    happened: Events | None = None
    watched: Watched | None = None
    drawn: Drawn | None = None
    kinetic: Float[AnyArray, "*batch times"] | None = None
    saved_parameters: Parameters | None = None
    saved: Saved | None = None
    whole: Run | None = None
    integrals: tuple[Drift, ...] = eqx.field(static=True, default=())

    def __len__(self) -> int:
        """The number of saved states; of a batch, the number of members."""
        return len(self.t)

    @overload
    def __getitem__(self, key: str) -> AnyArray: ...
    @overload
    def __getitem__(self, key: int) -> RunState | Run: ...
    @overload
    def __getitem__(self, key: slice | list[int] | np.ndarray) -> Run: ...
    def __getitem__(self, key: str | int | slice | list[int] | np.ndarray) -> AnyArray | RunState | Run:
        """A part of the run.

        `run["theta"]` is a coordinate, `run["theta_dot"]` its velocity, `run["energy"]` the energy, `run["x1"]` a
        position of the first particle; `run[3]` is a saved state, `run[:10]` a run of the first ten and
        `run[1.0:2.0]` a run of those with times from 1 to 2. Of a batch, `run[3]` is a member and `run[:10]` a batch
        of the first ten.
        """
        return select.by_key(self, key)

    def __iter__(self) -> Iterator[RunState | Run]:
        """The saved states one after the other; of a batch, the members."""
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        """True: a run without states is a run, too."""
        return True

    def __repr__(self) -> str:
        return summary.line(self)

    def _repr_html_(self) -> str:
        return summary.html(self)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names that `run[name]` knows."""
        return tuple(select.variables(self))

    @property
    def x(self) -> AnyArray:
        """The positions of the particles, (times, particles, d); on a curved space, those of its customary picture."""
        return select.positions(self)

    @property
    def parameters(self) -> Parameters:
        """The numbers of the system; those of a batch have an axis of members."""
        if self.system is not None:
            return self.system.parameters
        return Parameters() if self.saved_parameters is None else self.saved_parameters

    @property
    def dt(self) -> float:
        """The step; for a method that chooses its own, the spacing of saved times."""
        return self.provenance.dt

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """The provenance as pairs of words: engine, method, why, and so on."""
        return tuple(self.provenance.notes().items())

    @property
    def events(self) -> Events:
        """What happened along the run: events, impacts, contacts and releases, in order."""
        return event_log.none(np.shape(self.q)[-1]) if self.happened is None else self.happened

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names."""
        return self.system.names if self.system is not None else self.provenance.coordinates

    @property
    def kinds(self) -> tuple[str, ...]:
        """The coordinates' kinds."""
        if self.system is not None:
            return tuple(c.kind for c in self.system.coordinates)
        return self.provenance.kinds

    def distance(self, i: int, j: int) -> AnyArray:
        """The distance of two vertices of a world (`World`), counted from 0, at the saved times."""
        return select.distance(self, i, j)

    @property
    def local(self) -> AnyArray:
        """The points near the origin: of a world in hyperbolic space (times, vertices, point_dim), of another carried
        system (`carry`) in arrays of the space that is carried."""
        near = self.q[..., : self.q.shape[-1] - self._carrying()]
        return self.system.points(near) if isinstance(self.system, World) else near

    @property
    def frame(self) -> AnyArray:
        """Of a world in hyperbolic space or a carried system (`carry`): the direction and length of the boost that
        carries the points from the home; of bodies that are carried each by its own, (times, bodies, n)."""
        rows = self.q[..., self.q.shape[-1] - self._carrying() :]
        frames = self.provenance.frames
        return rows if frames == 1 else rows.reshape(*rows.shape[:-1], frames, -1)

    def _carrying(self) -> int:
        if not self.provenance.carried:
            raise ValueError(
                "run.local and run.frame belong to carried systems; make one with hl.carry(system), or a hl.World in "
                "hyperbolic space without an external potential."
            )
        return self.provenance.carried

    @cached_property
    def certificate(self) -> Certificate:
        """How good the run is: engine, method and why, drifts, steps, iterations. Prints as a table.

        That of a batch counts the members that are good, doubtful and failed, and gives the worst figures.
        """
        return certify(self)

    def __call__(self, t: Numbers) -> tuple[Float[np.ndarray, "*times point"], Float[np.ndarray, "*times point"]]:
        """Position and velocity at time t (or an array of times) between the first and the last saved one.

        Of a batch they have an axis of members first.

        The state is stepped on from the last saved state before t with the run's own method and dt, so it has that
        method's order. A run loaded from a file interpolates its saved states by cubic Hermite polynomials.
        """
        from holonomy.motion.run.dense_output import between

        return between(self, t)

    def resample(self, times: Numbers) -> Run:
        """The run with states at these times, in the direction of the run, instead of the saved ones.

        The states are those of `run(t)`, and energy, momentum and the rest are computed in them. A run loaded from a
        file has no system to compute them with; they are interpolated by cubic polynomials.
        """
        from holonomy.motion.run.dense_output import resample

        return resample(self, times)

    def watch(self, *integrals: Measurable | str) -> Run:
        """The run, whose certificate says how well these quantities were conserved, and doubts it where one was not.

        **Arguments:** `integrals`, results of `hl.noether`, `hl.jacobi_integral` and `hl.killing`, and names of
        coordinates for their momenta, as `hl.cyclic` gives them. A change by more than a hundredth of the size of its
        terms makes the run doubtful.
        """
        return watch(self, integrals)

    def known_until(self) -> float:
        """The time until which the state is known to a thousandth of its size; infinity where it is so to the end.

        A motion beside this one shows how errors of rounding grow, and longer steps show the error of the method, over
        the whole run. The certificate does so by itself for small systems, within 5000 steps or a tenth of those of the
        run; what is found here it states, too. **Fails** with `ValueError` for runs that cannot be stepped again:
        batches, parts of runs, runs from files that do not say it.
        """
        from holonomy.motion.run.known_until import asked

        vars(self).pop("certificate", None)  # it is made again, with what is found here
        return asked(self)

    def observed_order(self) -> float:
        """The order of convergence seen in this run: from its own step, half of it and a quarter."""
        from holonomy.motion.run.observed_order import observed_order

        return observed_order(self)

    def to_dataset(self) -> xr.Dataset:
        """The run as an xarray Dataset with units, names and provenance."""
        from holonomy.motion.run.storage import to_dataset

        return to_dataset(self)

    def to_dataframe(self) -> pd.DataFrame:
        """The run as a pandas DataFrame: a row for each state, a column for each of `variables`, times as the index.

        Of a batch the index has two levels, the member and the time.
        """
        from holonomy.motion.run.table import to_dataframe

        return to_dataframe(self)

    def save(self, path: str | Path) -> Path:
        """Write the run or batch to a file, whole or not at all.

        The name ends in ``.nc`` for NetCDF, which `load` reads, or in ``.csv`` or ``.parquet`` for a table.
        """
        from holonomy.motion.run.storage import save

        return save(self, path)

    def plot(
        self,
        *names: str | Sequence[str],
        ax: Axes | None = None,
        dark: bool = False,
        wrap: bool = True,
        points: bool = False,
        spread: Literal["fan", "quantiles"] | None = None,
    ) -> Figure:
        """A matplotlib figure of the run, which a notebook shows as it is and `plt.show()` shows in a program.

        `run.plot()` draws the coordinates, the energy error, the constraint errors and the paths of the particles;
        `run.plot("theta")` or `run.plot(["theta1", "theta2"])` variables over time; `run.plot("theta", "omega")` the
        second over the first, a phase portrait; `run.plot("x", "y", "z")` a curve in space. `run.variables` are the
        names.

        **Arguments:** `ax`, axes to draw into; `dark`, light lines on a dark background; `wrap`, whether angles are
        shown in (−π, π]; `points`, dots instead of lines; `spread`, how a batch is shown: "fan" for a line for each
        member, "quantiles" for the median and the bands of 50 % and 90 %, None for what suits the number of members.
        Of a long run the extremes of short stretches are drawn.
        """
        from holonomy.show import plot

        return plot(self, *names, ax=ax, dark=dark, wrap=wrap, points=points, spread=spread)

    def animate(
        self,
        path: str | Path,
        *,
        fps: int = 30,
        speed: float = 1.0,
        rods: bool | None = None,
        size: int = 480,
        dark: bool = False,
    ) -> Path:
        """Write a moving picture of the positions to a .gif or .mp4 file, or to an .html page that replays the run.

        **Arguments:** `fps`, frames for each second; `speed`, seconds of motion for one of the clock; `rods`, None to
        join particles whose distance stays the same, True to join them in their order from the origin, False to join
        none; `size`, in pixels; `dark`, light on a dark background. Frames lie at equal times on the motion itself
        (`run.resample`), not on the saved states. A page has its own size and colours.
        """
        from holonomy.show import animate

        return animate(self, path, fps=fps, speed=speed, rods=rods, size=size, dark=dark)

    def view(self, **options: Any) -> RunView:
        """The run in a notebook: the studio's viewer with picture, plots and timeline, replaying without a kernel."""
        from holonomy.show.notebook import view

        return view(self, **options)
