"""Answers: notices that were computed from something that may have changed since."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A notice that says what it was computed from.

    The server numbers the states of what answers are computed from (`studio.session.answers`) and says in
    `Controls.current` which number is the present one for each type of answer. The page shows an answer only while its
    number is that one. Controls with a number are sent before the first answer of that number.
    """

    of: int | None = None
    """The number of what it was computed from; null for an answer that nothing makes out of date."""


@dataclass(frozen=True, slots=True)
class Refused(Answer):
    """A command that could not be carried out, and why, in one sentence."""

    message: str
    command: str
    """The `type` of that command, so that the sentence can stand beside its control; "" when there was none."""
    setting: str = ""
    """The setting whose value was refused; "" where it is none."""
    start: int = 0
    """In a text, the first character that is wrong."""
    end: int = 0
    """The character after the last wrong one; `start` where the place is known but not its length."""


@dataclass(frozen=True, slots=True)
class Announced(Answer):
    """Something that the user should know of what was asked for, in one sentence; nothing is wrong."""

    message: str


@dataclass(frozen=True, slots=True)
class Shared(Answer):
    """The complete state as a versioned JSON document, for a link or a file; `Restore` restores it bit for bit."""

    document: str


@dataclass(frozen=True, slots=True)
class EquationView:
    """One displayed formula, or a paragraph of text."""

    title: str
    latex: str
    text: str = ""
    state: str = ""
    """A document, as `Shared` has one, of the system that the result describes: `Restore` continues with it."""


@dataclass(frozen=True, slots=True)
class Equations(Answer):
    """The equations of motion, or a sentence that says why there are none to read."""

    message: str
    items: tuple[EquationView, ...]


@dataclass(frozen=True, slots=True)
class Download(Answer):
    """A file is ready: GET `path` (relative to the page) once, soon; the browser keeps it under `filename`."""

    path: str
    filename: str
