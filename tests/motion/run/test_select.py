"""Parts of runs: variables by name, states by index and by time, members of batches, tables, short texts."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from tests.motion.examples import double_pendulum, pendulum

import holonomy as hl
from holonomy.motion.events.event_log import Events


@pytest.fixture(scope="module")
def run():
    return hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.01, method=hl.RK4())


@pytest.fixture(scope="module")
def many():
    starts = np.linspace(0.1, 1.0, 12)[:, None]
    return hl.ensemble(pendulum, starts, [0.2], 1.0, dt=0.01, method=hl.RK4())


def test_variables_by_name(run):
    first, second = run.names
    np.testing.assert_array_equal(run[first], run.q[:, 0])
    np.testing.assert_array_equal(run[f"{second}_dot"], run.v[:, 1])
    np.testing.assert_array_equal(run["energy"], run.energy)
    np.testing.assert_array_equal(run["t"], run.t)
    np.testing.assert_array_equal(run["omega1"], run.v[:, 0])
    with pytest.raises(KeyError, match="it has: " + first):
        run["nothing"]
    assert {first, f"{first}_dot", "energy", "t"} <= set(run.variables)


def test_a_coordinate_keeps_its_name():
    """One that is called like something else is what `run[name]` gives."""
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v, coordinates=("energy", "omega", "theta"))
    run = hl.simulate(system, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], 1.0, dt=0.5, method=hl.RK4())
    for k, name in enumerate(("energy", "omega", "theta")):
        np.testing.assert_array_equal(run[name], run.q[:, k])
    np.testing.assert_array_equal(run["theta_dot"], run.v[:, 2])


def test_positions(run):
    x = run.x
    assert x.shape == (len(run), 2, 2)
    np.testing.assert_array_equal(run["y2"], x[:, 1, 1])
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v, coordinates=("a",))
    with pytest.raises(ValueError, match="no positions of particles"):
        _ = hl.simulate(free, [0.0], [1.0], 1.0, dt=0.5, method=hl.RK4()).x


def test_states_by_index_and_time(run):
    assert len(run) == 201
    state = run[-1]
    np.testing.assert_array_equal(state.q, run.q[-1])
    assert state.t == run.t[-1]
    assert [s.t for s in run[:3]] == [0.0, 0.01, 0.02]
    part = run[0.5:1.0]
    assert part.t[0] == pytest.approx(0.5)
    assert part.t[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(part(0.755)[0], run(0.755)[0], atol=1e-9)
    assert part.certificate.energy_drift < 1e-6
    assert len(run[::10]) == 21
    np.testing.assert_array_equal(run[run.t > 1.0].q, run.q[run.t > 1.0])
    for key, error in ((201, IndexError), (slice(5.0, 6.0), ValueError), (1.5, TypeError), ({}, TypeError)):
        with pytest.raises(error):
            run[key]
    back = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.0, t0=1.0, dt=0.1, method=hl.RK4())
    np.testing.assert_allclose(back[0.8:0.35].t, [0.8, 0.7, 0.6, 0.5, 0.4])


def test_a_part_says_that_it_is_one(run, tmp_path):
    """Its events are its own, and its certificate says which figures are of the whole; so does a file of it."""
    part = run[0.5:1.0]
    for one in (part, hl.load(part.save(tmp_path / "part.nc"))):
        assert ("part of a run", "t = 0.5 to 1; result, steps, iterations are of the whole") in one.certificate.rows()
    assert not run[:].certificate.part
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], coordinates=("z",))
    bouncing = ball.constrained(unilateral=lambda t, q: q, restitution=0.5)
    whole = hl.simulate(bouncing, [1.0], [0.0], 1.0, dt=0.01)
    impacts = np.asarray(whole.events.t)
    assert len(impacts) == 2
    between = float(np.mean(impacts))
    assert [len(x.events) for x in (whole[:20], whole[0.0:between], whole[between:1.0])] == [0, 1, 1]
    np.testing.assert_array_equal(whole[between:1.0].events.t, impacts[1:])


def test_members_are_runs(many):
    assert len(many) == 12
    member = many[3]
    alone = hl.simulate(pendulum, many.q[3, 0], many.v[3, 0], 1.0, dt=0.01, method=hl.RK4())
    np.testing.assert_array_equal(member.q, alone.q)
    assert member.certificate.energy_drift == alone.certificate.energy_drift
    np.testing.assert_array_equal(member(0.505)[0], alone(0.505)[0])
    assert member.result.ok
    assert len(many[:5]) == 5
    np.testing.assert_array_equal(many[[1, 4]].q, many.q[[1, 4]])
    assert [one.q[0, 0] for one in many] == list(many.q[:, 0, 0])
    np.testing.assert_array_equal(many[pendulum.names[0]], many.q[..., 0])


def test_members_have_their_parameters(tmp_path):
    """Of an ensemble in native code, of one in XLA, and of a run under vmap: files and certificates of one member."""
    values = np.array([4.0, 9.81, 20.0])
    options = {"dt": 0.02, "method": hl.RK4()}

    def one(g):
        return hl.simulate(pendulum.with_parameters(g=g), [1.0], [0.0], 1.0, **options)

    batches = [hl.ensemble(pendulum, [1.0], [0.0], 1.0, {"g": values}, engine=e, **options) for e in ("native", "xla")]
    for batch in (*batches, jax.vmap(one)(values)):
        member = batch[2]
        assert isinstance(member, hl.Run)
        assert member.system is not None
        assert float(member.system.parameters["g"]) == 20.0
        np.testing.assert_allclose(member.q, one(20.0).q, atol=1e-13)
        assert hl.load(member.save(tmp_path / "member.nc")).result.ok
        assert "g" not in member.variables


def test_a_batch_is_certified_saved_and_loaded(tmp_path):
    """Its certificate is that of its members taken together; a file of it brings all of it back."""
    pole = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + p.k * q[0] ** 4, ("x",), parameters={"k": 1.0}
    )
    strengths = np.array([-0.1, -5.0, 1.0])  # a slow oscillation, one that is too fast for the step, and an escape
    many = hl.ensemble(pole, [1.0], [0.0], 4.0, {"k": strengths}, dt=0.2, method=hl.RK4(), throw=False)
    each = [member.certificate for member in many if isinstance(member, hl.Run)]
    whole = many.certificate
    assert whole.members == tuple(one.verdict for one in each) == ("good", "doubtful", "failed")
    assert whole.verdict == "failed"
    assert whole.reasons[0].startswith("Member 2: The state became infinite")
    assert ("members", "3: 1 good, 1 doubtful (1), 1 failed (2)") in whole.rows()
    assert whole.energy_drift == np.nanmax([one.energy_drift for one in each])
    assert whole.steps == sum(one.steps for one in each)
    assert "1 failed" in many._repr_html_()
    again = hl.load(many.save(tmp_path / "many.nc"))
    for name in ("t", "q", "v", "energy", "momentum", "pull"):
        np.testing.assert_array_equal(getattr(again, name), getattr(many, name))
    np.testing.assert_array_equal(again.result.code, many.result.code)
    assert str(again.certificate) == str(whole)
    np.testing.assert_array_equal(again.parameters["k"], strengths)
    for batch in (many, again):
        data = batch.to_dataset()
        assert data.q.dims == ("member", "time", "coordinate")
        np.testing.assert_array_equal(data.k, strengths)
    with xr.open_dataset(tmp_path / "many.nc") as opened:
        np.testing.assert_array_equal(opened.q, many.q)
    frame = many.to_dataframe()
    np.testing.assert_array_equal(frame.loc[1]["x"], many.q[1, :, 0])
    table = np.loadtxt(many.save(tmp_path / "many.csv"), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 0], np.repeat([0, 1, 2], 21))


def test_a_batch_with_events_comes_back(many, tmp_path):
    """Members that had different numbers of events, in a file."""
    t, which = np.array([[0.2, 0.4, np.nan], [np.nan] * 3]), np.array([[0, 0, -1], [-1, -1, -1]])
    states = np.where(np.isnan(t), np.nan, 1.0)[..., None]
    happened = Events(t, which, states, states, -states, np.array([2, 0]), ("impact 0",))
    batch = replace(many[:2], happened=happened)
    again = hl.load(batch.save(tmp_path / "batch.nc"))
    first, second = again[0], again[1]
    assert isinstance(first, hl.Run)
    assert isinstance(second, hl.Run)
    assert [(one.name, one.t) for one in first.events] == [("impact 0", 0.2), ("impact 0", 0.4)]
    assert len(second.events) == 0
    assert again.certificate.events == {"impact 0": 2}


def test_positions_and_states_of_a_batch(many):
    pairs = hl.ensemble(double_pendulum, [1.0, 0.5], [[0.0, 0.3], [0.1, 0.2]], 0.2, dt=0.1, method=hl.RK4())
    np.testing.assert_array_equal(pairs.x[1], pairs[1:].x[0])
    np.testing.assert_array_equal(pairs["y2"], pairs.x[:, :, 1, 1])
    q, _ = many(0.505)
    np.testing.assert_array_equal(q[2], many[2](0.505)[0])
    some = many[:3].resample([0.1, 0.505])
    np.testing.assert_array_equal(some.q[2, 1], q[2])
    np.testing.assert_array_equal(some[1].energy, many[1].resample([0.1, 0.505]).energy)


def test_resampling(run, tmp_path):
    """At times between saved ones the states are those that `simulate` saves there, with energy, momentum and rest."""
    times = np.linspace(0.0, 2.0, 301)
    options = {"dt": 0.01, "method": hl.RK4()}
    coarse = run[::10]
    there = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, save_at=times, **options)
    again = coarse.resample(times)
    for name in ("q", "v", "energy", "momentum", "pull"):
        np.testing.assert_allclose(getattr(again, name), getattr(there, name), atol=1e-12)
    np.testing.assert_array_equal(again.t, times)
    assert again.certificate.part
    loaded = hl.load(coarse.save(tmp_path / "coarse.nc")).resample(times)
    np.testing.assert_allclose(loaded.q, there.q, atol=2e-3)
    np.testing.assert_allclose(loaded.x, there.x, atol=2e-2)
    np.testing.assert_allclose(loaded.energy, there.energy, atol=1e-5)
    for wrong, said in ((0.5, "takes a list of times"), ([0.5, 0.1], "direction of the run"), ([0.0, 3.0], "0 to 2")):
        with pytest.raises(ValueError, match=said):
            run.resample(wrong)
    back = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.0, t0=1.0, **options)
    np.testing.assert_allclose(back[::5].resample([0.83, 0.12]).q, back([0.83, 0.12])[0], atol=1e-12)


def test_parquet(run, tmp_path, monkeypatch):
    """Written through pandas; without a package that writes it, one sentence."""
    pd = pytest.importorskip("pandas")
    kept = []

    def write(frame, memory, index):
        kept.append(frame)
        memory.write(b"table")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", write)
    assert run.save(tmp_path / "run.parquet").read_bytes() == b"table"
    assert list(kept[0].columns)[:2] == ["t", run.names[0]]

    def missing(*args, **kwargs):
        raise ImportError("no engine")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", missing)
    with pytest.raises(ImportError, match="needs pyarrow, which is not installed: pip install pyarrow"):
        run.save(tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet").exists()


def test_a_parquet_file_is_read_by_others(run, tmp_path):
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = run.to_dataframe()
    read = pd.read_parquet(run.save(tmp_path / "run.parquet"))
    np.testing.assert_array_equal(read[list(frame.columns)].to_numpy(), frame.to_numpy())


def test_tables(run, tmp_path):
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame.index, run.t)
    np.testing.assert_array_equal(frame[run.names[1]], run.q[:, 1])
    path = run.save(tmp_path / "run.csv")
    head = path.read_text().splitlines()[0].split(",")
    assert head[0] == "t"
    assert head[1:] == list(frame.columns)
    read = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(read[:, 0], run.t)
    np.testing.assert_array_equal(read[:, 1:], frame.to_numpy())


@pytest.mark.parametrize("name", ["run.h5", "run", "run.txt"])
def test_endings_that_are_not_known_are_refused(run, tmp_path, name):
    with pytest.raises(ValueError, match=r"end in \.nc, \.csv, \.parquet; got"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_texts_are_short(run, many):
    assert repr(run) == f"<Run of 201 states, t = 0 to 2, of {', '.join(run.names)} by RK4(): ok>"
    assert repr(many) == f"<Run of 12 members, 101 states each, of {pendulum.names[0]} by RK4(): 12 of 12 ok>"
    page = run._repr_html_()
    assert page.count("<tr>") > 5
    assert "RK4" in page
    texts = []
    jax.eval_shape(lambda x: texts.append(repr(hl.simulate(pendulum, [x], [0.0], 0.2, dt=0.1, method=hl.RK4()))), 1.0)
    assert texts == [f"<Run of {pendulum.names[0]} by RK4(), being traced>"]


def test_a_wrong_name_in_a_large_system_gets_a_short_message():
    """Arrays are named, not their thousands of entries; of many single coordinates the first and the last."""
    square = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v), coordinates={"x": (40, 50)})
    start = np.ones((40, 50))
    run = hl.simulate(square, start, start, 0.1, dt=0.1, method=hl.RK4())
    with pytest.raises(KeyError, match=r"it has: x, x_dot, t, energy\."):
        run["enrgy"]
    with pytest.raises(KeyError, match=r"it has: x, x_dot"):
        hl.simulate(square, start, start, 0.1, dt=0.1, method=hl.RK4(), save=["enrgy"])
    many = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.sum(v * v), space=hl.Euclidean(500))
    run = hl.simulate(many, np.ones(500), np.ones(500), 0.1, dt=0.1, method=hl.RK4())
    with pytest.raises(KeyError) as caught:
        run["enrgy"]
    assert len(str(caught.value)) < 400
