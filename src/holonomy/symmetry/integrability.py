r"""Whether velocity constraints restrict positions: Frobenius' theorem and growth vectors.

Forms \(a^1, \dots, a^k\) on \(R^n\) span a codistribution; the velocities that they allow, \(a^i(v) = 0\), are a
distribution D. It is integrable, that is k position constraints in disguise, if and only if
\(da^i \wedge a^1 \wedge \dots \wedge a^k = 0\) for every i, or \(da^i(X, Y) = 0\) for all fields X, Y of D. Otherwise
brackets of fields of D lead out of it: \(D_1 = D\), \(D_{j+1} = D_j + [D, D_j]\), and the dimensions of these at a
point are the growth vector. That the condition holds is shown by the form of the functions; that it does not, and
growth vectors, are read from Taylor polynomials at the point and at points next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import qr

from holonomy.geometry.integrate import integrate
from holonomy.symmetry import frobenius
from holonomy.systems.mistakes import advice
from holonomy.systems.parameters import number
from holonomy.trace.function import Function, trace
from holonomy.trace.graph.series import Otherwise, Series, SeriesRing
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion
from holonomy.types import ArrayFunction, Numbers, Tree, VectorLike

_ORDER = 3  # of the Taylor polynomials in which it is looked at whether forms are dependent
_DEEPEST = 14  # of brackets that are looked at where a point is special
_ZERO = 1e-9  # of the terms that cancel
_RANK = 1e-8  # of the largest singular value
_FIELDS = 3000  # iterated brackets at most
_NEARBY = (0.2, 0.013)  # of the coordinates, or of 1: steps to points where nothing is special

Forms = ArrayFunction | Sequence[ArrayFunction | VectorLike]


@dataclass(frozen=True)
class Integrability:
    r"""What `integrability` found at the point `at`.

    `kind` is ``"integrable"`` where the form of the functions shows it, ``"nonholonomic"`` where a derivative at the
    point or next to it shows that, and else ``"undecided"``; `order` says how far derivatives at the point were looked
    at, or at which order they decided. `closed` says whether every form is shown to be closed, \(da^i = 0\); `rank`
    how many forms are independent; `growth` is the growth vector of the distribution at the point, and `nearby` that at
    a point next to it. Of n coordinates, `nearby[-1]` can be reached from one another, so that n - `nearby[-1]`
    position constraints are hidden in the forms. The point is special where the two growth vectors differ.

    For an integrable system `position`, \(q \mapsto \psi(q)\), is zero on the surface through `at` to which motions
    keep, one number for each independent form, and `integrating_factor` is \(q \mapsto \eta(q)\) with
    \(\eta\,a = d\psi\): a number for one form, a matrix for several. Both are None for a nonholonomic one. They are NaN
    at points from which the surface does not reach the coordinates of `at` along a straight line.
    """

    kind: str
    closed: bool
    rank: int
    growth: tuple[int, ...]
    at: np.ndarray
    position: Callable[[Any], Any] | None
    integrating_factor: Callable[[Any], Any] | None
    nearby: tuple[int, ...] = ()
    order: int = 0

    @property
    def hidden(self) -> int:
        """How many position constraints the forms hide."""
        return len(self.at) - (self.nearby or self.growth)[-1]

    def __repr__(self) -> str:
        if self.kind == "undecided":
            return (
                f"undecided: no derivative up to order {self.order} contradicts that they are equivalent to "
                f"{_counted(self.rank)}, and their form does not show it"
            )
        if self.kind == "integrable":
            how = "closed" if self.closed else "after multiplication by an integrating factor"
            return f"integrable: equivalent to {_counted(self.rank)}, {how}"
        rest = f", {_counted(self.hidden)} hidden" if self.hidden else ", every configuration is reachable"
        special = ""
        if self.nearby and self.nearby != self.growth:
            special = f" at this point and {self.nearby} next to it"
            if self.growth[-1] < self.nearby[-1]:
                special += f", by brackets of {_DEEPEST} fields at most"
                rest = "; what is reachable from this point is not decided"
        return f"nonholonomic: growth vector {self.growth}{special}{rest}"


def _counted(k: int) -> str:
    return f"{k} position constraint{'' if k == 1 else 's'}"


def integrability(forms: Forms, dim: int, at: Numbers | None = None) -> Integrability:
    """Whether forms on R^dim restrict positions or velocities alone, near the point `at`.

    **Arguments:** `forms`, a function q -> (k, dim) of the coefficients, (dim,) for one form, or a list of functions
    q -> (dim,) and constant arrays; `dim`, the number of coordinates; `at`, the point, by default one at which nothing
    is special. **Fails** with `ValueError` for forms of another shape, that are zero or not finite at the point, or of
    which fewer are independent there than nearby.
    """
    point = _point(dim, at)
    traced = _traced(forms, dim)
    try:
        expansion = Expansion(traced, dim)
    except Unsupported as error:
        raise ValueError(f"The forms have no Taylor series: {error}") from error
    rows, columns = _pivots(expansion, point)
    chosen = _Chosen(expansion, rows, columns)
    closed, kind, order = _kind(traced, expansion, chosen, point)
    growth, nearby = chosen.growth(point, _next_to(point))
    position = factor = None
    if kind == "integrable":
        leaf = _Leaf(traced, rows, columns, point)
        position, factor = (leaf.integral, leaf.unit) if closed else (leaf.position, leaf.factor)
    return Integrability(kind, closed, len(rows), growth, point, position, factor, nearby, order)


def _kind(traced: Function, expansion: Expansion, chosen: _Chosen, point: np.ndarray) -> tuple[bool, str, int]:
    """Whether the forms are closed, what kind they are, and the order of the derivatives that say so."""
    here = frobenius.seen(expansion, chosen.rows, chosen.columns, point)
    if here.not_integrable is not None and not here.corner:
        return False, "nonholonomic", here.not_integrable
    closed, integrable = frobenius.shown(traced, len(point), chosen.rows, point)
    if integrable:
        return closed, "integrable", here.order
    around = [frobenius.seen(expansion, chosen.rows, chosen.columns, at) for at in _next_to(point)]
    if not here.corner and all(at.not_integrable is not None and not at.corner for at in around):
        return False, "nonholonomic", here.order
    return closed, "undecided", here.order


def _next_to(point: np.ndarray) -> list[np.ndarray]:
    """Points next to one."""
    away = np.random.default_rng(1).uniform(0.5, 1.0, len(point))
    return [point + far * away * np.where(point != 0, np.abs(point), 1.0) for far in _NEARBY]


class _Chosen:
    """Independent rows of the forms, solved for as many columns: velocities along the other columns are free."""

    def __init__(self, expansion: Expansion, rows: tuple[int, ...], columns: tuple[int, ...]) -> None:
        self.expansion, self.rows, self.columns = expansion, list(rows), list(columns)
        self.n = expansion.variables
        self.free = [j for j in range(self.n) if j not in columns]

    def growth(self, point: np.ndarray, nearby: list[np.ndarray]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The growth vectors at a point and at one nearby; brackets are taken until they span as much at the point."""
        if not self.free:
            return (0,), (0,)
        depth = self.n - len(self.free) + 1
        there = max((self._growth(at, depth) for at in nearby), key=lambda growth: growth[-1])
        found = self._growth(point, depth)
        while found[-1] < there[-1] and depth < _DEEPEST:
            depth += 1
            found = self._growth(point, depth)
        return found, there

    def _growth(self, point: np.ndarray, depth: int) -> tuple[int, ...]:
        """The dimensions of what brackets span; all evaluations with other rounding errors at once, along axis 0."""
        of = self.expansion.ring(depth - 1)
        frames = []
        for k in range(frobenius.EVALUATIONS):
            a = self.expansion.along(of.coordinates(point), of, Otherwise(k, self.n))[0][self.rows]
            frames.append(frobenius.frame_of(of, a, self.columns, self.free))
        frame = np.array(frames)
        slopes = of.gradient(frame)
        layer = [frame[:, i] for i in range(len(self.free))]
        values, dims = [x[..., 0] for x in layer], [len(self.free)]
        for _ in range(depth - 1):
            made = [_bracket(of, frame[:, i], slopes[:, i], y) for y in layer for i in range(len(self.free))]
            layer = [b for b in made if np.any(frobenius.known(b))]
            if not layer or len(layer) > _FIELDS:
                break
            values += [b[..., 0] for b in layer]
            dims.append(_rank(np.array([x[0] for x in values if np.any(frobenius.known(x))])))
            if dims[-1] == self.n:
                break
        while len(dims) > 1 and dims[-1] == dims[-2]:
            dims.pop()
        return tuple(dims)


def _bracket(of: SeriesRing, x: Series, dx: Series, y: Series) -> Series:
    """[x, y] of two fields of series, (evaluations, n, size)."""
    one = of.times(of.gradient(y), x[:, None, :, :]).sum(axis=-2)
    other = of.times(dx, y[:, None, :, :]).sum(axis=-2)
    found = one - other
    found[np.abs(found) <= 1e-13 * (np.abs(one) + np.abs(other))] = 0.0
    return found


def _rank(matrix: np.ndarray) -> int:
    """The rank of vectors, in units in which each of them and each of their components has size 1."""
    for _ in range(4):
        for axis in (1, 0):
            size = np.max(np.abs(matrix), axis=axis, keepdims=True, initial=0.0)
            matrix = matrix / np.where(size > 0, size, 1.0)
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > _RANK * values[0])) if values.size and values[0] > 0 else 0


class _Leaf(eqx.Module):
    """The surface through a point that an integrable system of forms keeps to."""

    forms: Function
    rows: tuple[int, ...] = eqx.field(static=True)
    columns: tuple[int, ...] = eqx.field(static=True)
    base: Tree

    def position(self, q: Numbers) -> Any:
        """Where the surface through q meets the line of the base point, less the base point there."""
        return _position(self, jnp.asarray(q, float))

    def factor(self, q: Numbers) -> Any:
        """The integrating factor."""
        return _factor(self, jnp.asarray(q, float))

    def integral(self, q: Numbers) -> Any:
        """The integral of closed forms from the base point, along the straight line."""
        return _integral(self, jnp.asarray(q, float))

    def unit(self, q: Numbers) -> Any:
        """The integrating factor of closed forms."""
        return jnp.eye(len(self.rows)) if len(self.rows) > 1 else jnp.ones(())

    def carried(self, q: Tree) -> Tree:
        """The dependent coordinates carried along the surface to the free coordinates of the base point."""
        dependent = np.array(self.columns)
        free = np.array([j for j in range(len(self.base)) if j not in self.columns], int)
        away = jnp.asarray(self.base)[free] - q[free]

        def rate(s: Tree, y: Tree) -> Tree:
            x = q.at[free].add(s * away).at[dependent].set(y)
            a = self.forms(x)[np.array(self.rows)]
            return -jnp.linalg.solve(a[:, dependent], a[:, free] @ away)

        return integrate(rate, q[dependent])


@eqx.filter_jit
def _position(leaf: _Leaf, q: Tree) -> Tree:
    return leaf.carried(q) - jnp.asarray(leaf.base)[np.array(leaf.columns)]


@eqx.filter_jit
def _integral(leaf: _Leaf, q: Tree) -> Tree:
    base = jnp.asarray(leaf.base)
    rows = np.array(leaf.rows)
    return integrate(lambda s, y: leaf.forms(base + s * (q - base))[rows] @ (q - base), jnp.zeros(len(rows)))


@eqx.filter_jit
def _factor(leaf: _Leaf, q: Tree) -> Tree:
    dependent = np.array(leaf.columns)
    slope = jax.jacfwd(leaf.carried)(q)[:, dependent]
    a = leaf.forms(q)[np.array(leaf.rows)][:, dependent]
    found = jnp.linalg.solve(a.T, slope.T).T
    return found if len(leaf.rows) > 1 else found[0, 0]


# ── what a person may pass ────────────────────────────────────────────────────────────────────────────────────────
def _point(dim: Any, at: Any) -> np.ndarray:
    if isinstance(dim, bool) or not isinstance(dim, int) or dim < 1:
        raise ValueError(f"dim is the number of coordinates, a positive whole number; got {dim!r}.")
    if at is None:
        return np.random.default_rng(0).uniform(0.4, 1.4, dim)
    point = np.asarray(number("point at", at))
    if point.shape != (dim,):
        raise ValueError(f"The point at must have shape ({dim},), one number per coordinate; got shape {point.shape}.")
    return point


def _traced(forms: Any, dim: int) -> Function:
    parts = [forms] if callable(forms) else list(forms)
    if not parts:
        raise ValueError("At least one form is needed; got an empty list.")

    def rows(q: Any) -> Any:
        found = [jnp.atleast_2d(jnp.asarray(f(q) if callable(f) else f, float)) for f in parts]
        for k, a in enumerate(found):
            if a.ndim != 2 or a.shape[1] != dim:
                raise ValueError(
                    f"form {k} has shape {tuple(a.shape)}, but each form has {dim} coefficients, dim={dim}."
                )
        return jnp.concatenate(found)

    try:
        return trace(rows, (jax.ShapeDtypeStruct((dim,), jnp.float64),))
    except Exception as error:
        raise ValueError(f"The forms could not be evaluated: {advice(error)}") from error


def _independent_columns(matrix: np.ndarray, rank: int) -> np.ndarray:
    found: Any = qr(matrix, pivoting=True)
    return np.sort(found[2][:rank])


def _pivots(expansion: Expansion, point: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Independent forms at the point, and as many columns in which they are independent."""
    (series,) = expansion.at(point, _ORDER)
    a = series[..., 0]
    shown = np.array2string(point, precision=4, separator=", ")
    if not np.all(np.isfinite(series)):
        raise ValueError(f"The forms or their derivatives are not finite at q = {shown}; pass another point as at=.")
    size = np.linalg.norm(a, axis=1)
    if np.any(size == 0):
        raise ValueError(
            f"Form {int(np.argmin(size))} is zero at q = {shown} and restricts nothing there; pass another point at=."
        )
    even = a / size[:, None]
    rank = _rank(even)
    rows = _independent_columns(even.T, rank)
    columns = _independent_columns(even[rows], rank)
    rest = [i for i in range(len(a)) if i not in rows]
    if rest:
        of = expansion.ring(_ORDER)
        square = of.inverse(series[rows][:, columns])
        weights = of.matmul(series[rest][:, columns], square)
        gap = series[rest] - of.matmul(weights, series[rows])
        if np.max(np.abs(gap)) > _ZERO * np.max(np.abs(series)):
            raise ValueError(
                f"The forms are dependent at q = {shown}, but not nearby, so that they say less there; pass another "
                "point as at=."
            )
    return tuple(rows.tolist()), tuple(columns.tolist())
