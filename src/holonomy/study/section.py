"""Poincaré sections: the states at which a motion crosses a surface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion import Run, simulate
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.study.problem import stepping
from holonomy.systems import System
from holonomy.systems.result_code import Code
from holonomy.systems.tracing import Frame
from holonomy.trace.function import Function
from holonomy.trace.native.engine import Engine
from holonomy.types import ScalarFunction, VectorLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS = 256  # states per compiled call
_ITERATIONS = 100  # of the search for a zero; halving alone would need 52 for a double


@dataclass(frozen=True)
class Section:
    """Crossings in order of time: `t`, `q`, `v`, and `direction`, +1 where sigma increases; `run` is the motion."""

    t: Float[np.ndarray, " crossings"]
    q: Float[np.ndarray, "crossings point"]
    v: Float[np.ndarray, "crossings point"]
    direction: Float[np.ndarray, " crossings"]
    run: Run

    def __len__(self) -> int:
        return len(self.t)

    def plot(self, x: str, y: str, *, ax: Axes | None = None, dark: bool = False) -> Figure:
        """The crossings as points: the variable y over x, by the names that `run.plot` knows."""
        from holonomy.show.plot import plot

        return plot(self.as_run(), x, y, ax=ax, dark=dark, points=True)

    def as_run(self) -> Run:
        """The crossings as the states of a run, without energies and forces."""
        rows = {
            name: np.full((len(self), *np.shape(getattr(self.run, name))[1:]), np.nan)
            for name in ("energy", "momentum", "pull", "multipliers", "violation")
        }
        made = replace(self.run.provenance, part=True)
        return replace(self.run, t=self.t, q=self.q, v=self.v, **rows, happened=None, provenance=made)


def section(
    system: System,
    q0: VectorLike,
    v0: VectorLike,
    t_end: float,
    sigma: ScalarFunction,
    *,
    direction: int = 1,
    dt: float | None = None,
    method: AbstractMethod | str | None = None,
    t0: float = 0.0,
) -> Section:
    r"""The states at which \(\sigma(t, q, v[, p]) = 0\) along the motion from (q0, v0).

    **Arguments:** `sigma`, a function whose zero is the surface; `direction`, +1 for crossings with sigma increasing,
    -1 decreasing, 0 both; `dt`, `method` as for `simulate`.

    A crossing is seen where sigma has different signs at the ends of a step. The share of the step at which it is zero
    is then found with the method's own step from the state before, to round-off, so that a crossing has the method's
    accuracy. A motion that touches the surface, or crosses it twice within one step, is not seen: take a smaller dt.
    """
    if direction not in (-1, 0, 1):
        raise ValueError(f"direction is 1, -1 or 0; got {direction!r}.")
    problem, step = stepping(system, q0, v0, t_end, dt, method, t0)
    frame = Frame(system.coordinates, problem.system.parameters, system.space, system.parametric)
    surface = frame.scalar("sigma", sigma, velocity=True)
    run = simulate(problem.system, problem.q0, problem.v0, t_end, dt=step, method=method, t0=t0)
    whole = problem.system
    t, q, v = (np.asarray(x) for x in (run.t, run.q, run.v))
    engine = engine_for(whole, problem.method, "xla")
    values = _in_batches(engine, _values, (whole, surface), t, q, v)
    sign = np.sign(values)
    # a state on the surface belongs to the step that leads there
    for k in np.flatnonzero(values[1:] == 0) + 1:
        sign[k] = -sign[k - 1]
    up = np.flatnonzero((sign[:-1] < 0) & (sign[1:] > 0))
    down = np.flatnonzero((sign[:-1] > 0) & (sign[1:] < 0))
    wanted = {1: up, -1: down, 0: np.sort(np.concatenate([up, down]))}[direction]
    if len(wanted) == 0:
        none = np.zeros((0, q.shape[1]))
        return Section(np.zeros(0), none, none, np.zeros(0), run)
    if problem.method.engine(whole, None) is None:
        rows = _with_own_step(whole, problem.method, surface, t, q, v, wanted)
    else:
        rows = _on_host(engine, run, whole, surface, wanted)
    at, q, v = (np.stack(column) for column in zip(*rows, strict=True))
    return Section(t[wanted] + at, q, v, sign[wanted + 1], run)


def _in_batches(engine: Engine, function: Any, fixed: tuple[Any, ...], *columns: np.ndarray) -> Any:
    """A function of rows on many of them, in pieces of one compiled size."""
    parts = []
    for at in range(0, len(columns[0]), _ROWS):
        rows = [c[at : at + _ROWS] for c in columns]
        short = _ROWS - len(rows[0])
        full = [np.pad(r, ((0, short), *[(0, 0)] * (r.ndim - 1)), mode="edge") for r in rows]
        out = engine.call(function, *fixed, *full)
        parts.append(jax.tree.map(lambda x, s=short: np.asarray(x)[: _ROWS - s], out))
    return jax.tree.map(lambda *p: np.concatenate(p), *parts)


def _values(system: System, surface: Function, t: Any, q: Any, v: Any) -> Any:
    return jax.vmap(lambda s, x, w: surface(s, x, w, *system.last))(t, q, v)


def _with_own_step(
    system: System, method: AbstractMethod, surface: Function, t: Any, q: Any, v: Any, wanted: np.ndarray
) -> list[tuple[Any, Any, Any]]:
    engine, found = engine_for(system, method, None), []
    for k in wanted:
        start = (np.float64(t[k]), np.float64(t[k + 1] - t[k]), q[k], v[k])
        *row, code = engine.call(_cross, system, method, surface, *start)
        surer = method.fallback(certain=False) if int(code) == Code.no_convergence else None
        if surer is not None:
            method, engine = surer, engine_for(system, surer, "xla")
            *row, _ = engine.call(_cross, system, method, surface, *start)
        found.append(tuple(np.asarray(x) for x in row))
    return found


def _cross(system: System, method: AbstractMethod, surface: Function, t: Any, h: Any, q: Any, v: Any) -> Any:
    """How far into the step the surface is crossed, and the state there."""
    start = method.start(system, t, q, v)

    def ahead(s: Any) -> tuple[Any, Any, Any]:
        state, status = method.step(system, t, s, start)
        return (*method.read(system, t + s, state), status.code)

    def value(s: Any) -> Any:
        x, w, _ = ahead(s)
        return surface(t + s, x, w, *system.last)

    s = _root(value, h, surface(t, q, v, *system.last), value(h))
    return (s, *ahead(s))


def _root(value: Any, h: Any, low: Any, high: Any) -> Any:
    """The zero between 0 and h by Chandrupatla's method: inverse quadratic steps where they are safe, else halving."""

    def going(c: Any) -> Any:
        k, a, fa, b, fb, _, _, s = c
        width = jnp.abs(b - a)
        best = jnp.minimum(jnp.abs(fa), jnp.abs(fb))
        return (k < _ITERATIONS) & (best > 0) & (width > 4.0 * jnp.finfo(h.dtype).eps * jnp.abs(h)) & (s > -1.0)

    def once(c: Any) -> Any:
        k, a, fa, b, fb, _, _, s = c
        x = a + s * (b - a)
        fx = value(x)
        same = jnp.sign(fx) == jnp.sign(fa)
        far, f_far = jnp.where(same, a, b), jnp.where(same, fa, fb)
        other, f_other = jnp.where(same, b, a), jnp.where(same, fb, fa)
        a, fa, b, fb, c3, fc = x, fx, other, f_other, far, f_far
        xi, phi = (a - b) / (c3 - b), (fa - fb) / (fc - fb)
        safe = (phi * phi < xi) & ((1 - phi) * (1 - phi) < 1 - xi)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c3 - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        s = jnp.where(safe, quadratic, 0.5)
        least = 2.0 * jnp.finfo(h.dtype).eps * jnp.abs(h) / jnp.abs(b - a)
        return k + 1, a, fa, b, fb, c3, fc, jnp.clip(s, least, 1.0 - least)

    zero = jnp.zeros_like(h)
    first = (jnp.int32(0), h, high, zero, low, zero, low, jnp.full_like(h, 0.5))
    _, a, fa, b, fb, *_ = jax.lax.while_loop(going, once, first)
    return jnp.where(jnp.abs(fa) <= jnp.abs(fb), a, b)


def _on_host(engine: Engine, run: Run, system: System, surface: Function, rows: np.ndarray) -> list[Any]:
    """For methods that run on the host: bisection and secants on run(t)."""
    found = []
    for k in rows:
        a, b = float(run.t[k]), float(run.t[k + 1])

        def value(s: float) -> float:
            x, w = run(s)
            return float(engine.call(_values, system, surface, np.array([s]), x[None], w[None])[0])

        fa, fb, side = value(a), value(b), 0
        for _ in range(_ITERATIONS):
            if fb == 0 or abs(b - a) <= 4 * np.finfo(float).eps * max(abs(a), abs(b)):
                break
            x = b - fb * (b - a) / (fb - fa)
            fx = value(x)
            if (fx > 0) == (fb > 0):
                fa = fa / 2 if side == 1 else fa  # Illinois: an end that stays counts half
                b, fb, side = x, fx, 1
            else:
                fb = fb / 2 if side == -1 else fb
                a, fa, side = x, fx, -1
            if fx == 0:
                b = x
                break
        found.append((b - float(run.t[k]), *run(b)))
    return found
