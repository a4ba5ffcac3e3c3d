"""Scenes as systems: typed formulas against the catalogue's own code, two routes to the same mechanics."""

import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import catalogue, find
from holonomy.scene import Scene, SceneError, build, changed, dumps, load, loads
from holonomy.scene.build_system import Formulas, method
from holonomy.scene.evaluate import evaluate
from holonomy.scene.expression import compute, parse
from holonomy.scene.functions import FUNCTIONS
from holonomy.scene.resolve import resolve

EXAMPLES = Path(__file__).parents[2] / "examples"

# Each example against the model of the catalogue that is the same system.
SAME = {
    "double": ("double_pendulum", {"m1": 0.7, "m2": 1.9, "l1": 1.3, "l2": 0.6, "g": 3.7}),
    "double_positions": ("double_pendulum", {"m1": 0.7, "m2": 1.9, "l1": 1.3, "l2": 0.6, "g": 3.7}),
    "spherical": ("spherical_pendulum", {"m": 0.7, "l": 1.3, "g": 3.7}),
    "kepler": ("kepler", {"mu": 1.7}),
    "hoop": ("rotating_hoop", {"m": 0.7, "r": 1.3, "omega": 2.1, "g": 3.7}),
    "ellipse": ("elliptical_wire", {"m": 0.7, "a": 1.3, "b": 0.4, "g": 3.7}),
    "elastic": ("elastic_pendulum", {"m": 0.7, "l": 1.3, "k": 21.0, "g": 3.7}),
}


@pytest.mark.parametrize("example", sorted(SAME))
def test_typed_formulas_move_as_the_model_does(example: str) -> None:
    name, parameters = SAME[example]
    texts = {key: repr(value) for key, value in parameters.items()}
    typed = build(changed(load(EXAMPLES / f"{example}.toml"), texts)).system
    model = find(name).build(**parameters)
    rng = np.random.default_rng(7)
    n = len(find(name).coordinates)
    for _ in range(3):
        t, q, v = rng.uniform(0, 3), rng.uniform(0.3, 1.4, n), rng.normal(size=n)
        expected = model.acceleration(t, q, v)
        np.testing.assert_allclose(typed.acceleration(t, q, v), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(typed.place(t, q), model.place(t, q), rtol=1e-14, atol=1e-14)
        if example != "hoop":  # there the scene's energy is T + V, the model's Jacobi's integral
            np.testing.assert_allclose(typed.energy(t, q, v), model.energy(t, q, v), rtol=1e-13, atol=1e-13)


def test_a_scenes_system_keeps_its_parameters_as_data() -> None:
    """Changing numbers of the built system is building the changed scene, masses in positions included."""
    scene = load(EXAMPLES / "double_positions.toml")
    there = build(scene).system.with_parameters(m1=2.5, g=1.7)
    here = build(changed(scene, {"m1": "2.5", "g": "1.7"})).system
    state = (0.0, np.array([0.4, 1.1]), np.array([0.3, -0.8]))
    np.testing.assert_array_equal(there.acceleration(*state), here.acceleration(*state))
    assert float(there.energy(*state)) != float(build(scene).system.energy(*state))


def test_other_numbers_in_a_scene_compile_nothing_new() -> None:
    scene = loads(
        """
        lagrangian = "m*x_dot^2/2 - 0.3*k*x^4 + 0.2*sin(1.7*t)*x"
        coordinates = ["x"]
        parameters = { m = 1.0, k = 2.0 }
        initial = { q = [1.0] }
        motion = { t_end = 1.0, dt = 0.01, method = "rk4" }
        """
    )
    compiled: list[str] = []

    def listener(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if event.endswith("backend_compile_duration"):
            compiled.append(event)

    def move(typed: Scene) -> float:
        built = build(typed)
        return float(hl.simulate(built.system, **built.arguments).q[-1, 0])

    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        first = move(scene)
        assert compiled, "the first run must compile, or the counter does not count"
        compiled.clear()
        other = loads(dumps(scene).replace("0.3", "0.4").replace("1.7", "2.7"))
        ends = {first, move(changed(scene, {"k": "3", "x": "2"}, t_end="2", dt="0.02")), move(other)}
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert len(ends) == 3
    assert compiled == []


@pytest.mark.parametrize("model", catalogue(), ids=lambda model: model.name)
def test_catalogue_metadata_fits_the_systems(model) -> None:
    system = model.build()
    assert system.names == tuple(model.coordinates)
    assert tuple(c.kind for c in system.coordinates) == tuple(model.coordinates.values())
    if model.module == "classics":
        assert set(system.parameters) == set(model.defaults)
    assert len(model.q) == len(model.v) == len(model.coordinates)
    assert np.all(np.isfinite(system.acceleration(0.0, np.array(model.q), np.array(model.v))))


def test_closed_forms() -> None:
    """Accelerations known in closed form: MATH.md, section 4, and the mass matrix of section 3."""
    theta, rate = 0.9, 0.4
    hoop = find("rotating_hoop").build(r=1.3, omega=2.1)
    expected = (2.1**2 * math.cos(theta) - 9.81 / 1.3) * math.sin(theta)
    np.testing.assert_allclose(hoop.acceleration(0.3, [theta], [rate]), [expected], rtol=1e-13)

    chain = find("multi_pendulum", links=3).build(masses=(0.7, 1.9, 0.4), lengths=(1.3, 0.6, 0.8))
    q = np.array([0.4, 1.1, -0.6])
    below = np.array([0.7 + 1.9 + 0.4, 1.9 + 0.4, 0.4])
    lengths = np.array([1.3, 0.6, 0.8])
    index = np.maximum.outer(np.arange(3), np.arange(3))
    mass = below[index] * np.outer(lengths, lengths) * np.cos(np.subtract.outer(q, q))
    np.testing.assert_allclose(chain.mass_matrix(0.0, q), mass, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("links", [0, 33])
def test_links_out_of_range(links: int) -> None:
    with pytest.raises(ValueError, match="it needs 1 to 32"):
        find("multi_pendulum", links)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"m": -1.0}, "simple_pendulum: m is -1; it must be greater than 0"),
        ({"m": float("nan")}, "simple_pendulum: m is nan; it must be a finite number"),
        ({"h": 1.0}, "simple_pendulum has no parameter 'h'; it has m, l, g"),
    ],
)
def test_models_refuse_impossible_numbers(parameters: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        find("simple_pendulum").build(**parameters)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_mean_the_same_on_numbers_and_arrays(name: str) -> None:
    values = {"x": 1.3 if name == "acosh" else 0.4, "y": -0.7, "z": 0.1}
    arguments = {1: "x", 2: "x, y", 3: "y < x, z, y"}[FUNCTIONS[name].least]
    tree = parse(f"{name}({arguments}) + x^3 - x^-2 + 2^x*y^2 - (x - z)^1.5 + min(z, x, y)/z").tree
    arrays = {key: jnp.asarray(value) for key, value in values.items()}
    np.testing.assert_allclose(evaluate(tree, arrays), compute(tree, values), rtol=1e-14)


def test_rates_of_definitions_are_total_derivatives() -> None:
    """x depends on time, on coordinates and on another definition; its rate is the derivative along the motion."""
    text = """
        lagrangian = "theta_dot^2/2 + x_dot^2*w + work"
        coordinates = ["theta"]
        [parameters]
        w = 0.3
        [let]
        s = "sin(theta)*t"
        x = "s^2 + exp(-t)"
        work = "x_dot*theta_dot"
        [initial]
        q = [0.5]
        [motion]
        t_end = 1
    """
    t, theta, rate = 0.7, 0.9, -0.4
    s, s_dot = math.sin(theta) * t, math.cos(theta) * rate * t + math.sin(theta)
    x_dot = 2 * s * s_dot - math.exp(-t)
    expected = rate**2 / 2 + 0.3 * x_dot**2 + x_dot * rate
    system = build(loads(text)).system
    found = system.lagrangian(jnp.asarray(t), jnp.asarray([theta]), jnp.asarray([rate]), system.parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_rates_of_many_definitions_are_computed_together() -> None:
    """Each definition is differentiated once, however many rates are used: twice as many cost twice as much."""

    def size(count: int) -> int:
        chain = ["d0 = 'x*sin(x)'", *(f"d{k} = 'd{k - 1}*sin(d{k - 1})'" for k in range(1, count))]
        energy = " + ".join(f"d{k}_dot^2" for k in range(count))
        text = f"lagrangian = '{energy}'\ncoordinates = ['x']\n[let]\n" + "\n".join(chain)
        formulas = Formulas(resolve(loads(text + "\n[initial]\nq = [0.3]\n[motion]\nt_end = 1")))
        traced = jax.make_jaxpr(lambda t, q, v: formulas.lagrangian(t, q, v, {}))(0.0, jnp.ones(1), jnp.ones(1))
        return len(traced.jaxpr.eqns)

    assert size(40) < 2.2 * size(20)


def test_methods_are_the_librarys() -> None:
    head = 'model = "kepler"\n[motion]\nmethod = '
    assert method(resolve(loads('model = "kepler"'))) is None
    assert isinstance(method(resolve(loads(head + '"rk4"'))), hl.RK4)
    gauss = method(resolve(loads(head + '{ name = "gauss", stages = 2 }')))
    assert isinstance(gauss, hl.Gauss)
    assert gauss.order == 4
    adaptive = method(resolve(loads(head + '{ name = "adaptive", order = 5, rtol = "1e-6" }')))
    assert isinstance(adaptive, hl.Adaptive)
    assert (adaptive.order, float(adaptive.rtol)) == (5, 1e-6)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"m1": "-1"}, "lagrangian: the kinetic energy is negative for some velocities"),
        ({"m1": "-1", "m2": "-1"}, "lagrangian: the kinetic energy is negative for some velocities"),
    ],
)
def test_negative_masses_in_a_typed_lagrangian(change: dict, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        build(changed(load(EXAMPLES / "double.toml"), change))


def test_a_start_without_energy() -> None:
    with pytest.raises(SceneError, match="initial: the energy has no finite value at the start"):
        build(changed(load(EXAMPLES / "kepler.toml"), {"x": "0"}))
