"""Stories: the files that ship, what is said about a wrong one, and how a simulation shows the steps."""

import numpy as np
import pytest

from holonomy.studio.labs import all_labs
from holonomy.studio.labs.settings import Refusal
from holonomy.studio.stories import StoryError, install, parsed
from holonomy.viewer.protocol import messages

LABS = {lab.name: lab for lab in all_labs()}
GOOD = """
lab = "pendulum"
title = "Two"
[[step]]
caption = "First"
preset = "moon"
play = true
[[step]]
caption = { en = "Second", de = "Zweitens" }
set = { ghost_offset = 0.1, ghost = true }
speed = 2
play = false
"""


@pytest.mark.parametrize("name", LABS)
def test_every_story_that_ships_is_told_in_both_languages(name):
    install(LABS.values())
    for story in LABS[name].stories.values():
        assert set(story.title) >= {"en", "de"}
        assert all(set(step.caption) >= {"en", "de"} for step in story.steps), story.name
        assert story.steps[0].restart


def test_settings_go_on_from_step_to_step_in_any_order():
    lab, story = parsed(GOOD, "two", LABS)
    assert lab is LABS["pendulum"]
    first, second = story.steps
    assert first.settings == lab.preset("moon")
    assert (first.restart, second.restart) == (True, False)
    assert second.settings.toggles["ghost"]
    assert second.settings.parameters["ghost_offset"] == 0.1
    assert second.settings.parameters["gravity"] == 1.62
    assert second.caption == {"en": "Second", "de": "Zweitens"}


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        ('lab = "pendulum"', 'lab = "pendulums"', "lab is 'pendulums'; write one of pendulum"),
        ('lab = "pendulum"', "lab = [", "is not TOML"),
        ('title = "Two"', "", "title is None; write a text"),
        ('title = "Two"', 'title = "Two"\nrun = "ls"', "has run; what can be written is lab, title, step"),
        ('preset = "moon"', 'preset = "sun"', "in step 1, preset is 'sun'; write one of double"),
        ("speed = 2", "speed = 99", "in step 2, speed is 99; write a number from 0.1 to 5"),
        ("play = false", 'play = "no"', "in step 2, play is 'no'; write true or false"),
        ("ghost_offset = 0.1", "offset = 0.1", "in step 2, set has offset, but the settings are links"),
        ("ghost_offset = 0.1", "ghost_offset = 9", "in step 2, Offset of the ghost must be between"),
        ("ghost_offset = 0.1", 'ghost_offset = "9"', "in step 2, ghost_offset is '9'; write a number"),
        ("ghost_offset = 0.1", 'method = "rk5"', "in step 2, Method is one of rk4"),
        ('de = "Zweitens"', "de = 2", "in step 2, caption has de = 2; write texts by language"),
        ('"First"', '"' + 700 * "x" + '"', "in step 1, caption has 700 characters; write at most 600"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(old, new, sentence):
    assert old in GOOD
    with pytest.raises(StoryError) as error:
        parsed(GOOD.replace(old, new), "two", LABS)
    assert sentence in str(error.value)


def test_a_file_that_cannot_be_used_is_named(tmp_path):
    path = tmp_path / "lesson.toml"
    path.write_text("lab = 1")
    with pytest.raises(StoryError, match=r"lesson.toml.*lab is 1"):
        install(LABS.values(), [path])
    with pytest.raises(StoryError, match=r"none.toml.*cannot be read"):
        install(LABS.values(), [tmp_path / "none.toml"])


def test_a_step_goes_on_from_the_one_before_it_and_starts_anew_from_elsewhere(simulation):
    lab = simulation.lab
    lab.stories = {"two": parsed(GOOD, "two", {lab.name: lab})[1]}
    simulation.apply(messages.Act("story:two:0"))
    assert simulation.playing
    simulation.advance(160)
    state = simulation.reading.q.tobytes()
    simulation.apply(messages.Act("story:two:1"))
    assert simulation.reading.q.tobytes() == state
    assert (simulation.playing, simulation.speed) == (False, 2.0)
    assert simulation.controls().toggles["ghost"]
    simulation.advance(16)
    simulation.apply(messages.Act("story:two:1"))
    assert simulation.reading.t == 0.0
    np.testing.assert_array_equal(simulation.reading.q, lab.start(simulation.moment.settings)[0])
    simulation.apply(messages.Undo())
    assert simulation.reading.t == 176 / 960
    for name in ("story:two:2", "story:two:-1", "story:two", "story:three:0"):
        with pytest.raises(Refusal, match="no such story"):
            simulation.apply(messages.Act(name))
