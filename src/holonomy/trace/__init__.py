"""A traced function as a graph of scalar operations, and what it is turned into: machine code, readable equations,
Taylor series.

- `dag`: the graph; `simplify`: constructors that simplify; `numeric`: what each operation means.
- `lower`: from a jaxpr to scalar nodes and control flow (`plan`), by the table in `primitives`.
- `native`: machine code through LLVM.
- `program`: a user's function as structure and numbers.
"""
