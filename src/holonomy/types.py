"""Types in signatures: arrays by what they hold and how they are shaped, and what a person may pass in their place.

A name in a shape stands for one length within a call: `point` is the length of an array that holds a point of a space,
`dim` the dimension of the space, n any length. For a type checker the shapes are plain arrays; the tests check shapes
and number types at run time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Array, Bool, Float, Int, Real

# ── Arrays ───────────────────────────────────────────────────────────────────────────────────────
AnyArray: TypeAlias = Array | np.ndarray
Scalar: TypeAlias = Float[Array, ""]
Count: TypeAlias = Int[Array, ""]
Flag: TypeAlias = Bool[Array, ""]
Vector: TypeAlias = Float[Array, " n"]
Matrix: TypeAlias = Float[Array, "n n"]

# Of a space: a point, a tangent vector and a covector as arrays of the space; local coordinates in the chart at a
# point, and the components of vectors and covectors there.
Point: TypeAlias = Float[Array, " point"]
Tangent: TypeAlias = Float[Array, " point"]
Covector: TypeAlias = Float[Array, " point"]
Local: TypeAlias = Float[Array, " dim"]
LocalMatrix: TypeAlias = Float[Array, "dim dim"]

# A point and a vector of a space inside a run: arrays of JAX, or of NumPy on the host.
AnyPoint: TypeAlias = Float[AnyArray, " point"]
AnyTangent: TypeAlias = Float[AnyArray, " point"]

# Of a system: the places of its particles, and one number for each condition of its constraints.
Positions: TypeAlias = Float[Array, "particles d"]
Multipliers: TypeAlias = Float[Array, " conditions"]
# A time or a step inside a method: a Python number, or an array while it is traced.
Time: TypeAlias = float | Scalar
# A PyTree: arrays in containers whose structure no type can say. The state of a method of motion is one of its own.
Tree: TypeAlias = Any
State: TypeAlias = Tree

# Of a run: one number, or under vmap one for each member.
Whole: TypeAlias = int | np.integer | Int[AnyArray, "..."]
Decimal: TypeAlias = float | np.floating | Float[AnyArray, "..."]
Truth: TypeAlias = bool | np.bool_ | Bool[AnyArray, "..."]

# The same on the host as well, where compiled loops give and take numbers of NumPy.
AnyScalar: TypeAlias = Float[AnyArray, ""] | np.floating
AnyCount: TypeAlias = Int[AnyArray, ""] | np.integer
AnyFlag: TypeAlias = Bool[AnyArray, ""] | np.bool_

# Of events and contact: a flag and a number for each row that is watched, or for each record that may be made.
Flags: TypeAlias = Bool[Array, " rows"]
Values: TypeAlias = Float[Array, " rows"]
Records: TypeAlias = Bool[Array, " records"]
Delays: TypeAlias = Float[Array, " records"]

# ── What a person may pass ───────────────────────────────────────────────────────────────────────
# Shapes are checked with a sentence where the numbers arrive, not by the type.
Number: TypeAlias = float | int | np.floating | np.integer | Real[AnyArray, ""]
ArrayLike: TypeAlias = Real[AnyArray, "..."] | Sequence[object]
Numbers: TypeAlias = Number | ArrayLike
PointLike: TypeAlias = ArrayLike
VectorLike: TypeAlias = ArrayLike
LocalLike: TypeAlias = ArrayLike
# A start, one number for each coordinate: in their order, or by their names or those of arrays of them.
StateLike: TypeAlias = VectorLike | Mapping[str, Numbers]

# What is checked where it arrives, with a sentence for every mistake: no type may refuse it before.
Unchecked: TypeAlias = Any

# Functions that describe a system: of (t, q), (t, q, v) or q, and last of the parameters where there are any.
ScalarFunction: TypeAlias = Callable[..., Number]
ArrayFunction: TypeAlias = Callable[..., Numbers]
