"""The structure of the mass matrix of systems of all kinds against whole Hessians by `jax.hessian` at random states."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.systems.mass_structure import MassStructure
from holonomy.trace.hessian_pattern import hessian_pattern

N = 10
FACTORS = ("constant", "q", "t")


def _model(name, **options):
    return lambda: hl.models.find(name, **options)()


def _flat(lagrangian, n=N):
    return lambda: hl.System.from_lagrangian(lagrangian, space=hl.Euclidean(n))


def _particles(positions, coordinates):
    return lambda: hl.System.from_positions(positions, 1.5, coordinates=coordinates)


def _cart_with_pendulums(t, q):
    x, angles = q[0], q[1:]
    bobs = jnp.stack([x + jnp.sin(angles), -jnp.cos(angles)], axis=1)
    return jnp.concatenate([jnp.stack([x, 0 * x])[None], bobs])


def _pairs_of_bodies(t, q):
    """Bodies in the plane, each with another on an arm of unit length."""
    x, y, angle = q.reshape(3, -1)
    return jnp.concatenate([jnp.stack([x, y], 1), jnp.stack([x + jnp.cos(angle), y + jnp.sin(angle)], 1)])


# what makes the system, and what is said of its mass matrix up to the number of coordinates
SYSTEMS = {
    "simple pendulum": (_model("simple_pendulum"), "diagonal, depends on parameters"),
    "double pendulum": (_model("double_pendulum"), "dense, depends on positions, parameters"),
    "pendulum of six links": (_model("multi_pendulum", links=6), "dense, depends on positions, parameters"),
    "spherical pendulum": (_model("spherical_pendulum"), "diagonal, depends on positions, parameters"),
    "planet": (_model("kepler"), "diagonal, depends on parameters"),
    "hoop": (_model("rotating_hoop"), "diagonal, depends on parameters"),
    "wire": (_model("elliptical_wire"), "diagonal, depends on positions, parameters"),
    "elastic pendulum": (_model("elastic_pendulum"), "diagonal, depends on positions, parameters"),
    "chain": (_model("chain", links=7), "dense, depends on positions, parameters"),
    "elastic chain": (_model("elastic_chain", links=5), "diagonal, depends on parameters"),
    "slide": (hl.models.sphere_slide, "diagonal, depends on parameters"),
    "car with trailers": (lambda: hl.models.car_with_trailers(4), "dense, depends on positions, parameters"),
    "snakeboard": (hl.models.driven_snakeboard, "diagonal, depends on parameters"),
    "cart with pendulums": (
        _particles(_cart_with_pendulums, [f"q{i}" for i in range(8)]),
        "arrow (diagonal but for 1 of the coordinates), depends on positions",
    ),
    "pairs of bodies": (
        _particles(_pairs_of_bodies, [f"q{i}" for i in range(12)]),
        "block-diagonal (4 blocks of at most 3), depends on positions",
    ),
    "finite elements": (
        _flat(lambda t, q, v: 0.5 * jnp.sum(v * v) + jnp.sum(v[1:] * v[:-1]) / 6 - jnp.sum(q**4)),
        "banded (1 beside the diagonal on each side), constant",
    ),
    "ring": (
        _flat(lambda t, q, v: 0.5 * jnp.sum(v * v) + jnp.dot(v, jnp.roll(v, 1)) / 6, 12),
        "banded (2 beside the diagonal on each side, in another order of the coordinates), constant",
    ),
    "relativistic": (
        _flat(lambda t, q, v: -jnp.sum(jnp.sqrt(1 - 0.01 * jnp.sum(v.reshape(-1, 2) ** 2, axis=1)))),
        "block-diagonal (5 blocks of at most 2), depends on velocities",
    ),
    "rotating frame": (
        _flat(lambda t, q, v: 0.5 * jnp.sum((v + 0.3 * q[::-1]) ** 2) - jnp.sum(q**2)),
        "diagonal, constant",
    ),
    "growing masses": (
        _flat(lambda t, q, v: 0.5 * jnp.sum((1 + t * jnp.arange(1.0, 11)) * v * v)),
        "diagonal, depends on the time",
    ),
    "tiny coupling": (_flat(lambda t, q, v: 0.5 * jnp.sum(v * v) + 1e-14 * jnp.sum(v) ** 2), "dense, constant"),
    "tiny coupling by a distance": (
        _flat(lambda t, q, v: 0.5 * jnp.sum(v * v) + 1e-12 * jnp.linalg.norm(1 + v - q)),
        "dense, depends on positions, velocities",
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_structure_is_exactly_that_of_the_hessian(name):
    make, words = SYSTEMS[name]
    system = make()
    found = system.structure
    held = system.constraints.equations.total  # those of the table act on most coordinates
    conditions = f"; {held} conditions, coupled to most coordinates" if held else ""
    assert str(found) == f"{words}, {system.space.dim} coordinates{conditions}"
    whole, depends = _of_hessian(system, seed=3)
    np.testing.assert_array_equal(_pattern(system), whole)
    assert [x for x in found.depends if x != "p"] == depends
    assert not np.any(whole & ~_allowed(found))


MOVEMENTS = (  # of the elements of an array, of v as of their numbers
    lambda x: x,
    lambda x: x[jnp.asarray([3, 7, 0, 9, 1, 4, 8, 2, 6, 5])],
    lambda x: jnp.roll(x, 3),
    lambda x: jnp.concatenate([x[4:], x[:4]])[::-1],
    lambda x: x.reshape(2, -1).T.reshape(-1),
    lambda x: jnp.stack([x[k] for k in range(N - 1, -1, -1)]),
)


def _random_lagrangian(seed, through):
    """Products of random pairs of components of `through(v)`, with factors that can depend on q and t."""
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 12))
    pairs = np.sort(random.integers(0, N, size=(count, 2)), axis=1)
    weights = random.uniform(0.5, 1.5, count)
    factor = FACTORS[seed % len(FACTORS)]
    places = random.integers(0, N, count)

    def lagrangian(t, q, v):
        u = through(v)
        scale = {"constant": 1.0, "q": 2 + jnp.cos(q[places]), "t": 2 + jnp.sin(t)}[factor]
        mixed = jnp.sum(weights * scale * u[pairs[:, 0]] * u[pairs[:, 1]])
        return 0.5 * jnp.sum(v * v) + mixed - jnp.sum(jnp.cos(q - jnp.roll(q, 1)))

    return lagrangian, pairs, [] if factor == "constant" or not count else [factor]


@pytest.mark.parametrize("seed", range(18))
def test_random_couplings_are_found_through_movements_of_data(seed):
    """The pattern is the one drawn, in the order of the coordinates, and that of the Hessian."""
    moved = MOVEMENTS[seed % len(MOVEMENTS)]
    lagrangian, pairs, depends = _random_lagrangian(seed, moved)
    order = np.asarray(moved(jnp.arange(N)))
    drawn = np.eye(N, dtype=bool)
    rows, columns = order[pairs].T
    drawn[rows, columns] = drawn[columns, rows] = True
    system = _flat(lagrangian)()
    whole, changing = _of_hessian(system, seed)
    np.testing.assert_array_equal(_pattern(system), drawn)
    np.testing.assert_array_equal(whole, drawn)
    assert list(system.structure.depends) == changing == depends
    assert not np.any(drawn & ~_allowed(system.structure))


HIDING = (
    lambda v, turn: (turn @ v) ** 2,
    lambda v, turn: (turn.T @ (turn @ v) + 1e-13 * jnp.cumsum(v)) ** 2,
    lambda v, turn: jnp.einsum("ij,j->i", turn, v[::-1]) ** 2,
    lambda v, turn: v + 1e-14 * jnp.sort(v) ** 3 * v,
    lambda v, turn: jax.lax.scan(lambda c, x: (0.5 * c + x, c * x), 1.0, v)[1],
    lambda v, turn: jnp.linalg.solve(turn, v) ** 2,
)


@pytest.mark.parametrize("seed", range(len(HIDING)))
def test_a_hidden_dense_coupling_is_never_taken_for_sparse(seed):
    turn, weights = np.linalg.qr(np.random.default_rng(seed).normal(size=(N, N)))[0], np.arange(1.0, N + 1)
    system = _flat(lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.01 * jnp.sum(weights * HIDING[seed](v, turn)))()
    whole, changing = _of_hessian(system, seed)
    assert np.count_nonzero(whole) > N  # the coupling is there
    assert not np.any(whole & ~_pattern(system))
    assert not np.any(whole & ~_allowed(system.structure))
    assert set(changing) <= set(system.structure.depends)


def _of_hessian(system, seed):
    """Which entries differ from zero at some of several random states, and whether they change with t, q or v."""
    n = system.space.dim
    random = np.random.default_rng(seed)
    t, q, v = random.uniform(-0.7, 0.7, (3, 5, n))
    t = t[:, 0]
    for fixed, first in ((t, 2), (q, 3), (v, 4)):  # states 0 and 1 differ in all, 2 from 0 in t alone, and so on
        fixed[[k for k in (2, 3, 4) if k != first]] = fixed[0]
    hessian = jax.jit(jax.vmap(jax.hessian(system.raw_lagrangian, argnums=2)))
    found = np.asarray(hessian(*map(jnp.asarray, (t, q, v))))
    size = np.max(np.abs(found))
    changing = [
        name for name, k in zip("tqv", (2, 3, 4), strict=True) if np.any(np.abs(found[k] - found[0]) > 1e-14 * size)
    ]
    return np.any(found != 0, axis=0), changing


def _pattern(system):
    shapes = [jax.ShapeDtypeStruct(x.shape, float) for x in (np.zeros(()), *2 * [np.zeros(system.space.dim)])]
    shapes += [jax.ShapeDtypeStruct(np.shape(x), float) for x in jax.tree.leaves(system.last)]
    found = hessian_pattern(system.lagrangian, shapes, 2, 10**6)
    assert found is not None
    return found.matrix.toarray()


def _allowed(structure: MassStructure):
    """The entries that a solve with this structure takes into account."""
    n = structure.size
    place = np.empty(n, int)
    place[structure.permutation] = np.arange(n)
    if structure.kind in ("diagonal", "banded"):
        return np.abs(place[:, None] - place[None]) <= structure.width
    if structure.kind == "block-diagonal":
        block = np.searchsorted(structure.block_starts, place, side="right")
        return block[:, None] == block[None]
    if structure.kind == "arrow":
        allowed = np.eye(n, dtype=bool)
        allowed[structure.border_places] = allowed[:, structure.border_places] = True
        return allowed
    return np.ones((n, n), bool)
