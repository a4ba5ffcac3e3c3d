"""Running scenes: all files or none, whatever goes wrong."""

from pathlib import Path

import numpy as np
import pytest

import holonomy as hl
from holonomy.scene import SceneError, changed, dumps, load, loads, perform
from holonomy.scene import run as performance

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENE = loads("""
model = "simple_pendulum"
[motion]
method = "rk4"
dt = 0.01
t_end = 0.5
[outputs]
picture = false
""")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_scenes_survive_being_written(path: Path) -> None:
    scene = load(path)
    assert loads(dumps(scene)) == scene
    assert dumps(loads(dumps(scene))) == dumps(scene)


def test_odd_texts_survive_being_written() -> None:
    scene = loads(r'''
        title = "quotes \" and \\ and \u007f and Ω"
        notes = """two
        lines"""
        model = "kepler"
        [outputs]
        netcdf = "a b.nc"
        animation = true
    ''')
    assert loads(dumps(scene)) == scene


def test_the_file_remembers_its_scene(tmp_path: Path) -> None:
    done = perform(SCENE, tmp_path / "new" / "folder", "swing")
    assert [file.name for file in done.files] == ["swing.nc"]
    assert [file.name for file in (tmp_path / "new" / "folder").iterdir()] == ["swing.nc"]
    loaded = hl.load(done.files[0])
    np.testing.assert_array_equal(loaded.q, done.run.q)
    assert loads(dict(loaded.notes)["scene"]) == SCENE
    assert done.run.t[-1] == pytest.approx(0.5)


def test_names_given_in_the_scene_and_files_replaced(tmp_path: Path) -> None:
    scene = loads(dumps(SCENE).replace("picture = false", 'netcdf = "a.nc"\npicture = "b.svg"'))
    (tmp_path / "a.nc").write_text("old")
    files = perform(scene, tmp_path, "c").files
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.nc", "b.svg"] == sorted(file.name for file in files)
    assert hl.load(tmp_path / "a.nc").result.ok


def _nothing(folder: Path) -> bool:
    return not folder.exists()


RUNAWAY = loads("""
lagrangian = "x_dot^2/2 + exp(x)"
coordinates = ["x"]
[initial]
q = [0]
[motion]
method = "rk4"
dt = 0.01
t_end = 10
""")


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(hl.SimulationError) as caught:
        perform(RUNAWAY, tmp_path / "out", "runaway")
    assert caught.value.result.name == "not_finite"
    assert 1 < caught.value.result.t < 10
    assert _nothing(tmp_path / "out")


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), RuntimeError("drawing failed"), KeyboardInterrupt()]
)
def test_a_failure_while_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def write(run, outputs, folder: Path, stem: str) -> list[str]:
        (folder / "swing.nc").write_text("half of")
        raise error

    monkeypatch.setattr(performance, "write", write)
    expected = SceneError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        perform(SCENE, tmp_path / "deep" / "out", "swing")
    assert _nothing(tmp_path / "deep")


def test_what_was_there_stays_when_a_run_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "swing.nc").write_text("old")

    def simulate(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(hl, "simulate", simulate)
    with pytest.raises(MemoryError):
        perform(SCENE, tmp_path, "swing")
    assert [file.name for file in tmp_path.iterdir()] == ["swing.nc"]
    assert (tmp_path / "swing.nc").read_text() == "old"


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below"):
        with pytest.raises(SceneError, match=r'--out: cannot write into ".*" \((File exists|Not a directory)\)'):
            perform(SCENE, folder, "swing")
    (tmp_path / "swing.nc").mkdir()
    with pytest.raises(SceneError, match=r'--out: "swing\.nc" is a folder there'):
        perform(SCENE, tmp_path, "swing")

    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refused)
    with pytest.raises(SceneError, match=r"--out: cannot write into .* \(Permission denied\)"):
        perform(SCENE, tmp_path / "out", "swing")
    assert _nothing(tmp_path / "out")


def test_an_interrupted_run_keeps_its_good_part(tmp_path: Path) -> None:
    def interrupt(fraction: float) -> None:
        raise KeyboardInterrupt

    done = perform(changed(SCENE, {}, t_end="10"), tmp_path, "swing", progress=interrupt)
    assert done.run.result.name == "interrupted"
    assert 0 < done.run.t[-1] < 10
    np.testing.assert_array_equal(hl.load(done.files[0]).q, done.run.q)


@pytest.mark.parametrize(("dt", "expected"), [(0.01, "good"), (0.25, "doubtful")])
def test_the_certificate_of_a_scene_is_that_of_the_same_run_in_python(tmp_path: Path, dt: float, expected: str) -> None:
    scene = loads(
        f"""
        lagrangian = "x_dot^2/2 - 8*x^2"
        coordinates = ["x"]
        [initial]
        q = [1.0]
        v = [0.0]
        [motion]
        t_end = 30.0
        dt = {dt}
        method = {{ name = "rk4" }}
        """
    )
    found = perform(scene, tmp_path, "spring").run.certificate
    assert found.verdict == expected
    assert found.error is not None
    assert found.known_until is not None
