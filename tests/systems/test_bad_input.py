"""One clear sentence for every mistake in describing a system."""

from typing import Any

import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

import holonomy as hl


@pytest.fixture(autouse=True)
def as_a_user(monkeypatch):
    """Without the run time check of types, which only tests have and which would speak first."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


NUMBER: Any = 3.0
COMPLEX: Any = 1j


def free(t, q, v):
    return 0.5 * jnp.dot(v, v)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hl.System.from_lagrangian(free), "Name the coordinates"),
        (lambda: hl.System.from_lagrangian(free, coordinates=()), "at least one coordinate"),
        (lambda: hl.System.from_lagrangian(free, coordinates=("a", "a")), "a stands twice"),
        (lambda: hl.System.from_lagrangian(free, coordinates=("2a",)), "must be an identifier"),
        (
            lambda: hl.System.from_lagrangian(free, coordinates={"a": "degrees"}),
            "unknown kind 'degrees'; the kinds are",
        ),
        (
            lambda: hl.System.from_lagrangian(lambda t, q, v: free(t, q, v) + 1j * q[0], coordinates=("a",)),
            "lagrangian must have real values, but it returns complex numbers",
        ),
        (
            lambda: hl.System.from_lagrangian(
                lambda t, q, v, p: free(t, q, v), coordinates=("a",), parameters={"k": COMPLEX}
            ),
            "must be a real number",
        ),
        (lambda: hl.System.from_lagrangian(NUMBER, coordinates=("a",)), "lagrangian must be a function; got 3.0"),
        (
            lambda: hl.System.from_lagrangian(lambda t, q, v: v, coordinates=("a", "b")),
            r"a single number.*shape \(2,\)",
        ),
        (
            lambda: hl.System.from_lagrangian(lambda t, q, v: q[0] * v["x"], coordinates=("a",)),
            r"lagrangian could not be evaluated on q = \(a\)",
        ),
        (
            lambda: hl.System.from_lagrangian(
                lambda t, q, v, p: p.h * v[0] ** 2, coordinates=("a",), parameters={"g": 1}
            ),
            "no parameter 'h'; there are g",
        ),
        (lambda: hl.System.from_lagrangian(free, coordinates=("a",), parameters={"g": np.nan}), "'g' must be finite"),
        (
            lambda: hl.System.from_lagrangian(free, coordinates=("a",), parameters={"g": "much"}),
            "must be a real number",
        ),
        (lambda: hl.System.from_lagrangian(free, coordinates=("a",), parameters={"1g": 1.0}), "must be an identifier"),
        (lambda: hl.System.from_positions(lambda t, q: q, 1.0, coordinates=("a",)), r"array \(particles, d\)"),
        (
            lambda: hl.System.from_positions(lambda t, q: q[None], [1.0, 2.0], coordinates=("a",)),
            "There are 1 particles",
        ),
        (lambda: hl.System.from_positions(lambda t, q: q[None], -1.0, coordinates=("a",)), "particle 0 has mass -1"),
        (lambda: hl.System.from_positions(lambda t, q: q[None], 0.0, coordinates=("a",)), "all are zero"),
        (lambda: hl.System.from_metric(lambda q: jnp.eye(3), coordinates=("a", "b")), r"shape \(2, 2\)"),
        (
            lambda: hl.System.from_lagrangian(free, coordinates=("a",), space=hl.spaces.Sphere(2)),
            "arrays of length 3, but 1 coordinates are named: a",
        ),
    ],
)
def test_sentences(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_asking_with_wrong_shapes():
    system = hl.System.from_lagrangian(free, coordinates=("a", "b"))
    with pytest.raises(
        ValueError, match=r"q must have shape \(2,\), one entry per coordinate \(a, b\); got shape \(3,\)"
    ):
        system.energy(0.0, [1.0, 2.0, 3.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="no parameter 'g'; it has none"):
        system.with_parameters(g=1.0)
    with pytest.raises(ValueError, match="does not know its positions"):
        system.place(0.0, [1.0, 2.0])


def test_parameters_suggest_the_name_meant():
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: p.gravity * free(t, q, v), coordinates=("a",), parameters={"gravity": 1.0}
    )
    with pytest.raises(ValueError, match="Did you mean 'gravity'"):
        system.with_parameters(gravty=2.0)


def test_forces():
    system = hl.System.from_lagrangian(free, coordinates=("a", "b"))
    with pytest.raises(ValueError, match="one of the two"):
        system.forced()
    with pytest.raises(ValueError, match="Cartesian forces need particles"):
        system.forced(cartesian=lambda t, q, v: q)
    with pytest.raises(ValueError, match="one component per coordinate"):
        system.forced(lambda t, q, v: q[0])
