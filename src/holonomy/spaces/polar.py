r"""Polar angles of a direction, in the order of the thesis on bodies in curved space.

A unit vector of R^{m+1} has m angles: none for m = 0, \((\cos g, \sin g)\) for m = 1, and for m > 1
\((\sin b \cdot \text{direction of the rest}, \cos b)\); so (b, g) gives \((\sin b\cos g, \sin b\sin g, \cos b)\).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces.smooth import length


def direction(angles: Float[Array, " m"]) -> Float[Array, " m_plus_1"]:
    """The unit vector of R^{m+1} with these m polar angles."""
    if angles.shape[0] == 0:
        return jnp.ones(1, angles.dtype)
    if angles.shape[0] == 1:
        return jnp.stack([jnp.cos(angles[0]), jnp.sin(angles[0])])
    rest = direction(angles[1:])
    return jnp.concatenate([jnp.sin(angles[0]) * rest, jnp.cos(angles[:1])])


def angles(vector: Float[Array, " m_plus_1"]) -> Float[Array, " m"]:
    """Polar angles of the direction of a vector; inverse of `direction`, the last angle in (-pi, pi]."""
    m = vector.shape[0] - 1
    if m == 0:
        return jnp.zeros(0, vector.dtype)
    if m == 1:
        return jnp.arctan2(vector[1], vector[0])[None]
    first = jnp.arctan2(length(vector[:-1]), vector[-1])
    return jnp.concatenate([first[None], angles(vector[:-1])])


def radius(vector: Float[Array, " n"]) -> Float[Array, ""]:
    """Signed length for n = 1 (a line has no angles to carry the sign), else the length."""
    return vector[0] if vector.shape[0] == 1 else length(vector)
