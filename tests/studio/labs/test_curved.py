"""The Curved space lab: its geometry against the library's spaces, its motions against theorems, its controls."""

import functools
import runpy
from itertools import pairwise
from typing import Any

import jax
import numpy as np
import pytest

from holonomy.show.figures import body_examples
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.compile.program import compile_program
from holonomy.studio.labs.curved import LAB, system, text
from holonomy.studio.labs.curved import settings as table
from holonomy.studio.labs.curved.geometry import Geometry
from holonomy.studio.labs.curved.shapes import SHAPES
from holonomy.studio.labs.settings import Refusal, Settings
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

RADIUS = 1.7
MADE: list[Any] = []


@functools.cache
def kernel(structure) -> Kernel:
    MADE.append(structure)
    return Kernel(compile_program(LAB.program(structure)))


def settings(space="h3", body="rod", **parameters: float | str) -> Settings:
    words = {name: str(value) for name, value in parameters.items() if isinstance(value, str)}
    numbers = {name: value for name, value in parameters.items() if not isinstance(value, str)}
    return LAB.completed(Settings(numbers, {"space": space, "body": body} | words, {}))


def simulation(chosen: Settings) -> Simulation:
    return Simulation(LAB, kernel, chosen)


def channels(simulation: Simulation) -> dict[str, float]:
    names = [channel.name for channel in simulation.view.channels]
    return dict(zip(names, simulation.frame(0).channel.tolist(), strict=True))


def state(chosen: Settings) -> tuple[Any, np.ndarray, np.ndarray]:
    """The library's space, and points and velocities at the start."""
    space = system.space_of(chosen.choices["space"], chosen.parameters["radius"])
    count = SHAPES[chosen.choices["body"], space.dim].count
    q, v = LAB.start(chosen)
    size = count * space.point_dim
    return space, q[:size].reshape(count, -1), v[:size].reshape(count, -1)


# ── Geometry ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("space", table.SPACES)
def test_a_body_starts_on_the_space_with_the_velocities_of_an_isometry(space):
    along = 0.0 if space == "inhomogeneous" else 0.7  # it has rotations only
    chosen = settings(space, "lattice", radius=RADIUS, along=along, rise=-0.4, spin=0.6, roll=0.3, position=2.0)
    where, points, rates = state(chosen)
    first, second = np.triu_indices(len(points), 1)
    apart = jax.vmap(where.distance)
    lengths, growing = jax.jvp(apart, (points[first], points[second]), (rates[first], rates[second]))
    np.testing.assert_allclose(growing, 0.0, atol=1e-13)
    assert np.abs(rates).max() > 0.5
    np.testing.assert_allclose(jax.vmap(where.project)(points), points, rtol=0, atol=1e-14)
    mine = table.geometry(chosen).distance(points[first], points[second])
    np.testing.assert_allclose(mine, lengths, rtol=1e-12)


def test_mirror_images_in_the_inhomogeneous_space_keep_their_distance_at_first():
    where, points, rates = state(settings("inhomogeneous", "rod", position=-25.0))
    _, growing = jax.jvp(where.distance, tuple(points), tuple(rates))
    assert abs(float(growing)) < 1e-12
    assert rates[0, 1] == pytest.approx(0.0199361788, abs=1e-10)  # as the detector of the thesis


@pytest.mark.parametrize("space", table.SPACES)
def test_springs_are_drawn_along_geodesics(space):
    chosen = settings(space, "triangle", radius=RADIUS, size=2.0, position=0.3)
    where, points, _ = state(chosen)
    x, y = points[[0, 1]], points[[1, 2]]
    arcs = table.geometry(chosen).arcs(x, y, 9)
    np.testing.assert_array_equal(arcs[:, 0], x)
    np.testing.assert_allclose(arcs[:, -1], y, atol=1e-15)
    for arc, a, b in zip(arcs, x, y, strict=True):
        np.testing.assert_allclose(jax.vmap(where.project)(arc), arc, rtol=0, atol=1e-14)
        along = [float(where.distance(p, q)) for p, q in pairwise(arc)]
        assert min(along) > 0.05
        assert sum(along) == pytest.approx(float(where.distance(a, b)), rel=1e-12)


@pytest.mark.parametrize("space", ["s2", "s3", "h2", "h3", "hxe"])
def test_places_in_a_model_belong_to_one_point_each(space):
    _, points, _ = state(settings(space, "lattice", size=1.0))
    for model in table._models(space)[1]:
        back = model.invert(model.project(points), points)
        np.testing.assert_allclose(back, points, rtol=0, atol=1e-13, err_msg=model.name)


@pytest.mark.parametrize("space", ["h2", "h3"])
def test_models_of_hyperbolic_space_are_those_of_the_library_and_their_geodesics_are_circles_and_lines(space):
    where, points, _ = state(settings(space, "triangle", size=2.0))
    ball, klein, half = table._models(space)[1]
    pictures = where.pictures()
    np.testing.assert_allclose(ball.project(points), jax.vmap(pictures["poincare"])(points), atol=1e-15)
    np.testing.assert_allclose(klein.project(points), jax.vmap(pictures["klein"])(points), atol=1e-15)
    arc = Geometry("hyperbolic", where.dim).arcs(points[:1], points[1:2], 7)[0]
    straight = klein.project(arc)
    leave = straight - straight[0]
    np.testing.assert_allclose(np.linalg.matrix_rank(leave, tol=1e-12), 1)
    round_arc = ball.project(arc)
    # a circle that meets the unit sphere at right angles: |p|² - 2 c·p + 1 = 0 for one centre c
    centre, *_ = np.linalg.lstsq(2.0 * round_arc, np.sum(round_arc**2, axis=1) + 1.0, rcond=None)
    np.testing.assert_allclose(2.0 * round_arc @ centre, np.sum(round_arc**2, axis=1) + 1.0, atol=1e-12)
    upper = half.project(arc)
    # a circle whose centre lies on the boundary
    flat, height = upper[:, :-1], upper[:, -1]
    design = np.concatenate([2.0 * flat, np.ones((len(flat), 1))], axis=1)
    square = np.sum(flat**2, axis=1) + height**2
    found, *_ = np.linalg.lstsq(design, square, rcond=None)
    np.testing.assert_allclose(design @ found, square, atol=1e-12)
    assert height.min() > 0.0


def test_the_picture_from_the_centre_does_not_depend_on_how_a_configuration_is_written():
    from holonomy.spaces import Carried, Hyperbolic

    space = Geometry("hyperbolic", 3, RADIUS)
    points = space.placed(np.random.default_rng(1).normal(size=(4, 3)))
    rapidity = np.array([3.0, -5.0, 2.0])
    whole = Carried(Hyperbolic(3, radius=RADIUS) ** 4)
    other = np.asarray(whole.recentred(np.append(points.ravel(), rapidity), np.zeros(19))[0])
    first = space.centred(points, rapidity, 4)
    np.testing.assert_allclose(space.centred(other[:16].reshape(4, 4), other[16:], 4), first, atol=1e-13)
    np.testing.assert_allclose(first[:, :3].sum(axis=0), 0.0, atol=1e-13)
    out = np.asarray(whole.points(np.append(points.ravel(), rapidity))).reshape(4, 4)
    np.testing.assert_allclose(space.carried(points, rapidity), out, rtol=1e-12)


# ── Motions ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("space, body", [("h3", "rod"), ("s3", "triangle")])
def test_the_figures_of_the_thesis(space, body):
    moved = simulation(settings(space, body))
    times = np.array([0.0, 1.0, 2.0, 5.0, 10.0])
    truth = body_examples.exact(space[0].upper(), body, times)
    for number, time in enumerate(times):
        moved.advance(round((time - moved.frame(0).time) * LAB.steps_per_second))
        seen = channels(moved)
        for side, values in truth.items():
            assert seen[side] == pytest.approx(values[number], abs=1e-9)
    assert abs(moved.frame(0).drift) < 1e-12


def test_a_rod_far_out_keeps_its_digits_and_stays_in_the_picture():
    chosen = settings()
    moved = simulation(chosen)
    before = channels(moved)
    code = kernel(LAB.structure(chosen))
    spot = code.advance(moved.moment.state.main, 100 * LAB.steps_per_second)
    seen = dict(zip(before, code.channels(spot), strict=True))
    assert seen["s12"] == pytest.approx(1.908090855814065, abs=1e-9)
    assert seen["invariant"] == pytest.approx(before["invariant"], rel=1e-11)
    assert np.linalg.norm(code.q(spot)[8:]) > 70.0
    places = LAB.placed(chosen, code.q(spot))
    np.testing.assert_allclose(np.linalg.norm(places[:2], axis=1), 1.0, atol=1e-15)  # on the boundary
    seen_rod = places[2:4]
    assert 0.2 < np.linalg.norm(seen_rod[0] - seen_rod[1]) < 1.0  # from the centre as at the start


@pytest.mark.parametrize("space", ["s2", "h2"])
def test_free_masses_deviate_as_geodesics_do(space):
    moved = simulation(settings(space, stiffness=0.0, size=0.7))
    moved.advance(240)
    sine, cosine = (np.sin, np.cos) if space == "s2" else (np.sinh, np.cosh)
    inverse = np.arcsin if space == "s2" else np.arcsinh
    way = cosine(0.35)  # the speed of both
    assert channels(moved)["s12"] == pytest.approx(2.0 * inverse(sine(0.35) * cosine(way)), abs=1e-13)


def test_the_detector_crosses_the_curved_region_and_is_stretched_there():
    moved = simulation(LAB.preset("detector"))
    rest = channels(moved)["s12"]
    moved.advance(3420)
    q = moved.frame(0).q
    assert abs(q[0] + q[3]) / 2 < 0.05  # t = 14.25
    assert channels(moved)["s12"] > 2.0 * rest
    assert abs(moved.frame(0).drift) < 1e-11 * channels(moved)["total"]


@pytest.mark.parametrize("space", ["s3", "h3"])
def test_orbits_around_a_centre_of_gravity_are_conics(space):
    chosen = settings(space, "particle", orbit=5.6)
    moved = simulation(chosen)
    sine, tangent = (np.sin, np.tan) if space == "s3" else (np.sinh, np.tanh)
    momentum = 5.6 * sine(0.3) ** 2
    eccentricity = momentum**2 / tangent(0.3) - 1.0
    for _ in range(40):
        moved.advance(13)
        x, y = moved.frame(0).q[:2]
        seen = channels(moved)
        conic = (1.0 + eccentricity * np.cos(np.arctan2(y, x))) / momentum**2
        assert 1.0 / tangent(seen["separation"]) == pytest.approx(conic, rel=1e-8)
        assert seen["rotate_xy"] == pytest.approx(momentum, rel=1e-12)


def test_two_masses_on_a_sphere_keep_their_momentum():
    moved = simulation(LAB.preset("pair"))
    first = channels(moved)
    moved.advance(2000)
    last = channels(moved)
    assert last["kinetic"] != pytest.approx(first["kinetic"], rel=1e-3)
    for name in ("total", "rotate_xy", "rotate_xz", "rotate_yz"):
        assert last[name] == pytest.approx(first[name], abs=1e-11)


@pytest.mark.parametrize("preset, force", [("thesis-2.16", -np.sinh(1.0) / 2), ("thesis-2.21", np.sin(1.0) / 2)])
def test_rods_pull_in_hyperbolic_space_and_push_on_a_sphere(preset, force):
    """With the multipliers of the thesis across the flow, and none along it."""
    moved = simulation(LAB.preset(preset))
    moved.advance(240)
    forces = [value for name, value in channels(moved).items() if name.startswith("f")]
    np.testing.assert_allclose(forces, [*[0.0] * (len(forces) - 1), force], rtol=0, atol=1e-10)
    assert moved.view.plots[0].title == "Forces of the rods"


def test_a_triangle_turned_out_of_the_plane_keeps_its_sides_and_not_its_medians():
    chosen = LAB.preset("h2e-triangle")
    moved = simulation(chosen)
    first = channels(moved)
    moved.advance(480)
    last, points = channels(moved), moved.frame(0).q[:12].reshape(3, 4)
    space = table.geometry(chosen)
    np.testing.assert_allclose(space.distance(points[[0, 0, 1]], points[[1, 2, 2]]), 1.0, rtol=0, atol=1e-13)
    assert last["height"] > 0.9
    assert last["median"] - first["median"] > 0.02
    # dragged, a vertex takes the others along
    moved.apply(messages.DragBegin(0))
    moved.apply(messages.DragMove(0.1, 0.6, 0.3))
    points = moved.frame(0).q[:12].reshape(3, 4)
    np.testing.assert_allclose(space.distance(points[[0, 0, 1]], points[[1, 2, 2]]), 1.0, rtol=0, atol=1e-12)


@pytest.mark.proof
def test_a_lattice_of_rods_is_rigid_on_a_surface():
    """Fifteen independent rods hold all distances of nine masses."""
    chosen = settings("s2", "lattice", joints="rods", size=0.3, spin=1.0)
    moved = simulation(chosen)
    space, before = table.geometry(chosen), moved.frame(0).q.reshape(9, 3)
    moved.advance(240)
    after = moved.frame(0).q.reshape(9, 3)
    first, second = np.triu_indices(9, 1)
    np.testing.assert_allclose(
        space.distance(after[first], after[second]), space.distance(before[first], before[second]), rtol=0, atol=1e-10
    )
    assert {"least", "most"} < set(channels(moved))


def test_balls_bounce_and_keep_energy_and_momenta():
    moved = simulation(LAB.preset("collisions"))
    first, gaps = channels(moved), []
    for _ in range(120):
        moved.advance(4)
        gaps.append(channels(moved)["gap"])
    last = channels(moved)
    assert min(gaps) > -1e-12
    assert min(gaps) < 0.02  # some met
    for name, value in first.items():
        if name != "gap":
            assert last[name] == pytest.approx(value, abs=1e-11)
    speeds = np.linalg.norm(moved.frame(0).v.reshape(16, 4), axis=1)
    start = np.linalg.norm(LAB.start(moved.moment.settings)[1].reshape(16, 4), axis=1)
    assert np.max(np.abs(speeds - start)) > 0.1


# ── Controls ──────────────────────────────────────────────────────────────────────────────────────


def test_another_model_is_another_view_of_the_same_motion():
    moved = simulation(settings())
    moved.advance(100)
    made, before = len(MADE), moved.frame(0)
    for name in ("klein", "half", "ball"):
        moved.apply(messages.SetChoice("hyperbolic_view", name))
        after = moved.frame(0)
        assert after.q.tobytes() == before.q.tobytes()
        assert after.v.tobytes() == before.v.tobytes()
        assert after.time == before.time
        assert moved.view.pictures[0].boundary == ("floor" if name == "half" else "ball")
        assert np.array_equal(after.position, before.position) == (name == "ball")
    assert len(MADE) == made


def test_numbers_of_the_start_let_the_motion_start_again_and_others_do_not():
    moved = simulation(settings())
    moved.advance(100)
    q = moved.frame(0).q
    for name, value in (("stiffness", 2.0), ("mass", 3.0), ("rest", 0.5)):
        moved.apply(messages.SetParameter(name, value, True))
        np.testing.assert_array_equal(moved.frame(0).q, q)
    moved.apply(messages.SetParameter("spin", 1.0, True))
    np.testing.assert_array_equal(moved.frame(0).q, LAB.start(moved.moment.settings)[0])


@pytest.mark.parametrize(
    "choice, view, target",
    [
        ("hyperbolic_view", "ball", [0.3, 0.2, 0.4]),
        ("hyperbolic_view", "klein", [0.3, 0.2, 0.4]),
        ("hyperbolic_view", "half", [0.3, 0.2, 0.4]),
    ],
)
def test_a_vertex_goes_where_it_is_dragged(choice, view, target):
    moved = simulation(settings())
    moved.apply(messages.SetChoice(choice, view))
    moved.advance(200)
    old = moved.frame(0).position
    moved.apply(messages.DragBegin(0))
    moved.apply(messages.DragMove(*target))
    frame = moved.frame(0)
    np.testing.assert_allclose(frame.position[0], target, atol=1e-12)
    np.testing.assert_allclose(frame.position[1], old[1], atol=1e-12)
    assert not frame.v.any()
    moved.apply(messages.DragMove(9.0, 0.0, 0.0))  # beyond the boundary
    assert np.isfinite(moved.frame(0).position).all()
    moved.apply(messages.DragEnd(0.0, 0.0, 0.0))
    moved.apply(messages.DragBegin(2))
    with pytest.raises(Refusal, match="other picture"):
        moved.apply(messages.DragMove(*target))


@pytest.mark.parametrize(
    "chosen, sentence",
    [
        ({"space": "s2", "body": "tetrahedron"}, "three dimensions"),
        ({"space": "hxe", "body": "particle"}, "known in E, S and H"),
        ({"space": "inhomogeneous", "body": "pair"}, "known in E, S and H"),
        ({"space": "inhomogeneous", "joints": "rods"}, "choose springs first"),
        ({"body": "mesh", "joints": "rods"}, "contradict each other"),
        ({"space": "hxe", "body": "balls"}, "collide in E, S and H only"),
    ],
)
def test_what_no_space_has_is_refused(chosen, sentence):
    with pytest.raises(Refusal, match=sentence):
        LAB.completed(Settings({}, chosen, {}))


def test_a_body_that_is_too_large_for_a_sphere_is_refused():
    with pytest.raises(Refusal, match=r"does not fit on a sphere of radius 0\.5 m.*0\.75 m"):
        settings("s3", "triangle", radius=0.5, size=1.0)


def test_balls_that_overlap_at_the_start_are_refused():
    with pytest.raises(Refusal, match=r"30 balls of radius 0\.4 m within 1 m overlap by"):
        settings("e2", "balls", balls=30, ball_radius=0.4)


def test_every_likely_structure_is_one_and_every_drawing_fits_its_points():
    for space, (_, kind, dim) in table.SPACES.items():
        round_space = kind not in ("product", "inhomogeneous")
        kinds = [(body, "springs") for body, size in SHAPES if size == dim]
        kinds += [(body, "rods") for (body, size), shape in SHAPES.items() if size == dim and shape.rods]
        kinds += [("balls", "springs")]
        for body, joints in kinds:
            if (body in ("particle", "pair", "balls") and not round_space) or (joints, kind) == (
                "rods",
                "inhomogeneous",
            ):
                continue
            chosen = settings(space, body, joints=joints)
            drawn, places = LAB.drawn(chosen), LAB.placed(chosen, LAB.start(chosen)[0])
            assert all(shape.first + shape.count <= drawn.anchors + len(places) for shape in drawn.shapes)
            assert len(LAB.radii(chosen)) == len(drawn.bodies)
            assert len(LAB.anchors(chosen)) == drawn.anchors
            assert len(LAB.extents(chosen)) == len(drawn.pictures or ())
            assert np.isfinite(places).all()
            solid = any(picture.kind == "space" for picture in drawn.pictures or ())
            assert places.shape[1] == LAB.anchors(chosen).shape[1] == (3 if solid else 2)
            likely = LAB.likely(chosen)
            assert len(set(likely)) == len(likely)
            assert LAB.structure(chosen) not in likely
            for structure in likely:
                LAB.completed(Settings({}, {name: str(value) for name, value in structure}, {}))


def test_a_vertex_off_the_space_in_a_link_is_put_onto_it():
    chosen = settings("s3", "rod")
    q, v = LAB.start(chosen)
    x, w = LAB.admitted(chosen, 1.1 * q, v + 0.1)
    np.testing.assert_allclose(x, q, atol=1e-15)
    np.testing.assert_allclose(np.sum((x * w).reshape(2, 4), axis=1), 0.0, atol=1e-15)


@pytest.mark.parametrize(
    "space, body, joints",
    [("h3", "rod", "springs"), ("s2", "pair", "springs"), ("s3", "triangle", "rods"), ("s3", "balls", "springs")],
)
def test_the_exported_program_goes_on_with_the_same_motion(space, body, joints, tmp_path):
    chosen = settings(space, body, joints=joints)
    moved = simulation(chosen)
    moved.advance(60)
    now = moved.frame(0)
    path = tmp_path / "motion.py"
    path.write_text(LAB.snippet(chosen, now.time, now.q, now.v).replace("t + 10.0", "t + 0.5"), encoding="utf-8")
    run = runpy.run_path(str(path))["run"]
    moved.advance(120)
    places = [LAB.placed(chosen, q) for q in (np.asarray(run.q)[-1], moved.frame(0).q)]
    np.testing.assert_allclose(*places, rtol=0, atol=1e-12)
    with pytest.raises(Refusal, match="export the Python program"):
        LAB.scene(chosen, 0.0, now.q, now.v)


def test_equations_are_shown_for_every_space_and_body():
    rods = (("space", "hxe"), ("body", "triangle"), ("joints", "rods"))
    plain = (("h3", "rod"), ("s2", "pair"), ("e3", "particle"), ("inhomogeneous", "rod"), ("s2", "balls"))
    for structure in (rods, *((("space", space), ("body", body)) for space, body in plain)):
        sentence, shown = text.equations(structure)
        assert sentence.endswith(".")
        assert len(shown) >= 2
        assert all(title and latex.count("{") == latex.count("}") for title, latex in shown)
