"""Binding: the loopback and nothing else."""

import asyncio
import secrets
import socket

import pytest

from holonomy.studio import serve
from holonomy.studio.server.access import ServerIdentity
from holonomy.studio.server.app import application
from holonomy.studio.server.serve import bind


@pytest.mark.parametrize("host", ["0.0.0.0", "", "192.168.0.1", "example.org", "::"])
def test_only_loopback_hosts_are_bound(host):
    with pytest.raises(ValueError, match="loopback only"):
        serve(host, 0, False)


def test_ports_must_be_ports():
    with pytest.raises(ValueError, match="port=70000"):
        bind("127.0.0.1", 70000)


def test_a_taken_port_gives_the_next_one():
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with bind("127.0.0.1", port) as second:
            assert port < second.getsockname()[1] <= port + 20


def test_small_messages_are_not_held_back():
    """asyncio turns Nagle's delay off for sockets that say they are TCP, and only for those."""
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_tokens_are_new_every_time_and_not_in_the_repr():
    first, second = ServerIdentity(1), ServerIdentity(1)
    assert first.token != second.token
    assert len(first.token) >= 32
    assert first.token not in repr(first)
    assert first.is_token(first.token)
    assert not first.is_token(second.token)
    assert not first.is_token("")
    assert ServerIdentity(8, "t").address("::1") == "http://[::1]:8/?token=t"


def test_a_page_that_was_not_built_says_how_to_build_it(lab, services, tmp_path):
    door = ServerIdentity(80, secrets.token_urlsafe())
    app = application((lab,), door, services, static=tmp_path)
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost:80"), (b"authorization", f"Bearer {door.token}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "root_path": "", "query_string": b"",
             "headers": headers, "http_version": "1.1", "scheme": "http", "asgi": {"version": "3.0"}}  # fmt: skip

    async def visit():
        await app(scope, receive, send)

    asyncio.run(visit())
    assert sent[0]["status"] == 503
    assert b"make studio" in sent[1]["body"]
