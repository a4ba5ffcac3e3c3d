"""Machine code: from scalar operations through LLVM to a function that runs."""
