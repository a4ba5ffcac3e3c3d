"""The studio as a process: strangers who connect and say nothing, too few descriptors, and how it ends."""

import contextlib
import errno
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from websockets.sync.client import connect

from holonomy.studio.server import serve
from holonomy.studio.server.access import ServerIdentity
from holonomy.studio.server.connections import MOST_STRANGERS, SECONDS, Listener

PATIENCE = 60.0
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({most}, {most}))
from holonomy.studio import serve
serve(port=0, open_browser=False)
"""


class Process:
    """A studio in a process of its own."""

    def __init__(self, folder: Path, most: int = 1024):
        self.errors = folder / "stderr.txt"
        with self.errors.open("wb") as errors:
            self.popen = subprocess.Popen(
                [sys.executable, "-c", LIMITED.format(most=most)],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "HOLONOMY_CACHE": str(folder / "cache")},
            )
        assert self.popen.stdout is not None
        told = self.popen.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", told)
        assert found, (told, self.said())
        self.port, self.token = int(found[1]), found[2]

    def said(self) -> str:
        return self.errors.read_text()

    def answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", "/door", headers={"Authorization": f"Bearer {self.token}"})
            return connection.getresponse().status == 204
        finally:
            connection.close()

    def workers(self) -> list[int]:
        """The processes that it has started."""
        return [pid for pid, parent in processes() if parent == self.popen.pid]


def processes() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    yield int(folder.name), int(parent)


def threads(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    return 0


def eventually(condition):
    """What the condition gives once it is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def started(folder: Path, most: int = 1024) -> Generator[Process]:
    made = Process(folder, most)
    try:
        yield made
    finally:
        made.popen.kill()
        made.popen.wait()
        assert made.popen.stdout is not None
        made.popen.stdout.close()


def idle(port: int, number: int, stack: contextlib.ExitStack) -> list[socket.socket]:
    return [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(number)]


@LINUX
def test_idle_strangers_keep_nobody_out_and_sigterm_ends_everything(tmp_path):
    with started(tmp_path, most=128) as studio, contextlib.ExitStack() as stack:
        strangers = idle(studio.port, 200, stack)
        assert studio.answers()
        for stranger in strangers[: 200 - MOST_STRANGERS]:  # made room for those who came later
            assert stranger.recv(1) == b""
        address = f"ws://127.0.0.1:{studio.port}/live?token={studio.token}"
        page = stack.enter_context(connect(address, open_timeout=PATIENCE))
        assert '"welcome"' in str(page.recv(PATIENCE))
        studio.popen.send_signal(signal.SIGSTOP)
        idle(studio.port, 200, stack)  # all at once, when it goes on
        studio.popen.send_signal(signal.SIGCONT)
        assert studio.answers()
        assert page.ping().wait(PATIENCE)
        workers = eventually(studio.workers)
        studio.popen.send_signal(signal.SIGTERM)
        assert studio.popen.wait(PATIENCE) == 0
        eventually(lambda: not set(workers) & {pid for pid, _ in processes()})
        assert studio.said() == ""


@LINUX
def test_no_worker_outlives_a_studio_that_is_killed(tmp_path):
    """Neither one that compiles nor one that has been stopped."""
    with started(tmp_path) as studio:
        workers = eventually(lambda: [pid for pid in studio.workers() if threads(pid) > 1])  # ready for jobs
        os.kill(workers[0], signal.SIGSTOP)
        studio.popen.kill()
        studio.popen.wait()
        eventually(lambda: not set(workers) & {pid for pid, _ in processes()})


def test_a_stranger_who_says_nothing_is_disconnected_after_a_while(studio):
    """And whoever showed the token is not, whatever address it names in its headers."""
    connections = studio.listener.connections
    eventually(lambda: connections.strangers == 0)  # those of earlier tests have gone
    address = ("127.0.0.1", studio.identity.port)
    with studio.connect(**{"x-forwarded-for": "10.0.0.1"}) as page:
        page.recv(timeout=PATIENCE)
        assert connections.strangers == 0, "its time is no longer limited"
        connections.seconds = 0.1
        try:
            with socket.create_connection(address, PATIENCE) as silent:
                silent.sendall(b"GET / HTTP/1.1\r\nHost: ")
                assert silent.recv(1) == b""
        finally:
            connections.seconds = SECONDS
        assert page.ping().wait(PATIENCE)


def test_without_descriptors_a_connection_is_closed_and_does_not_wait(monkeypatch):
    with Listener(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4)
        listener.setblocking(False)
        accept, calls = socket.socket.accept, []

        def exhausted(self):
            calls.append(self)
            if len(calls) == 1:
                raise OSError(errno.EMFILE, "Too many open files")
            return accept(self)

        monkeypatch.setattr(socket.socket, "accept", exhausted)
        with socket.create_connection(listener.getsockname(), PATIENCE) as turned_away:
            with pytest.raises(BlockingIOError):
                listener.accept()
            assert turned_away.recv(1) == b""
        assert len(calls) == 3


# ── Ports and the browser ─────────────────────────────────────────────────────────────────────────


def test_a_port_that_is_kept_for_the_system_is_a_sentence(monkeypatch):
    def forbidden(self, address):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", forbidden)
    with pytest.raises(ValueError, match=r"may not listen on port 80: .*pass --port 8765"):
        serve.bind("127.0.0.1", 80)


def test_all_ports_taken_is_a_sentence(monkeypatch):
    def taken(self, address):
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(socket.socket, "bind", taken)
    with pytest.raises(ValueError, match="Ports 65530 to 65535 are taken"):
        serve.bind("127.0.0.1", 65530)


def test_at_the_standard_port_hosts_are_named_without_it():
    """As browsers do; at any other port it must be there."""
    assert ServerIdentity(80).is_our_host("127.0.0.1")
    assert ServerIdentity(80).is_our_host("[::1]")
    assert ServerIdentity(80).is_our_host("localhost:80")
    assert not ServerIdentity(80).is_our_host("example.org")
    assert not ServerIdentity(8765).is_our_host("127.0.0.1")


def test_the_browser_gets_the_token_from_a_file_that_only_its_user_can_read(monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(serve, "_warm", lambda *given: None)
    seen = {}

    class Ended:
        def run(self, sockets):
            eventually(lambda: opened)
            page = Path(opened[0].removeprefix("file://"))
            seen["text"] = page.read_text()
            seen["modes"] = (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777)
            seen["page"] = page
            raise KeyboardInterrupt

    monkeypatch.setattr(serve, "server", lambda app: Ended())
    serve.serve("127.0.0.1", 0, True)
    assert "token" not in opened[0]
    assert re.search(r"url=http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", seen["text"])
    assert seen["modes"] == (0o600, 0o700)
    assert not seen["page"].exists(), "it goes with the studio"


def test_a_visit_from_the_private_file_is_led_on_by_a_page_of_our_own(studio):
    """A redirection would not bring the strict cookie along."""
    status, headers, body = studio.get(f"/?token={studio.identity.token}", **{"sec-fetch-site": "cross-site"})
    assert status == 200
    assert "samesite=strict" in headers["set-cookie"].lower()
    assert b"0;url=/" in body
    assert studio.identity.token.encode() not in body
