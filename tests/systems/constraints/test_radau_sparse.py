"""Radau's steps of many coordinates along a band give what whole matrices give, at a cost that is linear in them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.sparse_systems import flat_net, hanging, net, rope

import holonomy as hl
from holonomy.motion.methods.radau_equations import Equations
from holonomy.motion.methods.radau_sparse import SparseEquations
from holonomy.systems import block_band, mass_checks, step_structure

END, STAGES = "end", "stages"


@pytest.fixture
def whole(monkeypatch):
    """What makes the library treat all matrices as full ones, or all that it can by their structure."""

    def change(yes):
        for module, name, least in (
            (mass_checks, "FEWEST", 40),
            (mass_checks, "LARGEST_DENSE", 40),
            (mass_checks, "UNROLLED", 8),
            (step_structure, "FEWEST", 40),
        ):
            monkeypatch.setattr(module, name, 10**9 if yes else least)

    change(False)
    return change


def stiff_lattice(m):
    """m × m masses on stiff springs to their neighbours, with a quartic one and damping of each."""

    def lagrangian(t, x, v):
        springs = jnp.sum((x[1:] - x[:-1]) ** 2) + jnp.sum((x[:, 1:] - x[:, :-1]) ** 2)
        return 0.5 * jnp.sum(v * v) - 0.5e6 * springs - 0.25 * jnp.sum(x**4)

    free = hl.System.from_lagrangian(lagrangian, coordinates={"x": (m, m)})
    return free.forced(lambda t, x, v: -50.0 * (1.0 + x**2) * v)


def pendulums(n):
    """Pendulums on one axis, each joined to the next by a spring and a damper."""

    def lagrangian(t, x, v):
        return (
            0.5 * jnp.sum((1.0 + 0.1 * jnp.cos(x)) * v * v)
            + 9.81 * jnp.sum(jnp.cos(x))
            - 5e3 * jnp.sum((x[1:] - x[:-1]) ** 2)
        )

    def damping(t, x, v):
        gap = 20.0 * (v[1:] - v[:-1])
        return jnp.pad(gap, (0, 1)) - jnp.pad(gap, (1, 0))

    return hl.System.from_lagrangian(lagrangian, coordinates={"x": (n,)}).forced(damping)


def smooth(shape):
    return np.sin(0.3 * np.arange(np.prod(shape))).reshape(shape)


CASES = {
    "rope": (lambda: (rope(60), *hanging(60)), 2e-3),
    "coupled masses": (lambda: (rope(60, coupled=True), *hanging(60)), 2e-3),
    "net": (lambda: (net(3, 20), *flat_net(3, 20)), 1e-2),
    "velocities": (lambda: (net(3, 20, skates=True), *flat_net(3, 20)), 1e-2),
    "lattice": (lambda: (stiff_lattice(8), smooth((8, 8)), 0 * smooth((8, 8))), 1e-2),
    "pendulums": (lambda: (pendulums(70), smooth(70), 0 * smooth(70)), 1e-2),
}
CHOICES = [
    ("rope", hl.Radau(3)),
    pytest.param("rope", hl.Radau(2, at=STAGES), marks=pytest.mark.compat),
    pytest.param("coupled masses", hl.Radau(3), marks=pytest.mark.compat),
    pytest.param("net", hl.Radau(2), marks=pytest.mark.compat),
    pytest.param("net", hl.Radau(3, at=STAGES), marks=pytest.mark.compat),
    pytest.param("velocities", hl.Radau(3), marks=pytest.mark.compat),
    pytest.param("velocities", hl.Radau(2, at=STAGES), marks=pytest.mark.compat),
    pytest.param("lattice", hl.Radau(3), marks=pytest.mark.compat),
    ("lattice", hl.Radau(2)),
    pytest.param("lattice", hl.Radau(3, iteration="newton"), marks=pytest.mark.compat),
    pytest.param("pendulums", hl.Radau(3), marks=pytest.mark.compat),
]


@pytest.mark.parametrize(("case", "method"), CHOICES, ids=str)
def test_steps_along_a_band_are_those_of_whole_matrices(case, method, whole):
    make, dt = CASES[case]
    system, q, v = make()
    if system.constraints:
        q, v = (np.asarray(x) for x in system.project(0.0, q + 1e-3 * smooth(q.shape), v))

    def moved(q):
        return hl.simulate(system, q, v, 4 * dt, dt=dt, method=method)

    ours = moved(q)
    assert "implicit steps by a band" in str(ours.certificate)
    whole(True)
    theirs = moved(q)
    assert theirs.provenance.mass == ""
    beside = [moved(q * (1 + np.finfo(float).eps * np.sign(smooth(q.shape) + shift))) for shift in (0.0, 0.3)]
    for name in ("q", "v", "multipliers") if system.constraints else ("q", "v"):
        known = getattr(theirs, name)
        # Velocities and forces that keep positions are differences of these over dt and dt²: how many digits they have
        # is told by what the last bits of the start change.
        rounding = max(float(np.max(np.abs(getattr(run, name) - known))) for run in beside)
        room = max(1e-12 * max(1.0, float(np.max(np.abs(known)))), 2 * rounding)
        assert np.max(np.abs(getattr(ours, name) - known)) < room
        assert rounding < 1e-8 * max(1.0, float(np.max(np.abs(known))))


def moving_chain(velocity):
    """A short chain with all that equations can have: a mass matrix of velocities and positions that couples
    neighbours, forces of all, conditions that name the time, and some on velocities."""
    n = 7

    def lagrangian(t, x, v):
        kinetic = 0.5 * jnp.sum((1.0 + x**2) * v * v) + 0.1 * jnp.sum(v[1:] * v[:-1] * x[1:]) + 0.01 * jnp.sum(v**4)
        return kinetic + t * jnp.sum(x[1:] * v[:-1]) - 3.0 * jnp.sum(jnp.cos(x[1:] - x[:-1]))

    free = hl.System.from_lagrangian(lagrangian, coordinates={"x": (n, 2)})
    free = free.forced(lambda t, x, v: -v * jnp.sin(x) - jnp.roll(v, 1, axis=1) * t)
    on = free.constrained(holonomic=lambda t, x: jnp.sum((x[1:4] - x[:3]) ** 2, axis=1) - 1.0 - 0.1 * t * x[1:4, 0])
    return on.constrained(velocity=lambda t, x, v: v[4:6, 0] * x[5:7, 1] - t * v[5:7, 1]) if velocity else on


def as_matrix(rows):
    count, b, _ = rows.shape
    matrix = np.zeros((count * b, (count + 2) * b))
    for i in range(count):
        matrix[i * b : (i + 1) * b, i * b : (i + 3) * b] = rows[i]
    return matrix[:, b : (count + 1) * b]


EVERY = [(kinds, stages, at) for kinds in ("none", "holonomic", "both") for stages in (2, 3) for at in (END, STAGES)]
FEW = (("none", 2, END), ("both", 3, END), ("both", 2, STAGES))


@pytest.mark.parametrize(
    ("kinds", "stages", "at"), [one if one in FEW else pytest.param(*one, marks=pytest.mark.compat) for one in EVERY]
)
def test_corrections_are_those_of_newtons_method(stages, at, kinds, monkeypatch):
    """Every entry that the band holds against the Jacobian of the residual by JAX, at a random state."""
    monkeypatch.setattr(step_structure, "FEWEST", 3)
    monkeypatch.setattr(step_structure, "_PART", 1)
    system = moving_chain(kinds == "both")
    if kinds == "none":
        system = hl.System.from_lagrangian(system.raw_lagrangian, space=hl.Euclidean(14))
    how = step_structure.find(system)
    assert how is not None
    random = np.random.default_rng(5)
    y, w, p = (jnp.asarray(x) for x in random.normal(size=(3, 14)))

    def equations():
        local = system.local(y)
        return SparseEquations(Equations(stages, at, local, local.hold(0.3, y, w), jnp.asarray(0.3), 0.2, y, p), how)

    reactions = jnp.asarray(random.normal(size=(stages, sum(how.counts)))) if sum(how.counts) else None
    start = np.asarray(equations().join(jnp.asarray(random.normal(size=(stages, 14))), reactions))
    z = jnp.asarray(start + random.normal(size=start.shape))
    right = jnp.asarray(random.normal(size=start.shape))
    jacobian = jax.jit(jax.jacfwd(lambda x: equations().residual(x)))(z)
    found = jax.jit(lambda x: equations().direction_at(x, right))(z)
    assert np.max(np.abs(jacobian @ found - right)) < 1e-9 * np.max(np.abs(found))
    np.testing.assert_allclose(jax.jit(lambda x: equations().direction(x)(right))(z), found, rtol=1e-12, atol=1e-12)


def test_a_band_is_solved_with_exchanges_of_rows():
    """Zeros on the diagonal, as conditions have them; a matrix that is singular gives no finite solution."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(6, 4, 12))
    rows[0, :, :4] = rows[-1, :, 8:] = 0.0
    rows[:, np.arange(4), 4 + np.arange(4)] = 0.0
    rows *= 10.0 ** random.integers(-8, 8, size=(6, 4, 1))
    right = random.normal(size=24)
    found = block_band.solve(block_band.factor(jnp.asarray(rows)), jnp.asarray(right))
    np.testing.assert_allclose(found, np.linalg.solve(as_matrix(rows), right), rtol=1e-9)
    rows[3, 2] = 0.0
    assert not np.all(np.isfinite(block_band.solve(block_band.factor(jnp.asarray(rows)), jnp.asarray(right))))


def joined_pendulums(n):
    """Masses on rods of unit length around points of their own, joined by springs to their neighbours."""
    free = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - 9.81 * jnp.sum(x[:, 1]) - jnp.sum((x[1:] - x[:-1]) ** 2),
        coordinates={"x": (n, 2)},
    )
    return free.constrained(holonomic=lambda t, x: 0.5 * (jnp.sum(x * x, axis=1) - 1.0))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (hl.Radau(3), (5, 5, 5)),
        pytest.param(hl.Radau(2), (3, 3, 2), marks=pytest.mark.proof),
        pytest.param(hl.Radau(3, at=STAGES), (5, 3, 2), marks=pytest.mark.proof),
        pytest.param(hl.Radau(2, at=STAGES), (3, 2, 1), marks=pytest.mark.proof),
    ],
    ids=str,
)
def test_orders_are_kept_along_a_band(method, expected):
    """Positions, velocities and multipliers of sixty pendulums, against much smaller steps of the best method."""
    n = 60
    angle = np.linspace(0.5, 1.0, n)
    start = np.stack([np.sin(angle), -np.cos(angle)], 1)
    system = joined_pendulums(n)

    def end(by, dt):
        run = hl.simulate(system, start, 0 * start, 1.0, dt=dt, method=by, save_at=[1.0])
        assert "implicit steps by a band" in run.provenance.mass
        assert run.multipliers is not None
        return [np.asarray(x[-1]) for x in (run.q, run.v, run.multipliers)]

    exact = end(hl.Radau(3), 1 / 320)
    errors = [[np.max(np.abs(a - b)) for a, b in zip(end(method, dt), exact, strict=True)] for dt in (1 / 20, 1 / 40)]
    orders = np.log2(np.divide(errors[0], errors[1]))
    assert np.all(np.abs(orders - expected) < 0.25)


def sizes_within(jaxpr):
    """The sizes of all arrays of a program, those of the programs inside it too."""
    found = [np.prod(v.aval.shape) for e in jaxpr.eqns for v in e.outvars]
    for equation in jaxpr.eqns:
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda x: hasattr(x, "eqns")):
            inner = getattr(inner, "jaxpr", inner)
            found += sizes_within(inner) if hasattr(inner, "eqns") else []
    return found


@pytest.mark.proof
def test_a_rope_of_a_thousand_rods():
    """Against Rattle(6); the largest array of a step grows like the number of rods."""
    n, dt, method = 1000, 1e-4, hl.Radau(3)
    runs = [hl.simulate(rope(n), *hanging(n), 5 * dt, dt=dt, method=by) for by in (method, hl.Rattle(6))]
    assert runs[0].certificate.violation < 1e-14
    assert np.max(np.abs(runs[0].q - runs[1].q)) < 1e-12
    assert np.max(np.abs(runs[0].v - runs[1].v)) < 1e-8

    def largest(k):
        system = mass_checks.with_steps(mass_checks.with_structure(rope(k)))
        q, v = (jnp.asarray(x.ravel()) for x in hanging(k))
        state = jax.eval_shape(lambda: method.start(system, 0.0, q, v))
        closed = jax.make_jaxpr(lambda s: method.step(system, 0.0, dt, s))(state)
        return max(sizes_within(closed.jaxpr))

    few, many = largest(500), largest(1000)
    assert 0.9 < many / few / 2 < 1.1
    assert many < n * 2000


def test_what_is_not_understood_is_not_taken_for_a_band():
    n = 80
    springs = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - jnp.sum((x[1:] - x[:-1]) ** 4), coordinates={"x": (n,)}
    )
    plain = step_structure.find(springs)
    assert plain is not None
    assert plain.width == 1
    ring = step_structure.find(springs.forced(lambda t, x, v: -(v - jnp.roll(v, 1))))
    assert ring is not None
    assert ring.width == 2
    assert step_structure.find(springs.forced(lambda t, x, v: -1e-300 * jnp.sum(v) * v)) is None
    assert step_structure.find(springs.constrained(holonomic=lambda t, x: jnp.cumsum(x))) is None


@pytest.mark.proof
def test_conditions_that_follow_from_others_are_held_with_whole_matrices():
    n = 60
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v * v) - jnp.sum(x[:, 1]), coordinates={"x": (n, 2)})

    def rods(t, x):
        lengths = 0.5 * (jnp.sum((x[1:] - x[:-1]) ** 2, axis=1) - 1.0)
        return jnp.concatenate([lengths, lengths[:1]])

    x = np.stack([np.arange(n), np.zeros(n)], 1)
    run = hl.simulate(free.constrained(holonomic=rods), x, 0 * x, 0.02, dt=0.01, method=hl.Radau(2))
    assert run.provenance.mass == ""
    assert run.system is not None
    assert run.system.constraints.equations.ranks == (n - 1, 0)


@pytest.mark.proof
def test_a_rope_that_is_pulled_beyond_its_length_stops():
    """The end of a rope is moved away until all rods are in line; no motion goes on from there."""
    n = 60
    on = rope(n).constrained(holonomic=lambda t, x: x[-1] - jnp.stack([0.9 + t, 0.0 * t]))
    angle = np.linspace(0.9, -0.9, n)
    bent = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], 1) / n, axis=0)
    q, v = on.project(0.0, bent * [0.9 / bent[-1, 0], 1.0], 0 * bent + np.linspace([0.0, 0.0], [1.0, 0.0], n))
    with pytest.raises(hl.SimulationError, match=r"rank|could not be solved"):
        hl.simulate(on, q, v, 0.15, dt=2e-3, method=hl.Radau(2))
