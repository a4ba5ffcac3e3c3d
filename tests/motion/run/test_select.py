"""Parts of runs: variables by name, states by index and by time, members of batches, tables, short texts."""

import jax
import numpy as np
import pytest
from tests.motion.examples import double_pendulum, pendulum

import holonomy as hl


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
    with pytest.raises(ValueError, match=r"end in \.nc or \.csv"):
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
