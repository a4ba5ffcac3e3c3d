"""Where a potential may become infinite, by the form of its denominators."""

import jax.numpy as jnp
import pytest

import holonomy as hl
from holonomy.motion.methods.default import potential_is_singular


def system(potential, **parameters):
    names = ("x", "y")
    if not parameters:
        return hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - potential(q), coordinates=names)
    return hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * jnp.dot(v, v) - potential(q, p), coordinates=names, parameters=parameters
    )


def softened(q, p):
    return -p.k / jnp.sqrt(jnp.dot(q, q) + p.softening**2)


SINGULAR = {
    "one over the distance": system(lambda q: -1.0 / jnp.linalg.norm(q)),
    "a negative power": system(lambda q: jnp.sum(q**2) ** -6 - jnp.sum(q**2) ** -3),
    "a broken power": system(lambda q: -(jnp.dot(q, q) ** -0.7)),
    "a logarithm": system(lambda q: jnp.log(jnp.dot(q, q))),
    "a coordinate below": system(lambda q: -1.0 / q[0]),
    "a softening of zero": system(softened, k=1.0, softening=0.0),
    "a Gram matrix with negative entries": system(lambda q: 1.0 / (1.0 + jnp.outer(q, q)[0, 1])),
    "all pairs": system(lambda q: jnp.sum(1.0 / (jnp.abs(q[:, None] - q[None, :]) + jnp.eye(2)))),
}
REGULAR = {
    "an oscillator": system(lambda q: 0.5 * jnp.dot(q, q)),
    "a softened potential": system(softened, k=1.0, softening=0.1),
    "a spring with a rest length": system(lambda q: 0.5 * (jnp.linalg.norm(q) - 1.0) ** 2),
    "a softened logarithm": system(lambda q: jnp.log(1.0 + jnp.dot(q, q))),
    "a step": system(lambda q: 1.0 / (1.0 + jnp.exp(q[0]))),
    "a parameter below": system(lambda q, p: q[0] ** 2 / p.length, length=-2.0),
    "a metric with a pole and no potential": hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) / q[1] ** 2, coordinates=("x", "y")
    ),
    "a quotient that is multiplied by velocities": hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) * (1.0 / q[1]) ** 2 - q[0], coordinates=("x", "y")
    ),
    "a metric with a pole and a smooth potential": hl.System.from_metric(
        lambda q: jnp.eye(2) / q[1] ** 2, potential=lambda t, q: q[0] ** 2, coordinates=("x", "y")
    ),
    "a linkage": hl.Linkage(4).system(),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_potentials_are_seen(name):
    assert potential_is_singular(SINGULAR[name])


@pytest.mark.parametrize("name", REGULAR)
def test_regular_ones_are_not_taken_for_singular(name):
    assert not potential_is_singular(REGULAR[name])
