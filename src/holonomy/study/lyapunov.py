r"""Lyapunov exponents from the variational equations.

The derivative of a method's own step carries a frame of vectors along the motion, in phase space \((q, p)\); after
every few steps the frame is made orthonormal again and what it grew by is written down (Benettin, Galgani, Giorgilli
and Strelcyn, *Meccanica* 15 (1980) 9 and 21).

The derivative of a symplectic step is a symplectic matrix. Started from a frame \((u_1,\dots,u_n, Ju_n,\dots,Ju_1)\)
that is orthonormal and symplectic at once, elimination keeps the triangular factors symplectic: the growth of column i
is one over that of column \(2n+1-i\), so that exponents come in pairs \(\pm\lambda\) and sum to zero to round-off, at
any time and not only in the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.problem import Problem
from holonomy.motion.run.result import Result
from holonomy.root_finding import derivatives_of_roots
from holonomy.study.problem import stepping, steps_of
from holonomy.systems import System, lagrangian
from holonomy.systems.dense_solve import solve
from holonomy.systems.result_code import Code
from holonomy.types import ArrayLike, VectorLike

_STRETCHES = (6, 12, 24)
"""Into how many stretches the time is divided to estimate errors."""
_BLOCKS = 256
"""Blocks that one compiled call does."""


@dataclass(frozen=True)
class Lyapunov:
    """Lyapunov exponents of one motion, largest first.

    `exponents` are the mean growth rates over the time after `discard`; `errors` their standard errors, from the
    scatter of the means of 6, 12 and 24 stretches of that time, the largest of the three: stretches must be longer than
    the motion remembers, and where it clings to islands for long no error from one motion is safe. `t` and
    `growth` are the ends of the blocks and what the logarithm of each column grew by in them. `drift` is the largest
    relative change of the energy, where it should be conserved.
    """

    exponents: Float[np.ndarray, " count"]
    errors: Float[np.ndarray, " count"]
    t: Float[np.ndarray, " blocks"]
    growth: Float[np.ndarray, "blocks count"]
    q: Float[np.ndarray, " point"]
    v: Float[np.ndarray, " point"]
    drift: float

    @property
    def largest(self) -> float:
        """The largest exponent; positive where neighbours part exponentially."""
        return float(self.exponents[0])

    @property
    def total(self) -> float:
        """The sum of the exponents found: with all of them, how fast volumes of phase space grow."""
        return float(np.sum(self.exponents))

    @property
    def history(self) -> Float[np.ndarray, "blocks count"]:
        """The exponents as they would have been had the motion ended at each of `t`."""
        start = self.t[0] - (self.t[1] - self.t[0]) if len(self.t) > 1 else 0.0
        return np.cumsum(self.growth, axis=0) / (self.t - start)[:, None]

    def __str__(self) -> str:
        rows = [f"{x:+.6f} ± {e:.1e}" for x, e in zip(self.exponents, self.errors, strict=True)]
        return "Lyapunov exponents: " + ", ".join(rows)


def lyapunov(
    system: System,
    q0: VectorLike,
    v0: VectorLike,
    t_end: float,
    *,
    dt: float | None = None,
    method: AbstractMethod | str | None = None,
    count: int | None = None,
    every: int | None = None,
    discard: float = 0.1,
    frame: ArrayLike | None = None,
    t0: float = 0.0,
) -> Lyapunov:
    r"""The Lyapunov exponents of the motion from (q0, v0), with errors.

    **Arguments:** `dt` and `method` as for `simulate` (any method with a step of its own; symplectic ones give
    exponents in exact pairs); `count`, how many exponents, all \(2n\) by default; `every`, steps between two
    orthonormalisations, by default about a twentieth of a unit of time and at most 50; `discard`, the share of the time
    at the beginning that the frame gets to settle; `frame`, vectors \((\delta q, \delta p)\) as columns to start from.

    For systems whose points are their own coordinates, without constraints. **Fails** with `ValueError` for those that
    are not, and for a step that cannot be solved.
    """
    problem, step = stepping(system, q0, v0, t_end, dt, method, t0)
    _refuse(problem.system)
    if not 0 <= discard < 1:
        raise ValueError(f"discard is a share of the time, from 0 to less than 1; got {discard!r}.")
    size = 2 * problem.q0.shape[0]
    columns = _columns(size, count, frame)
    h = float(np.copysign(step, problem.t_end - t0))
    steps = max(1, round(abs(problem.t_end - t0) / step))
    per = max(1, min(round(0.05 / step), 50, steps)) if every is None else int(every)
    if per < 1:
        raise ValueError(f"every is a number of steps, at least 1; got {every!r}.")
    blocks = max(1, steps // per)
    logs, q, v, energies = _drive(problem, h, per, blocks, columns, t0)
    times = t0 + h * per * np.arange(1, blocks + 1)
    kept = logs[int(discard * blocks) :]
    exponents, errors = _means(kept, abs(h) * per)
    order = np.argsort(-exponents, kind="stable")
    conserved = problem.provenance.conservative
    drift = float(np.max(np.abs(energies - energies[0])) / max(1e-300, float(np.max(np.abs(energies)))))
    return Lyapunov(exponents[order], errors[order], times, logs[:, order], q, v, drift if conserved else 0.0)


def _refuse(system: System) -> None:
    if not system.flat:
        raise ValueError(f"lyapunov needs points that are their own coordinates; {system.space} has others.")
    if system.constraints:
        raise ValueError("lyapunov does not take constraints; describe the system in coordinates that satisfy them.")


def _columns(size: int, count: int | None, frame: Any) -> np.ndarray:
    """The first vectors: orthonormal, and symplectic in the order of the module's note, in general position."""
    if frame is not None:
        given = np.asarray(frame, float)
        if given.ndim != 2 or given.shape[0] != size or not 1 <= given.shape[1] <= size:
            raise ValueError(f"frame holds vectors (dq, dp) of length {size} as columns; got shape {given.shape}.")
        return np.linalg.qr(given)[0] * np.sign(np.diag(np.linalg.qr(given)[1]))
    wanted = size if count is None else count
    if not 1 <= wanted <= size:
        raise ValueError(f"There are {size} exponents; count must lie between 1 and that, got {count!r}.")
    half, key = size // 2, np.random.default_rng(1)
    unitary: Any = np.linalg.qr(key.normal(size=(half, half)) + 1j * key.normal(size=(half, half)))[0]
    first = np.concatenate([unitary.real, unitary.imag])
    second = np.concatenate([-unitary.imag, unitary.real])[:, ::-1]
    return np.concatenate([first, second], axis=1)[:, :wanted]


def _drive(
    problem: Problem, h: float, per: int, blocks: int, columns: np.ndarray, t0: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    system, method = problem.system, steps_of(problem)
    engine = engine_for(system, method, None)
    q, v, columns = (np.array(x, float) for x in (problem.q0, problem.v0, columns))
    rows: list[np.ndarray] = []
    energies = [float(system.energy(t0, q, v))]
    done = 0
    while done < blocks:
        now = min(_BLOCKS, blocks - done)
        start = np.float64(t0 + done * per * h)
        sizes = (start, np.float64(h), np.int64(per), np.int64(now))
        ended = jax.tree.map(np.asarray, engine.call(_several, system, method, *sizes, q, v, columns))
        *new, logs, code, energy = ended
        if int(code) != Code.ok or not np.all(np.isfinite(logs[:now])):
            surer = method.fallback(certain=False) if int(code) == Code.no_convergence else None
            if surer is None:
                found = Code.not_finite if int(code) == Code.ok else Code(int(code))
                raise ValueError(f"The motion could not be followed: {Result(int(found), float(start), done * per)}")
            method, engine = surer, engine_for(system, surer, "xla")
            continue
        q, v, columns = new
        rows.append(logs[:now])
        energies.append(float(energy))
        done += now
    return np.concatenate(rows), q, v, np.array(energies)


def _several(
    system: System, method: AbstractMethod, t: Any, h: Any, per: Any, blocks: Any, q: Any, v: Any, frame: Any
) -> Any:
    """Blocks of steps with the frame's growth in each; numbers of steps and blocks are data."""

    def block(carry: Any) -> Any:
        k, q, v, frame, logs, code = carry
        start = t + k * per * h
        (q, v), frame, found = _carried(system, method, start, h, per, q, v, frame)
        frame, sizes = _orthonormal(frame)
        return k + 1, q, v, frame, logs.at[k].set(jnp.log(sizes)), jnp.where(code == Code.ok, found, code)

    logs = jnp.zeros((_BLOCKS, frame.shape[1]))
    first = (jnp.int64(0), q, v, frame, logs, jnp.int32(Code.ok))
    _, q, v, frame, logs, code = jax.lax.while_loop(lambda c: (c[0] < blocks) & (c[5] == Code.ok), block, first)
    return q, v, frame, logs, code, system.raw_energy(t + blocks * per * h, q, v)


def _carried(
    system: System, method: AbstractMethod, t: Any, h: Any, per: Any, q: Any, v: Any, frame: Any
) -> tuple[tuple[Any, Any], Any, Any]:
    """The state after `per` steps, and the frame carried along by their derivative."""
    n = q.shape[0]

    def momentum(s: Any, x: Any, w: Any) -> Any:
        return lagrangian.momentum(system.raw_lagrangian, s, x, w)

    def enter(x: Any, w: Any) -> Any:
        return method.start(system, t, x, w)

    def velocities(z: Any) -> Any:
        # dp = (dp/dq) dq + M dv, solved for dv
        dq, dp = z[:n], z[n:]
        change = jax.jvp(lambda x: momentum(t, x, v), (q,), (dq,))[1]
        mass = lagrangian.mass_matrix(system.raw_lagrangian, t, q, v)
        return dq, solve(mass, dp - change, system.definite)

    def first(z: Any) -> Any:
        return _tangent(enter, (q, v), velocities(z))

    state = enter(q, v)
    tangents = jax.vmap(first, in_axes=1, out_axes=0)(frame)

    def once(carry: Any) -> Any:
        k, state, tangents, code = carry
        at = t + k * h

        def step(s: Any) -> Any:
            return method.step(system, at, h, s)[0]

        new, status = method.step(system, at, h, state)
        pushed = jax.vmap(lambda d: _tangent(step, (state,), (d,)))(tangents)
        return k + 1, new, pushed, jnp.where(code == Code.ok, status.code, code)

    going = (jnp.int64(0), state, tangents, jnp.int32(Code.ok))
    _, state, tangents, code = jax.lax.while_loop(lambda c: (c[0] < per) & (c[3] == Code.ok), once, going)
    end = t + per * h

    def last(s: Any) -> Any:
        x, w = method.read(system, end, s)
        return jnp.concatenate([x, momentum(end, x, w)])

    columns = jax.vmap(lambda d: _tangent(last, (state,), (d,)))(tangents).T
    return method.read(system, end, state), columns, code


def _tangent(function: Any, at: tuple[Any, ...], along: tuple[Any, ...]) -> Any:
    with derivatives_of_roots(True):
        return jax.jvp(function, at, along)[1]


def _orthonormal(frame: Any) -> tuple[Any, Any]:
    """Gram and Schmidt's frame, each vector orthogonalised twice, and the lengths that were taken out."""
    found: list[Any] = []
    sizes: list[Any] = []
    for j in range(frame.shape[1]):
        w = frame[:, j]
        for _ in range(2):
            for u in found:
                w = w - jnp.dot(u, w) * u
        size = jnp.sqrt(jnp.dot(w, w))
        found.append(w / size)
        sizes.append(size)
    return jnp.stack(found, axis=1), jnp.stack(sizes)


def _means(logs: np.ndarray, block: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean growth rates and their standard errors by the means of stretches."""
    rates = np.mean(logs, axis=0) / block
    if len(logs) < 2:
        return rates, np.full(logs.shape[1], np.inf)
    errors = []
    for pieces in _STRETCHES:
        parts = [np.mean(part, axis=0) for part in np.array_split(logs, min(pieces, len(logs)))]
        errors.append(np.std(np.stack(parts), axis=0, ddof=1) / block / np.sqrt(len(parts)))
    return rates, np.max(errors, axis=0)
