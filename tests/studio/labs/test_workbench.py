"""The Workbench lab: texts to motion, mistakes at their characters, presets against the library."""

import numpy as np
import pytest
from tests.studio.labs.scripted_session import compiled

import holonomy as hl
from holonomy.scene.build_system import build
from holonomy.scene.read import loads
from holonomy.studio.labs.settings import Refusal, Settings
from holonomy.studio.labs.workbench import LAB
from holonomy.studio.session import share_link
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

KERNELS = compiled(LAB)
BEAD = {
    "coordinates": "s length",
    "lagrangian": "m*(1 + 4*a^2*s^2)*s_dot^2/2 - m*g*a*s^2",
    "parameters": "m = 1, a = 0.5, g = 9.81",
    "start": "s = 1",
}
"""A bead on a parabola, which is no preset."""
ROD = {
    "coordinates": "x length, y length",
    "positions": "x, y",
    "masses": "m",
    "potential": "m*g*y",
    "constraints": "x^2 + y^2 = l^2",
    "parameters": "m = 1, l = 1, g = 9.81",
    "start": "x = l, y = 0",
}


def typed(**texts):
    return LAB.completed(Settings({}, {}, {}, texts))


@pytest.fixture(scope="module")
def bead():
    return Simulation(LAB, KERNELS, typed(**BEAD))


@pytest.fixture(scope="module")
def rod():
    return Simulation(LAB, KERNELS, typed(**ROD))


@pytest.mark.parametrize("preset", [preset.name for preset in LAB.descriptor.presets])
def test_presets_start_on_their_constraints_and_move(preset):
    settings = LAB.preset(preset)
    moving = Simulation(LAB, KERNELS, settings)
    kernel, (q, v) = moving.moment.segment.motion.kernel, LAB.start(settings)
    near = kernel.routines["settle"](LAB.numbers(settings), 0.0, q, v)
    np.testing.assert_allclose(np.concatenate(near), np.concatenate([q, v]), atol=1e-9)
    assert kernel.engine.startswith("native")
    places = LAB.pose(settings)
    assert places is not None
    np.testing.assert_allclose(moving.frame(0).position[moving.view.anchors :], places, atol=1e-12)
    moving.advance(96)
    frame = moving.frame(1)
    assert len(frame.position) == moving.view.anchors + len(moving.view.bodies)
    assert len(frame.channel) == len(moving.view.channels)
    assert np.all(np.isfinite(frame.channel))
    assert not np.array_equal(frame.q, q)
    if LAB.conserves_energy(settings):
        assert abs(frame.drift) < 1e-8 * (1.0 + abs(moving.reading.total))


@pytest.mark.parametrize("preset", ["double_pendulum", "elliptical_wire", "knife_edge", "driven_rod"])
def test_the_motion_is_that_of_the_library(preset):
    settings = LAB.preset(preset)
    moving = Simulation(LAB, KERNELS, settings)
    moving.advance(20)
    system, method = LAB.library(settings)
    q, v = LAB.start(settings)
    run = hl.simulate(system, q, v, 20 / 960, dt=1 / 960, method=method)
    np.testing.assert_allclose(moving.reading.q, run.q[-1], rtol=0, atol=1e-12)
    count = len(run.multipliers[-1])
    if count:
        np.testing.assert_allclose(moving.frame(1).channel[-count:], run.multipliers[-1], rtol=1e-6)


MISTAKES = [
    # setting, its text, where the mistake is told, the characters, a part of the sentence
    (BEAD, "lagrangian", "m*s_dot^2/2 - m*h*s", "lagrangian", "h", "not defined"),
    (BEAD, "lagrangian", "m*s_dot^2/2 - (m*g*s", "lagrangian", "", "parenthesis"),
    (BEAD, "lagrangian", "m*s_dot^2/2 - m*g*sn(s)", "lagrangian", "sn", "no function"),
    (BEAD, "lagrangian", "m*s_dot^2/2 -", "lagrangian", "", "ends where a value"),
    (BEAD, "lagrangian", "2m*s_dot^2", "lagrangian", "m", "no operator"),
    (BEAD, "lagrangian", "m*s_dot²/2", "lagrangian", "²", "no meaning"),
    (BEAD, "lagrangian", "m*atan2(s)", "lagrangian", "atan2(s)", "two arguments"),
    (BEAD, "lagrangian", "1e999*s_dot", "lagrangian", "1e999", "too large"),
    (BEAD, "lagrangian", "", "lagrangian", "", "no system"),
    (BEAD, "lagrangian", "m*__import__", "lagrangian", "__import__", "not allowed"),
    (BEAD, "coordinates", "", "coordinates", "", "no coordinates"),
    (BEAD, "coordinates", "s lengthh", "coordinates", "lengthh", "no kind"),
    (BEAD, "coordinates", "s length, s angle", "coordinates", "s", "twice"),
    (BEAD, "coordinates", "2s", "coordinates", "2s", "begin with a letter"),
    (BEAD, "coordinates", "sin angle", "coordinates", "sin", "function sin"),
    (BEAD, "coordinates", "r length", "start", "s", "no coordinate"),
    (BEAD, "parameters", "m = 1, a = 0.5 g = 9.81", "parameters", "0.5 g = 9.81", 'second "="'),
    (BEAD, "parameters", "m = 1, a = , g = 9.81", "parameters", "a =", "no formula"),
    (BEAD, "parameters", "m = 1, a = b, g = 9.81", "parameters", "b", "not defined"),
    (BEAD, "parameters", "m = 1, a = 1, g = 1, s = 1", "parameters", "s", "already in coordinates"),
    (BEAD, "start", "", "start", "", "no starting value"),
    (BEAD, "start", "s = 1, r = 2", "start", "r", "no coordinate"),
    (BEAD, "start", "s", "start", "s", '"="'),
    (BEAD, "forces", "s = -c*s_dot", "forces", "c", "not defined"),
    (BEAD, "forces", "x = 1", "forces", "x", "no such coordinate"),
    (BEAD, "definitions", "h = k\nk = 2", "definitions", "k", "further down"),
    (BEAD, "masses", "m", "masses", "m", "Lagrangian"),
    (ROD, "constraints", "x^2 + y^2 = L^2", "constraints", "L", 'mean "l"'),
    (ROD, "constraints", "x^2 + y^2 =", "constraints", "x^2 + y^2 =", "empty"),
    (ROD, "constraints", "y >= 0", "constraints", "y >= 0", "inequality"),
    (ROD, "masses", "m, m", "masses", "m, m", "2 masses"),
    (ROD, "masses", "", "masses", "", "need masses"),
    (ROD, "masses", "-m", "masses", "-m", "negative"),
    (ROD, "positions", "x, y\nx, q", "positions", "q", "not defined"),
    (ROD, "positions", "x_dot, y", "positions", "x_dot", "rate of change"),
    (ROD, "potential", "m*g*z", "potential", "z", "not defined"),
    (ROD, "lines", "0-3", "lines", "0-3", "two different points"),
]


@pytest.mark.parametrize(("base", "setting", "text", "told", "characters", "sentence"), MISTAKES)
def test_a_mistake_is_told_at_its_characters(base, setting, text, told, characters, sentence):
    texts = {**base, setting: text}
    with pytest.raises(Refusal) as caught:
        typed(**texts)
    refusal = caught.value
    assert refusal.setting == told
    assert texts[told][refusal.start : refusal.end] == characters
    assert sentence in str(refusal)


def test_texts_that_depend_on_each_other_are_typed_one_after_the_other(bead):
    with pytest.raises(Refusal) as caught:
        bead.apply(messages.SetText("coordinates", "u length", True))
    assert caught.value.setting == "start"
    assert bead.controls().texts["coordinates"] == "u length"  # it stays on the page
    assert bead.reading.q == 1.0  # while the motion is still the old one
    with pytest.raises(Refusal, match='uses "s"'):
        bead.apply(messages.SetText("start", "u = 2", True))
    bead.apply(messages.SetText("lagrangian", "m*u_dot^2/2 - m*g*a*u^2", True))
    assert LAB.columns(bead.moment.settings) == ("u",)
    assert bead.reading.q == 2.0
    bead.apply(messages.Undo())
    assert LAB.columns(bead.moment.settings) == ("s",)
    assert bead.controls().texts == dict(typed(**BEAD).texts)


def test_parameters_of_the_text_have_sliders_that_compile_nothing(bead):
    before = LAB.structure(bead.moment.settings)
    assert [p.name for p in bead.view.parameters] == ["m", "a", "g"]
    bead.apply(messages.SetParameter("g", 1.5, True))
    assert bead.controls().parameters["g"] == 1.5
    bead.apply(messages.SetText("parameters", "m = 1, a = 0.25, g = 9.81", True))
    assert bead.controls().parameters["g"] == 1.5  # only the number that was typed anew changes
    assert bead.controls().parameters["a"] == 0.25
    assert LAB.structure(bead.moment.settings) == before
    found = share_link.read(LAB, bead.document())
    assert found.settings == bead.moment.settings
    bead.apply(messages.Undo())
    bead.apply(messages.Undo())


def test_a_start_off_the_constraints_is_refused_with_the_nearest_one(rod):
    with pytest.raises(Refusal, match=r"nearest: x = 1, y = 0\.") as caught:
        rod.apply(messages.SetText("start", "x = 1.1, y = 0", True))
    assert caught.value.setting == "start"
    rod.apply(messages.SetText("start", "x = 0, y = -l, x_dot = 1", True))
    np.testing.assert_allclose(rod.reading.q, [0.0, -1.0])
    rod.apply(messages.SetParameter("l", 1.5, True))  # the slider takes the particle along
    np.testing.assert_allclose(rod.reading.q, [0.0, -1.5], atol=1e-12)


def test_points_can_be_dragged_along_their_constraints(rod):
    rod.apply(messages.DragBegin(0))
    for _ in range(4):  # one drag sends many of these
        rod.apply(messages.DragMove(3.0, 3.0, 0.0))
    size = rod.controls().parameters["l"]
    np.testing.assert_allclose(rod.reading.q, size * np.sqrt([0.5, 0.5]), atol=2e-2 * size)
    np.testing.assert_allclose(np.linalg.norm(rod.reading.q), size, rtol=1e-12)
    rod.apply(messages.DragEnd(0.0, 0.0, 0.0))


def test_a_singular_kinetic_energy_is_refused_with_its_directions():
    with pytest.raises(ValueError, match="velocities \\(of y\\)"):
        LAB.program(LAB.structure(typed(coordinates="x, y", lagrangian="x_dot^2/2 + y*x", start="x = 0, y = 0")))


def test_the_analysis_offers_the_reduced_system_to_go_on_with(bead):
    settings = LAB.preset("kepler")
    _, items = LAB.equations(LAB.derivation(settings))
    found = {item[0]: item for item in items}
    assert "oscillation of r" in found["Routh's reduction"][2]
    document = found["Routh's reduction"][3]
    bead.apply(messages.Restore(document))
    assert LAB.columns(bead.moment.settings) == ("r",)
    assert "p_phi" in bead.controls().parameters
    bead.apply(messages.Undo())


def test_jacobis_curvature_is_that_of_the_library():
    settings = LAB.preset("kepler")
    kernel = KERNELS(LAB.structure(settings))
    system, _ = LAB.library(settings)
    q, v = LAB.start(settings)
    metric = hl.jacobi_metric(system, float(system.energy(0.0, q, v)))
    points = np.full((61 * 61, 2), [1.2, 0.3])
    found = kernel.routines["map"](LAB.numbers(settings), q, v, points)[0][0]
    np.testing.assert_allclose(found, metric.curvature.gaussian(points[0]), rtol=1e-10)
    field = LAB.field(settings, kernel)
    assert field is not None
    assert field.signed


@pytest.mark.parametrize("preset", ["elliptical_wire", "driven_rod", "knife_edge"])
def test_the_scene_is_the_same_system(preset):
    settings = LAB.preset(preset)
    values = {name: 1.5 * x if name in ("m", "g") else x for name, x in settings.parameters.items()}
    settings = LAB.completed(
        Settings(values, {"method": "gauss2"} if preset == "driven_rod" else {}, {}, settings.texts)
    )
    q, v = LAB.start(settings)
    built = build(loads(LAB.scene(settings, 1.25, q, v)))
    system, method = LAB.library(settings)
    assert (built.setup.t, built.setup.q, built.setup.v) == (1.25, tuple(q), tuple(v))
    assert (built.setup.t_end, built.setup.dt, built.setup.save_every) == (11.25, 1 / 960, 16)
    assert built.arguments["method"].label == method.label
    np.testing.assert_allclose(built.system.acceleration(1.25, q, v), system.acceleration(1.25, q, v), rtol=1e-13)


def test_the_python_program_goes_on_from_the_state(bead, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now, names = bead.reading, {}
    exec(LAB.snippet(bead.moment.settings, now.t, now.q, now.v), names)  # noqa: S102 - it is what users run
    run = names["run"]
    assert (run.t[0], run.q[0, 0], run.v[0, 0]) == (now.t, now.q[0], now.v[0])
    assert run.certificate.verdict == "good"
    assert (tmp_path / "workbench.png").is_file()
