"""`killing`: all continuous symmetries of a system that act on positions, without an ansatz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.integrate import integrate
from holonomy.motion import Run
from holonomy.spaces import AbstractSpace
from holonomy.symmetry import lie_algebra, prolongation
from holonomy.symmetry.natural import Natural, refuse_not_quadratic, refuse_others
from holonomy.symmetry.prolongation import Solution
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion
from holonomy.types import Number, Numbers, Tree, Vector, VectorLike

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
    `extension` computes all fields at once.
    """

    system: System
    at: np.ndarray
    fields: tuple[Callable[[Any], Any], ...] = field(repr=False)
    structure: np.ndarray
    algebra: str
    kind: str
    orbit_dim: int
    dims: tuple[int, ...]
    gap: tuple[float, float]
    extension: _Extension = field(repr=False)

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
        return _momenta(self.extension, jnp.asarray(t, float), jnp.asarray(q, float), jnp.asarray(v, float))

    def momenta_along(self, run: Run) -> Float[Array, "times fields"]:
        """The momenta at the saved times of a run."""
        return _momenta_along(self.extension, jnp.asarray(run.t), jnp.asarray(run.q), jnp.asarray(run.v))

    def __repr__(self) -> str:
        return f"{self.dim} symmetr{'y' if self.dim == 1 else 'ies'}, {self.algebra}, {self.kind}"


def killing(system: System | AbstractSpace, at: Numbers | None = None) -> KillingAlgebra:
    """The Lie algebra of all vector fields whose flows preserve kinetic energy, potential and velocity constraints.

    No form of the fields is assumed. A field is known from its value and the antisymmetric part of its derivative at
    one point; the conditions on these are solved in Taylor polynomials of growing degree until the number of solutions
    settles (`holonomy.symmetry.prolongation`), at two points. Fields elsewhere follow by integrating along the straight
    line from the point in its chart; they are NaN where that line leaves the domain of the coordinates.

    **Arguments:** `system`, or a space, whose geodesics are then the motions; `at`, the point at which to look, by
    default a random one. It should be regular: no equilibrium, and no point that is special in another way.

    **Fails** with `ValueError` for a system whose Lagrangian depends on the time or is not quadratic in v, with forces,
    holonomic constraints or walls, or at a singular mass matrix.
    """
    if isinstance(system, AbstractSpace):
        space = system
        system = System.from_lagrangian(lambda t, x, v: 0.5 * space.inner(x, v, v), space=space)
    refuse_others(system, "hl.killing", velocity=True)
    points = [np.asarray(q) for _, q, _ in states(system, 2)] if at is None else [_given(system, at)]
    found = [_solved(system, point) for point in points]
    # two points of an analytic system have the same local symmetries; where a system is not analytic, fewer are global
    k = int(np.argmin([solution.fields.shape[0] for solution, _ in found]))
    (solution, frame), point = found[k], points[k]
    fields = prolongation.reduced_basis(solution.fields, frame)
    constants = prolongation.structure_constants(solution.of, fields)
    values, slopes = prolongation.values_and_slopes(fields, frame)
    extension = _Extension(system, point, values, slopes)
    kind, orbit = _kind(solution)
    return KillingAlgebra(
        system=system,
        at=point,
        fields=tuple([_Field(extension, i) for i in range(len(values))]),
        structure=constants,
        algebra=lie_algebra.name(prolongation.structure_constants(solution.of, solution.fields)),
        kind=kind,
        orbit_dim=orbit,
        dims=solution.dims,
        gap=solution.gap,
        extension=extension,
    )


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


class _Extension(eqx.Module):
    r"""The fields everywhere: \((\xi_k, \partial_j\xi_k)\) carried along the line from the point in its chart."""

    system: System
    at: Tree
    first: Tree
    slopes: Tree

    def metric(self, y: Vector) -> Tree:
        """The kinetic metric in the chart at the point."""
        return Natural(self.system.local(jnp.asarray(self.at))).metric(y)

    def values(self, x: Tree) -> Tree:
        """All fields at a point of the space, one row each."""
        local = self.system.local(jnp.asarray(self.at))
        y = x if self.system.flat else self.system.space.coordinates(self.at, x)
        fields = self._carried(local.origin, y)
        if self.system.flat:
            return fields
        return jax.vmap(lambda w: jax.jvp(local.point, (y,), (w,))[1])(fields)

    def _carried(self, start: Tree, y: Tree) -> Tree:
        n, count = y.shape[0], self.first.shape[0]
        away = y - start
        value, slope = jnp.asarray(self.first), jnp.asarray(self.slopes)
        g, dg = self.metric(start), jax.jacfwd(self.metric)(start)
        # lowered: xi_k = g_kl xi^l and its derivatives by j, (field, j, k)
        lowered = jnp.einsum("kl,alj->ajk", g, slope) + jnp.einsum("klj,al->ajk", dg, value)
        first = jnp.concatenate([value @ g, lowered.reshape(count, n * n)], axis=1)

        def rate(s: Tree, z: Tree) -> Tree:
            z = z.reshape(count, n + n * n)
            xi, f = z[:, :n], z[:, n:].reshape(count, n, n)
            q = start + s * away
            gamma, turn = self._connection(q)
            bent = 2.0 * (jnp.einsum("ljki,al->aijk", turn, xi) + jnp.einsum("ljk,ail->aijk", gamma, f))
            second = 0.5 * (bent + jnp.swapaxes(bent, 1, 2) - jnp.einsum("akij->aijk", bent))
            parts = [jnp.einsum("j,ajk->ak", away, f), jnp.einsum("i,aijk->ajk", away, second).reshape(count, n * n)]
            return jnp.concatenate(parts, axis=1).reshape(-1)

        end = integrate(rate, first.reshape(-1), loop=True, watched=0).reshape(count, n + n * n)
        return jnp.linalg.solve(self.metric(y), end[:, :n].T).T

    def _connection(self, q: Tree) -> tuple[Tree, Tree]:
        """Christoffel symbols and their derivatives, (l, j, k) and (l, j, k, i), from those of the metric."""
        g, d, dd = self.metric(q), jax.jacfwd(self.metric)(q), jax.jacfwd(jax.jacfwd(self.metric))(q)

        def lowered(slope: Tree) -> Tree:
            return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope - jnp.moveaxis(slope, 2, 0))

        inverse = jnp.linalg.inv(g)
        gamma = jnp.einsum("lm,mjk->ljk", inverse, lowered(d))
        first = jax.vmap(lowered, in_axes=3, out_axes=3)(dd)
        return gamma, jnp.einsum("lm,mjki->ljki", inverse, first - jnp.einsum("mni,njk->mjki", d, gamma))


class _Field(eqx.Module):
    """One of the fields."""

    extension: _Extension
    index: int = eqx.field(static=True)

    def __call__(self, q: VectorLike) -> Tree:
        return _values(self.extension, jnp.asarray(q, float))[self.index]


@eqx.filter_jit
def _values(extension: _Extension, q: Tree) -> Tree:
    return extension.values(q)


def _momentum(extension: _Extension, t: Tree, q: Tree, v: Tree) -> Tree:
    return extension.values(q) @ jax.grad(extension.system.raw_lagrangian, argnums=2)(t, q, v)


@eqx.filter_jit
def _momenta(extension: _Extension, t: Tree, q: Tree, v: Tree) -> Tree:
    return _momentum(extension, t, q, v)


@eqx.filter_jit
def _momenta_along(extension: _Extension, t: Tree, q: Tree, v: Tree) -> Tree:
    return jax.lax.map(lambda s: _momentum(extension, *s), (t, q, v))


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
