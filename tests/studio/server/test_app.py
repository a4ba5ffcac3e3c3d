"""The server as a stranger and as its own page meet it, over real sockets."""

import contextlib
import json
import threading
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from holonomy.studio.server.app import MOST_MISTAKES
from holonomy.studio.server.sessions import MOST_CLIENTS, MOST_LEFT
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import LONGEST_MESSAGE, encode

PATIENCE = 20.0


class Page:
    """What the real page does: reads everything, says what it has seen."""

    def __init__(self, socket):
        self.socket = socket
        self.notices: list[dict] = []

    def send(self, command):
        self.socket.send(encode(command))

    def next(self) -> Any:
        message = self.socket.recv(timeout=PATIENCE)
        if isinstance(message, str):
            self.notices.append(json.loads(message))
            return self.notices[-1]
        frame = messages.unpack(message)
        self.send(messages.Seen(frame.sequence))
        return frame

    def until(self, condition) -> Any:
        while True:
            message = self.next()
            if condition(message):
                return message

    def frame(self, condition=lambda frame: True) -> messages.Frame:
        return self.until(lambda m: isinstance(m, messages.Frame) and condition(m))

    def notice(self, kind, condition=lambda notice: True) -> dict:
        return self.until(lambda m: isinstance(m, dict) and m["type"] == kind and condition(m))


@pytest.fixture
def page(studio):
    with studio.connect() as socket:
        yield Page(socket)


def test_a_visit_from_welcome_to_motion(page):
    welcome = page.next()
    assert welcome["type"] == "welcome"
    assert welcome["protocol"] == messages.PROTOCOL
    assert welcome["lab"]["name"] == "pendulum"
    page.notice("controls", lambda controls: controls["phase"] == "ready")
    first = page.frame()
    assert first.time == 0.0
    page.send(messages.Play())
    later = page.frame(lambda frame: frame.time > 0.05)
    assert later.flags & messages.FrameFlag.PLAYING
    page.send(messages.Pause())
    held = page.frame(lambda frame: not frame.flags & messages.FrameFlag.PLAYING)
    page.send(messages.Step(1, False))
    stepped = page.frame(lambda frame: frame.time > held.time)
    page.send(messages.Step(-1, False))
    back = page.frame(lambda frame: frame.time < stepped.time)
    assert np.concatenate([[back.time], back.q, back.v]).tobytes() == (
        np.concatenate([[held.time], held.q, held.v]).tobytes()
    )


def test_a_page_hears_that_the_server_is_alive_while_nothing_happens(page):
    page.notice("controls", lambda controls: controls["phase"] == "ready")
    for _ in range(2):
        page.notice("alive")


def test_each_page_has_a_simulation_of_its_own(studio, page):
    with studio.connect() as socket:
        other = Page(socket)
        other.frame()
        page.frame()
        page.send(messages.SetParameter("gravity", 1.5, True))
        page.notice("controls", lambda controls: controls["parameters"]["gravity"] == 1.5)
        other.send(messages.SetSpeed(2.0))
        assert other.notice("controls", lambda c: c["speed"] == 2.0)["parameters"]["gravity"] == 9.81


def test_a_lab_is_opened_by_name_and_an_unknown_name_is_told_which_there_are(studio):
    with studio.connect(lab="pendulum") as socket:
        assert Page(socket).next()["lab"]["name"] == "pendulum"
    with studio.connect(lab="aquarium") as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "The studio's labs are: pendulum.")


def test_refusals_are_sentences_and_the_page_goes_on(page):
    page.frame()
    page.send(messages.Undo())
    assert page.notice("refused")["message"] == "There is nothing to undo."
    page.socket.send("nonsense")
    assert "not JSON" in page.notice("refused")["message"]
    page.socket.send(b"\x00\x01")
    assert "text" in page.notice("refused")["message"]
    page.send(messages.Step(1, False))
    page.frame(lambda frame: frame.time > 0)


def test_too_much_nonsense_closes_the_socket(page):
    for _ in range(MOST_MISTAKES + 1):
        page.socket.send("{}")
    with pytest.raises(ConnectionClosed) as closed:
        page.until(lambda message: False)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_a_message_beyond_the_limit_closes_the_socket(page):
    page.socket.send(" " * (LONGEST_MESSAGE + 1))
    with pytest.raises(ConnectionClosed) as closed:
        page.until(lambda message: False)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_a_page_that_sees_nothing_is_sent_few_frames(page):
    page.notice("controls", lambda controls: controls["phase"] == "ready")
    page.send(messages.Play())
    received, silent = [], False
    while not (silent and received):  # silent: nothing else has come for a while
        message = page.socket.recv(timeout=PATIENCE)
        if isinstance(message, bytes):
            received.append(messages.unpack(message))
        silent = isinstance(message, str) and json.loads(message)["type"] == "alive"
    assert len(received) <= 3
    page.send(messages.Seen(received[-1].sequence))
    newest = page.frame()
    assert newest.sequence > received[-1].sequence + 1, "the next frame is the newest, not the next in a queue"
    times = np.concatenate([frame.sample[:, 0] for frame in (*received, newest)])
    np.testing.assert_allclose(np.diff(times), 1 / 60, rtol=1e-9, err_msg="and brings the rows of those dropped")


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "studio-pendulum"]


def test_pages_beyond_the_limit_are_told_so_and_few_simulations_outlive_their_pages(studio):
    with contextlib.ExitStack() as stack:
        pages = [Page(stack.enter_context(studio.connect())) for _ in range(MOST_CLIENTS)]
        for page in pages:
            page.frame()
        with studio.connect() as socket, pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        crowd = ours()
        assert MOST_CLIENTS <= len(crowd) <= MOST_CLIENTS + MOST_LEFT
    with studio.connect() as socket:  # the server has seen all the others go when it lets this one in
        Page(socket).frame()
        living = crowd
        for _ in range(round(PATIENCE / 0.01)):
            living = [thread for thread in crowd if thread.is_alive()]
            if len(living) <= MOST_LEFT:
                break
            living[0].join(0.01)
        assert len(living) <= MOST_LEFT


def test_a_lost_connection_finds_its_simulation_again(studio):
    with studio.connect() as socket:
        page = Page(socket)
        first = page.next()
        assert not first["resumed"]
        page.frame()
        page.send(messages.SetParameter("links", 3.0, True))
        page.send(messages.Step(5, False))
        there = page.frame(lambda frame: frame.time > 0)
    with studio.connect(session=first["session"]) as socket:
        page = Page(socket)
        again = page.next()
        assert (again["resumed"], again["session"]) == (True, first["session"])
        assert len(again["lab"]["bodies"]) == 3
        back = page.frame()
        assert back.q.tobytes() == there.q.tobytes()
        assert back.time == there.time
        assert page.notices[-1]["undo"] == "step"


def test_a_name_that_no_one_has_opens_a_new_simulation(studio):
    with studio.connect(session="nobody") as socket:
        welcome = Page(socket).next()
        assert not welcome["resumed"]
        assert welcome["session"] != "nobody"


def test_a_second_window_takes_the_simulation_over(studio):
    with studio.connect() as socket:
        page = Page(socket)
        name = page.next()["session"]
        page.frame()
        with studio.connect(session=name) as other:
            assert Page(other).next()["resumed"]
            Page(other).frame()
            with pytest.raises(ConnectionClosed) as closed:
                page.until(lambda message: False)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4001
            assert "another window" in closed.value.rcvd.reason


def test_files_are_taken_once_and_with_the_token(studio, page):
    page.frame()
    page.send(messages.Export("python"))
    path = "/" + page.notice("download")["path"]
    assert studio.get(path)[0] == 403
    bearer = {"authorization": f"Bearer {studio.identity.token}"}
    status, headers, body = studio.get(path, **bearer)
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="pendulum.py"'
    assert b"hl.Pendulum(" in body
    assert studio.get(path, **bearer)[0] == 404
    assert studio.get("/download/../secret.txt", **bearer)[0] == 404


# ── Doors ─────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_token_nothing_is_served(studio):
    for path in ("/", "/index.html", "/door", "/live", "/nothing"):
        status, _, body = studio.get(path)
        assert status == 403
        assert b"token" in body
    assert studio.get("/?token=wrong")[0] == 403
    assert studio.get("/", authorization="Bearer wrong")[0] == 403
    assert studio.get("/", cookie=f"{studio.identity.cookie}=wrong")[0] == 403


def test_the_token_moves_from_the_address_into_a_cookie(studio):
    status, headers, _ = studio.get(f"/?token={studio.identity.token}")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    status, _, body = studio.get("/", cookie=cookie.split(";")[0])
    assert (status, b"<title>page</title>" in body) == (200, True)
    assert studio.get("/door", authorization=f"Bearer {studio.identity.token}")[0] == 204


@pytest.mark.parametrize(
    "host", ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io:{port}"]
)
def test_a_foreign_host_is_refused_even_with_the_token(studio, host):
    host = host.format(port=studio.identity.port)
    assert studio.get("/door", host=host, authorization=f"Bearer {studio.identity.token}")[0] == 403


def test_loopback_names_are_ours(studio):
    bearer = f"Bearer {studio.identity.token}"
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert studio.get("/door", host=f"{host}:{studio.identity.port}", authorization=bearer)[0] == 204


@pytest.mark.parametrize("origin", ["http://example.org", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_a_foreign_origin_opens_no_socket(studio, origin):
    with pytest.raises(InvalidStatus, match="403"):
        studio.connect(origin=origin.format(port=studio.identity.port))


def test_a_cookie_opens_the_socket_for_our_own_page_only(studio):
    cookie = f"{studio.identity.cookie}={studio.identity.token}"
    with studio.connect(token="", origin=f"http://{studio.host}", cookie=cookie) as socket:
        assert Page(socket).next()["type"] == "welcome"
    with pytest.raises(InvalidStatus, match="403"):
        studio.connect(token="", cookie=cookie)
    with pytest.raises(InvalidStatus, match="403"):
        studio.connect(token="", origin=f"http://{studio.host}")
    with pytest.raises(InvalidStatus, match="403"):
        studio.connect(token="wrong")


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/%00"])
def test_paths_do_not_lead_out_of_the_page(studio, path):
    status, _, body = studio.get(path, authorization=f"Bearer {studio.identity.token}")
    assert status == 404
    assert b"not to be served" not in body


def test_every_answer_carries_the_security_headers(studio):
    for headers in (studio.get("/")[1], studio.get("/", authorization=f"Bearer {studio.identity.token}")[1]):
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert f"ws://{studio.host}" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
