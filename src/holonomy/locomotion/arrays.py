"""Types of arrays in locomotion. A name in a shape stands for one length within a call; an underscore for any."""

from typing import TypeAlias

from jaxtyping import Array, Float

Shape: TypeAlias = Float[Array, " shape"]
"""One number for each shape variable; also their rates."""
Algebra: TypeAlias = Float[Array, " dim"]
"""An element of the Lie algebra."""
AlgebraMap: TypeAlias = Float[Array, "dim dim"]
Element: TypeAlias = Float[Array, " point"]
"""An element of the group, as it is stored."""
Connection: TypeAlias = Float[Array, "dim shape"]
Curvature: TypeAlias = Float[Array, "dim shape shape"]
ShapeMetric: TypeAlias = Float[Array, "shape shape"]
Form: TypeAlias = Float[Array, "both both"]
"""A quadratic form on algebra elements and rates of shapes together."""
Row: TypeAlias = Float[Array, " _"]
"""Numbers in a row, of any length."""
Table: TypeAlias = Float[Array, "_ _"]
