"""The newest wins: a slow page gets fewer frames, never old ones, and loses no curve."""

import asyncio
import json
from dataclasses import replace

import numpy as np

from holonomy.studio import wire
from holonomy.studio.outbox import MOST_IN_FLIGHT, Outbox
from holonomy.studio.simulation import MOST_SAMPLES, Simulation


def with_outbox(scenario):
    async def main():
        return await scenario(Outbox(asyncio.get_running_loop()))

    return asyncio.run(main())


def test_only_the_newest_frame_waits_and_takes_over_the_rows_of_the_others(lab):
    simulation = Simulation(lab)
    simulation.frame(0)

    async def scenario(outbox):
        for sequence in range(1, 5):
            simulation.advance(16)
            outbox.show(simulation.frame(sequence))
        return wire.unpack(await outbox.next())

    frame = with_outbox(scenario)
    assert frame.sequence == 4
    np.testing.assert_allclose(frame.sample[:, 0], np.arange(1, 5) / 60)


def test_rows_that_wait_are_bounded(lab):
    plain = Simulation(lab).frame(1)

    async def scenario(outbox):
        for sequence in range(1, 4):
            outbox.show(replace(plain, sequence=sequence, sample=np.full((MOST_SAMPLES - 10, 6), float(sequence))))
        return wire.unpack(await outbox.next())

    sample = with_outbox(scenario).sample
    assert len(sample) == MOST_SAMPLES
    assert sample[-1, 0] == 3.0


def test_few_frames_are_on_the_way_and_seeing_one_lets_the_next_go(lab):
    plain = Simulation(lab).frame(0)

    async def scenario(outbox):
        sent = []
        for sequence in range(1, MOST_IN_FLIGHT + 3):
            outbox.show(replace(plain, sequence=sequence))
            if sequence <= MOST_IN_FLIGHT:
                sent.append(wire.unpack(await outbox.next()).sequence)
        waiting = asyncio.ensure_future(outbox.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.seen(1)
        sent.append(wire.unpack(await waiting).sequence)
        return sent

    assert with_outbox(scenario) == [*range(1, MOST_IN_FLIGHT + 1), MOST_IN_FLIGHT + 2]


def test_notices_pass_frames_and_only_the_last_controls_are_sent(lab):
    simulation = Simulation(lab)

    async def scenario(outbox):
        outbox.show(simulation.frame(1))
        outbox.say(simulation.controls())
        simulation.apply(wire.SetSpeed(5.0))
        outbox.say(simulation.controls())
        outbox.say(wire.Refused("first"))
        outbox.say(wire.Refused("second"))
        texts = [json.loads(await outbox.next()) for _ in range(3)]
        return texts, await outbox.next()

    (controls, first, second), frame = with_outbox(scenario)
    assert controls["speed"] == 5.0
    assert (first["message"], second["message"]) == ("first", "second")
    assert wire.unpack(frame).sequence == 1


def test_controls_that_say_nothing_new_are_not_sent_again(lab):
    simulation = Simulation(lab)

    async def scenario(outbox):
        outbox.say(simulation.controls())
        first = await outbox.next()
        outbox.say(simulation.controls())
        outbox.say(wire.Refused("next"))
        return first, await outbox.next()

    first, second = with_outbox(scenario)
    assert '"controls"' in first
    assert '"refused"' in second


def test_a_closed_loop_does_not_stop_the_simulation(lab):
    async def scenario(outbox):
        return outbox

    outbox = with_outbox(scenario)
    outbox.show(Simulation(lab).frame(1))
    outbox.say(wire.Refused("no one hears this"))
