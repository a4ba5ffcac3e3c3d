"""The pendulum lab's own code against the library's systems, and the reach of a hand."""

import ast
import functools
import subprocess
import sys
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import holonomy as hl
from holonomy.models import tensions, to_rigid
from holonomy.models.pendulums.inverse_kinematics import chain_points, reach
from holonomy.scene import build, loads
from holonomy.studio.compile.kernel import Kernel, Stopped
from holonomy.studio.compile.program import compile_program
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.pendulum.lab import PendulumLab
from holonomy.studio.labs.pendulum.settings import METHODS
from holonomy.studio.labs.settings import Refusal, Settings
from holonomy.studio.session import export, web_page
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

LAB = PendulumLab()
DT = 1 / 960
NUMBERS: dict[str, Any] = {
    "gravity": 3.7,
    "damping": 0.3,
    "stiffness": 60.0,
    "length1": 1.3,
    "length2": 0.4,
    "mass1": 2.0,
    "mass2": 0.7,
}
Q, V = np.array([2.1, -0.8]), np.array([1.5, -4.0])
BENT_Q, BENT_V = np.array([0.3, -1.1, 0.9, -1.4]), np.array([0.5, 0.1, -0.4, 0.8])


@functools.cache
def kernel(structure) -> Kernel:
    return Kernel(compile_program(LAB.program(structure)))


def settings(model="rigid", method="gauss2", ghost=False, step="960", **parameters: Any) -> Settings:
    return LAB.completed(Settings(parameters, {"model": model, "method": method, "step": step}, {"ghost": ghost}))


def simulation(chosen: Settings) -> Simulation:
    return Simulation(LAB, kernel, chosen)


CASES = [("rigid", "gauss2", Q, V), ("elastic", "rk4", BENT_Q, BENT_V)]


@pytest.mark.parametrize("model, method, q, v", CASES)
def test_what_is_seen_is_what_the_system_says(model, method, q, v):
    chosen = settings(model, method, **NUMBERS)
    code = kernel(LAB.structure(chosen))
    system, _ = LAB.library(chosen)
    spot = code.start(LAB.numbers(chosen), 0.5, DT, q, v)
    assert code.time(spot) == 0.5
    np.testing.assert_allclose(code.q(spot), q, rtol=1e-15)
    np.testing.assert_allclose(code.v(spot), v, rtol=1e-14)
    assert system.positions is not None
    np.testing.assert_allclose(
        code.positions(spot), system.positions(0.5, q, system.parameters), rtol=1e-14, atol=1e-15
    )
    energies = code.channels(spot)[: 4 if model == "elastic" else 3]
    np.testing.assert_allclose(energies[0], v @ np.asarray(system.mass_matrix(0.5, q)) @ v / 2, rtol=1e-13)
    np.testing.assert_allclose(energies[-1], float(system.energy(0.5, q, v)), rtol=1e-13)
    np.testing.assert_allclose(energies[-1], energies[:-1].sum(), rtol=1e-14)
    spans = np.zeros(2)
    if model == "elastic":
        rigid, _ = LAB.library(settings(**NUMBERS))
        angles, rates = to_rigid(rigid, system, 0.5, q, v)
        np.testing.assert_allclose(code.channels(spot)[4:6], angles, rtol=1e-14)
        np.testing.assert_allclose(code.channels(spot)[6:8], rates, rtol=1e-13)
        spans = np.linalg.norm(np.diff(np.concatenate([[[0, 0]], q.reshape(2, 2)]), axis=0), axis=1)
        np.testing.assert_allclose(code.strain(spot), spans / [1.3, 0.4] - 1, rtol=1e-13)
    named = dict(zip((c.name for c in LAB.drawn(chosen).channels), code.channels(spot), strict=True))
    assert (2.0 * named["speed1"] ** 2 + 0.7 * named["speed2"] ** 2) / 2 == pytest.approx(named["kinetic"], rel=1e-13)
    pulls = 60.0 * (spans - [1.3, 0.4]) if model == "elastic" else tensions(system, 0.5, q, v)
    np.testing.assert_allclose([named["tension1"], named["tension2"]], pulls, rtol=1e-12)
    momenta = ("px1", "py1", "px2", "py2") if model == "elastic" else ("p1", "p2")
    np.testing.assert_allclose([named[p] for p in momenta], np.asarray(system.mass_matrix(0.5, q)) @ v, rtol=1e-13)


def test_of_many_links_the_ends_are_described():
    names = [channel.name for channel in LAB.drawn(settings(method="rk4", links=12)).channels]
    assert names[-3:] == ["speed12", "tension1", "p12"]


@pytest.mark.parametrize("model, method, q, v", CASES)
def test_its_steps_are_those_of_simulate(model, method, q, v):
    chosen = settings(model, method, **NUMBERS)
    code = kernel(LAB.structure(chosen))
    system, chosen_method = LAB.library(chosen)
    spot = code.advance(code.start(LAB.numbers(chosen), 0.0, DT, q, v), 96)
    run = hl.simulate(system, q, v, 0.1, dt=DT, method=chosen_method)
    assert code.time(spot) == 0.1
    np.testing.assert_allclose(code.q(spot), run.q[-1], rtol=1e-12)
    np.testing.assert_allclose(code.v(spot), run.v[-1], rtol=1e-11)


def test_steps_compose_bit_for_bit():
    """What `CheckpointedTrajectory` rests on: any way to cut a number of steps into calls gives the same bits."""
    chosen = settings(**NUMBERS)
    code = kernel(LAB.structure(chosen))
    start = code.start(LAB.numbers(chosen), 0.0, DT, Q, V)
    whole = code.advance(start, 700)
    for strides in ((1,) * 10 + (690,), (16,) * 43 + (12,), (350, 350), (699, 1)):
        spot = start
        for stride in strides:
            spot = code.advance(spot, stride)
        assert spot.seen.tobytes() == whole.seen.tobytes()
        assert spot.row.tobytes() == whole.row.tobytes()


def test_real_steps_back_seeking_and_undo_are_exact():
    live = simulation(settings(ghost=True))

    def bits():
        return live.frame(0).channel.tobytes()

    live.advance(1008)
    held = bits()
    live.apply(messages.Step(7, False))
    live.apply(messages.Step(-7, False))
    assert bits() == held
    live.apply(messages.DragBegin(1))
    live.apply(messages.DragMove(1.0, 0.5, 0.0))
    live.apply(messages.DragEnd(0.0, 0.0, 0.0))
    live.advance(100)
    live.apply(messages.Seek(1008 * DT, True))
    assert live.reading.t == 1008 * DT
    live.apply(messages.Undo())
    live.apply(messages.Undo())
    assert bits() == held


def test_explicit_euler_feeds_energy_and_explodes_and_says_so():
    live = simulation(settings("elastic", "euler", step="60"))
    before = live.reading.total
    live.apply(messages.Play())
    live.advance(60)
    assert live.reading.total > 10 * abs(before)
    with pytest.raises(Refusal, match=r"The motion stopped at t = .* the numbers overflowed"):
        live.advance(200_000)
    assert not live.playing
    assert np.isfinite(live.frame(0).q).all()
    live.apply(messages.Undo())
    assert live.reading.t == 0.0


def test_a_longer_step_needs_no_other_code():
    coarse, fine = settings(step="60"), settings()
    assert LAB.structure(coarse) == LAB.structure(fine)
    live = simulation(fine)
    live.apply(messages.SetChoice("step", "60"))
    live.advance(3)
    assert live.reading.t == 3 / 60
    assert live.view.dt == 1 / 60


def test_a_start_that_is_no_state_is_refused():
    chosen = settings("elastic", "rk4")
    with pytest.raises(Stopped, match="cannot start"):
        kernel(LAB.structure(chosen)).start(LAB.numbers(chosen), 0.0, DT, np.zeros(4), np.zeros(4))


def test_a_regular_motion_has_no_exponent_and_a_chaotic_one_has():
    small = simulation(settings(ghost=True, ghost_offset=1e-6))
    small.apply(messages.DragBegin(1))
    small.apply(messages.DragMove(0.2, -1.98, 0.0))
    small.apply(messages.DragEnd(0.0, 0.0, 0.0))
    small.advance(960 * 100)
    wild = simulation(settings(ghost=True, ghost_offset=1e-6))
    wild.advance(960 * 100)
    assert abs(small.reading.channel[-1]) < 0.1
    assert 1.0 < wild.reading.channel[-1] < 5.0


def test_every_lab_is_whole():
    for lab in all_labs():
        chosen, view = lab.opening(), lab.view(lab.opening(), 1)
        variants = [chosen, *(chosen.with_toggle(t.name, True) for t in view.toggles)]
        variants += [chosen.with_choice(c.name, o.value) for c in view.choices for o in c.options]
        for variant in variants:
            try:
                complete = lab.completed(variant)
            except Refusal as refusal:
                if not refusal.setting:  # else the sentence stands at a control
                    raise
                continue
            whole(lab, complete)

        assert len(set(lab.likely(chosen))) == len(lab.likely(chosen))
        assert lab.structure(chosen) not in lab.likely(chosen)
    assert len({lab.name for lab in all_labs()}) == len(all_labs())


def whole(lab, chosen):
    view = lab.view(chosen, 1)
    q, v = lab.start(chosen)
    assert len(q) == len(v) == len(view.coordinates) == len(lab.columns(chosen))
    assert len(lab.radii(chosen)) == len(view.bodies)
    assert len(lab.extents(chosen)) == len(view.pictures)
    points = view.anchors + len(view.bodies)
    assert len(lab.anchors(chosen)) == view.anchors
    assert all(max(rod.start, rod.end) < points for rod in view.rods)
    assert all(p.low <= p.default <= p.high and p.name in chosen.parameters for p in view.parameters)
    assert all(c.default in {o.value for o in c.options} for c in view.choices)
    names = [c.name for c in view.channels]
    assert len(set(names)) == len(names)
    assert {e.name for e in view.energies} <= set(names)
    assert {n for plot in view.plots for n in (*plot.x, *plot.y)} <= {"t", *names}
    assert all(len(plot.x) in (1, len(plot.y)) for plot in view.plots)
    assert lab.completed(chosen) == chosen
    assert lab.frame_seconds / lab.step(chosen) == round(lab.frame_seconds / lab.step(chosen))
    assert view.dt == lab.step(chosen)


def test_every_method_is_there():
    for option in METHODS:
        chosen = settings(method=option.value)
        system, method = LAB.library(chosen)
        assert method.order >= 1
        assert LAB.program(LAB.structure(chosen)).method.label == method.label
        assert system.space.point_dim == 2


def test_bad_numbers_are_refused():
    live = simulation(settings())
    for name, value in (("length1", 0.0), ("mass2", 0.0), ("links", 0.0), ("links", 1e6), ("stiffness", 100.0)):
        with pytest.raises(Refusal):
            live.apply(messages.SetParameter(name, value, True))
    with pytest.raises(Refusal, match="Number of links must be a whole number from 1 to 100, but 0 was given"):
        LAB.completed(Settings({"links": 0.0}, {}, {}))


# ── Taking it along ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def moved() -> Simulation:
    live = simulation(settings(length2=0.7, mass1=1.5))
    live.advance(500)
    live.apply(messages.SetParameter("gravity", 9.0, True))
    live.advance(333)
    return live


def test_the_python_program_holds_the_same_state_and_plots_what_follows(moved, tmp_path):
    now = moved.reading
    text = LAB.snippet(moved.moment.settings, now.t, now.q, now.v)
    text += "print([float(x) for x in (t, *q, *v, system.energy(t, q, v), *run.q[60], *run.v[60])])\n"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=300, cwd=tmp_path
    )
    assert (tmp_path / "pendulum.png").read_bytes().startswith(b"\x89PNG")
    got = np.array(ast.literal_eval(done.stdout.splitlines()[-1]))
    moved_on = simulation(moved.moment.settings)
    moved_on.apply(messages.Restore(moved.document()))
    moved_on.advance(960)
    np.testing.assert_array_equal(got[:5], [now.t, *now.q, *now.v])
    np.testing.assert_allclose(got[5], now.total, rtol=1e-12)
    np.testing.assert_allclose(got[6:], [*moved_on.reading.q, *moved_on.reading.v], rtol=1e-9)


@pytest.mark.parametrize("model, method, q, v", CASES)
def test_the_scene_is_the_same_system(model, method, q, v):
    chosen = settings(model, method, **{**NUMBERS, "damping": 0.0})
    built = build(loads(LAB.scene(chosen, 1.25, q, v)))
    system, _ = LAB.library(chosen)
    assert (built.setup.t, built.setup.q, built.setup.v) == (1.25, tuple(q), tuple(v))
    assert built.setup.dt == DT
    np.testing.assert_allclose(
        built.system.acceleration(0.0, q, v), system.acceleration(0.0, q, v), rtol=1e-11, atol=1e-12
    )


def test_the_web_page_holds_the_motion_of_springs_and_of_a_ghost():
    live = simulation(settings("elastic", "rk4", ghost=True))
    live.apply(messages.SetText("page", '{"plots":[]}', True))
    live.advance(320)
    readings = list(export.rows(LAB, live.moment))
    found = web_page.recorded(LAB, live.moment, live.controls(), readings)
    head, now = found.head(), live.reading
    numbers = np.frombuffer(found.numbers(), "<f8", found.table.size).reshape(found.table.shape)
    assert head["rows"] == len(readings) == 21
    assert numbers[-1, 0] == now.t
    last = numbers[-1, 1:]
    np.testing.assert_array_equal(last[: len(now.channel)], now.channel)
    for name in ("q", "v", "energy", "strain"):
        np.testing.assert_array_equal(last[list(head["state"][name])], getattr(now, name))
    np.testing.assert_array_equal(found.places[-1], now.position)
    assert head["controls"]["texts"] == {"page": '{"plots":[]}'}
    assert head["welcome"]["lab"]["parameters"] == ()
    page = web_page.as_page(LAB, live.moment, live.controls(), readings)
    assert "gravity = 9.81" in page
    assert "Runge" in page or "RK4" in page


def test_files_of_the_motion_hold_every_picture_since_the_last_change_of_form(moved, tmp_path):
    found = export.history(LAB, moved.moment, export.rows(LAB, moved.moment))
    assert (np.diff(found.t) > 0).all()
    assert found.t[0] == 0.0
    assert found.t[-1] == moved.reading.t
    assert found.q[-1].tobytes() == moved.reading.q.tobytes()
    table = export.as_csv(LAB, moved.moment.settings, export.rows(LAB, moved.moment))
    lines = b"".join(table).decode().splitlines()
    head, last = lines[0].split(","), lines[-1].split(",")
    assert head[:5] == ["t", "theta1", "theta2", "theta1_dot", "theta2_dot"]
    assert len(lines) == 1 + len(found.t)
    assert [float(x) for x in last[:5]] == [moved.reading.t, *moved.reading.q, *moved.reading.v]
    (tmp_path / "run.nc").write_bytes(export.as_netcdf("holonomy.studio.labs.pendulum", found))
    run = hl.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(run.q, found.q)
    assert run.certificate.method == "Gauss(2)"


# ── Reaching ──────────────────────────────────────────────────────────────────────────────────────


NO_KERNEL: Any = None  # reaching needs no compiled code here


def dragged(model, body, target, **numbers: Any):
    chosen = settings(model, "rk4", links=3.0, **numbers)
    q, _ = LAB.start(chosen)
    new = LAB.dragged(chosen, NO_KERNEL, q, body, np.array([*target, 0.0]))
    if model == "elastic":
        return new.reshape(-1, 2)
    return chain_points(new, np.array([chosen.parameters[f"length{i}"] for i in (1, 2, 3)]))[1:]


@pytest.mark.parametrize("model", ["rigid", "elastic"])
def test_a_hand_brings_a_bob_where_it_points(model):
    for body, target in ((2, (0.4, -1.3)), (1, (-1.2, 0.6)), (0, (0.6, -0.8))):
        np.testing.assert_allclose(dragged(model, body, target)[body], target, atol=1e-8)


def test_a_target_out_of_reach_stretches_rods_towards_it_and_springs_a_part_of_the_way():
    far = np.array([30.0, 40.0])
    np.testing.assert_allclose(dragged("rigid", 2, far)[2], 3 * far / 50, atol=1e-3)
    np.testing.assert_allclose(dragged("elastic", 2, far)[2], 9 * far / 50, atol=1e-3)
    near = np.array([3.0, 4.0])
    np.testing.assert_allclose(dragged("elastic", 2, near)[2], near, atol=1e-8)


def test_a_hand_at_the_pivot_gives_finite_places():
    for model in ("rigid", "elastic"):
        for body in range(3):
            assert np.isfinite(dragged(model, body, (0.0, 0.0))).all()


angles = st.lists(st.floats(-10, 10), min_size=1, max_size=6).map(np.array)


@hypothesis.given(angles, st.data())
def test_a_target_within_reach_is_reached_without_whole_turns(start, data):
    lengths = np.array(data.draw(st.lists(st.floats(0.2, 2.0), min_size=len(start), max_size=len(start))))
    bob = data.draw(st.integers(0, len(start) - 1))
    goal = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=len(start), max_size=len(start))))
    target = chain_points(goal, lengths)[bob + 1]
    reached = reach(start, lengths, bob, target)
    before, after = (chain_points(a, lengths)[bob + 1] for a in (start, reached))
    scale = lengths.sum()
    assert np.linalg.norm(after - target) <= np.linalg.norm(before - target) + 1e-9 * scale
    np.testing.assert_array_equal(reached[bob + 1 :], start[bob + 1 :])
