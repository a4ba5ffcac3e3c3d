"""Four hundred runs that are wrong in some way, and four hundred that are right, with how many each family has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from tests.motion.run.adversarial import catalogue, endurance, hidden, honest, oscillations, shaped, traps, unseen
from tests.motion.run.adversarial.case import Case

Family = Callable[[np.random.Generator, int], Iterator[Case]]

ADVERSARIAL: Mapping[Family, int] = {
    oscillations.long_steps: 20,
    oscillations.wrong_phase: 24,
    oscillations.losses: 18,
    oscillations.moved_origin: 6,
    oscillations.late_start: 4,
    oscillations.few_steps: 12,
    oscillations.backwards: 6,
    oscillations.seldom_saved: 12,
    oscillations.kept_in_files: 18,
    oscillations.driven_and_damped: 18,
    oscillations.loose_tolerance: 8,
    oscillations.batches: 20,
    hidden.spectators: 16,
    hidden.other_units: 12,
    hidden.boosts: 16,
    hidden.late_stiffness: 20,
    hidden.kicks: 10,
    hidden.cushions: 8,
    hidden.barriers: 10,
    hidden.walls: 20,
    hidden.unstable_beside_a_wall: 8,
    hidden.saddles: 6,
    shaped.swings: 12,
    shaped.planets: 12,
    shaped.held: 8,
    shaped.chaos: 3,
    shaped.bodies: 6,
    shaped.watched: 6,
    shaped.other_engine: 3,
    shaped.many: 6,
    unseen.in_time: 8,
    unseen.thin_walls: 4,
    unseen.past_poles: 3,
    unseen.rests: 6,
    unseen.far_angles: 3,
    unseen.found_steps: 3,
    unseen.batches_with_walls: 6,
    unseen.transformed: 2,
    unseen.passing: 4,
    endurance.short_trouble: 8,
    endurance.short_cushion: 3,
    endurance.gates: 3,
    endurance.tops: 6,
    endurance.rods: 4,
    endurance.far_balls: 3,
    endurance.restless: 6,
}

HONEST_RUNS: Mapping[Family, int] = {
    honest.springs: 40,
    honest.by_itself: 20,
    honest.in_files: 20,
    honest.batches: 30,
    honest.driven: 30,
    honest.stiff: 8,
    honest.still: 20,
    honest.together: 40,
    honest.sudden: 24,
    honest.bounces: 30,
    honest.swings: 24,
    honest.planets: 16,
    honest.held: 14,
    honest.others: 20,
    honest.contacts: 6,
    honest.long: 6,
    catalogue.models: 10,
    traps.at_rest: 15,
    traps.ends: 15,
    traps.ways: 12,
    traps.parts: 15,
}


def cases(families: Mapping[Family, int], seed: int, count: int | None = None) -> Iterator[Case]:
    """The runs of the families; with a `count`, at most so many of each."""
    for family, most in families.items():
        random = np.random.default_rng([seed, most])
        yield from family(random, most if count is None else min(count, most))
