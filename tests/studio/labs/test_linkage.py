"""The linkage lab's own code against the library, and what is drawn on its sphere against theorems."""

import ast
import base64
import contextlib
import functools
import runpy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.compile.program import compile_program
from holonomy.studio.labs.base import PRESET
from holonomy.studio.labs.linkage import sphere as sphere
from holonomy.studio.labs.linkage.lab import LinkageLab
from holonomy.studio.labs.linkage.settings import marked
from holonomy.studio.labs.linkage.sphere import shortest
from holonomy.studio.labs.settings import Refusal, Settings
from holonomy.studio.session import backgrounds, export
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

LAB = LinkageLab()
FRAME = 16  # steps in a picture
MADE: list[Any] = []
X = np.array([0.48, -0.6, 0.64])
V = np.array([0.5, 0.9, 0.46875])  # tangent at X


@functools.cache
def kernel(structure) -> Kernel:
    MADE.append(structure)
    return Kernel(compile_program(LAB.program(structure)))


def settings(route="none", field="gauss", fan=False, **parameters: float) -> Settings:
    return LAB.completed(Settings(parameters, {"route": route, "field": field}, {"fan": fan}))


def simulation(chosen: Settings | None = None) -> Simulation:
    return Simulation(LAB, kernel, settings() if chosen is None else chosen)


def channels(simulation: Simulation) -> dict[str, float]:
    names = [channel.name for channel in simulation.view.channels]
    return dict(zip(names, simulation.frame(0).channel.tolist(), strict=True))


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").astype(float)


def bits(simulation: Simulation) -> bytes:
    frame = simulation.frame(0)
    return np.concatenate([[frame.time], frame.q, frame.v]).tobytes()


def link_of(chosen: Settings) -> hl.Linkage:
    p = chosen.parameters
    return hl.Linkage(int(p["rods"]), p["base"], p["rod_mass"], p["hinge_mass"])


# ── The motion ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_seen_is_what_the_linkage_says():
    chosen = settings(base=3.2, rod_mass=0.7, hinge_mass=0.4)
    link, code = link_of(chosen), kernel(LAB.structure(chosen))
    spot = code.start(LAB.numbers(chosen), 0.0, 1 / 960, X, V)
    hinges = np.asarray(link.hinges(X)) - [1.6, 0.0]
    drawn = code.positions(spot)
    np.testing.assert_allclose(drawn[:3, :2], hinges, rtol=0, atol=1e-14)
    np.testing.assert_allclose(drawn[3], sphere.placed(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(sphere.coordinates(drawn[3], 3), code.q(spot))
    seen = code.channels(spot)
    assert seen[0] == pytest.approx(float(link.energy(X, V)), rel=1e-13)
    bent = link.bending(X, V, V)
    named = dict(zip((channel.name for channel in LAB.drawn(chosen).channels), seen, strict=True))
    rates = np.linalg.norm(np.asarray(link.push(X, V)), axis=1)
    np.testing.assert_allclose([named[f"speed{i}"] for i in (1, 2, 3)], rates, rtol=1e-13)
    angles = np.array([named[f"angle{i}"] for i in (1, 2, 3, 4)])
    ends = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=1), axis=0)
    np.testing.assert_allclose(ends, [*link.hinges(X), [3.2, 0.0]], rtol=0, atol=1e-13)
    a, b = np.asarray(link.frame(X)).T
    assert named["gauss"] == pytest.approx(float(link.intrinsic_curvature.sectional(X, a, b)), rel=1e-10)
    np.testing.assert_allclose(seen[11] ** 2, jnp.einsum("ij,ic,jc", link.masses.matrix(), bent, bent), rtol=1e-12)


@pytest.mark.parametrize("rods", [3, 4])
def test_the_rods_pull_with_the_force_that_bends_the_motion(rods):
    moved = simulation(settings(rods=rods, rod_mass=0.5))
    for _ in range(5):
        moved.apply(messages.Step(7, False))
        seen = channels(moved)
        assert seen["bending"] > 1e-3
        assert seen["pull"] == pytest.approx(seen["bending"], rel=1e-11)


@pytest.mark.parametrize("route", ["chart", "rods", pytest.param("embedding", marks=pytest.mark.proof)])
def test_two_routes_agree_and_their_distance_is_shown(route):
    moved = simulation(settings(route, rod_mass=0.3))
    assert channels(moved)["divergence"] < 1e-15
    moved.apply(messages.Step(120, False))
    seen, frame = channels(moved), moved.frame(0)
    assert 0 < seen["divergence"] < 1e-8
    assert seen["second_kinetic"] == pytest.approx(seen["kinetic"], abs=1e-9)
    assert len(frame.position) == 2 + 2 * 4
    np.testing.assert_allclose(frame.position[2:6], frame.position[6:], rtol=0, atol=1e-8)
    assert len(frame.q) == len(LAB.columns(moved.moment.settings)) == len(moved.view.coordinates)
    for command in (messages.Act("mark_a"), messages.SetToggle("fan", True), messages.SetChoice("field", "bending")):
        moved.apply(command)
        assert channels(moved)["divergence"] == seen["divergence"]  # both motions go on
    moved.apply(messages.SetParameter("base", 3.1, True))
    assert channels(moved)["divergence"] < 1e-15


def test_the_chart_breaks_beside_its_pole_and_the_sphere_goes_on():
    chosen = settings("chart")
    moved = simulation(chosen)
    moved.apply(messages.DragBegin(3))
    moved.apply(messages.DragMove(0.0, 0.6, 0.8))  # x = (0.8, 0, 0.6)
    beside = np.array([1.0, 1e-4, 0.0]) / np.hypot(1.0, 1e-4)
    way = shortest(kernel(LAB.structure(chosen)), LAB.numbers(chosen), moved.frame(0).q[:3], beside)
    assert way is not None
    moved.apply(messages.DragEnd(*sphere.placed(way.velocity / way.length)))
    energy = channels(moved)["kinetic"]
    moved.apply(messages.Step(200, False))
    seen = channels(moved)
    assert seen["divergence"] > 1e-3
    assert seen["kinetic"] == pytest.approx(energy, abs=1e-9)


def test_sliders_do_not_compile():
    moved = simulation(settings("rods"))
    moved.apply(messages.SetToggle("fan", True))
    before = list(MADE)
    for name, value in (("base", 2.3), ("base", 3.9), ("rod_mass", 2.5), ("hinge_mass", 0.0), ("fan_length", 9.0)):
        moved.apply(messages.SetParameter(name, value, True))
        moved.apply(messages.Step(1, False))
        assert backgrounds.surface(moved.lab, moved.moment) is not None
        assert backgrounds.curves(moved.lab, moved.moment) is not None
    assert moved.controls().phase == "ready"
    assert before == MADE


# ── The hand ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("body", [0, 1, 2])
def test_a_hinge_comes_to_the_hand(body):
    moved = simulation()
    link = link_of(moved.moment.settings)
    near = X + np.array([0.1, 0.05, 0.0])
    goal = np.asarray(link.hinges(near / np.linalg.norm(near)))[body] - [1.5, 0.0]
    moved.apply(messages.DragBegin(3))
    moved.apply(messages.DragMove(X[1], X[2], X[0]))
    moved.apply(messages.DragBegin(body))
    moved.apply(messages.DragMove(goal[0], goal[1], 0.0))
    np.testing.assert_allclose(moved.frame(0).position[2 + body, :2], goal, rtol=0, atol=1e-8)
    assert not moved.frame(0).v.any()


def test_a_hinge_out_of_reach_goes_as_near_as_it_can():
    moved = simulation()
    for far in ((0.0, 9.0), (-8.0, 0.0)):
        moved.apply(messages.DragBegin(0))
        moved.apply(messages.DragMove(far[0], far[1], 0.0))
        frame = moved.frame(0)
        there = frame.position[2, :2]
        assert np.linalg.norm(there - [-1.5, 0.0]) == pytest.approx(1.0, abs=1e-12)
        x = frame.q
        link = link_of(moved.moment.settings)
        for away in np.eye(3):
            other = x + 0.02 * (away - (away @ x) * x)
            place = np.asarray(link.hinges(other / np.linalg.norm(other)))[0] - [1.5, 0.0]
            assert np.linalg.norm(place - far) > np.linalg.norm(there - far) - 1e-9


def test_the_point_is_thrown_along_a_geodesic():
    moved = simulation()
    was = bits(moved)
    moved.apply(messages.DragBegin(3))
    moved.apply(messages.DragMove(2 * X[1], 2 * X[2], 2 * X[0]))
    np.testing.assert_allclose(moved.frame(0).q, X, rtol=0, atol=1e-15)
    moved.apply(messages.DragEnd(V[1], V[2], V[0]))
    assert moved.controls().undo == "drag of point"
    np.testing.assert_allclose(moved.frame(0).v, V, rtol=0, atol=1e-15)
    moved.apply(messages.Step(30, False))
    link = link_of(moved.moment.settings)
    run = hl.simulate(link.system("rods"), *link.state("rods", X, V), 0.5, dt=1 / 960, method=hl.RK4(), save_every=480)
    np.testing.assert_allclose(link.hinges(moved.frame(0).q).reshape(-1), run.q[-1], rtol=0, atol=1e-9)
    moved.apply(messages.Undo())
    moved.apply(messages.Undo())
    assert bits(moved) == was  # drag and throw were one gesture


def test_a_hinge_is_thrown_with_the_hands_velocity():
    moved = simulation()
    moved.apply(messages.DragBegin(1))
    moved.apply(messages.DragEnd(0.4, -0.7, 0.0))
    frame, link = moved.frame(0), link_of(moved.moment.settings)
    np.testing.assert_allclose(link.push(frame.q, frame.v)[1], [0.4, -0.7], rtol=0, atol=0.02)


# ── The sphere ────────────────────────────────────────────────────────────────────────────────────


def test_colours_are_curvature_and_bending():
    found = {}
    for field in ("gauss", "bending"):
        moved = simulation(settings(field=field, base=3.3, rod_mass=1.0))
        surface = backgrounds.surface(moved.lab, moved.moment)
        assert surface is not None
        values = numbers(surface.values).reshape(sphere.ROWS, sphere.COLUMNS)
        assert surface.signed == (field == "gauss")
        end = min(surface.least, 0.0) if surface.signed else surface.least  # a signed scale reaches to zero
        assert end <= surface.low < surface.high <= surface.most
        np.testing.assert_allclose([values.min(), values.max()], [surface.least, surface.most], rtol=1e-6)
        found[field] = values
    link = link_of(moved.moment.settings)
    grid = sphere.grid().reshape(sphere.ROWS, sphere.COLUMNS, 3)
    for i, j in ((0, 0), (20, 30), (48, 96), (96, 5)):
        assert found["gauss"][i, j] == pytest.approx(float(link.curvature.gaussian(grid[i, j])), rel=1e-6)
        assert found["bending"][i, j] == pytest.approx(float(link.total_bending(grid[i, j])), rel=1e-6)
    np.testing.assert_allclose(found["gauss"][::-1, 96:], found["gauss"][:, :97], rtol=1e-5)  # x and -x


def test_a_fan_leaves_from_where_the_motion_began_in_all_directions_equally_fast():
    moved = simulation(settings(fan=True, rod_mass=0.2, fan_length=2.5))
    moved.apply(messages.Step(60, False))
    before = backgrounds.curves(moved.lab, moved.moment)
    moved.apply(messages.Act("here"))
    after = backgrounds.curves(moved.lab, moved.moment)
    assert before is not None
    assert after is not None
    assert len(after.curves) == sphere.RAYS
    x, link = moved.frame(0).q, link_of(moved.moment.settings)
    for curves, start in ((before, LAB.start(moved.moment.settings)[0]), (after, x)):
        for curve in curves.curves:
            np.testing.assert_allclose(numbers(curve.points)[:3], sphere.placed(start), rtol=0, atol=1e-6)
    path = sphere.fan(moved.moment.segment.motion.kernel, LAB.numbers(moved.moment.settings), x, 2.5)[5]
    hinges = np.array([link.hinges(p) for p in path[:: sphere.POINTS // 64]])
    steps = np.diff(hinges, axis=0)
    lengths = np.sqrt(np.einsum("kic,ij,kjc->k", steps, link.masses.matrix(), steps))
    np.testing.assert_allclose(lengths, 2.5 * np.sqrt(1 + 2 / 3 * 0.2) / 64, rtol=1e-3)


def test_the_shortest_motion_leads_from_mark_to_mark():
    moved = simulation()
    moved.apply(messages.Act("mark_a"))
    assert [a.name for a in moved.view.actions if not a.name.startswith(PRESET)] == ["mark_a", "mark_b"]
    moved.apply(messages.Step(100, False))
    moved.apply(messages.Act("mark_b"))
    chosen, curves = moved.moment.settings, backgrounds.curves(moved.lab, moved.moment)
    a, b = marked(chosen, "a"), marked(chosen, "b")
    assert a is not None
    assert b is not None
    assert curves is not None
    assert [mark.label for mark in curves.marks] == ["A", "B"]
    (line,) = curves.curves
    points = numbers(line.points).reshape(-1, 3)
    np.testing.assert_allclose(points[[0, -1]], [sphere.placed(a), sphere.placed(b)], rtol=0, atol=1e-5)
    moved.apply(messages.Act("travel"))
    assert moved.playing
    np.testing.assert_allclose(moved.frame(0).q, a, rtol=0, atol=1e-15)
    moved.advance(3 * 960)
    assert moved.playing
    moved.advance(3 * 960)  # twice what is left: time is held at B
    assert not moved.playing
    np.testing.assert_allclose(moved.frame(0).q, b, rtol=0, atol=1e-5)
    moved.apply(messages.Act("clear"))
    assert marked(moved.moment.settings, "a") is None
    moved.apply(messages.Undo())
    assert marked(moved.moment.settings, "a") is not None


def test_the_shortest_motion_is_the_same_both_ways_and_shorter_than_the_great_circle():
    rng = np.random.default_rng(5)
    s = np.linspace(0, 1, 400)[:, None]
    for base, rod_mass in ((2.6, 0.0), (3.0, 0.5), (3.7, 0.0)) * 2:
        chosen = settings(base=base, rod_mass=rod_mass)
        code, p, link = kernel(LAB.structure(chosen)), LAB.numbers(chosen), link_of(chosen)
        a, b = rng.normal(size=(2, 3))
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        motion, back = shortest(code, p, a, b), shortest(code, p, b, a)
        assert motion is not None
        assert back is not None
        assert motion.length == pytest.approx(back.length, rel=1e-6)
        np.testing.assert_allclose(motion.path[-1], b, rtol=0, atol=1e-8)
        assert motion.length**2 == pytest.approx(float(link.inner(a, motion.velocity, motion.velocity)), rel=1e-12)
        angle = np.arccos(a @ b)
        circle = (np.sin((1 - s) * angle) * a + np.sin(s * angle) * b) / np.sin(angle)
        steps = np.diff(np.asarray(jax.vmap(link.surface.hinges)(circle)), axis=0)
        assert motion.length < np.sqrt(np.einsum("kic,ij,kjc->k", steps, link.masses.matrix(), steps)).sum()


def test_without_a_surface_the_picture_says_so():
    moved = simulation(settings(rods=3))
    surface, curves = backgrounds.surface(moved.lab, moved.moment), backgrounds.curves(moved.lab, moved.moment)
    assert surface is not None
    assert surface.rows == 0
    assert curves is not None
    assert "circle" in curves.note
    assert len(curves.curves) == 1
    five = LAB.view(settings(rods=5), 1)
    assert not [body for body in five.bodies if body.picture == 1 and body.grasp]
    assert five.toggles == ()
    assert all(action.name.startswith(PRESET) for action in five.actions)
    assert [choice.name for choice in five.choices] == ["route"]


# ── Settings ──────────────────────────────────────────────────────────────────────────────────────


def test_a_state_goes_into_a_link_and_comes_back_bit_for_bit():
    moved = simulation(settings("rods", fan=True))
    moved.apply(messages.Step(20, False))
    moved.apply(messages.Act("mark_a"))
    moved.apply(messages.Step(20, False))
    text, was = moved.document(), bits(moved)
    other = simulation()
    other.apply(messages.Restore(text))
    assert bits(other) == was
    assert other.moment.settings == moved.moment.settings
    other.apply(messages.Step(3, False))
    moved.apply(messages.Step(3, False))
    assert bits(other) == bits(moved)
    with pytest.raises(Refusal, match="no point of the sphere"):
        other.apply(messages.Restore(text.replace('"a1":', '"a1":1')))


def test_undo_restores_marks_routes_and_throws():
    moved = simulation()
    history = [bits(moved)]
    for command in (
        messages.Act("mark_a"), messages.SetChoice("field", "bending"), messages.SetToggle("fan", True),
        messages.SetParameter("base", 3.5, True), messages.SetChoice("route", "rods"), messages.Step(4, False),
    ):  # fmt: skip
        moved.apply(command)
        history.append(bits(moved))
    for was in history[-2::-1]:
        moved.apply(messages.Undo())
        assert bits(moved) == was
    assert moved.moment.settings == LAB.opening()


def test_bad_settings_are_refused_in_a_sentence():
    moved = simulation()
    for command, sentence in (
        (messages.SetParameter("base", 4.2, True), "Length of the base must be between"),
        (messages.SetParameter("rods", 2, True), "Number of rods must be between 3"),
        (messages.SetParameter("rods", 3.5, True), "whole number"),
        (messages.SetParameter("hinge_mass", -1, True), "must be between 0"),
        (messages.SetParameter("hinge_mass", 0, True), "cannot both be without mass"),
        (messages.SetChoice("route", "teleport"), "is one of"),
        (messages.Act("travel"), "no button"),
        (messages.DragBegin(8), "no body"),
    ):
        with pytest.raises(Refusal, match=sentence):
            moved.apply(command)
    with pytest.raises(Refusal, match="cannot describe a linkage"):
        LAB.scene(moved.moment.settings, 0.0, X, V)


def test_the_snippet_is_the_same_state(tmp_path):
    moved = simulation(settings("rods", base=3.1, rod_mass=0.25))
    moved.apply(messages.Step(33, False))
    now = moved.reading
    text = LAB.snippet(moved.moment.settings, now.t, now.q, now.v)
    ast.parse(text)
    (tmp_path / "snippet.py").write_text(text.split("run = ")[0], encoding="utf-8")
    space = runpy.run_path(str(tmp_path / "snippet.py"))
    np.testing.assert_array_equal(space["q"], now.q[:3])
    np.testing.assert_array_equal(space["v"], now.v[:3])
    assert float(space["link"].energy(space["q"], space["v"])) == pytest.approx(channels(moved)["kinetic"], rel=1e-12)


def test_the_motion_is_kept_in_files(tmp_path):
    moved = simulation(settings("rods"))
    moved.apply(messages.Step(12, False))
    found = export.history(LAB, moved.moment, export.rows(LAB, moved.moment))
    table = export.as_csv(LAB, moved.moment.settings, export.rows(LAB, moved.moment))
    lines = b"".join(table).decode().splitlines()
    assert lines[0].startswith("t,x1,x2,x3,beside_x1,")
    assert len(lines) == 1 + len(found.t) == 14
    (tmp_path / "run.nc").write_bytes(export.as_netcdf("holonomy.studio.labs.linkage", found))
    run = hl.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(run.q, found.q[:, :3])
    # a linkage without forces moves on a geodesic: its energy is conserved, and the method is the one that was used
    assert run.certificate.energy_conserved
    assert "not conserved" not in str(run.certificate)
    assert run.certificate.method == LAB.program(LAB.structure(settings())).method.label == "RK4()"
    assert run.provenance.maker == "studio"
    speed = np.sum(run.momentum * run.v, axis=1)
    np.testing.assert_allclose(0.5 * speed, run.energy, rtol=1e-12)


def test_whatever_a_hand_does_every_number_stays_finite():
    moved, rng = simulation(), np.random.default_rng(3)

    def far() -> float:
        return float(rng.choice([0.0, 1e6, -1e6, rng.normal(), 1e-12]))

    for _ in range(250):
        command = [
            messages.DragBegin(int(rng.integers(5))),
            messages.DragMove(far(), far(), far()),
            messages.DragEnd(far(), far(), far()),
            messages.SetParameter("base", float(rng.uniform(1.9, 4.1)), True),
            messages.SetParameter("rod_mass", float(rng.choice([0.0, 1e-3, 3.0])), True),
            messages.SetParameter("hinge_mass", float(rng.choice([0.0, 1e-3, 3.0])), True),
            messages.SetParameter("fan_length", float(rng.uniform(0.5, 16.0)), True),
            messages.SetToggle("fan", bool(rng.integers(2))),
            messages.SetChoice("route", str(rng.choice(["none", "rods", "chart"]))),
            messages.Act(str(rng.choice(["mark_a", "mark_b", "travel", "clear", "here"]))),
            messages.Step(int(rng.integers(1, 20)), False),
            messages.Undo(),
        ][rng.integers(12)]
        with contextlib.suppress(Refusal):
            moved.apply(command)
        frame, curves = moved.frame(0), backgrounds.curves(moved.lab, moved.moment)
        assert curves is not None
        for array in (frame.q, frame.v, frame.channel, frame.position, *(numbers(c.points) for c in curves.curves)):
            assert np.isfinite(array).all(), command
