"""Functions that bring a reverse derivative of their own, and methods that have derivatives in one direction only."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


@jax.custom_vjp
def well(q):
    return 0.25 * jnp.dot(q, q) ** 2 + jnp.cos(q[0])


well.defvjp(
    lambda q: (well(q), q), lambda q, g: (g * (jnp.dot(q, q) * q - jnp.stack([jnp.sin(q[0]), jnp.zeros_like(q[0])])),)
)


@jax.custom_vjp
def stretched(q):
    """A value with two components and a reverse rule."""
    return jnp.stack([q[0] * q[1], jnp.sin(q[0])])


stretched.defvjp(
    lambda q: (stretched(q), q), lambda q, g: (jnp.stack([g[0] * q[1] + g[1] * jnp.cos(q[0]), g[0] * q[0]]),)
)


def system(potential):
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - potential(q), coordinates=("x", "y"))


PAIRS = {
    "scalar": (well, lambda q: 0.25 * jnp.dot(q, q) ** 2 + jnp.cos(q[0])),
    "vector": (
        lambda q: jnp.sum(stretched(q) ** 2) + 0.5 * jnp.dot(q, q),
        lambda q: (q[0] * q[1]) ** 2 + jnp.sin(q[0]) ** 2 + 0.5 * jnp.dot(q, q),
    ),
}
RUNS = [
    ("scalar", hl.RK4(), "native"),
    ("vector", hl.RK4(), "xla"),
    ("vector", hl.Gauss(2), "native"),
    ("vector", hl.Radau(3), "xla"),
    ("scalar", hl.Adaptive(), "xla"),
]


@pytest.mark.parametrize(("kind", "method", "engine"), RUNS, ids=lambda x: getattr(x, "label", x))
def test_a_potential_with_a_reverse_rule_moves_as_without(kind, method, engine):
    own, plain = (
        hl.simulate(system(f), [0.7, 0.2], [0.1, 0.5], 1.0, dt=0.02, method=method, engine=engine) for f in PAIRS[kind]
    )
    np.testing.assert_allclose(own.q[-1], plain.q[-1], rtol=0, atol=1e-12)


def test_forward_derivatives_of_an_adaptive_run_are_refused_and_reverse_ones_given():
    def end(x):
        return hl.simulate(system(PAIRS["scalar"][1]), x, jnp.zeros(2), 0.5, dt=0.1, method=hl.Adaptive()).q[-1, 0]

    x = jnp.array([0.7, 0.2])
    with pytest.raises(ValueError, match="derivatives in reverse mode only"):
        jax.jvp(end, (x,), (x,))
    eps = 1e-6
    differences = [(end(x + eps * e) - end(x - eps * e)) / (2 * eps) for e in np.eye(2)]
    np.testing.assert_allclose(jax.jit(jax.grad(end))(x), differences, atol=1e-7)
