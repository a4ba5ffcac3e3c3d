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
from holonomy.trace.graph.operations import named
from holonomy.trace.lowering.statements import Unsupported

_LIBRARIES: Final = {"": jnp, "lax": lax, "special": special}


def _plain(name: str) -> Callable[..., Any]:
    library, _, function = name.rpartition(".")
    return getattr(_LIBRARIES[library], function)


_JAX: Final[dict[str, Callable[..., Any]]] = {op: _plain(name) for op, name in named("jax").items()}


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
