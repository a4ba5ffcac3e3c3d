"""The catalogue: systems that have a name.

`catalogue()` lists them and `find(name)` gives one, both without importing JAX; `find(name).build()` makes the
`hl.System`. The functions that build them are in `holonomy.models.classics`.
"""

from .registry import Model, Parameter, catalogue, find

__all__ = ["Model", "Parameter", "catalogue", "find"]
