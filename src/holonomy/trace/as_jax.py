"""A graph of scalar operations as a JAX function: one elementwise operation per node, nothing else.

For batches under `jax.vmap`: no gathers, small matrix products or solves are left for XLA to work around. Measured on
the accelerations of pendulums with 2, 4 and 8 links in an RK4 step, against automatic differentiation as it stands:
5.6, 2.4 and 2.1 times faster on a CPU; on a GPU as fast within a third, compiled two to three times sooner. It
differentiates like any JAX function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax

from holonomy.trace.graph.dag import DTYPES, Node, reachable
from holonomy.trace.lowering.statements import Unsupported

_JAX: Final[dict[str, Callable[..., Any]]] = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide, "neg": jnp.negative, "rem": jnp.fmod,
    "abs": jnp.abs, "sign": jnp.sign, "pow": jnp.power, "max": jnp.maximum, "min": jnp.minimum, "floor": jnp.floor,
    "ceil": jnp.ceil, "roundeven": jnp.rint, "sqrt": jnp.sqrt, "cbrt": jnp.cbrt, "exp": jnp.exp, "exp2": jnp.exp2,
    "expm1": jnp.expm1, "log": jnp.log, "log1p": jnp.log1p, "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan,
    "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "atan2": jnp.arctan2, "sinh": jnp.sinh,
    "cosh": jnp.cosh, "tanh": jnp.tanh, "asinh": jnp.arcsinh, "acosh": jnp.arccosh, "atanh": jnp.arctanh,
    "erf": special.erf, "erfc": special.erfc, "lgamma": lax.lgamma, "lt": jnp.less, "le": jnp.less_equal,
    "eq": jnp.equal, "ne": jnp.not_equal, "isfinite": jnp.isfinite, "and": jnp.bitwise_and, "or": jnp.bitwise_or,
    "xor": jnp.bitwise_xor, "not": jnp.invert, "select": jnp.where,
}  # fmt: skip


def evaluate(outputs: Sequence[Node], leaves: Mapping[int, Any]) -> list[Any]:
    """The values of `outputs` as JAX scalars, where argument array k is `leaves[k]`; traceable."""
    flat = {k: jnp.ravel(x) for k, x in leaves.items()}
    done: dict[int, Any] = {}
    for node in reachable(outputs):
        if node.op == "const":
            value = jnp.asarray(node.data, DTYPES[node.dtype])
        elif node.op == "input":
            array, element = node.data
            value = flat[array][element]
        elif node.op == "convert":
            value = done[node.args[0].index].astype(DTYPES[node.dtype])
        elif node.op in _JAX:
            value = _JAX[node.op](*[done[a.index] for a in node.args])
        else:
            raise Unsupported(f"The operation '{node.op}' has no elementwise form in JAX.")
        done[node.index] = value
    return [done[n.index] for n in outputs]
