r"""Events: instants of a motion at which a function of the state passes through zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer

from holonomy.motion.events.event_log import KINDS
from holonomy.systems import System, tracing
from holonomy.trace.function import Function, trace
from holonomy.types import Unchecked


@dataclass(frozen=True)
class Event:
    r"""The instants at which \(\sigma(t, q, v[, p]) = 0\) along a motion.

    **Arguments:** `sigma`, a number for a state; `direction`, -1 for falling through zero, 1 for rising, 0 for both;
    `terminal`, whether the motion ends there; `action`, a function \((t, q, v[, p])\) to the new (q, v), with which the
    motion goes on; `name`, what the event is called in `run.events`, ``"event k"`` for the k-th if it is None. A path
    that touches zero without crossing counts, whatever the direction.

    The instant is found with the method's own step, to round-off: it has the method's order. After an event, the
    same function counts again once it has left zero; after an action its sign is that in the new state. A function
    that is zero on a whole stretch has an event where it comes to the stretch, and none on it.
    """

    sigma: Unchecked
    direction: Unchecked = 0
    terminal: Unchecked = False
    action: Unchecked = None
    name: Unchecked = None

    def __post_init__(self) -> None:
        if not callable(self.sigma):
            raise ValueError(f"An event's sigma must be a function (t, q, v) to one number; got {self.sigma!r}.")
        if self.direction not in (-1, 0, 1):
            raise ValueError(
                f"An event's direction is -1 (falling), 1 (rising) or 0 (both); got direction={self.direction!r}."
            )
        if not isinstance(self.terminal, bool):
            raise ValueError(f"An event's terminal is True or False; got {self.terminal!r}.")
        if self.action is not None and not callable(self.action):
            raise ValueError(
                f"An event's action must be a function (t, q, v) to the new (q, v), or None; got {self.action!r}."
            )
        if self.name is not None and not (isinstance(self.name, str) and self.name.strip()):
            raise ValueError(f"An event's name must be a text such as 'landing', or None; got {self.name!r}.")


class Watched(eqx.Module):
    """The events of a run as traced functions: their form is structure, their numbers are data."""

    sigmas: tuple[Function, ...]
    actions: tuple[Function | None, ...]
    directions: tuple[int, ...] = eqx.field(static=True)
    terminal: tuple[bool, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)

    @property
    def count(self) -> int:
        """How many events are watched."""
        return len(self.sigmas)


def watched(system: System, events: Unchecked) -> Watched:
    """Traced events, or a ValueError for what is wrong with them."""
    if isinstance(events, Event):
        events = (events,)
    if not isinstance(events, Sequence) or isinstance(events, str):
        raise ValueError(f"events must be a list of hl.Event(...); got one {type(events).__name__}.")
    for event in events:
        if not isinstance(event, Event):
            raise ValueError(
                f"events must be a list of hl.Event(...); it holds a {type(event).__name__}. Write hl.Event(...) "
                "around a function whose zeros are wanted."
            )
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    return Watched(
        tuple(_sigma(frame, k, frame.of_state(e.sigma)) for k, e in enumerate(events)),
        tuple(None if e.action is None else _action(frame, k, frame.of_state(e.action)) for k, e in enumerate(events)),
        tuple(int(e.direction) for e in events),
        tuple(e.terminal for e in events),
        _names(events),
    )


def none() -> Watched:
    """No events."""
    return Watched((), (), (), (), ())


def _names(events: Sequence[Event]) -> tuple[str, ...]:
    """What the events are called, each by a name of its own."""
    names = tuple(f"event {k}" if e.name is None else e.name for k, e in enumerate(events))
    for k, (event, name) in enumerate(zip(events, names, strict=True)):
        if event.name is not None and name.split()[0] in KINDS and name != f"event {k}":
            raise ValueError(
                f"Event {k} is called {name!r}, which is how records of other events or of walls are called; pass a "
                f"name that does not begin with {', '.join(KINDS[:-1])} or {KINDS[-1]}."
            )
        if names.index(name) != k:
            raise ValueError(f"Events {names.index(name)} and {k} are both called {name!r}; pass different names.")
    return names


def _sigma(frame: tracing.Frame, k: int, sigma: Callable[..., Any]) -> Function:
    name = f"sigma of event {k}"
    example = frame.example(velocity=True)
    traced, shape = frame.trace(name, frame.given(sigma, velocity=True), example)
    if shape == (1,):
        return frame.trace(name, lambda *args: traced(*args)[0], example)[0]
    if shape != ():
        raise ValueError(
            f"The {name} must return a single number; it returned shape {tuple(shape)}. For several, pass several "
            f"events."
        )
    return traced


def _action(frame: tracing.Frame, k: int, action: Callable[..., Any]) -> Function:
    shape = (frame.space.point_dim,)

    action = frame.given(action, velocity=True)

    def pair(*args: Any) -> tuple[Any, Any]:
        new = action(*args)
        if not isinstance(new, (tuple, list)) or len(new) != 2:
            raise ValueError(f"it must return the pair (q, v); it returned {type(new).__name__}")
        q, v = (jnp.asarray(frame.row(x), jnp.float64) for x in new)
        if q.shape != shape or v.shape != shape:
            raise ValueError(f"q and v must both have shape {shape}; they came with {q.shape} and {v.shape}")
        return q, v

    try:
        return trace(pair, frame.example(velocity=True))
    except Exception as error:
        raise ValueError(f"The action of event {k} does not give a new state: {error}") from error


def capacity(max_events: Unchecked) -> int:
    """How many events a run may have."""
    if isinstance(max_events, Tracer) or not isinstance(max_events, int) or isinstance(max_events, bool):
        raise ValueError(f"max_events must be a whole number, at least 1; got {max_events!r}.")
    if max_events < 1:
        raise ValueError(f"max_events must be at least 1; got {max_events}.")
    return max_events
