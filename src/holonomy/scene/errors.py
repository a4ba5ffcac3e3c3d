"""What is wrong with a scene, in one sentence for the person who wrote it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST_LIST = 24  # names that an error message lists


class SceneError(ValueError):
    """A scene file or formula that cannot be used: *where* it is wrong, *what* is wrong, and what would be right.

    **Arguments:** `problem`, the sentence; `key`, the dotted path of the key in the file (`initial.q.theta`), empty for
    the file as a whole; `source`, the file's name, filled in by whoever knows it; `span`, the first character of the
    formula that is wrong and the one after the last, where that is known.
    """

    def __init__(self, problem: str, key: str = "", source: str = "", span: tuple[int, int] | None = None):
        self.problem = problem
        self.key = key
        self.source = source
        self.span = span
        super().__init__(": ".join(part for part in (source, key, problem) if part))

    def inside(self, source: str) -> SceneError:
        """The same error, naming the file it came from unless it names its source already."""
        return SceneError(self.problem, self.key, self.source or source, self.span)


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean "theta"?` or, when nothing is near, the empty text; then what is allowed.

    The answer continues a sentence that has just named `word`, and ends it.
    """
    names = list(allowed)
    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(word.lower().replace("-", "_"), lower, n=1, cutoff=0.6)
    meant = f'; did you mean "{lower[near[0]]}"?' if near else "."
    if not names:
        return meant
    shown = ", ".join(names[:_LONGEST_LIST]) + (", …" if len(names) > _LONGEST_LIST else "")
    return f"{meant} Allowed: {shown}."


def quoted(value: object) -> str:
    """A value as a person would name it: `the text "abc"`, `the number 3`, `a list of 2 items`."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {clipped(repr(value) if isinstance(value, float) else _whole(value))}"
        case str():
            return f'the text "{clipped(value)}"'
        case list():
            return f"a list of {len(value)} item{'' if len(value) == 1 else 's'}"
        case dict():
            return "a table" + (f" with {clipped(', '.join(map(str, value)))}" if value else " with nothing in it")
        case _:
            return f"a {type(value).__name__}"


def _whole(value: int) -> str:
    return str(value) if abs(value) < 10**30 else "with more than 30 digits"


def clipped(text: str, width: int = 48) -> str:
    """`text` on one line and at most `width` characters long, with control characters made visible."""
    line = "".join(c if c.isprintable() else " " for c in text[: width + 1])
    return line if len(line) <= width else line[: width - 1] + "…"
