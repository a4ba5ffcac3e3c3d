"""Runs and systems in a notebook, and pages that replay: what Python hands to the viewer."""

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import holonomy as hl
from holonomy.cli import app
from holonomy.show.notebook_session import Live, Refusal
from holonomy.viewer.bundle import bundle
from holonomy.viewer.protocol import messages

DOUBLE = hl.Pendulum([1.0, 0.7], [1.0, 2.0])
DT = 1 / 240


@pytest.fixture(scope="module")
def run() -> hl.Run:
    return hl.simulate(DOUBLE, [1.5, 2.0], [0.0, 0.0], 1.0, dt=DT)


@pytest.fixture
def live() -> Live:
    return Live(DOUBLE, [1.5, 2.0], [0.0, 0.0])


def table(live: Live, rows: int, data: bytes) -> np.ndarray:
    width = 1 + len(live.recording.welcome.lab.channels)
    return np.frombuffer(data, "<f8", rows * width).reshape(rows, width)


def ask(view, first: int, rows: int, epoch: int = 0):
    return view.answer({"type": "more", "epoch": epoch, "first": first, "rows": rows})


def change(view, row: int, **command):
    return view.answer({"type": "change", "row": row, "command": command})


# ── run.view() ───────────────────────────────────────────────────────────────────────────────────────


def test_a_view_is_a_plain_object_without_a_kernel(run: hl.Run) -> None:
    view = run.view(title="Two bobs", height=500, autoplay=False)
    assert repr(view) == "RunView('Two bobs': 241 states, 2 bodies)"
    assert (view.height, view.autoplay, view.commands) == (500, False, [])
    assert view.head["rows"] == 241
    assert len(view.numbers) == 241 * (8 * 8 + 4 * 6)


def test_a_bad_height_is_refused(run: hl.Run) -> None:
    with pytest.raises(ValueError, match="at least 200; got 10"):
        run.view(height=10)


def test_without_anywidget_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "from holonomy.show.notebook import _widgets\n"
        "try: _widgets('run.view()')\n"
        "except ImportError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("run.view() needs anywidget, which is not installed: pip install ")
    assert said.endswith('[notebook]".\n')


def test_without_its_pages_the_viewer_says_how_to_build_them(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="make pages"):
        bundle(tmp_path)


def test_the_viewer_carries_all_it_needs() -> None:
    script, style = bundle()
    assert script.rstrip().endswith("as default};")
    assert not re.search(r"\bimport\s*[\"'`{(*]|\bprocess\.env", script)
    assert set(re.findall(r"url\((.{5})", style)) == {"data:"}


# ── system.studio() ──────────────────────────────────────────────────────────────────────────────────


def test_live_rows_are_the_motion(live: Live) -> None:
    """Chunk after chunk the same as one run, up to the rounding of starting anew."""
    whole = hl.simulate(DOUBLE, [1.5, 2.0], [0.0, 0.0], 3.0, dt=live.dt, save_every=live.every)
    first = live.recording.table
    count, data = live.rows(len(first), 60)
    found = np.concatenate([first, table(live, count, data)])[: len(whole.t)]
    np.testing.assert_allclose(found[:, 0], whole.t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[:, 4:6], whole.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[:, 6:8], whole.v, rtol=0, atol=1e-9)


def test_rows_that_were_computed_are_given_again_bit_for_bit(live: Live) -> None:
    once = live.rows(121, 30)
    assert live.rows(121, 30) == once
    assert live.rows(0, 3)[1] == live.rows(0, 3)[1]


def test_another_parameter_changes_what_follows_and_nothing_before(live: Live) -> None:
    before = live.rows(0, 50)
    row, data, controls = live.turn(messages.SetParameter("gravity", 1.62, True), 50)
    assert (row, live.epoch, controls["parameters"]["gravity"]) == (50, 1, 1.62)
    assert live.rows(0, 50) == before
    start = table(live, 1, data)[0]
    np.testing.assert_array_equal(start[4:8], live.recording.table[50, 4:8])
    moon = hl.simulate(
        DOUBLE.with_parameters(gravity=1.62), start[4:6], start[6:8], start[0] + 0.5, t0=start[0], dt=live.dt,
        save_every=live.every,
    )  # fmt: skip
    count, data = live.rows(51, 30)
    np.testing.assert_allclose(table(live, count, data)[:, 4:6], moon.q[1:], rtol=0, atol=1e-11)


def test_a_link_of_its_own_has_a_slider_of_its_own(live: Live) -> None:
    names = [parameter.name for parameter in live.recording.welcome.lab.parameters]
    assert names == ["gravity", "lengths.0", "lengths.1", "masses.0", "masses.1"]
    live.turn(messages.SetParameter("lengths.1", 1.1, True), 0)
    np.testing.assert_allclose(live.system.parameters["lengths"], [1.0, 1.1])


def test_a_dragged_body_goes_where_it_can(live: Live) -> None:
    live.turn(messages.DragBegin(1), 10)
    _, data, controls = live.turn(messages.DragMove(0.8, -0.9, 0.0), 10)
    assert controls["held"] == 1
    bob = np.asarray(DOUBLE.place(0.0, table(live, 1, data)[0, 4:6]))[1]
    np.testing.assert_allclose(bob, [0.8, -0.9], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(table(live, 1, data)[0, 6:8], 0.0)
    _, data, _ = live.turn(messages.DragMove(30.0, 0.0, 0.0), 10)
    bob = np.asarray(DOUBLE.place(0.0, table(live, 1, data)[0, 4:6]))[1]
    np.testing.assert_allclose(bob, [1.7, 0.0], rtol=0, atol=0.02)  # as far as two links of 1 and 0.7 reach
    assert live.turn(messages.DragEnd(0.0, 0.0, 0.0), 10)[2]["held"] is None


def test_reset_begins_anew_with_the_present_settings_or_the_first(live: Live) -> None:
    live.turn(messages.SetParameter("gravity", 1.0, True), 30)
    row, data, controls = live.turn(messages.Reset(False), 30)
    assert (row, controls["parameters"]["gravity"]) == (0, 1.0)
    np.testing.assert_array_equal(table(live, 1, data)[0, 4:6], [1.5, 2.0])
    assert live.turn(messages.Reset(True), 0)[2]["parameters"]["gravity"] == 9.81


def test_what_cannot_be_done_is_said(live: Live) -> None:
    with pytest.raises(Refusal, match="No body is held"):
        live.turn(messages.DragMove(0.0, 0.0, 0.0), 0)
    with pytest.raises(Refusal, match="There is no body 3"):
        live.turn(messages.DragBegin(2), 0)
    with pytest.raises(Refusal, match="no parameter 'gravitas'"):
        live.turn(messages.SetParameter("gravitas", 1.0, True), 0)


def test_a_motion_that_ends_says_why() -> None:
    """The root has no derivative below zero, where the particle arrives at t = √2."""
    falling = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - q[0] - 1e-9 * jnp.sqrt(q[0]), ("x",))
    live = Live(falling, [1.0], [0.0], method=hl.RK4())
    first = len(live.recording.table)
    assert abs(live.recording.table[-1, 0] - np.sqrt(2)) < 2 / 60
    assert live.rows(first, 60) == (0, b"")
    assert live.message


def test_a_studio_talks_to_its_page() -> None:
    view = DOUBLE.studio([1.5, 2.0], title="Live")
    assert repr(view) == "StudioView('Live': theta1, theta2; 2 bodies)"
    assert view.commands == ["reset", "set-parameter", "drag-begin", "drag-move", "drag-end"]
    told, numbers = ask(view, 121, 12)
    assert told == {"type": "rows", "epoch": 0, "first": 121, "rows": 12, "message": ""}
    assert numbers is not None
    assert len(numbers) == 12 * (8 * 8 + 4 * 6)
    told, _ = change(view, 20, type="set-parameter", name="gravity", value=5.0, settled=True)
    assert (told["type"], told["epoch"], told["row"]) == ("turn", 1, 20)
    assert ask(view, 133, 12)[0]["rows"] == 0  # asked before the page knew of the turn
    assert ask(view, 21, 12, epoch=1)[0]["rows"] == 12


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {"type": "more"},
        {"type": "more", "epoch": 0, "first": "0", "rows": 1},
        {"type": "change", "row": 0, "command": {"type": "play", "x": 1}},
        {"type": "change", "row": 0, "command": {"type": "undo"}},
        {"type": "change", "row": 0, "command": {"type": "set-parameter", "name": "g", "value": 1e99, "settled": True}},
    ],
)
def test_a_message_that_is_none_is_refused(message) -> None:
    told, numbers = DOUBLE.studio([1.5, 2.0]).answer(message)
    assert told["type"] == "refused"
    assert told["message"].endswith(".")
    assert numbers is None


# ── holonomy export ──────────────────────────────────────────────────────────────────────────────────


class Page(HTMLParser):
    """The elements of a page with their text, as a browser would see them."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        self.elements.append(("", {}, ""))

    def handle_data(self, data):
        if self.elements:
            tag, attributes, text = self.elements[-1]
            self.elements[-1] = (tag, attributes, text + data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.elements if name == tag]


@pytest.fixture
def saved(run: hl.Run, tmp_path):
    return run.save(tmp_path / "swing.nc")


def export(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_a_saved_run_becomes_one_page(saved, run: hl.Run) -> None:
    done = export(saved)
    assert done.exit_code == 0, done.output
    target = saved.with_suffix(".html")
    assert done.output == f"wrote {target}\n"
    text = target.read_text(encoding="utf-8")
    page = Page(text)
    assert page.all("title")[0][1].strip() == "swing"
    for part in ("Gauss(3)", "energy drift", "lengths = [1.0, 0.7]", "llvmlite = ", hl.__version__):
        assert part in text
    addresses = [v for _, attributes, _ in page.elements for k, v in attributes.items() if k in ("src", "href")]
    assert addresses == ["data:,"]


def test_the_page_lets_nothing_run_but_its_own_script(saved) -> None:
    wicked = "</script><script>alert(1)</script></title><img src=x onerror=alert(2)>"
    export(saved, "--title", wicked)
    page = Page(saved.with_suffix(".html").read_text(encoding="utf-8"))
    assert page.all("img") == []
    assert [attributes.get("type") for attributes, _ in page.all("script")] == ["application/json", "module"]
    assert page.all("title")[0][1].strip() == wicked
    policy = page.all("meta")[1][0]["content"] or ""
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag, which in (("script", 1), ("style", 0), ("style", 1)):
        digest = hashlib.sha256(page.all(tag)[which][1].encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_a_page_is_not_written_over_unless_asked(saved) -> None:
    target = saved.with_name("mine.html")
    target.write_text("mine")
    refused = export(saved, target)
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert target.read_text() == "mine"
    assert export(saved, target, "--force").exit_code == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_no_run_or_no_page_is_said(saved, tmp_path) -> None:
    (tmp_path / "text.nc").write_text("no run")
    for arguments, sentence in [
        ((tmp_path / "none.nc",), "There is no file"),
        ((tmp_path / "text.nc",), "is not a run saved by holonomy"),
        ((saved, tmp_path / "page.doc"), "ends in .html, .htm"),
        ((saved, tmp_path / "nowhere" / "page.html"), "does not exist"),
        ((saved, "--speed", "-1"), "speed must be positive"),
    ]:
        done = export(*arguments)
        assert done.exit_code == 2, done.output
        assert sentence in done.output


def test_a_constrained_system_can_be_dragged_and_stays_consistent() -> None:
    rod = hl.System.from_positions(
        lambda t, q: q[None], [1.0], potential=lambda t, q: 9.81 * q[1], coordinates=("x", "y")
    ).constrained(holonomic=lambda t, q: jnp.array([q @ q - 1.0]))
    live = Live(rod, [1.0, 0.0], [0.0, 0.0])
    live.turn(messages.DragBegin(0), 5)
    _, data, _ = live.turn(messages.DragMove(-0.5, -2.0, 0.0), 5)
    place = table(live, 1, data)[0, 4:6]
    assert abs(place @ place - 1.0) < 1e-12
    assert place[1] < -0.9


def test_another_parameter_leaves_the_state_as_it_is_to_the_last_bit():
    live = Live(hl.Pendulum([1.0, 1.0], [1.0, 1.0]), [1.5, 2.0], [0.3, -0.7])
    live.rows(0, 200)
    for row in range(3, 200, 7):
        before = live._table[row].copy()
        live.turn(messages.SetParameter("gravity", 2.0 + row / 100, True), row)
        at = 1 + len(live.recording.welcome.lab.energies)
        np.testing.assert_array_equal(live._table[row, at : at + 4], before[at : at + 4])
        live.rows(0, 200)
