"""The Swimmer lab at the level of its simulation: every mover against the library, gaits, buttons, heat maps."""

import base64
import json

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.locomotion import heights as library_heights
from holonomy.show.figures import pmpy_stroke, purcell_curvature, rigid_order
from holonomy.studio import stories
from holonomy.studio.labs.settings import Refusal
from holonomy.studio.labs.swimmer import LAB, field, gait, optimise, system, view
from holonomy.studio.labs.swimmer import settings as table
from holonomy.studio.labs.swimmer.catalogue import MODELS
from holonomy.studio.session import backgrounds, export, share_link
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages as m

from .scripted_session import compiled

KERNELS = compiled(LAB)
QUICK = {"purcell", "known", "line", "pmpy", "spheres", "raft", "sphere"}
PRESETS = [pytest.param(p.name, marks=() if p.name in QUICK else pytest.mark.proof) for p in LAB.descriptor.presets]
FIGURES = ("purcell", "known", "line", "scallop", "raft", "sphere", "hyperbolic", "flat", "orders")
DRAWN = "[[0.9,-0.2],[0.7,0.8],[-0.3,1.1],[-1.2,0.1],[-0.4,-0.9],[0.5,-1.05]]"


@pytest.fixture
def simulation():
    return Simulation(LAB, KERNELS)


def channel(simulation, name):
    names = [c.name for c in simulation.view.channels]
    return float(simulation.reading.channel[names.index(name)])


def displacement(simulation, prefix="stroke_"):
    return np.array(
        [channel(simulation, prefix + n) for n, _, _ in view.POSES[table.model(settings(simulation)).group]]
    )


def settings(simulation):
    return simulation.moment.settings


def performed(simulation):
    """What the exported program computes."""
    now = simulation.reading
    names: dict = {}
    exec(LAB.snippet(settings(simulation), now.t, now.q, now.v), names)  # noqa: S102 - it is what users run
    return names["found"]


def moved(found):
    group = found.mover.group
    return np.asarray(
        found.mover.lie.moved(jnp.asarray(found.element)) if isinstance(group, hl.SO3) else found.displacement
    )


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_moves_as_the_library_says(name):
    simulation = Simulation(LAB, KERNELS, LAB.preset(name))
    found = performed(simulation)
    assert simulation.controls().certificate.engine.startswith("native")
    np.testing.assert_allclose(displacement(simulation), moved(found), rtol=0, atol=1e-12)
    np.testing.assert_allclose(channel(simulation, "stroke_cost"), found.energy, rtol=1e-12)
    np.testing.assert_allclose(channel(simulation, "efficiency"), found.efficiency, rtol=1e-9, atol=1e-28)
    pose = LAB.pose(settings(simulation))
    assert pose is not None
    np.testing.assert_allclose(simulation.reading.position, pose, atol=1e-12)
    assert len(simulation.reading.position) == 2 + sum(s.count for s in simulation.view.shapes)
    simulation.advance(round(60 * settings(simulation).parameters["period"]))
    np.testing.assert_allclose(displacement(simulation, ""), moved(found), rtol=0, atol=1e-12)
    simulation.advance(17)
    now = simulation.reading
    placed, field = LAB.placed(settings(simulation), now.q), backgrounds.field(simulation.lab, simulation.moment)
    assert placed is not None
    assert field is not None
    np.testing.assert_allclose(now.position, placed, atol=1e-12)
    assert np.isfinite(np.frombuffer(base64.b64decode(field.values), "<f4")).any()


def test_presets_show_what_the_figures_do():
    assert table.STROKE == purcell_curvature.STROKE
    assert (table.MIDDLE, table.RADII) == (pmpy_stroke.MIDDLE, pmpy_stroke.RADII)
    assert (table.SHIFT, table.TURN) == (rigid_order.SHIFT, rigid_order.TURN)
    at = {name: Simulation(LAB, KERNELS, LAB.preset(name)) for name in FIGURES}
    shown = {name: displacement(simulation) for name, simulation in at.items()}
    # circle of radius 1 for links of length 1/3, and the stroke known as best
    np.testing.assert_allclose(shown["purcell"][:2] / 3, [-0.0494990214, 0.0134003664], atol=2e-6)
    np.testing.assert_allclose(shown["known"], [0.087273, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(channel(at["known"], "stroke_length"), 0.78661, atol=1e-4)
    for name in ("scallop", "line", "flat"):
        np.testing.assert_allclose(shown[name], 0.0, atol=1e-14)
    j = 0.5 * np.sin(1.0) ** 2
    np.testing.assert_allclose(shown["raft"][2], -2 * np.pi * j / (1 + j), atol=1e-12)
    assert shown["sphere"][0] * shown["hyperbolic"][0] < 0
    np.testing.assert_allclose(shown["orders"][:2], [1.5, -1.5 * np.sqrt(3)], atol=1e-12)


def test_a_drawn_gait_moves_as_python_says(simulation):
    simulation.advance(37)
    simulation.apply(m.SetText("gait", DRAWN, True))
    found = hl.perform(hl.Purcell(), hl.Gait.points(np.array(json.loads(DRAWN))))
    np.testing.assert_allclose(displacement(simulation), found.displacement, rtol=0, atol=1e-12)
    simulation.apply(m.SetToggle("smooth", False))
    found = hl.perform(hl.Purcell(), hl.Gait.points(np.array(json.loads(DRAWN)), smooth=False))
    np.testing.assert_allclose(displacement(simulation), found.displacement, rtol=0, atol=1e-12)
    simulation.apply(m.Undo())
    simulation.apply(m.Undo())
    assert settings(simulation) == LAB.opening()


def test_buttons_change_the_gait(simulation):
    simulation.apply(m.SetText("gait", DRAWN, True))
    once = displacement(simulation)
    simulation.apply(m.Act("reverse"))
    assert table.points(settings(simulation))[0].tolist() == [0.9, -0.2]
    back = displacement(simulation)
    group = hl.SE2()
    there_and_back = group.compose(group.from_pose(jnp.asarray(once)), group.from_pose(jnp.asarray(back)))
    np.testing.assert_allclose(there_and_back, group.identity, atol=1e-13)
    simulation.apply(m.Act("eight"))
    np.testing.assert_allclose(displacement(simulation), performed(simulation).displacement, rtol=0, atol=1e-12)
    simulation.apply(m.Act("ellipse"))
    assert settings(simulation).texts["gait"] == LAB.opening().texts["gait"]


def test_the_reverse_of_a_turn_turns_back():
    simulation = Simulation(LAB, KERNELS, LAB.preset("raft"))
    turned = displacement(simulation)[2]
    simulation.apply(m.Act("reverse"))
    assert settings(simulation).parameters["turns"] == -1.0
    np.testing.assert_allclose(displacement(simulation)[2], -turned, atol=1e-13)
    np.testing.assert_allclose(displacement(simulation), performed(simulation).displacement, atol=1e-12)


def test_what_cannot_be_swum_is_refused_and_changes_nothing(simulation):
    was, undo = settings(simulation), simulation.controls().undo
    for text, sentence in (
        ("nonsense", "cannot be read"),
        ("[[0, 0]]", "at least two"),
        ("[[0, 0], [1, 2, 3]]", "two numbers|cannot be read"),
        ("[[0, 0], [1, NaN]]", "two numbers"),
        ("[[0, 0], [400, 1]]", "inside the picture"),
        ("[[0, 0], [4, 0], [0, 1]]", "overlap or cross"),
    ):
        with pytest.raises(Refusal, match=sentence) as refusal:
            simulation.apply(m.SetText("gait", text, True))
        assert refusal.value.setting == "gait"
        assert [fault.setting for fault in simulation.controls().faults] == ["gait"]
    assert settings(simulation) == was
    simulation.apply(m.Undo())
    assert not simulation.controls().faults
    assert simulation.controls().undo == undo


def test_long_drawings_become_as_many_points_as_code_takes(simulation):
    t = np.linspace(0.0, 2 * np.pi, 401)
    drawn = np.stack([np.cos(t), np.sin(t)], axis=1)
    simulation.apply(m.SetText("gait", gait.written(drawn), True))
    kept = table.points(settings(simulation))
    assert len(kept) == gait.MOST_POINTS
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), 1.0, atol=1e-4)
    np.testing.assert_allclose(displacement(simulation), performed(simulation).displacement, rtol=0, atol=1e-12)


def test_another_mover_opens_with_its_own_gait_and_undo_restores_the_first(simulation):
    simulation.apply(m.SetText("gait", DRAWN, True))
    simulation.apply(m.SetChoice("model", "spheres"))
    points = table.points(settings(simulation))
    np.testing.assert_allclose(points.mean(axis=0), [1.1, 1.1], atol=1e-12)
    assert [c.name for c in simulation.view.choices] == ["model"]  # one dimension: nothing to choose
    simulation.apply(m.SetParameter("spheres_radius", 0.12, True))
    np.testing.assert_allclose(displacement(simulation), performed(simulation).displacement, rtol=0, atol=1e-12)
    simulation.apply(m.Undo())
    simulation.apply(m.Undo())
    assert settings(simulation).texts["gait"] == DRAWN


def test_a_chain_shows_a_plane_of_its_shapes():
    simulation = Simulation(LAB, KERNELS, LAB.preset("wave"))
    simulation.apply(m.SetChoice("slice", "ends"))
    simulation.apply(m.SetParameter("held", 0.3, True))
    np.testing.assert_allclose(displacement(simulation), performed(simulation).displacement, rtol=0, atol=1e-12)
    assert [channel(simulation, f"shape_alpha{i}") for i in (1, 2, 3, 4)] == pytest.approx([1.0, 0.3, 0.3, 0.0])


def test_links_and_tables_hold_the_state(simulation):
    simulation.apply(m.SetText("gait", DRAWN, True))
    simulation.advance(100)
    found = share_link.read(LAB, simulation.document())
    assert found.settings == settings(simulation)
    np.testing.assert_array_equal(found.q, simulation.reading.q)
    rows = list(export.as_csv(LAB, settings(simulation), export.rows(LAB, simulation.moment)))
    assert rows[0].decode().startswith("t,phase,x,y,theta,cost,path_length,phase_dot,x_dot")
    assert len(rows) == 102
    t, x, speed = (np.array([float(r.split(b",")[k]) for r in rows[1:]]) for k in (0, 2, 8))
    np.testing.assert_allclose(np.gradient(x, t)[5:-5], speed[5:-5], atol=1e-4)


def test_the_heat_map_is_minus_the_curvature(simulation):
    kernel, mover = KERNELS(LAB.structure(settings(simulation))), hl.Purcell()
    window = MODELS[0].shown({})
    points = field.grid(window)
    looked = kernel.routines["field"](LAB.numbers(settings(simulation)), points)[0]
    plain = field.heights(looked, window, "se2", minimal=False)
    seen = np.isfinite(plain[:, 0])
    assert 0.5 < seen.mean() < 1.0  # crossed links are left out
    wanted = -np.asarray(library_heights(mover, points[seen]))[:, :, 0, 1]
    np.testing.assert_allclose(plain[seen], wanted, rtol=0, atol=1e-12)
    found = backgrounds.field(simulation.lab, simulation.moment)
    assert found is not None
    assert (found.picture, found.rows, found.columns, found.signed) == (1, field.CELLS, field.CELLS, True)
    values = np.frombuffer(base64.b64decode(found.values), "<f4")
    np.testing.assert_array_equal(np.isfinite(values), seen)


def test_minimum_perturbation_coordinates_make_the_connection_small(simulation):
    r"""The frame is a gauge transformation: in it curvature is still that of the connection, which is smaller."""
    kernel = KERNELS(LAB.structure(settings(simulation)))
    window = (-1.0, 1.0, -1.0, 1.0)
    points = field.grid(window)
    looked = kernel.routines["field"](LAB.numbers(settings(simulation)), points)[0]
    b, a = looked[:, :3], looked[:, 3:-1].reshape(-1, 2, 3)
    turn, small = field.smallest(points, a, "se2")
    assert np.sqrt(np.mean(small**2)) < 0.35 * np.sqrt(np.mean(a**2))
    grid = small.reshape(field.CELLS, field.CELLS, 2, 3)
    h = 2.0 / (field.CELLS - 1)
    slopes = np.gradient(grid[:, :, 1], h, axis=1) - np.gradient(grid[:, :, 0], h, axis=0)
    brackets = np.einsum("kij,abi,abj->abk", field.structure("se2"), grid[:, :, 0], grid[:, :, 1])
    curvature = np.einsum("pkl,pl->pk", turn, b).reshape(field.CELLS, field.CELLS, 3)
    inner = (slice(1, -1), slice(1, -1))
    np.testing.assert_allclose((slopes - brackets)[inner], curvature[inner], atol=2e-3 * np.abs(curvature).max())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_algebra_of_each_mover_is_that_of_the_library(model):
    links = 3 if model.name == "links" else 0
    mover = system.mover(model, links, np.array([n.default for n in model.numbers]))
    np.testing.assert_allclose(field.structure(model.group), np.asarray(mover.lie.structure), atol=1e-15)


@pytest.mark.proof
def test_optimising_keeps_the_displacement_and_costs_less():
    simulation = Simulation(LAB, KERNELS, LAB.preset("robot"))
    before, cost = displacement(simulation), channel(simulation, "stroke_cost")
    simulation.apply(optimise.optimised(settings(simulation)))
    np.testing.assert_allclose(displacement(simulation), before, rtol=0, atol=1e-4)
    assert channel(simulation, "stroke_cost") < 0.99 * cost
    with pytest.raises(ValueError, match="momentum"):
        optimise.optimised(LAB.preset("snakeboard"))
    with pytest.raises(ValueError, match="two shape variables"):
        optimise.optimised(LAB.preset("wave"))


def test_files_that_a_gait_cannot_fill_are_refused():
    opening = LAB.opening()
    with pytest.raises(Refusal, match="Python"):
        LAB.scene(opening, 0.0, *LAB.start(opening))
    with pytest.raises(Refusal, match="CSV"):
        LAB.library(opening)
    for model in MODELS:
        message, items = LAB.equations((("model", model.name), ("links", 0)))
        assert model.label in message
        assert len(items) == 4


def test_the_story_of_the_scallop():
    stories.install([LAB])
    shown = [Simulation(LAB, KERNELS, step.settings) for step in LAB.stories["scallop"].steps]
    ways = [np.abs(displacement(one)[:2]).max() for one in shown]
    assert ways[0] < 1e-14
    assert ways[1] < 1e-14
    assert ways[2] > 4 * ways[3] > 0
    LAB.stories = {}
