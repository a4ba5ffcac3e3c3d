"""A lab without JAX, so that the server's own behaviour is tested in milliseconds: RK4 in numpy."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from holonomy.studio.guard import Door
from holonomy.studio.lab import AbstractLab, AbstractStepper, Parameters
from holonomy.studio.labs.pendulum import PendulumLab
from holonomy.studio.server import application
from holonomy.studio.serving import bind, server


@dataclass(frozen=True)
class FakeState:
    k: int
    t0: float
    y: tuple[float, ...]


class FakeStepper(AbstractStepper):
    """Counts its steps, so that a test can see how much was computed."""

    def __init__(self, parameters: Parameters, dt: float):
        self._p = dict(parameters)
        self._dt = dt
        self.taken = 0

    def start(self, t, q, v):
        return FakeState(0, float(t), (*map(float, q), *map(float, v)))

    def advance(self, state, steps):
        y = np.array(state.y)
        for _ in range(steps):
            h = self._dt
            a = self._slope(y)
            b = self._slope(y + h / 2 * a)
            c = self._slope(y + h / 2 * b)
            d = self._slope(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        self.taken += steps
        return FakeState(state.k + steps, state.t0, tuple(y.tolist()))

    def read(self, state):
        y = np.array(state.y)
        p, (a, b, u, w) = self._p, state.y
        kinetic = 0.5 * (p["m1"] + p["m2"]) * (p["l1"] * u) ** 2 + 0.5 * p["m2"] * (p["l2"] * w) ** 2
        kinetic += p["m2"] * p["l1"] * p["l2"] * u * w * np.cos(a - b)
        potential = -p["g"] * ((p["m1"] + p["m2"]) * p["l1"] * np.cos(a) + p["m2"] * p["l2"] * np.cos(b))
        return state.t0 + state.k * self._dt, y[:2], y[2:], float(kinetic + potential)

    def _slope(self, y):
        p, (a, b, u, w) = self._p, y
        c, s = np.cos(a - b), np.sin(a - b)
        m = p["m1"] + p["m2"]
        matrix = np.array([[m * p["l1"], p["m2"] * p["l2"] * c], [p["l1"] * c, p["l2"]]])
        right = [-p["m2"] * p["l2"] * w**2 * s - m * p["g"] * np.sin(a), p["l1"] * u**2 * s - p["g"] * np.sin(b)]
        return np.concatenate([y[2:], np.linalg.solve(matrix, right)])


class FakeLab(AbstractLab):
    """The pendulum lab on `FakeStepper`."""

    def __init__(self):
        self._real = PendulumLab()
        self.steppers: list[FakeStepper] = []

    @property
    def view(self):
        return self._real.view

    def stepper(self, parameters):
        self.steppers.append(FakeStepper(parameters, self.view.dt))
        return self.steppers[-1]

    def start(self):
        return self._real.start()

    def position(self, q, parameters):
        return self._real.position(q, parameters)

    def energy(self, q, v, total, parameters):
        return self._real.energy(q, v, total, parameters)

    def dragged(self, q, body, target, parameters):
        return self._real.dragged(q, body, target, parameters)

    def extent(self, parameters):
        return self._real.extent(parameters)

    def radii(self, parameters):
        return self._real.radii(parameters)


@pytest.fixture
def lab() -> FakeLab:
    return FakeLab()


@dataclass(frozen=True)
class Studio:
    """A running server and what it takes to talk to it."""

    door: Door

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.door.port}"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.door.port, timeout=20)
        try:
            connection.putrequest("GET", path, skip_host="host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def connect(
        self, *, token: str | None = None, origin: str | None = None, lab: str | None = None, **headers: str
    ) -> ClientConnection:
        shown = self.door.token if token is None else token
        query = {name: value for name, value in (("token", shown), ("lab", lab)) if value}
        address = f"ws://{self.host}/live?{urlencode(query)}"
        return connect(address, origin=cast(Any, origin), additional_headers=headers, compression=None)


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The real server on a free loopback port, with the fake lab and a page of one line."""
    static = tmp_path_factory.mktemp("static")
    (static / "index.html").write_text("<!doctype html><title>page</title>", encoding="utf-8")
    (static.parent / "secret.txt").write_text("not to be served", encoding="utf-8")
    listener = bind("127.0.0.1", 0)
    door = Door(listener.getsockname()[1])
    running = server(application((FakeLab(),), door, static=static))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Studio(door)
    running.should_exit = True
    thread.join(20)
    listener.close()
