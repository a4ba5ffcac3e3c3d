"""How XLA compiles in tests; read before JAX starts, so nothing here may import it."""

import os
from importlib.metadata import version

# Tests run in two processes; threads inside each would only take turns on the same cores. Nor is a program compiled in
# pieces, which is for threads too and takes a sixth longer.
_SHARED = "--xla_cpu_multi_thread_eigen=false"
_SHARED_TO_0_11_0 = f"{_SHARED} --xla_cpu_parallel_codegen_split_count=1"
# Much of the time of a test is XLA's compilation. XLA's older code generator takes half as long for the same digits,
# but is gone after jaxlib 0.11.0. Without optimisation what remains is halved again.
_QUICK = "--xla_backend_optimization_level=0"
_QUICK_TO_0_11_0 = f"{_QUICK} --xla_cpu_use_fusion_emitters=false"


def flags() -> str:
    """The value of XLA_FLAGS: what users get, or with ``HOLONOMY_XLA=quick`` less time for compilation."""
    old = tuple(map(int, version("jaxlib").split(".")[:3])) <= (0, 11, 0)
    shared = _SHARED_TO_0_11_0 if old else _SHARED
    if os.environ.get("HOLONOMY_XLA") != "quick":
        return shared
    return f"{shared} {_QUICK_TO_0_11_0 if old else _QUICK}"
