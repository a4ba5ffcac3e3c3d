"""The rotations of R^n, for any n."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from holonomy.spaces import axes, validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.group import AbstractGroup
from holonomy.spaces.smooth import root
from holonomy.types import Local, LocalLike, Matrix, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_ROOTS = 4
_POLAR_STEPS = 14
_ARTANH_TERMS = 10
_EXP_TERMS = 19
_SQUARINGS = 5


class SO(AbstractGroup):
    r"""\(SO(n)\): a rotation is its matrix \(R\), row by row in an array of length \(n^2\).

    \(\langle RA, RB\rangle = \frac12\mathrm{tr}(A^\top B)\) for skew A, B: a turn by an angle in one plane has that
    angle for its length. The metric is invariant from both sides. An element of the Lie algebra is the array of entries
    \(A_{ji}\), i < j, one for each plane, \(e_i\) carried towards \(e_j\). The chart at R is Cayley's,
    \(y \mapsto R(1 - A/2)^{-1}(1 + A/2)\). Killing fields: `rotate_xy`, ... from the left, `body_xy`, ... from the
    right. For n = 3 `SO3`, with quaternions, is faster. `log` fails where a plane is turned by
    exactly half a turn, and loses digits in proportion as a turn comes near to it (half of them at a gap of 1e-8).
    """

    n: int = eqx.field(static=True)

    def __init__(self, n: int):
        if not validation.is_count(n) or n < 2:
            raise ValueError(f"SO needs the dimension of the space it turns, an integer of at least 2, but got {n!r}.")
        self.n = int(n)

    @property
    def dim(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def point_dim(self) -> int:
        return self.n**2

    @property
    def flat_chart(self) -> bool:
        return False

    @property
    def identity(self) -> Point:
        return jnp.eye(self.n).reshape(-1)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        r, a = self._matrix(self._point(x)), self.hat(self._local(y)) / 2.0
        one = jnp.eye(self.n, dtype=a.dtype)
        return (self._nearest(r) @ jnp.linalg.solve(one - a, one + a)).reshape(-1)

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        r, s = self._matrix(self._point(x)), self._matrix(self._point(point, "point"))
        # (Q + 1)^-1 (Q - 1) with Q = R^T S: both formed from the difference S - R
        q_less = r.T @ (s - r)
        return self.vee(2.0 * jnp.linalg.solve(2.0 * jnp.eye(self.n) + q_less, q_less))

    def project(self, x: PointLike) -> Point:
        """The orthogonal factor of the polar decomposition; a reflection has no near rotation and gives NaN."""
        m = self._matrix(self._array(x))
        near = self._nearest(m)
        return jnp.where(jnp.linalg.det(near) > 0, near, jnp.nan).reshape(-1)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        r, m = self._matrix(self._point(x)), self._matrix(self._array(v, "v"))
        a = r.T @ m
        return (r @ (a - a.T) / 2.0).reshape(-1)

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        return 0.5 * jnp.sum(self._vector(x, u, "u") * self._vector(x, v))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        xi = self._between(self._point(x), self._point(y, "y"))
        return root(jnp.sum(xi * xi))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        r, m = self._matrix(x), self._matrix(self._vector(x, v))
        return (r @ _expm(_skew(r.T @ m))).reshape(-1)

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        r = self._matrix(x)
        if validation.known(x, y):
            q = np.asarray(x).reshape(self.n, self.n).T @ np.asarray(y).reshape(self.n, self.n)
            if np.abs(np.linalg.eigvals(q) + 1.0).min() < 1e-7:
                raise ValueError(
                    "x and y differ by a half turn in some plane, so several shortest geodesics of SO(n) join them and "
                    "log is not defined. Turn one of them slightly to say which way you mean."
                )
        return (r @ self.hat(self._between(x, y))).reshape(-1)

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        r"""\(R e^{A/2} B e^{A/2}\) for \(v = RA\), \(w = RB\)."""
        x = self._point(x)
        r = self._matrix(x)
        a, b = _skew(r.T @ self._matrix(self._vector(x, v))), _skew(r.T @ self._matrix(self._vector(x, w, "w")))
        half = _expm(a / 2.0)
        return (r @ half @ b @ half).reshape(-1)

    def random(self, key: PRNGKeyArray) -> Point:
        q, r = jnp.linalg.qr(jax.random.normal(key, (self.n, self.n)))
        q = q * jnp.sign(jnp.diagonal(r))[None, :]  # uniform among orthogonal matrices
        flip = jnp.ones(self.n).at[0].set(jnp.sign(jnp.linalg.det(q)))
        return (q * flip[None, :]).reshape(-1)

    def killing(self) -> dict[str, Field]:
        fields: dict[str, Field] = {}
        for k, (plane, *_) in enumerate(axes.planes(self.n)):
            a = self.hat(jnp.eye(self.dim)[k])
            fields[f"rotate_{plane}"] = lambda x, a=a: (a @ self._matrix(x)).reshape(-1)
            fields[f"body_{plane}"] = lambda x, a=a: (self._matrix(x) @ a).reshape(-1)
        return fields

    def isometries(self) -> dict[str, Flow]:
        flows: dict[str, Flow] = {}
        for k, (plane, *_) in enumerate(axes.planes(self.n)):
            a = self.hat(jnp.eye(self.dim)[k])
            flows[f"rotate_{plane}"] = lambda s, x, a=a: (_expm(jnp.asarray(s) * a) @ self._matrix(x)).reshape(-1)
            flows[f"body_{plane}"] = lambda s, x, a=a: (self._matrix(x) @ _expm(jnp.asarray(s) * a)).reshape(-1)
        return flows

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────

    def compose(self, g: PointLike, h: PointLike) -> Point:
        return (self.matrix(g) @ self.matrix(h)).reshape(-1)

    def inverse(self, g: PointLike) -> Point:
        return self.matrix(g).T.reshape(-1)

    def lift(self, g: PointLike, xi: LocalLike) -> Vector:
        return (self.matrix(g) @ self.hat(xi)).reshape(-1)

    def body_velocity(self, g: PointLike, v: VectorLike) -> Local:
        return self.vee(self.matrix(g).T @ self.matrix(v))

    def group_exp(self, xi: LocalLike) -> Point:
        return _expm(self.hat(xi)).reshape(-1)

    def group_log(self, g: PointLike) -> Local:
        return self._between(self.identity, validation.as_array(g))

    def matrix(self, g: PointLike) -> Matrix:
        return self._matrix(self._array(g, "g"))

    def hat(self, xi: LocalLike) -> Matrix:
        xi = validation.as_array(xi)
        i, j = np.triu_indices(self.n, 1)
        lower = jnp.zeros((self.n, self.n), xi.dtype).at[j, i].set(xi)
        return lower - lower.T

    def vee(self, matrix: Matrix) -> Local:
        i, j = np.triu_indices(self.n, 1)
        m = validation.as_array(matrix)
        return ((m - m.T) / 2.0)[j, i]

    # ── inside ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _matrix(self, x: Point) -> Matrix:
        return x.reshape(self.n, self.n)

    def _nearest(self, m: Matrix) -> Matrix:
        # Newton's iteration for the polar factor of a matrix that is nearly orthogonal; quadratic, no singular vectors
        for _ in range(3):
            m = 0.5 * (m + jnp.linalg.inv(m).T)
        return m

    def _between(self, x: Point, y: Point) -> Local:
        r"""\(\log(X^\top Y)\): square roots until near the identity, then \(2\,\mathrm{artanh}\) of the Cayley
        transform.

        The square root of an orthogonal Q is the polar factor of 1 + Q. The first transform is taken from Y - X, so
        that near rotations keep their digits.
        """
        one = jnp.eye(self.n, dtype=x.dtype)
        less = self._matrix(x).T @ (self._matrix(y) - self._matrix(x))

        def halve(less: Matrix, _: None) -> tuple[Matrix, None]:
            # q^2 = 1 + less, so q - 1 = (q + 1)^-1 less: no digits lost by subtracting the identity
            return jnp.linalg.solve(one + _polar(2.0 * one + less), less), None

        # loops, since unrolled and differentiated they would take minutes to compile
        less = jax.lax.scan(halve, less, None, length=_ROOTS)[0]
        c = jnp.linalg.solve(2.0 * one + less, less)
        square = c @ c

        def add(total: Matrix, factor: Array) -> tuple[Matrix, None]:
            return factor * one + square @ total, None

        factors = 1.0 / (2.0 * jnp.arange(_ARTANH_TERMS, dtype=x.dtype)[::-1] + 1.0)
        return self.vee(2.0 ** (_ROOTS + 1) * c @ jax.lax.scan(add, jnp.zeros_like(c), factors)[0])


def _polar(m: Matrix) -> Matrix:
    """The orthogonal polar factor, by Newton's iteration scaled to speed up nearly singular matrices."""

    def step(m: Matrix, _: None) -> tuple[Matrix, None]:
        inverse = jnp.linalg.inv(m)
        scale = jnp.sqrt(jnp.linalg.norm(inverse) / jnp.linalg.norm(m))
        return 0.5 * (scale * m + inverse.T / scale), None

    return jax.lax.scan(step, m, None, length=_POLAR_STEPS)[0]


def _expm(a: Matrix) -> Matrix:
    """The rotation exp(a) of a skew matrix: its power series at a/32, squared five times; for |a| up to 50."""
    one, part = jnp.eye(a.shape[0], dtype=a.dtype), a / 2.0**_SQUARINGS

    def add(total: Matrix, k: Array) -> tuple[Matrix, None]:
        return one + part @ total / k, None

    terms = jnp.arange(_EXP_TERMS, 0, -1, dtype=a.dtype)
    m = jax.lax.scan(add, one, terms)[0]
    return jax.lax.scan(lambda m, _: (m @ m, None), m, None, length=_SQUARINGS)[0]


def _skew(m: Matrix) -> Matrix:
    return (m - m.T) / 2.0
