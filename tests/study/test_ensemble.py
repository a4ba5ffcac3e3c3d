"""Ensembles against single runs, in both engines: other starts, other parameters, a member that fails, bad input."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion.loops import pieces
from holonomy.systems.result_code import Code


@pytest.fixture(scope="module")
def system():
    return hl.Pendulum([1.0, 0.7], [1.0, 0.5])


@pytest.fixture(scope="module")
def starts():
    key = np.random.default_rng(5)
    return key.uniform(-1, 1, (7, 2)), key.normal(size=(7, 2))


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_members_move_as_they_would_alone(system, starts, engine):
    q, v = starts
    gravity = np.linspace(1.0, 9.81, 7)
    many = hl.ensemble(
        system, q, v, 0.5, dt=0.01, method=hl.Gauss(2), engine=engine, parameters={"gravity": gravity}, save_every=10
    )
    assert many.q.shape == (7, 6, 2)
    assert dict(many.notes)["engine"].startswith(engine)
    for k in (0, 3, 6):
        one = hl.simulate(
            system.with_parameters(gravity=gravity[k]), q[k], v[k], 0.5, dt=0.01, method=hl.Gauss(2), save_every=10
        )
        for name in ("t", "q", "v", "energy", "momentum"):
            np.testing.assert_allclose(getattr(many, name)[k], getattr(one, name), rtol=0, atol=1e-12)
    assert np.all(np.asarray(many.result.code) == 0)


def test_one_state_may_stand_for_all(system):
    masses = np.array([[1.0, 0.5], [2.0, 1.0]])
    run = hl.ensemble(system, [0.3, 0.1], [0.0, 0.0], 0.1, dt=0.01, method=hl.RK4(), parameters={"masses": masses})
    np.testing.assert_allclose(run.q[0], run.q[1], rtol=0, atol=1e-12)  # a common factor of the masses does not matter
    np.testing.assert_allclose(2 * run.energy[0], run.energy[1], rtol=1e-12)


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_a_member_that_fails_spares_the_others(engine):
    falling = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - 1.0 / q[0], coordinates=("r",))
    run = hl.ensemble(
        falling, [[1.0], [-1e-3], [2.0]], [[0.0], [0.0], [0.0]], 1.0, dt=0.01, method=hl.RK4(), engine=engine
    )
    alone = hl.simulate(falling, [2.0], [0.0], 1.0, dt=0.01, method=hl.RK4())
    np.testing.assert_allclose(run.q[2], alone.q, rtol=0, atol=1e-12)
    bad = hl.ensemble(
        hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v + jnp.exp(q[0]), coordinates=("r",)),
        [[0.0], [40.0]], [[0.0], [0.0]], 1.0, dt=0.01, method=hl.RK4(), engine=engine, throw=False,
    )  # fmt: skip
    codes = np.asarray(bad.result.code)
    assert codes[0] == 0
    assert codes[1] != 0
    assert np.all(np.isfinite(bad.q[0]))
    assert np.isnan(bad.q[1, -1, 0])


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_a_member_whose_energy_becomes_nan_has_failed(engine):
    """The motion itself goes on: the Lagrangian changes by a constant that has no value from q = 0.5 on."""
    free = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v @ v + jnp.where(q[0] > 0.55, jnp.nan, 0.0), coordinates=("x",)
    )
    run = hl.ensemble(free, [[0.0], [0.0]], [[0.1], [1.0]], 1.0, dt=0.1, method=hl.RK4(), engine=engine, throw=False)
    assert np.asarray(run.result.code).tolist() == [0, 1]
    assert float(np.asarray(run.result.t)[1]) == pytest.approx(0.6)
    np.testing.assert_allclose(np.asarray(run.q)[0, :, 0], 0.01 * np.arange(11), atol=1e-15)
    assert np.isfinite(np.asarray(run.q)[1, :6]).all()
    assert np.isnan(np.asarray(run.q)[1, 6:]).all()


def test_an_interrupted_ensemble_keeps_what_it_has(system, starts, monkeypatch):
    q, v = starts
    whole = hl.ensemble(system, q, v, 1.0, dt=0.01, method=hl.RK4(), engine="native")
    cut = pieces.cut

    def interrupted(*plan):
        counts, rests, wanted = next(cut(*plan))
        yield counts[:40], rests[:40], wanted[:40]
        raise KeyboardInterrupt

    monkeypatch.setattr(pieces, "cut", interrupted)
    part = hl.ensemble(system, q, v, 1.0, dt=0.01, method=hl.RK4(), engine="native", throw=False)
    assert {Code(int(code)).name for code in np.asarray(part.result.code)} == {"interrupted"}
    np.testing.assert_array_equal(part.q[:, :40], whole.q[:, :40])
    assert np.isnan(part.q[:, 40:]).all()


def test_constraints_are_checked_member_by_member():
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - 9.81 * q[1], coordinates=("x", "y"))
    rod = ball.constrained(holonomic=lambda t, q: jnp.array([q @ q - 1.0]))
    run = hl.ensemble(rod, [[0.0, -1.0], [0.0, -0.5]], [[1.0, 0.0], [0.0, 0.0]], 0.1, dt=0.01, throw=False)
    assert int(np.asarray(run.result.code)[0]) == 0
    assert int(np.asarray(run.result.code)[1]) != 0
    assert np.all(np.isnan(run.q[1, 1:]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([[0.0, 0.0, 0.0]], [0.0, 0.0]), "q0s must be one state of shape"),
        ((np.zeros((3, 2)), np.zeros((4, 2))), "q0s 3, v0s 4"),
    ],
)
def test_wrong_shapes_are_named(system, arguments, said):
    with pytest.raises(ValueError, match=said):
        hl.ensemble(system, arguments[0], arguments[1], 1.0, dt=0.1)


def test_wrong_parameters_are_named(system):
    with pytest.raises(ValueError, match="parameters names 'weight'"):
        hl.ensemble(system, [0.0, 0.1], [0.0, 0.0], 1.0, dt=0.1, parameters={"weight": [1.0]})
    with pytest.raises(ValueError, match=r"parameters\['gravity'\] must be real"):
        hl.ensemble(system, [0.0, 0.1], [0.0, 0.0], 1.0, dt=0.1, parameters={"gravity": [1.0, 2.0j]})
    with pytest.raises(ValueError, match="a value of shape"):
        hl.ensemble(system, [0.0, 0.1], [0.0, 0.0], 1.0, dt=0.1, parameters={"masses": [1.0, 2.0]})
    with pytest.raises(ValueError, match="pass dt"):
        hl.ensemble(system, [0.0, 0.1], [0.0, 0.0], 1.0, dt=None)


# ── the same checks, the same fallback and the same results as single runs ───────────────────────────

springs = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * v @ v - 0.5 * q[0] ** 2 - 0.5 * p.k * (q[1] - q[0]) ** 2, ("x", "y"), parameters={"k": 1.0}
)
STIFFNESSES = np.array([1.0, 1e7, 3.0])  # steps of 0.01 are far too long for the fixed point with the second
pole = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v + jnp.exp(q[0]), coordinates=("r",))
BALLS = [hl.Body([1.0], radii=[0.1]) for _ in range(3)]
PLACES = np.array([[[0.0, 0.0], [1.0, 0.0], [2.0, 0.05]], [[0.0, 0.0], [1.0, 0.1], [2.0, 0.05]]])
SPEEDS = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])


def assert_as_alone(many, k, one, bound=0.0):
    for name in ("t", "q", "v", "energy", "momentum"):
        np.testing.assert_allclose(getattr(many, name)[k], getattr(one, name), rtol=0, atol=bound)
    assert int(np.asarray(many.result.code)[k]) == int(one.result.code)


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_members_fall_back_where_single_runs_do(engine):
    many = hl.ensemble(
        springs, [1.0, 1.0], [0.0, 0.1], 1.0, {"k": STIFFNESSES}, dt=0.01, method=hl.Gauss(3), engine=engine
    )
    assert list(many.result.name) == ["ok"] * 3
    assert str(many.result) == "All 3 members reached their end."
    for k, stiffness in enumerate(STIFFNESSES):
        one = hl.simulate(springs.with_parameters(k=stiffness), [1.0, 1.0], [0.0, 0.1], 1.0, dt=0.01, method="Gauss(3)")
        assert one.provenance.fell_back == (k == 1)
        assert_as_alone(many, k, one, 1e-9 if engine == "xla" else 0.0)
    if engine == "native":
        assert many.provenance.fell_back
        assert int(np.asarray(many.result.steps)[1]) == 100


def test_members_that_stop_are_named():
    options = {"dt": 0.01, "method": hl.RK4()}
    starts = [[0.0], [40.0], [41.0], [0.1]]
    with pytest.raises(
        hl.SimulationError, match=r"2 of 4 members stopped.*Members 1, 2, at t = .*not a number"
    ) as seen:
        hl.ensemble(pole, starts, [0.0], 1.0, throw=True, **options)
    kept = seen.value.run
    assert list(kept.result.name) == ["ok", "not_finite", "not_finite", "ok"]
    assert np.isfinite(kept.q[[0, 3]]).all()
    with pytest.warns(UserWarning, match="Members 1, 2"):
        warned = hl.ensemble(pole, starts, [0.0], 1.0, **options)
    np.testing.assert_array_equal(warned.q, kept.q)
    assert hl.simulate(pole, [0.0], [0.0], 1.0, **options).result.name == "ok"


def test_worlds_and_methods_of_the_host_have_ensembles():
    """Free balls run one by one; states have the forms that `simulate` takes; bodies in H³ bring their frames."""
    balls = hl.World(hl.Euclidean(2), BALLS, collisions=True)
    many = hl.ensemble(balls, PLACES, SPEEDS, 3.0, dt=0.1)
    for k in (0, 1):
        one = hl.simulate(balls, PLACES[k], SPEEDS, 3.0, dt=0.1)
        assert_as_alone(many, k, one)
        member = many[k]
        assert isinstance(member, hl.Run)
        assert [(e.name, e.t) for e in member.events] == [(e.name, e.t) for e in one.events]
    space = hl.Hyperbolic(3)
    rod = hl.World(space, hl.Body([1.0, 1.0], springs=[(0, 1, 1.0, 1.0)]))
    points = np.stack([space.from_polar(0.5, np.pi / 2, g * np.pi / 2) for g in (1, 3)])
    many = hl.ensemble(rod, np.stack([points, points[::-1]]), np.zeros((2, 4)), 1.0, dt=0.1)
    assert_as_alone(many, 0, hl.simulate(rod, points, np.zeros((2, 4)), 1.0, dt=0.1))
    member = many[1]
    assert isinstance(member, hl.Run)
    assert member.frame.shape == (11, 3)


def test_starts_of_all_members_are_checked():
    sphere = hl.Sphere(2)
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - q[2], space=sphere)
    q, v = np.eye(3)[:2], np.array([[0.0, 1.0, 0.0], [0.1, 0.0, 0.0]])
    with pytest.raises(ValueError, match="Member 1: q0 does not lie on Sphere"):
        hl.ensemble(free, q * [[1.0], [1.1]], v, 1.0, dt=0.1)
    with pytest.raises(ValueError, match="Member 1: v0 is not tangent"):
        hl.ensemble(free, q, v + np.array([[0.0], [0.3]]), 1.0, dt=0.1)
    balls = hl.World(hl.Euclidean(2), BALLS, collisions=True)
    with pytest.raises(ValueError, match="Member 1: Balls overlap"):
        hl.ensemble(balls, PLACES * [[[1.0]], [[0.1]]], SPEEDS, 1.0, dt=0.1)


def test_members_that_go_too_far_out_say_so():
    plane = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[:2] @ v[:2] - v[2] ** 2), space=hl.Hyperbolic(2), coordinates=("x", "y", "w")
    )
    speeds = np.array([[0.1, 0.0, 0.0], [20.0, 0.0, 0.0]])
    many = hl.ensemble(plane, [0.0, 0.0, 1.0], speeds, 1.0, dt=0.01, method=hl.RK4(), throw=False)
    assert list(many.result.name) == ["ok", "too_far"]
    with pytest.raises(hl.SimulationError) as alone:
        hl.simulate(plane, [0.0, 0.0, 1.0], speeds[1], 1.0, dt=0.01, method=hl.RK4())
    assert float(np.asarray(many.result.t)[1]) == float(alone.value.result.t)
