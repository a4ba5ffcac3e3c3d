"""The forms a value in a scene can have. Each form reads, describes itself to an editor, and names itself to a person.

The reader of scenes, their JSON Schema and the tables of the manual all come from the forms of the fields of the
dataclasses in `spec.py`, so that the three cannot differ.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from holonomy.scene.errors import SceneError, clipped, quoted, suggestion
from holonomy.scene.expression import Expression, number, parse
from holonomy.scene.tokens import LONGEST, LONGEST_NAME

NAME_PATTERN = "^[A-Za-z](_?[A-Za-z0-9])*$"


def below(where: str, key: str | int) -> str:
    """The path of a part: `initial.q`, `positions[1]`."""
    if isinstance(key, int):
        return f"{where}[{key}]"
    return f"{where}.{key}" if where else key


class AbstractForm(ABC):
    """What a value may be."""

    @abstractmethod
    def takes(self, value: object) -> bool:
        """Whether the value is of this form's TOML type; `read` then looks closer."""

    @abstractmethod
    def read(self, value: Any, where: str) -> Any:
        """The value as the program uses it. **Raises** `SceneError` at `where`."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """This form in JSON Schema."""

    @abstractmethod
    def words(self) -> str:
        """This form in words, after "expected"."""

    def checked(self, value: object, where: str) -> Any:
        """`read`, after a look at the type."""
        if not self.takes(value):
            raise SceneError(f"expected {self.words()}, got {quoted(value)}.", where)
        return self.read(value, where)


@dataclasses.dataclass(frozen=True)
class Text(AbstractForm):
    """Any text."""

    def takes(self, value: object) -> bool:
        """Text."""
        return isinstance(value, str)

    def read(self, value: Any, where: str) -> str:
        """The text."""
        return value

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}

    def words(self) -> str:
        """Text."""
        return "text"


@dataclasses.dataclass(frozen=True)
class FileName(AbstractForm):
    """The plain name of a file with one of some endings; no folders, so that a scene writes only where it is told."""

    endings: tuple[str, ...]

    def takes(self, value: object) -> bool:
        """Text."""
        return isinstance(value, str)

    def read(self, value: Any, where: str) -> str:
        """The name."""
        plain = value.isprintable() and not set(value) & set('/\\:*?"<>|') and not value.startswith(".")
        if not plain or len(value) > 128 or not value.endswith(self.endings):
            raise SceneError(f"expected {self.words()}, got {quoted(value)}.", where)
        return value

    def schema(self) -> dict[str, Any]:
        """A string with a pattern."""
        endings = "|".join(ending.lstrip(".") for ending in self.endings)
        return {"type": "string", "maxLength": 128, "pattern": f'^[^./\\\\:*?"<>|][^/\\\\:*?"<>|]*\\.({endings})$'}

    def words(self) -> str:
        """A file name ending in one of these."""
        return f"a file name without folders that ends in {' or '.join(self.endings)}"


@dataclasses.dataclass(frozen=True)
class Flag(AbstractForm):
    """True or false."""

    def takes(self, value: object) -> bool:
        """A truth value."""
        return isinstance(value, bool)

    def read(self, value: Any, where: str) -> bool:
        """The truth value."""
        return value

    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}

    def words(self) -> str:
        """True or false."""
        return "true or false"


@dataclasses.dataclass(frozen=True)
class Whole(AbstractForm):
    """A whole number in a range."""

    least: int
    most: int

    def takes(self, value: object) -> bool:
        """An integer."""
        return isinstance(value, int) and not isinstance(value, bool)

    def read(self, value: Any, where: str) -> int:
        """The number."""
        if not self.least <= value <= self.most:
            raise SceneError(f"expected {self.words()}, got {quoted(value)}.", where)
        return value

    def schema(self) -> dict[str, Any]:
        """An integer with bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def words(self) -> str:
        """A whole number and its range."""
        return f"a whole number from {self.least} to {self.most}"


@dataclasses.dataclass(frozen=True)
class Quantity(AbstractForm):
    """A finite number, or a formula that gives one, such as `"pi/2"`. Read as an `Expression`."""

    def takes(self, value: object) -> bool:
        """A number or text."""
        return isinstance(value, (int, float, str)) and not isinstance(value, bool)

    def read(self, value: Any, where: str) -> Expression:
        """The number, or the formula's tree."""
        if isinstance(value, str):
            return Formula().read(value, where)
        try:
            finite = math.isfinite(value)
        except OverflowError:  # an integer beyond the floating-point range
            finite = False
        if not finite:
            raise SceneError(f"expected a finite number, got {quoted(value)}.", where)
        return number(value)

    def schema(self) -> dict[str, Any]:
        """A number or a string."""
        return {"type": ["number", "string"], "maxLength": LONGEST, "minLength": 1}

    def words(self) -> str:
        """A number or formula."""
        return 'a number, or a formula in quotes such as "pi/2"'


@dataclasses.dataclass(frozen=True)
class Formula(AbstractForm):
    """A formula in quotes. Read as an `Expression`."""

    def takes(self, value: object) -> bool:
        """Text."""
        return isinstance(value, str)

    def read(self, value: Any, where: str) -> Expression:
        """The formula's tree."""
        try:
            return parse(value)
        except SceneError as error:
            raise SceneError(error.problem, where, span=error.span) from None

    def schema(self) -> dict[str, Any]:
        """A string that is not too long."""
        return {"type": "string", "maxLength": LONGEST, "minLength": 1}

    def words(self) -> str:
        """A formula."""
        return 'a formula in quotes such as "m*g*y"'


@dataclasses.dataclass(frozen=True)
class Choice(AbstractForm):
    """One of some words."""

    of: tuple[str, ...]
    what: str

    def takes(self, value: object) -> bool:
        """Text."""
        return isinstance(value, str)

    def read(self, value: Any, where: str) -> str:
        """The word."""
        if value not in self.of:
            raise SceneError(f"there is no {self.what}{_named(value)}{suggestion(value[:64], self.of)}", where)
        return value

    def schema(self) -> dict[str, Any]:
        """An enumeration."""
        return {"enum": list(self.of)}

    def words(self) -> str:
        """The words."""
        return f"the name of a {self.what} ({', '.join(self.of)})"


def _named(value: str) -> str:
    return quoted(value).removeprefix("the text")


@dataclasses.dataclass(frozen=True)
class ListOf(AbstractForm):
    """A list, not empty, of values of one form. Read as a tuple."""

    item: AbstractForm
    what: str
    most: int = 1000

    def takes(self, value: object) -> bool:
        """A list."""
        return isinstance(value, list)

    def read(self, value: Any, where: str) -> tuple[Any, ...]:
        """The items, each read."""
        if not 1 <= len(value) <= self.most:
            raise SceneError(f"expected {self.words()} (1 to {self.most} of them), got {quoted(value)}.", where)
        return tuple(self.item.checked(part, below(where, i)) for i, part in enumerate(value))

    def schema(self) -> dict[str, Any]:
        """An array."""
        return {"type": "array", "items": self.item.schema(), "minItems": 1, "maxItems": self.most}

    def words(self) -> str:
        """A list of something."""
        return f"a list of {self.what}"


@dataclasses.dataclass(frozen=True)
class Name(AbstractForm):
    """A name that formulas can use."""

    def takes(self, value: object) -> bool:
        """Text."""
        return isinstance(value, str)

    def read(self, value: Any, where: str) -> str:
        """The name; whether it is free is for the scene as a whole to say."""
        plain = value.isascii() and value.replace("_", "a").isalnum() and value[:1].isalpha()
        if not plain or "__" in value or value.endswith("_") or len(value) > LONGEST_NAME:
            raise SceneError(f"expected {self.words()}, got {quoted(value)}.", where)
        return value

    def schema(self) -> dict[str, Any]:
        """A string with a pattern."""
        return {"type": "string", "pattern": NAME_PATTERN, "maxLength": LONGEST_NAME}

    def words(self) -> str:
        """A name."""
        return (
            f"a name of at most {LONGEST_NAME} plain letters, digits and single underscores that begins with a letter"
        )


@dataclasses.dataclass(frozen=True)
class TableOf(AbstractForm):
    """A table from names the user chooses to values of one form. Read as a dict, in the order of the file."""

    item: AbstractForm
    what: str
    most: int = 200

    def takes(self, value: object) -> bool:
        """A table."""
        return isinstance(value, dict)

    def read(self, value: Any, where: str) -> dict[str, Any]:
        """The entries, each read."""
        if len(value) > self.most:
            raise SceneError(f"expected at most {self.most} entries, got {len(value)}.", where)
        return {Name().read(key, where): self.item.checked(part, below(where, key)) for key, part in value.items()}

    def schema(self) -> dict[str, Any]:
        """An object with free keys."""
        return {
            "type": "object",
            "propertyNames": {"pattern": NAME_PATTERN, "maxLength": LONGEST_NAME},
            "additionalProperties": self.item.schema(),
            "maxProperties": self.most,
        }

    def words(self) -> str:
        """A table of something."""
        return f"a table of {self.what}"


@dataclasses.dataclass(frozen=True)
class Either(AbstractForm):
    """A value of the first of these forms that takes its type."""

    forms: tuple[AbstractForm, ...]

    def takes(self, value: object) -> bool:
        """What any of them takes."""
        return any(form.takes(value) for form in self.forms)

    def read(self, value: Any, where: str) -> Any:
        """As the first form reads that takes it."""
        return next(form for form in self.forms if form.takes(value)).read(value, where)

    def schema(self) -> dict[str, Any]:
        """Any of theirs."""
        return {"anyOf": [form.schema() for form in self.forms]}

    def words(self) -> str:
        """This or that."""
        return " or ".join(form.words() for form in self.forms)


@dataclasses.dataclass(frozen=True)
class Record(AbstractForm):
    """A table with known keys: the fields of a dataclass made with `key`."""

    of: type

    def takes(self, value: object) -> bool:
        """A table."""
        return isinstance(value, dict)

    def read(self, value: Any, where: str) -> Any:
        """An instance of the dataclass; unknown keys and missing ones are errors."""
        known = {field.name: field for field in dataclasses.fields(self.of)}
        for name in value:
            if name not in known:
                raise SceneError(f"there is no such key{suggestion(name[:64], known)}", below(where, clipped(name)))
        for name, field in known.items():
            if name not in value and not _optional(field):
                raise SceneError(f'the key "{name}" is missing: {form_of(field).words()}.', where)
        return self.of(**{name: form_of(known[name]).checked(part, below(where, name)) for name, part in value.items()})

    def schema(self) -> dict[str, Any]:
        """An object with these keys and no others."""
        fields = dataclasses.fields(self.of)
        required = [field.name for field in fields if not _optional(field)]
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {field.name: {"description": doc_of(field), **form_of(field).schema()} for field in fields},
            **({"required": required} if required else {}),
        }

    def words(self) -> str:
        """A table with these keys."""
        return f"a table with the keys {', '.join(field.name for field in dataclasses.fields(self.of))}"


def key(form: AbstractForm, doc: str, **default: Any) -> Any:
    """A field of a record: its form, what it means, and its `default` or `default_factory` if it may be left out."""
    return dataclasses.field(metadata={"form": form, "doc": doc}, **default)


def form_of(field: dataclasses.Field[Any]) -> AbstractForm:
    """The form of a field made with `key`."""
    return field.metadata["form"]


def doc_of(field: dataclasses.Field[Any]) -> str:
    """What a field made with `key` means."""
    return field.metadata["doc"]


def _optional(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def empty() -> Mapping[str, Any]:
    """A table with nothing in it, for `default_factory`."""
    return {}
