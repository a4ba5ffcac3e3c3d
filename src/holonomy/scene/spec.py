"""What a scene is: the dataclasses behind the file format.

Every key of a scene file is a field here, with its form, its meaning and its default. Reader, JSON Schema and manual
are made from these fields.
"""

# ruff: noqa: RUF009  `key` makes a dataclass field

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holonomy import notation
from holonomy.method_table import TABLE
from holonomy.models import catalogue
from holonomy.models.catalogue import MOST_LINKS
from holonomy.scene.expression import Expression
from holonomy.scene.forms import (
    Choice,
    Either,
    FileName,
    Flag,
    Formula,
    ListOf,
    Name,
    Quantity,
    Record,
    TableOf,
    Text,
    Whole,
    empty,
    key,
)

MOST_COORDINATES = 64
"""Coordinates of a system that a scene describes, at most."""
MOST_SAVED = 5_000_000
"""States one run may save."""
MOST_BYTES = 2e9
"""Bytes that these states may take in memory."""

SPACES = {"euclidean": "Euclidean", "circle": "Circle", "sphere": "Sphere", "hyperbolic": "Hyperbolic", "so3": "SO3",
          "se2": "SE2", "se3": "SE3"}  # fmt: skip
"""Configuration spaces that a scene may name, and what they are in Python."""
MODELS = tuple(model.name for model in catalogue())
KINDS = tuple(notation.KINDS)


METHODS = {row.name: row for row in TABLE}
"""The methods that a scene may name."""
MOST_CONDITIONS = 64
"""Constraints, walls or events of a scene, at most."""


@dataclass(frozen=True)
class ModelChoice:
    """A named model and its structural options."""

    name: str = key(Choice(MODELS, "model"), "which model; `holonomy models` lists them")
    links: int | None = key(
        Whole(1, MOST_LINKS),
        "how many links (`multi_pendulum`, `chain`, `elastic_chain`) or rods (`linkage`)",
        default=None,
    )


@dataclass(frozen=True)
class SpaceChoice:
    """A configuration space of the library."""

    name: str = key(Choice(tuple(SPACES), "space"), "which space")
    dim: int | None = key(Whole(1, 16), "its dimension, where there are several; 2 if left out", default=None)
    radius: Expression | None = key(
        Quantity(), "radius of a `sphere` or of curvature of a `hyperbolic` space; 1 if left out", default=None
    )


@dataclass(frozen=True)
class Ensemble:
    """Many members of one system, each with a start and numbers of its own."""

    members: int = key(Whole(2, 100_000), "how many")
    spread: Mapping[str, Expression] = key(
        TableOf(Quantity(), "numbers by name"),
        "standard deviations about the scene's own numbers, by coordinate, rate (`theta_dot`) or parameter",
        default_factory=empty,
    )
    between: Mapping[str, tuple[Expression, ...]] = key(
        TableOf(ListOf(Quantity(), "two numbers", most=2), "pairs of numbers by name"),
        "the first and the last member's number, and even steps between, by the same names",
        default_factory=empty,
    )
    seed: int = key(Whole(0, 2**31 - 1), "of the random numbers of `spread`", default=0)


@dataclass(frozen=True)
class MethodChoice:
    """A method of integration and its options."""

    name: str = key(Choice(tuple(METHODS), "method"), "which method")
    stages: int | None = key(
        Whole(1, 6), "stages of `gauss` (1 to 6, order twice that) or `radau` (2 or 3)", default=None
    )
    order: int | None = key(
        Whole(2, 8),
        "order of `adaptive` (5 or 8), `splitting` (2, 4, 6 or 8) or `rattle` (2, 4 or 6)",
        default=None,
    )
    rtol: Expression | None = key(Quantity(), "relative tolerance of `adaptive`", default=None)
    atol: Expression | None = key(Quantity(), "absolute tolerance of `adaptive`", default=None)
    tol: Expression | None = key(Quantity(), "tolerance of `taylor`; round-off if left out", default=None)


@dataclass(frozen=True)
class EventChoice:
    """Something to watch for along the motion."""

    when: Expression = key(Formula(), "it happens where this is zero; may use rates")
    direction: int = key(Whole(-1, 1), "1: only where it increases, -1: only where it decreases, 0: both", default=0)
    terminal: bool = key(Flag(), "whether the run ends there", default=False)


@dataclass(frozen=True)
class BodyChoice:
    """A rigid body: its mass, its centre of mass, its orientation and its moments of inertia."""

    mass: Expression = key(Quantity(), "its mass; formulas may use the parameters")
    at: tuple[Expression, ...] = key(
        ListOf(Quantity(), "1, 2 or 3 formulas", most=3), "where its centre of mass is; as many formulas for each body"
    )
    turn: tuple[Mapping[str, Expression], ...] = key(
        ListOf(TableOf(Quantity(), "one axis and its angle", most=1), "rotations", most=8),
        'its orientation: rotations such as `{ z = "psi" }`, each about an axis of the frame that those before it made',
        default=(),
    )
    inertia: Expression | tuple[Expression, ...] | None = key(
        Either((ListOf(Quantity(), "3 or 6 numbers", most=6), Quantity())),
        "moments of inertia about its centre of mass, along the axes of the turned body: xx, yy, zz, or also xy, yz, "
        "zx; one number where it turns about one axis; formulas may use the parameters",
        default=None,
    )


@dataclass(frozen=True)
class Initial:
    """The state at the start."""

    q: Mapping[str, Expression] | tuple[Expression, ...] | None = key(
        Either((TableOf(Quantity(), "numbers by coordinate"), ListOf(Quantity(), "numbers"))),
        "the configuration: a value for each coordinate, by name or in order; formulas may use the parameters",
        default=None,
    )
    v: Mapping[str, Expression] | tuple[Expression, ...] | None = key(
        Either((TableOf(Quantity(), "numbers by coordinate"), ListOf(Quantity(), "numbers"))),
        "the velocity, likewise; in a table, coordinates left out start at rest",
        default=None,
    )
    t: Expression | None = key(Quantity(), "the time at the start; 0 if left out", default=None)


@dataclass(frozen=True)
class Motion:
    """How long, in what steps and by what method."""

    t_end: Expression | None = key(Quantity(), "when to stop; needed unless a model suggests it", default=None)
    dt: Expression | None = key(
        Quantity(),
        "the time step; left out, a model suggests one, or it is halved until that changes nothing",
        default=None,
    )
    save_every: int = key(Whole(1, 1_000_000), "keep every so many steps", default=1)
    method: MethodChoice | str | None = key(
        Either((Choice(tuple(METHODS), "method"), Record(MethodChoice))),
        'the method: its name, or a table such as `{ name = "gauss", stages = 3 }`; chosen for you if left out',
        default=None,
    )


def _output(endings: tuple[str, ...]) -> Either:
    return Either((Flag(), FileName(endings)))


@dataclass(frozen=True)
class Outputs:
    """What to write: true for a file named after the scene, or a name."""

    netcdf: bool | str = key(_output((".nc",)), "the run as NetCDF, for `hl.load` and xarray", default=True)
    picture: bool | str = key(_output((".png", ".pdf", ".svg")), "a picture of the run", default=True)
    animation: bool | str = key(_output((".gif", ".mp4")), "a moving picture", default=False)


_SPACE = Either((Choice(tuple(SPACES), "space"), Record(SpaceChoice)))


@dataclass(frozen=True)
class Scene:
    """A system, a start, a motion and what to keep of it.

    The system is a `model`, or a `lagrangian`, or a `potential` with `bodies` or with `positions` and `masses`.
    """

    title: str = key(Text(), "what the scene shows, in a few words", default="")
    notes: str = key(Text(), "anything else a reader should know", default="")
    model: ModelChoice | str | None = key(
        Either((Choice(MODELS, "model"), Record(ModelChoice))),
        'a model from the catalogue: its name, or a table such as `{ name = "multi_pendulum", links = 4 }`',
        default=None,
    )
    lagrangian: Expression | None = key(
        Formula(),
        "kinetic minus potential energy, in coordinates, rates such as `theta_dot`, parameters, definitions and `t`",
        default=None,
    )
    positions: tuple[tuple[Expression, ...], ...] | None = key(
        ListOf(ListOf(Quantity(), "1, 2 or 3 formulas", most=3), "points, each a list of 1, 2 or 3 formulas"),
        "where the particles are; with `masses` this is the system, beside a `lagrangian` it is what to draw",
        default=None,
    )
    masses: tuple[Expression, ...] | None = key(
        ListOf(Quantity(), "masses"),
        "the mass of each particle in `positions`; formulas may use the parameters",
        default=None,
    )
    bodies: tuple[BodyChoice, ...] | None = key(
        ListOf(Record(BodyChoice), "bodies", most=MOST_COORDINATES),
        "rigid bodies, alone or beside particles; `positions` without `masses` are then only drawn",
        default=None,
    )
    potential: Expression | None = key(
        Formula(), "the potential energy of the particles and bodies; 0 if left out", default=None
    )
    forces: Mapping[str, Expression] = key(
        TableOf(Quantity(), "formulas by coordinate"),
        "forces that act besides, by coordinate (a torque on an angle); formulas may use rates and `t`",
        default_factory=empty,
    )
    damping: Mapping[str, Expression] | Expression | None = key(
        Either((TableOf(Quantity(), "numbers by coordinate"), Quantity())),
        "c in a force -c times the rate of a coordinate: one number for all of them, or by coordinate",
        default=None,
    )
    constraints: tuple[Expression, ...] | None = key(
        ListOf(Formula(), "formulas", most=MOST_CONDITIONS),
        "formulas of coordinates that stay zero, such as `x^2 + y^2 - l^2`",
        default=None,
    )
    velocity_constraints: tuple[Expression, ...] | None = key(
        ListOf(Formula(), "formulas", most=MOST_CONDITIONS),
        "formulas that stay zero and are linear in the rates, such as `sin(a)*x_dot - cos(a)*y_dot`",
        default=None,
    )
    walls: tuple[Expression, ...] | None = key(
        ListOf(Formula(), "formulas", most=MOST_CONDITIONS),
        "formulas of coordinates that stay at least zero; where one reaches it there is an impact",
        default=None,
    )
    restitution: Expression | None = key(
        Quantity(), "of impacts on walls: 1 loses no energy (if left out), 0 does not bounce", default=None
    )
    events: Mapping[str, EventChoice | Expression] = key(
        TableOf(Either((Record(EventChoice), Formula())), "events by name", most=MOST_CONDITIONS),
        'what to watch for: a formula whose zeros are recorded, or a table such as `{ when = "y", terminal = true }`',
        default_factory=empty,
    )
    coordinates: Mapping[str, str] | tuple[str, ...] | None = key(
        Either(
            (
                TableOf(Choice(KINDS, "kind of coordinate"), "coordinates and their kinds", most=MOST_COORDINATES),
                ListOf(Name(), "names", most=MOST_COORDINATES),
            )
        ),
        "the coordinates, in order: names, or a table of names and kinds (`angle`, `length`, `number`)",
        default=None,
    )
    space: SpaceChoice | str | tuple[SpaceChoice | str, ...] | None = key(
        Either((*_SPACE.forms, ListOf(_SPACE, "spaces", most=8))),
        'the configuration space, whose points the coordinates are: a name, a table such as `{ name = "sphere", '
        "dim = 3 }`, or a list of these for their product; lines and circles if left out",
        default=None,
    )
    parameters: Mapping[str, Any] = key(
        TableOf(Either((ListOf(Quantity(), "numbers"), Quantity())), "numbers by name"),
        "numbers that formulas use by name (lists only for models that have them)",
        default_factory=empty,
    )
    let: Mapping[str, Expression] = key(
        TableOf(Quantity(), "formulas by name"),
        "names for parts of formulas, each may use those before it; `x_dot` is then the exact rate of change of `x`",
        default_factory=empty,
    )
    initial: Initial = key(Record(Initial), "the state at the start", default_factory=Initial)
    motion: Motion = key(Record(Motion), "how long, in what steps, by what method", default_factory=Motion)
    ensemble: Ensemble | None = key(Record(Ensemble), "many members instead of one", default=None)
    outputs: Outputs = key(Record(Outputs), "what to write", default_factory=Outputs)

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names as the scene gives them."""
        return tuple(self.coordinates or ())


RECORDS: tuple[type, ...] = (
    Scene,
    ModelChoice,
    SpaceChoice,
    BodyChoice,
    Ensemble,
    EventChoice,
    Initial,
    Motion,
    MethodChoice,
    Outputs,
)
"""Every table of the format, for the manual."""
