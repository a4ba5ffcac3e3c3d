"""Coordinates that are left out though forces or constraints depend on them, and reductions that are refused."""

from dataclasses import replace
from importlib import import_module

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.symmetry import ReducedSystem, short_run
from holonomy.symmetry.reduced_system import full_rows

sin, cos = jnp.sin, jnp.cos
HOW = {"dt": 0.01, "method": hl.Gauss(4)}


def free(mass=lambda q: 1.0, names=("x", "y")):
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v[0] ** 2 + mass(q) * v[1] ** 2) - 0.1 * q[0] ** 2, names)


def dumbbell():
    """The lecture's: two masses on a rod of length 2 with a knife edge across it at its centre."""
    rod = hl.System.from_positions(
        lambda t, q: jnp.stack([q[:2] + s * jnp.stack([cos(q[2]), sin(q[2])]) for s in (-1.0, 1.0)]),
        [1.0, 1.0],
        coordinates={"x": "length", "y": "length", "phi": "angle"},
    )
    return rod.constrained(velocity=lambda t, q, v: jnp.stack([cos(q[2]) * v[0] + sin(q[2]) * v[1]]))


def difference(system, q0, v0, names, end=3.0, how=HOW):
    """The largest difference between the full motion and the reduced one, led back, and the reduced system."""
    q0, v0 = (np.asarray(x, float) for x in system.project(0.0, q0, v0))
    momenta = np.asarray(system.momentum(0.0, q0, v0))
    places = {name: system.names.index(name) for name in names}
    start = {name: q0[i] for name, i in places.items()}
    reduced = hl.routh(system, {name: momenta[i] for name, i in places.items()}, start=start)
    z, w, begin = reduced.adapted(q0, v0)
    back = reduced.reconstruct(hl.simulate(reduced, z, w, end, **how), begin)
    full = hl.simulate(system, q0, v0, end, **how)
    sizes = np.max(np.abs(full.q), axis=0), np.max(np.abs(full.v), axis=0)
    pairs = (back.q, full.q, sizes[0]), (back.v, full.v, sizes[1])
    return max(float(np.max(np.abs(a - b) / (size + 1e-300))) for a, b, size in pairs), reduced, back


def test_the_dumbbell_of_the_lecture() -> None:
    system = dumbbell()
    with pytest.raises(ValueError, match=r"velocity constraint depends on phi.*start=\{'phi': \.\.\.\}"):
        hl.routh(system, {"phi": 2.0})
    speed = [-np.sin(0.3), np.cos(0.3), 1.0]
    error, reduced, back = difference(system, [0.0, 0.0, 0.3], speed, ["phi"], end=2.0)
    assert reduced.names == ("x", "y")
    assert error < 1e-12
    np.testing.assert_allclose(back.q[-1], [-1.6216, 0.4502, 2.3], atol=5e-5)
    assert back.certificate.velocity_violation < 1e-13
    assert back.multipliers.shape == (201, 1)
    assert "from 3 starts over t = " in reduced.checked


CASES = {
    # a force of a coordinate that moves at a constant rate, and at one that another position sets
    "steady": (lambda: free().forced(lambda t, q, v: jnp.stack([sin(q[1]), 0.0 * t])), ("x",)),
    "set by x": (
        lambda: free(lambda q: 1 + q[0] ** 2).forced(lambda t, q, v: jnp.stack([sin(q[1]), 0.0 * t])),
        ("x", "y"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_forces_of_what_is_left_out(case) -> None:
    make, names = CASES[case]
    error, reduced, _ = difference(make(), [0.3, 7.4], [0.2, 0.9], ["y"])
    assert reduced.names == names
    assert error < 1e-11


@pytest.mark.proof
def test_a_car_with_a_trailer_by_the_momentum_of_its_heading() -> None:
    error, reduced, _ = difference(
        hl.models.car_with_trailers(1), [0.0, 0.0, 0.3, 0.8], [0.4, 0.1, 0.5, 0.2], ["theta0"]
    )
    assert reduced.names == ("x", "y", "theta1")
    assert error < 1e-10


@pytest.mark.proof
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_and_origins_do_not_matter(unit) -> None:
    """x in units of their own, y far from its origin."""
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * ((v[0] / unit) ** 2 + v[1] ** 2) - 0.1 * (q[0] / unit) ** 2, ("x", "y")
    ).forced(lambda t, q, v: jnp.stack([sin(q[1]) / unit, 0.0 * t]))
    error, reduced, _ = difference(system, [0.3 * unit, 1e4], [0.2 * unit, 0.9], ["y"])
    assert reduced.names == ("x",)
    assert error < 1e-9


@pytest.mark.proof
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_comparison_gives_no_false_alarm(unit) -> None:
    """States that are drawn at 1 are far out in these units, and one coordinate is 1e18 times slower than the other."""
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5e-12 * ((v[0] / unit) ** 2 + (1 + (q[0] / unit) ** 2) * v[1] ** 2), ("x", "y")
    )
    assert "from 3 starts" in hl.routh(system, {"y": 0.7e-12}).checked
    deep = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 1e20 / q[0], ("r", "a")
    )
    assert "from 3 starts" in hl.routh(deep, {"a": unit}).checked


def test_what_is_refused_and_why() -> None:
    along = free().forced(lambda t, q, v: jnp.stack([0.0 * t, sin(q[0])]))
    with pytest.raises(ValueError, match=r"'y' is not cyclic.*the force may act along y"):
        hl.routh(along, {"y": 1.0})
    rolling = free().constrained(velocity=lambda t, q, v: jnp.stack([v[1] - q[0] * v[0]]))
    with pytest.raises(ValueError, match=r"velocity constraint may act along y; hl\.chaplygin"):
        hl.routh(rolling, {"y": 1.0})
    with pytest.raises(ValueError, match="the wall may act along y"):
        hl.routh(free().constrained(unilateral=lambda t, q: jnp.stack([q[1]])), {"y": 1.0})
    with pytest.raises(ValueError, match="systems without walls"):
        hl.routh(free().constrained(unilateral=lambda t, q: jnp.stack([q[0]])), {"y": 1.0})
    rough = free().constrained(
        unilateral=lambda t, q: jnp.stack([q[0]]), friction=0.3, slip=lambda t, q, v: jnp.stack([v[1]])
    )
    with pytest.raises(ValueError, match="friction at the walls may act along y"):
        hl.routh(rough, {"y": 1.0})
    with pytest.raises(ValueError, match="the Lagrangian depends on x"):
        hl.routh(free(), {"x": 1.0})
    with pytest.raises(ValueError, match=r"start has values of the coordinates left out \(y\); got 'x'"):
        hl.routh(free(), {"y": 1.0}, start={"x": 0.0})
    fast = hl.System.from_lagrangian(lambda t, q, v: -jnp.sqrt(1 - v @ v), ("x", "y"))
    with pytest.raises(ValueError, match="depends on y, whose velocity is not affine"):
        hl.routh(fast.forced(lambda t, q, v: jnp.stack([sin(q[1]), 0.0 * t])), {"y": 0.4})


def test_a_start_that_is_not_on_the_known_function_is_refused() -> None:
    system = CASES["steady"][0]()
    reduced = hl.routh(system, {"y": 0.9}, start={"y": 7.4})
    with pytest.raises(ValueError, match=r"y = 1 is not 7.4, its value at t = 0.*with_parameters\(y_0="):
        reduced.adapted([0.3, 1.0], [0.2, 0.9])
    run = hl.simulate(reduced, [0.3], [0.2], 0.1, **HOW)
    with pytest.raises(ValueError, match=r"y = 0 is not 7.4"):
        reduced.reconstruct(run, {"y": 0.0})
    moved = reduced.with_parameters(y_0=1.0)
    assert isinstance(moved, ReducedSystem)
    assert moved.adapted([0.3, 1.9], [0.2, 0.9], 1.0)[2] == {"y": 1.9}
    assert "(with y_0 = 7.4)" in moved.checked


@pytest.mark.parametrize("make, name", [(CASES["steady"][0], "y"), (CASES["set by x"][0], "y"), (dumbbell, "phi")])
def test_zero_in_place_of_what_is_left_out_is_seen(make, name, monkeypatch) -> None:
    """The comparison alone tells, where what depends on a coordinate was overlooked."""
    monkeypatch.setattr(import_module("holonomy.symmetry.routh"), "dependents", lambda system: {})
    with pytest.raises(ValueError, match=r"The reduced motion is not that of the full system.*differ by"):
        hl.routh(make(), {name: 0.9})


def test_a_reduction_that_is_wrong_is_seen() -> None:
    """The full system gets a force more after it was reduced."""
    system = free(lambda q: 1 + q[0] ** 2)
    reduced = hl.routh(system, {"y": 0.9})
    other = system.forced(lambda t, q, v: jnp.stack([1e-5 * sin(q[1]), 0.0 * t]))
    small = (np.array(0.0), np.array([0.3]), np.array([0.2]), np.array([7.4]))
    starts = [(small, (np.array(0.0), np.array([0.3, 7.4]), np.array([0.2, 0.9 / 1.09])))]

    def lead_back(*state):
        return full_rows(reduced, *state)

    found = short_run.compare(reduced, system, starts, lead_back)
    assert float(found.difference) < 1e-14
    with pytest.raises(ValueError, match="The reduced motion is not that of the full system: after t = "):
        short_run.compare(reduced, other, starts, lead_back)
    assert "not compared" in replace(reduced, compared=None).checked
