r"""Lagrangians on groups that are left-invariant up to a potential, found from their trace.

On a group, \(L(t, g, v) = \ell(t, \xi) - V(t, g)\) with the body velocity \(\xi = g^{-1}v\) is the Lagrangian of a
rigid body: its derivatives are those of \(\ell\) in the algebra and those of V. Whether L has this form is asked of its
graph of scalar operations. A number in it is one of

- constant: it names neither g nor v,
- invariant: a function of \(\xi\) alone. A number made by sums, products, quotients, sines and cosines of the
  components of g and v, which is analytic, is so if it has the same value at random \((g, g\xi)\) with the same
  \(\xi\); any function of invariant and constant numbers is so too, jumps and branches included,
- a function of g alone, by what is wired to what,
- a sum of these.

Anything else, such as a branch that asks for g and chooses by it among functions of v, is none of these, and the
Lagrangian is not reduced. Constants and parameters are random as well, so that the answer holds for the form, whatever
its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.spaces import AbstractSpace, left_translation
from holonomy.systems import tracing
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import Program
from holonomy.trace.graph import numeric
from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.types import Number, Point, Vector

if TYPE_CHECKING:
    from holonomy.systems.system import System

_VELOCITIES, _PLACES = 3, 4  # random body velocities, and elements of the group at which each is taken
_SAME = 1e-11  # of the sizes of the terms: what rounding leaves of equal numbers
_MOST = 20_000  # scalar operations above which nothing is asked


class Reduction(Enum):
    """What is left of g in a Lagrangian once \\(\\xi\\) is named: nothing, or a potential."""

    FREE = auto()
    POTENTIAL = auto()


class _Kind(Enum):
    CONSTANT = auto()
    INVARIANT = auto()
    PLACE = auto()
    SUM = auto()
    OTHER = auto()


_ANALYTIC: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "sin": np.sin, "cos": np.cos, "exp": np.exp,
}  # fmt: skip


def find(system: System) -> Reduction | None:
    """How the Lagrangian of a system reduces to the algebra of its group, or None where it does not."""
    if system.flat or not left_translation.is_group(system.space):
        return None
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    leaves = jax.tree.leaves(frame.example(velocity=True))
    constants = system.lagrangian.constants
    inputs = [(tuple(x.shape), str(x.dtype)) for x in map(jax.typeof, (*leaves, *constants))]
    whole = []
    for k, constant in enumerate(constants, len(leaves)):
        if inputs[k][1].startswith("float"):
            continue
        if isinstance(constant, Tracer):
            return None
        whole.append((k, ByValue(np.asarray(constant))))
    if any(not kind.startswith("float") for _, kind in inputs[: len(leaves)]):
        return None
    with jax.ensure_compile_time_eval():
        return _found(system.lagrangian.program, _shape(system.space), tuple(inputs), tuple(whole))


def momentum(system: System, t: Number, xi: Vector) -> Vector:
    r"""\(\partial\ell/\partial\xi\) of a Lagrangian that reduces."""
    one = left_translation.identity(system.space).astype(xi.dtype)
    return jax.grad(lambda u: system.raw_lagrangian(t, one, left_translation.lift(system.space, one, u)))(xi)


def torque(system: System, t: Number, g: Point) -> Vector:
    r"""\(-\partial V/\partial g\) in the frame of g."""
    slope = jax.grad(lambda x: system.raw_lagrangian(t, x, jnp.zeros_like(x)))(g)
    return jax.vjp(lambda u: left_translation.lift(system.space, g, u), jnp.zeros(system.space.dim, g.dtype))[1](slope)[
        0
    ]


class _Shape:
    """A space by its form: lengths and radii have no part in its group."""

    def __init__(self, space: AbstractSpace) -> None:
        self.space = space
        self.key = str(jax.tree.structure(space))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and self.key == other.key


def _shape(space: AbstractSpace) -> _Shape:
    return _Shape(jax.tree.map(lambda _: 1.0, space))


@lru_cache(maxsize=64)
def _found(program: Program, shape: _Shape, inputs: Any, whole: Any) -> Reduction | None:
    given = dict(whole)
    free = [k for k in range(len(inputs)) if k not in given]

    def function(*values: Any) -> Any:
        every = dict(zip(free, values, strict=True)) | {k: c.value for k, c in given.items()}
        return program(*(every[k] for k in range(len(inputs))))[0]

    if len(program.instructions) > _MOST:
        return None
    try:
        flat = scalarise(function, [jax.ShapeDtypeStruct(inputs[k][0], np.float64) for k in free], hoist=False)
    except Unsupported:
        return None
    nodes = reachable(flat.outputs[0].nodes)
    if len(nodes) > _MOST:
        return None
    samples = _samples(shape.space, [inputs[k][0] for k in free])
    kind = _kinds(nodes, samples)[flat.outputs[0].nodes[0].index]
    if kind is _Kind.OTHER or not _differentiable(function, shape.space, samples, kind is _Kind.SUM):
        return None
    return Reduction.POTENTIAL if kind in (_Kind.SUM, _Kind.PLACE) else Reduction.FREE


def _differentiable(
    function: Callable[..., Any], space: AbstractSpace, samples: list[np.ndarray], potential: bool
) -> bool:
    """Whether the Lagrangian has derivatives where a reduced one is asked for them: by the velocity at the neutral
    element, where a formula may divide by a coordinate, and of a potential by the place at rest, where a function of
    the velocity may have none.
    """
    values = [np.asarray(x[0]) for x in samples]
    one, xi = np.array(left_translation.identity(space)), np.linspace(0.5e-3, 1e-3, space.dim)
    moving = [values[0], one, _evaluated(lambda x, u: left_translation.lift(space, x, u), [one, xi]), *values[3:]]
    at_rest = [np.zeros_like(x) if k == 2 else x for k, x in enumerate(values)]
    like = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in values]
    slopes = scalarise(jax.grad(function, argnums=(1, 2)), like, hoist=False)
    by_place, by_velocity = (slopes.outputs[k].nodes for k in (0, 1))
    found = numeric.evaluate(by_velocity, moving) + (numeric.evaluate(by_place, at_rest) if potential else [])
    return bool(np.all(np.isfinite(found)))


def _evaluated(function: Callable[..., Any], values: list[np.ndarray]) -> np.ndarray:
    """The value of a function, without compiling it."""
    flat = scalarise(function, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in values], hoist=False)
    return np.array(numeric.evaluate(flat.outputs[0].nodes, values))


def _samples(space: AbstractSpace, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Values of the arguments, one row for each sample; rows of one body velocity follow one another."""
    source = np.random.default_rng(20)
    places = [_evaluated(space.project, [source.normal(size=space.point_dim)]) for _ in range(_PLACES)]
    rows: list[list[Any]] = [[] for _ in shapes]
    for _ in range(_VELOCITIES):
        xi = source.normal(size=space.dim)
        rest = [source.uniform(0.5, 2.0, shape) for shape in shapes]
        for g in places:
            v = _evaluated(lambda x, u: left_translation.lift(space, x, u), [g, xi])
            for row, value in zip(rows, [rest[0], g, v, *rest[3:]], strict=True):
                row.append(value)
    return [np.stack(row) for row in rows]


def _kinds(nodes: list[Node], samples: list[np.ndarray]) -> dict[int, _Kind]:
    """The kind of every number of the graph."""
    kinds: dict[int, _Kind] = {}
    values: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # of analytic numbers, with the sizes of their terms
    ones = np.ones(len(samples[0]))
    with np.errstate(all="ignore"):
        for node in nodes:
            if node.op == "const":
                kind, own = _Kind.CONSTANT, node.data * ones if node.dtype[0] == "f" else None
            elif node.op == "input":
                leaf, element = node.data
                kind = {1: _Kind.PLACE, 2: _Kind.OTHER}.get(leaf, _Kind.CONSTANT)
                own = samples[leaf].reshape(len(ones), -1)[:, element]
            else:
                kind = _kind(node.op, [kinds[a.index] for a in node.args])
                known = node.op in _ANALYTIC and all(a.index in values for a in node.args)
                own = _ANALYTIC[node.op](*(values[a.index][0] for a in node.args)) if known else None
            if own is not None:
                values[node.index] = own, _size(node, own, values)
                if kind in (_Kind.OTHER, _Kind.SUM) and _same(*values[node.index]):
                    kind = _Kind.INVARIANT
            kinds[node.index] = kind
    return kinds


def _kind(op: str, given: list[_Kind]) -> _Kind:
    """The kind of an operation on numbers of these kinds."""
    found = set(given) - {_Kind.CONSTANT}
    if not found:
        return _Kind.CONSTANT
    if len(found) == 1 and found <= {_Kind.INVARIANT, _Kind.PLACE}:
        return found.pop()
    scaled = _Kind.CONSTANT in given and (op == "mul" or (op == "div" and given[1] is _Kind.CONSTANT))
    if _Kind.OTHER not in found and (op in ("add", "sub", "neg") or scaled):
        return _Kind.SUM
    return _Kind.OTHER


def _size(node: Node, own: np.ndarray, values: dict[int, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The size of a number as the sum of the sizes of its terms, which may cancel."""
    sizes = [values[a.index][1] for a in node.args]
    if node.op in ("add", "sub"):
        return sizes[0] + sizes[1]
    if node.op == "mul":
        return sizes[0] * sizes[1]
    if node.op == "div":  # the quotient's error grows as the divisor cancels
        return np.abs(own) * (
            sizes[0] / np.abs(values[node.args[0].index][0]) + sizes[1] / np.abs(values[node.args[1].index][0])
        )
    return sizes[0] if node.op == "neg" else np.abs(own) + (sizes[0] if sizes else 0.0)


def _same(own: np.ndarray, size: np.ndarray) -> bool:
    """Whether a number has one value for each body velocity, whatever the place."""
    rows, sizes = own.reshape(_VELOCITIES, -1), size.reshape(_VELOCITIES, -1)
    return bool(np.all(np.ptp(rows, axis=1) <= _SAME * np.max(sizes, axis=1)))
