"""The `holonomy` command as a person meets it: what it prints, what it writes, and how it says no."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import holonomy as hl
from holonomy import cli
from holonomy.method_table import TABLE
from holonomy.models import catalogue
from holonomy.scene.json_schema import schema

EXAMPLES = Path(__file__).parents[1] / "examples"
SWING = """
title = "A swing"
model = "simple_pendulum"
[motion]
method = "rk4"
dt = 0.01
t_end = 0.5
[outputs]
picture = false
"""
TYPED = """
lagrangian = "{}"
coordinates = ["x"]
[initial]
q = [{}]
[motion]
method = "rk4"
dt = 0.01
t_end = {}
"""


def holonomy(*arguments: object):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    file = tmp_path / "swing.toml"
    file.write_text(SWING)
    return file


def test_help_and_version_import_nothing_heavy() -> None:
    """`--help` has to answer at once, so none of the slow packages may be imported for it."""
    code = (
        "import sys, holonomy.cli as cli\n"
        "try: cli.app(sys.argv[1:])\n"
        "except SystemExit as stop: assert stop.code in (0, None), stop.code\n"
        "slow = {'jax', 'numpy', 'equinox', 'rich', 'matplotlib', 'xarray', 'starlette', 'holonomy.scene'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    for argument in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"holonomy {hl.__version__}\n"


def test_help_names_every_command() -> None:
    text = holonomy("--help").output
    for command in ("run", "derive", "models", "methods", "studio", "cache", "schema"):
        assert re.search(rf"^  {command} ", text, re.MULTILINE)
        assert holonomy(command, "--help").exit_code == 0
    assert holonomy().output == text


def test_run_writes_files_and_prints_the_certificate(tmp_path: Path) -> None:
    """The double pendulum of the examples, against MATH.md, section 3, at t = 1."""
    out = tmp_path / "out"
    done = holonomy("run", EXAMPLES / "double.toml", "--out", out, "--t-end", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Double pendulum from its Lagrangian\n")
    assert "Gauss(3)" in done.stdout
    assert "energy drift" in done.stdout
    assert f"wrote {out / 'double.nc'}\nwrote {out / 'double.png'}\n" in done.stdout
    assert sorted(file.name for file in out.iterdir()) == ["double.nc", "double.png"]
    assert (out / "double.png").read_bytes().startswith(b"\x89PNG")
    run = hl.load(out / "double.nc")
    reference = [-0.62508769980639, -1.03458508568, -3.922279572888, -1.3030992486963]
    np.testing.assert_allclose([*run.q[-1], *run.v[-1]], reference, atol=1e-9)


def test_run_with_other_numbers(swing: Path, tmp_path: Path) -> None:
    done = holonomy(
        "run",
        swing,
        "-o",
        tmp_path,
        "--set",
        "g=0",
        "-s",
        "theta=pi/2",
        "--set",
        "theta_dot=2",
        "--dt",
        "1/8",
        "--t-end",
        1,
    )
    assert done.exit_code == 0, done.output
    run = hl.load(tmp_path / "swing.nc")
    np.testing.assert_allclose(run.t, np.arange(9) / 8, rtol=1e-15)
    np.testing.assert_allclose(run.q[:, 0], np.pi / 2 + 2 * run.t, rtol=1e-14)  # no gravity: it turns steadily


def test_quiet_is_quiet(swing: Path, tmp_path: Path) -> None:
    done = holonomy("run", swing, "--out", tmp_path, "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "swing.nc").exists()


def test_run_does_not_write_over_files_unless_told_to(swing: Path, tmp_path: Path, monkeypatch) -> None:
    """It says so before it computes anything; a link that leads nowhere is there too."""
    assert holonomy("run", swing, "--out", tmp_path, "--quiet").exit_code == 0
    before = (tmp_path / "swing.nc").read_bytes()
    refused = holonomy("run", swing, "--out", tmp_path, "--t-end", 1)
    assert refused.exit_code == 2
    taken = f'"{tmp_path / "swing.nc"}" is there already'
    assert refused.stderr == f"holonomy: --out: {taken}; name another folder, or write over it with --force.\n"
    assert (tmp_path / "swing.nc").read_bytes() == before
    assert holonomy("run", swing, "--out", tmp_path, "--t-end", 1, "--force", "--quiet").exit_code == 0
    assert hl.load(tmp_path / "swing.nc").t[-1] == 1
    (tmp_path / "swing.nc").unlink()
    (tmp_path / "swing.nc").symlink_to(tmp_path / "nowhere")
    assert holonomy("run", swing, "--out", tmp_path).exit_code == 2
    assert not (tmp_path / "nowhere").exists()


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """A title, a key and a file name that would clear the screen or hide what follows."""
    file = tmp_path / "evil\x1b[2J.toml"
    file.write_text(SWING.replace("A swing", "A\\u001b[2Jswing\\u009b8m\\u202e"))
    done = holonomy("run", file, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("A\ufffd[2Jswing\ufffd8m\ufffd\n")
    assert "\x1b" not in done.output
    file.write_text(SWING + '\n"\\u001b[2J" = 1')
    done = holonomy("run", file, "--out", tmp_path / "out2")
    assert done.exit_code == 2
    assert "\x1b" not in done.output


def test_methods_are_listed() -> None:
    done = holonomy("methods")
    assert done.exit_code == 0
    for row in TABLE:
        assert row.name in done.stdout


def test_models_are_listed() -> None:
    done = holonomy("models")
    assert done.exit_code == 0
    for model in catalogue():
        assert model.name in done.stdout


def test_schema_is_printed() -> None:
    done = holonomy("schema")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == schema()


def test_cache_is_described_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from holonomy.trace.native import cache

    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    assert holonomy("cache").stdout == f"{tmp_path / 'cache'}: 0 entries, 0.0 MB of at most 512 MB.\n"
    cache.write("a", bytes(3 * 2**20))
    cache.write("b", b"code")
    assert holonomy("cache").stdout == f"{tmp_path / 'cache'}: 2 entries, 3.0 MB of at most 512 MB.\n"
    assert holonomy("cache", "--clear").stdout == f"{tmp_path / 'cache'}: 2 entries removed.\n"
    assert list((tmp_path / "cache").iterdir()) == []
    monkeypatch.setenv("HOLONOMY_CACHE", "off")
    assert holonomy("cache").stdout == "No compiled code is kept: HOLONOMY_CACHE is off.\n"


def test_studio_is_handed_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr("holonomy.studio.serve", lambda **options: calls.append(options))
    assert holonomy("studio", "--port", 9000, "--no-browser").exit_code == 0
    assert calls == [{"host": "127.0.0.1", "port": 9000, "open_browser": False, "stories": ()}]
    assert holonomy("studio", "--port", 99999).exit_code == 2


BAD: dict[str, tuple[str, str, int]] = {
    "unknown key": (SWING + "\npicure = true", 'outputs.picure: there is no such key; did you mean "picture"?', 2),
    "unknown name": (TYPED.format("x_dot^2/2 - k*x", 0, 1), 'uses "k", which is not defined', 2),
    "malicious": (
        TYPED.format("__import__('os').system('touch pwned')", 0, 1),
        'the name "__import__" is not allowed',
        2,
    ),
    "attribute": (TYPED.format("().__class__", 0, 1), "a formula has no attributes", 2),
    "deep": (TYPED.format("(" * 2000 + "x" + ")" * 2000, 0, 1), "at most 2000 are allowed", 2),
    "ten megabytes": (TYPED.format("x" * 10_000_000, 0, 1), "the file is larger than", 2),
    "huge power": (TYPED.format("9**9**9*x_dot^2", 0, 1), "no finite value", 2),
    "wrong number of values": (TYPED.format("x_dot^2/2", "0, 1", 1), "initial.q: 2 values for 1 coordinates (x).", 2),
    "NaN": (TYPED.format("x_dot^2/2", "nan", 1), "initial.q[0]: expected a finite number", 2),
    "negative mass": (TYPED.format("-x_dot^2/2", 0, 1), "lagrangian: the kinetic energy is negative", 2),
    "no mass": (TYPED.format("-x^2/2", 0, 1), "singular", 2),
    "no energy": (TYPED.format("x_dot^2/2 + 1/x", 0, 1), "initial: the energy has no finite value at the start", 2),
    "no value at the start": (TYPED.format("x_dot^2/2 + log(x)", -1, 1), "initial: the energy has no finite value", 2),
    "runaway": (TYPED.format("x_dot^2/2 + exp(x)", 0, 10), "became infinite or not a number", 1),
    "not TOML": ("title = ", "this is not TOML", 2),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_scenes_end_in_one_sentence_and_no_file(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, sentence, status = BAD[case]
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "bad.toml"
    file.write_text(text)
    done = holonomy("run", file, "--out", tmp_path / "out")
    assert done.exit_code == status
    assert done.stdout == ""
    assert done.stderr.startswith("holonomy: bad.toml: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 600
    assert sentence in done.stderr
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set", "g"), '--set takes NAME=VALUE, such as g=3.7; got "g".'),
        (("--set", "=3"), '--set takes NAME=VALUE, such as g=3.7; got "=3".'),
        (("--set", "h=3"), "swing.toml: --set h: the scene has no such number."),
        (("--set", "m=-1"), "swing.toml: parameters.m: the parameter is -1; it must be greater than 0"),
        (("--dt", "0"), "swing.toml: motion.dt: the step must be greater than 0; it is 0."),
        (("--t-end", "nan"), 'swing.toml: motion.t_end: the formula "nan" uses "nan", which is not defined.'),
    ],
)
def test_bad_options(swing: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = holonomy("run", swing, "--out", swing.parent / "out", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"holonomy: {sentence}")
    assert list(swing.parent.iterdir()) == [swing]


def test_bad_paths(swing: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    latin = tmp_path / "latin.toml"
    latin.write_bytes("title = 'é'".encode("latin-1"))
    for arguments, sentence in (
        ((missing,), f"{missing}: there is no such file."),
        ((tmp_path,), f"{tmp_path}: this is a folder; a scene is a TOML file."),
        ((latin,), "latin.toml: the file is not UTF-8 text (byte 9)."),
        ((swing, "--out", swing), f'--out: cannot write into "{swing}" (File exists).'),
        ((swing, "--out", swing / "below"), f'--out: cannot write into "{swing / "below"}" (Not a directory).'),
    ):
        done = holonomy("run", *arguments)
        assert (done.exit_code, done.stderr) == (2, f"holonomy: {sentence}\n")
    assert sorted(tmp_path.iterdir()) == [latin, swing]


def test_faults_of_ours_are_one_sentence_too_and_a_traceback_on_request(
    swing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args, **kwargs):
        raise ZeroDivisionError("from\nthe depths")

    monkeypatch.setattr(hl, "simulate", broken)
    done = holonomy("run", swing, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr == "holonomy: ZeroDivisionError: from the depths (--traceback shows where).\n"
    assert isinstance(holonomy("run", swing, "--out", tmp_path / "out", "--traceback").exception, ZeroDivisionError)
    assert list(tmp_path.iterdir()) == [swing]


def test_interrupting(swing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the run keeps the part before it; Ctrl-C elsewhere leaves nothing."""
    simulate = hl.simulate

    def interrupted(*args, progress=None, **kwargs):
        def stop(fraction: float) -> None:
            raise KeyboardInterrupt

        return simulate(*args, progress=stop, **kwargs)

    monkeypatch.setattr(hl, "simulate", interrupted)
    done = holonomy("run", swing, "--out", tmp_path, "--t-end", 10)
    assert done.exit_code == 130
    assert "The run was interrupted. It stopped at t = " in done.stderr
    assert 0 < hl.load(tmp_path / "swing.nc").t[-1] < 10
    (tmp_path / "swing.nc").unlink()

    if hasattr(signal, "setitimer"):
        armed: list[float] = []

        def out_of_time(*args, progress=None, **kwargs):
            return simulate(*args, progress=lambda fraction: signal.raise_signal(signal.SIGALRM), **kwargs)

        monkeypatch.setattr(hl, "simulate", out_of_time)
        monkeypatch.setattr(signal, "setitimer", lambda which, seconds: armed.append(seconds))
        done = holonomy("run", swing, "--out", tmp_path, "--t-end", 10, "--seconds", 33)
        assert (done.exit_code, armed) == (130, [33.0, 0.0])
        assert 0 < hl.load(tmp_path / "swing.nc").t[-1] < 10
        (tmp_path / "swing.nc").unlink()

    def early(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(hl, "simulate", early)
    done = holonomy("run", swing, "--out", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (130, "holonomy: interrupted; nothing was written.\n")
    assert list(tmp_path.iterdir()) == [swing]


@pytest.mark.parametrize(("reason", "status"), [(KeyboardInterrupt(), 130), (SystemExit(1), 1)])
def test_interrupting_outside_of_a_command(monkeypatch: pytest.MonkeyPatch, reason: BaseException, status: int) -> None:
    """Typer itself would end with 1, as after a failure."""
    app = typer.Typer(pretty_exceptions_enable=False)

    def command() -> None:
        raise reason

    app.command()(command)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["holonomy"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == status


def test_a_scene_from_standard_input_with_another_method(tmp_path: Path) -> None:
    arguments = ["run", "-", "--out", str(tmp_path), "--method", "Gauss(2)", "--save-every", "10", "--json"]
    done = CliRunner().invoke(cli.app, arguments, input=SWING)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["title"], said["ok"], said["files"]) == ("A swing", True, [str(tmp_path / "scene.nc")])
    assert said["certificate"]["method"].startswith("Gauss(2)")
    run = hl.load(tmp_path / "scene.nc")
    assert len(run) == 6
    assert said["end"]["q"] == list(run.q[-1])
    broken = CliRunner().invoke(cli.app, ["run", "-"], input="model = ")
    assert (broken.exit_code, "holonomy: standard input: this is not TOML" in broken.stderr) == (2, True)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("guass", '--method: there is no method "guass"; did you mean "gauss"?'),
        ("rk4(3)", "--method: rk4 takes no number; got rk4(3)."),
        ("gauss(9)", "Gauss takes 1 to 6 stages"),
    ],
)
def test_a_method_that_is_none(swing: Path, method: str, sentence: str) -> None:
    done = holonomy("run", swing, "--out", swing.parent / "out", "--method", method)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr


def test_tables_are_plain_where_they_are_piped_and_json_where_asked() -> None:
    plain = holonomy("models").stdout.splitlines()
    assert plain[0].split("\t") == ["model", "what it is", "coordinates", "parameters"]
    assert [line.split("\t")[0] for line in plain[1:]] == [model.name for model in catalogue()]
    kepler = next(m for m in json.loads(holonomy("models", "--json").stdout) if m["name"] == "kepler")
    assert kepler["parameters"]["mu"] == {"default": 1.0, "meaning": "gravitational parameter of the sun"}
    assert [row["name"] for row in json.loads(holonomy("methods", "--json").stdout)] == [row.name for row in TABLE]


def test_completion_is_offered() -> None:
    assert "--install-completion" in holonomy("--help").output
    assert "rk4" in cli._method_names()


def test_a_run_is_exported_by_the_ending_of_the_name(swing: Path, tmp_path: Path) -> None:
    assert holonomy("run", swing, "--out", tmp_path, "--quiet").exit_code == 0
    saved = tmp_path / "swing.nc"
    for name, start in (("swing.csv", b"t,theta"), ("swing.png", b"\x89PNG"), ("swing.svg", b"<?xml")):
        done = holonomy("export", saved, tmp_path / name)
        assert (done.exit_code, done.output) == (0, f"wrote {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(start)
        refused = holonomy("export", saved, tmp_path / name)
        taken = f'"{tmp_path / name}" is there already; name another file, or write over it with --force.'
        assert (refused.exit_code, refused.stderr) == (2, f"holonomy: {taken}\n")
    assert "ends in .html, .htm, .csv" in holonomy("export", saved, tmp_path / "swing.doc").stderr


@pytest.mark.proof
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_runs(path: Path, tmp_path: Path) -> None:
    done = holonomy("run", path, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    run = hl.load(tmp_path / f"{path.stem}.nc")
    assert run.result.ok
    if path.stem not in ("hoop", "bouncing"):  # a motor does work, air drag and impacts take energy away
        assert run.certificate.energy_drift_relative < 1e-7


@pytest.mark.proof
def test_the_ten_lines_of_python_run(tmp_path: Path) -> None:
    code = [sys.executable, str(EXAMPLES / "double_pendulum.py")]
    done = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "energy drift" in done.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["double_pendulum.png"]


def test_derive_prints_the_equations(swing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pendulum in three languages, and one sentence for what cannot be derived."""
    plain = holonomy("derive", swing)
    assert plain.exit_code == 0, plain.output
    assert plain.stdout.splitlines()[1:3] == ["l^2*m*theta_ddot + g*l*m*sin(theta) = 0", "theta_ddot = -g*sin(theta)/l"]
    assert r"\ddot{\theta} &= - \frac{g \sin{\left(\theta \right)}}{l}" in holonomy("derive", swing, "--latex").stdout
    assert holonomy("derive", swing, "--sympy").stdout.startswith("Eq(g*l*m*sin(theta(t)) + l**2*m*Derivative(theta(t)")
    both = holonomy("derive", swing, "--latex", "--sympy")
    assert (both.exit_code, "choose one" in both.stderr) == (2, True)
    assert "    a[0] = -g*sin(theta)/l;\n" in holonomy("derive", swing, "--code", "c").stdout
    lines = json.loads(holonomy("derive", swing, "--json").stdout)
    assert {"part": "acceleration", "text": "theta_ddot = -g*sin(theta)/l"}.items() <= lines[2].items()
    page = swing.with_suffix(".html")
    assert f"wrote {page}" in holonomy("derive", swing, "--out", page).stdout
    assert "<h2>Equilibria</h2>" in page.read_text(encoding="utf-8")
    assert "--force" in holonomy("derive", swing, "--out", page).stderr
    assert "--out writes; give both" in holonomy("derive", swing, "--over", "g=1:2").stderr
    assert "NAME=FIRST:LAST" in holonomy("derive", swing, "--over", "g=1", "--out", page).stderr
    missing = holonomy("derive", swing.with_name("nothing.toml"))
    assert (missing.exit_code, missing.stderr.count("\n")) == (2, 1)
    if hasattr(signal, "setitimer"):
        # The alarm rings at once: in the middle of a trace it would leave JAX in that trace, for all tests that follow.
        monkeypatch.setattr(signal, "setitimer", lambda which, left: left and signal.raise_signal(signal.SIGALRM))
        late = holonomy("derive", swing, "--seconds", "1e-3")
        assert (late.exit_code, late.stdout) == (1, "")
        assert "the derivation was given up after 0.001 s; --seconds allows more." in late.stderr
