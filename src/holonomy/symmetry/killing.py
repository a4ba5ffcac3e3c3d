"""`killing`: all continuous symmetries of a system that act on positions, without an ansatz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.motion import Run
from holonomy.motion.run.watched_integrals import Measured
from holonomy.spaces import AbstractSpace
from holonomy.symmetry import lie_algebra, prolongation
from holonomy.symmetry.far_fields import Known, holding, refuse_time
from holonomy.symmetry.many_states import Where
from holonomy.symmetry.natural import Natural, refuse_not_quadratic, refuse_others
from holonomy.symmetry.prolongation import Solution
from holonomy.symmetry.samples import states
from holonomy.symmetry.transport import Jet, compiled
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion
from holonomy.types import Number, Numbers, Tree, VectorLike

_ORDERS = (5, 6, 8)  # degrees of the Taylor polynomials that are tried until the dimension settles
_ZERO = 1e-7  # components of fields of size 1 below this are zero
_LARGE = 5  # coordinates from which on degrees are one less, since polynomials of many variables are long


@dataclass(frozen=True)
class KillingAlgebra:
    r"""The Lie algebra of the fields whose flows preserve a system.

    `fields` are functions q -> \(\xi(q)\), as many as `dim`; `structure[i, j, k]` are the structure constants of
    \([\xi_i, \xi_j] = \sum_k c_{ijk}\xi_k\); `algebra` is the name of the algebra, such as ``"so(3)"`` or
    ``"so(3)+R"``; `kind` is ``"isotropic"`` where symmetries carry every point and direction to every other near by,
    ``"homogeneous"`` where they carry every point to every other, else ``"neither"``; `orbit_dim` is the dimension of
    the set of points to which they carry one. `at` is the point at which they were found, `dims` the dimension for
    conditions of growing order, `gap` the smallest singular value that counts and the largest that does not, and
    `source` computes all fields at once. `looked_at` says where the fields were found to hold.
    """

    system: System
    at: np.ndarray
    fields: tuple[KillingField, ...] = field(repr=False)
    structure: np.ndarray
    algebra: str
    kind: str
    orbit_dim: int
    dims: tuple[int, ...]
    gap: tuple[float, float]
    source: Source = field(repr=False)
    looked_at: str = ""

    @property
    def dim(self) -> int:
        """How many independent symmetries there are."""
        return len(self.fields)

    def __len__(self) -> int:
        return self.dim

    def momenta(self, t: Number, q: VectorLike, v: VectorLike) -> Float[Array, " fields"]:
        r"""Noether's momenta \(\partial L/\partial v\cdot\xi_i\) of all fields.

        Conserved where the Lagrangian has no part of first degree in v; with one (a magnetic field) use `noether`,
        which finds what must be added.
        """
        rows = [jnp.asarray(x, float)[None] for x in (t, q, v)]
        return jnp.asarray(compiled(self.source.momenta, *rows)[0])

    def momenta_along(self, run: Run) -> Float[Array, "times fields"]:
        """The momenta at the saved times of a run."""
        rows = [jnp.asarray(x) for x in (run.t, run.q, run.v)]
        return jnp.asarray(compiled(self.source.momenta, *rows))

    def measured(self, run: Run) -> list[Measured]:
        """The momenta at the saved times of a run, for `Run.watch`."""
        rows = [jnp.asarray(x) for x in (run.t, run.q, run.v)]
        values, terms, rounding = (np.asarray(x) for x in compiled(self.source.sized_momenta, *rows))
        each = enumerate(zip(values.T, terms.T, rounding.T, strict=True))
        return [Measured(f"momentum of field {k}", *columns) for k, columns in each]

    def __repr__(self) -> str:
        where = f", {self.looked_at}" if "states" in self.looked_at else ""
        return f"{self.dim} symmetr{'y' if self.dim == 1 else 'ies'}, {self.algebra}, {self.kind}{where}"


def killing(
    system: System | AbstractSpace,
    at: Numbers | None = None,
    *,
    where: Where | None = None,
    along: Run | Sequence[Run] = (),
) -> KillingAlgebra:
    """The Lie algebra of all vector fields whose flows preserve kinetic energy, potential and velocity constraints.

    No form of the fields is assumed. A field is known from its value and the antisymmetric part of its derivative at
    one point; the conditions on these are solved in Taylor polynomials of growing degree until the number of solutions
    settles (`holonomy.symmetry.prolongation`), at two points. Fields elsewhere follow by integrating along the straight
    line from the point in its chart; they are NaN where that line leaves the domain of the coordinates.

    An analytic system has the same symmetries everywhere. Where the Lagrangian has steps, kinks, or parts that may be
    zero to rounding at that point, the fields are carried to many states as those of `noether`, and those combinations
    are kept that hold at all of them; `looked_at` says where that was. In curved spaces, and of velocity constraints,
    only the points themselves are looked at.

    **Arguments:** `system`, or a space, whose geodesics are then the motions; `at`, the point at which to look, by
    default a random one. It should be regular: no equilibrium, and no point that is special in another way; `where` and
    `along`, the region and the runs whose states are to be looked at, as in `noether`.

    **Fails** with `ValueError` for a system whose Lagrangian depends on the time or is not quadratic in v, with forces,
    holonomic constraints or walls, or at a singular mass matrix.
    """
    if isinstance(system, AbstractSpace):
        space = system
        system = System.from_lagrangian(lambda t, x, v: 0.5 * space.inner(x, v, v), space=space)
    refuse_others(system, "hl.killing", velocity=True)
    runs = (along,) if isinstance(along, Run) else tuple(along)
    refuse_time(system, "hl.killing", where, runs)
    points = [np.asarray(q) for _, q, _ in states(system, 2)] if at is None else [_given(system, at)]
    found = [_solved(system, point) for point in points]
    # two points of an analytic system have the same local symmetries; where a system is not analytic, fewer are global
    k = int(np.argmin([solution.fields.shape[0] for solution, _ in found]))
    (solution, frame), point = found[k], points[k]
    weights, looked = holding(system, _source(system, point, solution, frame), where, runs)
    if len(weights) < len(solution.fields):
        solution = replace(solution, fields=np.einsum("ab,bic->aic", weights, solution.fields))
    fields = prolongation.reduced_basis(solution.fields, frame)
    constants = prolongation.structure_constants(solution.of, fields)
    source = _source(system, point, replace(solution, fields=fields), frame)
    values = source.jet.values
    kind, orbit = _kind(solution)
    return KillingAlgebra(
        system=system,
        at=point,
        fields=tuple([KillingField(source, unit) for unit in np.eye(len(values))]),
        structure=constants,
        algebra=lie_algebra.name(prolongation.structure_constants(solution.of, solution.fields)),
        kind=kind,
        orbit_dim=orbit,
        dims=solution.dims,
        gap=solution.gap,
        source=source,
        looked_at=f"at {len(points)} point{'s' if len(points) > 1 else ''}" if looked is None else looked.words(),
    )


def _source(system: System, point: np.ndarray, solution: Solution, frame: np.ndarray) -> Source:
    return Source(system, point, Jet(*prolongation.values_and_slopes(solution.fields, frame)))


def _solved(system: System, point: np.ndarray) -> tuple[Solution, np.ndarray]:
    """The solution at a point, and the frame of the coordinates in which it is written."""
    local = system.local(jnp.asarray(point))
    n = system.space.dim
    origin = np.asarray(local.origin)
    refuse_not_quadratic(local, origin, "hl.killing")
    try:
        expansion = Expansion(lambda y: _parts(local, y), n)
    except Unsupported as error:
        raise ValueError(f"The Lagrangian has no Taylor series: {error}") from error
    mass = expansion.at(origin, 0)[2][..., 0]
    if not np.all(np.isfinite(mass)) or np.min(np.linalg.eigvalsh(0.5 * (mass + mass.T))) <= 0:
        raise ValueError(
            f"The kinetic energy is not positive definite at q = {np.array2string(point, precision=4)}: symmetries are "
            "those of a metric. Pass another point as at=, or other coordinates."
        )
    frame = _unit_frame(mass, point if system.flat else np.zeros(n))
    solution, scale = None, 1.0
    for order in _ORDERS:
        order -= n >= _LARGE
        of = expansion.ring(order)
        covector, rest, metric, *forms = expansion.at(origin, order, frame)
        metric = np.einsum("ia,ijc,jb->abc", frame, metric, frame)
        metric = metric / metric[0, 0, 0]
        held = None if not forms else np.einsum("kic,ia->kac", forms[0], frame)
        geometry, scale = prolongation.normalised(of, metric, rest, np.einsum("ic,ia->ac", covector, frame), held)
        solution = prolongation.solve(geometry)
        if solution.settled:
            break
    if solution is None or not solution.settled:
        raise ValueError(
            f"The number of symmetries does not settle at q = {np.array2string(point, precision=4)}: conditions of "
            f"growing order leave {'' if solution is None else solution.dims}. Pass another point as at=."
        )
    return solution, frame * scale


def _unit_frame(mass: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A frame in which the metric is a multiple of the identity, of about the size of the coordinates of the point.

    Symmetries of a metric and of a multiple of it are the same; in steps of this size a change that is small against
    the value is rounding, whatever the units are.
    """
    frame = np.linalg.inv(np.linalg.cholesky(mass)).T
    rows = np.linalg.norm(frame, axis=1)
    size = float(np.max(np.abs(point) / rows))
    return frame * (size if size > 0 else 1.0 / float(np.max(rows)))


def _parts(local: Any, y: Any) -> dict[str, Any]:
    """The coefficients of L in powers of v, and those of the velocity constraints, by names in this order."""
    natural = Natural(local)
    found = {"a linear": natural.linear(y), "b constant": natural.rest(y), "c metric": natural.metric(y)}
    if local.system.constraints.equations.velocity:
        found["d forms"] = jax.jacfwd(lambda w: local.rates(jnp.zeros(()), y, w))(jnp.zeros_like(y))
    return found


class Source(Known):
    """Where fields were found, their jets there, and their momenta."""

    def momenta(self, t: Tree, q: Tree, v: Tree) -> Tree:
        """Their momenta at rows of states."""

        def one(state: tuple[Tree, Tree, Tree]) -> Tree:
            s, x, w = state
            return self.transport.fields(x) @ jax.grad(self.system.raw_lagrangian, argnums=2)(s, x, w)

        return jax.lax.map(one, (t, q, v))

    def sized_momenta(self, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
        """The same with the sizes of their terms and of what their rounding comes from."""

        def one(state: tuple[Tree, Tree, Tree]) -> tuple[Tree, Tree, Tree]:
            s, x, w = state
            fields, slope = self.transport.fields(x), jax.grad(self.system.raw_lagrangian, argnums=2)(s, x, w)
            whole = jnp.sum(jnp.abs(slope)) * jnp.max(jnp.abs(fields), axis=1)
            return fields @ slope, jnp.abs(fields) @ jnp.abs(slope), whole

        return jax.lax.map(one, (t, q, v))


class KillingField:
    """One of the fields, or a combination of several with constant weights, as in ``2 * fields[0] + fields[1]``."""

    def __init__(self, source: Source, weights: np.ndarray) -> None:
        self.source, self.weights = source, weights

    def __call__(self, q: VectorLike) -> Tree:
        return jnp.asarray(self.weights) @ self.source.transport.fields_at(jnp.asarray(q, float))

    def __add__(self, other: KillingField) -> KillingField:
        if not isinstance(other, KillingField):
            return NotImplemented
        if other.source is not self.source:
            raise ValueError("These fields come from two calls of hl.killing; add fields of one.")
        return KillingField(self.source, self.weights + other.weights)

    def __mul__(self, factor: Number) -> KillingField:
        return KillingField(self.source, np.asarray(number("factor", factor)) * self.weights)

    __rmul__ = __mul__

    def __neg__(self) -> KillingField:
        return -1.0 * self

    def __sub__(self, other: KillingField) -> KillingField:
        return self + -other


def _kind(solution: Solution) -> tuple[str, int]:
    """The kind, and the dimension of an orbit, in the frame of the solution, where lengths have size 1."""
    count, n = solution.fields.shape[:2]
    if not count:
        return "neither", 0
    _, sizes, right = np.linalg.svd(solution.fields[..., 0].T)
    orbit = int(np.sum(sizes > _ZERO))
    if orbit < n:
        return "neither", orbit
    # fields that vanish at the point turn directions there; an orbit of full dimension on the sphere is the sphere
    turns = np.einsum("ba,aij->bij", right[orbit:], solution.fields[..., 1 : 1 + n])
    moved = turns @ np.random.default_rng(0).normal(size=n)
    rank = int(np.linalg.matrix_rank(moved, tol=_ZERO)) if moved.size else 0
    return ("isotropic" if rank == n - 1 else "homogeneous"), orbit


def _given(system: System, at: Any) -> np.ndarray:
    q = np.asarray(at, float)
    if q.shape != (system.space.point_dim,):
        raise ValueError(
            f"The point at must have shape ({system.space.point_dim},), one number per coordinate "
            f"({', '.join(system.names)}); got shape {q.shape}."
        )
    return q
