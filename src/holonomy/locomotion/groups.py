"""The groups that movers move in: what reconstruction needs of them, for every space that is a group."""

from __future__ import annotations

import abc
from itertools import accumulate, pairwise
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from holonomy.locomotion.arrays import Algebra, AlgebraMap, Element, Row, Table
from holonomy.spaces import SE2, SE3, AbstractGroup, AbstractSpace, Circle, Euclidean, Hyperbolic, Product, Sphere
from holonomy.types import Unchecked

Constants: TypeAlias = tuple[tuple[tuple[float, ...], ...], ...]
Block: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Components of a displacement that are given together, and the entries of the algebra that they say something of."""
_EXP_TERMS = 24
_SQUARINGS = 3  # each doubles the rounding error; steps of reconstruction are short


class LieGroup(eqx.Module):
    r"""A Lie group with elements as arrays and \(\dot g = g\xi\); `structure[k][i][j]` is \([e_i, e_j]_k\)."""

    structure: eqx.AbstractVar[Constants]

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """The dimension of the Lie algebra."""

    @property
    @abc.abstractmethod
    def identity(self) -> Element:
        """The neutral element."""

    @abc.abstractmethod
    def compose(self, g: Element, h: Element) -> Element:
        """The product gh."""

    @abc.abstractmethod
    def inverse(self, g: Element) -> Element:
        """The inverse element."""

    @abc.abstractmethod
    def exp(self, xi: Algebra) -> Element:
        r"""The element at time 1 of \(\dot g = g\xi\)."""

    @abc.abstractmethod
    def moved(self, g: Element) -> Row:
        """The translational part, or for groups of rotations the vector of the rotation: how far g goes."""

    def displacement(self, g: Element, turned: Algebra) -> Row:
        """The element as it is reported; `turned` is the sum of the algebra elements of all steps."""
        return g

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which components of a displacement may be prescribed on their own; all entries of the algebra occur once."""
        return tuple(((i,), (i,)) for i in range(self.dim))

    def miss(self, target: Row, g: Element, turned: Algebra) -> Algebra:
        """Coordinates of a displacement near another, `target`, at which they vanish: one for each entry of the
        algebra."""
        return self.displacement(g, turned) - target

    @property
    def commutative(self) -> bool:
        """Whether all brackets vanish."""
        return not np.any(np.asarray(self.structure))

    def ad(self, xi: Algebra) -> AlgebraMap:
        r"""The matrix of \(\eta\mapsto[\xi,\eta]\)."""
        return jnp.einsum("kij,i->kj", jnp.asarray(np.asarray(self.structure)), xi)

    def bracket(self, xi: Algebra, eta: Algebra) -> Algebra:
        r"""\([\xi,\eta]\)."""
        return self.ad(xi) @ eta


class GroupSpace(LieGroup):
    """A space that is a group: SE(2), SE(3), SO(3), SO(n)."""

    space: AbstractGroup
    structure: Constants = eqx.field(static=True)

    @property
    def dim(self) -> int:
        return self.space.dim

    @property
    def identity(self) -> Element:
        return self.space.identity

    def compose(self, g: Element, h: Element) -> Element:
        return self.space.compose(g, h)

    def inverse(self, g: Element) -> Element:
        return self.space.inverse(g)

    def exp(self, xi: Algebra) -> Element:
        return self.space.group_exp(xi)

    def __repr__(self) -> str:
        return repr(self.space)

    def moved(self, g: Element) -> Row:
        if isinstance(self.space, SE2):
            return g[2:]
        return g[4:] if self.space.dim == 6 and self.space.point_dim == 7 else self.space.group_log(g)

    def displacement(self, g: Element, turned: Algebra) -> Row:
        """(x, y, theta) on SE(2), full turns counted; else the element."""
        return jnp.append(g[2:], turned[2]) if isinstance(self.space, SE2) else g

    @property
    def blocks(self) -> tuple[Block, ...]:
        """On SE(3) the quaternion as a whole and each coordinate of the place; of rotations the whole element."""
        match self.space:
            case SE2():
                return super().blocks
            case SE3():
                return ((0, 1, 2, 3), (3, 4, 5)), ((4,), (0,)), ((5,), (1,)), ((6,), (2,))
            case _:
                return ((tuple(range(self.space.point_dim)), tuple(range(self.dim))),)

    def miss(self, target: Row, g: Element, turned: Algebra) -> Algebra:
        if isinstance(self.space, SE2):
            return super().miss(target, g, turned)
        between = self.space.compose(self.space.inverse(target), g)
        if isinstance(self.space, SE3):
            return jnp.concatenate([g[4:] - target[4:], self.space.group_log(between)[3:]])
        return self.space.group_log(between)


class Translations(LieGroup):
    """Vectors under addition: a Euclidean space, or a circle whose turns are counted."""

    size: int = eqx.field(static=True)
    structure: Constants = eqx.field(static=True)

    @property
    def dim(self) -> int:
        return self.size

    @property
    def identity(self) -> Element:
        return jnp.zeros(self.size)

    def compose(self, g: Element, h: Element) -> Element:
        return g + h

    def inverse(self, g: Element) -> Element:
        return -g

    def exp(self, xi: Algebra) -> Element:
        return xi

    def moved(self, g: Element) -> Row:
        return g

    def __repr__(self) -> str:
        return f"Euclidean(n={self.size})"


class GroupProduct(LieGroup):
    """A product of groups; elements and algebra elements are joined end to end."""

    factors: tuple[LieGroup, ...]
    structure: Constants = eqx.field(static=True)

    @property
    def dim(self) -> int:
        return sum(f.dim for f in self.factors)

    @property
    def identity(self) -> Element:
        return jnp.concatenate([f.identity for f in self.factors])

    def compose(self, g: Element, h: Element) -> Element:
        parts = zip(self.factors, self._cut(g), self._cut(h), strict=True)
        return jnp.concatenate([f.compose(a, b) for f, a, b in parts])

    def inverse(self, g: Element) -> Element:
        return jnp.concatenate([f.inverse(a) for f, a in zip(self.factors, self._cut(g), strict=True)])

    def exp(self, xi: Algebra) -> Element:
        return jnp.concatenate([f.exp(x) for f, x in zip(self.factors, self._cut_local(xi), strict=True)])

    def moved(self, g: Element) -> Row:
        return jnp.concatenate([f.moved(a) for f, a in zip(self.factors, self._cut(g), strict=True)])

    def displacement(self, g: Element, turned: Algebra) -> Row:
        parts = zip(self.factors, self._cut(g), self._cut_local(turned), strict=True)
        return jnp.concatenate([f.displacement(a, x) for f, a, x in parts])

    @property
    def blocks(self) -> tuple[Block, ...]:
        found: list[Block] = []
        first, entry = 0, 0
        for f in self.factors:
            found += [(tuple(first + i for i in a), tuple(entry + i for i in b)) for a, b in f.blocks]
            first, entry = first + components(f), entry + f.dim
        return tuple(found)

    def miss(self, target: Row, g: Element, turned: Algebra) -> Algebra:
        wanted = _cut(target, [components(f) for f in self.factors])
        parts = zip(self.factors, wanted, self._cut(g), self._cut_local(turned), strict=True)
        return jnp.concatenate([f.miss(t, a, x) for f, t, a, x in parts])

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.factors))})"

    def _cut(self, g: Element) -> list[Array]:
        return _cut(g, [f.identity.shape[0] for f in self.factors])

    def _cut_local(self, xi: Algebra) -> list[Array]:
        return _cut(xi, [f.dim for f in self.factors])


class Isometries(LieGroup):
    r"""The isometries of \(S^n\) or \(H^n\) that preserve orientation, as matrices that act on points of the space.

    An element of the algebra is \((v, \omega)\): the velocity at the origin of the space, then one rate for each plane
    of the axes there. As the radius grows the group tends to that of the flat space, SE(2) or SE(3). An element is
    reported for n = 2 as \((x, y, \theta)\): the place that the origin goes to, in normal coordinates, and the turn
    relative to transport along the geodesic there; for larger n as its matrix, row by row.
    """

    space: Sphere | Hyperbolic
    structure: Constants = eqx.field(static=True)

    def __init__(self, space: Sphere | Hyperbolic | Unchecked):
        if not isinstance(space, (Sphere, Hyperbolic)) or space.flat_chart:
            raise ValueError(
                f"Isometries acts on points of Sphere(n) or Hyperbolic(n) in their first models, but got {space!r}."
            )
        self.space = space
        sign = 1.0 if isinstance(space, Sphere) else -1.0
        self.structure = _constants(_unit_basis(space.n, sign), float(space.radius))

    @property
    def dim(self) -> int:
        return self.space.n * (self.space.n + 1) // 2

    @property
    def sign(self) -> float:
        """The sign of the curvature."""
        return 1.0 if isinstance(self.space, Sphere) else -1.0

    @property
    def identity(self) -> Element:
        return jnp.eye(self.space.n + 1).reshape(-1)

    def __repr__(self) -> str:
        return f"Isometries({self.space!r})"

    def hat(self, xi: Algebra) -> Table:
        """The matrix that acts on points."""
        n = self.space.n
        scale = jnp.concatenate([jnp.full(n, 1.0 / self.space.radius), jnp.ones(self.dim - n)])
        return jnp.einsum("k,kij->ij", xi * scale, jnp.asarray(_unit_basis(n, self.sign)))

    def matrix(self, g: Element) -> Table:
        """The element as a matrix."""
        return g.reshape(self.space.n + 1, self.space.n + 1)

    def compose(self, g: Element, h: Element) -> Element:
        return (self.matrix(g) @ self.matrix(h)).reshape(-1)

    def inverse(self, g: Element) -> Element:
        signs = jnp.asarray(np.append(np.ones(self.space.n), self.sign))
        return (signs[:, None] * self.matrix(g).T * signs[None, :]).reshape(-1)

    def exp(self, xi: Algebra) -> Element:
        a = self.hat(xi) / 2.0**_SQUARINGS
        one = jnp.eye(a.shape[0])
        m = jax.lax.fori_loop(0, _EXP_TERMS, lambda k, total: one + a @ total / (_EXP_TERMS - k), one)
        return jax.lax.fori_loop(0, _SQUARINGS, lambda _, m: m @ m, m).reshape(-1)

    def moved(self, g: Element) -> Row:
        """Normal coordinates of the place that the origin goes to."""
        place, radius = self.matrix(g)[:, -1], self.space.radius
        across = jnp.sqrt(jnp.sum(place[:-1] ** 2))
        angle = jnp.arctan2(across, place[-1]) if self.sign > 0 else jnp.arcsinh(across)
        small = across < 1e-150
        return radius * jnp.where(small, 1.0, angle / jnp.where(small, 1.0, across)) * place[:-1]

    def displacement(self, g: Element, turned: Algebra) -> Row:
        if self.space.n != 2:
            return g
        place = self.moved(g)
        back = self.inverse(self.exp(jnp.append(place, 0.0)))
        turn = self.matrix(self.compose(back, g))
        return jnp.append(place, jnp.arctan2(turn[1, 0], turn[0, 0]))

    @property
    def blocks(self) -> tuple[Block, ...]:
        if self.space.n == 2:
            return super().blocks
        return ((tuple(range((self.space.n + 1) ** 2)), tuple(range(self.dim))),)

    def miss(self, target: Row, g: Element, turned: Algebra) -> Algebra:
        if self.space.n == 2:
            return super().miss(target, g, turned)
        between = self.matrix(self.compose(self.inverse(target), g))
        first, second = np.triu_indices(self.space.n, 1)
        turns = 0.5 * (between[second, first] - between[first, second])
        return jnp.concatenate([self.space.radius * between[:-1, -1], turns])


Group: TypeAlias = AbstractSpace | LieGroup
"""What a person may pass for a group."""


def as_group(space: Group) -> LieGroup:
    """The group that a space is; `ValueError` where it is none."""
    match space:
        case LieGroup():
            return space
        case AbstractGroup():
            with jax.ensure_compile_time_eval():
                basis = np.stack([np.asarray(space.hat(e)) for e in np.eye(space.dim)])
            return GroupSpace(space=space, structure=_constants(basis, 1.0))
        case Euclidean() | Circle():
            return Translations(size=space.dim, structure=_zeros(space.dim))
        case Product():
            factors = tuple(as_group(f) for f in space.factors)
            constants = np.zeros((space.dim,) * 3)
            for (a, b), f in zip(pairwise(accumulate((f.dim for f in factors), initial=0)), factors, strict=True):
                constants[a:b, a:b, a:b] = np.asarray(f.structure)
            return GroupProduct(factors=factors, structure=_tuples(constants))
        case _:
            raise ValueError(
                f"{space!r} is not a group of motions; pass Euclidean(n), Circle(), SE2(), SE3(), SO3(), SO(n), a "
                "Product of these, or locomotion.Isometries(space) for a sphere or hyperbolic space."
            )


def components(lie: LieGroup) -> int:
    """How many numbers a displacement in the group has."""
    return sum(len(components) for components, _ in lie.blocks)


def _unit_basis(n: int, sign: float) -> np.ndarray:
    """Matrices of the transvections along the axes at the origin, then of the rotations there, for radius 1."""
    basis = []
    for i in range(n):
        m = np.zeros((n + 1, n + 1))
        m[i, n], m[n, i] = 1.0, -sign
        basis.append(m)
    for i in range(n):
        for j in range(i + 1, n):
            m = np.zeros((n + 1, n + 1))
            m[j, i], m[i, j] = 1.0, -1.0
            basis.append(m)
    return np.stack(basis)


def _constants(basis: np.ndarray, radius: float) -> Constants:
    """Structure constants of the span of matrices; those with entries in the last row are divided by the radius."""
    count = len(basis)
    scale = np.where(np.abs(basis[:, -1, :]).max(axis=1) > 0, 1.0 / radius, 1.0) if radius != 1.0 else np.ones(count)
    basis = basis * scale[:, None, None]
    flat = basis.reshape(count, -1).T
    brackets = np.einsum("iab,jbc->ijac", basis, basis)
    brackets = brackets - np.swapaxes(brackets, 0, 1)
    found = np.linalg.lstsq(flat, brackets.reshape(count * count, -1).T, rcond=None)[0]
    # brackets of these bases have few, simple coefficients: rounding in the solve is removed
    found = np.where(np.abs(found) < 1e-13, 0.0, found)
    return _tuples(np.where(np.abs(found - np.round(found)) < 1e-13, np.round(found), found).reshape((count,) * 3))


def _tuples(constants: np.ndarray) -> Constants:
    return tuple(tuple(tuple(float(x) for x in row) for row in plane) for plane in constants)


def _zeros(dim: int) -> Constants:
    return _tuples(np.zeros((dim,) * 3))


def _cut(x: Array, sizes: list[int]) -> list[Array]:
    return [x[a:b] for a, b in pairwise(accumulate(sizes, initial=0))]
