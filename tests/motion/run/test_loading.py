"""Files of runs from anyone: damaged, forged, too large, and those of every format that there was."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.motion.run.fuzz_run_files import mutated
from tests.motion.run.run_files import ARRAYS, END, FILES, MARK, joined, same, split

import holonomy as hl
from holonomy.motion.run import foreign, layout

SAVED = (FILES / "format-2.nc").read_bytes()


def load(data: bytes, folder: Path) -> hl.Run:
    path = folder / "given.nc"
    path.write_bytes(data)
    return hl.load(path)


def refused(data: bytes, folder: Path) -> str:
    """The reason why a file is refused, in one sentence."""
    with pytest.raises(ValueError, match="is not a run saved by holonomy: ") as caught:
        load(data, folder)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence.split("is not a run saved by holonomy: ")[1]


# ── Files that were kept ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [1, 2])
def test_files_of_every_format_are_read(number: int) -> None:
    """A ball that bounces twice, dt = 0.05, saved when each format was the present one."""
    run = hl.load(FILES / f"format-{number}.nc")
    assert (run.names, run.kinds, len(run.t)) == (("x", "y"), ("length", "length"), 31)
    assert (run.provenance.method, run.result.name, run.work) == ("Rattle(4)", "ok", 380)
    np.testing.assert_array_equal(run.q[-1], [1.5000000000000002, 0.4028620218202981])
    assert [event.name for event in run.events] == ["impact 0", "impact 0"]
    np.testing.assert_allclose(run.events.t, np.sqrt(2 / 9.81) * np.array([1, 2.6]), rtol=1e-12)
    assert run.certificate.verdict == "not checked"  # these versions did not keep what the certificate said
    assert same(run, hl.load(FILES / "format-2.nc"))


def test_the_file_of_this_format_is_written_as_it_was(tmp_path: Path) -> None:
    """Another number of the format is needed where this fails."""
    run = hl.load(FILES / "format-2.nc")
    _, index = split(run.save(tmp_path / "again.nc").read_bytes())
    _, kept = split(SAVED)
    assert index["attributes"].keys() == kept["attributes"].keys()
    assert index["attributes"]["format"] == layout.FORMAT == 2
    assert {n: (v.get("type"), v.get("shape")) for n, v in index["variables"].items()} == {
        n: (v.get("type"), v.get("shape")) for n, v in kept["variables"].items()
    }
    assert same(hl.load(tmp_path / "again.nc"), run)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    image, index = split(SAVED)
    index["attributes"]["format"] = 3
    assert "it has format 3, and this version reads formats 1 to 2; update holonomy" in refused(
        joined(image, index), tmp_path
    )


# ── Damage ────────────────────────────────────────────────────────────────────────────────────────────


def test_flipped_bits_are_found_or_do_not_matter(tmp_path: Path) -> None:
    """Of earlier files, 200 of 200 flipped bits were loaded without a word."""
    run = hl.load(FILES / "format-2.nc")
    _, index = split(SAVED)
    chance = random.Random(0)
    inside = [
        entry["at"] + chance.randrange(8 * int(np.prod(entry["shape"])))
        for entry in index["variables"].values()
        if "at" in entry
        for _ in range(10)
    ]
    for at in inside:
        data = bytearray(SAVED)
        data[at] ^= 1 << chance.randrange(8)
        assert "its contents do not match its checksum" in refused(bytes(data), tmp_path)
    found = 0
    for _ in range(200):
        data = bytearray(SAVED)
        data[chance.randrange(len(data) - END.size)] ^= 1 << chance.randrange(8)
        try:
            assert same(load(bytes(data), tmp_path), run)
        except ValueError:
            found += 1
    assert 0 < found < 200


def test_a_file_that_another_program_changed_says_so(tmp_path: Path) -> None:
    """HDF5 removes the index; the checksum is in the file itself, and format 1 has none."""
    path = tmp_path / "changed.nc"
    path.write_bytes(SAVED)
    with h5py.File(path, "a") as file:
        changed = np.asarray(file["q"])
        changed[3, 0] += 1.0
        del file["q"]
        file["q"] = changed
        file.attrs["author"] = "someone" * 500
    assert "damaged or changed after it was saved; if you changed it" in refused(path.read_bytes(), tmp_path)
    with h5py.File(path, "a") as file:
        del file.attrs["format"], file.attrs["checksum"]
    assert hl.load(path).q[3, 0] == hl.load(FILES / "format-2.nc").q[3, 0] + 1.0


# ── Forged indices ────────────────────────────────────────────────────────────────────────────────────


def change(*keys: str, to: object) -> Callable[[dict], None]:
    def apply(index: dict) -> None:
        for key in keys[:-1]:
            index = index[key]
        index[keys[-1]] = to

    return apply


FORGED = {
    "more than the file": (change("variables", "q", "shape", to=[31, 2**40]), "the shape of q is none, or larger"),
    "four gigabytes": (change("variables", "q", "shape", to=[20000, 20000]), "q does not fit into the file"),
    "behind the end": (change("variables", "q", "at", to=30000), "do not match its checksum"),
    "before the start": (change("variables", "q", "at", to=-8), "q does not fit into the file"),
    "objects": (change("variables", "q", "type", to="|O"), "q must have one of the types <f8, <f4"),
    "numbers for words": (change("variables", "coordinate", "text", to=[1, 2]), "coordinate must be a list of words"),
    "another length": (change("variables", "q", "shape", to=[30, 2]), "v has size 31 along time, but q has 30"),
    "text for a number": (change("attributes", "dt", to="0.1"), "its attribute dt must be of type float"),
    "no variables": (change("variables", to=[]), "its index lists no variables"),
}


@pytest.mark.parametrize("case", list(FORGED))
def test_forged_indices_are_refused(case: str, tmp_path: Path) -> None:
    forge, reason = FORGED[case]
    image, index = split(SAVED)
    forge(index)
    assert reason in refused(joined(image, index), tmp_path)


MEANINGLESS = {
    "code": ({"result_code": 99}, "there is no result code 99"),
    "names": ({"event_names": "[1]"}, "its names of events are not words"),
    "which": ({"event_names": "[]"}, "an event has a number outside"),
    "deep": ({"event_names": "[" * 100_000}, "its attribute event_names is not JSON"),
    "provenance": ({"provenance": "[]"}, "its attribute provenance is not a dict"),
    "order": ({"provenance": '{"order": "x"}'}, "the provenance has no order 'x', which must be of type int"),
    "coordinates": ({"provenance": '{"coordinates": ["a"]}'}, "it names 1 coordinates"),
    "kinds": ({"provenance": '{"kinds": ["a", "b"]}'}, "there is no kind of coordinate 'a'"),
}


@pytest.mark.parametrize("case", list(MEANINGLESS))
def test_attributes_without_meaning_are_refused(case: str, tmp_path: Path) -> None:
    """With a checksum that fits."""
    changed, reason = MEANINGLESS[case]
    run = hl.load(FILES / "format-2.nc")
    from holonomy.motion.run import netcdf
    from holonomy.motion.run.storage import contents

    held = contents(run)
    data = netcdf.encode(layout.sealed(held._replace(attributes=held.attributes | changed)))
    assert reason in refused(data, tmp_path)


def test_rods_to_particles_that_are_not_there_are_refused(tmp_path: Path) -> None:
    image, index = split(SAVED)
    index["variables"]["x"]["about"]["rods"] = "[[0, 7]]"
    index["attributes"] = {k: v for k, v in index["attributes"].items() if k not in ("format", "checksum")}
    assert "a rod is not a pair of particles from -1 to 0" in refused(joined(image, index), tmp_path)


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"[]", b"\xff", b"1", b'{"variables": {}, "attributes": {}}'])
def test_indices_that_are_none_are_refused(text: bytes, tmp_path: Path) -> None:
    refused(text + END.pack(len(text), MARK), tmp_path)
    assert "its index is longer" in refused(text + END.pack(2**63, MARK), tmp_path)


# ── Files of HDF5 without an index ────────────────────────────────────────────────────────────────────


def outside(file: h5py.File, secret: Path) -> None:
    del file["q"]
    file.create_dataset("q", (31, 2), "<f8", external=[(str(secret), 0, 496)])


def link(file: h5py.File, secret: Path) -> None:
    del file["q"]
    file["q"] = h5py.ExternalLink(str(secret), "q")


def soft_link(file: h5py.File, secret: Path) -> None:
    del file["q"]
    file["q"] = h5py.SoftLink("/v")


def virtual(file: h5py.File, secret: Path) -> None:
    del file["q"]
    layout = h5py.VirtualLayout((31, 2), "<f8")
    layout[:] = h5py.VirtualSource(str(secret), "q", (31, 2))
    file.create_virtual_dataset("q", layout)


def bomb(file: h5py.File, secret: Path) -> None:
    """20 kB that become 3.2 GB."""
    del file["q"]
    made = file.create_dataset("q", (20_000, 20_000), "<f8", chunks=(2000, 2000), compression="gzip", fillvalue=0.0)
    made[0, 0] = 1.0


def unwritten(file: h5py.File, secret: Path) -> None:
    """An array of 3.2 GB of which nothing was ever written."""
    del file["q"]
    file.create_dataset("q", (20_000, 20_000), "<f8")


def complex_numbers(file: h5py.File, secret: Path) -> None:
    del file["q"]
    file["q"] = np.zeros((31, 2), complex)


def group(file: h5py.File, secret: Path) -> None:
    del file["q"]
    file.create_group("q")


def references(file: h5py.File, secret: Path) -> None:
    file.attrs["title"] = file["v"].ref


HOSTILE = {
    outside: "q is stored in another file",
    link: "q is a link",
    soft_link: "q is a link",
    virtual: "q is stored in pieces, compressed or virtually",
    bomb: "q is stored in pieces, compressed or virtually",
    unwritten: "q is larger than the file",
    complex_numbers: "q does not hold numbers",
    group: "q is no array",
    references: "its attribute title is neither a word nor a number",
}


@pytest.mark.parametrize("forge", list(HOSTILE), ids=lambda forge: forge.__name__)
def test_what_hdf5_would_fetch_or_unpack_is_refused(forge: Callable, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\x01" * 496)
    path = tmp_path / "hostile.nc"
    path.write_bytes((FILES / "format-1.nc").read_bytes())
    with h5py.File(path, "a") as file:
        forge(file, secret)
    assert HOSTILE[forge] in refused(path.read_bytes(), tmp_path)


def test_a_file_on_which_hdf5_loops_for_ever_is_refused(tmp_path: Path) -> None:
    """Found among mutated files: number 8217."""
    assert "within the time and memory" in refused((FILES / "loops.nc").read_bytes(), tmp_path)


def test_other_variables_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "more.nc"
    path.write_bytes((FILES / "format-1.nc").read_bytes())
    with h5py.File(path, "a") as file:
        file["more"] = h5py.ExternalLink(str(tmp_path / "secret"), "q")
        file.attrs["history"] = "looked at"
    run = hl.load(path)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(run, name), getattr(hl.load(FILES / "format-1.nc"), name))


@pytest.mark.parametrize("code", ["while True: pass", "import os; os.kill(os.getpid(), 11)", "x = bytes(10**9)"])
def test_a_reader_that_loops_crashes_or_takes_memory_is_stopped(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As HDF5 does with some files; its process has limits of its own."""
    reader = tmp_path / "reader.py"
    beginning = f"import sys; sys.path.insert(0, {str(foreign._READER.parent)!r})\n"
    reader.write_text(f"{beginning}import hdf5_reader\nhdf5_reader.limit(1, 0)\n{code}")
    monkeypatch.setattr(foreign, "_READER", reader)
    assert "HDF5 could not read it within the time and memory" in refused(b"nothing", tmp_path)


# ── Many ──────────────────────────────────────────────────────────────────────────────────────────────


def fuzzed(count: int, folder: Path) -> dict:
    code = [sys.executable, "-W", "ignore", "-m", "tests.motion.run.fuzz_run_files", "0", str(count), str(folder)]
    done = subprocess.run(code, cwd=FILES.parents[3], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert sum(found["outcomes"].values()) == count
    assert found["seconds"] < 5
    assert found["megabytes"] < 200
    for seed in found["stopped"]:  # HDF5 crashed or did not end: so does the process that `hl.load` starts for it
        refused(mutated(seed, folder)[1], folder)
    return found["outcomes"]


def test_mutated_files_give_a_sentence_or_the_right_run(tmp_path: Path) -> None:
    assert {"damaged: sentence", "damaged: same run", "forged: sentence", "hdf5: sentence"} <= fuzzed(
        500, tmp_path
    ).keys()


@pytest.mark.proof
def test_20000_mutated_files_give_a_sentence_or_the_right_run(tmp_path: Path) -> None:
    fuzzed(20_000, tmp_path)


def test_a_file_of_another_kind_is_called_so(tmp_path):
    for text in (b"", b"hello", b"t,x\n0,1\n" * 100):
        (tmp_path / "other.nc").write_bytes(text)
        with pytest.raises(ValueError, match=r"is not a run saved by holonomy: it is not a NetCDF file\.$"):
            hl.load(tmp_path / "other.nc")
