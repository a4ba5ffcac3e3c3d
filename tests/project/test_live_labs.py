"""Every lab of the studio moves: the real server in a process of its own, compiled code, a WebSocket for each lab."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from holonomy.studio.labs import all_labs
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import encode

# The server compiles each lab's equations before the first frame, and other tests may be compiling at the same time.
PATIENCE = 240.0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a studio listens that was started as users start it, with nothing compiled beforehand."""
    folder = tmp_path_factory.mktemp("studio")
    errors = folder / "stderr.txt"
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "holonomy.studio", "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "HOLONOMY_CACHE": str(folder / "cache"), "PYTHONUNBUFFERED": "1"},
            text=True,
        )
    assert process.stdout is not None
    try:
        found = re.search(r"http://(\S+?)/\?token=(\S+)", process.stdout.readline())
        assert found, errors.read_text()
        yield "ws://{}/live?token={}".format(*found.groups())
        assert process.poll() is None, errors.read_text()
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
    assert "Traceback" not in errors.read_text()


def read(socket: ClientConnection) -> Any:
    """The next message: a frame, which is acknowledged as the page does, or a notice as a dictionary."""
    message = socket.recv(timeout=PATIENCE)
    if isinstance(message, str):
        return json.loads(message)
    frame = messages.unpack(message)
    socket.send(encode(messages.Seen(frame.sequence)))
    return frame


@pytest.mark.parametrize("lab", [lab.name for lab in all_labs()])
def test_a_lab_moves_by_native_code(address: str, lab: str) -> None:
    with connect(f"{address}&lab={lab}", compression=None, max_size=None) as socket:
        welcome = read(socket)
        assert (welcome["type"], welcome["lab"]["name"]) == ("welcome", lab)
        notice: Any = welcome
        while notice.get("phase") != "ready":  # frames of the opening pose may come meanwhile
            notice = {} if isinstance(message := read(socket), messages.Frame) else message
            assert notice.get("phase") != "failed", notice
        assert notice["certificate"]["engine"].startswith("native"), notice["certificate"]
        while not isinstance(first := read(socket), messages.Frame):
            pass
        socket.send(encode(messages.Play()))
        while not (isinstance(later := read(socket), messages.Frame) and later.time > first.time + 0.5):
            pass
    assert np.all(np.isfinite(later.q))
    assert np.max(np.abs(later.q - first.q)) > 1e-3, "the lab's initial motion is not at rest"


def test_there_is_a_lab_for_pendulums_and_one_for_linkages() -> None:
    assert {"pendulum", "linkage"} <= {lab.name for lab in all_labs()}
