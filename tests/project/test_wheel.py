"""The wheel in clean environments: what a plain install gives, and what the extras add to it.

These tests need a package index, since a clean environment has no packages, and they are skipped where none answers.
The versions are those of the lock.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+==[^\\\n]+?) *\\?$", re.MULTILINE)
MISSING = r'{} needs {}, which is not installed: (pip install "{}\[{}\]")\.'
SCENE = """
model = "simple_pendulum"
[motion]
dt = 0.01
t_end = 0.5
"""
# Starts the studio, prints the size of the page and of the first frame of a motion, and ends it.
FRAME = """
import re, subprocess, sys, urllib.request
from websockets.sync.client import connect

command = [sys.executable, "-I", "-m", "holonomy", "studio", "--no-browser", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    try:
        host, token = re.search(r"http://([^ /]+)/[?]token=([^ ]+)", server.stdout.readline().strip()).groups()
        asked = urllib.request.Request(f"http://{host}/", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=60) as page:
            print("page", len(page.read()))
        with connect(f"ws://{host}/live?token={token}", compression=None) as socket:
            while not isinstance(message := socket.recv(180), bytes):
                pass
            print("frame", len(message))
    finally:
        server.terminate()
"""


def pythons() -> dict[str, str]:
    """The supported Pythons of this machine, oldest first, with their paths."""
    command = ["sh", "scripts/find_python.sh", "all"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(sorted((line.split(maxsplit=1) for line in lines), key=lambda pair: int(pair[0].split(".")[1])))


class Environment:
    """A clean virtual environment, away from the checkout."""

    def __init__(self, folder: Path, python: str, constraints: Path):
        self.folder = folder
        self.python = folder / "bin" / "python"
        self._constraints = constraints
        subprocess.run([python, "-m", "venv", folder], check=True)

    def run(self, *command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment with nothing of the surrounding one."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        done = subprocess.run(
            [self.folder / "bin" / str(command[0]), *map(str, command[1:])],
            cwd=self.folder,
            env=kept | {"HOLONOMY_CACHE": str(self.folder / "code")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or not check, done.stdout + done.stderr
        return done

    def install(self, *arguments: str) -> None:
        """Install packages as pip does it, in the versions of the lock."""
        options = ["--quiet", "--disable-pip-version-check", "--retries=2", "--no-compile", "--only-binary=:all:"]
        pip = ["python", "-m", "pip", "install", *options, "--constraint", self._constraints, *arguments]
        done = self.run(*pip, check=False)
        if done.returncode and "connection broken" in done.stderr:
            pytest.skip("the package index cannot be reached, so nothing can be installed")
        assert done.returncode == 0, done.stderr

    def packages(self) -> set[str]:
        """The names of what is installed."""
        lines = self.run("python", "-m", "pip", "--disable-pip-version-check", "list", "--format=freeze").stdout
        return {line.partition("==")[0].lower() for line in lines.splitlines()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout. `make proof` has built the pages before, so this fetches nothing."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def constraints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The versions of the lock, without its hashes: pip would ask for one of the wheel too."""
    path = tmp_path_factory.mktemp("lock") / "constraints.txt"
    path.write_text("\n".join(PIN.findall((ROOT / "requirements" / "dev.txt").read_text())))
    return path


@pytest.fixture(scope="module", params=["oldest", "newest"])
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wheel: Path, constraints: Path
) -> Iterator[Environment]:
    """A plain install of the wheel on one of two Pythons."""
    found = pythons()
    if request.param == "oldest":
        version = "3.11"
        if version not in found:
            pytest.skip("Python 3.11, the oldest that is supported, is not on this machine")
    else:
        version = max(found, key=lambda name: int(name.split(".")[1]))
        if version == "3.11":
            pytest.skip("no Python newer than 3.11 is on this machine")
    folder = tmp_path_factory.mktemp("environment")
    made = Environment(folder / "env", found[version], constraints)
    made.install(str(wheel))
    yield made
    shutil.rmtree(folder)


def test_the_wheel_installs_and_its_extras_add_to_it(environment: Environment, wheel: Path) -> None:
    """One environment from beginning to end: the core first, then what its own sentences say to install."""
    core = environment.packages()
    assert {"holonomy", "jax", "llvmlite", "sympy"} <= core
    assert not {"matplotlib", "imageio", "starlette", "uvicorn", "xarray", "pandas", "anywidget", "heyoka"} & core

    readme = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert readme
    (environment.folder / "readme.py").write_text(readme.group(1))
    assert "energy drift" in environment.run("python", "-I", "readme.py").stdout
    assert "Usage: " in environment.run("python", "-I", "-m", "holonomy", "--help").stdout

    (environment.folder / "swing.toml").write_text(SCENE)
    plain = environment.run("holonomy", "run", "swing.toml", "--out", "core")
    place = re.escape(str(wheel))
    no_picture = re.search(MISSING.format("A picture", "matplotlib", place, "plot"), plain.stderr)
    assert [path.name for path in (environment.folder / "core").iterdir()] == ["swing.nc"]
    refused = environment.run("holonomy", "studio", "--no-browser", check=False)
    no_studio = re.fullmatch(
        "holonomy: " + MISSING.format("The studio", "starlette", place, "studio") + "\n", refused.stderr
    )
    assert refused.returncode == 1
    assert no_picture
    assert no_studio

    for sentence in (no_picture, no_studio):
        environment.install(*shlex.split(sentence.group(1))[2:])
    assert not {"imageio", "xarray", "pandas", "anywidget", "heyoka"} & environment.packages()
    environment.run("holonomy", "run", "swing.toml", "--out", "plot")
    assert sorted(path.name for path in (environment.folder / "plot").iterdir()) == ["swing.nc", "swing.png"]
    page, frame = environment.run("python", "-I", "-c", FRAME).stdout.splitlines()
    assert int(page.removeprefix("page ")) > 500
    assert int(frame.removeprefix("frame ")) > 100
