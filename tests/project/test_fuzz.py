"""Inputs that `make fuzz` found to fail once, and a few of each kind."""

import json
import random

import pytest
from tests import fuzz

from holonomy.scene import loads


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_kept_seeds_give_a_value_or_a_sentence(kind: str) -> None:
    outcomes = {fuzz.tried(kind, seed) for seed in json.loads(fuzz.SEEDS.read_text())[kind]}
    outcomes |= {fuzz.tried(kind, seed) for seed in range(1000, 1100)}
    assert outcomes >= {"sentence"}
    assert outcomes - {"sentence"}, "some are good"


def test_a_failure_is_reported_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(chance: random.Random) -> str:
        raise KeyError("theta")

    monkeypatch.setitem(fuzz.KINDS, "broken", broken)
    outcomes, failures = fuzz.many("broken", 7, 60.0)
    assert not outcomes
    assert failures[0] == ["broken", 7, "KeyError: 'theta'"]


def test_the_examples_from_which_scenes_are_made_are_scenes() -> None:
    assert len(fuzz.EXAMPLES) > 5
    for text in fuzz.EXAMPLES:
        loads(text)
