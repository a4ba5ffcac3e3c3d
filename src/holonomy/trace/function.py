"""A traced function as data: what it does (structure) apart from the numbers it does it with (constants)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import equinox as eqx
import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree

from holonomy import __version__
from holonomy.trace.graph.dag import structural
from holonomy.trace.jaxpr import JAXPRS, called, parts
from holonomy.trace.pickling import check_release, pack, unpack

# Calls that mean nothing beyond what they call; those with derivatives of their own stay whole.
_INLINED = frozenset(["jit", "pjit", "closed_call", "core_call"])

_WORTH_KEEPING = 8  # instructions from which a traced call is kept; JAX spends as much time on the call as on these


class Program:
    """A straight list of primitive applications on numbered slots, equal to any other of the same form.

    Slots hold the inputs, then the hoisted constants, then the results in order. Float literals that are not
    `structural` are constants, so that two functions that differ in numbers alone are one program; the structural ones
    stand among the arguments by value. Programs are interned: same form, same object,
    hence one compiled function per form.
    """

    __slots__ = ("__weakref__", "_hash", "_once", "instructions", "key", "outputs", "slots_in")

    def __init__(
        self,
        slots_in: int,
        instructions: list[tuple[Any, ...]],
        outputs: tuple[Any, ...],
        key: tuple[Hashable, ...],
    ):
        self.slots_in = slots_in
        self.instructions = instructions
        self.outputs = outputs
        self.key = key
        self._hash = hash(key)
        self._once = jax.jit(self._evaluate) if len(instructions) >= _WORTH_KEEPING else self._evaluate

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (pack(self.instructions, (self.slots_in, self.outputs, self.key[:2])), __version__)

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Program) and self._hash == other._hash and self.key == other.key)

    def __call__(self, *inputs: Any) -> list[Any]:
        """Evaluate on inputs followed by constants; works on tracers, so it differentiates and batches.

        While something is traced this is a call of one function that JAX traces once and whose derivatives JAX keeps,
        so that a method may ask for a system's functions and their derivatives as often as it likes.
        """
        return (self._once if any(isinstance(x, Tracer) for x in inputs) else self._evaluate)(*inputs)

    def _evaluate(self, *inputs: Any) -> list[Any]:
        """Every instruction in turn. Traced in double precision, it computes in single when an input is single."""
        single = any(jax.typeof(x).dtype == np.float32 for x in inputs)
        slots = [_single(x) for x in inputs] if single else list(inputs)
        for primitive, params, arguments, _ in self.instructions:
            values = [slots[a] if isinstance(a, int) else a.value for a in arguments]
            if single:
                values, params = [_single(x) for x in values], _single_params(primitive, params)
            out = applied(primitive, params, values)
            slots.extend(out if primitive.multiple_results else [out])
        return [slots[a] if isinstance(a, int) else a.value for a in self.outputs]

    def depends_on(self, slot: int) -> bool:
        """Whether any output can change when this input changes, judged by what is wired to what.

        A power with exponent 0, which older versions of JAX write for the second derivative of a square, is 1.
        """
        reached = {slot}
        here = self.slots_in
        for primitive, params, arguments, results in self.instructions:
            constant = primitive.name == "integer_pow" and params["y"] == 0
            if not constant and reached.intersection(arguments):
                reached.update(range(here, here + results))
            here += results
        return bool(reached.intersection(self.outputs))


def slot_types(program: Program, types: Sequence[tuple[tuple[int, ...], str]]) -> list[tuple[tuple[int, ...], str]]:
    """Shape and type of every slot of a program, for inputs and constants of these."""

    def slots(*inputs: Any) -> list[Any]:
        found = list(inputs)
        for primitive, params, arguments, _ in program.instructions:
            out = applied(primitive, params, [found[a] if isinstance(a, int) else a.value for a in arguments])
            found.extend(out if primitive.multiple_results else [out])
        return found

    made = jax.eval_shape(slots, *(jax.ShapeDtypeStruct(*one) for one in types))
    return [(tuple(x.shape), str(x.dtype)) for x in made]


def applied(primitive: Any, params: dict[str, Any], values: list[Any]) -> Any:
    """The result of a primitive; a function with a reverse rule of its own gets the forward rule that follows."""

    def plain(*args: Any) -> Any:
        return primitive.bind(*args, **primitive.get_bind_params(params))

    if not primitive.name.startswith("custom_vjp_call"):
        return plain(*values)
    return _with_forward_rule(plain)(*values)


def _with_forward_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    r"""A function with `jax.custom_vjp` that can be differentiated forward too.

    JAX refuses forward derivatives of such a function, and accelerations need them. Its own rule gives the rows of the
    Jacobian, \(\dot y_i = (J^\top e_i)\cdot\dot x\), one call for each component of the value.
    """

    @jax.custom_jvp
    def extended(*args: Any) -> Any:
        return function(*args)

    @extended.defjvp
    def _(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        value = extended(*primals)
        unit, shaped = ravel_pytree(jax.tree.map(lambda y: np.zeros(y.shape, y.dtype), value))

        def row(e: Any, *args: Any) -> Any:
            return jax.vjp(function, *args)[1](shaped(e))

        # As data without what it does not use: a reverse rule mostly computes the value by the function itself, which
        # would be refused again when this rule is differentiated.
        rows = jax.vmap(lambda e: trace(row, (unit, *primals))(e, *primals))(np.eye(unit.size, dtype=unit.dtype))
        moved = [(r, x) for r, x in zip(rows, tangents, strict=True) if r.dtype != jax.dtypes.float0]
        change = sum((jnp.reshape(r, (unit.size, -1)) @ jnp.ravel(x) for r, x in moved), start=jnp.zeros_like(unit))
        return value, shaped(change)

    return extended


def _single(value: Any) -> Any:
    """The value in single precision if it is a double; what is not a float stays."""
    if jax.typeof(value).dtype != np.float64:
        return value
    return value.astype(np.float32)


def _single_params(primitive: Any, params: dict[str, Any]) -> dict[str, Any]:
    if any(isinstance(p, JAXPRS) for p in jax.tree.leaves(list(params.values()))):
        raise ValueError(
            f"The function holds a {primitive.name} (a loop or branch), which was traced in double precision; "
            f"pass q0 in float64."
        )
    return {k: np.dtype(np.float32) if isinstance(p, np.dtype) and p == np.float64 else p for k, p in params.items()}


_interned: WeakValueDictionary[Hashable, Program] = WeakValueDictionary()


def _unpickled(data: bytes, release: str) -> Program:
    check_release(release)
    instructions, (slots_in, outputs, heads) = unpack(data)
    return _program(slots_in, instructions, outputs, heads)


def _program(
    slots_in: int, instructions: list[tuple[Any, ...]], outputs: tuple[Any, ...], heads: tuple[Hashable, ...]
) -> Program:
    """The one program with these instructions; `heads` are the types of its inputs and of its constants."""
    body = tuple((p.name, _params_key(params), args, n) for p, params, args, n in instructions)
    key = (*heads, body, outputs)
    return _interned.setdefault(key, Program(slots_in, instructions, outputs, key))


class Function(eqx.Module):
    """A user's function as a PyTree: a `Program` (static) and its constants (leaves, differentiable and batchable)."""

    program: Program = eqx.field(static=True)
    constants: tuple[Any, ...]
    _shape: Any = eqx.field(static=True)

    def __call__(self, *args: Any) -> Any:
        leaves = jax.tree.leaves(args)
        flat = self.program(*leaves, *self.constants)
        return jax.tree.unflatten(self._shape, flat)

    def depends_on(self, argument: int, example: Sequence[Any]) -> bool:
        """Whether the value can depend on the argument with this position; `example` has the arguments' structure."""
        counts = [len(jax.tree.leaves(a)) for a in example]
        first = sum(counts[:argument])
        return any(self.program.depends_on(i) for i in range(first, first + counts[argument]))


def trace(function: Callable[..., Any], example: Sequence[Any]) -> Function:
    """Trace `function` at arguments shaped like `example` and take its float constants out.

    The function is called on every trace, so values that it closes over are those of this moment.
    """

    # A new object on each call: JAX keeps jaxprs by the identity of the function, and would give back an old one.
    def now(*args: Any) -> Any:
        return function(*args)

    closed, shape = jax.make_jaxpr(now, return_shape=True)(*example)
    jaxpr, constants = parts(closed)
    avals = [v.aval for v in jaxpr.invars]
    builder = _Builder(len(avals))
    outputs = builder.run(jaxpr, list(range(len(avals))), constants)
    program, hoisted = builder.finish(outputs, tuple(map(_aval_key, avals)))
    return Function(program, hoisted, jax.tree.structure(shape))


class _Builder:
    """Collects instructions with provisional slot names; constants get their final slots once they are all known.

    What is computed twice from the same slots becomes one instruction, since each costs time again in every derivative.
    So does an array that occurs twice. Equal single numbers stay apart: two masses may be equal by chance, and then the
    program of other masses would be another one.
    """

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.constants: list[Any] = []
        self.rows: list[tuple[Any, dict[str, Any], list[Any], list[Any]]] = []
        self._known: dict[Hashable, Any] = {}

    def constant(self, value: Any) -> tuple[str, int]:
        kept = value if isinstance(value, jax.Array) else np.asarray(value)
        name = ("constant", len(self.constants))
        if kept.size > 1:
            name = self._known.setdefault(_const_key(kept), name)
        if name[1] == len(self.constants):
            self.constants.append(kept)
        return name

    def row(self, eqn: Any, values: list[Any]) -> list[Any]:
        """The names of the results of an equation of these values, which may be there already."""
        key = None if eqn.effects else (eqn.primitive.name, _params_key(eqn.params), tuple(values))
        known = self._known.get(key)
        if known is not None:
            return known
        results = [("result", len(self.rows), k) for k in range(len(eqn.outvars))]
        self.rows.append((eqn.primitive, eqn.params, values, [o.aval for o in eqn.outvars]))
        if key is not None:
            self._known[key] = results
        return results

    def run(self, jaxpr: Any, arguments: list[Any], consts: Sequence[Any]) -> list[Any]:
        names: dict[Any, Any] = dict(zip(jaxpr.invars, arguments, strict=True))
        names.update((v, self.constant(c)) for v, c in zip(jaxpr.constvars, consts, strict=True))

        def read(atom: Any) -> Any:
            return self._literal(atom) if isinstance(atom, jex.Literal) else names[atom]

        for eqn in jaxpr.eqns:
            values = [read(a) for a in eqn.invars]
            if eqn.primitive.name in _INLINED:
                inner, constants = parts(called(eqn.primitive.name, eqn.params))
                results = self.run(inner, values, constants)
            else:
                results = self.row(eqn, values)
            names.update(zip(eqn.outvars, results, strict=True))
        return [read(a) for a in jaxpr.outvars]

    def _literal(self, atom: Any) -> Any:
        value = np.asarray(atom.val, dtype=atom.aval.dtype)
        if value.ndim == 0 and (value.dtype.kind != "f" or structural(float(value))):
            return Fixed(value)
        return self.constant(value)

    def _drop_unused(self, outputs: list[Any]) -> list[Any]:
        """Remove rows whose results nothing reads, except those that have none and act otherwise (a printed line)."""
        used = {name[1] for name in outputs if _is_result(name)}
        for index in reversed(range(len(self.rows))):
            if index in used or not self.rows[index][3]:
                used.add(index)
                used.update(name[1] for name in self.rows[index][2] if _is_result(name))
        place = {old: new for new, old in enumerate(sorted(used))}

        def renamed(name: Any) -> Any:
            return ("result", place[name[1]], name[2]) if _is_result(name) else name

        kept = [self.rows[old] for old in place]
        self.rows = [(p, params, list(map(renamed, args)), avals) for p, params, args, avals in kept]
        return list(map(renamed, outputs))

    def finish(self, outputs: list[Any], signature: Hashable) -> tuple[Program, tuple[Any, ...]]:
        outputs = self._drop_unused(outputs)
        base = self.inputs + len(self.constants)
        starts = np.concatenate([[0], np.cumsum([len(avals) for *_, avals in self.rows])])

        def slot(name: Any) -> Any:
            if isinstance(name, (int, Fixed)):
                return name
            if name[0] == "constant":
                return self.inputs + name[1]
            return int(base + starts[name[1]] + name[2])

        instructions = [(p, params, tuple(map(slot, args)), len(avals)) for p, params, args, avals in self.rows]
        out = tuple(map(slot, outputs))
        heads = (signature, tuple(_aval_key(jax.typeof(c)) for c in self.constants))
        return _program(base, instructions, out, heads), tuple(self.constants)


def _is_result(name: Any) -> bool:
    return isinstance(name, tuple) and name[0] == "result"


class Fixed:
    """A literal that belongs to the structure."""

    def __init__(self, value: np.ndarray):
        self.value = value
        self.key = (value.dtype.str, value.tobytes())  # not by value: 0 and -0 differ, and NaN is itself

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self.key == other.key


def _aval_key(aval: Any) -> Hashable:
    return (tuple(aval.shape), str(aval.dtype))


def _params_key(params: dict[str, Any]) -> Hashable:
    return tuple((name, _param_key(params[name])) for name in sorted(params))


def _param_key(value: Any) -> Hashable:
    if isinstance(value, JAXPRS):
        jaxpr, constants = parts(value)
        return (_jaxpr_key(jaxpr), tuple(map(_const_key, constants)))
    if isinstance(value, (tuple, list)):
        return tuple(map(_param_key, value))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return type(value).__name__, repr(value)  # apart where Python says equal: 0.0 and -0.0, 1 and True
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return value


class _Same:
    """An unhashable parameter: equal to itself alone, so a program holding it is never mistaken for another."""

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


def _const_key(value: Any) -> Hashable:
    if isinstance(value, Tracer):
        return _Same(value)
    array = np.asarray(value)
    return (array.shape, array.dtype.str, array.tobytes())


def _jaxpr_key(jaxpr: Any) -> Hashable:
    """The form of a nested jaxpr (the body of a loop or branch), its numbers included."""
    names: dict[Any, int] = {}

    def read(atom: Any) -> Hashable:
        if isinstance(atom, jex.Literal):
            return _const_key(atom.val)
        return names.setdefault(atom, len(names))

    heads = tuple((read(v), _aval_key(v.aval)) for v in (*jaxpr.constvars, *jaxpr.invars))
    body = tuple(
        (e.primitive.name, _params_key(e.params), tuple(map(read, e.invars)), tuple(map(read, e.outvars)))
        for e in jaxpr.eqns
    )
    return heads, body, tuple(map(read, jaxpr.outvars))
