"""A user adds an explicit method, a space and a preset through public names alone, and they behave as ours do."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import holonomy as hl
from holonomy.method_table import TABLE
from holonomy.motion import AbstractMethod, AbstractTableauMethod, Tableau
from holonomy.spaces import AbstractSpace
from holonomy.studio.labs.base import Preset
from holonomy.studio.labs.pendulum.lab import PendulumLab
from holonomy.studio.labs.settings import Settings
from holonomy.testing import check_method, check_space


class Kutta3(AbstractTableauMethod):
    """Kutta's method of order 3."""

    tableau = Tableau(a=((), (0.5,), (-1, 2)), b=(Fraction(1, 6), Fraction(2, 3), Fraction(1, 6)), order=3)


class UnitCircle(AbstractSpace):
    """The unit circle in the plane, its points as (x, y)."""

    @property
    def dim(self) -> int:
        return 1

    @property
    def point_dim(self) -> int:
        return 2

    @property
    def flat_chart(self) -> bool:
        return False

    @property
    def origin(self) -> Array:
        return jnp.array([1.0, 0.0])

    def chart(self, x: Any, y: Any) -> Array:
        x = self._point(x)
        angle = self._local(y)[0]
        return jnp.cos(angle) * x + jnp.sin(angle) * _turned(x)

    def coordinates(self, x: Any, point: Any) -> Array:
        x, other = self._point(x), self._point(point, "point")
        return jnp.arctan2(jnp.dot(_turned(x), other), jnp.dot(x, other))[None]

    def project(self, x: Any) -> Array:
        x = self._array(x)
        return x / jnp.linalg.norm(x)

    def tangent(self, x: Any, v: Any) -> Array:
        side = _turned(self._point(x))
        return jnp.dot(side, self._array(v, "v")) * side

    def inner(self, x: Any, u: Any, v: Any) -> Array:
        x = self._point(x)
        return jnp.dot(self._vector(x, u, "u"), self._vector(x, v))

    def distance(self, x: Any, y: Any) -> Array:
        return jnp.abs(self.coordinates(x, y)[0])

    def exp(self, x: Any, v: Any) -> Array:
        x = self._point(x)
        return self.chart(x, jnp.dot(_turned(x), self._vector(x, v))[None])

    def log(self, x: Any, y: Any) -> Array:
        return self.coordinates(x, y)[0] * _turned(self._point(x))

    def transport(self, x: Any, v: Any, w: Any) -> Array:
        x = self._point(x)
        return jnp.dot(_turned(x), self._vector(x, w, "w")) * _turned(self.exp(x, v))

    def random(self, key: Any) -> Array:
        return self.chart(self.origin, jax.random.uniform(key, (1,), minval=-jnp.pi, maxval=jnp.pi))

    def killing(self) -> dict[str, Callable[[Any], Array]]:
        return {"rotate": _turned}

    def isometries(self) -> dict[str, Callable[[Any, Any], Array]]:
        return {"rotate": lambda s, x: self.chart(x, jnp.asarray(s)[None])}


def _turned(x: Any) -> Array:
    return jnp.stack([-x[1], x[0]])


def test_an_explicit_method_is_a_tableau() -> None:
    found = check_method(Kutta3())
    assert found["order"] < 0.2
    assert (Kutta3().label, Kutta3().order, Kutta3().traits) == ("Kutta3()", 3, "")


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        (((), (1, 0)), (0.5, 0.5), "rows of \\[0, 2\\] entries"),
        (((), (1,)), (1,), "each of the 2 stages"),
        (((), (1,)), (0.5, 0.6), "add up to 1"),
        ((), (), "a row for each stage"),
    ],
)
def test_a_tableau_that_is_none_is_refused(a: Any, b: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Tableau(a, b, 2)


def test_a_method_without_a_tableau_is_refused() -> None:
    with pytest.raises(TypeError, match="Empty needs its numbers"):

        class Empty(AbstractTableauMethod):
            pass


def test_a_space_passes_the_checks_and_a_pendulum_moves_on_it() -> None:
    check_space(UnitCircle())
    on_circle = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - 9.81 * q[1], ("x", "y"), space=UnitCircle()
    )
    in_angle = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * jnp.sin(q[0]), {"theta": "angle"})
    there = hl.simulate(on_circle, [1.0, 0.0], [0.0, 0.3], 1.0, dt=0.01, method=Kutta3())
    here = hl.simulate(in_angle, [0.0], [0.3], 1.0, dt=0.01, method=Kutta3())
    np.testing.assert_allclose(there.q[:, 0], np.cos(here.q[:, 0]), atol=1e-12)
    np.testing.assert_allclose(np.dot(there.momentum, [0.0, 1.0]), here.v[:, 0] * np.cos(here.q[:, 0]), atol=1e-12)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_the_table_of_methods_says_what_the_methods_say(row: Any) -> None:
    method = row.make()
    assert method.properties == row.properties
    assert method.holds == row.holds
    assert row.needs_constraints == (method.holds == ("holonomic",))
    stages = {"2s": 2, "2s − 1": 2}.get(row.order)
    if stages is not None:
        assert [row.make(stages=s).order for s in (2, 3)] == [stages * s - (row.order != "2s") for s in (2, 3)]
        assert row.python(stages=3).removeprefix("hl.") == f"{row.maker}(3)"
        assert row.toml(stages=3) == f'{{ name = "{row.name}", stages = 3 }}'
    elif "," in row.order:
        assert [row.make(order=int(x)).order for x in row.order.split(", ")] == [int(x) for x in row.order.split(", ")]
    elif row.order != "to round-off":
        assert method.order == int(row.order)


def test_every_method_of_the_library_is_in_the_table() -> None:
    classes = {name: value for name in hl.__all__ if isinstance(value := getattr(hl, name), type)}
    methods = {name for name, value in classes.items() if issubclass(value, AbstractMethod)}
    assert methods == {row.maker for row in TABLE}


def test_a_preset_is_settings_under_a_name() -> None:
    three = Preset("three", "Three links", Settings({"links": 3.0}, {"method": "gauss2"}, {}))

    class Mine(PendulumLab):
        descriptor = replace(PendulumLab.descriptor, presets=(*PendulumLab.descriptor.presets, three))

    lab, before = Mine(), PendulumLab()
    chosen = lab.preset("three")
    assert chosen.parameters == dict(before.opening().parameters) | {"links": 3.0, "length3": 1.0, "mass3": 1.0}
    assert chosen.choices["method"] == "gauss2"
    buttons, others = ({action.name for action in one.view(one.opening(), 1).actions} for one in (lab, before))
    assert "preset:three" in buttons
    assert "preset:three" not in others
    assert lab.library(chosen)[1].label == "Gauss(2)"
