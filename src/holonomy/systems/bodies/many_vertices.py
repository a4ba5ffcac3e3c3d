r"""The flows of many vertices with springs in a space of constant curvature, one array for each component.

Arrays (components, vertices) let the compiler work on many vertices at once; `World.drift` and `World.kick`, which go
through the space's own functions vertex by vertex, are ten times slower there. With \(\kappa\) the sign of the
curvature, lengths in units of the radius and \(q = \sin^2(d/2)\), \(d^2/4\) or \(\sinh^2(d/2)\), a spring from x to y
pulls with

\[ k\Bigl(1 - \frac ld\Bigr)\log_x y, \qquad \log_x y = \frac{d}{2\sqrt{q(1-\kappa q)}}\,(y - x + 2\kappa q\,x). \]

Forces are summed over the neighbours of each vertex, without scattering.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.spaces import AbstractSpace, Euclidean, Hyperbolic, Sphere
from holonomy.spaces.smooth import arc, sine, versine
from holonomy.systems.bodies.body import Elements
from holonomy.types import AnyArray, Number, Point, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Components = Float[Array, "components vertices"]
Row = Float[Array, "1 n"]

FEWEST = 65  # vertices from which this pays
_PADDING = 4  # times the mean number of neighbours above which lists of neighbours are mostly empty
_SMALL, _TERMS = 0.04, 6  # squared angles below which so many terms of versine and sine are enough for round-off
_SHORT, _ARC_TERMS = 0.01, 8  # the same of the inverse sine
_VER = [1.0 / math.factorial(2 * k + 2) for k in range(_TERMS)]
_SIN = [1.0 / math.factorial(2 * k + 1) for k in range(_TERMS)]
_ARC = [math.comb(2 * k, k) / (4.0**k * (2 * k + 1)) for k in range(_ARC_TERMS)]


class Neighbours(eqx.Module):
    """The springs by their ends, and for each vertex its neighbours and the springs to them.

    Lists are filled up with the vertex itself and a spring without stiffness, which is the last.
    """

    first: Int[AnyArray, " springs"]
    second: Int[AnyArray, " springs"]
    vertices: Int[AnyArray, "slots vertices"]
    springs: Int[AnyArray, "slots vertices"]
    numbers: Float[AnyArray, "springs 2"]


def neighbours(space: AbstractSpace, count: int, springs: Elements | None) -> Neighbours | None:
    """The lists of neighbours, or None where these flows do not apply."""
    match space:
        case Euclidean() | Sphere(model="embedded") | Hyperbolic(model="hyperboloid"):
            pass
        case _:
            return None
    if springs is None or count < FEWEST:
        return None
    ends, size = springs.vertices, len(springs)
    here, there = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    degree = np.bincount(here, minlength=count)
    slots = int(degree.max())
    if slots * count > _PADDING * len(here) + 16 * count:
        return None
    order = np.argsort(here, kind="stable")
    slot = np.arange(len(here)) - np.repeat(np.cumsum(degree) - degree, degree)
    vertices = np.tile(np.arange(count), (slots, 1))
    which = np.full((slots, count), size)
    vertices[slot, here[order]] = there[order]
    which[slot, here[order]] = np.tile(np.arange(size), 2)[order]
    first, second, vertices, which = (a.astype(np.int32) for a in (ends[:, 0], ends[:, 1], vertices, which))
    return Neighbours(first, second, vertices, which, springs.numbers)


class ManyVertices(eqx.Module):
    """The drift and the kick of a world of springs, on arrays of components."""

    world: World
    lists: Neighbours

    @property
    def sign(self) -> int:
        """The sign of the curvature."""
        space = self.world.point_space
        return 0 if isinstance(space, Euclidean) else 1 if isinstance(space, Sphere) else -1

    @property
    def radius(self) -> Number:
        """The unit of length."""
        space = self.world.point_space
        return space.radius if isinstance(space, Sphere | Hyperbolic) else 1.0

    def enter(self, q: Point, v: Tangent) -> tuple[Components, Components]:
        """Positions and velocities by components, in units of the radius; of hyperboloids the spacelike ones."""
        rows = self.world.point_space.point_dim - (1 if self.sign < 0 else 0)
        return tuple((self.world.points(z)[:, :rows] / self.radius).T for z in (q, v))  # pyright: ignore[reportReturnType]

    def leave(self, q: Point, x: Components, u: Components) -> tuple[Point, Tangent]:
        """The arrays of the configuration; q has the frame that carries it."""
        if self.sign < 0:
            w = _height(x)
            x, u = jnp.concatenate([x, w]), jnp.concatenate([u, _dot(x, u) / w])
        rest = q[self.world.count * self.world.point_space.point_dim :]
        point, velocity = (self.radius * z.T.reshape(-1) for z in (x, u))
        return jnp.concatenate([point, rest]), jnp.concatenate([velocity, jnp.zeros_like(rest)])

    def drift(self, h: Number, x: Components, u: Components) -> tuple[Components, Components]:
        """Every vertex moved along its geodesic for the time h."""
        if self.sign == 0:
            return x + h * u, u
        square = _dot(u, u)
        if self.sign < 0:
            square = (square + _wedge(x, u)) / (1.0 + _dot(x, x))
        z = square * h * h
        sign = self.sign
        versines, sines = _where_small(z, _SMALL, lambda y: _near_drift(y, sign), lambda y: _far_drift(y, sign))
        fall, s = z * versines, h * sines
        # changes are added, as in `sphere_geodesic`
        point = x + (u * s - self.sign * x * fall)
        velocity = u - self.sign * (u * fall + x * (square * s))
        if self.sign > 0:  # stay on the sphere in long motions
            velocity = velocity - point * _dot(point, velocity)
        return point, velocity

    def kick(self, t: Number, x: Components, u: Components) -> Components:
        """The accelerations by the springs."""
        strength, chord = self._springs(x)
        total = jnp.zeros_like(x)
        for vertices, springs in zip(self.lists.vertices, self.lists.springs, strict=True):
            pull, q = _take(strength, springs), _take(chord, springs)
            total = total + pull * (_take(x, vertices) - x + (2.0 * self.sign) * q * x)
        return total / jnp.asarray(self.world.masses, x.dtype)[None]

    def _springs(self, x: Components) -> tuple[Row, Row]:
        r"""\(k(1 - l/d)\,d/(2\sqrt{q(1-\kappa q)})\) and q of each spring, and zeros for the one that is none."""
        a, b = _take(x, self.lists.first), _take(x, self.lists.second)
        stiffness, rest = jnp.asarray(self.lists.numbers, x.dtype).T[:, None]
        q = self._chord(a, b)
        ratio = jnp.ones_like(q)
        if self.sign != 0:
            inverse = jnp.vectorize(lambda y: arc(y, self.sign))
            ratio = _where_small(q, _SHORT, lambda y: _series(y, _ARC, -self.sign), inverse)
        # d = 2 ratio √q: the factor of stiffness (1 - l/d) ratio without the quotient
        strength = stiffness * (ratio - (0.5 / self.radius) * rest / jnp.sqrt(q)) / jnp.sqrt(1.0 - self.sign * q)
        none = jnp.zeros((1, 1), x.dtype)
        return jnp.concatenate([strength, none], axis=1), jnp.concatenate([q, none], axis=1)

    def _chord(self, a: Components, b: Components) -> Row:
        difference = a - b
        square = _dot(difference, difference)
        if self.sign >= 0:
            return 0.25 * square
        # as `hyper_chord`, sums of terms of one sign; for ends far out on opposite sides of the origin e^d is lost
        heights = jnp.sqrt((1.0 + _dot(a, a)) * (1.0 + _dot(b, b)))
        return (square + _wedge(difference, a)) / (2.0 * (1.0 + heights + _dot(a, b)))


def _take(x: Float[Array, "... n"], index: Any) -> Array:
    return x.at[..., index].get(mode="promise_in_bounds")


def _dot(a: Components, b: Components) -> Row:
    total = a[:1] * b[:1]
    for k in range(1, a.shape[0]):
        total = total + a[k : k + 1] * b[k : k + 1]
    return total


def _wedge(a: Components, b: Components) -> Row:
    r"""\(|a\wedge b|^2\)."""
    rows = [(a[k : k + 1], b[k : k + 1]) for k in range(a.shape[0])]
    total = jnp.zeros_like(a[:1])
    for i, (p, q) in enumerate(rows):
        for r, s in rows[:i]:
            total = total + (p * s - r * q) ** 2
    return total


def _height(x: Components) -> Row:
    return jnp.sqrt(1.0 + _dot(x, x))


def _series(z: Row, coefficients: list[float], sign: int) -> Row:
    total = jnp.full_like(z, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = c - sign * z * total
    return total


def _near_drift(z: Row, sign: int) -> tuple[Row, Row]:
    return _series(z, _VER, sign), _series(z, _SIN, sign)


def _far_drift(z: Row, sign: int) -> tuple[Row, Row]:
    return jnp.vectorize(lambda y: (versine(y, sign), sine(y, sign)))(z)


def _where_small(z: Row, bound: float, near: Any, far: Any) -> Any:
    """A few terms of the series where all arguments are small, which short steps and springs are; else the function."""
    return jax.lax.cond(jnp.all(z < bound), near, far, z)
