"""The studio from a cold start, under load and in a browser: a real server process, and pages on the cores there are.

python benchmarks/studio.py [cold [LAB...] | load | page]
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from holonomy.studio.compile import preset_code
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.base import PRESET, AbstractLab
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import encode

PAGES = 30
SECONDS = 8.0
DRAGS = 400
RECONNECTS = 1000
SETTLE = 8.0
"""Seconds after which the processes of the server have started."""
CHOICES = {
    "pendulum": (
        ("100 links", messages.SetParameter("links", 100.0, True)),
        ("37 links", messages.SetParameter("links", 37.0, True)),
        ("37 springs", messages.SetChoice("model", "elastic")),
        ("12 springs", messages.SetParameter("links", 12.0, True)),
        ("12 springs, Gauss with 3 stages", messages.SetChoice("method", "gauss3")),
    ),
    "linkage": (
        ("5 rods", messages.SetParameter("rods", 5.0, True)),
        ("6 rods", messages.SetParameter("rods", 6.0, True)),
        ("6 rods, with the route of rods beside", messages.SetChoice("route", "rods")),
    ),
}


class Server:
    """`python -m holonomy.studio` with an empty place for compiled code."""

    def __init__(self, cache: str):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holonomy.studio", "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            env={**os.environ, "HOLONOMY_CACHE": cache, "PYTHONUNBUFFERED": "1"},
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://(\S+?)/\?token=(\S+)", line)
        assert found, line
        self.host, self.token = found.groups()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)

    @property
    def busy(self) -> float:
        """Seconds of processor time of the server's own process so far."""
        fields = (Path("/proc") / str(self.process.pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def work(self) -> float:
        """Seconds of processor time of the server and of its worker processes so far."""
        stats = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, _, rest = path.read_text().partition(" ")
            except OSError:  # it has just ended
                continue
            fields = rest.rpartition(")")[2].split()
            stats[int(pid)] = (int(fields[1]), sum(int(field) for field in fields[11:15]))
        own = {self.process.pid}
        while more := {pid for pid, (parent, _) in stats.items() if parent in own} - own:
            own |= more
        return sum(stats[pid][1] for pid in own if pid in stats) / os.sysconf("SC_CLK_TCK")

    @property
    def load(self) -> tuple[int, int, int]:
        """Resident kilobytes, threads and open files of the server's own process."""
        root = Path("/proc") / str(self.process.pid)
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines())
        return int(status["VmRSS"].split()[0]), int(status["Threads"]), len(list((root / "fd").iterdir()))


class Page:
    """What a page does with its socket: reads all, says what it has seen, counts."""

    def __init__(self, server: Server):
        self._server = server
        self.times: list[float] = []
        self.frame: messages.Frame | None = None
        self.settings: dict[str, object] = {}
        self.ready = False
        self.news = asyncio.Event()
        self.reading = True

    async def open(self, **query: str) -> Page:
        """Connect, and read from now on."""
        asked = "&".join(f"{name}={value}" for name, value in {"token": self._server.token, **query}.items())
        self.socket: ClientConnection = await connect(f"ws://{self._server.host}/live?{asked}", compression=None)
        self._task = asyncio.create_task(self._read())
        return self

    async def close(self) -> None:
        """Hang up."""
        self._task.cancel()
        await self.socket.close()

    async def send(self, *commands: messages.Command) -> None:
        """Send commands."""
        for command in commands:
            await self.socket.send(encode(command))

    async def until(self, condition) -> messages.Frame:
        """The first frame from now on for which it holds."""
        while True:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 120.0)
            if self.frame is not None and condition(self.frame):
                return self.frame

    def rate(self, since: float, until: float) -> float:
        """Frames in a second between two times."""
        return sum(since <= t < until for t in self.times) / (until - since)

    async def _read(self) -> None:
        while True:
            message = await self.socket.recv()
            if isinstance(message, bytes):
                self.times.append(time.perf_counter())
                self.frame = messages.unpack(message)
                await self.send(messages.Seen(self.frame.sequence))
                self.news.set()
                continue
            notice = json.loads(message)
            if notice["type"] == "refused":
                print(message, file=sys.stderr)
            elif notice["type"] == "controls":
                self.ready = notice["phase"] == "ready"
                self.settings = notice["parameters"] | notice["choices"] | notice["toggles"] | notice["texts"]


async def opened(server: Server, count: int) -> list[Page]:
    """Pages whose pendulums swing."""
    pages = [await Page(server).open() for _ in range(count)]
    for page in pages:
        await page.until(lambda frame: True) if page.frame is None else None
        await page.send(messages.Play())
    return pages


async def rates(pages: list[Page], seconds: float) -> list[float]:
    """Frames a second of each page from now on."""
    begin = time.perf_counter()
    await asyncio.sleep(seconds)
    return [page.rate(begin, time.perf_counter()) for page in pages]


async def drags(page: Page, count: int) -> list[float]:
    """Seconds from sending a place for a bob to the frame that shows it there."""
    waits = []
    await page.send(messages.DragBegin(1))
    for k in range(count):
        x, y = 0.3 + 0.8 * (k % 17) / 17, -0.4 - 0.8 * (k % 13) / 13
        begin = time.perf_counter()
        await page.send(messages.DragMove(x, y, 0.0))
        await page.until(lambda f, x=x, y=y: abs(f.position[2, 0] - x) + abs(f.position[2, 1] - y) < 1e-6)
        waits.append(time.perf_counter() - begin)
    await page.send(messages.DragEnd(0.0, 0.0, 0.0))
    return waits


async def change(page: Page, links: int) -> float:
    """Seconds from asking for another number of links to the first frame with them."""
    begin = time.perf_counter()
    await page.send(messages.SetParameter("links", float(links), True))
    await page.until(lambda frame: len(frame.q) == links)
    return time.perf_counter() - begin


def row(what: str, found: str, asked: str) -> None:
    """One line of the table."""
    print(f"| {what} | {found} | {asked} |", flush=True)


async def cold(server: Server) -> None:
    """From the start of the process to motion, and new structures with nothing compiled before."""
    page = await Page(server).open()
    await page.until(lambda frame: True)
    await page.send(messages.Play())
    await page.until(lambda frame: frame.time > 0)
    row("process start to a moving pendulum, nothing on disk", f"{time.perf_counter() - server.began:.1f} s", "10 s")
    at_once = [await change(page, n) for n in (5, 7, 9)]
    text = ", ".join(f"{1000 * t:.0f}" for t in at_once)
    row("2 → 5 → 7 → 9 links in the first seconds", f"{text} ms", "500 ms")
    far = [await change(page, n) for n in (30, 100)]
    row("→ 30, 100 links, never compiled", ", ".join(f"{1000 * t:.0f}" for t in far) + " ms", "–")
    known = [await change(page, n) for n in (2, 5, 7, 9, 30, 100)]
    row("2, 5, 7, 9, 30, 100 links, known: slowest", f"{1000 * max(known):.0f} ms", "500 ms")
    await page.close()


async def first_motion(lab: AbstractLab, name: str) -> tuple[float, float, float]:
    """Seconds from opening a preset in a fresh server without compiled code to its picture and to its motion, and the
    seconds of processor time until then: those do not depend on what else the machine does."""
    wanted = lab.preset(name)
    values = {**wanted.parameters, **wanted.choices, **wanted.toggles, **wanted.texts}.items()
    with tempfile.TemporaryDirectory() as cache, Server(cache) as server:
        begin, before = time.perf_counter(), server.work
        page = await Page(server).open(lab=lab.name)
        await page.send(messages.Act(PRESET + name), messages.Play())
        await page.until(lambda frame: values <= page.settings.items())
        picture = time.perf_counter() - begin
        await page.until(lambda frame: frame.time > 0 and page.ready and values <= page.settings.items())
        motion, work = time.perf_counter() - begin, server.work - before
        await page.close()
    return picture, motion, work


async def cold_presets(labs: list[AbstractLab]) -> None:
    """Every preset of these labs."""
    print("| lab | preset | seconds to the picture | seconds to motion | of processor time |", flush=True)
    print("| --- | --- | --- | --- | --- |", flush=True)
    slowest = 0.0
    for lab in labs:
        for preset in lab.descriptor.presets:
            picture, motion, work = await first_motion(lab, preset.name)
            slowest = max(slowest, motion)
            print(f"| {lab.title} | {preset.label} | {picture:.1f} | {motion:.1f} | {work:.1f} |", flush=True)
    print(f"\nThe slowest takes {slowest:.1f} s to its motion (asked: 3 s).", flush=True)


async def cold_choices(labs: list[AbstractLab]) -> None:
    """Structures that no preset has, in a server that has run for some seconds."""
    print("\n| lab | choice | seconds to motion |\n| --- | --- | --- |", flush=True)
    for name, choices in ((lab.name, CHOICES[lab.name]) for lab in labs if lab.name in CHOICES):
        with tempfile.TemporaryDirectory() as cache, Server(cache) as server:
            page = await Page(server).open(lab=name)
            await page.send(messages.Play())
            await page.until(lambda frame: frame.time > 0)
            await asyncio.sleep(SETTLE)
            for label, command in choices:
                begin, old = time.perf_counter(), page.frame.revision if page.frame else 0
                await page.send(command)
                await page.until(lambda frame, old=old, page=page: frame.revision > old and page.ready)
                print(f"| {name} | {label} | {time.perf_counter() - begin:.1f} |", flush=True)
            await page.close()


async def crowd(server: Server) -> None:
    """Many pages at once, and what one of them can do to the others."""
    pages = await opened(server, PAGES)
    await asyncio.sleep(2.0)
    before = server.busy
    found = await rates(pages, SECONDS)
    row(f"{PAGES} simulations: frames a second, least and median", _two(found), "≥ 30")
    each = (server.busy - before) / (SECONDS * sum(found))
    row("processor time of the server for one frame", f"{1e6 * each:.0f} µs", "–")
    waits = sorted(await drags(pages[0], DRAGS))
    p99 = waits[int(0.99 * len(waits))]
    text = f"{1000 * statistics.median(waits):.1f} ms, {1000 * p99:.1f} ms"
    row(f"drag to the frame that shows it, median and p99, {PAGES} simulations", text, "p99 < 50 ms")
    pages[1]._task.cancel()  # it keeps its socket and reads no more
    await pages[1].send(messages.SetSpeed(3.0))
    found = await rates([pages[0], *pages[2:]], SECONDS / 2)
    row("the others while one page does not read", _two(found), "≥ 30")
    begin, links = time.perf_counter(), itertools.count(11)
    while time.perf_counter() - begin < SECONDS:
        await change(pages[2], next(links))
    found = [page.rate(begin, time.perf_counter()) for page in (pages[0], *pages[3:])]
    row("the others while one page compiles one structure after another", _two(found), "≥ 20")
    for page in pages:
        await page.close()


async def reconnects(server: Server) -> None:
    """Pages that come and go."""
    for _ in range(RECONNECTS):
        page = await Page(server).open()
        await page.until(lambda frame: True)
        await page.close()
    before = server.load
    for _ in range(RECONNECTS):
        page = await Page(server).open()
        await page.until(lambda frame: True)
        await page.close()
    after = server.load
    text = ", ".join(f"{b - a:+d} {unit}" for a, b, unit in zip(before, after, ("kB", "threads", "files"), strict=True))
    row(f"{RECONNECTS} connections one after another leave", text, "nothing")


def _two(numbers: list[float]) -> str:
    return f"{min(numbers):.0f}, {statistics.median(numbers):.0f}"


async def cold_start(names: list[str]) -> None:
    """Print the tables of cold starts, of the labs named or of all."""
    labs = [lab for lab in all_labs() if lab.name in names or not names]
    subprocess.run([sys.executable, "-m", preset_code.__name__], check=True, stdout=subprocess.DEVNULL)
    print("## The studio from a cold start\n")
    print("Each preset in a server that has just started, with nothing compiled on disk and the presets' code shipped")
    print("as in a wheel; the time runs from the page's first message.\n")
    await cold_presets(labs)
    await cold_choices(labs)
    print()


def page() -> None:
    """Print the table of a page's main thread, in a real browser."""
    print("\n## The studio's page\n")
    print("A pendulum of ten links swings in a browser that draws WebGL in software, on the same cores.\n")
    print("| what | found | asked |\n| --- | --- | --- |", flush=True)
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, str(root / "scripts" / "node.py"), "npm", "run", "--silent", "frames"]
    subprocess.run(command, check=False)


async def load() -> None:
    """Print the table of the studio under load."""
    print("## The studio under load\n")
    print("Server, pages and compilers share the same cores.\n")
    print("| what | found | asked |\n| --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        with Server(cache) as server:
            await cold(server)
        with Server(cache) as server:
            await crowd(server)
        with Server(cache) as server:
            await reconnects(server)


async def main() -> None:
    """Print the tables that were asked for, or all."""
    what, *names = sys.argv[1:] or ["all"]
    if what in ("cold", "all"):
        await cold_start(names)
    if what in ("load", "all"):
        await load()
    if what in ("page", "all"):
        page()


if __name__ == "__main__":
    asyncio.run(main())
