"""The studio against what pages do to it over days: thousands of visits, nonsense, a crowd."""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import encode

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

PATIENCE = 120.0
MESSAGES = 10_000
VISITS = 1000
CROWD = 30


@dataclass
class Server:
    """A studio in a process of its own, as users start it."""

    process: subprocess.Popen[str]
    host: str
    token: str

    def connect(self) -> ClientConnection:
        return connect(f"ws://{self.host}/live?token={self.token}", compression=None, max_size=None)

    @property
    def load(self) -> dict[str, int]:
        root = Path("/proc") / str(self.process.pid)
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines())
        files = len(list((root / "fd").iterdir()))
        return {"kB": int(status["VmRSS"].split()[0]), "threads": int(status["Threads"]), "files": files}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("studio")
    complaints = folder / "stderr.txt"
    with complaints.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "holonomy.studio", "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "HOLONOMY_CACHE": str(folder / "cache"), "PYTHONUNBUFFERED": "1"},
            text=True,
        )
    assert process.stdout is not None
    found = re.search(r"http://(\S+?)/\?token=(\S+)", process.stdout.readline())
    assert found
    yield Server(process, *found.groups())
    assert process.poll() is None, "the server has lived through all of it"
    process.terminate()
    process.wait(60)
    process.stdout.close()
    assert "Traceback" not in complaints.read_text()


class Page:
    """What the real page does: reads everything, says what it has seen."""

    def __init__(self, socket: ClientConnection):
        self.socket = socket

    def send(self, command: messages.Command) -> None:
        self.socket.send(encode(command))

    def next(self) -> Any:
        message = self.socket.recv(timeout=PATIENCE)
        if isinstance(message, str):
            return json.loads(message)
        frame = messages.unpack(message)
        self.send(messages.Seen(frame.sequence))
        return frame

    def frame(self, condition=lambda frame: True) -> messages.Frame:
        while True:
            message = self.next()
            if isinstance(message, messages.Frame) and condition(message):
                return message


def visited(server: Server, times: int) -> None:
    for k in range(times):
        with server.connect() as socket:
            page = Page(socket)
            page.frame()
            if k % 10 == 0:
                page.send(messages.Play())
                page.frame(lambda frame: frame.time > 0)


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads and files in /proc")
def test_a_thousand_visits_leave_nothing_behind(server):
    visited(server, VISITS)  # the allocator's own arenas fill
    before = server.load
    visited(server, VISITS)
    after = server.load
    assert after["threads"] <= before["threads"] + 2
    assert after["files"] <= before["files"] + 2
    assert after["kB"] - before["kB"] < 8 * 1024, "a state kept for each visit would be 20 times that"


# ── Nonsense ──────────────────────────────────────────────────────────────────────────────────────

VALID: list[messages.Command] = [
    messages.Play(),
    messages.Pause(),
    messages.Step(3, False),
    messages.Step(-600, True),
    messages.Seek(0.5, False),
    messages.Seek(-1e9, True),
    messages.DragBegin(1),
    messages.DragBegin(65535),
    messages.DragMove(0.3, -1.0, 0.0),
    messages.DragMove(1e6, -1e6, 1e6),
    messages.DragEnd(1.0, 1.0, 1.0),
    messages.SetParameter("gravity", 0.0, False),
    messages.SetParameter("gravity", 1e12, True),
    messages.SetParameter("links", 1.0, True),
    messages.SetParameter("links", 3.0, False),
    messages.SetParameter("links", -1, True),
    messages.SetParameter("length1", 0.1, True),
    messages.SetParameter("mass2", 9, True),
    messages.SetParameter("damping", 2, True),
    messages.SetParameter("stiffness", 10.0, True),
    messages.SetParameter("ghost_offset", 0.5, True),
    messages.SetParameter("links\x00", 2.0, True),
    messages.SetChoice("model", "elastic"),
    messages.SetChoice("model", "rigid"),
    messages.SetChoice("method", "euler"),
    messages.SetChoice("step", "60"),
    messages.SetChoice("method", "∞"),
    messages.SetToggle("ghost", True),
    messages.SetToggle("ghost", False),
    messages.Act("ghost"),
    messages.Act(""),
    messages.SetSpeed(10.0),
    messages.SetSpeed(0.1),
    messages.Reset(True),
    messages.Reset(False),
    messages.Undo(),
    messages.Redo(),
    messages.Share(),
    messages.Restore("{}"),
    messages.Restore('{"version":1}'),
    messages.Export("python"),
    messages.Export("csv"),
    messages.Seen(0),
    messages.Seen(2**32 - 1),
]


def mangled(text: str, chance: random.Random) -> str | bytes:
    """The text with something wrong about it, most of the time."""
    kind = chance.randrange(8)
    if kind == 0:
        at = chance.randrange(len(text))
        return text[:at] + chr(chance.randrange(1, 0x800)) + text[at + 1 :]
    if kind == 1:
        return text[: chance.randrange(len(text))]
    if kind == 2:
        return text.replace("e", "1e999", 1)
    if kind == 3:
        return chance.randbytes(chance.randrange(64))
    if kind == 4:
        return "[" * chance.randrange(1, 3000) + text
    if kind == 5:
        return re.sub(r"-?\d+(\.\d+)?", lambda _: chance.choice(["null", "true", '"7"', "-0.0", "1e308", "{}"]), text)
    return text


def test_ten_thousand_messages_of_nonsense_are_refused_or_close_and_never_crash(server):
    chance = random.Random(7)
    sent, codes = 0, set()
    while sent < MESSAGES:
        with server.connect() as socket:
            reader = threading.Thread(target=_drain, args=(socket,), daemon=True)
            reader.start()
            with contextlib.suppress(ConnectionClosed):
                for _ in range(chance.randrange(1, 40)):
                    socket.send(mangled(encode(chance.choice(VALID)), chance))
                    sent += 1
        reader.join(PATIENCE)
        assert not reader.is_alive()
        codes.add(socket.close_code)
    assert {1000, 1008} <= codes <= {1000, 1003, 1007, 1008, 1009}, "good byes, and closes for too much nonsense"
    assert server.process.poll() is None
    with server.connect() as socket:
        page = Page(socket)
        page.frame()
        page.send(messages.Play())
        page.frame(lambda frame: frame.time > 0.05)


def _drain(socket: ClientConnection) -> None:
    with contextlib.suppress(ConnectionClosed):
        while True:
            socket.recv()


# ── A crowd ───────────────────────────────────────────────────────────────────────────────────────


def test_a_crowd_moves_together_though_one_page_compiles_and_one_does_not_read(server):
    with contextlib.ExitStack() as stack:
        pages = [Page(stack.enter_context(server.connect())) for _ in range(CROWD)]
        for page in pages:
            page.frame()
            page.send(messages.Play())
        deaf, busy, *others = pages
        deaf.send(messages.SetSpeed(3.0))  # and reads no more
        for links in (11, 12, 13):
            busy.send(messages.SetParameter("links", float(links), True))
            moved = [page.frame(lambda frame: frame.time > 0.1) for page in others]
            assert all(frame.flags & messages.FrameFlag.PLAYING for frame in moved)
            there = busy.frame(lambda frame, links=links: len(frame.q) == links)
            assert there.time > 0
        for page in others:
            seen = page.frame()
            page.frame(lambda frame, seen=seen: frame.time > seen.time)
