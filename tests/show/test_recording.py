"""A run as a recording: its rows are the run's own numbers, its picture what the system says, files included."""

import base64
import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion.run.positions import ORIGIN, drawn, kinetic
from holonomy.notation import rate_symbol, symbol
from holonomy.show.recording import record
from holonomy.viewer.describe_run import ordinal
from holonomy.viewer.recording import MOST_NUMBERS, Recording

HARMONIC = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.sum(v**2) - 0.5 * jnp.sum(q**2), coordinates=("x",))


def rods_of(run: hl.Run) -> tuple[tuple[int, int], ...]:
    found = drawn(run)
    assert found is not None
    return found.rods


@pytest.fixture(scope="module")
def double() -> hl.Run:
    return hl.simulate(hl.Pendulum([1.0, 0.7], [1.0, 2.0]), [1.5, 2.0], [0.0, 0.3], 1.0, dt=0.01)


@pytest.fixture(scope="module")
def oscillator() -> hl.Run:
    return hl.simulate(HARMONIC, [1.0], [0.0], 1.0, dt=0.01)


def numbers(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Table and places, read as the viewer reads them."""
    read = json.loads(recording.text())
    data = base64.b64decode(read["numbers"])
    lab = read["welcome"]["lab"]
    width = 1 + len(lab["channels"])
    table = np.frombuffer(data, "<f8", read["rows"] * width).reshape(-1, width)
    places = np.frombuffer(data, "<f4", offset=table.nbytes).reshape(
        len(table), lab["anchors"] + len(lab["bodies"]), -1
    )
    return table, places


def test_the_rows_are_the_run(double: hl.Run) -> None:
    recording = record(double)
    names = [channel.name for channel in recording.welcome.lab.channels]
    table, places = numbers(recording)
    assert names == ["kinetic", "potential", "total", "theta1", "theta2", "d_theta1", "d_theta2"]
    np.testing.assert_array_equal(table[:, 0], double.t)
    np.testing.assert_array_equal(table[:, 3], double.energy)
    np.testing.assert_array_equal(table[:, 4:6], double.q)
    np.testing.assert_array_equal(table[:, 6:8], double.v)
    theta = np.asarray(double.q)
    first = np.stack([np.sin(theta[:, 0]), -np.cos(theta[:, 0])], axis=1)
    np.testing.assert_allclose(places[:, 0], 0.0)
    np.testing.assert_allclose(places[:, 1], first, rtol=0, atol=1e-7)


def test_kinetic_energy_is_that_of_the_particles(double: hl.Run) -> None:
    """What the Lagrangian gains by moving against the bobs' speeds, written by hand."""
    (a, b), (u, w) = np.asarray(double.q).T, np.asarray(double.v).T
    speed = np.stack([np.cos(a) * u, np.sin(a) * u]) + 0.7 * np.stack([np.cos(b) * w, np.sin(b) * w])
    moving = 0.5 * u**2 + 0.5 * 2.0 * np.sum(speed**2, axis=0)
    np.testing.assert_allclose(record(double).table[:, 1], moving, rtol=1e-12, atol=1e-13)


def test_a_saved_run_is_recorded_as_the_run_itself(double: hl.Run, tmp_path) -> None:
    loaded = hl.load(double.save(tmp_path / "double.nc"))
    one, other = record(double, title="A"), record(loaded, title="A")
    assert one.head() == other.head()
    assert one.numbers() == other.numbers()
    again = hl.load(loaded.save(tmp_path / "again.nc"))
    assert record(again, title="A").head() == one.head()
    assert loaded.plot().axes[-1].get_title(loc="left") == "paths of the particles"


def test_a_file_of_an_earlier_version_is_read(double: hl.Run, tmp_path) -> None:
    data = double.to_dataset()
    for key in ("rods", "note"):
        del data["x"].attrs[key]
    for key in ("format", "checksum"):
        del data.attrs[key]
    data.drop_vars("kinetic").to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    recording = record(hl.load(tmp_path / "old.nc"))
    assert [(rod.start, rod.end) for rod in recording.welcome.lab.rods] == [(0, 1), (1, 2)]
    assert [energy.name for energy in recording.welcome.lab.energies] == ["total"]  # there is no telling the others


def test_rods_are_what_keeps_its_length(double: hl.Run) -> None:
    assert rods_of(double) == ((ORIGIN, 0), (0, 1))
    spring = hl.simulate(hl.ElasticPendulum([1.0], [1.0], 50.0), [0.5, -1.0], [0.0, 0.0], 0.5, dt=0.01)
    assert rods_of(spring) == ()
    assert [(r.start, r.end) for r in record(spring, rods=True).welcome.lab.rods] == [(0, 1)]
    assert record(double, rods=False).welcome.lab.rods == ()


def test_a_circular_orbit_is_no_rod() -> None:
    planet = hl.System.from_positions(
        lambda t, q: q[None], [1.0], potential=lambda t, q: -1.0 / jnp.sqrt(q @ q), coordinates=("x", "y")
    )
    run = hl.simulate(planet, [1.0, 0.0], [0.0, 1.0], 1.0, dt=0.01)
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), 1.0, rtol=1e-9)
    assert rods_of(run) == ()


def test_a_rod_that_is_a_constraint_is_seen() -> None:
    pair = hl.System.from_positions(
        lambda t, q: q.reshape(2, 2), [1.0, 1.0], coordinates=("x1", "y1", "x2", "y2")
    ).constrained(holonomic=lambda t, q: jnp.array([jnp.sum((q[:2] - q[2:]) ** 2) - 1.0]))
    run = hl.simulate(pair, [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], 0.5, dt=0.01)
    recording = record(run)
    assert rods_of(run) == ((0, 1),)
    assert [c.name for c in recording.welcome.lab.channels][-1] == "multiplier1"
    np.testing.assert_array_equal(recording.table[:, -1:], run.multipliers)


def test_a_run_without_positions_says_so(oscillator: hl.Run) -> None:
    recording = record(oscillator)
    assert recording.welcome.lab.pictures == ()
    assert "does not know its positions" in recording.welcome.lab.summary
    assert recording.places.shape == (101, 0, 2)


def test_a_point_on_a_sphere_is_drawn_where_it_lies() -> None:
    free = hl.System.from_metric(lambda q: jnp.eye(3), space=hl.Sphere(2), coordinates=("x", "y", "z"))
    run = hl.simulate(free, [1.0, 0.0, 0.0], [0.0, 0.6, 0.8], 1.0, dt=0.02)
    recording = record(run)
    assert recording.welcome.lab.pictures[0].kind == "space"
    assert recording.welcome.lab.rods == ()
    np.testing.assert_allclose(recording.places[:, 0], run.q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(recording.table[:, 1], 0.5, rtol=1e-12)  # kinetic, of unit speed
    assert "drawn as it lies" in recording.welcome.lab.summary


def test_a_motion_far_from_the_origin_fills_its_picture() -> None:
    far = hl.System.from_positions(lambda t, q: q[None], [1.0], coordinates=("x", "y"))
    run = hl.simulate(far, [1e4, -20.0], [1.0, 2.0], 1.0, dt=0.1)
    recording = record(run)
    np.testing.assert_allclose(recording.middle, [1e4, -19.0], rtol=0, atol=0.5)
    np.testing.assert_allclose(recording.places[:, 0] + recording.middle, run.q, rtol=0, atol=1e-9)
    assert recording.controls.extents[0] < 3.0
    assert "Places are counted from (10000" in recording.welcome.lab.summary
    assert not record(hl.simulate(far, [0.0, 0.0], [1.0, 2.0], 1.0, dt=0.1)).middle.any()


def test_energies_are_told_apart_only_where_they_can_be() -> None:
    def relativistic(t, q, v):
        return -jnp.sqrt(1.0 - jnp.sum(v * v)) - 0.1 * q[0]

    fast = hl.simulate(
        hl.System.from_lagrangian(relativistic, coordinates=("x",)), [0.0], [0.5], 0.5, dt=0.01, method=hl.RK4()
    )
    assert kinetic(fast) is None
    assert [energy.name for energy in record(fast).welcome.lab.energies] == ["total"]


def test_long_and_short_runs_replay_in_reasonable_time(oscillator: hl.Run) -> None:
    assert record(oscillator).controls.speed == 1.0
    hours = hl.simulate(HARMONIC, [1.0], [0.0], 7200.0, dt=10.0, method=hl.Gauss(1), throw=False)
    assert 20 <= 7200.0 / record(hours).controls.speed <= 80
    blink = hl.simulate(HARMONIC, [1.0], [0.0], 0.003, dt=1e-4)
    assert 20 <= 0.003 / record(blink).controls.speed <= 80
    assert record(oscillator, speed=0.25).controls.speed == 0.25


def test_a_run_back_in_time_is_recorded_forward(oscillator: hl.Run) -> None:
    back = hl.simulate(HARMONIC, [1.0], [0.0], -1.0, dt=0.01)
    times = record(back).table[:, 0]
    assert np.all(np.diff(times) > 0)
    assert (times[0], times[-1]) == (-1.0, 0.0)


def test_a_very_long_run_is_thinned_and_says_so(oscillator: hl.Run, monkeypatch) -> None:
    monkeypatch.setattr("holonomy.viewer.recording.MOST_NUMBERS", 200)
    recording = record(oscillator)
    assert recording.table.size + recording.places.size <= 200 + recording.table.shape[1]
    assert (recording.table[0, 0], recording.table[-1, 0]) == (0.0, oscillator.t[-1])
    assert "every 4th is in this recording" in recording.controls.certificate.note
    assert MOST_NUMBERS > 10**6


def test_no_text_of_a_run_ends_its_script(double: hl.Run) -> None:
    wicked = "</script><script>alert(1)</script><!-- & \u2028 '\""
    text = record(double, title=wicked).text()
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["welcome"]["lab"]["title"] == wicked


def test_what_cannot_be_shown_is_said(oscillator: hl.Run) -> None:
    batch = eqx.tree_at(lambda r: r.t, oscillator, np.stack([oscillator.t, oscillator.t]))
    with pytest.raises(ValueError, match="one member of the batch"):
        record(batch)
    with pytest.raises(ValueError, match="speed must be positive"):
        record(oscillator, speed=0.0)
    with pytest.raises(ValueError, match="rods is True, False or None"):
        record(oscillator, rods="all")  # pyright: ignore[reportArgumentType]


def test_names_become_symbols() -> None:
    assert [symbol(name) for name in ("theta1", "x", "x_12", "radius")] == ["θ₁", "x", "x₁₂", "radius"]
    assert [rate_symbol(name) for name in ("phi2", "x1", "radius")] == ["φ\u0307₂", "ẋ₁", "radius′"]
    assert [ordinal(n) for n in (2, 3, 4, 11, 21)] == ["2nd", "3rd", "4th", "11th", "21st"]
