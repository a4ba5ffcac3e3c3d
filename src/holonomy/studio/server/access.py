"""Who may talk to the studio: this machine's own user, from the studio's own page.

Three checks, before any other code sees the request:

1. **Host.** The request must name a loopback host and our port. A foreign name that resolves to 127.0.0.1 (DNS
   rebinding) is refused.
2. **Origin.** When a browser says which page asks, it must be ours. So another site's page cannot open our socket.
3. **Token.** A random one per start. It comes in the printed address (`?token=`), in an `Authorization: Bearer`
   header, or in the cookie that the first visit sets. A WebSocket that shows only the cookie must also show its Origin.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
HTTP: Final = 80
Admit = Callable[[tuple[str, int] | None], None]
"""Told the address of a connection that has shown the token."""
_ONWARD: Final = '<!doctype html><title>Holonomy studio</title><meta http-equiv="refresh" content="0;url=/">'


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """One server's port and token."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name. Browsers share cookies between ports, so the port is part of it."""
        return f"holonomy-{self.port}"

    def address(self, host: str) -> str:
        """What to open in a browser."""
        return f"http://{_bracketed(host)}:{self.port}/?token={self.token}"

    def is_our_host(self, host: str | None) -> bool:
        """Whether a Host header names this server on the loopback."""
        if self.port == HTTP and host is not None and host in map(_bracketed, LOOPBACK):
            return True  # clients leave the standard port out
        return host in {f"{_bracketed(name)}:{self.port}" for name in LOOPBACK}

    def is_token(self, offered: str) -> bool:
        """Compared in constant time, so that answers do not tell how many characters were right."""
        return hmac.compare_digest(offered.encode(), self.token.encode())


class AccessControl:
    """ASGI middleware that admits only requests to `ServerIdentity`, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, identity: ServerIdentity, admit: Admit):
        self._app = app
        self._identity = identity
        self._admit = admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is None:
            self._admit(scope.get("client"))
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": refusal})  # before accept: HTTP 403
            return
        answer: ASGIApp = self._app
        if refusal is not None:
            answer = PlainTextResponse(refusal + "\n", status_code=403)
        elif self._query_token(scope) is not None and scope["path"] == "/":
            answer = self._admitted(headers)
        await answer(scope, receive, _with_headers(send, headers.get("host", "")))

    def _refusal(self, scope: Scope, headers: Headers) -> str | None:
        host, origin = headers.get("host"), headers.get("origin")
        if not self._identity.is_our_host(host):
            return "The studio answers on this machine's own address only, and the request named another host."
        if origin is not None and origin != f"http://{host}":
            return "The studio answers its own page only, and the request came from another one."
        shown = self._query_token(scope) or _bearer(headers)
        if shown is not None:
            return None if self._identity.is_token(shown) else "The token is not the one that this studio printed."
        kept = _cookie(headers, self._identity.cookie)
        if kept is None or (scope["type"] == "websocket" and origin is None):
            return "The studio wants its token: open the address that it printed when it started."
        return None if self._identity.is_token(kept) else "The studio was restarted: open the address it printed now."

    def _query_token(self, scope: Scope) -> str | None:
        values = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        return values[0] if values else None

    def _admitted(self, headers: Headers) -> Response:
        """Move the token from the address, where it would be copied and logged, into a cookie no script can read.

        A visit that comes from another site, as the private file is that `serve` has the browser open, does not show a
        strict cookie when it is redirected; so a page of our own leads on.
        """
        answer: Response = RedirectResponse("/", status_code=303)
        if headers.get("sec-fetch-site") == "cross-site":
            answer = HTMLResponse(_ONWARD)
        answer.set_cookie(self._identity.cookie, self._identity.token, path="/", httponly=True, samesite="strict")
        return answer


def _with_headers(send: Send, host: str) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Content-Security-Policy"] = policy(host)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers["X-Frame-Options"] = "DENY"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return wrapped


def policy(host: str) -> str:
    """The page may run and style itself from its own files and talk to its own socket; nothing else."""
    socket = f" ws://{host}" if host else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; "
        "media-src blob:; "
        f"connect-src 'self'{socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _bearer(headers: Headers) -> str | None:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value if scheme.lower() == "bearer" and value else None


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return morsel.value if morsel is not None else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
