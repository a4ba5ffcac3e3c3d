"""A formula's text cut into numbers, names and signs; every other character is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from holonomy.scene.errors import SceneError, clipped

LONGEST = 10_000
"""Characters in one formula."""

LONGEST_NAME = 64
"""Characters in one name."""

Kind = Literal["number", "name", "sign", "end"]


@dataclass(frozen=True)
class Token:
    """One word of a formula and where it stands in the text."""

    kind: Kind
    text: str
    at: int

    @property
    def span(self) -> tuple[int, int]:
        """Its first character and the one after its last; the end of a formula has none."""
        return self.at, self.at + len(self.text)


# ASCII only, by intent: Python would take other digits and letters for these, and letters that look alike for names.
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|[-+*/^(),<>])"
)

_HINTS = {
    ".": "a formula has no attributes",
    "[": "a formula has no lists or subscripts",
    "{": "a formula has no braces",
    "=": "a formula defines nothing; put definitions in [let]",
    ":": "a formula defines nothing; put definitions in [let]",
    "!": "the comparisons are <, <=, > and >=",
    "'": "a rate of change is written theta_dot, and a formula contains no text",
    '"': "a formula contains no text",
    "%": "the operators are + - * / and ^",
    "\\": "a formula is typed plainly, not in LaTeX",
}


def excerpt(text: str, at: int) -> str:
    """The neighbourhood of a place in a formula, short enough for a sentence."""
    start = max(0, at - 20)
    return ("…" if start else "") + clipped(text[start:], 44)


def tokens(text: str) -> list[Token]:
    """The words of a formula, ending in one of kind `end`.

    **Raises** `SceneError` for text that is too long and for characters that no formula contains.
    """
    if len(text) > LONGEST:
        raise SceneError(
            f"this formula has {len(text)} characters; at most {LONGEST} are allowed.", span=(LONGEST, len(text))
        )
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _stray(text, at)
        if match.lastgroup == "name":
            _check_name(match.group(), text, at)
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group(), at))  # pyright: ignore[reportArgumentType]
        at = match.end()
    found.append(Token("end", "", len(text)))
    return found


def _stray(text: str, at: int) -> SceneError:
    character = text[at]
    if ord(character) > 127:
        hint = "formulas are typed in plain ASCII: theta for a Greek letter, x^2 for a square, * for a product"
    else:
        hint = _HINTS.get(character, "a formula has numbers, names, + - * / ^, parentheses and functions")
    problem = f'the character "{clipped(character)}" has no meaning in "{excerpt(text, at)}": {hint}.'
    return SceneError(problem, span=(at, at + 1))


def _check_name(name: str, text: str, at: int) -> None:
    span = (at, at + len(name))
    if name.startswith("_") or "__" in name:
        raise SceneError(
            f'the name "{clipped(name)}" is not allowed in "{clipped(text)}": '
            "names begin with a letter and have no double underscore.",
            span=span,
        )
    if len(name) > LONGEST_NAME:
        raise SceneError(f'the name "{clipped(name)}" has more than {LONGEST_NAME} characters.', span=span)
