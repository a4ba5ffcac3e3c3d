"""The pendulum lab without JAX, so that the server's own behaviour is tested in milliseconds: RK4 in numpy."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from holonomy.studio.compile.kernel import Kernel, KernelState, Layout, Stopped
from holonomy.studio.labs.pendulum.lab import PendulumLab
from holonomy.studio.labs.settings import Structure
from holonomy.studio.server.access import ServerIdentity
from holonomy.studio.server.app import application
from holonomy.studio.server.connections import Listener
from holonomy.studio.server.downloads import Downloads
from holonomy.studio.server.serve import bind, server
from holonomy.studio.server.services import Services
from holonomy.studio.session.simulation import Simulation


class FakeKernel(Kernel):
    """A chain of rods or springs, by dense numpy; counts its steps, so that a test can see how much was computed."""

    def __init__(self, structure: Structure):
        parts: dict[str, Any] = dict(structure)
        self.links, self.elastic = parts["links"], parts["model"] == "elastic"
        n = 2 * self.links if self.elastic else self.links
        lab = PendulumLab()
        settings = lab.opening().with_parameter("links", self.links).with_choice("model", parts["model"])
        kinds = len(lab.drawn(lab.completed(settings.with_toggle("ghost", False))).channels)
        self.layout = Layout(n, kinds, self.links, 2, self.links)
        self.engine, self.method, self.traits = "numpy", "RK4()", ("order 4",)
        self._cuts = [int(c) for c in np.cumsum([1, n, n, kinds, 2 * self.links, self.links])]
        self.taken = 0
        self.broken_at: float | None = None
        self.ghost = self

    def start(self, numbers, t, dt, q, v):
        self.begun = getattr(self, "begun", 0) + 1
        row = np.concatenate([q, v])
        return KernelState(numbers, float(t), dt, 0, row, self._seen(numbers, t, row))

    def advance(self, state, steps):
        y, h = state.row.copy(), state.dt
        t = state.t0 + (state.index + steps) * h
        if self.broken_at is not None and t > self.broken_at:
            raise Stopped("The motion stopped at t = 1.5 s: the numbers overflowed.")
        for _ in range(steps):
            a = self._slope(state.numbers, y)
            b = self._slope(state.numbers, y + h / 2 * a)
            c = self._slope(state.numbers, y + h / 2 * b)
            d = self._slope(state.numbers, y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        self.taken += steps
        return KernelState(state.numbers, state.t0, state.dt, state.index + steps, y, self._seen(state.numbers, t, y))

    def _split(self, numbers):
        g, c, k = numbers[:3]
        return g, c, k, numbers[3 : 3 + self.links], numbers[3 + self.links :]

    def _slope(self, numbers, y):
        g, c, k, lengths, masses = self._split(numbers)
        q, v = np.split(y, 2)
        if self.elastic:
            steps = np.diff(np.concatenate([[[0.0, 0.0]], q.reshape(-1, 2)]), axis=0)
            spans = np.linalg.norm(steps, axis=1)
            pulls = (k * (spans - lengths) / spans)[:, None] * steps
            force = np.concatenate([pulls[1:], [[0.0, 0.0]]]) - pulls - c * v.reshape(-1, 2)
            return np.concatenate([v, (force / masses[:, None] - [0.0, g]).ravel()])
        below = np.cumsum(masses[::-1])[::-1]
        shared = below[np.maximum.outer(range(self.links), range(self.links))] * np.outer(lengths, lengths)
        gap = q[:, None] - q[None, :]
        count = np.arange(self.links, 0, -1.0)
        drag = c * count[np.maximum.outer(range(self.links), range(self.links))] * np.outer(lengths, lengths)
        right = -(shared * np.sin(gap)) @ v**2 - g * below * lengths * np.sin(q) - (drag * np.cos(gap)) @ v
        return np.concatenate([v, np.linalg.solve(shared * np.cos(gap), right)])

    def _seen(self, numbers, t, y):
        g, _, k, lengths, masses = self._split(numbers)
        q, v = np.split(y, 2)
        if self.elastic:
            x, w = q.reshape(-1, 2), v.reshape(-1, 2)
            steps, rates = (np.diff(np.concatenate([[[0.0, 0.0]], z]), axis=0) for z in (x, w))
            spans = np.linalg.norm(steps, axis=1)
            angles = np.arctan2(steps[:, 0], -steps[:, 1])
            turning = (steps[:, 0] * rates[:, 1] - steps[:, 1] * rates[:, 0]) / spans**2
            strain = spans / lengths - 1
            springs = [0.5 * k * np.sum((spans - lengths) ** 2)]
            extra = [angles, turning, strain]
        else:
            x = np.cumsum(lengths[:, None] * np.stack([np.sin(q), -np.cos(q)], 1), axis=0)
            w = np.cumsum((lengths * v)[:, None] * np.stack([np.cos(q), np.sin(q)], 1), axis=0)
            strain, springs, extra = np.zeros(self.links), [], [q, v]
        kinetic, potential = 0.5 * np.sum(masses * np.sum(w * w, axis=1)), g * np.sum(masses * x[:, 1])
        energies = [kinetic, potential, *springs, kinetic + potential + sum(springs)]
        known = np.concatenate([energies, *extra])
        rest = np.zeros(self.layout.channels - len(known))  # what is plotted besides is not computed here
        return np.concatenate([[t], q, v, known, rest, x.ravel(), strain])


@dataclass
class FakeCodeStore:
    """Has every kernel at once, but for the structures in `slow`, which come when `deliver` is called."""

    lab: PendulumLab
    kernels: dict[Structure, FakeKernel] = field(default_factory=dict)
    slow: set[Structure] = field(default_factory=set)
    impossible: str = ""
    waiting: list[tuple[Structure, Callable[..., None]]] = field(default_factory=list)
    derives_slowly: bool = False
    """Whether equations are those of `deriving`, for a test to answer."""
    deriving: list[tuple[Structure, Future[Any]]] = field(default_factory=list)
    released: list[Structure] = field(default_factory=list)

    def __call__(self, structure: Structure) -> FakeKernel | None:
        return self.kernel(self.lab, structure)

    def kernel(self, lab, structure):
        if structure in self.slow:
            return None
        return self.kernels.setdefault(structure, FakeKernel(structure))

    def fetch(self, lab, structure, done, *, ahead=False):
        if self.impossible:
            done(None, self.impossible)
        elif structure in self.slow:
            self.waiting.append((structure, done))
        else:
            done(self.kernel(lab, structure), "")

    def deliver(self) -> None:
        for structure, done in self.waiting:
            self.slow.discard(structure)
            done(self.kernel(self.lab, structure), "")
        self.waiting.clear()

    def release(self, lab, structure):
        self.waiting = [(s, done) for s, done in self.waiting if s != structure]

    def prefetch(self, lab, structures):
        pass

    def equations(self, lab, structure) -> Future[Any]:
        future: Future[Any] = Future()
        self.deriving.append((structure, future))
        if not self.derives_slowly:
            future.set_result(("", (("Equations of motion", r"\ddot\theta = 0"),)))
        return future

    def release_equations(self, lab, structure):
        self.released.append(structure)


def fake_services(lab: PendulumLab) -> Any:
    """Services without processes: what a worker would do is done here, in a thread."""
    from holonomy.studio.compile import worker_process

    def submit(function: str, *args: Any, urgency: int = 0) -> Future[Any]:
        future: Future[Any] = Future()
        good, value = worker_process.done(function, args)
        if good:
            future.set_result(value)
        else:
            future.set_exception(worker_process.WorkError(value))
        return future

    worker = SimpleNamespace(submit=submit, cancel=lambda future: future.cancel())
    return cast(
        Services,
        SimpleNamespace(
            code_store=FakeCodeStore(lab),
            downloads=Downloads(),
            workers=SimpleNamespace(files=worker),
            stopping=threading.Event(),
            exports=ThreadPoolExecutor(1, thread_name_prefix="exports"),
        ),
    )


@pytest.fixture
def lab() -> PendulumLab:
    return PendulumLab()


@pytest.fixture
def services(lab) -> Iterator[Any]:
    made = fake_services(lab)
    yield made
    made.exports.shutdown()


@pytest.fixture
def code_store(lab) -> FakeCodeStore:
    return FakeCodeStore(lab)


@pytest.fixture
def simulation(lab, code_store) -> Simulation:
    return Simulation(lab, code_store)


@pytest.fixture(scope="session")
def fresh() -> Callable[[], Simulation]:
    """Makes simulations of their own, on shared code."""
    lab = PendulumLab()
    shared = FakeCodeStore(lab)
    return lambda: Simulation(lab, shared)


@dataclass(frozen=True)
class Studio:
    """A running server and what it takes to talk to it."""

    identity: ServerIdentity
    services: Any
    listener: Listener

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.identity.port}"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.identity.port, timeout=20)
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
        self,
        *,
        token: str | None = None,
        origin: str | None = None,
        lab: str | None = None,
        session: str | None = None,
        **headers: str,
    ) -> ClientConnection:
        shown = self.identity.token if token is None else token
        asked = (("token", shown), ("lab", lab), ("session", session))
        address = f"ws://{self.host}/live?{urlencode({name: value for name, value in asked if value})}"
        return connect(address, origin=cast(Any, origin), additional_headers=headers, compression=None)


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The real server on a free loopback port, with the fake code and a page of one line."""
    static = tmp_path_factory.mktemp("static")
    (static / "index.html").write_text("<!doctype html><title>page</title>", encoding="utf-8")
    (static.parent / "secret.txt").write_text("not to be served", encoding="utf-8")
    listener = bind("127.0.0.1", 0)
    identity = ServerIdentity(listener.getsockname()[1])
    lab = PendulumLab()
    services = fake_services(lab)
    running = server(application((lab,), identity, services, static=static, admit=listener.connections.admit))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Studio(identity, services, listener)
    running.should_exit = True
    thread.join(20)
    services.exports.shutdown()
    listener.close()
