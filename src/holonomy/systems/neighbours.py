r"""Sums over pairs of particles nearer to each other than a cutoff, at a cost proportional to the number of particles.

Space is divided into cells that are wider than the cutoff, so that partners stand in the same or in neighbouring
cells. The particles are sorted by cells whenever the sum is computed: nothing is remembered from step to step that
could be out of date. All sizes are fixed beforehand, as compiled code needs them. Reference: Allen and Tildesley,
*Computer Simulation of Liquids*, 2017, section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.spaces.smooth import root
from holonomy.types import AnyArray, Scalar

PairPotential = Callable[[Array, Array, Array], Array]

FEW = 128  # coordinates up to which all pairs are looked at: cells would cost more, in running and in compiling
_MARGIN = 1e-3  # by which cells are wider than the cutoff: far above the rounding of the cell of a particle
_CELLS = 4  # cells for each particle at most; more would be empty and cost as much as others


class Neighbours:
    r"""Pairs nearer than a cutoff: `sum` is \(\sum_{i<j,\ |x_i - x_j| < r_c} u(|x_i - x_j|, i, j)\).

    **Arguments:** `example`, positions (particles, d) like those of the motion, such as the initial ones: their number,
    d, how far they spread and how many share a cell decide the sizes of all tables; `cutoff`, the distance
    \(r_c\); `box`, the lengths of a periodic box, one number or one for each direction with None where space is
    open, in which pairs are taken at their nearest images; `capacity`, how many particles a cell can hold, by default
    1.5 times as many as the fullest one of the example and 2 more.

    A pair is never missed: where more particles meet in a cell than it can hold, the sum and its derivatives are NaN,
    and a run ends, because its state is not a number. `fullest` says how full cells are. Particles may leave the
    region of the example, and need not be moved back into the box. A potential that does not vanish at the cutoff
    makes jumps there, and a motion loses its energy by them.
    """

    def __init__(
        self,
        example: AnyArray,
        cutoff: float,
        box: float | Sequence[float | None] | None = None,
        capacity: int | None = None,
    ):
        x = np.asarray(example, float)
        if x.ndim != 2 or x.shape[0] < 1 or not 1 <= x.shape[1] <= 3 or not np.all(np.isfinite(x)):
            raise ValueError(
                f"Neighbours needs finite positions (particles, d) with d of 1 to 3; got shape {tuple(x.shape)}."
            )
        if not (np.isfinite(cutoff) and cutoff > 0):
            raise ValueError(f"The cutoff must be a positive number; got {cutoff!r}.")
        self.count, self.dimension = x.shape
        self.cutoff = float(cutoff)
        self.box = _periods(box, self.dimension)
        self._refuse_small_box()
        wide = self.cutoff * (1 + _MARGIN)
        self.shape = _grid(np.ptp(x, axis=0), self.box, wide, self.count)
        periodic = np.isfinite(self.box)
        self.widths = np.where(periodic, self.box / np.array(self.shape), wide)
        if capacity is not None and (not isinstance(capacity, (int, np.integer)) or capacity < 1):
            raise ValueError(
                f"The capacity of a cell must be a whole number of particles, at least 1; got {capacity!r}."
            )
        fullest = int(np.bincount(np.asarray(self._cells(jnp.asarray(x)))).max())
        self.capacity = int(capacity) if capacity is not None else 2 + (3 * fullest + 1) // 2

    def __repr__(self) -> str:
        cells = " × ".join(str(m) for m in self.shape)
        return f"<Neighbours: {self.count} particles, cutoff {self.cutoff:g}, {cells} cells of {self.capacity}>"

    def sum(self, positions: Float[AnyArray, "particles d"], potential: PairPotential) -> Scalar:
        """The sum over all pairs within the cutoff of `potential(r, i, j)`, for code that is being traced.

        `potential` takes arrays of one shape, the distances and the numbers of the two particles, in either order, and
        gives the energy of each pair. Particles at one place do not push each other, whatever the potential, as far as
        it has a value there.
        """
        x = jnp.asarray(positions)
        if x.shape != (self.count, self.dimension):
            raise ValueError(
                f"These neighbours are those of {self.count} particles in {self.dimension} dimensions, positions of "
                f"shape {(self.count, self.dimension)}; got shape {tuple(x.shape)}."
            )
        return self._over_all_pairs(x, potential) if x.size <= FEW else self._over_cells(x, potential)

    def _over_all_pairs(self, x: Any, potential: PairPotential) -> Any:
        i, j = np.triu_indices(self.count, 1)
        return self._within(x[i] - x[j], np.ones(i.size, bool), jnp.asarray(i), jnp.asarray(j), potential)

    def _over_cells(self, x: Any, potential: PairPotential) -> Any:
        table, fullest = self._table(x)
        filled = table < self.count
        places = jnp.where(filled, table, 0)
        points = x[places]  # (cells of each direction, capacity, d)
        along = tuple(range(self.dimension))
        total = jnp.zeros((), x.dtype)
        for shift, weight in _half_of_shifts(self.shape):
            other, them, theirs = (jnp.roll(a, [-s for s in shift], along) for a in (points, places, filled))
            i, j = places[..., :, None], them[..., None, :]
            pair = filled[..., :, None] & theirs[..., None, :] & (i != j)
            i, j = jnp.broadcast_to(i, pair.shape), jnp.broadcast_to(j, pair.shape)
            apart = points[..., :, None, :] - other[..., None, :, :]
            total = total + weight * self._within(apart, pair, i, j, potential)
        # zero or NaN, times all positions, so that all derivatives are NaN as well
        return total + jnp.sum(x) * jnp.where(self._sure(x) & (fullest <= self.capacity), 0.0, jnp.nan)

    def _within(self, apart: Any, pair: Any, i: Any, j: Any, potential: PairPotential) -> Any:
        """The sum over those of these pairs that are nearer than the cutoff."""
        apart = self._nearest_image(apart)
        squares = jnp.sum(apart * apart, axis=-1)
        pair = pair & (squares < self.cutoff**2)
        # of pairs that do not count the potential is computed at the cutoff: at distance zero it may have no value
        far = root(jnp.where(pair, squares, self.cutoff**2))
        return jnp.sum(jnp.where(pair, potential(far, i, j), 0.0))

    def fullest(self, positions: Float[AnyArray, "particles d"]) -> int:
        """How many particles the fullest cell holds; sums are NaN where that is more than `capacity`."""
        return int(self._table(jnp.asarray(positions))[1])

    def _refuse_small_box(self) -> None:
        small = self.box < 2 * self.cutoff
        if np.any(small):
            raise ValueError(
                f"A periodic box must be at least twice as long as the cutoff {self.cutoff:g}, or a particle meets "
                f"two images of another; got the length {self.box[small][0]:g}."
            )

    def _cells(self, x: Any) -> Any:
        """The number of each particle's cell; open space is covered by the same cells again and again."""
        cell = jnp.zeros(x.shape[0], jnp.int32)
        for d, m in enumerate(self.shape):
            across = jnp.mod(jnp.floor(x[:, d] / float(self.widths[d])), float(m))
            cell = cell * m + jnp.clip(across.astype(jnp.int32), 0, m - 1)
        return cell

    def _table(self, x: Any) -> tuple[Int[Array, "*cells capacity"], Any]:
        """For each cell the numbers of its particles, filled up with their count, and the most that one holds."""
        cell = self._cells(jax.lax.stop_gradient(x))
        order = jnp.argsort(cell).astype(jnp.int32)
        total = int(np.prod(self.shape))
        counts = jnp.zeros(total, jnp.int32).at[cell].add(1)
        first = jnp.cumsum(counts) - counts
        inside = np.arange(self.capacity, dtype=np.int32)[None]
        at = jnp.clip(first[:, None] + inside, 0, self.count - 1)
        table = jnp.where(inside < counts[:, None], order[at], self.count)
        return table.reshape(*self.shape, self.capacity), jnp.max(counts)

    def _nearest_image(self, apart: Any) -> Any:
        if not np.any(np.isfinite(self.box)):
            return apart
        shape = (1,) * (apart.ndim - 1) + (self.dimension,)
        periodic = np.isfinite(self.box)
        lengths = jnp.asarray(np.where(periodic, self.box, 1.0).reshape(shape), apart.dtype)
        whole = jnp.where(periodic.reshape(shape), jax.lax.stop_gradient(jnp.round(apart / lengths)), 0.0)
        return apart - lengths * whole

    def _sure(self, x: Any) -> Any:
        """Whether all positions are finite and so near that rounding moves no boundary of a cell by the margin."""
        return jnp.max(jnp.abs(x)) < _MARGIN * self.cutoff / (8 * jnp.finfo(x.dtype).eps)


def _periods(box: Any, dimension: int) -> np.ndarray:
    """The length of the box in each direction, infinite where space is open."""
    given = [box] * dimension if box is None or np.ndim(box) == 0 else list(box)
    lengths = np.array([np.inf if length is None else float(length) for length in given])
    if lengths.shape != (dimension,) or not np.all(lengths > 0):
        raise ValueError(
            f"The box must be a positive length, or {dimension} of them with None where space is open; got {box!r}."
        )
    return lengths


def _grid(spread: np.ndarray, box: np.ndarray, wide: float, count: int) -> tuple[int, ...]:
    """How many cells there are in each direction: as narrow as they may be, unless most would be empty."""
    periodic = np.isfinite(box)
    most = np.where(periodic, np.floor(np.where(periodic, box, 0.0) / wide), np.ceil(spread / wide) + 2)
    cells = np.maximum(most, np.where(periodic, 1, 3))
    least = np.where(periodic, 1, 3)
    while np.prod(cells) > max(_CELLS * count, 3 ** len(box)) and np.any(cells > least):
        cells = np.maximum(np.where(cells == cells.max(), np.floor(0.9 * cells), cells), least)
    return tuple(int(m) for m in cells)


def _half_of_shifts(shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
    """From each cell to itself and its neighbours, every pair of cells once; with weight 1/2 where a shift is its own
    opposite and so meets every pair twice."""
    shifts = {
        tuple(int(s) % m for s, m in zip(each, shape, strict=True)) for each in product((-1, 0, 1), repeat=len(shape))
    }
    found: list[tuple[tuple[int, ...], float]] = []
    for shift in sorted(shifts):
        back = tuple(-s % m for s, m in zip(shift, shape, strict=True))
        if shift <= back:
            found.append((shift, 0.5 if shift == back else 1.0))
    return found
