r"""The flows of many vertices with springs in a space of constant curvature, one array for each component.

Arrays (components, vertices) let the compiler work on many vertices at once; `World.drift` and `World.kick`, which go
through the space's own functions vertex by vertex, are ten times slower there. With \(\kappa\) the sign of the
curvature, lengths in units of the radius and \(q = \sin^2(d/2)\), \(d^2/4\) or \(\sinh^2(d/2)\), a spring from x to y
pulls with

\[ k\Bigl(1 - \frac ld\Bigr)\log_x y, \qquad \log_x y = \frac{d}{2\sqrt{q(1-\kappa q)}}\,(y - x + 2\kappa q\,x). \]

Forces are summed over the neighbours of each vertex, without scattering. Where springs join vertices whose numbers
differ by a few numbers, as in chains, cloths and lattices, these are the same arrays shifted, which takes half the time
of lists of neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.spaces import AbstractSpace, Carried, Euclidean, Hyperbolic, Sphere
from holonomy.spaces.smooth import arc, sine, versine
from holonomy.systems.bodies.body import Elements
from holonomy.types import AnyArray, Number, Point, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Components = Float[Array, "components vertices"]
Row = Float[Array, "1 n"]
Rows = Float[Array, "k n"]

FEWEST = 65  # vertices from which this pays
_EMPTY = 2  # times the springs: so many places may there be for springs of a few offsets
_PADDING = 4  # times the mean number of neighbours above which lists of neighbours are mostly empty
_SMALL, _TERMS = 0.04, 6  # squared angles below which so many terms of versine and sine are enough for round-off
_SHORT, _ARC_TERMS = 0.01, 8  # the same of the inverse sine
_VER = [1.0 / math.factorial(2 * k + 2) for k in range(_TERMS)]
_SIN = [1.0 / math.factorial(2 * k + 1) for k in range(_TERMS)]
_SEEN = 16  # vertices of a group by which it is seen how far it has moved away from the origin
AWAY = 0.3  # distance of the centre from the origin, in radii, from which it is worth to move it back
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


class Offsets(eqx.Module):
    """The springs from a vertex i to i + d, for a few numbers d > 0.

    Columns begin with vertex -D, D the largest d; vertices below zero and those without such a spring are not `present`
    and have no stiffness.
    """

    steps: tuple[int, ...] = eqx.field(static=True)
    present: Bool[AnyArray, "steps columns"]
    stiffness: Float[AnyArray, "steps columns"]
    rest: Float[AnyArray, "steps columns"]


def neighbours(space: AbstractSpace, count: int, springs: Elements | None) -> Neighbours | Offsets | None:
    """The springs of each vertex by offsets or by lists of neighbours, or None where these flows do not apply."""
    if sign_of(space) is None or springs is None or count < FEWEST:
        return None
    shifted = _offsets(count, springs)
    if shifted is not None:
        return shifted
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


def _offsets(count: int, springs: Elements) -> Offsets | None:
    """The springs by offsets, or None where these are many, or two springs join the same vertices."""
    low, high = np.min(springs.vertices, axis=1), np.max(springs.vertices, axis=1)
    steps, which = np.unique(high - low, return_inverse=True)
    columns = count + int(steps[-1])
    if len(steps) * columns > _EMPTY * len(springs) or steps[0] == 0:
        return None
    present = np.zeros((len(steps), columns), bool)
    place = which, low + int(steps[-1])
    present[place] = True
    if np.sum(present) < len(springs):
        return None
    if isinstance(springs.numbers, np.ndarray):
        tables = np.zeros((2, *present.shape))
        tables[(slice(None), *place)] = springs.numbers.T
    else:
        tables = jnp.zeros((2, *present.shape)).at[(slice(None), *place)].set(springs.numbers.T)
    return Offsets(tuple(steps.tolist()), present, tables[0], tables[1])


class ByComponents(NamedTuple):
    """Positions and velocities of many vertices by components, and what follows the points in a configuration: the
    frames that carry them, if any."""

    q: Components
    v: Components
    frame: Float[Array, " frame"]


class ManyVertices(eqx.Module):
    """The drift and the kick of a world of springs, on arrays of components."""

    world: World
    lists: Neighbours | Offsets | None

    @property
    def sign(self) -> int:
        """The sign of the curvature."""
        sign = sign_of(self.world.point_space)
        assert sign is not None
        return sign

    @property
    def radius(self) -> Number:
        """The unit of length."""
        return radius_of(self.world.point_space)

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

    def state(self, q: Point, v: Tangent) -> ByComponents:
        """A configuration and its velocity by components."""
        return ByComponents(*self.enter(q, v), q[self.world.count * self.world.point_space.point_dim :])

    def read(self, state: ByComponents) -> tuple[Point, Tangent]:
        """The configuration and the velocity of a state."""
        before = jnp.zeros(self.world.count * self.world.point_space.point_dim, state.frame.dtype)
        return self.leave(jnp.concatenate([before, state.frame]), state.q, state.v)

    def recentred(self, state: ByComponents) -> ByComponents:
        """The state written near the origin where it has moved away from it, as some vertices of each group tell."""
        space = self.world.space
        if not isinstance(space, Carried):
            return state
        x = _take(state.q, _seen(self.world.count, space))
        total, heights = jnp.sum(x, axis=2), jnp.sum(jnp.sqrt(1.0 + jnp.sum(x * x, axis=0)), axis=1)
        square = jnp.sum(total * total, axis=0)
        # sinh² of the distance of the centre
        away = jnp.any(square > math.sinh(AWAY) ** 2 * (heights * heights - square))
        return jax.lax.cond(away, lambda one: self.state(*space.recentred(*self.read(one))), lambda one: one, state)

    def drift(self, h: Number | Row, x: Components, u: Components) -> tuple[Components, Components]:
        """Every vertex moved along its geodesic for the time h, or each for its own."""
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
        lists = self.lists
        assert lists is not None
        total = self._shifted(lists, x) if isinstance(lists, Offsets) else self._listed(lists, x)
        return total / jnp.asarray(self.world.masses, x.dtype)[None]

    def _listed(self, lists: Neighbours, x: Components) -> Components:
        """The forces, over the lists of neighbours."""
        stiffness, rest = jnp.asarray(lists.numbers, x.dtype).T[:, None]
        found = chord(self.sign, _take(x, lists.first), _take(x, lists.second))
        none = jnp.zeros((1, 1), x.dtype)
        strength = jnp.concatenate([self._strength(found, stiffness, rest), none], axis=1)
        chords = jnp.concatenate([found, none], axis=1)
        total = jnp.zeros_like(x)
        for vertices, springs in zip(lists.vertices, lists.springs, strict=True):
            total = total + _take(strength, springs) * self._way(x, _take(x, vertices), _take(chords, springs))
        return total

    def _shifted(self, lists: Offsets, x: Components) -> Components:
        """The forces, from the arrays shifted by the offsets."""
        most, count = lists.steps[-1], x.shape[1]
        wide = jnp.pad(x, ((0, 0), (most, most)))
        begins = [(wide[:, : count + most], wide[:, step : count + most + step]) for step in lists.steps]
        # a length that is within the series for springs that there are none of
        chords = jnp.concatenate([chord(self.sign, *ends) for ends in begins])
        chords = jnp.where(jnp.asarray(lists.present), chords, 0.1 * _SHORT)
        stiffness, rest = (jnp.asarray(a, x.dtype) for a in (lists.stiffness, lists.rest))
        strengths = self._strength(chords, stiffness, rest)
        total = jnp.zeros_like(x)
        for k, step in enumerate(lists.steps):
            forth, back = slice(most, None), slice(most - step, most - step + count)
            for other, at in ((slice(most + step, most + step + count), forth), (back, back)):
                total = total + strengths[k : k + 1, at] * self._way(x, wide[:, other], chords[k : k + 1, at])
        return total

    def _way(self, x: Components, y: Components, q: Row) -> Components:
        return y - x + (2.0 * self.sign) * q * x

    def _strength(self, q: Rows, stiffness: Rows, rest: Rows) -> Rows:
        r"""\(k(1 - l/d)\,d/(2\sqrt{q(1-\kappa q)})\) of each spring."""

        def found(ratio: Rows, q: Rows) -> Rows:
            # d = 2 ratio √q: the factor of stiffness (1 - l/d) ratio without the quotient
            pull = ratio - (0.5 / self.radius) * rest / jnp.sqrt(q)
            return stiffness * pull / jnp.sqrt(1.0 - self.sign * q)

        return ratio_of_lengths(q, self.sign, found)


def sign_of(space: AbstractSpace) -> int | None:
    """The sign of the curvature of a space that these flows are for, None for others."""
    match space:
        case Euclidean():
            return 0
        case Sphere(model="embedded"):
            return 1
        case Hyperbolic(model="hyperboloid"):
            return -1
        case _:
            return None


def radius_of(space: AbstractSpace) -> Number:
    """The unit of length of a space."""
    return space.radius if isinstance(space, Sphere | Hyperbolic) else 1.0


def chord(sign: int, a: Components, b: Components) -> Row:
    r"""\(q\) of pairs of points; of hyperboloids from their spacelike components."""
    difference = a - b
    square = _dot(difference, difference)
    if sign >= 0:
        return 0.25 * square
    # as `hyper_chord`, sums of terms of one sign; for ends far out on opposite sides of the origin e^d is lost
    heights = jnp.sqrt((1.0 + _dot(a, a)) * (1.0 + _dot(b, b)))
    return (square + _wedge(difference, a)) / (2.0 * (1.0 + heights + _dot(a, b)))


def ratio_of_lengths(q: Rows, sign: int, then: Callable[[Rows, Rows], Rows] = lambda ratio, q: ratio) -> Rows:
    r"""\(d/(2\sqrt q)\), or what is made of it `then`."""
    if sign == 0:
        return then(jnp.ones_like(q), q)
    inverse = jnp.vectorize(lambda y: arc(y, sign))
    return _where_small(q, _SHORT, lambda y: then(_series(y, _ARC, -sign), y), lambda y: then(inverse(y), y))


def _seen(count: int, space: Carried) -> Int[np.ndarray, "frames seen"]:
    """Some vertices of each group that has a frame, evenly among its own."""
    groups = np.zeros(count, int) if space.groups is None else space.groups.value
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=space.frames)
    parts = np.linspace(0.0, 1.0, _SEEN)[None] * (sizes[:, None] - 1)
    return order[(np.cumsum(sizes) - sizes)[:, None] + np.round(parts).astype(int)].astype(np.int32)


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


def _series(z: Rows, coefficients: list[float], sign: int) -> Rows:
    total = jnp.full_like(z, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = c - sign * z * total
    return total


def _near_drift(z: Row, sign: int) -> tuple[Row, Row]:
    return _series(z, _VER, sign), _series(z, _SIN, sign)


def _far_drift(z: Row, sign: int) -> tuple[Row, Row]:
    return jnp.vectorize(lambda y: (versine(y, sign), sine(y, sign)))(z)


def _where_small(z: Rows, bound: float, near: Any, far: Any) -> Any:
    """A few terms of the series where all arguments are small, which short steps and springs are; else the function."""
    return jax.lax.cond(jnp.all(z < bound), near, far, z)
