"""Curvature against closed forms, against exact rational arithmetic, and against the identities it must satisfy."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from holonomy.geometry import Embedding, curvature
from holonomy.geometry.metric import christoffel
from holonomy.spaces import SO3, Hyperbolic, Inhomogeneous, Product, Sphere


def sphere(q: jax.Array) -> jax.Array:
    return jnp.diag(jnp.stack([jnp.full((), 4.0), 4.0 * jnp.sin(q[0]) ** 2]))


def torus(q: jax.Array) -> jax.Array:
    """Radii 2 and 0.7."""
    return jnp.diag(jnp.stack([jnp.full((), 0.49), (2.0 + 0.7 * jnp.cos(q[0])) ** 2]))


def polar_plane(q: jax.Array) -> jax.Array:
    return jnp.diag(jnp.stack([jnp.ones(()), q[0] ** 2]))


def inhomogeneous(q: jax.Array) -> jax.Array:
    return (q @ q + 2.0) * jnp.eye(q.shape[0])


def coefficients() -> np.ndarray:
    """A symmetric matrix of quadratic polynomials in 4 variables, positive definite near the origin."""
    rng = np.random.default_rng(11)
    c = rng.integers(-3, 4, size=(4, 4, 15))
    c = c + c.transpose(1, 0, 2)
    c[..., 0] += 20 * np.eye(4, dtype=int)
    return c


C = coefficients()
PAIRS = list(itertools.combinations_with_replacement(range(4), 2))


def polynomial(q: jax.Array) -> jax.Array:
    monomials = jnp.stack([jnp.ones(()), *q, *(q[i] * q[j] for i, j in PAIRS)])
    return jnp.asarray(C, float) @ monomials


POINT = [sympy.Rational(1, 3), sympy.Rational(-1, 4), sympy.Rational(1, 5), sympy.Rational(2, 7)]


def exact_riemann() -> tuple[np.ndarray, np.ndarray]:
    """R_ijkl from second derivatives of the metric, a formula the library does not use, in rational arithmetic."""
    q = sympy.symbols("a b c d")
    monomials = [sympy.Integer(1), *q, *(q[i] * q[j] for i, j in PAIRS)]
    at = dict(zip(q, POINT, strict=True))
    entry = [[sum(int(k) * m for k, m in zip(C[i, j], monomials, strict=True)) for j in range(4)] for i in range(4)]
    g = sympy.Matrix(4, 4, lambda i, j: entry[i][j].subs(at))
    d1 = [[[sympy.diff(entry[i][j], q[k]).subs(at) for k in range(4)] for j in range(4)] for i in range(4)]
    d2 = [
        [[[sympy.diff(entry[i][j], q[k], q[m]) for m in range(4)] for k in range(4)] for j in range(4)]
        for i in range(4)
    ]
    lower = [[[(d1[m][j][k] + d1[m][k][j] - d1[j][k][m]) / 2 for k in range(4)] for j in range(4)] for m in range(4)]
    inverse = g.inv()
    upper = [
        [[sum(inverse[i, m] * lower[m][j][k] for m in range(4)) for k in range(4)] for j in range(4)] for i in range(4)
    ]
    r = np.empty((4, 4, 4, 4))
    for i, j, k, m in itertools.product(range(4), repeat=4):
        second = d2[i][m][j][k] + d2[j][k][i][m] - d2[i][k][j][m] - d2[j][m][i][k]
        quadratic = sum(lower[n][j][k] * upper[n][i][m] - lower[n][j][m] * upper[n][i][k] for n in range(4))
        r[i, j, k, m] = float(sympy.Rational(second, 2) + quadratic)
    return r, np.array(g.tolist(), float)


def test_a_random_polynomial_metric_in_four_dimensions() -> None:
    c, q = curvature(polynomial), jnp.array([float(a) for a in POINT])
    exact, g = exact_riemann()
    np.testing.assert_allclose(c.metric_at(q), g, rtol=1e-14)
    riemann = np.einsum("im,mjkl->ijkl", g, np.asarray(c.riemann(q)))
    scale = np.abs(exact).max()
    np.testing.assert_allclose(riemann, exact, atol=2e-14 * scale)
    inverse = np.linalg.inv(g)
    ricci = np.einsum("ik,ijkl->jl", inverse, exact)
    np.testing.assert_allclose(c.ricci(q), ricci, atol=1e-14 * scale)
    np.testing.assert_allclose(c.scalar(q), np.einsum("jl,jl->", inverse, ricci), rtol=1e-12)
    rng = np.random.default_rng(0)
    for u, v in rng.normal(size=(3, 2, 4)):
        area = (u @ g @ u) * (v @ g @ v) - (u @ g @ v) ** 2
        expected = np.einsum("ijkl,i,j,k,l->", exact, u, v, u, v) / area
        np.testing.assert_allclose(c.sectional(q, u, v), expected, rtol=1e-11)


def test_both_bianchi_identities_and_symmetries() -> None:
    c, q = curvature(polynomial), jnp.array([0.1, -0.2, 0.3, 0.05])
    r = np.asarray(c.riemann(q))
    size = np.abs(r).max()
    assert np.abs(r + r.transpose(0, 2, 3, 1) + r.transpose(0, 3, 1, 2)).max() < 1e-14 * size
    lower = np.einsum("im,mjkl->ijkl", np.asarray(polynomial(q)), r)
    assert np.abs(lower + lower.transpose(1, 0, 2, 3)).max() < 1e-13 * np.abs(lower).max()
    assert np.abs(lower - lower.transpose(2, 3, 0, 1)).max() < 1e-13 * np.abs(lower).max()
    # the second: the covariant derivative of R, cyclic in the last three indices
    gamma, d = np.asarray(c.christoffel(q)), np.asarray(jax.jacfwd(c.riemann)(q))
    nabla = (
        d
        + np.einsum("imp,pjkl->ijklm", gamma, r)
        - np.einsum("pmj,ipkl->ijklm", gamma, r)
        - np.einsum("pmk,ijpl->ijklm", gamma, r)
        - np.einsum("pml,ijkp->ijklm", gamma, r)
    )
    cyclic = nabla + nabla.transpose(0, 1, 3, 4, 2) + nabla.transpose(0, 1, 4, 2, 3)
    assert np.abs(cyclic).max() < 1e-13 * np.abs(nabla).max()
    # metric compatibility
    dg = np.asarray(jax.jacfwd(polynomial)(q))
    g = np.asarray(polynomial(q))
    compatible = dg - np.einsum("mki,mj->ijk", gamma, g) - np.einsum("mkj,im->ijk", gamma, g)
    assert np.abs(compatible).max() < 1e-14 * np.abs(dg).max()


def test_surfaces_with_known_curvature() -> None:
    for t in (0.3, 1.2, 2.5):
        q = jnp.array([t, 0.4])
        np.testing.assert_allclose(curvature(sphere).gaussian(q), 0.25, rtol=1e-13)
        np.testing.assert_allclose(curvature(torus).gaussian(q), np.cos(t) / (0.7 * (2 + 0.7 * np.cos(t))), rtol=1e-12)
        np.testing.assert_allclose(curvature(sphere).scalar(q), 0.5, rtol=1e-13)


def test_flat_plane_in_polar_coordinates() -> None:
    c, q = curvature(polar_plane), jnp.array([1.3, 0.4])
    gamma = np.asarray(c.christoffel(q))
    np.testing.assert_allclose(gamma[0, 1, 1], -1.3, rtol=1e-15)
    np.testing.assert_allclose(gamma[1, 0, 1], 1 / 1.3, rtol=1e-15)
    assert np.abs(c.riemann(q)).max() < 1e-15


def test_inhomogeneous_scalar_curvature() -> None:
    for n in (2, 3, 4):
        q = jnp.arange(1.0, n + 1.0) / 3.0
        r = float(q @ q)
        expected = -(n - 1) * ((3 * n - 6) * r + 4 * n) / (r + 2) ** 3
        np.testing.assert_allclose(curvature(inhomogeneous).scalar(q), expected, rtol=1e-13)
    q = jnp.array([0.2, -0.5, 0.9])
    np.testing.assert_allclose(Inhomogeneous(3).curvature.scalar(q), curvature(inhomogeneous).scalar(q), rtol=1e-13)


@pytest.mark.parametrize(
    ("space", "x", "expected"),
    [
        (Sphere(2, 2.0), [0.0, 0.0, -2.0], 0.25),
        (Hyperbolic(2, 0.5), [3.0, 4.0, np.sqrt(25.25)], -4.0),
        (SO3(), [0.0, 0.6, 0.0, 0.8], 0.25),
    ],
)
def test_spaces_of_constant_curvature(space, x, expected: float) -> None:
    a, b = jax.random.split(jax.random.PRNGKey(1))
    x = jnp.asarray(x)
    u, v = space.random_tangent(a, x), space.random_tangent(b, x)
    np.testing.assert_allclose(space.curvature.sectional(x, u, v), expected, rtol=1e-12)


def test_a_product_is_flat_across_its_factors() -> None:
    space = Product(Hyperbolic(2), Sphere(2, 0.5))
    x = space.random(jax.random.PRNGKey(0))
    h, s = jnp.eye(4)[0], jnp.eye(4)[3]
    frame = space.frame(x)
    sectional = space.curvature.sectional
    np.testing.assert_allclose(sectional(x, frame @ h, frame @ s), 0.0, atol=1e-13)
    np.testing.assert_allclose(sectional(x, frame @ h, frame @ jnp.eye(4)[1]), -1.0, rtol=1e-12)
    np.testing.assert_allclose(sectional(x, frame @ s, frame @ jnp.eye(4)[2]), 4.0, rtol=1e-12)


def test_sectional_curvature_in_twenty_dimensions_builds_no_large_array() -> None:
    n = 20
    c = curvature(inhomogeneous)
    q, u, v = (jax.random.normal(k, (n,)) for k in jax.random.split(jax.random.PRNGKey(2), 3))
    jaxpr = jax.make_jaxpr(c.sectional)(q, u, v)

    def sizes(closed) -> list[int]:
        found = []
        for equation in closed.eqns:
            found += [int(np.prod(o.aval.shape)) for o in equation.outvars]
            for value in equation.params.values():
                inner = getattr(value, "jaxpr", None)
                if inner is not None:
                    found += sizes(getattr(inner, "jaxpr", inner))
        return found

    assert max(sizes(jaxpr.jaxpr)) <= n**2
    value = jax.jit(c.sectional)(q, u, v)
    # conformally flat with factor f = |q|^2 + 2: a closed form for orthonormal u, v
    f = float(q @ q) + 2.0
    e = u / jnp.linalg.norm(u)
    w = v - (v @ e) * e
    w = w / jnp.linalg.norm(w)
    slope, radial = np.array([float(q @ e), float(q @ w)]) / f, float(q @ q) / f**2
    hessian = 2.0 / f - 2.0 * (slope**2).sum()
    np.testing.assert_allclose(value, -(hessian + radial - (slope**2).sum()) / f, rtol=1e-12)


def test_contracted_and_full_connection_agree() -> None:
    q = jnp.array([0.1, -0.2, 0.3, 0.05])
    u, v, w = (jnp.asarray(a) for a in np.random.default_rng(1).normal(size=(3, 4)))
    c = curvature(polynomial)
    full = np.einsum("ijkl,j,k,l->i", c.riemann(q), w, u, v)
    np.testing.assert_allclose(c.operator(q, u, v, w), full, rtol=1e-11, atol=1e-14)
    assert christoffel(polynomial, q).shape == (4, 4, 4)


def test_bad_metrics_are_refused_with_a_sentence() -> None:
    q = jnp.array([0.0, 1.0])
    with pytest.raises(ValueError, match="not positive definite at q"):
        curvature(polar_plane).christoffel(q)
    with pytest.raises(ValueError, match="not finite"):
        curvature(lambda q: jnp.diag(1.0 / q)).gaussian(q)
    with pytest.raises(ValueError, match="not symmetric"):
        curvature(lambda q: jnp.array([[1.0, 0.2], [0.0, 1.0]])).scalar(q)
    with pytest.raises(ValueError, match=r"shape \(3, 3\).*expected \(2, 2\)"):
        curvature(lambda q: jnp.eye(3)).riemann(q)
    with pytest.raises(ValueError, match="belongs to surfaces"):
        curvature(polynomial).gaussian(jnp.zeros(4))
    with pytest.raises(ValueError, match=r"u has shape \(3,\)"):
        curvature(sphere).sectional(jnp.ones(2), jnp.ones(3), jnp.ones(2))
    # under jit nothing raises
    assert not np.all(np.isfinite(jax.jit(curvature(polar_plane).christoffel)(q)))


def latitude(q: jax.Array) -> jax.Array:
    """An ellipsoid by latitude and longitude."""
    flat = jnp.cos(q[0])
    return jnp.stack([flat * jnp.cos(q[1]), 1.5 * flat * jnp.sin(q[1]), 0.6 * jnp.sin(q[0])])


def colatitude(q: jax.Array) -> jax.Array:
    flat = jnp.sin(q[0])
    return jnp.stack([flat * jnp.cos(q[1]), 1.5 * flat * jnp.sin(q[1]), 0.6 * jnp.cos(q[0])])


@pytest.mark.parametrize("surface", [latitude, colatitude])
@pytest.mark.parametrize("longitude", [0.0, 0.3])
def test_curvature_at_a_pole_of_the_coordinates_is_refused(surface, longitude: float) -> None:
    """Also where the sine of a rounded multiple of pi leaves the metric positive definite in floating point."""
    e = Embedding(surface)
    for pole in (np.pi / 2, -np.pi / 2) if surface is latitude else (0.0, np.pi, -np.pi):
        for found in (e.curvature, curvature(e.metric)):
            for name in ("gaussian", "scalar", "riemann", "christoffel"):
                with pytest.raises(ValueError, match=r"not positive definite|not resolved"):
                    getattr(found, name)([pole, longitude])


def test_curvature_near_a_pole_loses_digits_as_documented() -> None:
    e = Embedding(colatitude)
    # at the pole of the ellipsoid with half-axes 1, 1.5 and 0.6
    exact = 0.6**2 / 1.5**2
    for distance in (1e-3, 1e-5):
        assert float(e.curvature.gaussian([distance, 0.3])) == pytest.approx(exact, abs=2.0 * distance**2 + 1e-12)
        error = abs(float(curvature(e.metric).gaussian([distance, 0.3])) - exact)
        assert error < 10.0 * distance**2 + 1e-14 / distance**2


def test_units_do_not_make_a_metric_degenerate() -> None:
    """Lengths in 1e-12 and in 1e12 of the unit, beside each other: the curvature of a sphere all the same."""
    for scale in (1e-12, 1e12):
        g = curvature(lambda q, scale=scale: jnp.diag(jnp.stack([jnp.ones(()), scale**2 * jnp.sin(q[0]) ** 2])))
        assert float(g.gaussian([1.1, 0.4 / scale])) == pytest.approx(1.0, rel=1e-12)
