"""The newest wins: a slow page gets fewer frames, never old ones, and loses no curve."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from holonomy.studio.server.outbox import MOST_IN_FLIGHT, UNATTENDED, ConnectionTakenOver, Outbox
from holonomy.studio.session.samples import MOST_SAMPLES
from holonomy.viewer.protocol import messages


def with_outbox(scenario):
    async def main():
        return await scenario(Outbox(asyncio.get_running_loop()))

    return asyncio.run(main())


def test_only_the_newest_frame_waits_and_takes_over_the_rows_of_the_others(simulation):
    simulation.frame(0)

    async def scenario(outbox):
        for sequence in range(1, 5):
            simulation.advance(16)
            outbox.show(simulation.frame(sequence))
        return messages.unpack(await outbox.next())

    frame = with_outbox(scenario)
    assert frame.sequence == 4
    np.testing.assert_allclose(frame.sample[:, 0], np.arange(1, 5) / 60)


def test_rows_that_wait_are_bounded(simulation):
    plain = simulation.frame(1)

    async def scenario(outbox):
        for sequence in range(1, 4):
            outbox.show(replace(plain, sequence=sequence, sample=np.full((MOST_SAMPLES - 10, 6), float(sequence))))
        return messages.unpack(await outbox.next())

    sample = with_outbox(scenario).sample
    assert len(sample) == MOST_SAMPLES
    assert sample[-1, 0] == 3.0


def test_few_frames_are_on_the_way_and_seeing_one_lets_the_next_go(simulation):
    plain = simulation.frame(0)

    async def scenario(outbox):
        sent = []
        for sequence in range(1, MOST_IN_FLIGHT + 3):
            outbox.show(replace(plain, sequence=sequence))
            if sequence <= MOST_IN_FLIGHT:
                sent.append(messages.unpack(await outbox.next()).sequence)
        waiting = asyncio.ensure_future(outbox.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.seen(1)
        sent.append(messages.unpack(await waiting).sequence)
        return sent

    assert with_outbox(scenario) == [*range(1, MOST_IN_FLIGHT + 1), MOST_IN_FLIGHT + 2]


def test_a_page_that_takes_no_frames_is_unattended_until_it_does(simulation, monkeypatch):
    plain, now = simulation.frame(0), [100.0]
    monkeypatch.setattr("holonomy.studio.server.outbox.time.monotonic", lambda: now[0])

    async def scenario(outbox):
        for sequence in range(1, MOST_IN_FLIGHT + 2):
            outbox.show(replace(plain, sequence=sequence))
            if sequence <= MOST_IN_FLIGHT:
                await outbox.next()
        found = [outbox.unattended]
        now[0] += UNATTENDED + 1.0
        found.append(outbox.unattended)
        outbox.seen(1)
        return [*found, outbox.unattended]

    assert with_outbox(scenario) == [False, True, False]


def test_notices_pass_frames_and_only_the_last_controls_are_sent(simulation):

    async def scenario(outbox):
        outbox.show(simulation.frame(1))
        outbox.say(simulation.controls())
        simulation.apply(messages.SetSpeed(5.0))
        outbox.say(simulation.controls())
        outbox.say(messages.Refused("first", ""))
        outbox.say(messages.Refused("second", "play"))
        texts = [json.loads(await outbox.next()) for _ in range(3)]
        return texts, await outbox.next()

    (controls, first, second), frame = with_outbox(scenario)
    assert controls["speed"] == 5.0
    assert (first["message"], second["message"]) == ("first", "second")
    assert messages.unpack(frame).sequence == 1


def test_controls_that_say_nothing_new_are_not_sent_again(simulation):

    async def scenario(outbox):
        outbox.say(simulation.controls())
        first = await outbox.next()
        outbox.say(simulation.controls())
        outbox.say(messages.Refused("next", ""))
        return first, await outbox.next()

    first, second = with_outbox(scenario)
    assert '"controls"' in first
    assert '"refused"' in second


def test_a_closed_loop_does_not_stop_the_simulation(simulation):
    async def scenario(outbox):
        return outbox

    outbox = with_outbox(scenario)
    outbox.show(simulation.frame(1))
    outbox.say(messages.Refused("no one hears this", ""))


def test_a_new_structure_voids_the_frame_that_waits_and_its_rows(simulation):
    plain = simulation.frame(1)

    async def scenario(outbox):
        outbox.show(plain)
        outbox.say(messages.Lab(simulation.view))
        wider = replace(plain, sequence=2, revision=2, sample=np.zeros((1, 99)))
        outbox.show(wider)
        return json.loads(await outbox.next()), messages.unpack(await outbox.next())

    notice, frame = with_outbox(scenario)
    assert notice["type"] == "lab"
    assert (frame.revision, frame.sample.shape) == (2, (1, 99))


def test_an_outbox_that_has_ended_says_why(simulation):
    async def scenario(outbox):
        outbox.show(simulation.frame(1))
        outbox.end("another window")
        with pytest.raises(ConnectionTakenOver, match="another window"):
            await outbox.next()

    with_outbox(scenario)
