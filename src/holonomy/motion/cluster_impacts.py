r"""Impacts of balls that belong to clusters of joined vertices, several groups of contacts at once.

Contact c of the balls i and j has the gradient \(n_c\) of their distance: unit vectors at i and at j. An impulse
\(\Lambda_c\) along it changes velocities by \(P M^{-1}n_c\Lambda_c\), P the projection onto the velocities that keep
all rods, orthogonal in the kinetic metric; it differs from zero in the clusters of i and j alone. Rates of distances
change by \(W\Lambda\), \(W_{cd} = n_c\cdot P M^{-1}n_d\). One contact alone takes \(\Lambda = -(1+e)\,\dot d/W\);
contacts of one group take the impulses of `holonomy.systems.contact.impact`. Impulses are combinations of gradients of
distances, so that the momentum of every Killing field is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.systems.bodies.ball_flight import Flight, Pair
from holonomy.systems.contact.complementarity import SOLVED
from holonomy.systems.contact.impact import Delassus, impact
from holonomy.systems.dense_solve import RANK
from holonomy.systems.result_code import Code

Rows = Float[np.ndarray, "vertices point"]
PerContact = Float[np.ndarray, " contacts"]


class Struck(NamedTuple):
    """The velocities after impacts, which contacts took part, and a code of `Result`."""

    velocities: Rows
    struck: Bool[np.ndarray, " contacts"]
    code: int


class Impacts(NamedTuple):
    """The law of impact of a world; `allowed` is P for all vertices at once, None where there are no rods."""

    geometry: Flight
    masses: Float[np.ndarray, " vertices"]
    restitution: float
    allowed: Callable[[Rows], Rows] | None

    def bounced(
        self,
        x: Rows,
        u: Rows,
        pairs: Int[np.ndarray, "contacts 2"],
        groups: Int[np.ndarray, " contacts"],
        group_of: Int[np.ndarray, " vertices"],
    ) -> Struck:
        """What contacts that are closed do to velocities; `groups` are numbered from zero, and their clusters have no
        vertex in common: `group_of` says which vertices belong to each, -1 for those of none."""
        i, j = pairs.T
        there, back = self.geometry.normals(Pair(x[i], u[i], x[j], u[j], np.zeros(len(i))))

        def opening(w: Rows) -> PerContact:
            return -(self.geometry.inner(w[i], there) + self.geometry.inner(w[j], back))

        place = _places(groups)
        across: list[Rows] = []
        for slot in range(int(place.max()) + 1):
            some = place == slot
            way = np.zeros_like(x)
            way[i[some]] -= there[some] / self.masses[i[some], None]
            way[j[some]] -= back[some] / self.masses[j[some], None]
            across.append(way if self.allowed is None else self.allowed(way))
        effects = np.stack([opening(way) for way in across], axis=1)
        # what rods leave of a normal that they span is rounding: such balls cannot move towards each other
        able = effects[np.arange(len(i)), place] > RANK**2 * (1.0 / self.masses[i] + 1.0 / self.masses[j])
        speeds = self._speeds(x, u, group_of, groups)
        impulses, code = self._impulses(opening(u), np.where(able[:, None], effects, 0.0), groups, place, speeds)
        by_group = np.zeros((int(groups.max()) + 2, len(across)))  # the last row is that of vertices of no group
        by_group[groups, place] = impulses
        for slot, way in enumerate(across):
            u = u + by_group[group_of, slot][:, None] * way
        moved = group_of >= 0
        u = np.where(moved[:, None], self.geometry.on(x, u)[1], u)
        return Struck(u, impulses > 0, code)

    def _impulses(
        self, rates: PerContact, effects: np.ndarray, groups: np.ndarray, place: np.ndarray, speeds: np.ndarray
    ) -> tuple[PerContact, int]:
        """The impulses of all contacts, group by group where one has several."""
        own = effects[np.arange(len(rates)), place]
        hits = (rates < 0) & (own > 0)
        impulses = np.where(hits, -(1.0 + self.restitution) * rates / np.where(hits, own, 1.0), 0.0)
        code = int(Code.ok)
        for group in np.flatnonzero(np.bincount(groups) > 1):
            members = np.flatnonzero(groups == group)
            members = members[np.argsort(place[members])]
            gram = effects[members][:, : len(members)]
            gram = np.where(np.diagonal(gram)[None] > 0, gram, 0.0)
            impulses[members], solved = _several(gram, rates[members], self.restitution, speeds[group])
            code = code if solved else int(Code.crowded)
        return impulses, code

    def _speeds(self, x: Rows, u: Rows, group_of: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """The sizes of the velocities of all vertices of a group, in the kinetic metric."""
        moved = group_of >= 0
        energies = self.masses[moved] * self.geometry.speeds(x[moved], u[moved]) ** 2
        return np.sqrt(np.bincount(group_of[moved], energies, minlength=int(groups.max()) + 1))


def _places(groups: Int[np.ndarray, " contacts"]) -> Int[np.ndarray, " contacts"]:
    """The number of each contact within its group."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    begins = np.cumsum(counts) - counts
    found = np.empty(len(groups), int)
    found[order] = np.arange(len(groups)) - begins[groups[order]]
    return found


def _several(gram: np.ndarray, rates: PerContact, restitution: float, speed: float) -> tuple[PerContact, bool]:
    """The impulses of contacts that act on each other, and whether they were found."""
    count = len(rates)
    size = 1 << (count - 1).bit_length()  # few sizes, so that few are compiled
    more = size - count
    gram, rates = np.pad(0.5 * (gram + gram.T), (0, more)), np.pad(rates, (0, more))
    impulses, code = _law(gram, rates, np.arange(size) < count, np.full(size, restitution), np.float64(speed))
    return np.asarray(impulses)[:count], int(code) == SOLVED


@jax.jit
def _law(gram: Any, rates: Any, closed: Any, restitution: Any, speed: Any) -> tuple[Any, Any]:
    found = impact(Delassus(jnp.zeros((1, rates.shape[0])), gram), rates, closed, restitution, speed)
    return found.impulses, found.code
