"""A world: bodies in a space, as a system on the space of the configurations of all their vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace, Carried, Hyperbolic, Product
from holonomy.spaces import axes as axis
from holonomy.systems import tracing
from holonomy.systems.bodies import checks, energies
from holonomy.systems.bodies.body import Body, Elements
from holonomy.systems.bodies.many_vertices import ManyVertices, Neighbours, neighbours
from holonomy.systems.constraints.conditions import Constraints
from holonomy.systems.parameters import Parameters
from holonomy.systems.system import System
from holonomy.trace.function import Function
from holonomy.types import AnyArray, Number, Numbers, Point, PointLike, Scalar, ScalarFunction, Tangent, VectorLike

_AWAY = 0.3  # distance of the centre from the origin, in radii, from which it is worth to move it back
A = TypeVar("A", Array, np.ndarray, AnyArray)


class World(System):
    r"""Bodies in a space \(M\): a system on \(M^n\), n the number of all vertices.

    \[ L = \sum_i \tfrac12 m_i\langle v_i, v_i\rangle_{x_i} - \sum_{\text{bodies}} V
         - \sum_i m_i\,U(x_i) - \sum_{i<j} W(d_{ij}, m_i, m_j) \]

    **Arguments:** `space`, M; `bodies`, one `Body` or several, whose vertices are numbered through. `potential`, U(x),
    an external potential per unit mass. `interaction`, W(distance, m_i, m_j), the energy of each pair of vertices.
    `collisions`, whether balls of the bodies' radii bounce off each other, elastically (True), or with a coefficient of
    restitution from 0 to 1.

    Points and velocities of `simulate` are arrays (vertices, point_dim) of the space. Without a method, `Splitting` is
    taken where geodesics are known in closed form: in Euclidean, spherical and hyperbolic spaces and their products.
    Rods are holonomic constraints \(d_{ij} - l\), collisions unilateral ones \(d_{ij} - r_i - r_j\), in the order of
    `rods` and of `balls`. `singular` says whether a potential that was passed may become infinite.

    In hyperbolic space the points are kept near the origin with the isometry that carries them out, as by `carry`;
    `run.local` and `run.frame` are these. A world with an external potential, which has a place of its own, keeps
    arrays of the space instead, and its motion ends where these have no digits left.
    """

    point_space: AbstractSpace = eqx.field(kw_only=True)
    masses: Float[AnyArray, " vertices"] = eqx.field(kw_only=True)
    bodies: tuple[Body, ...] = eqx.field(kw_only=True)
    energy_terms: dict[str, Function] = eqx.field(kw_only=True)
    springs: Elements | None = eqx.field(kw_only=True)
    rods: Elements | None = eqx.field(kw_only=True)
    balls: Elements | None = eqx.field(kw_only=True)
    neighbours: Neighbours | None = eqx.field(kw_only=True)
    singular: bool = eqx.field(static=True, kw_only=True)

    def __init__(
        self,
        space: AbstractSpace,
        bodies: Body | Sequence[Body],
        *,
        potential: ScalarFunction | None = None,
        interaction: ScalarFunction | None = None,
        collisions: bool | Number = False,
    ):
        given = checks.bodies(space, bodies)
        self.point_space, self.bodies = space, given
        self.masses = _joined([body.masses for body in given])
        self.springs, self.rods = energies.gathered(given, "springs"), energies.gathered(given, "rods")
        checks.refuse_lengths(space, self.rods)
        self.balls = checks.balls(given, self.rods) if collisions is not False else None
        frame = _frame(space, len(self.masses), carried=potential is None)
        self.singular = energies.may_be_singular(space, given, potential, interaction)
        terms = energies.by_kind(space, given, potential, interaction)
        self.energy_terms = {kind: frame.scalar(kind, _of_state(self, energy)) for kind, energy in terms.items()}
        only_springs = set(terms) == {"springs"}
        self.neighbours = neighbours(space, self.count, self.springs) if only_springs else None
        kinetic, whole = _kinetic(self), self.energy_terms

        def total(t: Any, q: Any) -> Any:
            return sum((one(t, q) for one in whole.values()), jnp.zeros_like(t))

        self.kinetic = frame.scalar("kinetic energy", kinetic, velocity=True)
        self.potential = frame.scalar("potential", total)
        self.lagrangian = frame.scalar("lagrangian", lambda t, q, v: kinetic(t, q, v) - total(t, q), velocity=True)
        drawn = (lambda t, q: self.points(q)) if space.flat_chart and space.point_dim <= 3 else None
        self.positions = frame.positions(drawn)
        self.forces = tuple(frame.covector("damping", force) for force in _damping(self))
        self.space, self.coordinates, self.parameters = frame.space, frame.coordinates, frame.parameters
        self.constraints, self.direct, self.mass = Constraints(), None, None
        self.parametric, self.definite = False, True
        self.constraints = _constrained(self, collisions).constraints

    # ── what splitting methods move ───────────────────────────────────────────────────────────────────

    def drift(self, h: Number, q: Point, v: Tangent) -> tuple[Point, Tangent]:
        """Every vertex moved along its geodesic for the time h."""
        return self.space.geodesic(q, v, h)

    def kick(self, t: Number, q: Point, v: Tangent) -> Tangent:
        r"""The change of velocity in unit time, \((-\nabla V + F^\sharp)/m\), of forces that do not depend on v."""
        assert self.potential is not None
        force = -jax.grad(self.potential, argnums=1)(t, q)
        if self.forces:
            force = force + self.raw_force(t, q, v)
        rows = self.points(self.space.sharp(q, force)) / jnp.asarray(self.masses, q.dtype)[:, None]
        return jnp.concatenate([rows.reshape(-1), jnp.zeros(q.shape[0] - rows.size, q.dtype)])

    @property
    def many(self) -> ManyVertices | None:
        """The same flows for many vertices at once, where there are many and springs are all that acts."""
        return None if self.neighbours is None or self.forces else ManyVertices(self, self.neighbours)

    def recentred(self, q: Point, v: Tangent) -> tuple[Point, Tangent]:
        """The state written near the origin where it has moved away from it."""
        if not isinstance(self.space, Carried):
            return q, v
        space = self.space
        return jax.lax.cond(space.away(q) > _AWAY, lambda x, u: space.recentred(x, u), lambda x, u: (x, u), q, v)

    # ── asking ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def count(self) -> int:
        """The number of vertices."""
        return self.masses.shape[0]

    def points(self, q: A) -> A:
        """The vertices (or their velocities) of configuration arrays, (..., vertices, point_dim); of a carried world
        near the origin."""
        size = self.count * self.point_space.point_dim
        return q[..., :size].reshape(*q.shape[:-1], self.count, self.point_space.point_dim)

    def separations(self, q: VectorLike) -> Float[Array, " springs"]:
        """The distances of the vertices that springs join, in the order of the springs."""
        return self.distances(q, np.zeros((0, 2), int) if self.springs is None else self.springs.vertices)

    def distances(self, q: VectorLike, pairs: Numbers) -> Float[Array, " pairs"]:
        """The distances of pairs of vertices."""
        pairs = checks.pairs(pairs, self.count)
        if not len(pairs):
            return jnp.zeros(0)
        return _distances(self, self._state(0.0, q, None)[1], pairs)

    def energies(self, q: VectorLike, v: VectorLike) -> dict[str, Scalar]:
        """The energy by kind: kinetic, and those of springs, angles, areas, volumes, potentials, the external potential
        and the interaction, where there are such."""
        t, q, v = self._state(0.0, q, v)
        assert self.kinetic is not None
        return {"kinetic": self.kinetic(t, q, v)} | {kind: one(t, q) for kind, one in self.energy_terms.items()}

    def momentum_maps(self, q: VectorLike, v: VectorLike) -> dict[str, Scalar]:
        r"""\(\sum_i m_i\langle K(x_i), v_i\rangle\) for every Killing field K of the space, by name.

        Of a carried world, those of the points near the origin.
        """
        _, at, moving = self._state(0.0, q, v)
        x, u, space = self.points(at), self.points(moving), self.point_space

        def one(field: Callable[[Point], Tangent]) -> Scalar:
            return jnp.dot(jnp.asarray(self.masses), jax.vmap(lambda a, b: space.inner(a, field(a), b))(x, u))

        return {name: one(field) for name, field in space.killing().items()}

    def killing_velocities(self, points: PointLike, **parts: Number) -> Float[Array, "vertices d"]:
        """The velocities of a combination of Killing fields at points, such as ``boost_x=1.0, rotate_yz=0.5``."""
        from holonomy.systems.bodies.placing import killing_velocities

        return killing_velocities(self.point_space, points, **parts)


@eqx.filter_jit
def _distances(world: World, q: Point, pairs: AnyArray) -> Float[Array, " pairs"]:
    x = world.points(q)
    return jax.vmap(world.point_space.distance)(x[pairs[:, 0]], x[pairs[:, 1]])


def _joined(parts: list[AnyArray]) -> AnyArray:
    known = all(isinstance(part, np.ndarray) for part in parts)
    return (np if known else jnp).concatenate(parts)


def _frame(space: AbstractSpace, count: int, carried: bool) -> tracing.Frame:
    """Names for the coordinates of all vertices, and the space of their configurations."""
    whole: AbstractSpace = space**count
    letters = axis.names(space.point_dim)
    names = [f"{letter}{i + 1}" for i in range(count) for letter in letters]
    if carried and _can_be_carried(space):
        whole = Carried(whole)
        names += [f"frame_{letter}" for letter in axis.names(whole.hyperbolic.n)]
    made = tracing.frame(tuple(names), None, whole)
    return tracing.Frame(made.coordinates, Parameters(), whole, False)


def _can_be_carried(space: AbstractSpace) -> bool:
    """Whether points have one hyperbolic part in the hyperboloid model, which an isometry can carry."""
    parts = space.factors if isinstance(space, Product) else (space,)
    found = [part for part in parts if isinstance(part, Hyperbolic)]
    return len(found) == 1 and found[0].model == "hyperboloid"


def _of_state(world: World, energy: energies.Energy) -> Callable[..., Scalar]:
    return lambda t, q: energy(world.points(q))


def _kinetic(world: World) -> Callable[..., Scalar]:
    inner = jax.vmap(lambda x, v: world.point_space.inner(x, v, v))

    def kinetic(t: Any, q: Any, v: Any) -> Any:
        return 0.5 * jnp.sum(world.masses * inner(world.points(q), world.points(v)))

    return kinetic


def _damping(world: World) -> list[Callable[..., Array]]:
    """The force of damped springs: -c times the rate of each length, along its gradient."""
    amounts: list[Any] = [body.damping for body in world.bodies for _ in range(len(body.springs))]
    if world.springs is None or all(isinstance(c, float) and c == 0.0 for c in amounts):
        return []
    known = all(isinstance(c, float) for c in amounts)
    each: Any = np.array(amounts) if known else jnp.stack([jnp.asarray(c) for c in amounts])
    ends = world.springs.vertices

    def force(t: Any, q: Any, v: Any) -> Any:
        def lengths(x: Any) -> Any:
            return energies.distances(world.point_space, world.points(x), ends)

        _, rates = jax.jvp(lengths, (q,), (v,))
        return jax.vjp(lengths, q)[1](-each * rates)[0]

    return [force]


def _constrained(world: World, collisions: bool | Number) -> System:
    """The world with its rods and balls as constraints."""
    conditions: dict[str, Any] = {}
    space, rods, balls = world.point_space, world.rods, world.balls
    if rods is not None:
        conditions["holonomic"] = lambda t, q: (
            energies.distances(space, world.points(q), rods.vertices) - rods.numbers[:, 0]
        )
    if balls is not None:
        conditions["unilateral"] = lambda t, q: (
            energies.distances(space, world.points(q), balls.vertices) - balls.numbers[:, 0]
        )
        conditions["restitution"] = 1.0 if collisions is True else collisions
    return world.constrained(**conditions) if conditions else world
