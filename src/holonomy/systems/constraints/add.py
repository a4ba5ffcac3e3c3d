"""Adding constraints to a system, with a sentence for every mistake, and what a person asks of a constrained system."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from holonomy.root_finding import SHRINKS, Iterate, iterate
from holonomy.systems import lagrangian, tracing
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.conditions import LAWS, Equations, Held, Normals, Walls, all_equations
from holonomy.systems.constraints.kkt import accelerate, spread, with_sliding
from holonomy.systems.constraints.nearest import FOUND, NEAREST, ON_SURFACE, SETTLED, nearest
from holonomy.systems.constraints.slip import with_friction
from holonomy.systems.constraints.sparse import structures
from holonomy.systems.constraints.tolerance import close, distances
from holonomy.systems.contact import contact
from holonomy.systems.dense_solve import RANK
from holonomy.systems.parameters import Parameters, number
from holonomy.systems.replace import replace
from holonomy.trace.affine import affine_in
from holonomy.trace.function import Function
from holonomy.types import (
    AnyPoint,
    AnyTangent,
    ArrayFunction,
    Matrix,
    Number,
    Numbers,
    Point,
    Tangent,
    Vector,
)

if TYPE_CHECKING:
    from holonomy.systems.in_chart import Local
    from holonomy.systems.system import System

_VELOCITY = 2  # the place of v among the arguments (t, q, v, p)
_TRIES = 3  # random states at which a condition on velocities is checked to be affine in v


def constrain(
    system: System,
    holonomic: ArrayFunction | None,
    velocity: ArrayFunction | None,
    unilateral: ArrayFunction | None,
    restitution: Numbers,
    velocity_unilateral: ArrayFunction | None,
    law: str | None,
    friction: Numbers | None = None,
    slip: ArrayFunction | None = None,
) -> System:
    """The system with these constraints besides those it has."""
    if holonomic is None and velocity is None and unilateral is None and velocity_unilateral is None:
        raise ValueError("Pass holonomic=phi(t, q), velocity=a(t, q, v), unilateral=sigma(t, q), or several; got none.")
    loss: Any = restitution
    if unilateral is None and not (np.ndim(loss) == 0 and loss == 1.0):
        raise ValueError(f"restitution= belongs to unilateral=sigma(t, q), which is missing; got {restitution!r}.")
    if law is not None and law not in LAWS:
        raise ValueError(f"law must be one of {', '.join(map(repr, LAWS))}; got {law!r}.")
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    before, walls = system.constraints.equations, system.constraints.walls
    of_position, of_velocity = before.holonomic, before.velocity
    m, k = before.counts
    if holonomic is not None:
        traced, count = _conditions(frame, "holonomic constraint", holonomic, frame.example())
        of_position, m = (*of_position, traced), m + count
    if velocity is not None:
        traced, count = _conditions(frame, "velocity constraint", velocity, frame.example(velocity=True))
        _refuse_not_affine(system, traced)
        of_velocity, k = (*of_velocity, traced), k + count
    equations = Equations(of_position, of_velocity, counts=(m, k))
    if unilateral is not None:
        changed = _with_walls(frame, walls, unilateral, restitution)
        walls = with_friction(system, frame, walls, changed, friction, slip)
    elif friction is not None or slip is not None:
        raise ValueError("friction= and slip= belong to unilateral=sigma(t, q), which is missing.")
    if velocity_unilateral is not None:
        name = "unilateral velocity constraint"
        traced, count = _conditions(frame, name, velocity_unilateral, frame.example(velocity=True), "at least zero")
        _refuse_not_affine(system, traced)
        c, r = walls.counts
        if walls.friction.dim:
            raise ValueError("Conditions on velocities that only push cannot be mixed with friction yet; drop one.")
        walls = replace(walls, ratchets=(*walls.ratchets, traced), counts=(c, r + count))
    walls = replace(walls, law=law or walls.law)
    return replace(system, constraints=replace(system.constraints, equations=equations, walls=walls))


def _with_walls(frame: tracing.Frame, before: Walls, unilateral: Any, restitution: Any) -> Walls:
    traced, count = _conditions(frame, "unilateral constraint", unilateral, frame.example(), "at least zero")
    given = number("restitution", restitution)
    if given.shape not in ((), (count,)):
        raise ValueError(
            f"restitution must be one number, or one for each of the {count} unilateral constraints; got shape "
            f"{tuple(given.shape)}."
        )
    if not isinstance(given, Tracer) and not np.all((given >= 0) & (given <= 1)):
        raise ValueError(
            f"restitution must lie between 0 (no bounce) and 1 (no loss of energy); got {np.asarray(given).tolist()}."
        )
    old = before.restitution
    if isinstance(given, Tracer) or isinstance(old, Tracer):
        every = jnp.concatenate([jnp.asarray(old), jnp.broadcast_to(given, (count,))])
    else:
        every = np.concatenate([old, np.broadcast_to(given, (count,))])
    c, r = before.counts
    return replace(before, unilateral=(*before.unilateral, traced), restitution=every, counts=(c + count, r))


def _conditions(
    frame: tracing.Frame, name: str, function: Any, example: Any, where: str = "zero where it holds"
) -> tuple[Function, int]:
    velocity = sum(not isinstance(x, Parameters) for x in example) > 2
    traced, shape = frame.trace(name, frame.given(function, velocity=velocity), example)
    if shape == ():
        return frame.trace(name, lambda *args: jnp.reshape(traced(*args), (1,)), example)[0], 1
    if len(shape) != 1 or shape[0] == 0:
        raise ValueError(
            f"The {name} must return one number per condition, shape (m,), {where}; it returned shape {tuple(shape)}."
        )
    return traced, shape[0]


def _refuse_not_affine(system: System, function: Function) -> None:
    """Raise where a velocity constraint is seen not to be affine in v at a few states."""
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((function, system.parameters))):
        return
    if affine_in(function.program, _VELOCITY):
        return
    random = np.random.default_rng(0)
    for _ in range(_TRIES):
        q, u, w = (random.normal(size=system.space.point_dim) for _ in range(3))
        if not system.flat:
            q = np.asarray(system.space.project(q))
        curved = np.asarray(_second_difference(function, np.float64(random.uniform()), q, u, w, system.last))
        if np.all(np.isfinite(curved)) and np.any(np.abs(curved[0]) > 1e-8 * (curved[1] + 1e-300)):
            worst = int(np.argmax(np.abs(curved[0])))
            raise ValueError(
                f"A velocity constraint must be affine in v, a(t, q)·v + b(t, q) = 0; component {worst} is not: it "
                f"curves by {curved[0][worst]:.3g} between velocities. Divide or solve for a form that is linear in v; "
                f"a condition such as v·v = c² is a condition on energy, and no constraint of mechanics."
            )


@eqx.filter_jit
def _second_difference(function: Function, t: Any, q: Any, u: Any, w: Any, last: Any) -> Any:
    at = [function(t, q, x, *last) for x in (u + w, u, w, jnp.zeros_like(u))]
    return jnp.stack([at[0] - at[1] - at[2] + at[3], sum((jnp.abs(x) for x in at), jnp.zeros_like(at[0]))])


# ── Asked by a person ─────────────────────────────────────────────────────────────────────────────────


@eqx.filter_jit
def multipliers(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> Float[Array, " conditions"]:
    """The multipliers of all conditions at a state, of least norm."""
    if not system.constraints:
        return jnp.zeros(0, q.dtype)
    return _motion(system, t, q, v)[1]


def _motion(system: System, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """Acceleration in the local chart, and the multipliers of all conditions, walls last."""
    local = system.local(q)
    y = local.origin
    if structures(local) is not None:
        return accelerate(local, all_equations(local), t, *local.enter(v))
    if not system.constraints.walls.total:
        return least_norm(_matrices(system, t, q, v), all_equations(local).normals(t, y))
    touching = contact.touching(system, contact.at_rest(system, t, q, v)).local(q)
    held = touching.hold(t, *touching.enter(v))
    assert held is not None
    a, few = accelerate(touching, held, t, *touching.enter(v))
    return a, with_sliding(held, t, *touching.enter(v), spread(touching, held, t, y, few))


@eqx.filter_jit
def acceleration(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> Float[Array, " point"]:
    """The second derivative of the point along the constrained motion, whatever the constraints' rank."""
    local = system.local(jnp.asarray(q))
    y, w = local.enter(jnp.asarray(v))
    a = _motion(system, t, q, v)[0]
    return jax.jvp(lambda y, w: local.leave(y, w)[1], (y, w), (w, a))[1]


def least_norm(
    matrices: tuple[Matrix, Vector, Float[Array, " r"]], normals: Normals
) -> tuple[Vector, Float[Array, " r"]]:
    """Acceleration and multipliers of least norm, whatever the rank."""
    mass, force, bias = matrices
    gram = normals @ jnp.linalg.solve(mass, normals.T)
    found, independent = _pseudo(gram, -bias - normals @ jnp.linalg.solve(mass, force))
    # any multipliers give the force; those of least norm lie in the span of the normals' columns
    least = jnp.linalg.pinv(normals.T, rtol=1e-3 * RANK) @ (normals.T @ found)
    multipliers = jnp.where(independent, found, least)
    return jnp.linalg.solve(mass, force + normals.T @ multipliers), multipliers


def _matrices(system: System, t: Any, q: Any, v: Any) -> Any:
    """Mass matrix, forces without constraints, and what the constraints ask of accelerations."""
    local = system.local(q)
    y, w = local.enter(v)
    force = lagrangian.inertial_force(local.lagrangian, t, y, w)
    if local.applied is not None:
        force = force + local.applied(t, y, w)
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    return mass, force, all_equations(local).bias(t, y, w)


def _pseudo(gram: Any, right: Any) -> tuple[Any, Any]:
    """A solution of a symmetric system that may be singular but is solvable, and whether it is the only one.

    Rows and columns are brought to one size first: conditions in millimetres and in metres have the same rank.
    """
    size = jnp.sqrt(jnp.abs(jnp.diagonal(gram)))
    size = jnp.where(size > 0, size, 1.0)
    even = gram / (size[:, None] * size[None, :])
    # eigenvectors have no derivative where eigenvalues meet; the pseudo-inverse has
    regular = jnp.abs(jnp.linalg.eigvalsh(jax.lax.stop_gradient(even))) > RANK**2
    return (jnp.linalg.pinv(even, rtol=RANK**2, hermitian=True) @ (right / size)) / size, jnp.all(regular)


def cartesian(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> Float[Array, "particles d"]:
    """The smallest forces on the particles that do the constraints' virtual work."""
    if system.positions is None:
        raise ValueError("Constraint forces on particles need positions: make the system with from_positions.")
    return _cartesian(system, t, q, v)


@eqx.filter_jit
def _cartesian(system: System, t: Any, q: Any, v: Any) -> Any:
    positions = system.positions
    assert positions is not None
    shape = jax.eval_shape(lambda: positions(t, q, *system.last)).shape
    if not system.constraints.equations.total:
        return jnp.zeros(shape, q.dtype)
    local = system.local(q)
    y = local.origin
    normals = all_equations(local).normals(t, y)
    slope = jax.jacfwd(lambda x: positions(t, local.point(x), *system.last).ravel())(y)
    pull = normals.T @ least_norm(_matrices(system, t, q, v), normals)[1]
    return (slope @ _pseudo(slope.T @ slope, pull)[0]).reshape(shape)


def displacements(system: System, t: Number, q: AnyPoint) -> Float[Array, "point dof"]:
    """A basis of the kernel of N as columns, orthonormal in the kinetic metric."""
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((system, t, q))):
        raise ValueError("The number of degrees of freedom is a shape, so it cannot be traced; call outside jit.")
    mass, normals, frame = (np.asarray(x) for x in _tangent(system, t, q))
    root = np.linalg.cholesky(mass)  # in root.T @ y the kinetic metric is the Euclidean one
    scaled = np.linalg.solve(root, normals.T)
    sizes = np.linalg.norm(scaled, axis=0)
    left, values, _ = np.linalg.svd(scaled / np.where(sizes > 0, sizes, 1.0), full_matrices=True)
    rank = int(np.sum(values > RANK))
    return jnp.asarray(frame @ np.linalg.solve(root.T, left[:, rank:]))


@eqx.filter_jit
def _tangent(system: System, t: Any, q: Any) -> Any:
    local = system.local(q)
    y, w = local.enter(jnp.zeros_like(q))
    none = jnp.zeros((0, y.size), q.dtype)
    normals = all_equations(local).normals(t, y) if system.constraints.equations.total else none
    return lagrangian.mass_matrix(local.lagrangian, t, y, w), normals, jax.jacfwd(local.point)(y)


# ── The nearest consistent state ──────────────────────────────────────────────────────────────────────


def project(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> tuple[Point, Tangent]:
    """The nearest consistent state; outside of jit, a ValueError where there is none near."""
    if not system.constraints.equations.total:
        return jnp.asarray(q), jnp.asarray(v)
    found = nearest(system, t, q, v)
    near_q, near_v, gap = _project(system, t, q, v) if found is None else found
    enough = close(near_q.dtype)
    if not isinstance(gap, Tracer) and not bool(np.all(np.asarray(gap) < enough)):
        of = "positions" if not gap[0] < enough else "velocities"
        raise ValueError(
            f"No state near this one satisfies the constraints on {of} (the best one misses by {float(max(gap)):.3g}). "
            f"Either they contradict each other, or the start is too far away: pass a state closer to the constraints."
        )
    return jnp.asarray(near_q), jnp.asarray(near_v)


@eqx.filter_jit
def _project(system: System, t: Any, q: Any, v: Any) -> Any:
    local = system.local(q)
    y, w = local.enter(v)
    conditions = all_equations(local)
    if structures(local) is not None:
        return _projected_sparsely(local, conditions, t, y, w)
    inverse = jnp.linalg.inv(lagrangian.mass_matrix(local.lagrangian, t, y, w))
    if conditions.counts[0]:
        y = _nearest(_moves(conditions, inverse, t), y)
    normals = conditions.normals(t, y)
    for _ in range(2):  # the second removes what rounding left of the first
        across = jnp.linalg.solve(lagrangian.mass_matrix(local.lagrangian, t, y, w), normals.T)
        w = w - across @ _pseudo(normals @ across, conditions.rates(t, y, w))[0]
    lengths = jnp.sqrt(jnp.sum(conditions.normals(t, y) ** 2, axis=1))
    return *local.leave(y, w), _missed(conditions, t, y, w, lengths)


def _missed(conditions: Held, t: Any, y: Any, w: Any, lengths: Any) -> Any:
    """By how much a state misses the conditions on positions and all conditions, whose normals have these lengths, in
    units of its size."""
    gap = jnp.max(distances(conditions.position(t, y), lengths[: conditions.counts[0]]), initial=0.0)
    slip = jnp.max(distances(conditions.rates(t, y, w), lengths))
    return jnp.stack([gap / (1.0 + jnp.max(jnp.abs(y))), slip / (1.0 + jnp.max(jnp.abs(w)))])


def _projected_sparsely(local: Local, conditions: Held, t: Any, y: Any, w: Any) -> Any:
    """The same of many conditions."""
    both = structures(local)
    assert both is not None
    mass, how = sparse.mass_at(local, both[0], t, y, w), both[1].of_positions

    def correct(x: Any, back: Any) -> Any:
        rows, value = sparse.normals(conditions, t, x, gradient=True), conditions.position(t, x)
        matrix = sparse.coupling(how, rows, mass, rows, value)
        solve = matrix.definite_solver(lambda u: rows.push(mass.solve(rows.pull(u))))
        return mass.solve(rows.pull(solve(rows.push(back) - value)))

    y = _nearest(correct, y) if conditions.counts[0] else y
    bordered = sparse.bordered_at(local, conditions, t, y, w)
    for _ in range(2):
        w = w + bordered.solve(jnp.zeros_like(w), -conditions.rates(t, y, w))[0]
    lengths = sparse.sizes(both[1], bordered.normals, y)
    return *local.leave(y, w), _missed(conditions, t, y, w, lengths)


def _moves(conditions: Held, inverse: Any, t: Any) -> Callable[[Any, Any], Any]:
    """What leads from a point to the surface, orthogonal to it there and beside what leads `back` to the start."""

    def correct(y: Any, back: Any) -> Any:
        slope, value = conditions.gradient(t, y), conditions.position(t, y)
        across = inverse @ slope.T
        return across @ _pseudo(slope @ across, slope @ back - value)[0]

    return correct


def _nearest(correct: Callable[[Any, Any], Any], start: Any) -> Any:
    """The point of the constraint surface nearest to `start`; Newton's method alone where that search fails."""

    def judge(it: Iterate, new: Any) -> tuple[Any, None, Any]:
        change = jnp.max(jnp.abs(new - it.z))
        shrinks = (change < SHRINKS * it.change) | (change > SETTLED) | (it.made < 2)
        return change, None, ~((change > 0) & shrinks)

    def next_one(_: Any, new: Any) -> Any:
        return new

    near = iterate(lambda y: start + correct(y, y - start), judge, next_one, start, NEAREST)
    y = jnp.where(near.change < FOUND, near.z, start)
    return iterate(lambda y: y + correct(y, jnp.zeros_like(y)), judge, next_one, y, ON_SURFACE).z
