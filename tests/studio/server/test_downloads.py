"""Files, simulations and messages that wait: none of them for ever, none without a limit."""

import asyncio
import io
import logging
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holonomy.studio import limited_logging
from holonomy.studio.server.downloads import IN_MEMORY, MOST_FILES, Downloads, File
from holonomy.studio.server.sessions import Sessions
from holonomy.studio.session import session_thread

PATIENCE = 20.0


def file(data: bytes) -> File:
    return File.of([data], "name", "text/plain")


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def test_a_file_that_no_one_takes_goes_by_itself():
    downloads = Downloads(seconds=0.05)
    kept = file(b"data")
    key = downloads.put(kept)
    until(lambda: len(downloads) == 0)
    assert kept.content.closed
    assert downloads.take(key) is None
    later = downloads.put(file(b"more"))
    assert len(downloads) == 1 or downloads.take(later) is None
    until(lambda: len(downloads) == 0)


def test_a_file_larger_than_all_others_together_may_be_is_kept_on_disk_and_comes_whole():
    downloads = Downloads(most_bytes=2 * IN_MEMORY)
    small = [downloads.put(file(b"x" * 100)) for _ in range(MOST_FILES + 3)]
    assert len(downloads) == MOST_FILES
    pieces = [bytes([k]) * (IN_MEMORY // 2) for k in range(7)]
    large = downloads.put(File.of(iter(pieces), "large", "text/csv"))
    assert len(downloads) == 1, "the others made room"
    assert downloads.take(small[-1]) is None
    taken = downloads.take(large)
    assert taken is not None
    assert taken.size == 7 * (IN_MEMORY // 2)
    blocks = list(taken.blocks())
    assert max(map(len, blocks)) < IN_MEMORY
    assert b"".join(blocks) == b"".join(pieces)
    assert taken.content.closed
    downloads.stop()


def test_what_cannot_be_written_leaves_nothing_open():
    def pieces():
        yield b"begun"
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        File.of(pieces(), "name", "text/csv")


def test_a_simulation_whose_page_has_gone_ends_by_itself(lab, services, monkeypatch):
    ended = []
    monkeypatch.setattr(session_thread.SessionThread, "start", lambda self: None)
    monkeypatch.setattr(session_thread.SessionThread, "stop", lambda self: ended.append(self))

    async def visit():
        sessions = Sessions(services, seconds_left=0.05)
        outbox = cast(Any, SimpleNamespace())
        name, live, _, _ = sessions.join("", lab, outbox)
        sessions.leave(name, outbox)
        assert not ended
        end = time.monotonic() + PATIENCE
        while not ended and time.monotonic() < end:
            await asyncio.sleep(0.005)
        assert ended == [live]

    asyncio.run(visit())


def test_messages_on_the_terminal_are_limited_and_counted(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    stream = io.StringIO()
    handler = limited_logging.LimitedHandler(stream)
    logger = logging.getLogger("holonomy.test_limited")
    logger.addHandler(handler)
    logger.propagate = False
    for k in range(1000):
        logger.error("message %d", k)
    assert stream.getvalue().count("message") == limited_logging.MOST_RECORDS
    clock.now = limited_logging.MINUTE
    logger.error("x" * 10**6)
    logger.error("last")
    text = stream.getvalue()
    assert f"({1000 - limited_logging.MOST_RECORDS} more messages were left out.)" in text
    assert text.endswith("last\n")
    assert len(text) < 2 * limited_logging.LONGEST
    logger.removeHandler(handler)
    handler.close()
