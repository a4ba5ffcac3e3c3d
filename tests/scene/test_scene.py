"""Scenes as files: what is read, and the one sentence for whatever is not."""

# ruff: noqa: E501  one mistake and its sentence to a line

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holonomy.models import catalogue
from holonomy.scene import Scene, SceneError, changed, from_table, load, loads, resolve
from holonomy.scene.read import LARGEST_FILE

GOOD = """
lagrangian = "m*l^2*theta_dot^2/2 - m*g*y"
[coordinates]
theta = "angle"
[parameters]
m = 1.0
l = 2.0
g = 9.81
[let]
y = "-l*cos(theta)"
[initial]
q = { theta = "pi/2" }
[motion]
t_end = 3.0
dt = 0.01
"""

PARTICLES = """
positions = [["l*sin(theta)", "y"], ["0", "x"]]
masses = ["m", 2.0]
potential = "m*g*y"
[coordinates]
theta = "angle"
x = "length"
[parameters]
m = 1.0
l = 2.0
g = 9.81
[let]
y = "-l*cos(theta)"
[initial]
q = [0.1, 0.2]
v = { x = "sqrt(g*l)" }
[motion]
t_end = "2*pi"
"""


def test_numbers_are_computed_and_defaults_filled_in() -> None:
    setup = resolve(loads(PARTICLES))
    assert setup.coordinates == {"theta": "angle", "x": "length"}
    assert setup.parameters == {"m": 1.0, "l": 2.0, "g": 9.81}
    assert setup.masses == (1.0, 2.0)
    assert setup.q == (0.1, 0.2)
    assert setup.v == (0.0, pytest.approx(19.62**0.5))
    assert (setup.t, setup.t_end, setup.dt) == (0.0, pytest.approx(6.283185307179586), None)
    assert (setup.method, setup.options, setup.save_every) == (None, {}, 1)


def test_definitions_are_sorted_by_whether_they_have_a_rate() -> None:
    text = GOOD.replace(
        'y = "-l*cos(theta)"', 'y = "-l*cos(theta)"\nT = "m*(l*theta_dot)^2/2"\nw = "y_dot + T"\nz = "2*y"'
    )
    made = resolve(loads(text)).definitions
    assert list(made.still) == ["y", "z"]
    assert list(made.moving) == ["T", "w"]
    assert made.needed([made.moving["w"]]) >= {"y_dot", "y", "T", "theta", "theta_dot", "l", "m"}
    assert "z" not in made.needed([made.moving["w"]])


@pytest.mark.parametrize("model", catalogue(), ids=lambda model: model.name)
def test_every_model_is_a_scene(model) -> None:
    setup = resolve(loads(f'model = "{model.name}"'))
    assert (setup.q, setup.v, setup.t_end, setup.dt) == (model.q, model.v, model.t_end, model.dt)
    assert setup.parameters == model.defaults


def test_a_model_takes_other_numbers() -> None:
    text = 'model = { name = "multi_pendulum", links = 2 }\n[parameters]\nlengths = [1, "1/2"]\n[initial]\nq = { theta2 = 1 }'
    setup = resolve(loads(text))
    assert setup.parameters["lengths"] == (1.0, 0.5)
    assert setup.q == (pytest.approx(1.5707963267948966), 1.0)


def test_numbers_change_from_outside_and_formulas_follow() -> None:
    scene = changed(loads(PARTICLES), {"g": "2", "theta": "pi", "theta_dot": "-1"}, t_end="10", dt="1/8")
    setup = resolve(scene)
    assert setup.q == (pytest.approx(3.141592653589793), 0.2)
    assert setup.v == (-1.0, 2.0)  # sqrt(g*l) with the new g
    assert (setup.t_end, setup.dt) == (10.0, 0.125)
    assert resolve(changed(scene, {})) == setup
    many = changed(loads('model = { name = "multi_pendulum", links = 2 }'), {"masses": "1, 1/2"})
    assert resolve(many).parameters["masses"] == (1.0, 0.5)


@pytest.mark.parametrize(
    ("values", "times", "sentence"),
    [
        ({"h": "1"}, {}, "--set h: the scene has no such number. Allowed: m, l, g, theta, x, theta_dot, x_dot."),
        ({"thet": "1"}, {}, '--set thet: the scene has no such number; did you mean "theta"? Allowed'),
        ({"g": "abc"}, {}, 'parameters.g: the formula "abc" uses "abc", which is not defined.'),
        ({"g": "__import__('os')"}, {}, '--set g: the name "__import__" is not allowed'),
        ({"g": ""}, {}, "--set g: this formula is empty."),
        ({"m": "-1"}, {}, "masses[0]: a mass cannot be negative; this one is -1."),
        ({}, {"t_end": "-1"}, "motion.t_end: the end -1 must come after the start 0."),
        ({}, {"dt": "0"}, "motion.dt: the step must be greater than 0; it is 0."),
        ({}, {"dt": "1e-300"}, "motion: 6.28e+300 states would be saved"),
        ({}, {"dt": "x y"}, "--dt: there is no operator before"),
    ],
)
def test_changes_that_cannot_be(values: dict, times: dict, sentence: str) -> None:
    with pytest.raises(SceneError) as caught:
        changed(loads(PARTICLES), values, **times)
    assert str(caught.value).startswith(sentence)


def _with(old: str, new: str, base: str = GOOD) -> str:
    assert old in base
    return base.replace(old, new)


BAD: dict[str, tuple[str, str]] = {
    "empty": ("", 'there is no system: give a "model", a "lagrangian", "bodies", or "positions" with "masses".'),
    "not TOML": ("lagrangian = ", "this is not TOML: Invalid value"),
    "twice": ("model = 'kepler'\nmodel = 'kepler'", "this is not TOML: Cannot overwrite a value"),
    "nested lists": ("x = " + "[" * 5000, "lists or tables are nested too deeply."),
    "digits": ("x = " + "9" * 10_000, "a value cannot be read"),
    "unknown key": (_with("lagrangian", "lagrangean"), 'lagrangean: there is no such key; did you mean "lagrangian"?'),
    "unknown inner key": (_with("t_end", "tend"), 'motion.tend: there is no such key; did you mean "t_end"? Allowed: t_end'),
    "unknown model": ('model = "double-pendulm"', 'model: there is no model "double-pendulm"; did you mean "double_pendulum"?'),
    "model and formulas": ('model = "kepler"\n' + GOOD, 'lagrangian: a scene with a "model" has its system already'),
    "links": ('model = { name = "kepler", links = 2 }', "model: kepler takes no links"),
    "many links": ('model = { name = "multi_pendulum", links = 99 }', "model: multi_pendulum has 99 links; it needs 1 to 32."),
    "nameless model": ("model = { links = 2 }", 'model: the key "name" is missing'),
    "model's mass": ('model = "kepler"\n[parameters]\nm = -1', "parameters.m: the parameter is -1; it must be greater than 0"),
    "model's parameter": ('model = "kepler"\n[parameters]\nmuu = 1', 'parameters.muu: kepler has no such parameter; did you mean "mu"?'),
    "model's list": ('model = "multi_pendulum"\n[parameters]\nlengths = [1]', "parameters.lengths: the parameter is 1 numbers; it needs a list of 3"),
    "model's number": ('model = "kepler"\n[parameters]\nm = [1]', "parameters.m: the parameter is a list of 1 numbers"),
    "no coordinates": (_with('[coordinates]\ntheta = "angle"', ""), "there are no coordinates"),
    "kind": (_with('"angle"', '"angel"'), 'coordinates.theta: there is no kind of coordinate "angel"; did you mean "angle"?'),
    "name taken by time": (_with("m = 1.0", "m = 1.0\nt = 1.0"), "parameters.t: the name already means the time"),
    "name taken by a constant": (_with("m = 1.0", "m = 1.0\ne = 1.0"), "parameters.e: the name already means the constant 2.71828"),
    "name taken by a function": (_with("m = 1.0", "m = 1.0\nsin = 1.0"), "parameters.sin: the name already means the function sin"),
    "name taken twice": (_with("m = 1.0", "m = 1.0\ntheta = 1.0"), "parameters.theta: the name is already in coordinates"),
    "rate as name": (_with("m = 1.0", "m = 1.0\na_dot = 1.0"), "parameters.a_dot: names that end in _dot mean rates"),
    "odd name": (_with("m = 1.0", 'm = 1.0\n"a b" = 1.0'), "parameters: expected a name of at most 64 plain letters"),
    "dunder name": (_with("m = 1.0", "m = 1.0\n__class__ = 1.0"), "parameters: expected a name"),
    "Greek name": (_with("m = 1.0", 'm = 1.0\n"θ" = 1.0'), "parameters: expected a name"),
    "unknown name": (_with("theta_dot^2", "thta_dot^2"), 'lagrangian: the formula "m*l^2*thta_dot^2/2 - m*g*y" uses "thta_dot", which is not defined; did you mean "theta_dot"?'),
    "missing parameter": (_with("g = 9.81", ""), 'lagrangian: the formula "m*l^2*theta_dot^2/2 - m*g*y" uses "g", which is not defined.'),
    "rate of a rate": (_with("*theta_dot^2", "*theta_dot_dot^2"), "lagrangian: the formula"),
    "later definition": (_with('y = "-l*cos(theta)"', 'y = "2*z"\nz = "theta"'), 'let.y: the formula "2*z" uses "z", which is defined by itself or further down'),
    "circular definition": (_with('y = "-l*cos(theta)"', 'y = "y"'), "let.y: the formula"),
    "rate without one": (_with('y = "-l*cos(theta)"', 'y = "l*theta_dot"\nz = "y_dot"'), 'let.z: the formula "y_dot" uses "y_dot", a rate of change that cannot be used here.'),
    "malicious": (_with("m*g*y", "__import__('os').system('true')"), 'lagrangian: the name "__import__" is not allowed'),
    "attribute": (_with("m*g*y", "().__class__"), 'lagrangian: the character "." has no meaning'),
    "deep": (_with("m*g*y", "(" * 60 + "y" + ")" * 60), "lagrangian: this formula nests more than 50"),
    "huge power": (_with("m*g*y", "9**9**9"), "lagrangian: a part of this formula has no finite value"),
    "number for text": (_with('"m*l^2*theta_dot^2/2 - m*g*y"', "3"), 'lagrangian: expected a formula in quotes such as "m*g*y", got the number 3.'),
    "text for table": ("motion = 'fast'", "motion: expected a table with the keys t_end, dt"),
    "list for table": (_with("[parameters]\nm = 1.0\nl = 2.0\ng = 9.81", "").replace("lagrangian", "parameters = [1]\nlagrangian"), "parameters: expected a table of numbers by name, got a list of 1 item."),
    "parameter list": (_with("m = 1.0", "m = [1.0]"), "parameters.m: a list of numbers is only for a model's parameters"),
    "truth for number": (_with("m = 1.0", "m = true"), "parameters.m: expected a list of numbers or a number, or a formula in quotes"),
    "date for number": (_with("m = 1.0", "m = 2020-01-01"), "parameters.m: expected"),
    "nan": (_with("m = 1.0", "m = nan"), "parameters.m: expected a finite number, got the number nan."),
    "inf": (_with("m = 1.0", "m = inf"), "parameters.m: expected a finite number, got the number inf."),
    "big integer": (_with("m = 1.0", "m = " + "9" * 400), "parameters.m: expected a finite number, got the number with more than 30 digits."),
    "parameter of parameters": (_with("m = 1.0", 'm = "2*g"'), 'parameters.m: the formula "2*g" uses "g", which is not defined.'),
    "missing start": (_with('q = { theta = "pi/2" }', ""), 'initial.q: the coordinate "theta" has no starting value'),
    "wrong start": (_with("{ theta =", "{ theta1 ="), 'initial.q.theta1: there is no such coordinate; did you mean "theta"? Allowed: theta.'),
    "too many values": (_with('{ theta = "pi/2" }', "[1, 2]"), "initial.q: 2 values for 1 coordinates (theta)."),
    "no values": (_with('{ theta = "pi/2" }', "[]"), "initial.q: expected a list of numbers (1 to 1000 of them)"),
    "nan start": (_with('"pi/2"', "nan"), "initial.q.theta: expected a finite number"),
    "start of itself": (_with('"pi/2"', '"2*theta"'), 'initial.q.theta: the formula "2*theta" uses "theta", which is not defined'),
    "start without value": (_with('"pi/2"', '"sqrt(-g)"'), 'initial.q.theta: the formula "sqrt(-g)" has no finite value.'),
    "no end": (_with("t_end = 3.0", ""), 'motion: there is no end: give "t_end"'),
    "end before start": (_with("t_end = 3.0", "t_end = 0"), "motion.t_end: the end 0 must come after the start 0."),
    "step": (_with("dt = 0.01", "dt = -0.01"), "motion.dt: the step must be greater than 0; it is -0.01."),
    "too many bytes": ('model = { name = "multi_pendulum", links = 32 }\n[motion]\nt_end = 1000\ndt = 2.5e-4', "motion: 4e+06 states would be saved, in 4.1e+09 bytes"),
    "too many states": (_with("dt = 0.01", "dt = 1e-9"), "motion: 3e+09 states would be saved"),
    "save_every": (_with("dt = 0.01", "save_every = 0"), "motion.save_every: expected a whole number from 1 to 1000000, got the number 0."),
    "save_every half": (_with("dt = 0.01", "save_every = 1.5"), "motion.save_every: expected a whole number"),
    "method": (_with("dt = 0.01", 'method = "gaus"'), 'motion.method: there is no method "gaus"; did you mean "gauss"?'),
    "method's option": (_with("dt = 0.01", 'method = { name = "rk4", stages = 3 }'), "motion.method.stages: rk4 has no such option; it takes none."),
    "stages": (_with("dt = 0.01", 'method = { name = "gauss", stages = 9 }'), "motion.method.stages: expected a whole number from 1 to 6"),
    "order": (_with("dt = 0.01", 'method = { name = "adaptive", order = 6 }'), "motion.method.order: adaptive has order 5 or 8, not 6."),
    "tolerance": (_with("dt = 0.01", 'method = { name = "adaptive", rtol = 2 }'), "motion.method.rtol: a tolerance lies between 0 and 1; this one is 2."),
    "masses beside a Lagrangian": (_with("[coordinates]", "masses = [1]\n[coordinates]"), 'masses: beside a "lagrangian", "positions" are only drawn'),
    "no masses": (_with('masses = ["m", 2.0]', "", PARTICLES), 'the particles in "positions" need masses'),
    "too few masses": (_with('["m", 2.0]', '["m"]', PARTICLES), "masses: 1 masses for 2 positions; give one each."),
    "negative mass": (_with('["m", 2.0]', '["m", -2.0]', PARTICLES), "masses[1]: a mass cannot be negative; this one is -2."),
    "mass of a coordinate": (_with('["m", 2.0]', '["m", "x"]', PARTICLES), 'masses[1]: the formula "x" uses "x", which is not defined'),
    "rate in positions": (_with('"0", "x"', '"0", "x_dot"', PARTICLES), 'positions[1][1]: the formula "x_dot" uses "x_dot", a rate of change that cannot be used here.'),
    "rate in the potential": (_with('"m*g*y"', '"m*g*y_dot"', PARTICLES), 'potential: the formula "m*g*y_dot" uses "y_dot", a rate'),
    "ragged positions": (_with('["0", "x"]', '["x"]', PARTICLES), "positions[1]: the point has 1 formulas, the first one 2."),
    "flat positions": (_with('[["l*sin(theta)", "y"], ["0", "x"]]', '["x", "y"]', PARTICLES), "positions[0]: expected a list of 1, 2 or 3 formulas, got the text"),
    "folder in a file name": (GOOD + '[outputs]\nnetcdf = "../x.nc"', "outputs.netcdf: expected a file name without folders that ends in .nc"),
    "ending of a file name": (GOOD + '[outputs]\npicture = "x.exe"', "outputs.picture: expected a file name without folders that ends in .png or .pdf or .svg"),
    "hidden file name": (GOOD + '[outputs]\nnetcdf = ".x.nc"', "outputs.netcdf: expected a file name"),
    "number for a file name": (GOOD + "[outputs]\nnetcdf = 1", "outputs.netcdf: expected true or false or a file name"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(BAD))
def test_bad_scenes_get_one_sentence_with_file_and_key(case: str) -> None:
    text, sentence = BAD[case]
    with pytest.raises(SceneError) as caught:
        loads(text, "bad.toml")
    message = str(caught.value)
    assert message.startswith(f"bad.toml: {sentence}")
    assert message.isprintable()
    assert message.endswith(".")
    assert len(message) < 500


def test_files_that_are_no_scenes(tmp_path: Path) -> None:
    def sentence(path: Path) -> str:
        with pytest.raises(SceneError) as caught:
            load(path)
        return str(caught.value)

    file = tmp_path / "scene.toml"
    assert sentence(file) == f"{file}: there is no such file."
    assert sentence(tmp_path).endswith("this is a folder; a scene is a TOML file.")
    assert sentence(tmp_path / "a\0b").endswith("(embedded null byte).")
    assert "Not a directory" in sentence(Path(__file__) / "scene.toml")
    file.write_bytes(b"title = '\xff\xfe'")
    assert sentence(file) == "scene.toml: the file is not UTF-8 text (byte 9)."
    file.write_bytes(b"#" * (LARGEST_FILE + 1))
    assert sentence(file) == f"scene.toml: the file is larger than {LARGEST_FILE} bytes, which no scene is."
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load(file) == loads(GOOD)


def test_ten_megabytes_of_formula_are_refused() -> None:
    text = "x" * 10_000_000
    with pytest.raises(SceneError, match="longer than"):
        loads(_with("m*g*y", text))
    with pytest.raises(
        SceneError, match=r"lagrangian: this formula has 10000000 characters; at most 10000 are allowed"
    ):
        from_table({"lagrangian": text})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([field.name for field in dataclasses.fields(Scene)]), JSON, max_size=5))
def test_any_table_is_a_scene_or_a_scene_error(table: dict) -> None:
    try:
        found = from_table(table)
    except SceneError as error:
        found = error
    assert isinstance(found, Scene) or str(found).isprintable()
