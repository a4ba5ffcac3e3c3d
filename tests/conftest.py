"""Settings that every test shares.

Five switches, all environment variables:

- ``HOLONOMY_TYPES=0`` turns off the run time check of shapes and types in the rooms that compute (on by default);
- ``HOLONOMY_XLA=quick`` asks XLA for code that is compiled faster and runs slower (by default it does what users get);
- ``HOLONOMY_LLVM=quick`` does not optimise native code, which takes a tenth of the time (by default as for users);
- ``HOLONOMY_JAX_CACHE=FOLDER`` keeps the code that XLA compiles between runs. By default each run starts without any;
- ``HOLONOMY_MEMORY_LIMIT=0`` only reports a process that exceeds the limit of `tests/memory.py`, and does not fail.
"""

import atexit
import gc
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from tests.xla_flags import flags

# Read when JAX starts.
os.environ.setdefault("XLA_FLAGS", flags())
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

# The folder for compiled code of this run: made by the first process, inherited by its workers, removed at the end.
if "PYTEST_XDIST_WORKER" not in os.environ:
    caches = Path(__file__).parent.parent / ".cache"
    caches.mkdir(exist_ok=True)
    os.environ["HOLONOMY_TESTS"] = tempfile.mkdtemp(prefix="tests-", dir=caches)
    atexit.register(shutil.rmtree, os.environ["HOLONOMY_TESTS"], ignore_errors=True)
os.environ["HOLONOMY_CACHE"] = os.path.join(os.environ["HOLONOMY_TESTS"], "machine")

if os.environ.get("HOLONOMY_TYPES", "1") != "0":
    from jaxtyping import install_import_hook

    # Not scene/ and studio/: their types have no shapes, and the check's own stack frames would triple the depth that a
    # nested expression takes.
    rooms = ("geometry", "spaces", "systems", "motion", "symmetry", "locomotion", "study", "models")
    install_import_hook([f"holonomy.{room}" for room in rooms], "beartype.beartype")

import holonomy  # noqa: F401, I001  (first, because it turns double precision on before JAX is imported)
import hypothesis
import jax
from holonomy.trace.native import machine
from tests.memory import (  # noqa: F401  (hooks)
    pytest_configure,
    pytest_runtest_protocol,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

jax.config.update("jax_numpy_rank_promotion", "raise")

if os.environ.get("HOLONOMY_LLVM") == "quick":
    machine.assemble = partial(machine.assemble, quick=True)

# Tracing makes many objects that stay. With the default thresholds, searching them for cycles takes a tenth of the
# time. (Objects must not be frozen: Hypothesis looks for references to its random generators among those not frozen.)
gc.set_threshold(200_000, 20, 100)

# Code that `tests.memory` releases is read from here when it is needed again. JAX does not write its files atomically,
# so each process has a folder of its own. What compiles in a moment is not written, which would take as long. Tests
# that count compilations see these reads too.
cache = Path(os.environ.get("HOLONOMY_JAX_CACHE") or os.environ["HOLONOMY_TESTS"])
jax.config.update("jax_compilation_cache_dir", str(cache / os.environ.get("PYTEST_XDIST_WORKER", "main")))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

# The same examples on every run and every machine; how long one takes depends on what is compiled already.
hypothesis.settings.register_profile("holonomy", derandomize=True, deadline=None, database=None, max_examples=50)
hypothesis.settings.load_profile("holonomy")
