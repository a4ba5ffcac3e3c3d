r"""Which combinations of the fields that were found at a point are symmetries far from it, too.

A field that preserves an analytic system near one point preserves it everywhere. A step, a kink, or a bump that is zero
to rounding where fields were looked for ends that. The fields are carried to thousands of states, special ones among
them, and those combinations are kept along which kinetic and potential energy and magnetic terms do not change there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Run
from holonomy.symmetry.conserved import jumps
from holonomy.symmetry.formulas import Formulas
from holonomy.symmetry.jacobi_integral import depends_on_time
from holonomy.symmetry.many_states import States, Where, at_rows, rows
from holonomy.symmetry.natural import Natural
from holonomy.symmetry.transport import Jet, Transport, compiled
from holonomy.systems import System
from holonomy.trace.graph.dag import reachable
from holonomy.trace.graph.features import features
from holonomy.trace.graph.series import evaluate, ring
from holonomy.types import Tree

_COUNT, _CARRIED = 2000, 300  # states besides special ones, where fields are affine and where they are carried
_BROKEN = 1e3  # in units of what is not known: a change that is none
_NOISE = 4.0  # times what other last digits change is not known
_ROUNDING = 1e-14  # of the terms
_LAST_DIGITS = 4.6e-16
_BENDS = frozenset(["select", "abs", "sign", "max", "min", "floor", "ceil", "round", "roundeven", "convert", "rem"])
_KNOWN = 1e-10  # of the largest component: to what a field far away is known
_STEPS = 16  # places of steps that are looked at
_ZERO = 1e-12  # of the size of a state: what is zero there


class Known:
    """Fields by their jets at a point; what carries them elsewhere is made when it is first used."""

    def __init__(self, system: System, at: np.ndarray, jet: Jet) -> None:
        self.system, self.at, self.jet = system, at, jet

    @cached_property
    def transport(self) -> Transport:
        """The fields everywhere."""
        origin = self.at if self.system.flat else np.zeros(self.system.space.dim)
        with jax.ensure_compile_time_eval():  # also where it is first used within a traced function
            return Transport(self.system, self.at, origin, self.jet)


def holding(system: System, known: Known, where: Where | None, runs: Sequence[Run]) -> tuple[np.ndarray, States | None]:
    """The weights of combinations that hold at all states looked at, one row each, and these states.

    None in place of states where there is nothing to look for: no step, no kink, nothing that is flat far away.
    """
    count = len(known.jet.values)
    formulas = Formulas(system)
    special = [f for f, _ in formulas.flats if features(f.algebra, [node for out in f.outputs for node in out.nodes])]
    asked = where is not None or bool(runs)
    if not system.flat or not count or not (special or asked or not formulas.expressions):
        return np.eye(count), None
    affine = formulas.readable and formulas.constant_masses()
    nodes = [node for f, _ in formulas.flats for node in reachable([node for out in f.outputs for node in out.nodes])]
    if not affine and formulas.expressions and not asked and not any(node.op in _BENDS for node in nodes):
        return np.eye(count), None  # carrying fields takes long, and an analytic system needs it for bumps alone
    looked = rows(system, formulas.flats, where, runs, _COUNT if affine else _CARRIED, formulas.expressions)
    some = looked if affine else looked.some(2 * _CARRIED)
    changes = _changes(known, _jets(known, some.q, affine), some, 1 not in formulas.degrees())
    changes = np.concatenate([changes, _crossed(system, known, affine, looked, formulas)])
    # a combination that is no symmetry changes somewhere by far more than what is not known
    _, sizes, right = np.linalg.svd(np.linalg.qr(np.concatenate([changes, np.zeros((count, count))]), mode="r"))
    broken = int(np.sum(sizes > _BROKEN))
    return right[broken:], some


def refuse_time(system: System, what: str, where: Where | None, runs: Sequence[Run]) -> None:
    """Raise `ValueError` where the Lagrangian depends on the time, in the name of the function `what`."""
    formulas = Formulas(system)
    (lagrange,) = formulas.of["lagrangian"]
    if (0, 0) not in lagrange.contained or (formulas.readable and formulas.timeless()):
        return
    looked = rows(system, formulas.flats, where, runs, wide=formulas.expressions)
    found = depends_on_time(system, looked, not formulas.expressions)
    if found is not None:
        raise ValueError(
            f"The Lagrangian depends on the time; it changes {found}. {what} takes systems whose Lagrangian does not."
        )


def _jets(known: Known, q: np.ndarray, affine: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values of the fields at points, (point, field, l), and their derivatives, (point, field, l, j)."""
    values, slopes = known.jet
    if affine:
        return values + np.einsum("flj,rj->rfl", slopes, q - known.at), np.broadcast_to(slopes, (len(q), *slopes.shape))

    def each(points: Tree) -> Any:
        return jax.lax.map(known.transport.jets, points)

    found = compiled(each, jnp.asarray(q))
    return np.asarray(found[0]), np.asarray(found[1])


def _changes(known: Known, jets: tuple[np.ndarray, np.ndarray], looked: States, even: bool) -> np.ndarray:
    """How much the Lagrangian changes along each field at each state, in units of what is not known of it."""
    values, slopes = jets
    state = (looked.t, looked.q, looked.v)
    generator = np.random.default_rng(6)
    near = tuple(x * (1 + _LAST_DIGITS * generator.integers(-1, 2, x.shape)) for x in state)
    parts = []
    for of in (_along,) if even else (_along, _magnetic):
        (change, size, unknown), (other, _, _) = of(known, values, slopes, state), of(known, values, slopes, near)
        parts.append(_settled(change, other, size, unknown))
    return np.concatenate(parts)


def _crossed(system: System, known: Known, affine: bool, looked: States, formulas: Formulas) -> np.ndarray:
    """How fast each field crosses the steps of the Lagrangian, a row for each place of one, in the same units."""
    by, _ = jumps(system.raw_lagrangian, looked.special, looked.lines)
    there = np.flatnonzero(by)
    none = np.zeros((0, len(known.jet.values)))
    if not len(there) or not formulas.flats:
        return none
    chosen = there[np.unique(np.linspace(0, len(there) - 1, _STEPS).astype(int))]
    t, q, _ = (x[chosen] for x in looked.special)
    values, _ = _jets(known, q, affine)
    (flat, arguments), found = formulas.flats[0], []
    nodes = features(flat.algebra, [node for out in flat.outputs for node in out.nodes])
    of, n = ring(1 + 2 * q.shape[1], 1), q.shape[1]
    fixed = [np.ravel(np.asarray(x, float)) for x in (*jax.tree.leaves(system.last), np.array(flat.numbers))]
    for k, fields in enumerate(values):
        leaves = [of.constant(x) for x in (t[k : k + 1], q[k], looked.special[2][chosen[k]], *fixed)]
        for leaf, first in zip(leaves, np.cumsum([1, 1, n])[:arguments]):
            leaf[:, first : first + len(leaf)] = np.eye(len(leaf))
        series = np.array(evaluate(nodes, leaves, of), float)
        slopes, size = series[:, 2 : 2 + n], np.max(np.abs(np.concatenate([t[k : k + 1], q[k]])))
        with np.errstate(all="ignore"):
            # the features that are zero here, to the last digits of the state
            zero = np.abs(series[:, 0]) <= _ZERO * size * np.max(np.abs(slopes), axis=1, initial=0.0)
        across = slopes[zero & np.any(slopes != 0, axis=1)] @ fields.T
        speed = np.linalg.norm(slopes[zero & np.any(slopes != 0, axis=1)], axis=1)
        found += list(across / (_KNOWN * speed[:, None] * np.max(np.linalg.norm(fields, axis=1))))
    return np.array(found) if found else none


def _settled(change: np.ndarray, other: np.ndarray, size: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Changes in units of what is not known of them, at the states where they are numbers.

    One unit for all fields at a state: a combination of them may not change where each one does.
    """
    with np.errstate(all="ignore"):
        unit = np.max(unknown + _NOISE * np.abs(other - change) + _ROUNDING * size, axis=1, keepdims=True)
        known = np.all(np.isfinite(change) & np.isfinite(size) & np.isfinite(other), axis=1) & (unit[:, 0] > 0)
        return change[known] / unit[known]


def _reach(known: Known, slopes: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The size of the terms of which each field was computed at each point."""
    first, turning = (np.max(np.abs(x), axis=tuple(range(1, x.ndim))) for x in known.jet)
    far = np.max(np.abs(q), axis=1)[:, None]
    return first + turning * np.max(np.abs(known.at)) + np.max(np.abs(slopes), axis=(2, 3)) * far


def _along(known: Known, values: np.ndarray, slopes: np.ndarray, state: Any) -> tuple[np.ndarray, ...]:
    """The change of the part of L that is even in v, along each field, the size of its terms, and what is not known."""
    t, q, v = state

    def even(s: Tree, x: Tree, w: Tree) -> Tree:
        return 0.5 * (known.system.raw_lagrangian(s, x, w) + known.system.raw_lagrangian(s, x, -w))

    pull, momentum = at_rows(jax.grad(even, argnums=(1, 2)), t, q, v)
    with np.errstate(all="ignore"):
        rates = np.einsum("rflj,rj->rfl", slopes, v)
        terms = np.concatenate([pull[:, None] * values, momentum[:, None] * rates], axis=2)
        pulled, moved = np.sum(np.abs(pull), axis=1)[:, None], np.sum(np.abs(momentum), axis=1)[:, None]
        turned = np.max(np.abs(slopes), axis=(2, 3)) * np.max(np.abs(v), axis=1)[:, None]
        unknown = _KNOWN * (pulled * _reach(known, slopes, q) + moved * turned)
        return terms.sum(axis=2), np.abs(terms).sum(axis=2), unknown


def _magnetic(known: Known, values: np.ndarray, slopes: np.ndarray, state: Any) -> tuple[np.ndarray, ...]:
    """The Lie derivative of the magnetic field da, where a is the part of L of first degree in v."""

    def field(x: Tree) -> Tree:
        of = jax.jacfwd(Natural(known.system.local(x)).linear)(x)
        return of - of.T

    form, gradient = at_rows(lambda t, q, v: (field(q), jax.jacfwd(field)(q)), *state)
    with np.errstate(all="ignore"):
        terms = np.stack(
            [
                np.einsum("rijk,rfk->rfij", gradient, values),
                np.einsum("rkj,rfki->rfij", form, slopes),
                np.einsum("rik,rfkj->rfij", form, slopes),
            ]
        )
        change, size = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        sizes = np.max(np.abs(gradient), axis=(1, 2, 3))[:, None] * _reach(known, slopes, state[1])
        sizes = sizes + np.max(np.abs(form), axis=(1, 2))[:, None] * np.max(np.abs(slopes), axis=(2, 3))
        unknown = np.broadcast_to(_KNOWN * sizes[:, :, None, None], change.shape)
    count = change.shape[1]
    change, size, unknown = (np.moveaxis(x, 1, -1).reshape(-1, count) for x in (change, size, unknown))
    return change, size, unknown
