"""A traced function as a graph of scalar operations, and its outputs: machine code, readable equations, Taylor series.

- `function`: a user's function as structure and numbers; `form`: the key under which compiled code is kept.
- `jaxpr`: jaxprs of any supported version of JAX in one form.
- `graph`: scalar operations; `lowering`: from a jaxpr to them and to the control flow around them.
- `native`: machine code through LLVM, and the engine that runs it; `symbolic`: expressions and SymPy.
- `heyoka`: second-order systems for heyoka; `as_jax`: a graph as a JAX function.
"""

import time
from typing import Final

LOADED: Final = time.time()
"""When this process began to load the package: files that are younger may say something else than what it runs."""
