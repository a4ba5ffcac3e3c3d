"""Bodies that move by changing their shape: a group, a shape space, and the connection between their velocities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.metric import known
from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Connection, Curvature, Form, Row, Shape, ShapeMetric
from holonomy.locomotion.groups import Group, LieGroup, as_group
from holonomy.locomotion.local_form import connection_at, curvature_at, margins_at, power_at
from holonomy.spaces import AbstractSpace
from holonomy.systems.coordinates import Coordinate, coordinates
from holonomy.trace.function import Function, trace
from holonomy.types import ArrayFunction, Number, Numbers, Scalar, VectorLike

if TYPE_CHECKING:
    from holonomy.locomotion.controllability import Controllability
    from holonomy.systems import System

ShapeNames: TypeAlias = int | Sequence[str] | Mapping[str, str]


class Mover(eqx.Module):
    r"""A body with shape \(r\) and place \(g\) in a group \(G\), whose shape changes move it:
    \(\xi = g^{-1}\dot g = -A(r)\,\dot r\).

    Make one from a description: `from_drag` (resistance to motion, no inertia), `from_momentum` (zero or given
    momentum), `from_constraints` (velocity constraints, with a momentum where they leave freedom), `from_masses`
    (particles in a space), `from_connection` (a connection of one's own). A mover is a PyTree; its numbers are leaves.

    Every description is a quadratic form \(\frac12(\xi,\dot r)^\top K(r)\,(\xi,\dot r)\), the rate of dissipation or
    the kinetic energy, and velocity constraints \(\omega_\xi(r)\,\xi + \omega_r(r)\,\dot r = 0\). The connection
    makes \(K_{\xi\xi}\xi + K_{\xi r}\dot r\) vanish on the directions that the constraints leave free.
    """

    group: Group
    lie: LieGroup
    form: Function
    conditions: Function | None
    direct: Function | None
    margins: Function | None
    reference: Scalar | float
    coordinates: tuple[Coordinate, ...] = eqx.field(static=True)
    sentences: tuple[str, ...] = eqx.field(static=True)
    inertial: bool = eqx.field(static=True)

    # ── Describing ────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def from_drag(
        places: ArrayFunction,
        resistances: Numbers | ArrayFunction,
        group: Group,
        shape: ShapeNames,
        *,
        flow: ArrayFunction | None = None,
        dissipation: ArrayFunction | None = None,
        limits: Mapping[str, ArrayFunction] | None = None,
        reference: Number = 1.0,
    ) -> Mover:
        r"""A body in a viscous fluid, where inertia does not matter: the sum of forces and torques is zero.

        **Arguments:** `places`, a function of the shape to the places of the parts in the body's frame, one element of
        the group in each row (on SE(2) also (x, y, angle)); `resistances`, one matrix for each part that takes its
        velocity in its own frame to the drag on it, (parts, dim, dim), or one matrix for all velocities together where
        parts disturb each other, or a function of the shape to either; `group`; `shape`, the names of the shape
        variables, a mapping of names to kinds, or their number. `flow(r)`, (parts, dim, n), is the velocity of the
        fluid at each part, in its frame, for each rate of change of the shape; `dissipation(r)`, (n, n), is more power
        that changes of shape cost. `limits`, functions of the shape that are positive where the shape is allowed, by
        the sentence that says what is wrong. `reference` is the drag coefficient that efficiencies refer to.

        `link` and `ball` in `holonomy.locomotion` make resistances.
        """
        from holonomy.locomotion.drag import drag_form

        names, lie = _names(shape), as_group(group)
        form = drag_form(places, resistances, lie, len(names), flow, dissipation)
        return assemble(group, names, form=_traced(form, len(names)), limits=limits, reference=reference)

    @staticmethod
    def from_momentum(system: System, group: Group, *, limits: Mapping[str, ArrayFunction] | None = None) -> Mover:
        r"""The mechanical connection of a system whose kinetic energy does not change under a group.

        The configuration is (g, r): the first coordinates of the system are an element of the group, as the space
        stores it; on SE(2) they may also be (x, y, angle). The others are the shape. \(K_{\xi\xi}\) is the locked
        inertia; with momentum \(\mu\) in space, \(\xi = -A\dot r + K_{\xi\xi}^{-1}\mathrm{Ad}^*_g\mu\). `perform` takes
        the momentum; without one it is zero.
        """
        from holonomy.locomotion.reduction import reduced

        return assemble(group, *reduced(system, group, constrained=False), limits=limits)

    @staticmethod
    def from_constraints(system: System, group: Group, *, limits: Mapping[str, ArrayFunction] | None = None) -> Mover:
        r"""The connection of a system with velocity constraints that do not change under a group.

        As many constraints as the group has dimensions determine the motion by themselves (wheels, skates). Where there
        are fewer, the directions left carry a momentum p as well, \(\xi = -A\dot r + \Gamma(r)\,p\), whose rate of
        change depends on the shape's (Bloch, Krishnaprasad, Marsden and Murray 1996).
        """
        from holonomy.locomotion.reduction import reduced

        return assemble(group, *reduced(system, group, constrained=True), limits=limits)

    @staticmethod
    def from_masses(
        places: ArrayFunction, masses: Numbers, space: AbstractSpace, shape: ShapeNames, *, group: Group | None = None
    ) -> Mover:
        """Particles with total momentum zero, in a Euclidean, spherical or hyperbolic space.

        `places` gives the points of the space at which the particles are when the body's frame is at its origin, one in
        each row, as a function of the shape. The group is that of the isometries of the space.
        """
        from holonomy.locomotion.particles import particle_form

        names = _names(shape)
        form, chosen = particle_form(places, masses, space, group)
        return assemble(chosen, names, form=_traced(form, len(names)), inertial=True)

    @staticmethod
    def from_connection(
        connection: ArrayFunction, group: Group, shape: ShapeNames, *, power: ArrayFunction | None = None
    ) -> Mover:
        """A connection A(r), (dim, n), given as a function; `power` (n, n) is the metric of its cost, by default 1."""
        names, lie = _names(shape), as_group(group)
        n = len(names)
        direct = _traced(connection, n)
        _require_shape("connection", direct, (lie.dim, n), n)

        def form(r: Shape) -> Form:
            cost = jnp.eye(n) if power is None else jnp.asarray(power(r))
            return jnp.zeros((lie.dim + n, lie.dim + n)).at[lie.dim :, lie.dim :].set(cost)

        return assemble(group, names, form=_traced(form, n), direct=direct)

    # ── Asking ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def shape_dim(self) -> int:
        """How many shape variables there are."""
        return len(self.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shape variables."""
        return tuple(c.name for c in self.coordinates)

    def connection(self, r: VectorLike) -> Connection:
        r"""\(A(r)\), one column for each shape variable: \(\xi = -A\dot r\)."""
        return compiled.arrays(connection_at, self, self.shape(r))

    def curvature(self, r: VectorLike) -> Curvature:
        r"""\(B_{ij} = \partial_iA_j - \partial_jA_i - [A_i, A_j]\) as an array [component, i, j].

        A small loop around an area moves the body by \(-\iint B\).
        """
        return compiled.arrays(curvature_at, self, self.shape(r))

    def power(self, r: VectorLike) -> ShapeMetric:
        r"""The metric G: changing the shape at the rate \(\dot r\) costs the power \(\dot r^\top G\,\dot r\).

        For a mover with inertia it is the kinetic energy's, twice the energy of the motion at momentum zero.
        """
        return compiled.arrays(power_at, self, self.shape(r))

    def controllability(self, r: VectorLike, order: int | None = None) -> Controllability:
        """Which motions loops of shapes near r can make, from the holonomy algebra (Ambrose and Singer)."""
        from holonomy.locomotion.controllability import controllability

        return controllability(self, self.shape(r), order)

    def shape(self, r: VectorLike) -> Shape:
        """The value as a shape; `ValueError` where its numbers are known and it is not allowed."""
        array = jnp.asarray(r, float)
        if array.shape != (self.shape_dim,):
            raise ValueError(
                f"A shape of this mover is an array of {self.shape_dim} numbers ({', '.join(self.names)}), but one of "
                f"shape {array.shape} was passed."
            )
        if known(array, self):
            if not np.all(np.isfinite(np.asarray(array))):
                raise ValueError(f"The shape {np.asarray(array).tolist()} is not finite.")
            if self.margins is not None:
                self.refuse_margins(np.asarray(compiled.call(margins_at, self, array)), np.asarray(array))
        return array

    def refuse_margins(self, margins: np.ndarray, shape: np.ndarray) -> None:
        """Raise where a limit is not positive, with the sentence that belongs to it."""
        for margin, sentence in zip(margins, self.sentences, strict=True):
            if not margin > 0:
                values = ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.names, shape, strict=True))
                raise ValueError(f"{sentence} (at {values}).")

    def __repr__(self) -> str:
        return f"Mover({type(self.group).__name__}, shape=({', '.join(self.names)}))"


# ── Making ────────────────────────────────────────────────────────────────────────────────────────────


def assemble(
    group: Group,
    names: tuple[Coordinate, ...],
    form: Function,
    conditions: Function | None = None,
    inertial: bool = False,
    *,
    direct: Function | None = None,
    limits: Mapping[str, ArrayFunction] | None = None,
    reference: Number = 1.0,
) -> Mover:
    """A mover from its traced parts."""
    lie, n = as_group(group), len(names)
    _require_shape("quadratic form", form, (lie.dim + n, lie.dim + n), n)
    given = dict(limits or {})

    def margins(r: Shape) -> Row:
        return jnp.stack([jnp.min(jnp.asarray(f(r))) for f in given.values()])

    return Mover(
        group,
        lie,
        form,
        conditions,
        direct,
        _traced(margins, n) if given else None,
        float(reference) if isinstance(reference, (int, float)) else jnp.asarray(reference, float),
        names,
        tuple(given),
        inertial,
    )


def _names(shape: ShapeNames) -> tuple[Coordinate, ...]:
    if isinstance(shape, (int, np.integer)):
        if shape < 1:
            raise ValueError(f"A mover needs at least one shape variable, but shape={shape!r} was given.")
        shape = tuple(f"r{i + 1}" for i in range(int(shape)))
    return coordinates(shape)


def _traced(function: ArrayFunction, n: int) -> Function:
    return trace(lambda r: jnp.asarray(function(r), float), (jax.ShapeDtypeStruct((n,), float),))


def _require_shape(name: str, function: Function, shape: tuple[int, ...], n: int) -> None:
    got = jax.eval_shape(function, jax.ShapeDtypeStruct((n,), float)).shape
    if got != shape:
        raise ValueError(f"The {name} has shape {got} at a shape of {n} variables; expected {shape} for this group.")
