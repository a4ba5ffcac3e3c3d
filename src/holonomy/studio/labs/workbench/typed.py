"""The texts of the Workbench lab read as a scene; every mistake is a `Refusal` at its characters. No JAX."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import numpy as np
from jaxtyping import Float

from holonomy.notation import KINDS
from holonomy.scene.errors import SceneError, clipped, suggestion
from holonomy.scene.expression import Expression, compute, number, parse
from holonomy.scene.functions import DOT, FUNCTIONS, TIME
from holonomy.scene.names import check_free, definitions
from holonomy.scene.resolve import Setup, resolve
from holonomy.scene.spec import Initial, Motion, Scene
from holonomy.studio.labs.settings import Refusal

_T = TypeVar("_T")
MOST_COORDINATES: Final = 12
"""With more, compiled steps of a typed system are too slow for a moving picture."""
TEXTS: Final = (
    "coordinates", "lagrangian", "positions", "masses", "potential", "definitions", "constraints", "forces",
    "parameters", "start", "lines",
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z](_?[A-Za-z0-9])*")
_SETTINGS: Final = {"let": "definitions", "velocity_constraints": "constraints", "initial": "start"}
"""Keys of a scene whose text has another name here."""
_ONE: Final = 1.0
"""The value of a parameter that is given none."""


@dataclass(frozen=True)
class Piece:
    """A part of one of the texts; `at` is its first character. `equals` is where "=" became "-(" in a formula."""

    setting: str
    text: str
    at: int
    equals: int | None = None

    def refusal(self, sentence: str, span: tuple[int, int] | None = None) -> Refusal:
        """The sentence at the characters of the piece that are wrong; at all of it where none are known."""
        start, end = (0, len(self.text)) if span is None else span
        if self.equals is not None:
            start, end = (place - (place > self.equals) for place in (start, end))
        text = sentence.replace("[let]", "Definitions")
        if text.split(" ")[0] not in FUNCTIONS:
            text = text[:1].upper() + text[1:]
        return Refusal(text, self.setting, self.at + start, self.at + max(end, start))

    def formula(self) -> Expression:
        """The formula that the piece spells."""
        try:
            return parse(self.text)
        except SceneError as error:
            raise self.refusal(error.problem, error.span) from None

    def part(self, start: int, end: int) -> Piece:
        """Some of its characters, without space around them."""
        text = self.text[start:end]
        lead = len(text) - len(text.lstrip())
        return Piece(self.setting, text.strip(), self.at + start + lead)


@dataclass(frozen=True)
class Typed:
    """What the texts describe: a scene, all of it checked, and which points are joined by lines (0 is the origin)."""

    scene: Scene
    setup: Setup
    lines: tuple[tuple[int, int], ...]
    places: Mapping[str, Piece] = field(repr=False)

    @property
    def kinds(self) -> dict[str, str]:
        """The coordinates and their kinds."""
        return dict(self.setup.coordinates)

    @property
    def start(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """The state at the start."""
        return np.array(self.setup.q), np.array(self.setup.v)

    @property
    def values(self) -> dict[str, float]:
        """The parameters' values in the text."""
        return {name: float(value) for name, value in self.setup.parameters.items() if isinstance(value, float)}

    @property
    def conserves_energy(self) -> bool:
        """Whether nothing takes energy out or puts it in: no force, and no formula that uses the time."""
        given = [self.scene.lagrangian, self.scene.potential, *(self.scene.constraints or ())]
        given += [*(self.scene.velocity_constraints or ()), *self.scene.let.values()]
        if self.scene.lagrangian is None:
            given += [formula for point in self.scene.positions or () for formula in point]
        return not self.scene.forces and not any(TIME in f.names for f in given if f is not None)

    def points(
        self, values: Mapping[str, float], q: Float[np.ndarray, " n"] | None = None
    ) -> Float[np.ndarray, "points d"] | None:
        """Where the points of `positions` are with these values of the parameters and with coordinates q, by default
        at the start; None where there are none, or no finite ones."""
        if self.scene.positions is None:
            return None
        at = self.setup.q if q is None else [float(x) for x in q]
        scope = {**values, TIME: 0.0, **dict(zip(self.setup.coordinates, at, strict=True))}
        try:
            for name, formula in self.setup.definitions.still.items():
                scope[name] = compute(formula.tree, scope)
            return np.array([[compute(f.tree, scope) for f in point] for point in self.scene.positions])
        except (ArithmeticError, ValueError):
            return None


def read(texts: Mapping[str, str]) -> Typed:
    """What the texts describe. **Raises** `Refusal` for the first mistake, with the setting and the characters."""
    return _read(tuple(texts.get(name, "") for name in TEXTS))


@functools.lru_cache(maxsize=256)
def _read(given: tuple[str, ...]) -> Typed:
    return _Reader(dict(zip(TEXTS, given, strict=True))).typed()


def structural(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The texts without the numbers in them: parameters without values, no start, no lines of the picture."""
    found = {name: texts.get(name, "") for name in TEXTS}
    found["parameters"] = ", ".join(read(texts).values)
    found["start"] = found["lines"] = ""
    return tuple(found.items())


def read_structure(structure: tuple[tuple[str, str], ...]) -> Typed:
    """The system of `structural` texts, which have no numbers: parameters are 1, and the start is not known."""
    texts = dict(structure)
    texts["start"] = ", ".join(f"{name} = 0" for name, _ in _Reader(texts).coordinates())
    return _Reader(texts).typed(numbers=False)


def with_values(texts: Mapping[str, str], values: Mapping[str, float]) -> str:
    """The text of the parameters with these numbers in it, all else as it was typed."""
    reader, text = _Reader(texts), texts["parameters"]
    given = reader.parameters()
    for name in reversed([name for name in given if name in values]):  # from the end, so that places stay
        formula, label = reader.places.get(f"parameters.{name}="), reader.places[f"parameters.{name}"]
        digits = f"{values[name]:.15g}"
        digits = digits if float(digits) == values[name] else repr(values[name])
        place, entry = (label, f"{label.text} = {digits}") if formula is None else (formula, digits)
        text = text[: place.at] + entry + text[place.at + len(place.text) :]
    return text


class _Reader:
    """Reads the texts in the order in which they need each other."""

    def __init__(self, texts: Mapping[str, str]):
        self.texts = texts
        self.places: dict[str, Piece] = {}

    def typed(self, *, numbers: bool = True) -> Typed:
        coordinates = dict(self.coordinates())
        if not coordinates:
            raise Refusal(
                "There are no coordinates yet: type their names, such as theta angle, r length.", "coordinates"
            )
        parameters = self.parameters()
        scene = Scene(
            coordinates=coordinates,
            parameters=parameters,
            lagrangian=self._one("lagrangian"),
            positions=tuple(self._points()) or None,
            masses=tuple(self._list("masses")) or None,
            potential=self._one("potential"),
            let=dict(self._named("definitions", "let")),
            forces=dict(self._named("forces")),
            motion=Motion(t_end=number(_ONE)),
        )
        scene = self._checked(lambda: self._constrained(scene))
        q, v = self._start(coordinates)
        scene = replace(scene, initial=Initial(q=q, v=v))
        setup = self._checked(lambda: _resolved(scene, numbers))
        return Typed(scene, setup, tuple(self._lines(len(scene.positions or ()))), self.places)

    def parameters(self) -> dict[str, Expression]:
        """The parameters with their formulas."""
        return dict(self._named("parameters", default=number(_ONE)))

    def coordinates(self) -> Iterator[tuple[str, str]]:
        """The names of the coordinates, each with its kind."""
        taken: set[str] = set()
        for piece in self._pieces("coordinates"):
            cut = re.search(r"[\s:]", piece.text)
            name, rest = (piece, None) if cut is None else (
                piece.part(0, cut.start()), piece.part(cut.end(), len(piece.text))
            )  # fmt: skip
            kind = rest.text.strip(": \t()") if rest is not None else ""
            self._check_name(name, "coordinate")
            if name.text in taken:
                raise name.refusal(f'the coordinate "{name.text}" is named twice.')
            if kind and kind not in KINDS:
                where = piece if rest is None else rest
                raise where.refusal(f'there is no kind of coordinate "{clipped(kind)}"{suggestion(kind, KINDS)}')
            taken.add(name.text)
            self.places[f"coordinates.{name.text}"] = name
            if len(taken) > MOST_COORDINATES:
                raise name.refusal(
                    f"the lab moves at most {MOST_COORDINATES} coordinates; run larger scenes from Python."
                )
            yield name.text, kind or "number"

    def _pieces(self, setting: str, separators: str = ",\n;") -> Iterator[Piece]:
        """The parts of a text between separators outside parentheses; remarks after # are left out."""
        whole = re.sub(r"#[^\n]*", lambda remark: " " * len(remark.group()), self.texts.get(setting, ""))
        text, depth, first = Piece(setting, whole, 0), 0, 0
        for i, character in enumerate(whole + "\n"):
            depth += (character in "([") - (character in ")]")
            if (character in separators and depth <= 0) or i == len(whole):
                piece = text.part(first, i)
                if piece.text:
                    yield piece
                first, depth = i + 1, 0

    def _one(self, setting: str) -> Expression | None:
        """A text that is one formula, on as many lines as it takes; None where it is empty."""
        pieces = list(self._pieces(setting, ""))
        if not pieces:
            return None
        self.places[setting] = pieces[0]
        return pieces[0].formula()

    def _list(self, setting: str) -> Iterator[Expression]:
        for i, piece in enumerate(self._pieces(setting)):
            self.places[f"{setting}[{i}]"] = piece
            yield piece.formula()

    def _points(self) -> Iterator[tuple[Expression, ...]]:
        for i, line in enumerate(self._pieces("positions", "\n;")):
            piece = _unwrapped(line)
            inner = _Reader({"positions": " " * piece.at + piece.text})
            parts = list(inner._pieces("positions", ","))
            if len(parts) > 3:
                raise parts[3].refusal("a point has 1, 2 or 3 formulas, separated by commas.")
            self.places[f"positions[{i}]"] = piece
            for j, part in enumerate(parts):
                self.places[f"positions[{i}][{j}]"] = part
            yield tuple(part.formula() for part in parts)

    def _named(
        self, setting: str, key: str = "", default: Expression | None = None
    ) -> Iterator[tuple[str, Expression]]:
        """Entries `name = formula`."""
        taken: set[str] = set()
        for piece in self._pieces(setting):
            name, equals, _ = piece.text.partition("=")
            label = piece.part(0, len(name))
            if not equals and default is None:
                raise piece.refusal(f'this is written with "=", such as {clipped(label.text)} = …, one on each line.')
            self._check_name(label, "name")
            if label.text in taken:
                raise label.refusal(f'the name "{label.text}" is given twice.')
            taken.add(label.text)
            self.places[f"{key or setting}.{label.text}"] = label
            if not equals:
                assert default is not None
                yield label.text, default
                continue
            right = piece.part(len(name) + 1, len(piece.text))
            if not right.text:
                raise piece.refusal('there is no formula after "=".')
            if "=" in right.text:
                raise right.refusal('a second "=" stands here; separate the entries by commas or lines.')
            self.places[f"{key or setting}.{label.text}="] = right
            yield label.text, right.formula()

    def _constrained(self, scene: Scene) -> Scene:
        """The scene with the constraints; one that uses a rate is a constraint on velocities."""
        check_free(scene)
        moving = definitions(scene).moving
        still: list[Expression] = []
        rates: list[Expression] = []
        for piece in self._pieces("constraints"):
            if re.search(r"[<>]", piece.text):
                raise piece.refusal("a wall (an inequality) is for scene files; here a constraint is an equation.")
            left, equals, right = piece.text.partition("=")
            made = piece
            if equals:
                if not right.strip() or not left.strip():
                    raise piece.refusal('a side of this equation is empty; "= 0" may be left out.')
                made = replace(piece, text=f"{left}-({right})", equals=len(left))
            formula = made.formula()
            moves = any(name.endswith(DOT) or name in moving for name in formula.names)
            key, into = ("velocity_constraints", rates) if moves else ("constraints", still)
            self.places[f"{key}[{len(into)}]"] = made
            into.append(formula)
        return replace(scene, constraints=tuple(still) or None, velocity_constraints=tuple(rates) or None)

    def _start(self, coordinates: Mapping[str, str]) -> tuple[dict[str, Expression], dict[str, Expression]]:
        q: dict[str, Expression] = {}
        v: dict[str, Expression] = {}
        for name, formula in self._named("start", "initial"):
            base = name.removesuffix(DOT)
            label = self.places[f"initial.{name}"]
            if base not in coordinates:
                names = [c + end for end in ("", DOT) for c in coordinates]
                raise label.refusal(f'there is no coordinate or rate "{clipped(name)}"{suggestion(name, names)}')
            part, into = ("v", v) if name.endswith(DOT) else ("q", q)
            self.places[f"initial.{part}.{base}"] = label
            self.places[f"initial.{part}.{base}="] = self.places[f"initial.{name}="]
            into[base] = formula
        return q, v

    def _lines(self, points: int) -> Iterator[tuple[int, int]]:
        for piece in self._pieces("lines"):
            found = re.fullmatch(r"(\d{1,4})\s*(?:-|\s)\s*(\d{1,4})", piece.text)
            if found is None:
                raise piece.refusal("a line is written as two numbers of points, such as 0-1; 0 is the origin.")
            ends = int(found[1]), int(found[2])
            if max(ends) > points or ends[0] == ends[1]:
                raise piece.refusal(f"a line joins two different points out of 0 (the origin) to {points}.")
            yield ends

    def _check_name(self, piece: Piece, what: str) -> None:
        if not _NAME.fullmatch(piece.text):
            raise piece.refusal(
                f'"{clipped(piece.text)}" is no {what}: names begin with a letter and have letters, digits and single '
                "underscores."
            )

    def _checked(self, function: Callable[[], _T]) -> _T:
        """The function's result, with an error of the scene told at the characters that it is about."""
        try:
            return function()
        except SceneError as error:
            raise self._placed(error) from None

    def _placed(self, error: SceneError) -> Refusal:
        formula, label = self.places.get(error.key + "="), self.places.get(error.key)
        if error.span is not None and formula is not None:
            return formula.refusal(error.problem, error.span)
        if label is not None:
            return label.refusal(error.problem, error.span)
        if error.problem.startswith('beside a "lagrangian"'):
            return Piece(error.key, self.texts[error.key], 0).refusal(_TWO_SYSTEMS)
        word = re.split(r"[.\[]", error.key)[0]
        sentence, setting = _SENTENCES.get(error.problem, (error.problem, _SETTINGS.get(word, word)))
        return Piece(setting, self.texts.get(setting, ""), 0).refusal(sentence)


_NO_SYSTEM: Final = "there is no system yet: type a Lagrangian, or positions with masses."
_TWO_SYSTEMS: Final = "beside a Lagrangian, positions are only drawn: leave this empty, or the Lagrangian."
_SENTENCES: Final = {
    'there is no system: give a "model", a "lagrangian", "bodies", or "positions" with "masses".': (
        _NO_SYSTEM, "lagrangian",
    ),
    'the particles in "positions" need masses: give "masses", one for each.': (
        "without a Lagrangian, the particles need masses, one for each.", "masses",
    ),
}  # fmt: skip
"""Sentences that name keys of a scene file, in the words of the lab."""


def _resolved(scene: Scene, numbers: bool) -> Setup:
    if numbers or scene.masses is None:
        return resolve(scene)
    # without the parameters' values nothing is known of the masses, such as that they are not negative
    return replace(resolve(replace(scene, masses=(number(_ONE),) * len(scene.masses))), scene=scene)


def _unwrapped(piece: Piece) -> Piece:
    """A point without the brackets around all of it."""
    text = piece.text
    if len(text) < 2 or text[0] + text[-1] not in ("()", "[]"):
        return piece
    depth = 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and i < len(text) - 1:
            return piece
    return piece.part(1, len(text) - 1)
