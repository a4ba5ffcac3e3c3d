"""Sparse multipliers of many conditions give what whole matrices give, and no conditions are taken for sparser."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.sparse_systems import flat_net, hanging, net, ring, rope, triangles, turning

import holonomy as hl
from holonomy.systems import mass_checks
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.structure import FEWEST


def found(system):
    """The structure of a system's conditions."""
    conditions = system.structure.conditions
    assert conditions is not None
    return conditions


@pytest.fixture
def whole(monkeypatch):
    """What makes the library treat all matrices as full ones, or all that it can as sparse ones."""

    def change(yes):
        monkeypatch.setattr(mass_checks, "FEWEST", 10**9 if yes else FEWEST)
        monkeypatch.setattr(mass_checks, "LARGEST_DENSE", 10**9 if yes else 30)

    change(False)
    return change


CASES = {
    "chain": (lambda: (rope(60), *hanging(60)), hl.Rattle(2), "along a chain"),
    "short chain": (lambda: (rope(9), *hanging(9)), hl.Rattle(4), "along a chain"),
    "coupled masses": (lambda: (rope(32, coupled=True), *hanging(32)), hl.Rattle(2), "iteratively, near elimination"),
    "net": (lambda: (net(5, 6, sorted_rods=False), *flat_net(5, 6)), hl.Rattle(4), "sparse elimination"),
    "ring": (lambda: (ring(9), *turning(9)), hl.Rattle(2), "sparse elimination"),
    "large ring": (lambda: (ring(50), *turning(50)), hl.Rattle(2), "sparse elimination"),
    "triangles": (lambda: (triangles(3), *turning(9)), hl.Rattle(2), "sparse elimination"),
    "velocities": (lambda: (net(5, 5, skates=True), *flat_net(5, 5)), hl.RK4(), "sparse elimination"),
}


LONG = ("coupled masses", "velocities", "triangles", "large ring", "chain", "net")


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.compat) if c in LONG else c for c in CASES])
def test_sparse_multipliers_give_the_motion_of_whole_matrices(case, whole):
    """Projection, multipliers, accelerations and a run, by both routes."""
    make, method, said = CASES[case]
    system, q, v = make()
    assert said in str(system.structure)

    def all_of_it():
        bent = q + 1e-3 * np.sin(np.arange(q.size)).reshape(q.shape)
        start = system.project(0.0, bent, v)
        run = hl.simulate(system, start[0], start[1], 0.004, dt=0.001, method=method)
        return run, [*start, system.multipliers(0.0, *start), system.acceleration(0.0, *start), run.q, run.v]

    run, ours = all_of_it()
    assert said in run.provenance.mass
    assert said in str(run.certificate)
    whole(True)
    other, theirs = all_of_it()
    assert other.provenance.mass == ""
    for a, b in zip(ours, theirs, strict=True):
        assert np.max(np.abs(a - b)) < 1e-12 * max(1.0, float(np.max(np.abs(b))))


def test_loops_of_rods_use_sparse_multipliers_from_the_same_number_as_chains():
    """Of few conditions the structure says that whole matrices are used."""
    for few, many in ((ring(8), ring(9)), (rope(8), rope(9))):
        assert "multipliers by a dense matrix" in str(few.structure)
        assert mass_checks.with_structure(few).mass is None
        assert "elimination" in str(many.structure)
        assert mass_checks.with_structure(many).mass is not None


def test_compiled_steps_do_not_grow_with_a_net():
    """Projections of nets of different numbers of levels, and of one that is factored along a band, have programs of
    about the same number of operations."""
    counts, levels = [], []
    for m in (8, 14, 28):
        system = mass_checks.with_structure(net(m, m))
        elimination = found(system).elimination
        assert elimination is not None
        levels.append(elimination.levels)
        state = tuple(jnp.asarray(x.reshape(-1)) for x in flat_net(m, m))
        program = jax.make_jaxpr(lambda q, v, s=system: sparse.independence_at(s, 0.0, q, v))(*state)
        solve = jax.make_jaxpr(lambda d, e, how=elimination: how.solve(how.factor_general(d, e, e), d))(
            jnp.ones(elimination.order.size), jnp.ones(elimination.turned.size)
        )
        counts.append(_operations(program.jaxpr) + _operations(solve.jaxpr))
    assert 0 < levels[0] < levels[1]
    assert levels[2] == 0
    assert "along a band" in str(net(28, 28).structure)
    assert counts[0] == counts[1]
    assert counts[2] < 1.5 * counts[0]


def _operations(program):
    """The number of operations of a program, those of programs inside it too."""
    inner = [x for one in program.eqns for x in jax.tree.leaves(list(one.params.values()), is_leaf=_program)]
    return len(program.eqns) + sum(_operations(getattr(x, "jaxpr", x)) for x in inner if _program(x))


def _program(x):
    return hasattr(x, "eqns") or hasattr(x, "jaxpr")


def test_hidden_couplings_are_not_taken_for_sparse():
    """A sum over all coordinates behind a small factor, a loop, and an index that is data of the run."""
    n = 60
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v), coordinates={"x": (n, 2)})

    def kind(phi):
        return found(free.constrained(holonomic=phi))

    rods = kind(lambda t, x: jnp.sum((x[1:] - x[:-1]) ** 2, axis=1) - 1.0)
    assert (rods.kind, rods.entries) == ("chain", 4 * (n - 1))
    assert kind(lambda t, x: x[:, 0] + 1e-300 * jnp.sum(x[:, 1])).kind == "dense"
    assert kind(lambda t, x: jnp.cumsum(x[:, 0])).kind == "dense"
    assert kind(lambda t, x: jnp.sort(x[:, 0])).kind == "dense"
    assert kind(lambda t, x: x[:, 1]).kind == "separate"


def test_a_chain_of_conditions_is_found_in_any_order():
    n = 60
    order = np.random.default_rng(0).permutation(n - 1)
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v), coordinates={"x": (n, 2)})
    mixed = free.constrained(holonomic=lambda t, x: jnp.sum((x[1:] - x[:-1])[order] ** 2, axis=1) - 1.0)
    assert found(mixed).kind == "chain"
    x = np.stack([np.arange(n), np.zeros(n)], 1)
    run = hl.simulate(mixed, x, np.stack([np.zeros(n), np.sin(np.arange(n))], 1), 0.02, dt=0.01, method=hl.Rattle(2))
    assert "in another order" in run.provenance.mass
    assert run.certificate.violation < 1e-13


def test_starts_that_many_conditions_refuse_are_named():
    system = rope(80)
    q, v = hanging(80)
    bent = q.copy()
    bent[70:] += [0.01, 0.0]
    with pytest.raises(ValueError, match=r"q0 is about .* most, holonomic condition 70 by"):
        hl.simulate(system, bent, v, 0.01, dt=0.01)
    moving = v.copy()
    moving[0] = 1.0
    with pytest.raises(ValueError, match=r"v0 is about .* holonomic condition"):
        hl.simulate(system, q, moving, 0.01, dt=0.01)


def test_conditions_that_follow_from_others_are_held_with_whole_matrices():
    """One rod twice: as many as are independent are held, as of few conditions."""
    n = 60
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v) - jnp.sum(x[:, 1]), coordinates={"x": (n, 2)})

    def rods(t, x):
        lengths = 0.5 * (jnp.sum((x[1:] - x[:-1]) ** 2, axis=1) - 1.0)
        return jnp.concatenate([lengths, lengths[:1]])

    x = np.stack([np.arange(n), np.zeros(n)], 1)
    run = hl.simulate(free.constrained(holonomic=rods), x, 0 * x, 0.02, dt=0.01, method=hl.Rattle(2))
    assert run.provenance.mass == ""
    assert run.system is not None
    assert run.system.constraints.equations.ranks == (n - 1, 0)


@pytest.mark.parametrize("count", [4, 12])
@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_squared_lengths_in_any_unit_are_projected(count, unit):
    """A tree of rods in space, bent by a thousandth: with whole matrices and with sparse multipliers."""
    random = np.random.default_rng(count)
    first = np.array([random.integers(0, k) for k in range(1, count + 1)])
    second = np.arange(1, count + 1)
    x = unit * random.normal(size=(count + 1, 3))
    squares = np.sum((x[first] - x[second]) ** 2, axis=1)
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v), coordinates={"x": x.shape})
    tree = free.constrained(holonomic=lambda t, x: jnp.sum((x[first] - x[second]) ** 2, axis=1) - squares)
    q, v = tree.project(0.0, x + 1e-3 * unit * np.sin(np.arange(x.size)).reshape(x.shape), x[::-1])
    rods = np.asarray(q).reshape(x.shape)[first] - np.asarray(q).reshape(x.shape)[second]
    speeds = np.asarray(v).reshape(x.shape)[first] - np.asarray(v).reshape(x.shape)[second]
    assert np.max(np.abs(np.sum(rods**2, axis=1) / squares - 1.0)) < 1e-11
    assert np.max(np.abs(np.sum(rods * speeds, axis=1) / squares)) < 1e-11
    if unit > 1.0:
        with pytest.raises(ValueError, match=r"The nearest consistent state is q0 = \["):
            hl.simulate(tree, x + 1e-3 * unit, x[::-1], 1.0, dt=0.1)
