"""Whether a mass matrix of known structure is what its structure says, regular, and positive definite at a state."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from holonomy.systems import lagrangian, mass_structure, step_structure, structured_solve
from holonomy.systems.constraints.structure import FEWEST
from holonomy.systems.dense_solve import RANK, UNROLLED
from holonomy.systems.mass_structure import LARGEST_DENSE, MassStructure
from holonomy.systems.replace import replace
from holonomy.types import AnyArray, AnyPoint, AnyTangent, Number, Point, Scalar, Tangent

if TYPE_CHECKING:
    from holonomy.systems.system import System

_LEAST = 1e-14  # eigenvalues of a scaled block below this part of the largest are rounding
_MISS = 1e-10  # of the size of the product: a larger difference is none of rounding
_SAID = 5  # coordinates that a message names


def with_structure(system: System) -> System:
    """The system with the structure that its solves use, where it has one worth using.

    Small matrices are factored in straight-line code, which is as fast; systems that bring solves of their own need
    none, and those with constraints do not solve with the mass matrix alone, unless these are many and sparse.
    """
    if not _worthwhile(system):
        return system if system.mass is None else replace(system, mass=None)
    found = mass_structure.find(system)
    used = _solves_conditions(found) if system.constraints else found.solvable
    return replace(system, mass=found if used else None)


def described(system: System) -> MassStructure:
    """The structure of mass matrix and conditions, which says of the conditions how they are solved."""
    found = mass_structure.find(system)
    if found.conditions is None or (_worthwhile(system) and _solves_conditions(found)):
        return found
    return dataclasses.replace(found, conditions=dataclasses.replace(found.conditions, whole=True))


def _worthwhile(system: System) -> bool:
    """Whether the structure is looked for."""
    if system.inverse is not None or not system.flat or system.space.dim <= UNROLLED:
        return False
    return not system.constraints or _many_conditions(system)


def with_steps(system: System) -> System:
    """The system with the structure of its implicit steps too, where its solves use structure and gain from this."""
    if system.mass is None:
        return system
    return replace(system, mass=dataclasses.replace(system.mass, steps=step_structure.find(system)))


def _many_conditions(system: System) -> bool:
    """Whether conditions are so many that their structure matters, and all can be held with sparse multipliers: walls,
    redundant conditions, and steps through singular positions need whole matrices."""
    given = system.constraints
    whole = given.walls.total or given.equations.ranks is not None or given.treatment.passes
    return given.equations.total > FEWEST and not whole


def _solves_conditions(found: MassStructure) -> bool:
    """Whether a mass matrix and conditions of this structure are solved with it."""
    conditions = found.conditions
    if conditions is None or not conditions.solvable or not found.solvable:
        return False
    # of a sparse mass matrix the entries must be at hand, to find a matrix near that of the multipliers
    whole = found.kind == "sparse" and found.pairs is None
    return conditions.direct or (found.size > LARGEST_DENSE and not whole)


def probe(system: System) -> np.ndarray:
    """A random vector, the same for every system of this size."""
    return np.random.default_rng(0).standard_normal(system.space.dim)


def look(system: System, t: Number, q: Point, v: Tangent, u: AnyTangent) -> tuple[Array | None, Scalar]:
    """The entries of the mass matrix, and by how much their product with u misses that of the Lagrangian itself.

    For code that is being traced.
    """
    assert system.mass is not None
    product = lagrangian.mass_product(system.raw_lagrangian, t, q, v)
    held = structured_solve.entries(system.mass, product, v)
    if held is None:
        return None, jnp.zeros((), q.dtype)
    u = jnp.asarray(u)
    right = product(u)
    miss = jnp.max(jnp.abs(structured_solve.multiplied(system.mass, held, u) - right))
    return held, miss / jnp.maximum(jnp.max(jnp.abs(right)), jnp.finfo(q.dtype).tiny)


seen = eqx.filter_jit(look)


def regular(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> System:
    """A system of the same motions whose mass matrix is regular at a state, with its structure where it has one.

    Raises a ValueError where no acceleration is determined there. What is being traced is not looked at.
    """
    from holonomy.systems.constraints import massless, sparse

    structured = with_structure(system)
    if structured.mass is None:
        return massless.regular(system, t, q, v)
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((system, t, q, v))):
        return massless.regular(system, t, q, v) if system.constraints else structured
    if system.constraints:
        found = seen(structured, t, jnp.asarray(q), jnp.asarray(v), probe(system))
        judge = judged_with_conditions(structured, *found)
        if judge.mass is not None:
            pivots = np.asarray(sparse.independence_at(judge, t, jnp.asarray(q), jnp.asarray(v)))
            if np.all(pivots > RANK**2):  # of conditions that follow from others, whole matrices find the multipliers
                return judge
        return massless.regular(system, t, q, v)
    return judged(structured, *seen(structured, t, jnp.asarray(q), jnp.asarray(v), probe(system)), "q")


def judged(system: System, held: AnyArray | None, miss: Number, called: str) -> System:
    """The system, marked as having a positive definite mass matrix where it has one at a state.

    Raises a ValueError, which names the state as it is `called` and the coordinates, where the matrix is singular.
    Where the entries miss the product, the matrix is taken as dense.
    """
    assert system.mass is not None
    if held is None:
        return replace(system, definite=True)  # conjugate gradients stop where it is not
    entries = np.asarray(held)
    if np.all(np.isfinite(entries)) and not float(miss) <= _MISS:
        return replace(system, mass=None)
    if not np.all(np.isfinite(entries)):
        plain = system.mass.kind == "diagonal"
        where = np.flatnonzero(~np.isfinite(entries)) if plain else np.zeros(0, int)
        raise ValueError(
            f"The mass matrix at {called} is not finite{_named(system, where)}. The Lagrangian or its derivatives have "
            f"no value there: start elsewhere."
        )
    definite = _DEFINITE[system.mass.kind](system, system.mass, entries, called)
    if system.mass.kind == "sparse" and not definite:
        return replace(system, mass=None)  # elimination without exchanges is for positive definite matrices
    return system if definite == system.definite else replace(system, definite=definite)


def judged_with_conditions(system: System, held: AnyArray | None, miss: Number) -> System:
    """The system with its structure where its mass matrix is positive definite; otherwise whole matrices are used,
    which tell whether the conditions determine the motion."""
    try:
        found = judged(system, held, miss, "q")
    except ValueError:
        return replace(system, mass=None)
    return found if found.definite else replace(found, mass=None)


def _diagonal(system: System, structure: MassStructure, entries: np.ndarray, called: str) -> bool:
    zero = np.flatnonzero(entries == 0)
    if zero.size:
        raise _singular(system, zero, called)
    return bool(np.all(entries > 0))


def _blocks(system: System, structure: MassStructure, blocks: np.ndarray, called: str) -> bool:
    both = 0.5 * (blocks + np.swapaxes(blocks, 1, 2))
    size = np.sqrt(np.abs(np.einsum("bii->bi", both)))
    size = np.where(size > 0, size, 1.0)
    values = np.linalg.eigvalsh(both / (size[:, :, None] * size[:, None, :]))
    least, most = np.min(np.abs(values), axis=1), np.max(np.abs(values), axis=1)
    bad = np.flatnonzero((least < _LEAST * most) | (most == 0))
    if bad.size:
        starts = np.append(structure.block_starts, structure.size)
        first = int(bad[0])
        raise _singular(system, structure.permutation[starts[first] : starts[first + 1]], called)
    return bool(np.all(values > 0))


def _band(system: System, structure: MassStructure, band: np.ndarray, called: str) -> bool:
    from scipy.linalg import cholesky_banded, solve_banded

    k, n = structure.width, structure.size
    size = np.sqrt(np.abs(band[k]))
    zero = np.flatnonzero(size == 0)
    if zero.size:
        raise _singular(system, structure.permutation[zero], called)
    columns = np.zeros_like(band)  # as LAPACK keeps a band: row k - d, column i + d holds the entry (i, i + d)
    for d in range(-k, k + 1):
        i = np.arange(max(0, -d), min(n, n - d))
        columns[k - d, i + d] = band[k + d, i] / (size[i] * size[i + d])
    try:
        pivots = cholesky_banded(columns[: k + 1])[k] ** 2
        if np.min(pivots) > _LEAST:
            return True
        raise _singular(system, _kernel(structure, columns), called)
    except np.linalg.LinAlgError:
        pass
    try:
        far = np.max(np.abs(solve_banded((k, k), columns, probe(system))))
    except np.linalg.LinAlgError:
        far = np.inf
    if not far < 1 / _LEAST:
        raise _singular(system, _kernel(structure, columns), called)
    return False


def _kernel(structure: MassStructure, columns: np.ndarray) -> np.ndarray:
    """The coordinates that take part in the direction without mass of a singular band, those that do most first."""
    from scipy.linalg import solve_banded

    k, n = structure.width, structure.size
    moved = columns.copy()
    moved[k] += 16 * np.finfo(float).eps  # regular, and the nearer to singular the more of the kernel in a solution
    direction = solve_banded((k, k), moved, np.random.default_rng(1).standard_normal(n))
    direction = np.abs(solve_banded((k, k), moved, direction / np.max(np.abs(direction))))
    taking = np.flatnonzero(direction > 1e-3 * np.max(direction))
    return structure.permutation[taking[np.argsort(-direction[taking], kind="stable")]]


def _arrow(system: System, structure: MassStructure, held: np.ndarray, called: str) -> bool:
    border = structure.border_places
    inner = np.setdiff1d(np.arange(structure.size), border)
    zero = inner[held[0, inner] == 0]
    if zero.size:
        raise _singular(system, zero, called)
    across = held[1:][:, inner]
    left = held[1:][:, border] - (across / held[0, inner]) @ across.T
    size = np.sqrt(np.abs(held[1:][:, border].diagonal()))
    size = np.where(size > 0, size, 1.0)
    values = np.linalg.eigvalsh(0.5 * (left + left.T) / np.outer(size, size))
    if np.min(np.abs(values)) < _LEAST:
        raise _singular(system, border, called)
    return bool(np.all(held[0, inner] > 0) and np.all(values > 0))


def _sparse(system: System, structure: MassStructure, held: np.ndarray, called: str) -> bool:
    from scipy.sparse import coo_array, csc_array, eye_array
    from scipy.sparse.linalg import splu

    order, n = structure.elimination, structure.size
    assert order is not None
    assert structure.pairs is not None
    zero = np.flatnonzero(held[:n] == 0)
    if zero.size:
        raise _singular(system, zero, called)
    pivots = np.asarray(order.factor(jnp.asarray(held[:n]), jnp.asarray(held[n:])).independence)
    if np.min(pivots) > _LEAST:  # NaN where the matrix is not positive definite
        return True
    size = np.sqrt(np.abs(held[:n]))
    row, column = structure.pairs.value.T
    above: Any = coo_array((held[n:] / (size[row] * size[column]), (row, column)), shape=(n, n))
    scaled: Any = csc_array(above + above.T + coo_array((np.sign(held[:n]), (np.arange(n),) * 2), shape=(n, n)))
    # regular, and the nearer to singular the more of the direction without mass in a solution
    factors = splu(csc_array(scaled + 16 * np.finfo(float).eps * eye_array(n)))
    direction = factors.solve(probe(system))
    taking = np.abs(factors.solve(direction / np.linalg.norm(direction)))
    if not np.linalg.norm(taking) < 1 / (2 * _LEAST):  # inverse iteration: 1 over the least eigenvalue
        where = np.flatnonzero(taking > 1e-3 * np.max(taking))
        raise _singular(system, where[np.argsort(-taking[where], kind="stable")], called)
    return False


_DEFINITE = {"diagonal": _diagonal, "block-diagonal": _blocks, "banded": _band, "arrow": _arrow, "sparse": _sparse}


def where_negative(system: System, held: AnyArray | None) -> str:
    """Words for coordinates in which an indefinite matrix with these entries has negative kinetic energy; none where a
    single entry or block does not tell."""
    structure, entries = system.mass, np.asarray(held)
    if structure is None or held is None:
        return ""
    n = structure.size
    if structure.kind == "block-diagonal":
        bad = np.flatnonzero(np.linalg.eigvalsh(0.5 * (entries + np.swapaxes(entries, 1, 2)))[:, 0] < 0)
        starts = np.append(structure.block_starts, n)
        blocks = [structure.permutation[starts[b] : starts[b + 1]] for b in bad]
        return _named(system, np.concatenate([*blocks, np.zeros(0, int)]).astype(int))
    if structure.kind == "banded":
        return _named(system, structure.permutation[entries[structure.width] < 0])
    diagonal = (entries[0] if structure.kind == "arrow" else entries)[:n].copy()
    if structure.kind == "arrow":
        border = structure.border_places
        diagonal[border] = entries[1 + np.arange(border.size), border]
    return _named(system, np.flatnonzero(diagonal < 0))


def _singular(system: System, where: np.ndarray, called: str) -> ValueError:
    return ValueError(
        f"The mass matrix is singular at {called}{_named(system, where)}, so the acceleration is not determined. "
        f"Either a coordinate carries no mass, or the coordinates break down there, as angles do at a pole: start "
        f"elsewhere, or give the system other coordinates."
    )


def _named(system: System, where: np.ndarray) -> str:
    if not where.size:
        return ""
    names = ", ".join(system.names[i] for i in where[:_SAID])
    more = f" and {where.size - _SAID} more" if where.size > _SAID else ""
    return f" in the coordinates {names}{more}"
