"""The Workbench lab: texts to motion, mistakes at their characters, presets against the library."""

import warnings

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
    near = LAB.carried(settings, settings, kernel, 0.0, q, v)
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
    bead.apply(messages.Play())
    assert not bead.runs, "there is no motion of what is shown"
    assert not bead.controls().playing
    with pytest.raises(Refusal, match="no motion of these settings"):
        bead.apply(messages.Step(1, False))
    with pytest.raises(Refusal, match='uses "s"'):
        bead.apply(messages.SetText("start", "u = 2", True))
    bead.apply(messages.SetText("lagrangian", "m*u_dot^2/2 - m*g*a*u^2", True))
    assert LAB.columns(bead.moment.settings) == ("u",)
    assert bead.reading.q == 2.0
    assert not bead.controls().faults
    bead.apply(messages.Undo())  # one text after the other, as they were typed
    assert LAB.columns(bead.moment.settings) == ("s",)
    assert [fault.setting for fault in bead.controls().faults] == ["lagrangian"]
    bead.apply(messages.Undo())
    assert [fault.setting for fault in bead.controls().faults] == ["start"]
    bead.apply(messages.Undo())  # of play
    bead.apply(messages.Undo())
    bead.apply(messages.Pause())
    assert not bead.controls().faults
    assert bead.controls().texts == dict(typed(**BEAD).texts)


def test_parameters_of_the_text_have_sliders_that_compile_nothing(bead):
    before = LAB.structure(bead.moment.settings)
    assert [p.name for p in bead.view.parameters] == ["m", "a", "g"]
    bead.apply(messages.SetParameter("g", 1.5, True))
    assert bead.controls().parameters["g"] == 1.5
    assert bead.controls().texts["parameters"] == "m = 1, a = 0.5, g = 1.5"
    bead.apply(messages.SetText("parameters", "m = 1, a = 0.25, g = 1.5", True))
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


def test_a_start_near_which_nothing_is_consistent_is_not_given_a_nearest_one(rod):
    settings = typed(**{**ROD, "constraints": "x^2 + y^2 = l^2\ny = 3*l"})
    kernel = KERNELS(LAB.structure(settings))
    with pytest.raises(Refusal, match="contradict each other, or it is too far away"):
        LAB.check_start(settings, kernel, 0.0, *LAB.start(settings))
    system, method = LAB.library(settings)
    with pytest.raises(ValueError, match="contradict each other, or the start is too far away"):
        hl.simulate(system, *LAB.start(settings), 1.0, dt=0.1, method=method)


PLANE = {"coordinates": "x length, y length", "start": "x = x0, y = y0, x_dot = u0, y_dot = w0"}
JUDGED = {
    # a system with parameters, and the values among which each is drawn: the first one, where all is well, mostly
    "masses": (
        {"lagrangian": "(a*x_dot^2 + 2*b*x_dot*y_dot + c*y_dot^2)/2 - k/x - y^2/2"},
        {
            "a": [1, -1e-9, 0, 1e-6, 3], "b": [0, 1, -2e6, 1e-9], "c": [1, -2, 0, 1e9], "k": [0, 1], "x0": [1, 0],
            "u0": [0, 1],
        },
    ),
    "positions": (
        {"lagrangian": "m*(x_dot^2 + y_dot^2)/2", "constraints": "a*x + b*y = c\nd*x + h*y = f*t^2 + g"},
        {
            "m": [1, -1, 1e-9], "a": [1, 0, 2e6], "b": [0, 1], "c": [1, 0], "d": [0, 1, 2], "h": [1, 0, 2], "f": [0, 1],
            "g": [0, 1], "x0": [1, 0, 1 + 1e-9], "y0": [0, 1], "u0": [0, 1],
        },
    ),
    "velocities": (
        {"lagrangian": "m*(x_dot^2 + y_dot^2)/2", "constraints": "a*x_dot + b*y_dot = c*t\nd*x_dot + h*y_dot = f*t"},
        {
            "m": [1, 1e9], "a": [1, 0], "b": [0, 1, 1e-6], "c": [0, 1], "d": [0, 1, 3], "h": [1, 0], "f": [0, 1, 3],
            "u0": [0, 1], "w0": [0, 1],
        },
    ),
    "a circle": (
        {
            "lagrangian": "m*(x_dot^2 + y_dot^2)/2 - y", "definitions": "f = x^2 + y^2 - l^2",
            "constraints": "f*(1 + n*(f - 1)) = 0",
        },
        {
            "m": [1, -1], "l": [1, 0, 1e6, 1 + 1e-9], "n": [0, 1], "x0": [1, 0, 1e6], "y0": [0, 1], "u0": [0, 1],
            "w0": [1, 0],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("system", JUDGED)
def test_what_the_library_refuses_is_refused_and_nothing_else(system):
    """The lab judges in NumPy what its compiled code says; `hl.simulate` what it has traced. Kinetic energy that is
    negative in some direction is a warning there, and an error in a scene."""
    texts, values = JUDGED[system]
    generator, names = np.random.default_rng(4), [*values, *({"x0", "y0", "u0", "w0"} - set(values))]
    verdicts: list[bool] = []
    for _ in range(40):
        choices = {name: values.get(name, [0]) for name in names}
        drawn = {n: float(generator.choice(c) if generator.uniform() < 0.25 else c[0]) for n, c in choices.items()}
        listed = ", ".join(f"{name} = {x!r}" for name, x in sorted(drawn.items()))
        settings = typed(**PLANE, **texts, parameters=listed)
        kernel, (q, v) = KERNELS(LAB.structure(settings)), LAB.start(settings)
        library, method = LAB.library(settings)
        try:
            LAB.check_start(settings, kernel, 0.0, q, v)
            said = ""
        except Refusal as refusal:
            said = str(refusal)
        told = ""
        try:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                hl.simulate(library, q, v, 1e-9, dt=1e-9, method=method, throw=False)
            told = " ".join(str(one.message) for one in heard if "negative kinetic energy" in str(one.message))
        except ValueError as error:
            told = str(error)
        assert bool(said) == bool(told), (drawn, said, told)
        verdicts.append(bool(said))
    assert 4 < sum(verdicts) < len(verdicts) - 4, "both happen"


def test_what_is_refused_stays_at_its_field_and_time_is_held_until_it_is_mended(bead):
    with pytest.raises(Refusal, match="negative kinetic energy"):
        bead.apply(messages.SetParameter("m", -1.0, True))
    shown = bead.controls()
    assert shown.parameters["m"] == -1.0
    assert shown.texts["parameters"].startswith("m = -1,"), "the slider and the text say the same"
    assert [fault.setting for fault in shown.faults] == ["m"]
    assert bead.moment.settings.parameters["m"] == 1.0, "the last motion stands"
    with pytest.raises(Refusal, match="negative kinetic energy"):  # something else is changed meanwhile
        bead.apply(messages.SetChoice("step", "240"))
    assert [fault.setting for fault in bead.controls().faults] == ["m"]
    bead.apply(messages.SetText("parameters", "m = 2, a = 0.5, g = 9.81", True))
    assert not bead.controls().faults
    assert bead.controls().parameters["m"] == 2.0
    assert bead.moment.settings.choices["step"] == "240"
    for _ in range(3):
        bead.apply(messages.Undo())
    assert bead.moment.settings.parameters["m"] == 1.0
    assert not bead.controls().faults
    bead.apply(messages.Redo())
    assert [fault.setting for fault in bead.controls().faults] == ["m"]
    bead.apply(messages.Reset(False))
    assert not bead.controls().faults


@pytest.mark.parametrize(
    ("given", "name", "value", "found"),
    [
        ("m = 1, a = 0.5, g = 9.81", "a", 0.25, "m = 1, a = 0.25, g = 9.81"),
        ("m=1\na = 2*pi  # of the parabola\ng = 9.81", "a", 3.0, "m=1\na = 3  # of the parabola\ng = 9.81"),
        ("g = 9.81; a = 0.5; m", "m", 0.1, "g = 9.81; a = 0.5; m = 0.1"),
        ("m = 1, a = (1 + 1)/4, g = 9.81", "a", -1e-7 / 3, "m = 1, a = -3.3333333333333334e-08, g = 9.81"),
    ],
)
def test_a_slider_writes_its_number_into_the_text(given, name, value, found):
    before = typed(**{**BEAD, "parameters": given})
    after = LAB.completed(before.with_parameter(name, value))
    assert after.texts["parameters"] == found
    assert after.parameters[name] == value
    assert LAB.completed(Settings({}, {}, {}, after.texts)).parameters[name] == value, "bit for bit"
    reached = LAB.view(after, 0).parameters
    assert all(p.low <= after.parameters[p.name] <= p.high for p in reached)


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
