"""What keeps set-up from working is said in one sentence, and what can be repaired is repaired."""

import ast
import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import environment
import node

ROOT = Path(__file__).resolve().parents[2]
PIN = f"nothing-of-the-kind==1.0 \\\n    --hash=sha256:{'0' * 64}\n"
TOOLS = ("sh", "sed", "sort", "dirname", "head", "tail", "cut")


def sentence(stop: pytest.ExceptionInfo[SystemExit]) -> str:
    """The single sentence with which set-up stopped."""
    said = str(stop.value.code)
    assert "\n" not in said
    assert said.endswith(".")
    return said


# ── Which Python ─────────────────────────────────────────────────────────────────────────────────
class Machine:
    """A machine with the Pythons that a test gives it: programs that answer the finder's question."""

    def __init__(self, root: Path):
        self.path, self.home = root / "bin", root / "home"
        self.path.mkdir()
        self.home.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found
            (self.path / tool).symlink_to(found)

    def add(self, program: Path, answer: str) -> None:
        """Install a program that prints an answer, or fails if there is none."""
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{answer}'\n" if answer else "#!/bin/sh\nexit 127\n")
        program.chmod(0o755)

    def on_path(self, name: str, answer: str) -> None:
        self.add(self.path / name, answer)

    def find(self, *arguments: str) -> tuple[str, str]:
        """What the finder prints on stdout and on stderr."""
        command = [str(self.path / "sh"), str(ROOT / "scripts" / "find_python.sh"), *arguments]
        place = {"PATH": str(self.path), "HOME": str(self.home), "CONDA_PREFIX": str(self.home / "none")}
        done = subprocess.run(command, env=place, capture_output=True, text=True, check=False)
        return done.stdout.strip(), done.stderr.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_newest_python_on_the_path_is_taken(machine: Machine) -> None:
    machine.on_path("python3.12", "3.12 yes /new")
    machine.on_path("python3.11", "3.11 yes /old")
    machine.add(machine.home / ".pyenv/versions/3.14.0/bin/python3", "3.14 yes /elsewhere")
    assert machine.find() == ("/new", "")


def test_the_newest_may_be_called_python3(machine: Machine) -> None:
    machine.on_path("python3.11", "3.11 yes /old")
    machine.on_path("python3", "3.13 yes /new folder/python3")
    assert machine.find() == ("/new folder/python3", "")


def test_a_command_that_does_not_run_is_passed_over(machine: Machine) -> None:
    machine.on_path("python3.13", "")
    machine.on_path("python3.11", "3.11 yes /works")
    assert machine.find() == ("/works", "")


def test_a_python_that_cannot_make_environments_is_the_last_choice(machine: Machine) -> None:
    machine.on_path("python3.13", "3.13 no /bare")
    assert machine.find() == ("/bare", "")
    machine.on_path("python3.11", "3.11 yes /whole")
    assert machine.find() == ("/whole", "")


@pytest.mark.parametrize(
    "place",
    [
        ".pyenv/versions/3.12.1/bin",
        ".local/share/uv/python/cpython-3.12/bin",
        "miniconda3/bin",
        "miniconda3/envs/a/bin",
    ],
)
def test_a_python_of_pyenv_uv_or_conda_is_found_if_the_path_has_none(machine: Machine, place: str) -> None:
    machine.on_path("python3", "3.10 yes /too-old")
    machine.add(machine.home / place / "python3", "3.12 yes /there")
    assert machine.find() == ("/there", "")


@pytest.mark.parametrize("answer", ["3.10 yes /too-old", "2.7 no /ancient"])
def test_without_a_supported_python_one_sentence_names_what_there_is(machine: Machine, answer: str) -> None:
    machine.on_path("python3", answer)
    printed, said = machine.find()
    assert printed == "false", "the recipe that uses this must fail"
    assert said.count("\n") == 0
    assert "needs Python 3.11 to 3." in said
    assert f"the newest found on this machine is {answer.split()[0]}; install" in said


def test_without_any_python_one_sentence_says_so(machine: Machine) -> None:
    printed, said = machine.find()
    assert printed == "false"
    assert said.count("\n") == 0
    assert "none was found on this machine" in said


def test_a_python_newer_than_all_supported_ones_is_taken_if_there_is_no_other(machine: Machine) -> None:
    machine.on_path("python3", "3.99 yes /future")
    assert machine.find() == ("/future", "")
    machine.on_path("python3.11", "3.11 yes /old")
    assert machine.find() == ("/old", "")


def test_all_pythons_are_listed_once_each(machine: Machine) -> None:
    machine.on_path("python3.11", "3.11 yes /path")
    machine.add(machine.home / ".pyenv/versions/3.11.7/bin/python3", "3.11 yes /pyenv")
    machine.add(machine.home / ".pyenv/versions/3.13.0/bin/python3", "3.13 yes /pyenv new")
    machine.add(machine.home / ".pyenv/versions/3.10.0/bin/python3", "3.10 yes /too-old")
    assert machine.find("all")[0].splitlines() == ["3.13 /pyenv new", "3.11 /path"]


def test_this_python_answers_the_finder(machine: Machine) -> None:
    (machine.path / "python3").symlink_to(os.path.realpath(sys.executable))
    found, _ = machine.find()
    assert subprocess.run([found, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=True)


# ── Setting up ───────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of two files, whose lock names a package that does not exist."""
    root = tmp_path / "checkout"
    (root / "requirements").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", root)
    for level in environment.EXTRAS:
        (root / "requirements" / f"{level}.txt").write_text(PIN)
    monkeypatch.setattr(environment, "ROOT", root)
    monkeypatch.setattr(environment, "VENV", root / ".venv")
    return root


def test_the_script_can_be_read_by_an_old_python() -> None:
    ast.parse((ROOT / "scripts" / "environment.py").read_text(), feature_version=(3, 8))


def test_an_old_python_says_that_it_is_too_old(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
        with pytest.raises(SystemExit) as stop:
            environment.main(["run"])
    assert "Holonomy needs Python 3.11 to 3." in sentence(stop)
    assert "is Python 3.10; name another" in sentence(stop)
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_the_modules_for_environments_says_so(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    find = environment.importlib.util.find_spec
    monkeypatch.setattr(
        environment.importlib.util, "find_spec", lambda name, *rest: None if name == missing else find(name, *rest)
    )
    with pytest.raises(SystemExit) as stop:
        environment.main(["run"])
    assert f"cannot make virtual environments, because it has no module {missing}" in sentence(stop)
    assert "python3-venv" in sentence(stop)


def test_without_a_network_one_sentence_says_so_and_the_next_call_goes_on(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {"INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "1", "CONFIG_FILE": os.devnull}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(SystemExit) as stop:
        environment.main(["run"])
    assert "no package index answered: check the network" in sentence(stop)
    assert sentence(stop).endswith("pip's own messages are in .venv/pip.log.")
    assert "NewConnectionError" in (checkout / ".venv" / "pip.log").read_text()
    assert environment.usable(checkout / ".venv"), "the environment is whole and is used again"
    assert not environment.ready("run")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_checkout_that_cannot_be_written_to_says_what_to_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)  # not by permissions: the superuser is not bound by them
        with pytest.raises(SystemExit) as stop:
            environment.main(["run"])
    assert f"The checkout {checkout} cannot be written to" in sentence(stop)
    assert "copy the checkout to a folder of your own" in sentence(stop)


def test_a_full_disk_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(SystemExit) as stop:
            environment.main(["run"])
    assert "No space left on device" in sentence(stop)


def test_a_file_in_the_place_of_the_environment_is_left_alone(checkout: Path) -> None:
    (checkout / ".venv").write_text("elsewhere")
    with pytest.raises(SystemExit) as stop:
        environment.main(["run"])
    assert ".venv is a file, and set-up makes a folder of that name; move the file" in sentence(stop)
    assert (checkout / ".venv").read_text() == "elsewhere"


def test_a_link_to_nowhere_in_the_place_of_the_environment_is_named(checkout: Path) -> None:
    (checkout / ".venv").symlink_to(checkout / "gone")
    with pytest.raises(SystemExit) as stop:
        environment.main(["run"])
    assert ".venv is a link to a folder that does not exist; remove the link" in sentence(stop)


def empty(folder: Path) -> None:
    """Interrupted before anything was in it."""


def link_to_nowhere(folder: Path) -> None:
    """Made from a Python that was removed since."""
    (folder / "bin").mkdir()
    environment.interpreter(folder).symlink_to(folder / "gone")


def without_pip(folder: Path) -> None:
    """Interrupted before pip was in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)


def not_a_program(folder: Path) -> None:
    """Interrupted while it was copied."""
    (folder / "bin").mkdir()
    environment.interpreter(folder).touch()


def interrupted(folder: Path) -> None:
    """Stopped while packages were being installed, after an earlier set-up had succeeded."""
    not_a_program(folder)
    environment.marker(folder).touch()
    environment.stamp("run").write_text(environment.digest("run"))


@pytest.mark.parametrize("damage", [empty, link_to_nowhere, without_pip, not_a_program, interrupted])
def test_an_incomplete_environment_is_made_again(checkout: Path, monkeypatch: pytest.MonkeyPatch, damage) -> None:
    folder = checkout / ".venv"
    folder.mkdir()
    damage(folder)
    made: list[Path] = []
    monkeypatch.setattr(environment, "create", lambda folder: made.append(folder))
    monkeypatch.setattr(environment, "fill", lambda *_, **__: None)
    assert not environment.ready("run")
    environment.main(["run"])
    assert made == [folder]


def test_making_an_environment_again_leaves_nothing_of_the_old_one(checkout: Path) -> None:
    folder = checkout / ".venv"
    folder.mkdir()
    link_to_nowhere(folder)
    (folder / "left.txt").touch()
    environment.create(folder)
    assert environment.usable(folder)
    assert not (folder / "left.txt").exists()


def test_a_second_call_does_nothing_and_a_changed_lock_installs_again(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkout / ".venv"
    calls: list[str] = []
    given: list[tuple[str, ...]] = []

    def fill(folder: Path, requirements: Path, *, options: tuple[str, ...]) -> None:
        calls.append(requirements.name)
        given.append(options)

    monkeypatch.setattr(environment, "usable", lambda folder: True)
    monkeypatch.setattr(environment, "fill", fill)
    environment.interpreter(folder).parent.mkdir(parents=True)
    environment.interpreter(folder).touch()
    environment.main(["run"])
    environment.main(["run"])
    assert calls == ["run.txt"]
    (checkout / "requirements" / "run.txt").write_text(PIN + "# changed\n")
    environment.main(["run"])
    environment.main(["dev"])
    environment.main(["run"])
    assert calls == ["run.txt", "run.txt", "dev.txt"]
    assert given == [(), (), ("--no-compile",)]


def test_a_python_newer_than_the_locks_says_so_and_goes_by_the_ranges(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    filled: list[tuple[object, ...]] = []
    monkeypatch.setattr(environment, "usable", lambda folder: True)
    monkeypatch.setattr(environment, "fill", lambda *arguments: filled.append(arguments))
    monkeypatch.setattr(environment, "supported", lambda: [(3, 10), (3, 10)])
    (checkout / ".venv").mkdir()
    environment.main(["run"])
    assert filled[0][2] == environment.EXTRAS["run"]
    assert "is newer than any that requirements/ is for" in capsys.readouterr().out


@pytest.mark.parametrize(
    "printed, said",
    [
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES:\nmore", "THESE PACKAGES DO NOT MATCH THE HASHES;"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            "The disk is full",
        ),
        ("WARNING: Retrying after connection broken by 'ProxyError('\nERROR: none", "no package index answered"),
        ("", "it gave no reason"),
    ],
)
def test_a_failure_of_pip_is_one_sentence(checkout: Path, printed: str, said: str) -> None:
    (checkout / ".venv").mkdir()
    explained = environment.explain(printed, checkout / ".venv")
    assert "\n" not in explained
    assert said in explained
    assert (checkout / ".venv" / "pip.log").read_text() == printed


@pytest.mark.parametrize(
    "printed, said",
    [
        ("npm error code ECONNREFUSED\nnpm error more", "no package registry answered"),
        ("npm error code EROFS\nnpm error more", "cannot be written to"),
    ],
)
def test_a_failure_of_npm_is_one_sentence(printed: str, said: str) -> None:
    explained = node.explain(printed)
    assert "\n" not in explained
    assert said in explained


def test_packages_of_npm_run_nothing_when_they_are_installed() -> None:
    """Nor would it help one of them: a package that must run a program to work may not be in the lock."""
    assert "--ignore-scripts" in node.INSTALL
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())
    needing = [
        name for name, one in lock["packages"].items() if one.get("hasInstallScript") and not one.get("optional")
    ]
    assert needing == []


def test_the_pages_are_built_without_a_browser_and_tools_for_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they are built from and with stands among the dependencies; all else is left out."""
    (tmp_path / "player").mkdir()
    for name in ("index.html", "player/player.js"):
        (tmp_path / name).touch()
    monkeypatch.setattr(node, "STATIC", tmp_path)
    had: set[str] = set()
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(node, "once", lambda name, fingerprint: name in had)
    monkeypatch.setattr(node, "done", lambda name, fingerprint: had.add(name))
    monkeypatch.setattr(node, "tools", lambda: (["npm"], {}))
    monkeypatch.setattr(node.subprocess, "run", run)
    node.build()
    assert [command[1] for command in commands] == ["ci", "run"]
    assert "--omit=dev" in commands[0]
    node.install()
    assert "--omit=dev" not in commands[-1]
    node.build()
    node.install("run")
    assert len(commands) == 3, "what is there is not installed again"
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    assert lock["node_modules/@sparticuz/chromium"]["dev"]
    for file in ("vite.config.ts", "vite.player.config.ts"):
        for package in re.findall(r'from "([^".:]+)"', (ROOT / "frontend" / file).read_text()):
            assert not lock[f"node_modules/{package}"].get("dev"), package


def test_an_unknown_failure_of_npm_is_shown_as_it_is() -> None:
    assert "npm error code ELSE" in node.explain("npm error code ELSE\nnpm error more")


def test_the_machine_that_decides_runs_every_check() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if line.startswith("make ")] == ["make test", "make proof", "make compat"]
