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
from holonomy.systems.bodies import cells, checks, energies
from holonomy.systems.bodies.ball_flight import Flight, flight
from holonomy.systems.bodies.body import Body, Elements
from holonomy.systems.bodies.many_vertices import AWAY, ManyVertices, Neighbours, Offsets, neighbours
from holonomy.systems.bodies.rigid_elements import RigidElements, rigid_elements
from holonomy.systems.constraints.conditions import Constraints
from holonomy.systems.parameters import Parameters
from holonomy.systems.replace import replace
from holonomy.systems.system import System
from holonomy.trace.function import Function
from holonomy.types import (
    AnyArray,
    Covector,
    Number,
    Numbers,
    Point,
    PointLike,
    Scalar,
    ScalarFunction,
    Tangent,
    VectorLike,
)

A = TypeVar("A", Array, np.ndarray, AnyArray)


class World(System):
    r"""Bodies in a space \(M\): a system on \(M^n\), n the number of all vertices.

    \[ L = \sum_i \tfrac12 m_i\langle v_i, v_i\rangle_{x_i} - \sum_{\text{bodies}} V
         - \sum_i m_i\,U(x_i) - \sum_{i<j} W(d_{ij}, m_i, m_j) \]

    **Arguments:** `space`, M; `bodies`, one `Body` or several, whose vertices are numbered through. `potential`, U(x),
    an external potential per unit mass. `interaction`, W(distance, m_i, m_j), the energy of each pair of vertices.
    `collisions`, whether balls of the bodies' radii bounce off each other, elastically (True), or with a coefficient of
    restitution from 0 to 1. More than 40 balls are moved by `EventDriven` where they are free, by `Splitting` where
    they belong to bodies of springs and by `Rattle` where they belong to bodies with rods, in Euclidean, spherical and
    hyperbolic space.

    Points and velocities of `simulate` are arrays (vertices, point_dim) of the space. Without a method, `Splitting` is
    taken where geodesics are known in closed form: in Euclidean, spherical and hyperbolic spaces and their products.
    Rods are holonomic constraints \(d_{ij} - l\), collisions unilateral ones \(d_{ij} - r_i - r_j\), in the order of
    `rods` and of `balls`; angles, areas and volumes of infinite stiffness are holonomic constraints after the rods.
    `singular` says whether a potential that was passed may become infinite.

    In hyperbolic space the points are kept near the origin with the isometry that carries them out, as by `carry`;
    `run.local` and `run.frame` are these. Every body has an isometry of its own, unless an interaction or collisions
    join them all: then they share one, and must stay near each other. A world with an external potential, which has a
    place of its own, keeps arrays of the space instead, and its motion ends where these have no digits left; with
    `carried` it keeps the isometry, and U is evaluated at the points carried out, as the potential of `carry` is: such
    a U(x), as the distance from a point near the origin, must need no differences of arrays of far points.
    """

    point_space: AbstractSpace = eqx.field(kw_only=True)
    masses: Float[AnyArray, " vertices"] = eqx.field(kw_only=True)
    bodies: tuple[Body, ...] = eqx.field(kw_only=True)
    energy_terms: dict[str, Function] = eqx.field(kw_only=True)
    springs: Elements | None = eqx.field(kw_only=True)
    rods: Elements | None = eqx.field(kw_only=True)
    rigid: RigidElements | None = eqx.field(kw_only=True)
    balls: Elements | None = eqx.field(kw_only=True)
    radii: Float[AnyArray, " vertices"] | None = eqx.field(kw_only=True)
    restitution: Number | None = eqx.field(kw_only=True)
    neighbours: Neighbours | Offsets | None = eqx.field(kw_only=True)
    singular: bool = eqx.field(static=True, kw_only=True)
    damped: bool = eqx.field(static=True, kw_only=True)

    def __init__(
        self,
        space: AbstractSpace,
        bodies: Body | Sequence[Body],
        *,
        potential: ScalarFunction | None = None,
        interaction: ScalarFunction | None = None,
        collisions: bool | Number = False,
        carried: bool = False,
    ):
        given = checks.bodies(space, bodies)
        self.point_space, self.bodies = space, given
        self.masses = _joined([body.masses for body in given])
        self.springs, self.rods = energies.gathered(given, "springs"), energies.gathered(given, "rods")
        checks.refuse_lengths(space, self.rods)
        checks.refuse_contradictions(self.rods, len(self.masses))
        self.rigid = _rigid(space, given, self.rods)
        terms = energies.by_kind(space, given, potential, interaction)
        self.restitution = None if collisions is False else 1.0 if collisions is True else collisions
        self.radii = None if collisions is False else checks.radii(given)
        self.balls = None
        if self.radii is not None:
            many = interaction is None and flight(space) is not None
            self.balls = checks.balls(self.radii, self.rods, many)
        alone = len(given) > 1 and interaction is None and collisions is False
        groups = np.repeat(np.arange(len(given)), [body.count for body in given]) if alone else None
        frame = _frame(space, len(self.masses), groups, carried=carried or potential is None)
        self.space = frame.space
        self.singular = energies.may_be_singular(space, given, potential, interaction)
        self.energy_terms = {
            kind: frame.scalar(kind, _of_state(self, energy, out=kind == "external")) for kind, energy in terms.items()
        }
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
        self.damped = bool(self.forces)
        self.coordinates, self.parameters = frame.coordinates, frame.parameters
        self.constraints, self.direct, self.inverse, self.mass = Constraints(), None, None, None
        self.parametric, self.definite = False, True
        self.constraints = _constrained(self, collisions).constraints

    # ── what splitting methods move ───────────────────────────────────────────────────────────────────

    def drift(self, h: Number, q: Point, v: Tangent) -> tuple[Point, Tangent]:
        """Every vertex moved along its geodesic for the time h."""
        return self.space.geodesic(q, v, h)

    def kick(self, t: Number, q: Point, v: Tangent) -> Tangent:
        r"""The change of velocity in unit time, \((-\nabla V + F^\sharp)/m\), of all forces."""
        if not self.energy_terms and not self.forces:
            return jnp.zeros_like(q)
        assert self.potential is not None
        force = -jax.grad(self.potential, argnums=1)(t, q)
        if self.forces:
            force = force + self.raw_force(t, q, v)
        return self._accelerated(q, force)

    def pull(self, t: Number, q: Point) -> Tangent:
        r"""The part of it that is by potentials, \(-\nabla V/m\)."""
        if not self.energy_terms:
            return jnp.zeros_like(q)
        assert self.potential is not None
        return self._accelerated(q, -jax.grad(self.potential, argnums=1)(t, q))

    @property
    def damping_rate(self) -> float:
        """A bound on the rates at which damped springs take speed away: 2c/m for each spring at a vertex, summed."""
        rates = np.zeros(self.count)
        begin = 0
        for body in self.bodies:
            np.add.at(rates[begin : begin + body.count], body.springs.vertices, 2.0 * float(body.damping))
            begin += body.count
        return float(np.max(rates / np.asarray(self.masses), initial=0.0))

    def damp(self, t: Number, q: Point, v: Tangent) -> Tangent:
        """The acceleration by the damping of the springs, which is linear in v."""
        return self._accelerated(q, self.forces[0](t, q, v, *self.last))

    def _accelerated(self, q: Point, force: Covector) -> Tangent:
        rows = self.points(self.space.sharp(q, force)) / jnp.asarray(self.masses, q.dtype)[:, None]
        return jnp.concatenate([rows.reshape(-1), jnp.zeros(q.shape[0] - rows.size, q.dtype)])

    @property
    def many(self) -> ManyVertices | None:
        """The same flows for many vertices at once, where there are many and springs are all that acts."""
        return None if self.neighbours is None or self.forces else ManyVertices(self, self.neighbours)

    @property
    def rigid_in_geodesics(self) -> RigidElements | None:
        """The conditions on sizes where they are all that constrains the world and geodesics are known.

        Damped springs act beside them only where balls collide: without collisions the general step takes any damping,
        however strong.
        """
        equations, walls = self.constraints.equations, self.constraints.walls
        own = self.rigid is not None and equations.total == self.rigid.count and equations.ranks is None
        only_damped = len(self.forces) == (int(self.damped) if self.restitution is not None else 0)
        simple = not walls.total and only_damped and not self.constraints.treatment.passes
        return self.rigid if own and simple and self.point_space.exact_geodesics else None

    def project(self, t: Number, q: VectorLike, v: VectorLike) -> tuple[Point, Point]:
        """The nearest state that satisfies the constraints: q, then v, each in the kinetic metric."""
        if self.rigid_in_geodesics is None:
            return super().project(t, q, v)
        _, at, moving = self._state(t, q, v)
        return settled(self, at, moving)

    def recentred(self, q: Point, v: Tangent) -> tuple[Point, Tangent]:
        """The state written near the origin where it has moved away from it."""
        if not isinstance(self.space, Carried):
            return q, v
        space = self.space
        return jax.lax.cond(space.away(q) > AWAY, lambda x, u: space.recentred(x, u), lambda x, u: (x, u), q, v)

    # ── what collides ─────────────────────────────────────────────────────────────────────────────────

    @property
    def flight(self) -> Flight | None:
        """The geometry of free flight, where geodesics and contacts of balls are known in closed form."""
        return flight(self.point_space)

    @property
    def by_events_only(self) -> bool:
        """Whether there are so many balls that no method looks at all pairs of them."""
        return self.balls is None and self.radii is not None and int(np.sum(self.radii > 0)) > checks.MOST_BALLS

    @property
    def several_frames(self) -> bool:
        """Whether bodies are carried by isometries of their own."""
        return isinstance(self.space, Carried) and self.space.frames > 1

    @property
    def acted_on(self) -> bool:
        """Whether forces or constraints were added that are neither the damping of springs nor the world's own."""
        equations, walls = self.constraints.equations, self.constraints.walls
        rigid = 0 if self.rigid is None else self.rigid.count
        balls = 0 if self.balls is None else len(self.balls)
        own = equations.total == rigid and walls.total == balls and not walls.friction.dim
        return not own or len(self.forces) != int(self.damped)

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

    def deformation(self, q: VectorLike) -> dict[str, Float[Array, " elements"]]:
        r"""By kind of element how far each is from rest: \((d - l)/l\) of the springs, \((A - A_0)/A_0\) of areas and
        volumes, \(\alpha - \alpha_0\) of angles, in the order in which they were given."""
        return _deformations(self, self._state(0.0, q, None)[1])

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

    def momentum_maps(self, q: VectorLike, v: VectorLike) -> dict[str, Float[Array, "*bodies"]]:
        r"""\(\sum_i m_i\langle K(x_i), v_i\rangle\) for every Killing field K of the space, by name.

        Of a carried world, those of the points near the origin; where bodies have isometries of their own, one number
        for each body.
        """
        _, at, moving = self._state(0.0, q, v)
        x, u, space = self.points(at), self.points(moving), self.point_space
        weights = jnp.asarray(self.masses)
        if self.several_frames:
            weights = weights[None] * np.repeat(np.eye(len(self.bodies)), [body.count for body in self.bodies], axis=1)

        def one(field: Callable[[Point], Tangent]) -> Float[Array, "*bodies"]:
            return weights @ jax.vmap(lambda a, b: space.inner(a, field(a), b))(x, u)

        return {name: one(field) for name, field in space.killing().items()}

    def killing_velocities(self, points: PointLike, **parts: Number) -> Float[Array, "vertices d"]:
        """The velocities of a combination of Killing fields at points, such as ``boost_x=1.0, rotate_yz=0.5``."""
        from holonomy.systems.bodies.placing import killing_velocities

        return killing_velocities(self.point_space, points, **parts)


@eqx.filter_jit
def _distances(world: World, q: Point, pairs: AnyArray) -> Float[Array, " pairs"]:
    if isinstance(world.space, Carried):
        return world.space.apart(q, pairs)
    x = world.points(q)
    return jax.vmap(world.point_space.distance)(x[pairs[:, 0]], x[pairs[:, 1]])


@eqx.filter_jit
def settled(world: World, q: Point, v: Tangent) -> tuple[Point, Tangent]:
    """The nearest state of a world in which its rods, angles and cells of fixed size have their sizes."""
    assert world.rigid is not None
    return world.rigid.settled(world, q, v)


@eqx.filter_jit
def _deformations(world: World, q: Point) -> dict[str, Float[Array, " elements"]]:
    return energies.deformations(world.point_space, world.bodies, world.points(q))


def _joined(parts: list[AnyArray]) -> AnyArray:
    known = all(isinstance(part, np.ndarray) for part in parts)
    return (np if known else jnp).concatenate(parts)


def _frame(space: AbstractSpace, count: int, groups: np.ndarray | None, carried: bool) -> tracing.Frame:
    """Names for the coordinates of all vertices, and the space of their configurations; `groups` are the bodies of the
    vertices where each has a frame of its own."""
    whole: AbstractSpace = space**count
    letters = axis.names(space.point_dim)
    names = [f"{letter}{i + 1}" for i in range(count) for letter in letters]
    if carried and _can_be_carried(space):
        whole = Carried(whole, groups=groups)
        bodies = [""] if groups is None else [str(k + 1) for k in range(whole.frames)]
        names += [f"frame{body}_{letter}" for body in bodies for letter in axis.names(whole.hyperbolic.n)]
    made = tracing.frame(tuple(names), None, whole)
    return tracing.Frame(made.coordinates, Parameters(), whole, False)


def _can_be_carried(space: AbstractSpace) -> bool:
    """Whether points have one hyperbolic part in the hyperboloid model, which an isometry can carry."""
    parts = space.factors if isinstance(space, Product) else (space,)
    found = [part for part in parts if isinstance(part, Hyperbolic)]
    return len(found) == 1 and found[0].model == "hyperboloid"


def _rigid(space: AbstractSpace, bodies: tuple[Body, ...], rods: Elements | None) -> RigidElements | None:
    """The conditions on the sizes of rods, and of angles and cells of infinite stiffness."""
    cells_and_angles = ("angles", "areas", "volumes")
    found = {kind: energies.of_fixed_size(energies.gathered(bodies, kind), fixed=True) for kind in cells_and_angles}
    if found["areas"] is not None or found["volumes"] is not None:
        cells.refuse_space(space)
    return rigid_elements(sum(body.count for body in bodies), {"rods": rods, **found})


def _of_state(world: World, energy: energies.Energy, out: bool) -> Callable[..., Scalar]:
    """The energy at the points near the origin, or at those carried `out`."""

    def found(t: Any, q: Any) -> Any:
        return energy(world.points(world.space.points(q) if out and isinstance(world.space, Carried) else q))

    return found


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
    space, rigid, balls = world.point_space, world.rigid, world.balls
    if rigid is not None:
        conditions["holonomic"] = lambda t, q: rigid.values(world, q)
    if balls is not None:
        conditions["unilateral"] = lambda t, q: (
            energies.distances(space, world.points(q), balls.vertices) - balls.numbers[:, 0]
        )
        conditions["restitution"] = 1.0 if collisions is True else collisions
    found = world.constrained(**conditions) if conditions else world
    given, sizes = found.constraints, () if balls is None else balls.numbers[:, 0]
    return replace(found, constraints=replace(given, walls=replace(given.walls, sizes=sizes)))
