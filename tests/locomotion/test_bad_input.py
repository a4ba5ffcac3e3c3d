"""Mistakes in movers and gaits: one sentence each."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.locomotion.arrays import Row
from holonomy.types import Number


def flat_chain() -> hl.System:
    """A point mass on a line with a second on an arm: invariant under translations along x alone."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (1.0 + q[1] ** 2) * v[0] ** 2 + 0.5 * v[1] ** 2, coordinates=("x", "y")
    )


def two_skates() -> hl.System:
    """Two velocity constraints in the plane, which leave a group of one dimension no freedom."""
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v, coordinates=("x", "y", "z"))
    return free.constrained(velocity=lambda t, q, v: jnp.stack([v[0] - v[1], v[0] - 2.0 * v[2]]))


def straight(t: Number) -> Row:
    """From the origin along the first axis."""
    return jnp.stack([t, 0.0 * t])


def ball() -> hl.Mover:
    """A ball that rolls on a plane."""
    return hl.Mover.from_connection(lambda r: jnp.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]), hl.SO3(), 2)


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
    "slightly open gait": (
        lambda: hl.Gait.curve(
            lambda t: 1e-4 * jnp.stack([jnp.cos(2 * jnp.pi * t) + 1e-6 * t, jnp.sin(2 * jnp.pi * t)])
        ),
        "The gait is open",
    ),
    "pieces that do not meet": (
        lambda: hl.Gait.joined([straight, [[1.0, 0.1], [0.0, 0.0]]]),
        "The gait is broken: piece 1 ends at [1.0, 0.0], but piece 2 begins at [1.0, 0.1]",
    ),
    "pieces of other lengths": (
        lambda: hl.Gait.joined([straight, [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]),
        "Piece 2 of the gait moves 3 shape variables, but the first one 2",
    ),
    "open pieces": (lambda: hl.Gait.joined([straight]), "The gait is open"),
    "no pieces": (lambda: hl.Gait.joined([]), "at least one piece"),
    "a piece of one point": (lambda: hl.Gait.joined([straight, [[1.0, 0.0]]]), "of at least two points"),
    "mean of another shape": (lambda: hl.Gait.fourier([[0.0, 0.0]]), "mean is one number for each shape variable"),
    "points that are no numbers": (lambda: hl.Gait.points([[0.0, np.inf], [1.0, 0.0]]), "must be finite numbers"),
    "function to a table": (lambda: hl.Gait.curve(lambda t: t * jnp.eye(2)), "returns one array of shape variables"),
    "holonomy on a line": (lambda: hl.holonomy(lambda q: jnp.ones((1, 1)), [[0.0], [1.0]]), "A line has no holonomy"),
    "no shape variables": (lambda: hl.Mover.from_connection(lambda r: r, hl.SE2(), 0), "at least one shape variable"),
    "drag in another group": (
        lambda: hl.Mover.from_drag(lambda r: r, 1.0, hl.locomotion.Isometries(hl.Sphere(2)), 2),
        "from_drag places parts in the group itself",
    ),
    "places of another length": (
        lambda: hl.Mover.from_drag(lambda r: jnp.ones((2, 5)), np.ones((2, 3, 3)), hl.SE2(), 2),
        "rows of length 5, but an element of the group is an array of length 4 or (x, y, angle)",
    ),
    "places in a row": (
        lambda: hl.Mover.from_drag(lambda r: r, np.ones((2, 1, 1)), hl.Euclidean(1), 2),
        "places returns one row for each part",
    ),
    "masses elsewhere": (
        lambda: hl.Mover.from_masses(lambda r: jnp.ones((2, 2)), 1.0, hl.Sphere(2), 2),
        "places returns rows of length 2, but a point of Sphere(n=2",
    ),
    "masses in no known space": (
        lambda: hl.Mover.from_masses(lambda r: jnp.ones((2, 3)), 1.0, hl.Inhomogeneous(3), 2),
        "from_masses knows the isometries of",
    ),
    "masses that a product moves": (
        lambda: hl.Mover.from_masses(
            lambda r: jnp.ones((2, 2)), 1.0, hl.Euclidean(2), 2, group=hl.Product(hl.Euclidean(1), hl.Euclidean(1))
        ),
        "Points are not moved by",
    ),
    "no mover": (lambda: hl.perform(3.0, hl.Gait.ellipse()), "perform takes a mover"),
    "momentum of another length": (
        lambda: hl.perform(hl.models.raft(), hl.Gait.ellipse([0.8, 0.0], 0.1), momentum=[1.0]),
        "The momentum of this mover has 3 components",
    ),
    "connection with a pole": (
        lambda: hl.perform(
            hl.Mover.from_connection(lambda r: jnp.stack([1.0 / (r[0] - r[0]), r[0]])[None], hl.Euclidean(1), 2),
            hl.Gait.ellipse(0.0, 1.0),
        ),
        "at which the connection is not finite",
    ),
    "hidden corners": (
        lambda: hl.perform(
            hl.PushMePullYou(),
            hl.Gait.curve(lambda t: jnp.stack([3.0 + jnp.abs(jnp.sin(1e5 * (t - t**2))), 0.5 + 0.2 * t * (1 - t)])),
        ),
        "varies too fast to be followed",
    ),
    "momentum under constraints": (
        lambda: hl.Mover.from_momentum(two_skates(), hl.Euclidean(1)),
        "this one has some: use from_constraints",
    ),
    "too many constraints": (
        lambda: hl.Mover.from_constraints(two_skates(), hl.Euclidean(1)),
        "2 constraints, but the group has only 1 dimensions",
    ),
    "no shape": (lambda: hl.Mover.from_momentum(flat_chain(), hl.Euclidean(2)), "so it has no shape to change"),
    "curved shapes": (
        lambda: hl.Mover.from_momentum(
            hl.System.from_lagrangian(
                lambda t, q, v: 0.5 * v @ v,
                coordinates=("a", "b", "c", "d", "x", "y", "z"),
                space=hl.Product(hl.SO3(), hl.Sphere(2)),
            ),
            hl.SO3(),
        ),
        "is curved; describe shapes by coordinates",
    ),
    "best gait of a snakeboard": (
        lambda: hl.optimal_gait(hl.models.snakeboard(), [0.1, None, None]),
        "without a momentum",
    ),
    "half a quaternion of a product": (
        lambda: hl.optimal_gait(
            hl.Mover.from_connection(lambda r: jnp.ones((4, 2)), hl.Product(hl.Euclidean(1), hl.SO3()), 2),
            [None, 1.0, None, 0.0, 0.0],
        ),
        "The components 1, 2, 3, 4 of the displacement are those of one rotation",
    ),
    "half a quaternion": (lambda: hl.optimal_gait(ball(), [1.0, 0.0, None, 0.0]), "give all of them or None for all"),
    "no quaternion": (lambda: hl.optimal_gait(ball(), [1.0, 0.5, 0.0, 0.0]), "is no element of SO3()"),
    "no small loop does it": (
        lambda: hl.optimal_gait(ball(), hl.SO3().group_exp([0.3, 0.0, 0.0])),
        "has no part along the displacement",
    ),
    "steering on a curved place": (
        lambda: hl.steer(hl.models.curved_body(hl.Sphere(2)), np.zeros(5), np.ones(5)),
        "steer knows places in",
    ),
    "steering from no rotation": (
        lambda: hl.steer(ball(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        "of start is no element of SO3()",
    ),
    "curvature of no metric": (lambda: hl.locomotion.Isometries(hl.Euclidean(2)), "acts on points of Sphere"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_said_in_a_sentence(name: str) -> None:
    mistake, words = CASES[name]
    with pytest.raises(ValueError) as error:
        mistake()
    assert words in str(error.value)
    assert "\n" not in str(error.value)
