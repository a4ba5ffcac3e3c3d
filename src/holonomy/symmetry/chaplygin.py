r"""Chaplygin's reduction: coordinates that velocity constraints give from the others.

Let neither L, nor forces, nor the velocity constraints depend on the coordinates g, the others being r. Constraints of
full rank in \(\dot g\) give

\[ \dot g = G(t, r, \dot r, u) = A(t, r)\,\dot r + B(t, r)\,u + \gamma(t, r), \]

where the columns of B span the velocities \(\dot g\) that the constraints allow at \(\dot r = 0\); u are as many new
velocities, none where there are as many constraints as coordinates g. By d'Alembert's principle r and s, with
\(\dot s = u\), move by \(L_c(t, r, \dot r, u) = L(t, r, \dot r, G)\) and, besides the forces there are, by

\[ Q = \Bigl(\frac{d}{dt}\frac{\partial G}{\partial w} - \frac{\partial G}{\partial z}\Bigr)^{\!\top} P, \qquad
   P = \frac{\partial L}{\partial\dot g}, \quad z = (r, s), \quad w = (\dot r, u), \]

the curvature of the constraints. For s this is the nonholonomic momentum equation: \(J = \partial L_c/\partial u\), the
momentum along the symmetries that the constraints allow, changes at the rate \(\dot B^\top P\) (and by forces along
them), and is in general not conserved. Reference: Bloch, *Nonholonomic Mechanics and Control*, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.symmetry.dependence import VELOCITY, TracedFunction, depends_on, flat
from holonomy.symmetry.left_out import named
from holonomy.symmetry.lift import AbstractLift, with_own
from holonomy.symmetry.reduced_system import ReducedSystem, full_rows
from holonomy.symmetry.samples import states
from holonomy.symmetry.short_run import Small, State, compare
from holonomy.systems import System
from holonomy.systems.dense_solve import solve
from holonomy.trace.function import trace
from holonomy.trace.graph.dag import reachable
from holonomy.trace.symbolic.unchanged import vanishes

_STARTS = 8  # random states at which the rank is looked at and from which motions are compared
_FULL = 1e-9  # of the largest: singular values below belong to constraints that are dependent


class Block(NamedTuple):
    """Constraints that share velocities with no others: their rows, their columns among what is left out, which of
    these columns are solved for where two or more stay free, and the sign of the free direction."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    solved: tuple[int, ...]
    sign: float

    @property
    def free(self) -> int:
        """How many new velocities it needs."""
        return len(self.columns) - len(self.rows)


class RollingLift(AbstractLift):
    """The velocities of what is left out from velocity constraints; `weights` are their masses at a state."""

    out: tuple[int, ...] = eqx.field(static=True)
    kept: tuple[int, ...] = eqx.field(static=True)
    blocks: tuple[Block, ...] = eqx.field(static=True)
    weights: Any

    def speeds(self, system: System, t: Any, z: Any, w: Any, p: Any) -> Any:
        """G(t, r, r', u), affine in w."""
        x, v = self.filled(z), self.filled(w)
        normals, rest = self.normals(system, t, x), rates(system, t, x, v)
        found, u = jnp.zeros(len(self.out), w.dtype), w[len(self.kept) :]
        for block in self.blocks:
            rows, columns = np.array(block.rows), np.array(block.columns)
            matrix, count = normals[rows][:, columns], block.free
            part = self._least(block, matrix, -rest[rows])
            found = found.at[columns].set(part + self._free(block, matrix) @ u[:count])
            u = u[count:]
        return found

    def entered(self, system: System, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
        """The coordinates that are kept, s = 0, and the new velocities."""
        x, v = jnp.asarray(x), jnp.asarray(v)
        kept, out = np.array(self.kept), np.array(self.out)
        count = sum(block.free for block in self.blocks)
        z, w = jnp.append(x[kept], jnp.zeros(count)), jnp.append(v[kept], jnp.zeros(count))
        normals = self.normals(system, t, x)
        gone, u = v[out] - self.speeds(system, t, z, w, None), []
        for block in self.blocks:
            if block.free:
                columns = np.array(block.columns)
                ways = self._free(block, normals[np.array(block.rows)][:, columns])
                pulled = ways.T * self.weights[columns][None, :]
                u.append(jnp.linalg.solve(pulled @ ways, pulled @ gone[columns]))
        return z, jnp.concatenate([v[kept], *u])

    def place(self, system: System, t: Any, z: Any, p: Any) -> dict[int, Any]:
        """None: all of them are integrals."""
        return {}

    def normals(self, system: System, t: Any, x: Any) -> Any:
        """The derivatives of all constraints by the velocities of what is left out."""
        out = np.array(self.out)
        return jax.jacfwd(lambda u: rates(system, t, x, jnp.zeros_like(x).at[out].set(u)))(jnp.zeros(len(out), x.dtype))

    def margins(self, system: System, t: Any, z: Any) -> Any:
        """For each block, the determinant of what is solved for, as a part of the product of the lengths of its rows;
        it vanishes, or turns, where the constraints are dependent in the velocities left out."""
        normals, root = self.normals(system, t, self.filled(z)), jnp.sqrt(self.weights)
        found = []
        for block in self.blocks:
            columns = np.array(block.columns)
            matrix = normals[np.array(block.rows)][:, columns] / root[columns][None, :]
            lengths = jnp.prod(jnp.sqrt(jnp.sum(matrix**2, axis=1)))
            across = matrix if not block.solved else matrix[:, np.array(block.solved)]
            if block.free and not block.solved:
                found.append(jnp.sqrt(jnp.abs(_determinant(matrix @ matrix.T))) / lengths)
            else:
                found.append(_determinant(across) / lengths)
        return jnp.stack(found)

    def _least(self, block: Block, matrix: Any, wanted: Any) -> Any:
        """Velocities that satisfy the constraints: the smallest ones where some stay free."""
        if not block.free:
            return solve(matrix, wanted, False)
        if block.solved:
            solved = np.array(block.solved)
            return jnp.zeros(len(block.columns), wanted.dtype).at[solved].set(solve(matrix[:, solved], wanted, False))
        across = matrix.T / self.weights[np.array(block.columns)][:, None]
        return across @ solve(matrix @ across, wanted, False)

    def _free(self, block: Block, matrix: Any) -> Any:
        """Columns that the constraints leave free."""
        count = len(block.columns)
        if not block.free:
            return jnp.zeros((count, 0), matrix.dtype)
        if not block.solved:  # the minors of the rows, which vanish nowhere while these are independent
            others = [np.delete(np.arange(count), j) for j in range(count)]
            minors = [(-1) ** j * block.sign * _determinant(matrix[:, other]) for j, other in enumerate(others)]
            return jnp.stack(minors)[:, None]
        solved = np.array(block.solved)
        free = np.setdiff1d(np.arange(count), solved)
        ways = jnp.zeros((count, len(free)), matrix.dtype).at[free, np.arange(len(free))].set(1.0)
        back = jax.vmap(lambda column: solve(matrix[:, solved], -column, False), in_axes=1, out_axes=1)
        return ways.at[solved].set(back(matrix[:, free]))


def rates(system: System, t: Any, x: Any, v: Any) -> Any:
    """All velocity constraints."""
    return jnp.concatenate([f(t, x, v, *system.last) for f in system.constraints.equations.velocity])


def chaplygin(system: System, out: Sequence[str]) -> ReducedSystem:
    r"""The system without coordinates whose velocities its velocity constraints give from the others.

    **Arguments:** `out`, names of coordinates on which neither the Lagrangian, nor a force, nor a constraint depends.
    The result is a system like any other, in the coordinates that are kept and, after them, s1, s2, ... for directions
    in which the left-out coordinates may move while the others rest: their velocities are new ones, and their momenta
    obey the nonholonomic momentum equation. It has a force more, the curvature of the constraints. `reconstruct`
    gives the full motion back, `adapted` finds the state that belongs to a full one, and `checked` says how the motion
    was compared with the full one.

    It serves as far as the constraints are independent in the velocities that are left out.

    **Fails** with `ValueError` where something depends on a coordinate to be left out, where its velocity is in no
    velocity constraint (`hl.routh` leaves out such cyclic ones), where these constraints are dependent, for systems
    with walls, and for a reduced motion that is seen to differ from the full one.
    """
    which = _checked(system, out)
    kept = tuple(i for i in range(len(system.names)) if i not in which)
    samples = states(system, _STARTS)
    masses = np.abs(np.diagonal(np.asarray(system.mass_matrix(*samples[0]))))[np.array(which)]
    weights = np.where(masses > 0, masses, 1.0)
    used, blocks = _blocks(system, which, samples, np.sqrt(weights))
    lift = RollingLift(which, kept, blocks, weights)
    base = _moved(system, lift, used)
    known = {f.name: getattr(base, f.name) for f in fields(System)}
    reduced = ReducedSystem(**known, full=system, cyclic=which, lift=lift)
    return replace(reduced, compared=compare(reduced, system, _starts(reduced, samples), _back(reduced)))


def _back(reduced: ReducedSystem) -> Any:
    return lambda t, z, w, place: full_rows(reduced, t, z, w, place)


def _starts(reduced: ReducedSystem, samples: list[State]) -> Iterator[tuple[Small, State]]:
    assert reduced.full is not None
    assert reduced.lift is not None
    for t, q, v in samples:
        z, w = (np.asarray(x) for x in reduced.lift.entered(reduced.full, t, q, v))
        yield (t, z, w, q[np.array(reduced.cyclic)]), (t, q, v)


def _checked(system: System, out: Any) -> tuple[int, ...]:
    if isinstance(out, str) or not out or not all(isinstance(name, str) for name in out):
        raise ValueError(f"out has the names of the coordinates to leave out, such as ('x', 'y'); got {out!r}.")
    for name in out:
        if name not in system.names:
            raise ValueError(f"There is no coordinate {name!r}; the coordinates are {', '.join(system.names)}.")
    held = system.constraints
    if not held.equations.velocity or not system.flat:
        raise ValueError(
            "hl.chaplygin leaves out coordinates whose velocities are given by velocity constraints, and this system "
            "has none; hl.routh leaves out cyclic coordinates."
        )
    if held.walls.total:
        raise ValueError("hl.chaplygin takes systems without walls; simulate the full system.")
    which = tuple(sorted({system.names.index(name) for name in out}))
    every = depends_on(system)
    for i in which:
        on = [d for d in every if i in d.positions]
        if on:
            subject = "the Lagrangian" if on[0].kind == "lagrangian" else named(on[:1], every)
            raise ValueError(
                f"{subject[0].upper()}{subject[1:]} depends on {system.names[i]}, so that the others are no system of "
                "their own without it; simulate the full system, or leave out other coordinates."
            )
    return which


def _blocks(
    system: System, which: tuple[int, ...], samples: list[State], units: np.ndarray
) -> tuple[set[int], tuple[Block, ...]]:
    """The constraints with velocities that are left out, all of them and in blocks.

    Whether they are independent is judged of velocities times `units`.
    """
    inside = _columns(system, which)
    names = [system.names[i] for i in which]
    lone = [name for k, name in enumerate(names) if not any(k in columns for columns in inside.values())]
    if lone:
        raise ValueError(
            f"The velocity of {lone[0]} is in no velocity constraint; leave it out by hl.routh, from this system or "
            "from the reduced one, if its momentum is constant."
        )
    groups: list[tuple[set[int], set[int]]] = []
    for row, columns in inside.items():
        if columns:
            joined = [g for g in groups if g[1] & columns]
            groups = [g for g in groups if g not in joined]
            rows = {row}.union(*(g[0] for g in joined))
            groups.append((rows, columns.union(*(g[1] for g in joined))))
    normals = [np.asarray(_normals(system, which, *sample)) / units for sample in samples]
    blocks = [_block(sorted(rows), sorted(columns), names, normals) for rows, columns in groups]
    return {row for row, columns in inside.items() if columns}, tuple(blocks)


def _columns(system: System, which: tuple[int, ...]) -> dict[int, set[int]]:
    """The velocities that are left out in each row of the velocity constraints."""
    found: dict[int, set[int]] = {}
    for function in system.constraints.equations.velocity:
        count = jax.eval_shape(lambda q, f=function: f(0.0, q, q, *system.last), np.zeros(len(system.names))).shape[0]
        one = flat(system, function, velocity=True)
        for row in range(count):
            if one is None:
                found[len(found)] = set(range(len(which)))
                continue
            nodes = reachable([one.outputs[0].nodes[row]])
            moving = {n.data[1] for n in nodes if n.op == "input" and n.data[0] == VELOCITY}
            found[len(found)] = {k for k, i in enumerate(which) if i in moving}
    return found


def _block(rows: list[int], columns: list[int], names: list[str], normals: list[np.ndarray]) -> Block:
    said = ", ".join(names[k] for k in columns)
    if len(rows) > len(columns):
        raise ValueError(
            f"{len(rows)} velocity constraints for the {len(columns)} velocities of {said} also restrict the others; "
            "leave out more coordinates, or simulate the full system."
        )
    matrices = [n[np.ix_(rows, columns)] for n in normals]
    regular = [m for m in matrices if np.linalg.svd(m / np.linalg.norm(m, axis=1)[:, None])[1][-1] > _FULL]
    if len(regular) < len(matrices):
        raise ValueError(
            f"The velocity constraints are dependent in the velocities of {said}, so that they do not give as many of "
            "these from the others; leave out other coordinates, or simulate the full system."
        )
    free = len(columns) - len(rows)
    first = regular[0]
    if free == 1:
        minors = [(-1) ** j * np.linalg.det(np.delete(first, j, axis=1)) for j in range(len(columns))]
        return Block(tuple(rows), tuple(columns), (), float(np.sign(minors[int(np.argmax(np.abs(minors)))])))
    return Block(tuple(rows), tuple(columns), _pivots(first) if free else (), 1.0)


def _pivots(matrix: np.ndarray) -> tuple[int, ...]:
    """Columns that are far from dependent, by elimination with the largest rest."""
    left, chosen = matrix / np.linalg.norm(matrix, axis=1)[:, None], []
    for _ in range(len(matrix)):
        k = int(np.argmax(np.linalg.norm(left, axis=0)))
        chosen.append(k)
        way = left[:, k] / np.linalg.norm(left[:, k])
        left = left - np.outer(way, way @ left)
    return tuple(sorted(chosen))


@eqx.filter_jit
def _normals(system: System, which: tuple[int, ...], t: Any, q: Any, v: Any) -> Any:
    return jax.jacfwd(lambda u: rates(system, t, q, u))(v)[:, np.array(which)]


def _determinant(matrix: Any) -> Any:
    """By minors: matrices of a few rows, whose determinant stays a polynomial."""
    n = matrix.shape[0]
    if n == 0:
        return jnp.ones((), matrix.dtype)
    rest = [np.delete(np.arange(n), j) for j in range(n)]
    return sum(
        ((-1) ** j * matrix[0, j] * _determinant(matrix[1:][:, rest[j]]) for j in range(n)), jnp.zeros((), matrix.dtype)
    )


def _moved(system: System, lift: RollingLift, used: set[int]) -> System:
    """The system that the coordinates that are kept, and the new ones, move by."""
    kept, taken = np.array(lift.kept), {*system.names, *system.parameters}
    count = sum(block.free for block in lift.blocks)
    new = [name for name in (f"s{k}" for k in range(1, 10 * count + len(taken) + 1)) if name not in taken][:count]
    kinds = {system.names[i]: system.coordinates[i].kind for i in lift.kept}
    kinds |= dict.fromkeys(new, "number")

    def lagrangian(t: Any, z: Any, w: Any, *p: Any) -> Any:
        own = with_own(system, *p) if p else system
        return own.raw_lagrangian(t, *lift.whole(own, t, z, w, None))

    def curvature(t: Any, z: Any, w: Any, *p: Any) -> Any:
        own = with_own(system, *p) if p else system
        momenta = jax.grad(own.raw_lagrangian, argnums=2)(t, *lift.whole(own, t, z, w, None))[np.array(lift.out)]

        def along(s: Any, x: Any, u: Any) -> Any:
            return jnp.dot(momenta, lift.speeds(own, s, x, u, None))

        by_speed = jax.grad(along, argnums=2)
        # along is affine in w, so that its slope by w does not change with w
        change = jax.jvp(lambda s, x: by_speed(s, x, w), (t, z), (jnp.ones_like(t), w))[1]
        return change - jax.grad(along, argnums=1)(t, z, w)

    base = System.from_lagrangian(lagrangian, kinds, dict(system.parameters) if system.parametric else None)
    state = jax.ShapeDtypeStruct((len(kinds),), jnp.float64)
    example = (jax.ShapeDtypeStruct((), jnp.float64), state, state, *base.last)
    found = TracedFunction(base, trace(curvature, example), velocity=True)
    if found.reading is None or not all(vanishes(p) for p in found.reading.outputs):
        base = base.forced(curvature)
    for force in system.forces:

        def pulled(t: Any, z: Any, w: Any, *p: Any, force: Any = force) -> Any:
            own = with_own(system, *p) if p else system
            x, v = lift.whole(own, t, z, w, None)
            slope = jax.jacfwd(lambda u: lift.whole(own, t, z, u, None)[1])(w)
            return force(t, x, v, *own.last) @ slope

        base = base.forced(pulled)
    for condition in system.constraints.equations.holonomic:

        def position(t: Any, z: Any, *p: Any, f: Any = condition) -> Any:
            return f(t, lift.filled(z), *p)

        base = base.constrained(holonomic=position)
    others = np.array(sorted(set(range(system.constraints.equations.counts[1])) - used), int)
    if not len(others):
        return base

    def speed(t: Any, z: Any, w: Any, *p: Any) -> Any:
        own = with_own(system, *p) if p else system
        return rates(own, t, lift.filled(z), lift.filled(w))[others]

    assert len(kept)
    return base.constrained(velocity=speed)
