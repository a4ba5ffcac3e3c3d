"""The checks that users run on their own methods and systems must pass what is right and catch what is wrong."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import pendulum
from tests.systems.constraints.examples import skate

import holonomy as hl
from holonomy.motion.methods.runge_kutta import AbstractRungeKutta
from holonomy.testing import CheckFailed, check_method, check_system


class Heun(AbstractRungeKutta):
    """A user's own method, which claims too much when told to."""

    claimed: int = eqx.field(static=True, default=2)
    says: str = eqx.field(static=True, default="")

    @property
    def order(self) -> int:
        return self.claimed

    @property
    def traits(self) -> str:
        return self.says

    def advance(self, slope: Any, t: Any, h: Any, y: Any, w: Any) -> tuple[Any, Any]:
        a = slope(t, y, w)
        b = slope(t + h, y + h * w, w + h * a)
        return y + 0.5 * h * (2.0 * w + h * a), w + 0.5 * h * (a + b)


def test_a_method_that_keeps_its_word_passes():
    found = check_method(Heun())
    assert set(found) == {"order", "constraints", "batch", "gradient"}
    assert found["order"] < 0.2


@pytest.mark.parametrize(
    ("method", "check"),
    [(Heun(claimed=4), "order"), (Heun(says="reversible"), "reversible"), (Heun(says="symplectic"), "symplectic")],
)
def test_a_method_that_claims_too_much_is_caught(method, check):
    with pytest.raises(CheckFailed, match=f"fails the check '{check}'") as caught:
        check_method(method)
    assert caught.value.check == check
    assert caught.value.residual > caught.value.allowed


def test_systems_pass():
    assert set(check_system(pendulum, [0.4], [1.0])) == {"mass", "legendre", "energy", "balance", "motion"}
    found = check_system(skate)
    assert found["projection"] < 1e-14
    assert found["motion"] < 1e-11


def test_a_kink_in_the_potential_is_caught():
    """Two methods of different kinds cannot agree on a motion that is not smooth."""
    rough = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 3.0 * jnp.abs(q[0] - 0.05), coordinates=("x",))
    with pytest.raises(CheckFailed, match="two unrelated methods move it alike"):
        check_system(rough, np.array([0.01]), np.array([1.0]))


def test_only_methods_and_systems_are_checked():
    with pytest.raises(ValueError, match=r"such as hl\.Gauss\(3\); got 'rk4'"):
        check_method("rk4")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"takes a hl\.System; got dict"):
        check_system({})  # pyright: ignore[reportArgumentType]
