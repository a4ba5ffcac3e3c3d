"""Faults on purpose: full and read-only disks, kills at random moments, few descriptors, workers that die.

After each of them nothing is lost and nothing is half written, and no traceback was printed.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

import holonomy as hl
from holonomy.viewer.protocol import messages

pytestmark = [
    pytest.mark.proof,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="mounts and looks up processes as Linux does"),
]

PATIENCE = 120.0
SCENE = """
model = "double_pendulum"
[motion]
method = "rk4"
dt = 0.01
t_end = {}
[outputs]
picture = false
"""


def unshared(mount: str, *command: object) -> subprocess.CompletedProcess[str]:
    """The command with file systems of its own; skips where the machine allows none."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("This machine does not let a user mount a file system of their own.")
    script = ["unshare", "-rm", "sh", "-c", f'{mount} && "$@"; status=$?; ls -A "$TARGET"; exit $status', "sh"]
    return subprocess.run([*script, *map(str, command)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_a_scene_on_a_disk_that_takes_no_more_is_one_sentence_and_no_file(kind, tmp_path, monkeypatch):
    scene, target = tmp_path / "long.toml", tmp_path / "out"
    scene.write_text(SCENE.format(20))
    target.mkdir()
    monkeypatch.setenv("TARGET", str(target))
    options = "size=64k" if kind == "full" else "size=64k,ro"
    command = (sys.executable, "-m", "holonomy", "run", scene, "--out", target, "--quiet")
    done = unshared(f"mount -t tmpfs -o {options} none {target}", *command)
    assert done.returncode == 2
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert re.search(r"cannot write into .* \((No space left on device|Read-only file system)\)", done.stderr)


def test_a_scene_killed_at_random_moments_leaves_the_old_file_or_the_new_one(tmp_path):
    """Of a program that runs a scene again and again, with two ends in turn."""
    code = (
        "import sys\nfrom holonomy.scene import loads, perform\n"
        "scenes = [loads(open(path).read()) for path in sys.argv[2:]]\n"
        "while True:\n"
        "    for scene in scenes:\n"
        "        perform(scene, sys.argv[1], 'run')\n"
        "        print('done', flush=True)\n"
    )
    scenes, ends = [], (1.0, 2.0)
    for end in ends:
        scenes.append(tmp_path / f"{end}.toml")
        scenes[-1].write_text(SCENE.format(end))
    chance = random.Random(3)
    whole: list[float] = []
    for _ in range(4):
        command = [sys.executable, "-c", code, tmp_path / "out", *scenes]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            for _ in range(2):  # once with each end, so that all is compiled
                assert running.stdout.readline() == "done\n", running.stderr.read()
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0.0, 0.5))
            running.kill()
            assert running.stderr.read() == ""
        whole.append(float(hl.load(tmp_path / "out" / "run.nc").t[-1]))
        names = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".holonomy-")}
        assert names == {"run.nc"}
    np.testing.assert_allclose(np.min(np.abs(np.subtract.outer(whole, ends)), axis=1), 0.0, atol=1e-9)


def test_few_descriptors_are_a_sentence_or_no_hindrance(tmp_path):
    scene = tmp_path / "short.toml"
    scene.write_text(SCENE.format(1))
    for most in (10, 24):
        command = (
            f"ulimit -n {most}; exec {sys.executable} -m holonomy run {scene} --out {tmp_path / str(most)} --quiet"
        )
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        if done.returncode:
            assert done.stderr.startswith("holonomy: ")
            assert not list(tmp_path.glob(f"{most}/*.nc"))
        else:
            assert len(hl.load(tmp_path / str(most) / "short.nc").t) == 101


# ── The studio ────────────────────────────────────────────────────────────────────────────────────


def workers_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.append(int(folder.name))
    return found


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


# The studio without what set-up traced ahead.
WITHOUT_PRESETS = """
import pathlib, sys
from holonomy.studio import serve
from holonomy.studio.compile import preset_code
preset_code.FOLDER = pathlib.Path(sys.argv[1])
serve("127.0.0.1", 0, False)
"""


def test_a_page_whose_compiler_is_killed_is_told_and_finds_its_motion_when_it_comes_back(tmp_path):
    errors = tmp_path / "stderr.txt"
    with errors.open("w") as stderr:
        studio = subprocess.Popen(
            [sys.executable, "-c", WITHOUT_PRESETS, str(tmp_path / "none")],
            stdout=subprocess.PIPE, stderr=stderr, text=True,
            env={**os.environ, "HOLONOMY_CACHE": str(tmp_path / "cache"), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    try:
        assert studio.stdout is not None
        found = re.search(r"http://(\S+?)/\?token=(\S+)", studio.stdout.readline())
        assert found
        address = f"ws://{found[1]}/live?token={found[2]}"
        for worker in eventually(lambda: workers_of(studio.pid)):
            os.kill(worker, signal.SIGSTOP)  # so that it has not finished when the page comes
        with connect(address, compression=None, max_size=None) as page:
            session = re.search(r'"session":"([^"]+)"', str(page.recv(PATIENCE)))
            assert session
            for worker in workers_of(studio.pid):
                os.kill(worker, signal.SIGKILL)
            while '"phase":"failed"' not in str(page.recv(PATIENCE)):
                pass
        with connect(f"{address}&session={session[1]}", compression=None, max_size=None) as page:
            while not isinstance(message := page.recv(PATIENCE), bytes):
                pass
            assert messages.unpack(message).time == 0.0
        studio.terminate()
        assert studio.wait(PATIENCE) == 0
        said = errors.read_text()
        assert "Traceback" not in said
        assert "could not be compiled" in said
    finally:
        studio.kill()
        studio.wait()
        if studio.stdout is not None:
            studio.stdout.close()
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
