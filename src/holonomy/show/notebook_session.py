"""A motion that is computed as far as it is looked at, and can take another turn at any of its pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy import notation
from holonomy.motion import AbstractMethod, Run, simulate
from holonomy.motion.run.positions import ORIGIN, Drawn, kinetic, places
from holonomy.show.recording import columns, record
from holonomy.systems import System
from holonomy.viewer import describe_run
from holonomy.viewer.recording import Recording

if TYPE_CHECKING:
    from holonomy.viewer.protocol import messages

MOST_ROWS: Final = 200_000
"""Frames of one motion: almost an hour of them."""
_PICTURES: Final = 60
"""In a second of the clock."""
_STEPS: Final = 4
"""Of the method from picture to picture, unless the user chose a step."""
_FIRST: Final = 120
"""Pictures that are computed before anything is shown: what they tell decides size and rods of the picture."""
_LONGEST: Final = 3000
"""Pictures that are computed at one request."""
_MOST_SLIDERS: Final = 12
"""Parameters with a slider, at most."""
_PULLS: Final = 60
"""Iterations of the inverse kinematics for dragging."""
_WINDOW: Final = 20.0
"""Seconds of the clock that a plot shows."""


class Refusal(Exception):
    """A command that cannot be carried out; its sentence is shown to the user."""


class Live:
    """Rows of a motion, from its start to as far as was asked for.

    `epoch` counts the turns: rows asked for before a turn are not those after it.
    """

    def __init__(
        self,
        system: System,
        q0: Any,
        v0: Any,
        *,
        dt: float | None = None,
        method: AbstractMethod | None = None,
        speed: float = 1.0,
        title: str = "A system",
        rods: bool | None = None,
    ):
        if not (np.isfinite(speed) and speed > 0):
            raise ValueError(f"speed must be positive; got {speed!r}.")
        if dt is not None and not (np.isfinite(dt) and dt > 0):
            raise ValueError(f"dt must be positive; got {dt!r}.")
        frame = speed / _PICTURES
        self.every = _STEPS if dt is None else max(1, round(frame / dt))
        self.dt = frame / _STEPS if dt is None else float(dt)
        self.frame = self.dt * self.every
        self.method = method
        self.system = self._opening = system
        self.epoch = 0
        self.message = ""
        self._held: int | None = None
        first = self._run(0.0, q0, v0, _FIRST)
        self._start = np.asarray(first.q[0]), np.asarray(first.v[0])
        self.recording = self._described(record(first, title=title, rods=rods, speed=speed))
        self._table, self._places = self.recording.table, self.recording.places
        self._ended(first)

    @property
    def commands(self) -> tuple[str, ...]:
        """What the page may ask of it beside more rows."""
        lab = self.recording.welcome.lab
        able = ("set-parameter",) if lab.parameters else ()
        return (
            "reset",
            *able,
            *(("drag-begin", "drag-move", "drag-end") if lab.bodies and lab.bodies[0].grasp else ()),
        )

    def rows(self, first: int, count: int) -> tuple[int, bytes]:
        """At most so many rows from that one on, with their number; fewer where the motion ends."""
        missing = min(first + min(count, _LONGEST), MOST_ROWS) - len(self._table)
        if missing > 0 and not self.message:
            run = self._run(*self._state(len(self._table) - 1), missing)
            self._append(run)
            self._ended(run)
        if len(self._table) >= MOST_ROWS:
            self.message = f"{MOST_ROWS} pictures are kept and no more; reset to begin anew."
        last = min(first + min(count, _LONGEST), len(self._table))
        return max(0, last - first), self._packed(first, last)

    def turn(self, command: messages.Command, row: int) -> tuple[int, bytes, dict[str, Any]]:
        """Go another way from a row on: the row, its new numbers, what the controls then show; or `Refusal`."""
        from holonomy.viewer.protocol import messages

        row = min(max(0, row), len(self._table) - 1)
        t, q, v = self._state(row)
        match command:
            case messages.SetParameter(name, value, _):
                self._turned(row, t, *self._consistent(self._with(name, value), t, q, v))
            case messages.DragBegin(body):
                if body >= len(self.recording.welcome.lab.bodies):
                    raise Refusal(f"There is no body {body + 1}.")
                self._held = body
                self._turned(row, t, self.system, q, v)
            case messages.DragMove(x, y, z):
                if self._held is None:
                    raise Refusal("No body is held; a drag begins with taking hold of one.")
                target = np.array([x, y, z])
                target[: len(self.recording.middle)] += self.recording.middle
                reached = np.asarray(_reached(self.system, t, q, np.array(self._held), target))
                self._turned(row, t, *self._consistent(self.system, t, reached, np.zeros_like(v)))
            case messages.DragEnd():
                self._held = None
                self._turned(row, t, self.system, q, v)
            case messages.Reset(defaults):
                row, self._held = 0, None
                system = self._opening if defaults else self.system
                self._turned(0, 0.0, *self._consistent(system, 0.0, *self._start))
            case _:
                raise Refusal("This cannot be done here.")
        return row, self._packed(row, row + 1), {"parameters": _values(self.system), "held": self._held}

    # ── Computing ─────────────────────────────────────────────────────────────────────────────────

    def _run(self, t: float, q: Any, v: Any, pictures: int) -> Run:
        end = t + pictures * self.frame
        return simulate(
            self.system, q, v, end, t0=t, dt=self.dt, method=self.method, save_every=self.every, throw=False,
        )  # fmt: skip

    def _turned(self, row: int, t: float, system: System, q: Any, v: Any) -> None:
        before, self.system = self.system, system
        try:
            now = self._run(t, q, v, 1)
        except ValueError as error:
            self.system = before
            raise Refusal(str(error)) from error
        self.epoch += 1
        self.message = ""
        self._table, self._places = self._table[:row], self._places[:row]
        self._append(now, from_row=0, to_row=1)
        # The state itself, bit for bit: a method that keeps momenta reads velocities back with a rounding.
        at, n = 1 + len(self.recording.welcome.lab.energies), len(self.recording.welcome.lab.coordinates)
        self._table[row, at : at + 2 * n] = np.concatenate([q, v])

    def _append(self, run: Run, from_row: int = 1, to_row: int | None = None) -> None:
        lab = self.recording.welcome.lab
        found = places(self.system, run.t, run.q) if lab.pictures else None
        drawn = None if found is None else Drawn(found[0], ((ORIGIN, 0),) if lab.anchors else (), "")
        spots = describe_run.spots(drawn, len(run.t)) - self.recording.middle
        chosen = slice(from_row, to_row)
        self._table = np.concatenate(
            [self._table, columns(run, kinetic(run) if len(lab.energies) > 1 else None)[chosen]]
        )
        self._places = np.concatenate([self._places, spots[chosen]])

    def _ended(self, run: Run) -> None:
        if not run.result.ok:
            self.message = str(run.result)

    def _state(self, row: int) -> tuple[float, np.ndarray, np.ndarray]:
        lab, values = self.recording.welcome.lab, self._table[row]
        start, n = 1 + len(lab.energies), len(lab.coordinates)
        return float(values[0]), values[start : start + n], values[start + n : start + 2 * n]

    def _packed(self, first: int, last: int) -> bytes:
        return replace(self.recording, table=self._table[first:last], places=self._places[first:last]).numbers()

    def _consistent(self, system: System, t: float, q: Any, v: Any) -> tuple[System, Any, Any]:
        if system.constraints:
            q, v = (np.asarray(x) for x in system.project(t, q, v))
        return system, q, v

    def _with(self, name: str, value: float) -> System:
        if name not in _values(self.system):
            raise Refusal(f"There is no parameter {name!r}.")
        stem, _, index = name.partition(".")
        known = np.array(self.system.parameters[stem])
        known[int(index) if index else ()] = value
        try:
            return self.system.with_parameters(**{stem: known})
        except ValueError as error:
            raise Refusal(str(error)) from error

    # ── Describing ────────────────────────────────────────────────────────────────────────────────

    def _described(self, first: Recording) -> Recording:
        """The recording of the first pictures, told as something that goes on and can be touched."""
        lab, controls = first.welcome.lab, first.controls
        grasp = self.system.flat and self.system.positions is not None
        speed = controls.speed
        note = describe_run.counted(first.middle)
        if not lab.pictures:
            note = "It does not know its positions, so there are plots and no picture."
        lab = replace(
            lab,
            summary=f"Computed by this notebook's Python while you watch. {note}".strip(),
            parameters=sliders(self.system),
            bodies=tuple(replace(body, grasp=grasp) for body in lab.bodies),
            plots=tuple(replace(plot, seconds=_WINDOW * speed) for plot in lab.plots),
            frame_seconds=self.frame,
        )
        certificate = replace(controls.certificate, note="")
        return replace(
            first,
            welcome=replace(first.welcome, lab=lab),
            controls=replace(controls, certificate=certificate, parameters=_values(self.system)),
        )


def sliders(system: System) -> tuple[messages.ParameterView, ...]:
    """The system's numbers as sliders from a tenth of each to its triple; of many, the first ones."""
    from holonomy.viewer.protocol import messages

    views = []
    for name, value in _values(system).items():
        stem, _, index = name.partition(".")
        label = f"{stem} {int(index) + 1}" if index else stem
        letter = notation.symbol(stem)
        sign = "" if letter == stem else notation.subscripted(letter, int(index) + 1) if index else letter
        low, high = sorted((0.1 * value, 3.0 * value)) if value else (-1.0, 1.0)
        step = float(10.0 ** np.floor(np.log10((high - low) / 200)))
        views.append(
            messages.ParameterView(
                name, label.replace("_", " "), sign, "", low, high, step, value, stem if index else ""
            )
        )
    return tuple(views)


def _values(system: System) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, held in system.parameters.items():
        array = np.asarray(held)
        if array.ndim == 0:
            values[name] = float(array)
        elif array.ndim == 1:
            values |= {f"{name}.{i}": float(x) for i, x in enumerate(array)}
    return dict(list(values.items())[:_MOST_SLIDERS])


@eqx.filter_jit
def _reached(system: System, t: Any, q: Any, body: Any, target: Any) -> Float[Array, " point"]:
    """Coordinates near q that bring a particle as near to the target as they can: Levenberg and Marquardt's descent."""

    def place(x: Any) -> Any:
        assert system.positions is not None
        return system.positions(t, x, *system.last)[body]

    goal = jnp.asarray(target)[: jax.eval_shape(place, q).shape[0]]

    def pull(_: Any, now: Any) -> Any:
        x, damping = now
        slope, miss = jax.jacobian(place)(x), goal - place(x)
        square = slope.T @ slope
        size = jnp.trace(square) + 1e-12
        tried = x + jnp.linalg.solve(square + damping * size * jnp.eye(len(x)), slope.T @ miss)
        better = jnp.sum((goal - place(tried)) ** 2) < jnp.sum(miss**2)
        return jnp.where(better, tried, x), jnp.clip(jnp.where(better, damping / 4, damping * 4), 1e-9, 1e9)

    return jax.lax.fori_loop(0, _PULLS, pull, (jnp.asarray(q), jnp.asarray(1e-2)))[0]
