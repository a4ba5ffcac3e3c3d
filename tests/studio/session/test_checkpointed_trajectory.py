"""An trajectory gives back any of its states bit for bit, from bounded memory."""

import pytest

from holonomy.studio.session.checkpointed_trajectory import CheckpointedTrajectory


class Doubling:
    """The map k → 2k mod p, which forgets nothing, and how often it was applied."""

    taken = 0

    def advance(self, state, steps):
        self.taken += steps
        return state * pow(2, steps, PRIME) % PRIME


PRIME = 1_000_003


def orbit_of(**settings):
    motion = Doubling()
    return CheckpointedTrajectory(motion, 1, **settings), motion, 1


def test_states_come_back_exactly_however_they_were_reached():
    trajectory, motion, start = orbit_of(spacing=16, most_kept=4)
    index, state, seen = 0, start, {0: start}
    for stride in (1, 7, 16, 3, 40, 5, 64, 100, 2, 31):
        state = trajectory.advance(index, state, stride)
        index += stride
        seen[index] = state
    for k, was in seen.items():
        assert trajectory.at(k) == was
        assert motion.advance(start, k) == was


def test_memory_is_bounded_and_the_start_stays_within_reach():
    trajectory, motion, start = orbit_of(spacing=4, most_kept=8)
    trajectory.advance(0, start, 1000)
    assert trajectory.kept <= 8
    taken = motion.taken
    assert trajectory.at(0) == start
    assert motion.taken == taken
    trajectory.thin(2)
    assert trajectory.kept <= 2
    assert trajectory.at(999) == motion.advance(start, 999)


def test_kept_states_are_used_rather_than_computed_again():
    trajectory, motion, start = orbit_of(spacing=100, most_kept=64)
    trajectory.advance(0, start, 1000)
    taken = motion.taken
    trajectory.at(950)
    assert motion.taken - taken == 50


def test_a_state_not_yet_reached_is_computed_from_the_last_kept_one():
    trajectory, motion, start = orbit_of(spacing=10)
    assert trajectory.at(25) == motion.advance(start, 25)
    with pytest.raises(ValueError, match="starts at 0"):
        trajectory.at(-1)
