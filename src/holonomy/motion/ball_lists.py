"""Lists of the pairs of balls that may touch in the next steps, for bodies that collide.

Every cluster of joined vertices has a reach of its own, a few steps of its fastest ball: its balls stay this near to
the places where they were when the cluster was listed. All pairs are listed whose places are no further apart than
their radii and reaches, so that no others can touch. A cluster that has used up its reach is listed anew, alone where
it is one of a few. With one reach for all, that of the fastest ball, one fast ball among slow ones would list most
pairs.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.systems.bodies.ball_flight import Flight, not_joined, reaching, spread_of
from holonomy.systems.bodies.body import Elements

Rows = Float[np.ndarray, "vertices point"]
Pairs = Int[np.ndarray, "pairs 2"]
OfClusters = Float[np.ndarray, " clusters"]

_LISTED = 10  # neighbours of a ball, about, within twice the least reach
_NARROW = 0.25  # the least reach, in radii of the largest ball
_RESERVE = 2.0  # steps of a cluster's fastest ball that its reach must go further
_LASTS = 6.0  # such steps that a new reach has
_FEW = 32  # balls that are compared with all others, without a tree


class BallLists:
    """The list of one run. Lengths are in units of the radius of the space."""

    def __init__(
        self,
        geometry: Flight,
        radii: Float[np.ndarray, " vertices"],
        clusters: Int[np.ndarray, " vertices"],
        rods: Elements | None,
    ):
        self.geometry, self.radii, self.clusters, self.rods = geometry, radii, clusters, rods
        self.hits = np.flatnonzero(radii > 0)
        self.pairs, self.sizes = np.zeros((0, 2), int), np.zeros(0)
        count = int(clusters.max()) + 1
        self.least, self.reach, self.left = 0.0, np.zeros(count), np.full(count, -1.0)
        self.places, self.frame = np.zeros((len(radii), 0)), np.zeros(0)

    def fastest(self, speeds: Float[np.ndarray, " vertices"]) -> OfClusters:
        """The largest speed of a ball of each cluster."""
        found = np.zeros(len(self.left))
        np.maximum.at(found, self.clusters[self.hits], speeds[self.hits])
        return found

    def seen_in(self, frame: Float[np.ndarray, " frame"]) -> None:
        """Forget all places where points are written in another frame than those of the list."""
        if not np.array_equal(frame, self.frame):
            self.frame = frame.copy()
            self.left[:] = -1.0

    def complete(self, x: Rows, ways: OfClusters, part: OfClusters) -> Bool[np.ndarray, " pairs"] | None:
        """Make the list complete for the rest of a step, and say which pairs stay in it: the others go, and new pairs
        follow at its end. None where the list stays as it is.

        `x` are points at the beginning of what is left of the step, `ways` the lengths of the ways of the clusters in a
        whole step, `part` which part of it is left, zero for clusters that were counted before.
        """
        self.left -= part * ways
        late = self.left < _RESERVE * ways
        if not np.any(late) or not np.all(np.isfinite(x)):
            return None
        few = not np.all(late) and int(np.sum(late[self.clusters[self.hits]])) <= _FEW
        if not few:
            late[:] = True
            widest = float(np.max(self.radii, initial=0.0))
            spread = spread_of(self.geometry, x[self.hits], _LISTED)
            self.least, self.places = max(0.5 * spread - widest, _NARROW * widest), x.copy()
        self.reach[late] = np.maximum(self.least, _LASTS * ways[late])
        self.left[late] = self.reach[late] - (part * ways)[late]
        kept = ~np.any(late[self.clusters[self.pairs]], axis=1)
        new = not_joined(self._of_few(x, late) if few else self._of_all(), self.rods)
        self.pairs = np.concatenate([self.pairs[kept], new])
        sizes = np.asarray(self.geometry.chord(self.radii[new].sum(axis=1)))
        self.sizes = np.concatenate([self.sizes[kept], sizes])
        return kept

    def _of_all(self) -> Pairs:
        """The pairs of all balls."""
        hits = self.hits
        if len(hits) < 2:
            return np.zeros((0, 2), int)
        return hits[reaching(self.geometry, self.places[hits], self.radii[hits] + self.reach[self.clusters[hits]])]

    def _of_few(self, x: Rows, late: Bool[np.ndarray, " clusters"]) -> Pairs:
        """The pairs with a ball of a few clusters, listed at their new places."""
        mine = late[self.clusters]
        self.places[mine] = x[mine]
        some = self.hits[mine[self.hits]]
        first, second = np.repeat(some, len(self.hits)), np.tile(self.hits, len(some))
        once = (first < second) | ~mine[second]  # a pair of two of them is met twice, and a ball with itself
        first, second = first[once & (first != second)], second[once & (first != second)]
        reach = self.radii[first] + self.reach[self.clusters[first]]
        reach += self.radii[second] + self.reach[self.clusters[second]]
        near = self.geometry.within(self.places[first], self.places[second], reach)
        return np.stack([first[near], second[near]], axis=1)
