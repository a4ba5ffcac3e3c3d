"""Thousands of states at which a property that should hold everywhere is looked at, and values there.

They have sizes over many orders of magnitude and lie at both sides of whatever is special in the system's functions
(`trace.graph.features`), since a step far away is seen nowhere else. A property that holds at all of them is said to
hold there, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.trace.graph.dag import reachable
from holonomy.trace.graph.features import Line, features, search
from holonomy.trace.graph.numeric import evaluate_rows
from holonomy.trace.lowering.scalarise import Flat, scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.types import Number, Tree

_LONGEST = 30_000_000  # operations on numbers above which a function at many states is compiled
_LAST_DIGITS = 2.3e-16  # of a number
_NOISE = 0.1  # of a value: one that differs by more at a state with other last digits is rounding
_DECADES = 3.0  # of sizes above and below 1
_MOST_DECADES = 12.0  # the same of those states that are for systems of other sizes
_WIDE = 1000  # how many these are
_AXES = 40  # inputs along which special places are looked for
_BASES = 12  # lines along each, in each round
_ROUNDS = 3
_MOST_SPECIAL = 240  # special places, over all functions
_BESIDE = 12  # states beside each of them
_NO_SIZE = 1e-15  # a special place nearer to zero is at zero
_PROJECTED = 24  # states where each is projected onto constraints by itself
_STEPS = 40
_RANK = 1e-10  # of the largest singular value: normals that depend on each other
_HELD = 1e-9  # of its terms: what a condition may be at a state that counts as consistent

Where: TypeAlias = Mapping[str, Sequence[Number]] | Callable[[Any, Any, Any], Any]
"""A region: bounds by the names of coordinates, of velocities (``"x_dot"``) and ``"t"``, or a function (t, q, v).
"""


@dataclass(frozen=True)
class States:
    """States in rows, and the region that they are from in words.

    `special` are those of them at which something changes along a line (a comparison, a rounding, the argument of an
    exponential, see `trace.graph.features`), exactly there; others lie at both sides. `lines` are the directions of
    these lines, rows of (t, q, v).
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    special: tuple[np.ndarray, np.ndarray, np.ndarray]
    lines: tuple[np.ndarray, np.ndarray, np.ndarray]
    region: str

    def __len__(self) -> int:
        return len(self.t)

    def values(self, function: Callable[[Any, Any, Any], Any]) -> list[np.ndarray]:
        """The values of a function of (t, q, v) at the states, one array for each leaf of what it returns."""
        return at_rows(function, self.t, self.q, self.v)

    def largest(self, function: Callable[[Any, Any, Any], Any], sizes: np.ndarray) -> int | None:
        """The number of the state at which `sizes` is largest, of those at which the value of a function is more than
        rounding: it is the same where the state has other last digits. None where there is none.
        """
        suspects = np.flatnonzero(sizes > 0)
        if not len(suspects):
            return None
        generator, spread = np.random.default_rng(3), np.zeros(len(suspects))
        state = [x[suspects] for x in (self.t, self.q, self.v)]
        value = at_rows(function, *state)[0]
        for _ in range(3):
            near = [x * (1 + _LAST_DIGITS * generator.integers(-2, 3, x.shape)) for x in state]
            spread = np.fmax(spread, np.abs(at_rows(function, *near)[0] - value))
        real = suspects[spread <= _NOISE * np.abs(value)]
        return int(real[np.argmax(sizes[real])]) if len(real) else None

    def some(self, count: int) -> States:
        """At most so many of the states, spread over all of them."""
        chosen = np.unique(np.linspace(0, len(self) - 1, count).astype(int))
        return replace(self, t=self.t[chosen], q=self.q[chosen], v=self.v[chosen])

    def words(self, count: int | None = None) -> str:
        """At how many states, and where they are."""
        return f"at the {len(self) if count is None else count} states looked at, {self.region}"


def rows(
    system: System,
    functions: Sequence[tuple[Flat, int]] = (),
    where: Where | None = None,
    runs: Sequence[Run] = (),
    count: int = 4000,
    wide: bool = True,
) -> States:
    """So many random states of a system and more at the `functions`' special places, always the same.

    Positions, velocities and times have sizes from 1e-3 to 1e3 and both signs, in half of the states all coordinates
    about the same size, and a third of the states are at rest; some more, if `wide`, have sizes from 1e-12 to 1e12.
    `where` says another region. The saved states of `runs` are among them. They satisfy the constraints on positions
    and velocities; of points of a curved space, which are random there, only velocities have all sizes. `functions` are
    those whose special places are looked for, each with the number of its arguments t, q, v.
    """
    generator, n, more = np.random.default_rng(0), system.space.point_dim, _WIDE if wide else 0
    count += more
    region = _Region(system, where)
    t, v = _sizes(generator, count, 1)[:, 0], _sizes(generator, count, n)
    v[::3] = 0.0  # there large kinetic energies hide nothing
    if system.flat:
        q = _sizes(generator, count, n, more)
    else:
        q, v = (np.asarray(x) for x in _on_space(system, jax.random.split(jax.random.key(0), count), jnp.asarray(v)))
    t, q, v = region.placed(generator, t, q, v)
    special = lines = (np.zeros(0), np.zeros((0, n)), np.zeros((0, n)))
    if system.flat and functions:
        special, lines, beside = _special(system, functions, (t, q, v), generator)
        t, q, v = (np.concatenate(x) for x in zip((t, q, v), special, beside, strict=True))
    t, q, v = _consistent(system, t, q, v)
    kept = region.has(t, q, v)
    parts = [(t[kept], q[kept], v[kept]), *[_along(run) for run in runs]]
    t, q, v = (np.concatenate(x) for x in zip(*parts, strict=True))
    inside = region.has(*special)
    along = "" if not runs else f" and along {len(runs)} run{'s' if len(runs) > 1 else ''}"
    special, lines = ((a[inside], b[inside], c[inside]) for a, b, c in (special, lines))
    return States(t, q, v, special, lines, region.words + along)


class _Region:
    """The part of the states that is looked at."""

    def __init__(self, system: System, where: Where | None) -> None:
        self.bounds: list[tuple[int, int, float, float]] = []
        self.function = None if where is None or isinstance(where, Mapping) else where
        sizes = "|q| and |t| from 1e-3 to 1e3" if system.flat else "|t| and |v| from 1e-3 to 1e3"
        if self.function is not None:
            self.words = f"{sizes}, where the given condition holds"
            return
        named = {"t": (0, 0)} | {name: (1, i) for i, name in enumerate(system.names)}
        named |= {f"{name}_dot": (2, i) for i, name in enumerate(system.names)}
        said = []
        for name, bounds in where.items() if isinstance(where, Mapping) else ():
            if name not in named:
                raise ValueError(f"where has bounds for t, {', '.join(system.names)} and their _dot; got {name!r}.")
            low, high = (float(x) for x in bounds)
            if not low < high:
                raise ValueError(f"where[{name!r}] has a lower and a higher bound; got {bounds!r}.")
            self.bounds.append((*named[name], low, high))
            said.append(f"{name} from {low:g} to {high:g}")
        if said and not system.flat:
            raise ValueError("In a curved space pass where= as a function of (t, q, v).")
        self.words = ", ".join([*said, f"others {sizes}"] if said else [sizes])

    def placed(self, generator: np.random.Generator, *states: np.ndarray) -> tuple[np.ndarray, ...]:
        """The states with what is bounded between its bounds."""
        t, q, v = states
        columns = (t[:, None], q, v)
        for k, i, low, high in self.bounds:
            columns[k][:, i] = generator.uniform(low, high, len(t))
        return t, q, v

    def has(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Which states are inside."""
        kept, columns = np.ones(len(t), bool), (t[:, None], q, v)
        for k, i, low, high in self.bounds:
            kept &= (columns[k][:, i] >= low) & (columns[k][:, i] <= high)
        if self.function is not None and len(t):
            function = self.function
            kept &= np.asarray(at_rows(lambda *state: jnp.asarray(function(*state)), t, q, v)[0], bool)
        return kept


def _sizes(generator: np.random.Generator, count: int, n: int, wide: int = 0) -> np.ndarray:
    """Numbers of both signs whose sizes are spread evenly over six decades, those in the last `wide` rows over more; in
    every other row of one size.
    """
    decades = np.where(np.arange(count) < count - wide, _DECADES, _MOST_DECADES)[:, None]
    exponents = generator.uniform(-decades, decades, (count, n))
    alike = exponents[:, :1] + generator.uniform(-0.3, 0.3, (count, n))
    exponents[::2] = np.clip(alike, -decades, decades)[::2]
    return 10.0**exponents * generator.choice([-1.0, 1.0], (count, n))


@eqx.filter_jit
def _on_space(system: System, keys: Tree, sizes: Tree) -> tuple[Tree, Tree]:
    def one(key: Any, size: Any) -> tuple[Any, Any]:
        place, motion = jax.random.split(key)
        x = system.space.random(place)
        return x, system.space.random_tangent(motion, x) * jnp.max(jnp.abs(size))

    return jax.vmap(one)(keys, sizes)


def _along(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.asarray(run.t, float), np.asarray(run.q, float), np.asarray(run.v, float)


def _special(
    system: System, functions: Sequence[tuple[Flat, int]], base: Any, generator: np.random.Generator
) -> tuple[Any, ...]:
    """States at which features of the functions are zero or least along a line, the lines' directions, and states at
    both sides.
    """
    n = system.space.point_dim
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for flat, arguments in functions:
        nodes = features(flat.algebra, [node for out in flat.outputs for node in out.nodes])
        inputs = {node.data for node in reachable(nodes) if node.op == "input"}
        axes = sorted(one for one in inputs if one[0] < arguments)
        if len(axes) > _AXES:
            axes = [axes[i] for i in generator.choice(len(axes), _AXES, replace=False)]
        if not axes:
            continue
        lines = [Line(*axis) for axis in axes for _ in range(_BASES)]
        chosen = generator.integers(0, len(base[0]), len(lines))
        t, q, v = (np.array(x)[chosen] for x in base)
        # every other line goes through what was found on others, so that several conditions can hold at once
        own = jax.tree.leaves(system.last) if len(flat.inputs) > arguments + 1 else []
        fixed = [np.ravel(np.asarray(x, float)) for x in (*own, np.array(flat.numbers))]
        for k in range(_ROUNDS):
            leaves = [t[:, None], q, v][:arguments]
            leaves += [np.broadcast_to(x, (len(lines), len(x))) for x in fixed]
            there = search(nodes, leaves, lines, _MOST_SPECIAL // len(functions) // _ROUNDS, k)
            at = [x[there.lines].copy() for x in (t[:, None], q, v)]
            column = np.array([sum((1, n)[: lines[r].argument]) + lines[r].element for r in there.lines], int)
            every = np.concatenate(at, axis=1)
            every[np.arange(len(column)), column] = there.values
            found.append((every[:, 0], every[:, 1 : 1 + n], every[:, 1 + n :], column))
            whole = np.concatenate([t[:, None], q, v], axis=1)
            for c in np.unique(column):
                taken = generator.random(len(whole)) < 0.5
                values = generator.choice(there.values[column == c], len(whole))
                whole[taken, c] = (values + _offsets(generator, values))[taken]
            t, q, v = whole[:, 0], whole[:, 1 : 1 + n], whole[:, 1 + n :]
    if not found:
        nothing = (np.zeros(0), np.zeros((0, n)), np.zeros((0, n)))
        return nothing, nothing, nothing
    t, q, v, column = (np.concatenate(x) for x in zip(*found, strict=True))
    exact = np.concatenate([t[:, None], q, v], axis=1)
    beside = np.repeat(exact, _BESIDE, axis=0)
    moved, which = np.arange(len(beside)), np.repeat(column, _BESIDE)
    beside[moved, which] += _offsets(generator, beside[moved, which])
    unit = np.eye(exact.shape[1])[column]
    return (t, q, v), *((x[:, 0], x[:, 1 : 1 + n], x[:, 1 + n :]) for x in (unit, beside))


def _offsets(generator: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Distances of both signs from 1e-9 of the values up to their size; all of them around zero."""
    size = np.where(np.abs(values) > _NO_SIZE, np.log10(np.abs(values) + _NO_SIZE), 3.0)
    lowest = np.where(np.abs(values) > _NO_SIZE, size - 9.0, -12.0)
    return generator.choice([-1.0, 1.0], len(values)) * 10.0 ** generator.uniform(lowest, size)


def _consistent(system: System, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """The states, moved to the nearest ones that satisfy the constraints; those that come to none are left out."""
    if not system.constraints.equations.total:
        return t, q, v
    if not system.flat:
        t, q, v = (np.stack(x) for x in zip(*states(system, _PROJECTED), strict=True))
        return t, q, v
    q, v, missed = (np.asarray(x) for x in _projected(system, jnp.asarray(t), jnp.asarray(q), jnp.asarray(v)))
    held = missed <= _HELD
    if not np.any(held):
        t, q, v = (np.stack(x) for x in zip(*states(system, _PROJECTED), strict=True))
        return t, q, v
    return t[held], q[held], v[held]


@eqx.filter_jit
def _projected(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """Positions by Gauss and Newton's steps of least length, velocities by one; and what is left of the conditions."""
    held = system.constraints.equations

    def place(s: Any, x: Any) -> Any:
        return jnp.concatenate([f(s, x, *system.last) for f in held.holonomic])

    def one(s: Any, x: Any, w: Any) -> Any:
        missed = jnp.zeros(())
        if held.holonomic:

            def step(_: Any, y: Any) -> Any:
                normals = jax.jacfwd(place, argnums=1)(s, y)
                return y - jnp.linalg.pinv(normals, rtol=_RANK) @ place(s, y)

            x = jax.lax.fori_loop(0, _STEPS, step, x)
            size = jnp.abs(jax.jacfwd(place, argnums=1)(s, x)) @ jnp.abs(x)
            missed = jnp.max(jnp.abs(place(s, x)) / (size + jnp.finfo(x.dtype).tiny))
        local = system.local(x)
        normals = jax.jacfwd(lambda u: local.rates(s, x, u))(w)
        w = w - jnp.linalg.pinv(normals, rtol=_RANK) @ local.rates(s, x, w)
        left = jnp.abs(local.rates(s, x, w)) / (jnp.abs(normals) @ jnp.abs(w) + jnp.finfo(x.dtype).tiny)
        return x, w, jnp.maximum(missed, jnp.max(left))

    return jax.vmap(one)(t, q, v)


def at_rows(function: Callable[[Any, Any, Any], Any], t: np.ndarray, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """The values of a function of (t, q, v) at many states, one array for each leaf of what it returns.

    As an expression in NumPy where it is a short one, since that compiles nothing; else compiled by XLA.
    """
    try:
        flat = scalarise(function, (np.float64(0.0), np.zeros(q.shape[1]), np.zeros(q.shape[1])))
        nodes = [node for out in flat.outputs for node in out.nodes]
        if len(reachable(nodes)) * len(t) > _LONGEST:
            raise Unsupported("The expression is long.")
        numbers = np.broadcast_to(np.array(flat.numbers, float), (len(t), len(flat.numbers)))
        values = iter(evaluate_rows(nodes, [t[:, None], q, v, numbers]))
    except Unsupported:
        rows = [jnp.asarray(x) for x in (t, q, v)]
        return [np.asarray(x) for x in jax.tree.leaves(jax.jit(jax.vmap(function))(*rows))]
    return [np.stack([next(values) for _ in out.nodes], axis=-1).reshape(len(t), *out.shape) for out in flat.outputs]
