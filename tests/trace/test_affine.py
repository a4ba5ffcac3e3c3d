"""Whether a function is affine in an input, by its form alone."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from holonomy.trace.affine import affine_in, separates
from holonomy.trace.function import trace

VECTOR = jax.ShapeDtypeStruct((3,), float)

AFFINE: list[Callable[..., Any]] = [
    lambda q, v: jnp.sin(q),
    lambda q, v: 2.0 * v + jnp.cos(q) * v / q - 1.0,
    lambda q, v: jnp.cross(v, q)[:2],
    lambda q, v: jnp.outer(q, q) @ v,
    lambda q, v: jax.jvp(lambda x: jnp.sqrt(jnp.dot(x, x)), (q,), (v,))[1],
    lambda q, v: jnp.where(q > 0, v, -v),
    lambda q, v: jnp.concatenate([v[:1], jnp.stack([v[2], jnp.sum(v)])]),
]
NOT: list[Callable[..., Any]] = [
    lambda q, v: v * v,
    lambda q, v: q / v,
    lambda q, v: jnp.dot(v, v),
    lambda q, v: jnp.sign(v[0]) * v,
    lambda q, v: jnp.where(v > 0, q, -q),
    lambda q, v: jnp.abs(v),
    lambda q, v: jnp.maximum(v, q),
    lambda q, v: jnp.floor(v),
    lambda q, v: v.astype(int) * q,
    lambda q, v: q[jnp.int32(v[0])],
    lambda q, v: jax.lax.fori_loop(0, 2, lambda _, x: x * v, q),
]


@pytest.mark.parametrize(("function", "wanted"), [(f, True) for f in AFFINE] + [(f, False) for f in NOT])
def test_the_form_says_whether(function: Callable[..., Any], wanted: bool) -> None:
    assert affine_in(trace(function, (VECTOR, VECTOR)).program, 1) is wanted


SEPARATE: list[Callable[..., Any]] = [
    lambda q, v: jnp.dot(v, v) - jnp.sum(jnp.cos(q)),
    lambda q, v: 0.3 * jnp.sum(jnp.stack([v[0] ** 2, q[1] ** 3, v[1] * v[2]])) / 1.7,
    lambda q, v: jnp.sum(jnp.floor(q)) + v[0],
]
TOGETHER: list[Callable[..., Any]] = [
    lambda q, v: jnp.dot(q, v),
    lambda q, v: (v[0] + q[0]) ** 2,
    lambda q, v: jnp.floor(v[0]) * q[0],
    lambda q, v: jnp.where(v[0] > 0, q[0], -q[0]),
    lambda q, v: v[0] / q[0],
]


@pytest.mark.parametrize(("function", "wanted"), [(f, True) for f in SEPARATE] + [(f, False) for f in TOGETHER])
def test_the_form_says_whether_inputs_are_apart(function: Callable[..., Any], wanted: bool) -> None:
    assert separates(trace(function, (VECTOR, VECTOR)).program, 0, 1) is wanted
