"""Without an extra, what needs it says so in one sentence with the command; all else works."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from holonomy import extras

ROOT = Path(__file__).parents[1]
# Makes imports of the packages named in the first argument fail as they do where these are not installed.
HIDE = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


hidden = sys.argv.pop(1).split(",")
sys.meta_path.insert(0, Hidden())
"""
ALL = ",".join(sorted({module for modules in extras.EXTRAS.values() for module in modules}))
SENTENCE = r'{} needs {}, which is not installed: pip install (-e )?"[^"]+\[{}\]"(; .+)?\.'
SCENE = """
model = "simple_pendulum"
[motion]
method = "rk4"
dt = 0.01
t_end = 0.1
"""


def python(code: str, hidden: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDE + code, hidden, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def command(hidden: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return python("from holonomy.cli import main\nmain()\n", hidden, *arguments)


def packages(extra: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = (re.match(r"[A-Za-z0-9_.-]+", line) for line in project["optional-dependencies"][extra])
    return {name.group().replace("-", "_") for name in names if name}


def test_the_extras_are_those_of_the_project() -> None:
    for extra, modules in extras.EXTRAS.items():
        assert set(modules) == packages(extra)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (everything,) = project["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", everything)) == {"holonomy", *extras.EXTRAS}


def test_each_use_names_its_package_and_its_extra(tmp_path: Path) -> None:
    code = """
import holonomy as hl
from holonomy.show.figures import FIGURES

pendulum = hl.Pendulum([1.0], [1.0])
run = hl.simulate(pendulum, [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4())
run.save(sys.argv[1])
for use in (
    run.plot,
    run.to_dataset,
    run.view,
    hl.load(sys.argv[1]).plot,
    lambda: run.animate("run.gif"),
    lambda: pendulum.studio([1.0]),
    lambda: hl.Linkage(3, 1.5).animate([[1.0, 0.0], [0.0, 1.0]], "linkage.gif"),
    lambda: hl.simulate(pendulum, [1.0], [0.0], 1.0, dt=0.1, method=hl.Taylor()),
    hl.studio.serve,
    FIGURES["flip"],
):
    try:
        use()
    except hl.extras.MissingExtra as error:
        print(error)
"""
    done = python(code, ALL, tmp_path / "run.nc")
    assert (done.returncode, done.stderr) == (0, "")
    expected = [
        SENTENCE.format(r"run\.plot\(\)", "matplotlib", "plot"),
        SENTENCE.format(r"run\.to_dataset\(\)", "xarray", "data"),
        SENTENCE.format(r"run\.view\(\)", "anywidget", "notebook"),
        SENTENCE.format(r"run\.plot\(\)", "matplotlib", "plot"),
        SENTENCE.format(r"run\.animate\(\)", "matplotlib", "video"),
        SENTENCE.format(r"system\.studio\(\)", "anywidget", "notebook"),
        SENTENCE.format(r"linkage\.animate\(\)", "matplotlib", "video"),
        SENTENCE.format(r"hl\.Taylor", "heyoka", "taylor"),
        SENTENCE.format("The studio", "starlette", "studio"),
        SENTENCE.format("This figure", "matplotlib", "plot"),
    ]
    for pattern, line in zip(expected, done.stdout.splitlines(), strict=True):
        assert re.fullmatch(pattern, line)


def test_an_animation_also_needs_its_encoder(tmp_path: Path) -> None:
    code = "import holonomy.extras as extras\nextras.require('video', 'This')\n"
    done = python(code, "imageio_ffmpeg")
    assert re.search(SENTENCE.format("This", "imageio-ffmpeg", "video"), done.stderr)


@pytest.mark.parametrize("argument", [["studio", "--no-browser"], ["reproduce", "flip"]], ids=["studio", "reproduce"])
def test_the_command_line_prints_the_sentence_alone(argument: list[str], tmp_path: Path) -> None:
    options = ["--out", str(tmp_path)] if argument[0] == "reproduce" else []
    done = command(ALL, *argument, *options)
    assert (done.returncode, done.stdout) == (1, "")
    user, package, extra = {
        "studio": ("The studio", "starlette", "studio"),
        "reproduce": ("This figure", "matplotlib", "plot"),
    }[argument[0]]
    assert re.fullmatch("holonomy: " + SENTENCE.format(user, package, extra) + "\n", done.stderr)


def test_a_scene_runs_without_pictures(tmp_path: Path) -> None:
    (tmp_path / "swing.toml").write_text(SCENE)
    done = command(ALL, "run", tmp_path / "swing.toml", "--out", tmp_path / "out")
    assert done.returncode == 0
    assert re.fullmatch("holonomy: " + SENTENCE.format("A picture", "matplotlib", "plot") + "\n", done.stderr)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["swing.nc"]


@pytest.mark.parametrize(
    "output, user, package, extra",
    [
        ('picture = "swing.png"', "A picture", "matplotlib", "plot"),
        ("animation = true", "An animation", "matplotlib", "video"),
    ],
    ids=["picture", "animation"],
)
def test_a_scene_that_asks_for_more_is_refused(
    output: str, user: str, package: str, extra: str, tmp_path: Path
) -> None:
    (tmp_path / "swing.toml").write_text(f"{SCENE}[outputs]\n{output}\n")
    done = command(ALL, "run", tmp_path / "swing.toml", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch("holonomy: " + SENTENCE.format(user, package, extra) + "\n", done.stderr)
    assert not (tmp_path / "out").exists()


def test_a_package_that_is_there_and_broken_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_package.py").write_text("import a_package_that_does_not_exist\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(extras.EXTRAS, "plot", ("broken_package",))
    with pytest.raises(ModuleNotFoundError, match="a_package_that_does_not_exist") as caught:
        extras.require("plot", "This")
    assert not isinstance(caught.value, extras.MissingExtra)


@pytest.mark.parametrize(
    "origin, expected",
    [
        ({}, 'pip install "holonomy[plot]"'),
        (
            {"url": "file:///home/ada/holonomy-0.1.0-py3-none-any.whl", "archive_info": {}},
            'pip install "/home/ada/holonomy-0.1.0-py3-none-any.whl[plot]"',
        ),
        ({"url": "file:///home/ada/my%20checkout", "dir_info": {}}, 'pip install "/home/ada/my checkout[plot]"'),
        (
            {"url": "file:///home/ada/holonomy", "dir_info": {"editable": True}},
            'pip install -e "/home/ada/holonomy[plot]"',
        ),
        (
            {"url": "https://example.org/holonomy.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            'pip install "holonomy[plot] @ git+https://example.org/holonomy.git"',
        ),
    ],
    ids=["index", "wheel", "checkout", "editable", "git"],
)
def test_the_command_fits_the_way_holonomy_was_installed(
    origin: dict[str, object], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_origin", lambda: origin)
    assert extras.command("plot") == expected


def test_heyoka_comes_from_elsewhere_where_it_has_no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert extras.command("taylor") == "conda install -c conda-forge heyoka.py"
