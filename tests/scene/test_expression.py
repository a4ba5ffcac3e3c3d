"""Formulas: what they mean, and that nothing else gets in."""

import ast
import math
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holonomy.scene as scene_room
from holonomy.scene.errors import SceneError
from holonomy.scene.expression import DEEPEST, LARGEST, Expression, Name, Number, Power, compute, parse
from holonomy.scene.functions import CONSTANTS, FUNCTIONS
from holonomy.scene.tokens import LONGEST

VALUES = {"x": 0.7, "y": -1.3, "theta_dot": 2.5}


def value(text: str) -> float:
    return compute(parse(text).tree, VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7.0),
        ("-x^2", -0.49),
        ("-x**2", -0.49),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("1 - -1", 2.0),
        ("+x", 0.7),
        ("6/2*3", 9.0),
        (".5 + 1. + 1e1 + 1.5E-1", 11.65),
        ("theta_dot^2/2", 3.125),
        ("cos(pi) + log(e)", 0.0),
        ("atan2(1, -1)", 0.75 * math.pi),
        ("min(3, x, 2) + max(y, 1)", 1.7),
        ("where(y < 0, 1, 2) + where(x <= 0, 10, 20)", 21.0),
        ("abs(y) + sign(y)", 0.3),
        ("(1 +\n 2)\t* 3", 9.0),
    ],
)
def test_value(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_is_callable_and_refuses_other_counts(name: str) -> None:
    function = FUNCTIONS[name]
    number = "x + 1.2" if name == "acosh" else "x"
    arguments = ["x < 1" if name == "where" and i == 0 else number for i in range(function.least)]
    assert math.isfinite(value(f"{name}({', '.join(arguments)})"))
    with pytest.raises(SceneError, match=f"{name} takes "):
        parse(f"{name}({', '.join([*arguments] * 20)})")


def test_names_come_in_order_and_constants_are_numbers() -> None:
    assert parse("b*a + sin(b) + pi - e").names == ("b", "a")
    for name, (constant, _) in CONSTANTS.items():
        assert parse(name).tree == Number(constant)


def test_whole_exponents_stay_whole() -> None:
    assert parse("x^(1+1)").tree == Power(Name("x"), Number(2.0))


REFUSED = {
    "__import__('os').system('x')": "__import__",
    "().__class__": "attributes",
    "x.real": "attributes",
    "(1).__class__.__bases__[0].__subclasses__()": "attributes",
    "lambda: 1": '":"',
    "[x for x in (1, 2)]": "lists or subscripts",
    "{x}": "braces",
    "f'{x}'": '"\'"',
    '"text"': "contains no text",
    "(y := 3)": '":"',
    "x = 3": "defines nothing",
    "x[0]": "subscripts",
    "x if y else x": "no operator before",
    "x and y": "no operator before",
    "x; y": '";"',
    "x % 2": "operators are",
    "x // 2": 'where "/" stands',
    "x @ y": '"@"',
    "x == y": "defines nothing",
    "x != y": "comparisons are",
    "~x": '"~"',
    "`x`": '"`"',
    "x\x00": "no meaning",
    "x # y": '"#"',
    "eval(x)": 'no function "eval"',
    "exec(x)": 'no function "exec"',
    "getattr(x, y)": 'no function "getattr"',
    "open(x)": 'no function "open"',
    "sn(x)": 'did you mean "sin"',
    "Sin(x)": 'did you mean "sin"',
    "_x + 1": "begin with a letter",
    "x__y": "double underscore",
    "1_000": "begin with a letter",
    "0x10": "no operator before",
    "1j": "no operator before",
    "2x": "written with \\*",
    "2(x)": "written with \\*",
    "x y": "written with \\*",
    "θ + 1": "plain ASCII",
    "x²": "plain ASCII",
    "ｘ + 1": "plain ASCII",
    "𝐱 + 1": "plain ASCII",
    "１ + 1": "plain ASCII",
    "x \u202e+ 1": "plain ASCII",
    "\\theta": "not in LaTeX",
    "": "empty",
    " \n\t": "empty",
    "(": "ends where a value",
    ")": 'where "\\)" stands',
    "(x": "is missing",
    "x)": "not expected",
    "sin(x": "is missing",
    "sin(x,)": 'where "\\)" stands',
    "x +": "ends where a value",
    "* x": 'where "\\*" stands',
    "x ^": "ends where a value",
    "sin": "arguments in parentheses",
    "sin x": "arguments in parentheses",
    "sin()": "takes one argument",
    "where(x, 1, 2)": "is a comparison",
    "where(x < 0, y < 0, 1)": "given a comparison",
    "sin(x < 0)": "given a comparison",
    "x < 0": "only for the first argument",
    "where(0 < x < 1, 1, 2)": "not expected",
    "9**9**9": "no finite value",
    "9^9^9^9^9^9": "no finite value",
    "x*9**9**9": "no finite value",
    "1e308*1e308": "no finite value",
    "1e999": "too large",
    "9" * 400: "too large",
    "1/0": "no finite value",
    "0/0": "no finite value",
    "sqrt(-1)": "no finite value",
    "log(0)": "no finite value",
    "exp(1000)": "no finite value",
    "(-8)^(1/3)": "no finite value",
    "0^-1": "no finite value",
    "a" * 65: "more than 64 characters",
}


@pytest.mark.parametrize("text", list(REFUSED), ids=lambda text: ascii(text[:30]))
def test_refused_in_one_short_sentence(text: str) -> None:
    with pytest.raises(SceneError, match=REFUSED[text]) as caught:
        parse(text)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert len(sentence) < 320


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "1+" * 5_000_000 + "1",
        "(" * 100_000 + "x" + ")" * 100_000,
        "(" * 10_000,
        "(" * 4_000 + "x" + ")" * 4_000,
        "(" * 900 + "x" + ")" * 900,
        "(" * (DEEPEST + 1) + "x" + ")" * (DEEPEST + 1),
        "sin(" * 100 + "x" + ")" * 100,
        "-" * 9_000 + "x",
        "-" * 900 + "x",
        "x^" * 900 + "x",
        "9**" * 1000 + "9",
        "+".join(["x"] * (LARGEST // 2 + 1)),
    ],
    ids=lambda text: f"{text[:6]}… {len(text)}",
)
def test_too_long_too_deep_too_large_is_refused_at_little_cost(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(SceneError, match=r"at most|nests more than"):
            parse(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_what_is_just_small_enough_is_read() -> None:
    assert value("(" * (DEEPEST - 1) + "x" + ")" * (DEEPEST - 1)) == 0.7
    long = "+".join(["x"] * (LARGEST // 2 - 1))
    assert value(long) == pytest.approx(0.7 * (LARGEST // 2 - 1))
    assert value("x" + " " * (LONGEST - 1)) == 0.7


def _formula(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "theta_dot", "2", "0.5", "3.25e-1"])
    kind = rng.randrange(4)
    inner = _formula(rng, depth - 1)
    if kind == 0:
        return f"-{inner}"
    if kind == 1:
        return f"{rng.choice(['sin', 'cos', 'atan', 'tanh'])}({inner})"
    if kind == 2:
        return f"{inner}{rng.choice([' + ', ' - ', '*'])}{_formula(rng, depth - 1)}"
    return f"({inner})**2"


@pytest.mark.parametrize("seed", range(200))
def test_the_grammar_means_what_python_means(seed: int) -> None:
    """Precedence and association, against Python's own reading of the same text (here in the test alone)."""
    text = _formula(random.Random(seed), 5)
    scope = {name: getattr(math, name) for name in ("sin", "cos", "atan", "tanh")}
    try:
        expected = eval(compile(ast.parse(text, mode="eval"), "test", "eval"), scope, dict(VALUES))  # noqa: S307
    except OverflowError:
        expected = math.inf
    if math.isfinite(expected):
        assert value(text) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80) | st.text(alphabet="xyz_dot0123456789.eE+-*/^(),<> sincow", max_size=80))
def test_any_text_is_a_formula_or_a_scene_error(text: str) -> None:
    try:
        found = parse(text)
    except SceneError as error:
        found = error
    if isinstance(found, Expression):
        assert all(name.isascii() for name in found.names)
    else:
        assert str(found).isprintable()


def test_no_scene_code_executes_text() -> None:
    """No file of the room so much as names Python's own ways to run text."""
    folder = Path(scene_room.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name):
                assert node.id not in {"eval", "exec", "compile", "__import__"}, file.name
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
                assert not {"ast", "pickle", "marshal", "sympy", "code"} & set(modules), file.name
