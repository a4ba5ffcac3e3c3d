"""Steps follow the clock as far as there is time for them."""

import pytest

from holonomy.studio.session.clock import TICK, Clock

DT = 1 / 960


@pytest.mark.parametrize("speed", [0.01, 0.1, 1.0, 3.7, 10.0])
def test_over_many_ticks_the_steps_are_those_of_the_clock(speed):
    pacer, total = Clock(DT), 0
    for _ in range(600):
        steps = pacer.steps(TICK, speed)
        pacer.spent(steps, steps * 1e-6)
        total += steps
    assert abs(total - 600 * TICK * speed / DT) <= 1
    assert not pacer.behind
    assert pacer.rate == pytest.approx(speed)


def test_costly_steps_are_dropped_and_said_to_be():
    pacer, cost, steps = Clock(DT), 2e-3, 0  # a tick asks for 16 steps, and there is time for five
    for _ in range(100):
        steps = pacer.steps(TICK, 1.0)
        pacer.spent(steps, steps * cost)
    assert steps == 5
    assert pacer.behind
    assert pacer.rate == pytest.approx(5 / 16, rel=0.01)


def test_even_the_costliest_motion_moves():
    pacer = Clock(DT)
    for _ in range(50):
        pacer.spent(1, 1.0)
    assert pacer.steps(TICK, 1.0) == 1


def test_a_single_late_tick_is_neither_made_up_for_nor_reported():
    pacer = Clock(DT)
    for _ in range(30):
        pacer.spent(pacer.steps(TICK, 1.0), 1e-4)
    assert pacer.steps(1.2 * TICK, 1.0) == 19
    assert not pacer.behind
    assert pacer.steps(100.0, 1.0) == 64, "after the machine slept, time goes on rather than races"


def test_a_longer_step_is_taken_less_often():
    pacer = Clock(DT)
    assert pacer.steps(TICK, 1.0) == 16
    pacer.follow(1 / 60)
    assert [pacer.steps(TICK, 1.0) for _ in range(3)] == [1, 1, 1]


def test_rest_forgets():
    pacer = Clock(DT)
    pacer.spent(1, 1.0)
    for _ in range(10):
        pacer.steps(TICK, 1.0)
    assert pacer.behind
    pacer.rest()
    assert not pacer.behind
    assert pacer.rate == 0.0
