"""Settings that every test shares.

Two switches, both environment variables:

- ``HOLONOMY_TYPES=0`` turns off the run time check of shapes and types in the rooms that compute (on by default);
- ``HOLONOMY_JAX_CACHE=FOLDER`` keeps JAX's compiled code between runs (off by default: a test that counts compilations
  must see them).
"""

import os

# Read when JAX starts. Tests run in two processes; threads inside each would only take turns on the same cores.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

if os.environ.get("HOLONOMY_TYPES", "1") != "0":
    from jaxtyping import install_import_hook

    # Not scene/ and studio/: their types have no shapes, and the check's own stack frames would triple the depth that a
    # nested expression takes.
    rooms = ("geometry", "spaces", "systems", "motion", "symmetry", "locomotion", "study", "models")
    install_import_hook([f"holonomy.{room}" for room in rooms], "beartype.beartype")

import holonomy  # noqa: F401, I001  (first, because it turns double precision on before JAX is imported)
import hypothesis
import jax

jax.config.update("jax_numpy_rank_promotion", "raise")

if folder := os.environ.get("HOLONOMY_JAX_CACHE"):
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)

# The same examples on every run and every machine; how long one takes depends on what is compiled already.
hypothesis.settings.register_profile("holonomy", derandomize=True, deadline=None, database=None, max_examples=50)
hypothesis.settings.load_profile("holonomy")
