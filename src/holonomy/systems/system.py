"""What moves: a configuration space with a Lagrangian, forces and parameters, described once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.systems import mass_checks, quantities, summary, tracing
from holonomy.systems.constraints.conditions import Constraints
from holonomy.systems.coordinates import Coordinate, CoordinatesLike
from holonomy.systems.in_chart import Local
from holonomy.systems.lagrangian import energy_function
from holonomy.systems.mass_structure import MassStructure
from holonomy.systems.parameters import Parameters, number
from holonomy.systems.replace import replace
from holonomy.systems.state_vector import vector
from holonomy.trace.function import Function
from holonomy.types import AnyArray, ArrayFunction, Covector, Number, Numbers, Point, Scalar, ScalarFunction, VectorLike

if TYPE_CHECKING:
    from holonomy.show.notebook_widget import StudioView
    from holonomy.systems.equations.derive import Equations


class System(eqx.Module):
    r"""A mechanical system: a space Q, a Lagrangian \(L(t,q,v)\) on its tangent bundle, and forces \(Q(t,q,v)\).

    Its motion solves \(\frac{d}{dt}\frac{\partial L}{\partial v} - \frac{\partial L}{\partial q} = Q\). A system is a
    PyTree: the form of its functions is structure, their numbers and the parameters are leaves, so that systems that
    differ in numbers alone share compiled code, and gradients and batches over numbers work. Make one with
    `from_lagrangian`, `from_positions` or `from_metric`.
    """

    lagrangian: Function
    kinetic: Function | None
    potential: Function | None
    positions: Function | None
    forces: tuple[Function, ...]
    constraints: Constraints
    direct: Function | None
    inverse: Function | None
    parameters: Parameters
    space: AbstractSpace
    coordinates: tuple[Coordinate, ...] = eqx.field(static=True)
    parametric: bool = eqx.field(static=True)
    definite: bool = eqx.field(static=True)
    mass: MassStructure | None = eqx.field(static=True, default=None)  # where solves use it
    smooth: bool = eqx.field(static=True, default=False)  # whether the potential is known to be finite everywhere

    # ── Describing ────────────────────────────────────────────────────────────────────────────────────

    def __repr__(self) -> str:
        return summary.line(self)

    @staticmethod
    def from_lagrangian(
        lagrangian: ScalarFunction,
        coordinates: CoordinatesLike | None = None,
        parameters: Mapping[str, Numbers] | None = None,
        space: AbstractSpace | None = None,
        positions: ArrayFunction | None = None,
    ) -> System:
        r"""A system from \(L(t, q, v)\), or \(L(t, q, v, p)\) when `parameters` are given.

        **Arguments:** `coordinates`, names or a mapping of names to kinds (``"angle"``, ``"length"``) or to shapes, in
        which q and v then come (``{"x": (50, 50)}``; several arrays by name, ``q.x``); `parameters`, a mapping of names
        to numbers; `space`, where q lives if not in the product of lines and circles that the coordinates name;
        `positions`, a function \(x(t, q[, p])\) to (particles, d), what to draw.

        The energy of such a system is Jacobi's \(v\cdot\partial L/\partial v - L\).
        """
        frame = tracing.frame(coordinates, parameters, space)
        traced = frame.scalar("lagrangian", frame.given(lagrangian, velocity=True), velocity=True)
        return _assemble(frame, traced, positions=frame.positions(frame.given(positions)))

    @staticmethod
    def from_positions(
        positions: ArrayFunction,
        masses: Numbers | Callable[[Parameters], Numbers],
        potential: ScalarFunction | None = None,
        coordinates: CoordinatesLike | None = None,
        parameters: Mapping[str, Numbers] | None = None,
        space: AbstractSpace | None = None,
    ) -> System:
        r"""Particles at \(x_i(t, q[, p])\) with masses \(m_i\) in a potential \(V(t, q[, p])\).

        \(L = \frac12\sum_i m_i|\dot x_i|^2 - V\) with \(\dot x = \partial_t x + (\partial x/\partial q)\,v\), so that
        moving constraints give all of \(T = T_2 + T_1 + T_0\). Masses are numbers or a function m(p) of the parameters;
        they may be zero, not negative. The energy is T + V.
        """
        frame = tracing.frame(coordinates, parameters, space)
        where = frame.positions(frame.given(positions))
        assert where is not None
        weights: Any = frame.masses(masses, where)

        def kinetic(t: Any, q: Any, v: Any, *p: Any) -> Any:
            _, velocity = jax.jvp(lambda s, x: where(s, x, *p), (t, q), (jnp.ones_like(t), v))
            m: Any = masses(*p) if callable(masses) else weights
            return 0.5 * jnp.dot(jnp.broadcast_to(m, velocity.shape[:1]), jnp.sum(velocity * velocity, axis=1))

        return _natural(frame, kinetic, potential, definite=bool(np.all(frame.concrete(weights) > 0)), positions=where)

    @staticmethod
    def from_metric(
        metric: ArrayFunction,
        potential: ScalarFunction | None = None,
        coordinates: CoordinatesLike | None = None,
        parameters: Mapping[str, Numbers] | None = None,
        space: AbstractSpace | None = None,
        positions: ArrayFunction | None = None,
    ) -> System:
        r"""Kinetic energy \(\frac12 g_{ij}(q[, p])\,v^i v^j\) and a potential \(V(t, q[, p])\).

        Without a potential the motions are the geodesics of g at constant speed.
        """
        frame = tracing.frame(coordinates, parameters, space)
        traced = frame.matrix("metric", frame.given(metric, time=False))

        def kinetic(t: Any, q: Any, v: Any, *p: Any) -> Any:
            return 0.5 * jnp.dot(v, traced(q, *p) @ v)

        return _natural(frame, kinetic, potential, definite=True, positions=frame.positions(frame.given(positions)))

    def with_parameters(self, values: Mapping[str, Numbers] | None = None, /, **more: Numbers) -> System:
        """The same system with some parameters at other values, by name or as a mapping; nothing is traced or compiled
        again."""
        if values is not None and not isinstance(values, Mapping):
            raise ValueError(f"with_parameters takes values by name, such as with_parameters(g=3.7); got {values!r}.")
        return eqx.tree_at(lambda s: s.parameters, self, self.parameters.replace({**(values or {}), **more}))

    def forced(self, force: ArrayFunction | None = None, *, cartesian: ArrayFunction | None = None) -> System:
        r"""The system under one more force: a covector \(Q(t, q, v[, p])\), or `cartesian` forces F on its particles.

        A Cartesian force (particles, d) acts by virtual work, \(Q = (\partial x/\partial q)^\top F\), and needs a
        system that knows its positions.
        """
        frame = tracing.Frame(self.coordinates, self.parameters, self.space, self.parametric)
        if force is not None and cartesian is None:
            traced = frame.covector("force", frame.given(force, velocity=True, covector=True))
        elif force is not None or cartesian is None:
            raise ValueError("Pass either a generalised force Q(t, q, v) or cartesian=F(t, q, v), one of the two.")
        else:
            if self.positions is None:
                raise ValueError(
                    "Cartesian forces need particles: make the system with from_positions, or pass positions= to it."
                )
            traced = frame.cartesian_force(cartesian, self.positions)
        return replace(self, forces=(*self.forces, traced), direct=None)

    def with_acceleration(self, acceleration: ArrayFunction, *, solve: ArrayFunction | None = None) -> System:
        r"""The same system with a faster way to the acceleration that it implies, \(a(t, q, v[, p])\).

        Explicit methods use it. It stands for the forces there are, and is dropped when another force is added.
        `solve`, \(M(t, q)^{-1}r\) as a function \((t, q, r[, p])\), stays: it takes the place of the mass matrix
        in all methods of unconstrained systems, `Gauss` among them. Both are for points that are their own coordinates
        and for kinetic energies that are quadratic in the velocities.
        """
        if not self.flat:
            raise ValueError(f"with_acceleration needs points that are their own coordinates; {self.space} has others.")
        frame = tracing.Frame(self.coordinates, self.parameters, self.space, self.parametric)

        def traced(what: str, function: ArrayFunction) -> Function:
            return frame.covector(what, frame.given(function, velocity=True, covector=True))

        direct = traced("acceleration", acceleration)
        return replace(self, direct=direct, inverse=None if solve is None else traced("solve", solve))

    def constrained(
        self,
        holonomic: ArrayFunction | None = None,
        velocity: ArrayFunction | None = None,
        unilateral: ArrayFunction | None = None,
        restitution: Numbers = 1.0,
        *,
        velocity_unilateral: ArrayFunction | None = None,
        law: str | None = None,
        friction: Numbers | None = None,
        slip: ArrayFunction | None = None,
    ) -> System:
        r"""The system under more constraints, \(M a = f + N^\top\lambda\).

        **Arguments:** `holonomic`, \(\varphi(t, q[, p]) = 0\) with m components, which may name the time; `velocity`,
        \(a(t, q, v[, p]) = 0\) with k components, affine in v. Constraints add up: those of an earlier call stay, and
        multipliers are in the order of the calls, all holonomic ones first, then velocity, then unilateral ones.

        `unilateral`, walls \(\sigma(t, q[, p]) \ge 0\) with c components, met with `restitution`, a number or one for
        each, from 0 (no bounce) to 1 (no loss, the default); `velocity_unilateral`, \(a(t, q, v[, p]) \ge 0\), affine
        in v, such as a ratchet's. Both push and never pull. `law`, what several impacts at once do:
        ``"generalised"`` reflections, or for comparison ``"joint"`` or ``"pairwise"``; see `systems.contact.impact`.

        `friction`, Coulomb's coefficient at the walls, a number or one for each; without it they are smooth. Where the
        system has positions, one particle at a wall or two at each other rub as they should; elsewhere `slip` must say
        how fast the contacts slide, \((t, q, v[, p])\) to one number for each wall (or a row of two, in space),
        affine in v.
        """
        from holonomy.systems.constraints.add import constrain

        return constrain(self, holonomic, velocity, unilateral, restitution, velocity_unilateral, law, friction, slip)

    # ── Asking ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def flat(self) -> bool:
        """Whether points are their own coordinates."""
        return self.space.flat_chart

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names."""
        return tuple(c.name for c in self.coordinates)

    @property
    def autonomous(self) -> bool:
        """Whether neither the Lagrangian nor a force nor a constraint names the time."""
        frame = tracing.Frame(self.coordinates, self.parameters, self.space, self.parametric)
        example = frame.example(velocity=True)
        equations, walls = self.constraints.equations, self.constraints.walls
        moving = (self.lagrangian, *self.forces, *equations.velocity, *walls.ratchets)
        fixed = (*equations.holonomic, *walls.unilateral)
        return not any(f.depends_on(0, example) for f in moving) and not any(
            f.depends_on(0, frame.example()) for f in fixed
        )

    @property
    def structure(self) -> MassStructure:
        """The structure of the mass matrix, found from the trace of the Lagrangian; `print` says it in words."""
        return mass_checks.described(self)

    def local(self, q: Point) -> Local:
        """The system in the chart at q."""
        return Local(self, q)

    def raw_lagrangian(self, t: Number, q: Float[AnyArray, " point"], v: Float[AnyArray, " point"]) -> Scalar:
        """L without checks, for code that is being traced."""
        return self.lagrangian(t, q, v, *self.last)

    def raw_force(self, t: Number, q: Float[AnyArray, " point"], v: Float[AnyArray, " point"]) -> Covector:
        """The sum of the forces without checks, for code that is being traced."""
        total = jnp.zeros_like(v)
        for force in self.forces:
            total = total + force(t, q, v, *self.last)
        return total

    def raw_energy(self, t: Number, q: Float[AnyArray, " point"], v: Float[AnyArray, " point"]) -> Scalar:
        """The energy without checks, for code that is being traced."""
        if self.kinetic is not None and self.potential is not None:
            return self.kinetic(t, q, v, *self.last) + self.potential(t, q, *self.last)
        return energy_function(self.raw_lagrangian, t, jnp.asarray(q), jnp.asarray(v))

    def mass_matrix(self, t: Number, q: VectorLike, v: VectorLike | None = None) -> Float[Array, "dim dim"]:
        r"""\(\partial^2 L/\partial v^2\) in the local coordinates of the space at q; v matters only where L is not
        quadratic in it, and defaults to zero."""
        return quantities.mass_matrix(self, *self._state(t, q, v))

    def momentum(self, t: Number, q: VectorLike, v: VectorLike) -> Covector:
        r"""\(\partial L/\partial v\) (on a curved space: the ambient covector tangent to it)."""
        return quantities.momentum(self, *self._state(t, q, v))

    def velocity(self, t: Number, q: VectorLike, p: VectorLike, guess: VectorLike | None = None) -> Point:
        r"""The velocity with momentum p, the inverse Legendre transform, by Newton from `guess`."""
        at, x, momentum = self._state(t, q, p, "p")
        return quantities.velocity(
            mass_checks.with_structure(self), at, x, momentum, self._state(at, x, guess, "guess")[2]
        )

    def energy(self, t: Number, q: VectorLike, v: VectorLike) -> Scalar:
        r"""T + V where the system was made of these, otherwise Jacobi's \(v\cdot\partial L/\partial v - L\)."""
        return quantities.energy(self, *self._state(t, q, v))

    def hamiltonian(self, t: Number, q: VectorLike, p: VectorLike) -> Scalar:
        r"""\(H(t,q,p) = p\cdot v - L\) at the velocity with that momentum."""
        return quantities.hamiltonian(mass_checks.with_structure(self), *self._state(t, q, p, "p"))

    def acceleration(self, t: Number, q: VectorLike, v: VectorLike) -> Point:
        """The second derivative of the motion; raises where a singular mass matrix leaves it undetermined."""
        if self.constraints:
            from holonomy.systems.constraints import add

            return add.acceleration(*self._regular(t, q, v))
        return quantities.acceleration(*self._regular(t, q, v))

    def multipliers(self, t: Number, q: VectorLike, v: VectorLike) -> Float[Array, " conditions"]:
        r"""\(\lambda\) in \(M a = f + N^\top\lambda\), holonomic constraints first, then velocity constraints.

        Of least norm where constraints are redundant. Empty for a system without constraints.
        """
        from holonomy.systems.constraints import add

        return add.multipliers(*self._regular(t, q, v))

    def constraint_forces(self, t: Number, q: VectorLike, v: VectorLike) -> Float[Array, "particles d"]:
        r"""The forces \(F\) of the constraints on the particles, \((\partial x/\partial q)^\top F = N^\top\lambda\).

        Unique where the positions are as many as the coordinates; elsewhere the smallest such forces.
        """
        from holonomy.systems.constraints import add

        return add.cartesian(*self._regular(t, q, v))

    def project(self, t: Number, q: VectorLike, v: VectorLike) -> tuple[Point, Point]:
        """The nearest state that satisfies the constraints: q, then v, each in the kinetic metric."""
        from holonomy.systems.constraints import add

        return add.project(*self._regular(t, q, v))

    def dof(self, t: Number, q: VectorLike) -> int:
        """Degrees of freedom at q: the dimension of the space of virtual displacements."""
        return self.virtual_displacements(t, q).shape[1]

    def virtual_displacements(self, t: Number, q: VectorLike) -> Float[Array, "point dof"]:
        r"""A basis, as columns, of the displacements \(N\,\delta q = 0\) that the constraints allow at a fixed time.

        Orthonormal in the kinetic metric.
        """
        from holonomy.systems.constraints import add

        return add.displacements(*self._regular(t, q, None)[:3])

    def equations(self) -> Equations:
        """Lagrange's and Hamilton's equations in SymPy (`.sympy`) and LaTeX (`.latex`), shown so in a notebook."""
        from holonomy.systems.equations.derive import derive  # here, because SymPy takes half a second to import

        return derive(self)

    def place(self, t: Number, q: VectorLike) -> Float[Array, "particles d"]:
        """Where the particles are, for drawing."""
        if self.positions is None:
            raise ValueError("This system does not know its positions; pass positions=x(t, q) when making it.")
        return quantities.place(self, *self._state(t, q, None)[:2])

    def places(self, times: AnyArray, points: AnyArray) -> np.ndarray:
        """Where the particles are at many times, (times, particles, d)."""
        self.place(times[0], points[0])
        return quantities.places(self, times, points)

    def studio(self, q0: VectorLike, v0: VectorLike | None = None, **options: Any) -> StudioView:
        """The system in motion in a notebook, in the studio's viewer; options as those of `holonomy.show.studio`."""
        from holonomy.show.notebook import studio

        return studio(self, q0, v0, **options)

    @property
    def last(self) -> tuple[Parameters, ...]:
        """The last argument of the system's functions: the parameters, or nothing."""
        return (self.parameters,) if self.parametric else ()

    def _regular(self, t: Any, q: Any, v: Any) -> tuple[System, Any, Any, Any]:
        """A system of the same motions with a regular mass matrix, and the state; a ValueError if there is none."""
        state = self._state(t, q, v)
        given = self.direct is not None or self.inverse is not None
        return (self if given else mass_checks.regular(self, *state)), *state

    def _state(self, t: Any, q: Any, v: Any, name: str = "v") -> tuple[Any, Any, Any]:
        shape = (self.space.point_dim,)
        q = vector("q", q, shape, self)
        v = jnp.zeros_like(q) if v is None else vector(name, v, shape, self)
        return number("time t", t), q, v


def _assemble(frame: tracing.Frame, lagrangian: Function, **known: Any) -> System:
    fields: dict[str, Any] = {
        "kinetic": None,
        "potential": None,
        "positions": None,
        "definite": False,
        "forces": (),
        "constraints": Constraints(),
        "direct": None,
        "inverse": None,
        **known,
    }
    return System(
        lagrangian=lagrangian,
        parameters=frame.parameters,
        space=frame.space,
        coordinates=frame.coordinates,
        parametric=frame.parametric,
        **fields,
    )


def _natural(frame: tracing.Frame, kinetic: Any, potential: Any, **known: Any) -> System:
    """A system with L = T - V, both remembered so that its energy is T + V."""
    t_traced = frame.scalar("kinetic energy", kinetic, velocity=True)
    v_traced = frame.scalar("potential", frame.given(potential) or (lambda t, q, *p: jnp.zeros_like(t)))

    def lagrangian(t: Any, q: Any, v: Any, *p: Any) -> Any:
        return t_traced(t, q, v, *p) - v_traced(t, q, *p)

    return _assemble(
        frame, frame.scalar("lagrangian", lagrangian, velocity=True), kinetic=t_traced, potential=v_traced, **known
    )
