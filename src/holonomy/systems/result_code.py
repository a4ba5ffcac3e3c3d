"""Result codes: how a step or a run ended, carried as integers through compiled loops."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """Why a run stopped; 0 is the good end."""

    ok = 0
    not_finite = 1
    no_convergence = 2
    too_many_steps = 3
    interrupted = 4
    rank_change = 5
    inconsistent = 6
    event = 7
    too_many_events = 8
    squeezed = 9
    no_contact = 10
    inaccurate = 11
    too_far = 12
    event_not_finite = 13
    event_jumps = 14
    crowded = 15
