r"""Which first and second derivatives of a traced function by one of its inputs can differ from zero.

For each element of each array in the program the set of components of the input is followed on which it depends. An
operation that is linear adds nothing to the Hessian; a product adds the pairs of the sets of its factors, and any other
operation on single elements the pairs of its own set. An operation that is not known counts as depending on all its
arguments in every way. So the pattern contains every entry that can differ from zero, whatever the numbers are: of
the constants only integers are read, which say where elements go. Reference: Walther, *Computing sparse Hessians with
automatic differentiation*, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import jax
import numpy as np
import scipy.sparse as sparse
from jax.core import Tracer

from holonomy.trace import data_movement
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import Function, Program, applied, slot_types

# fmt: off
_LINEAR = frozenset(["add", "add_any", "sub", "neg", "copy", "real", "reduce_precision", "optimization_barrier"])
_FLAT = frozenset([
    "sign", "floor", "ceil", "round", "is_finite", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not",
    "stop_gradient", "argmax", "argmin", "shift_left", "shift_right_logical", "shift_right_arithmetic",
])
_ELEMENTWISE = frozenset([
    "rem", "abs", "sqrt", "rsqrt", "cbrt", "square", "exp", "exp2", "expm1", "log", "log1p", "logistic", "pow",
    "integer_pow", "max", "min", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "erf", "erfc", "erf_inv", "clamp", "nextafter",
])
# fmt: on

_WHOLE = frozenset(["argmax", "argmin"])  # of those the ones that look at whole rows

# A `scipy.sparse.csr_array` of booleans: a row for each element of an array, with the components on which it depends.
# SciPy has no types for its sparse arrays.
Sets: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which entries of a matrix can differ from zero; the same object for the same function."""

    matrix: Sets


class _Full(Exception):
    """The pattern has more entries than were asked for."""


def hessian_pattern(function: Function, arguments: Sequence[Any], variable: int, most: int) -> Pattern | None:
    """The pattern of the Hessian of a function with one number as value, by the input with number `variable`.

    `arguments` are the inputs, one leaf each, of which only shapes and types count. None where the pattern has more
    than `most` entries, or a set is not followed without making as many.
    """
    return _pattern(function.program, *_inputs(function, arguments), variable, most)


def jacobian_pattern(function: Function, arguments: Sequence[Any], variable: int, most: int) -> Pattern | None:
    """The pattern of the Jacobian of a function with one array as value, by the input with number `variable`.

    A row for each element of the value. None where a set is not followed without making more than `most` entries.
    """
    return _jacobian(function.program, *_inputs(function, arguments), variable, most)


def value_pattern(function: Function, arguments: Sequence[Any], variable: int, most: int) -> Pattern | None:
    """The pattern of what the elements of a value depend on in any way, also through comparisons and rounding.

    As `jacobian_pattern`, for functions that have no derivative that says so: steps, tables, loops.
    """
    return _jacobian(function.program, *_inputs(function, arguments), variable, most, values=True)


@lru_cache(maxsize=64)
def _jacobian(
    program: Program, types: Any, whole: Any, variable: int, most: int, values: bool = False
) -> Pattern | None:
    slots = slot_types(program, types)
    shapes = [shape for shape, _ in slots]
    try:
        followed = _Followed(program, shapes, dict(whole), variable, most, second=False, values=values)
    except _Full:
        return None
    out = program.outputs[0]
    found = followed.sets[out] if isinstance(out, int) else None
    rows = int(np.prod(shapes[out] if isinstance(out, int) else np.shape(out.value), dtype=int))
    return Pattern(sparse.csr_array((rows, followed.size), dtype=bool) if found is None else sparse.csr_array(found))


def _inputs(function: Function, arguments: Sequence[Any]) -> tuple[Any, Any]:
    """Shapes and types of the inputs, the constants last, and the values of constants that are integers."""
    inputs = (*arguments, *function.constants)
    types = tuple((tuple(x.shape), str(x.dtype)) for x in map(jax.typeof, inputs))
    first = len(arguments)
    whole = tuple((first + k, _whole(c)) for k, c in enumerate(function.constants) if types[first + k][1][0] in "iub")
    return types, whole


def _whole(constant: Any) -> ByValue | None:
    return None if isinstance(constant, Tracer) else ByValue(np.asarray(constant))


@lru_cache(maxsize=64)
def _pattern(program: Program, types: Any, whole: Any, variable: int, most: int) -> Pattern | None:
    shapes = [shape for shape, _ in slot_types(program, types)]
    try:
        return Pattern(_Followed(program, shapes, dict(whole), variable, most).pattern)
    except _Full:
        return None


class _Followed:
    """A program with the sets of its slots, None where an array does not depend on the input."""

    def __init__(
        self,
        program: Program,
        shapes: list[tuple[int, ...]],
        whole: dict[int, Any],
        variable: int,
        most: int,
        second: bool = True,
        values: bool = False,
    ):
        self.program, self.shapes, self.most, self.second, self.values = program, shapes, most, second, values
        self.size = int(np.prod(shapes[variable], dtype=int))
        self.integers = _Integers(program, whole)
        self.pattern: Sets = sparse.csr_array((self.size, self.size), dtype=bool)
        self.sets: list[Sets | None] = [None] * program.slots_in
        self.sets[variable] = sparse.eye_array(self.size, dtype=bool, format="csr")
        here = program.slots_in
        for primitive, params, arguments, results in program.instructions:
            given = [self.sets[a] if isinstance(a, int) else None for a in arguments]
            found: list[Sets | None] = [None] * results
            if any(s is not None for s in given) and (values or primitive.name not in _FLAT):
                found = self._results(primitive, params, arguments, given, shapes[here : here + results])
            self.sets += found
            here += results

    def _results(self, primitive: Any, params: Any, slots: Any, given: list[Any], out: Any) -> list[Sets | None]:
        name = primitive.name
        shapes = [self.shapes[a] if isinstance(a, int) else a.value.shape for a in slots]
        if self.values and len(out) == 1 and name in (_FLAT - _WHOLE) | {"convert_element_type", "select_n"}:
            return [self._union(given, shapes, out[0])]
        if name == "dot_general":
            return [self._product(params, shapes, given)]
        if name == "reduce_sum":
            return [self._summed(given[0], shapes[0], params["axes"])]
        if name == "convert_element_type":
            return [given[0] if np.dtype(params["new_dtype"]).kind == "f" else None]
        if name == "select_n":  # derivatives are those of the chosen element; the choice has none
            return [self._union(given[1:], shapes[1:], out[0])]
        if name in _LINEAR and len(out) == 1:
            return [self._union(given, shapes, out[0])]
        if name in ("mul", "div"):
            return [self._quotient_or_product(name, given, shapes, out[0])]
        if name in _ELEMENTWISE:
            together = self._union(given, shapes, out[0])
            self._couple(together, together)
            return [together]
        moved = data_movement.sources(primitive, params, shapes, [self.integers.value(a) for a in slots])
        if moved is not None:
            return [self._moved(given, shapes, ids) for ids in moved]
        return self._unknown(given, out)

    def _moved(self, given: list[Any], shapes: list[Any], ids: np.ndarray) -> Sets | None:
        """Elements of the operands, by their numbers in all of them together; negative where none."""
        rows = [
            s if s is not None else sparse.csr_array((int(np.prod(shape, dtype=int)), self.size), dtype=bool)
            for s, shape in zip(given, shapes, strict=True)
        ]
        nothing = sparse.csr_array((1, self.size), dtype=bool)
        stacked: Sets = sparse.vstack([*rows, nothing], format="csr", dtype=bool)
        flat = ids.ravel()
        flat = np.where(flat < 0, stacked.shape[0] - 1, flat)
        self._refuse(int(np.diff(stacked.indptr)[flat].sum()))
        taken = stacked[flat]
        return taken if taken.nnz else None

    def _union(self, given: list[Any], shapes: list[Any], out: tuple[int, ...]) -> Sets | None:
        total = None
        for one, shape in zip(given, shapes, strict=True):
            if one is None:
                continue
            rows = one if shape == out else self._moved([one], [shape], _repeated(shape, out))
            total = rows if total is None else total + rows
        if total is not None:
            self._refuse(total.nnz)
        return total

    def _quotient_or_product(self, name: str, given: list[Any], shapes: list[Any], out: Any) -> Sets | None:
        together = self._union(given, shapes, out)
        if given[1] is None or (given[0] is None and name == "mul"):
            return together
        if name == "div":
            self._couple(together, together)
        else:
            self._couple(*(self._union([s], [shape], out) for s, shape in zip(given, shapes, strict=True)))
        return together

    def _product(self, params: Any, shapes: list[Any], given: list[Any]) -> Sets | None:
        """A sum of products; its dimensions have names, those of a batch and those summed over the same in both."""
        sums, batch = params["dimension_numbers"]
        names = [[f"{side}{d}" for d in range(len(shape))] for side, shape in enumerate(shapes)]
        for kind, pairs in (("batch", batch), ("sum", sums)):
            for number, dimensions in enumerate(zip(*pairs, strict=True)):
                for side, d in enumerate(dimensions):
                    names[side][d] = f"{kind}{number}"
        lengths = {
            name: n for own, shape in zip(names, shapes, strict=True) for name, n in zip(own, shape, strict=True)
        }
        summed = [f"sum{k}" for k in range(len(sums[0]))]
        out = [f"batch{k}" for k in range(len(batch[0]))]
        out += [name for name in (*names[0], *names[1]) if name[0] in "01"]
        if given[0] is not None and given[1] is not None:
            self._refuse(int(np.prod([lengths[name] for name in (*out, *summed)], dtype=float)))
            spread = [self._spread(s, own, [*out, *summed], lengths) for s, own in zip(given, names, strict=True)]
            self._couple(*spread)
            shape = tuple(lengths[name] for name in (*out, *summed))
            return self._summed(self._union(spread, [shape, shape], shape), shape, tuple(range(len(out), len(shape))))
        side = 0 if given[0] is not None else 1
        part = self._summed(given[side], shapes[side], tuple(sums[side]))
        return self._spread(part, [name for name in names[side] if name not in summed], out, lengths)

    def _spread(self, given: Any, own: list[str], names: list[str], lengths: dict[str, int]) -> Sets | None:
        """The sets of an array with the dimensions `own`, repeated along those of `names` that it lacks."""
        ids = np.arange(int(np.prod([lengths[name] for name in own], dtype=int)))
        ids = ids.reshape([lengths[name] for name in own]).transpose([own.index(name) for name in names if name in own])
        ids = ids.reshape([lengths[name] if name in own else 1 for name in names])
        whole = tuple(lengths[name] for name in names)
        return self._moved([given], [tuple(lengths[name] for name in own)], np.broadcast_to(ids, whole))

    def _summed(self, given: Sets | None, shape: tuple[int, ...], axes: tuple[int, ...]) -> Sets | None:
        if given is None:
            return None
        kept = [1 if d in axes else n for d, n in enumerate(shape)]
        count = int(np.prod(kept, dtype=int))
        target = np.broadcast_to(np.arange(count).reshape(kept), shape).ravel()
        ones = np.ones(target.size, bool)
        adds = sparse.csr_array((ones, (target, np.arange(target.size))), shape=(count, target.size), dtype=bool)
        return sparse.csr_array(adds @ given)

    def _unknown(self, given: list[Any], out: Any) -> list[Sets | None]:
        components = np.unique(np.concatenate([s.indices for s in given if s is not None]))
        count = sum(int(np.prod(shape, dtype=int)) for shape in out)
        self._refuse(components.size * (max(count, components.size) if self.second else count))
        row = sparse.csr_array((np.ones(components.size, bool), components, [0, components.size]), (1, self.size))
        self._couple(row, row)
        return [self._moved([row], [(1,)], np.zeros(shape, int)) for shape in out]

    def _couple(self, a: Sets | None, b: Sets | None) -> None:
        """Add the pairs of the sets of the same element."""
        if a is None or b is None or not self.second:
            return
        self._refuse(int(np.dot(np.diff(a.indptr).astype(float), np.diff(b.indptr).astype(float))))
        pairs = a.T @ b
        self.pattern = sparse.csr_array(self.pattern + pairs if a is b else self.pattern + pairs + pairs.T)
        self._refuse(self.pattern.nnz)

    def _refuse(self, entries: int) -> None:
        if entries > self.most:
            raise _Full


def _repeated(shape: tuple[int, ...], out: tuple[int, ...]) -> np.ndarray:
    """The numbers of an array's elements, repeated along the dimensions that it lacks or has with length 1."""
    return np.broadcast_to(np.arange(int(np.prod(shape, dtype=int))).reshape(shape), out)


class _Integers:
    """The values of slots that follow from integer constants alone."""

    def __init__(self, program: Program, whole: dict[int, ByValue | None]):
        self.known: dict[int, np.ndarray | None] = {k: None if w is None else w.value for k, w in whole.items()}
        self.made: dict[int, tuple[Any, int]] = {}
        here = program.slots_in
        for instruction in program.instructions:
            self.made.update((here + k, (instruction, k)) for k in range(instruction[3]))
            here += instruction[3]

    def value(self, slot: Any) -> np.ndarray | None:
        """The array in a slot, None where it is not known."""
        if not isinstance(slot, int):
            return np.asarray(slot.value)
        if slot not in self.known:
            self.known[slot] = self._computed(slot)
        return self.known[slot]

    def _computed(self, slot: int) -> np.ndarray | None:
        if slot not in self.made:
            return None  # an input of the function
        (primitive, params, arguments, _), k = self.made[slot]
        values = [self.value(a) for a in arguments]
        if any(v is None or v.dtype.kind not in "iub" for v in values):
            return None
        out = applied(primitive, params, values)
        return np.asarray(out[k] if primitive.multiple_results else out)
