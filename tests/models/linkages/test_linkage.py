"""The sphere of configurations of a linkage: map, inverse, masses, metric, curvature at single points."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models.linkages import topology
from holonomy.trace.native import compiler

LINK = hl.Linkage(rods=4, base=3.0)
NORTH = np.array([1.0, 0.0, 0.0])

# L, (phi, t), (rod, hinge mass), (E, F, G), K, |II|^2: from 40-digit arithmetic
TABLE = [
    (
        3.0,
        (0.4, 0.7),
        (0.0, 1.0),
        (1.916154366997657, 0.6062897357652295, 1.52956324058482),
        0.4309808400281598,
        6.498905319094178,
    ),
    (
        3.0,
        (0.4, 0.7),
        (1.0, 1.0),
        (3.377261341779288, 1.279391018476954, 2.770510301662064),
        0.2117734339963807,
        4.321026661531525,
    ),
    (3.0, (0.0, 0.0), (0.0, 1.0), (2.954079455958608, 1.849775879254698, 3.474859956698913), 3 / 4, 15 / 2),
    (
        3.5,
        (0.0, 0.0),
        (0.0, 1.0),
        (1.281879532510435, 0.6870230683406125, 1.076305774782954),
        225 / 169,
        9.615449639118278,
    ),
]


def spread(rods: int, count: int = 10_000) -> np.ndarray:
    """Points of the sphere: random ones, ones near a pole of every kind, poles and straight elbows exactly."""
    random = np.random.default_rng(rods)
    x = random.normal(size=(count, rods - 1))
    x[:400] *= 10.0 ** random.uniform(-14, 0, size=(400, rods - 1))
    kept = random.integers(0, 2, size=(400, rods - 1))
    kept[np.sum(kept, axis=1) == 0, 0] = 1
    x[400:800] *= kept
    x[800 : 800 + rods - 1] = np.eye(rods - 1)
    x[900 : 900 + rods - 1] = -np.eye(rods - 1)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@jax.jit
def there_and_back(link: hl.Linkage, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    h = jax.vmap(link.hinges)(x)
    return h, jax.vmap(link.from_hinges)(h)


@pytest.mark.parametrize("rods", range(3, 9))
def test_rods_keep_their_length_and_the_map_has_an_inverse(rods: int) -> None:
    x = spread(rods)
    for base in (rods - 1.9, rods - 1.0, rods - 0.05):
        h, back = there_and_back(hl.Linkage(rods, base), x)
        ends = np.concatenate([np.zeros((len(x), 1, 2)), h, np.broadcast_to([base, 0.0], (len(x), 1, 2))], axis=1)
        assert np.abs(np.linalg.norm(np.diff(ends, axis=1), axis=2) - 1.0).max() < 1e-14
        assert np.abs(back - x).max() < 1e-12


def brioschi(surface, angles):
    """K from E, F, G and their derivatives, by Brioschi's determinants."""
    link = hl.Linkage(4, surface.base)
    link = jax.tree.unflatten(jax.tree.structure(link), jax.tree.leaves((surface.base, surface.masses)))
    g, d, dd = link.metric(angles), jax.jacfwd(link.metric)(angles), jax.jacfwd(jax.jacfwd(link.metric))(angles)
    e, f, h = g[0, 0], g[0, 1], g[1, 1]
    (eu, ev), (fu, fv), (gu, gv) = d[0, 0], d[0, 1], d[1, 1]
    corner = -0.5 * dd[0, 0, 1, 1] + dd[0, 1, 0, 1] - 0.5 * dd[1, 1, 0, 0]
    first = jnp.array([[corner, 0.5 * eu, fu - 0.5 * ev], [fv - 0.5 * gu, e, f], [0.5 * gv, f, h]])
    second = jnp.array([[0.0, 0.5 * ev, 0.5 * gu], [0.5 * ev, e, f], [0.5 * gu, f, h]])

    def det(m):
        return jnp.dot(m[0], jnp.cross(m[1], m[2]))

    return (det(first) - det(second)) / (e * h - f * f) ** 2


@pytest.mark.parametrize(("base", "angles", "mass", "metric", "k", "bending"), TABLE)
def test_metric_and_curvature_against_forty_digits(base, angles, mass, metric, k, bending) -> None:
    link = hl.Linkage(4, base, rod_mass=mass[0], hinge_mass=mass[1])
    g, x = link.metric(angles), link.from_angles(angles)
    np.testing.assert_allclose([g[0, 0], g[0, 1], g[1, 1]], metric, rtol=0, atol=1e-12)
    assert abs(link.curvature.gaussian(x) - k) < 1e-12
    compiled = compiler.compile(brioschi, (link.surface, np.zeros(2)))
    assert abs(compiled(link.surface, np.array(angles)) - k) < 1e-12
    assert abs(link.total_bending(x) - bending) < 1e-12


def test_metric_where_the_elbow_is_straight() -> None:
    g = LINK.metric([0.4, np.pi / 2])
    expected = [1.9143545256, 0.1660605918, 0.5659680632]
    np.testing.assert_allclose([g[0, 0], g[0, 1], g[1, 1]], expected, rtol=0, atol=1e-10)


@pytest.mark.proof
def test_the_pole_is_a_point_like_any_other() -> None:
    for pole in (NORTH, -NORTH):
        assert abs(LINK.curvature.gaussian(pole) - 143 / 35) < 1e-12
        assert abs(LINK.intrinsic_curvature.gaussian(pole) - 143 / 35) < 1e-12
        assert abs(LINK.total_bending(pole) - 128 / 7) < 1e-12


def third(surface, x, v):
    """The third derivative of the hinges along a great circle, by nested forward mode."""

    def hinges(s):
        return surface.hinges(x * jnp.cos(s) + v * jnp.sin(s))

    def slope(f):
        return lambda s: jax.jvp(f, (s,), (jnp.ones_like(s),))[1]

    return slope(slope(slope(hinges)))(jnp.zeros(()))


def test_derivatives_pass_through_poles_and_straight_elbows() -> None:
    """Where formulas could be 0/0, third derivatives along a curve are those of a polynomial through nearby points."""
    s = np.linspace(-0.03, 0.03, 9)
    for x, v in ((NORTH, [0.0, 0.6, 0.8]), ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]), ([0.6, 0.8, 0.0], [0.0, 0.0, 1.0])):
        x, v = np.array(x), np.array(v)
        exact = compiler.compile(third, (LINK.surface, x, v))(LINK.surface, x, v)
        nearby = [LINK.hinges(x * np.cos(a) + v * np.sin(a)) for a in s]
        fitted = np.polynomial.polynomial.polyfit(s, np.asarray(nearby).reshape(9, -1), 7)[3] * 6
        np.testing.assert_allclose(exact.reshape(-1), fitted, rtol=0, atol=2e-7)


def test_scalar_curvature_and_frames_agree_with_gauss() -> None:
    x = LINK.from_angles([0.4, 0.7])
    c, k = LINK.curvature, LINK.curvature.gaussian(x)
    frame = LINK.frame(x)
    u, v = frame[:, 0], 0.3 * frame[:, 0] + 2.0 * frame[:, 1]
    assert abs(LINK.inner(x, u, v) - 0.3) < 1e-14
    assert abs(LINK.inner(x, u, u) - 1.0) < 1e-14
    np.testing.assert_allclose(c.metric_at(x), np.eye(2), rtol=0, atol=1e-14)
    np.testing.assert_allclose(c.ricci(x), k * np.eye(2), rtol=0, atol=1e-13)
    assert abs(c.scalar(x) - 2 * k) < 1e-13
    assert abs(c.sectional(x, u, v) - k) < 1e-13
    np.testing.assert_allclose(c.operator(x, u, v, v), k * (4.09 * u - 0.3 * v), rtol=0, atol=1e-13)
    second = LINK.second(x)
    np.testing.assert_allclose(LINK.bending(x, u, v), 0.3 * second[0, 0] + 2.0 * second[0, 1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(LINK.mean(x), (second[0, 0] + second[1, 1]) / 2, rtol=0, atol=1e-14)


def test_the_last_angle_alone_moves_a_chain_of_three_rods() -> None:
    """h_tt is the metric of three rods on the base d(phi), with the masses that move."""
    hinge, rod = np.array([0.7, 1.1, 0.4]), np.array([0.2, 0.5, 0.9, 0.3])
    link = hl.Linkage(4, 2.7, rod, hinge)
    for phi in (-1.2, 0.0, 0.4, 1.5):
        p3 = link.hinges(link.from_angles([phi, 0.3]))[2]
        inner = hl.Linkage(3, float(np.hypot(*p3)), rod[:3], hinge[:2])
        for t in (0.0, 0.3, np.pi / 2, 4.0):
            assert abs(link.metric([phi, t])[1, 1] - inner.metric([t])[0, 0]) < 1e-12


def test_reflection_in_the_base_line_is_the_antipode() -> None:
    x = np.array([0.6, -0.48, 0.64])
    np.testing.assert_allclose(LINK.hinges(-x), np.asarray(LINK.hinges(x)) * np.array([1.0, -1.0]), rtol=0, atol=1e-15)


def test_masses_against_the_integral_over_every_rod() -> None:
    """A density 1 + 3s on rod 2, uniform rods elsewhere: kinetic energy by quadrature along the rods."""
    rod, hinge = np.array([0.4, 2.5, 0.0, 1.0]), np.array([0.3, 0.0, 2.0])
    first, second = rod / 2, rod / 3
    first[1], second[1] = 1 / 2 + 1.0, 1 / 3 + 3 / 4
    link = hl.Linkage(4, 3.2, rod, hinge, rod_moments=(first, second))
    v = np.random.default_rng(0).normal(size=(3, 2))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    s, weights = (nodes + 1) / 2, weights / 2
    ends = np.concatenate([np.zeros((1, 2)), v, np.zeros((1, 2))])
    total = np.sum(hinge[:, None] * v**2)
    for i in range(4):
        density = 1 + 3 * s if i == 1 else rod[i] * np.ones_like(s)
        along = (1 - s)[:, None] * ends[i] + s[:, None] * ends[i + 1]
        total += np.sum(weights * density * np.sum(along**2, axis=1))
    m = np.asarray(link.masses.matrix())
    assert abs(np.einsum("ij,ic,jc->", m, v, v) - total) < 1e-13
    uniform = hl.Linkage(4, 3.0, rod_mass=0.9, hinge_mass=0.2).masses.matrix()
    a, b = 2 * 0.9 / 3 + 0.2, 0.9 / 6
    np.testing.assert_allclose(uniform, [[a, b, 0], [b, a, b], [0, b, a]], rtol=0, atol=1e-15)


def bending(base, mass):
    """Total bending of four rods as a function of two of their numbers."""
    return hl.Linkage(4, base, mass, 1.0).total_bending(jnp.array([0.6, -0.48, 0.64]))


@pytest.mark.proof
def test_derivatives_by_base_and_mass() -> None:
    at = (np.array(3.0), np.array(0.5))
    slopes = compiler.compile(jax.jacfwd(bending, (0, 1)), at)(*at)
    h = 1e-5
    for i, step in enumerate(((h, 0.0), (0.0, h))):
        difference = (bending(3.0 + step[0], 0.5 + step[1]) - bending(3.0 - step[0], 0.5 - step[1])) / (2 * h)
        assert abs(slopes[i] - difference) < 1e-7 * abs(difference)


def test_angles_there_and_back() -> None:
    random = np.random.default_rng(3)
    for rods in (3, 4, 6):
        link = hl.Linkage(rods, rods - 1.2)
        angles = random.uniform(-1.5, 1.5, size=rods - 2)
        angles[-1] = random.uniform(0, 2 * np.pi)
        np.testing.assert_allclose(link.to_angles(link.from_angles(angles)), angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(LINK.to_angles(NORTH), [np.pi / 2, 0.0])
    assert np.all(np.isfinite(jax.jacfwd(LINK.to_angles)(NORTH)))
    assert 0 <= float(LINK.to_angles(np.array([0.6, -1e-17, 0.8]))[1]) < 2 * np.pi


def test_other_numbers_compile_nothing() -> None:
    x = spread(4, 1000)
    counts = []
    for base, rod, hinge in ((3.0, 0.0, 1.0), (2.5, 0.3, 1.0), (3.7, 1.0, [0.1, 0.2, 0.3])):
        link = hl.Linkage(4, base, rod, hinge)
        assert np.all(np.isfinite(link.fields(x)[0]))
        assert np.all(np.isfinite(link.hinges(x[0])))
        assert np.isfinite(link.curvature.gaussian(x[0]))
        counts.append(compiler.compilations())
    assert counts[0] == counts[1] == counts[2]


def test_fields_are_curvature_and_bending_at_each_row() -> None:
    x = spread(4, 1000)[395:405]
    k, bending = LINK.fields(x)
    for row, a, b in zip(x, k, bending, strict=True):
        assert abs(LINK.curvature.gaussian(row) - a) < 1e-12
        assert abs(LINK.total_bending(row) - b) < 1e-12
    traced = jax.jit(lambda y: LINK.fields(y)[0])(x[:2])
    np.testing.assert_allclose(traced, k[:2], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hl.Linkage(2, 1.0), "at least 3 rods"),
        (lambda: hl.Linkage(4, 4.5), "empty"),
        (lambda: hl.Linkage(4, 4.0), "single point"),
        (lambda: hl.Linkage(4, -1.0), "greater than 0"),
        (lambda: hl.Linkage(4, np.nan), "finite"),
        (lambda: hl.Linkage(4, 3.0, hinge_mass=-1.0), "must not be negative"),
        (lambda: hl.Linkage(4, 3.0, hinge_mass=0.0), "All masses are zero"),
        (lambda: hl.Linkage(4, 3.0, hinge_mass=[1.0, 0.0, 1.0]), "Hinge 2"),
        (lambda: hl.Linkage(4, 3.0, hinge_mass=[1.0, 2.0]), "one for each moving hinge"),
        (lambda: hl.Linkage(4, 3.0, 1.0, rod_moments=(0.5, 0.2)), "No rod"),
        (lambda: hl.Linkage(4, 1.0).hinges(NORTH), "genus 4"),
        (lambda: hl.Linkage(4, 2.0).hinges(NORTH), "not a manifold"),
        (lambda: hl.Linkage(3, 0.5).system("sphere"), "two separate circles"),
        (lambda: LINK.hinges(np.array([1.0, 1.0, 0.0])), "length 1.41"),
        (lambda: LINK.hinges(np.array([1.0, 0.0])), r"shape \(2,\)"),
        (lambda: LINK.from_hinges([[1.0, 0.0], [2.0, 0.0], [3.0, 0.5]]), "do not close"),
        (lambda: LINK.from_hinges([[np.nan, 0.0], [2.0, 0.0], [3.0, 0.5]]), "do not close"),
        (lambda: LINK.curvature.sectional(NORTH, NORTH, np.array([0.0, 1.0, 0.0])), "not tangent"),
        (lambda: LINK.from_angles([0.1]), "2 angles"),
        (lambda: LINK.system("road"), "route is one of"),
        (lambda: hl.Linkage(5, 4.0).curvature.gaussian(np.eye(4)[0]), "dimension 3"),
    ],
)
def test_mistakes_get_a_sentence(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_topology_outside_the_sphere() -> None:
    """Betti numbers of polygon spaces that are known: genus 4 for pentagons, the heptagon with equal sides."""
    assert topology.betti(4, 1.0) == (1, 8, 1)
    assert topology.betti(5, 2.0) == (1, 5, 5, 1)
    assert topology.betti(6, 1.0) == (1, 6, 30, 6, 1)
    assert topology.betti(4, 0.5) == topology.betti(4, 1.9)
    for rods in range(3, 9):
        assert topology.betti(rods, rods - 1.0) == (*([1] + [0] * (rods - 3)), 1)
