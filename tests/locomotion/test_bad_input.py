"""Mistakes in movers and gaits: one sentence each."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def flat_chain() -> hl.System:
    """A point mass on a line with a second on an arm: invariant under translations along x alone."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (1.0 + q[1] ** 2) * v[0] ** 2 + 0.5 * v[1] ** 2, coordinates=("x", "y")
    )


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "open gait": (lambda: hl.Gait.curve(lambda t: jnp.stack([t, 0.1 * t])), "The gait is open: it begins at"),
    "turns of no angle": (
        lambda: hl.perform(hl.PushMePullYou(), hl.Gait.fourier([3.0, 0.5], turns=[0, 1])),
        "v ends 6.28319 away from where it begins",
    ),
    "folded links": (lambda: hl.Purcell().connection([3.3, 0.0]), "A joint is folded by half a turn or more"),
    "folded in a gait": (
        lambda: hl.perform(hl.Purcell(), hl.Gait.ellipse(0.0, 3.5)),
        "A joint is folded by half a turn or more",
    ),
    "crossing links": (lambda: hl.Purcell().connection([2.3, 2.3]), "Links cross each other"),
    "vanishing ball": (lambda: hl.PushMePullYou().power([3.0, 1.0]), "A ball vanishes"),
    "vanishing in a gait": (
        lambda: hl.perform(hl.PushMePullYou(), hl.Gait.ellipse([3.0, 0.5], 0.6)),
        "A ball vanishes",
    ),
    "overlapping balls": (lambda: hl.PushMePullYou().connection([0.5, 0.5]), "The balls overlap"),
    "overlapping spheres": (lambda: hl.models.three_spheres(0.5).connection([0.9, 2.0]), "The balls overlap"),
    "shape of another length": (lambda: hl.Purcell().power([0.1, 0.2, 0.3]), "an array of 2 numbers (alpha1, alpha2)"),
    "shape that is no number": (lambda: hl.Purcell().power([np.nan, 0.2]), "is not finite"),
    "gait of another length": (
        lambda: hl.perform(hl.Purcell(), hl.Gait.fourier([0.0, 0.0, 0.0], [[1.0, 0.0, 0.0]])),
        "The gait moves 3 shape variables, but the mover has 2: alpha1, alpha2",
    ),
    "no gait": (lambda: hl.perform(hl.Purcell(), [[0.0, 0.0]]), "perform takes a Gait"),
    "one point": (lambda: hl.Gait.points([[0.0, 1.0]]), "at least two points"),
    "no period": (lambda: hl.Gait.ellipse(0.0, 1.0, period=0.0), "a positive time"),
    "half a turn": (lambda: hl.Gait.fourier([0.0], turns=[0.5]), "turns are 1 whole numbers"),
    "no group": (
        lambda: hl.Mover.from_connection(lambda r: jnp.eye(2), hl.Sphere(2), 2),
        "is not a group of motions",
    ),
    "connection for another group": (
        lambda: hl.Mover.from_connection(lambda r: jnp.eye(2), hl.SE2(), 2),
        "expected (3, 2) for this group",
    ),
    "group that does not match": (
        lambda: hl.Mover.from_momentum(flat_chain(), hl.SO3()),
        "whose first coordinates are not an element of SO3()",
    ),
    "group that is no symmetry": (
        lambda: hl.Mover.from_momentum(
            hl.System.from_lagrangian(lambda t, q, v: 0.5 * (1 + q[0] ** 2) * v @ v, coordinates=("x", "y")),
            hl.Euclidean(1),
        ),
        "kinetic energy of the system changes when it is moved by the group",
    ),
    "potential that breaks it": (
        lambda: hl.Mover.from_momentum(
            hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - q[0], coordinates=("x", "y")), hl.Euclidean(1)
        ),
        "potential of the system changes when it is moved by the group",
    ),
    "no constraints": (lambda: hl.Mover.from_constraints(flat_chain(), hl.Euclidean(1)), "this one has none"),
    "momentum of a swimmer": (
        lambda: hl.perform(hl.PushMePullYou(), hl.Gait.ellipse([3.0, 0.5], 0.1), momentum=[1.0]),
        "This mover has no momentum",
    ),
    "resistances of another number": (
        lambda: hl.Mover.from_drag(lambda r: r[:, None], np.ones((3, 1, 1)), hl.Euclidean(1), 2),
        "2 parts in a group of dimension 1 need (2, 1, 1)",
    ),
    "negative length": (lambda: hl.Purcell(length=-1.0), "lengths of links are positive numbers"),
    "no volume": (lambda: hl.PushMePullYou(volume=0.0), "volume must be positive"),
    "curvature of no metric": (lambda: hl.locomotion.Isometries(hl.Euclidean(2)), "acts on points of Sphere"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_said_in_a_sentence(name: str) -> None:
    mistake, words = CASES[name]
    with pytest.raises(ValueError) as error:
        mistake()
    assert words in str(error.value)
    assert "\n" not in str(error.value)
