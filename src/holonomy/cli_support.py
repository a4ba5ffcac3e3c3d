"""What the commands share: one sentence for a failure, a limit of time, tables for people and for programs."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import typer

from holonomy.extras import MissingExtra

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130

P = ParamSpec("P")


class Language(StrEnum):
    """Languages in which equations are written as code."""

    python = "python"
    c = "c"
    julia = "julia"


class Stop(Exception):
    """A problem to be told in one sentence, with the exit status that goes with it."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.status = status


def refuse_existing(files: Iterable[Path], force: bool) -> None:
    """Stop if one of these files is there, unless they may be written over."""
    there = [file for file in files if os.path.lexists(file) and not file.is_dir()]
    if there and not force:
        raise Stop(f'"{there[0]}" is there already; name another file, or write over it with --force.', BAD_INPUT)


def plainly(command: Callable[P, None]) -> Callable[P, None]:
    """A command that ends in one sentence on stderr, not in a traceback, unless `--traceback` asks for one."""

    @wraps(command)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            _fail("interrupted; nothing was written.", INTERRUPTED)
        except Exception as error:  # the one place where a person sees every failure
            if kwargs.get("traceback"):
                raise
            _fail(*_sentence(error))

    return told


def _sentence(error: Exception) -> tuple[str, int]:
    if isinstance(error, Stop):
        return str(error), error.status
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError):
        return text, BAD_INPUT
    if isinstance(error, MissingExtra):
        return text, FAILED
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}.", FAILED
    return f"{type(error).__name__}: {text} (--traceback shows where).", FAILED


def printable(text: str) -> str:
    """The text in one line, without characters that a terminal obeys: a file from someone else may hold them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _fail(sentence: str, status: int) -> None:
    typer.echo(f"holonomy: {printable(sentence)}", err=True)
    raise typer.Exit(status)


class TooLong(BaseException):
    """The time is over. Not an `Exception`, which the work that is interrupted may catch."""


@contextmanager
def alarm(seconds: float | None, error: type[BaseException]) -> Generator[None]:
    """Raise the error in the block after some seconds, where the system has such an alarm."""
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def over(number: int, frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, over)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def by_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the reason of an error, or the reason of its reason."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def as_json(value: Any) -> None:
    """Print a value as JSON; what is infinite or not a number is null there."""

    def plain(x: Any) -> Any:
        if isinstance(x, dict):
            return {key: plain(y) for key, y in x.items()}
        if isinstance(x, list | tuple):
            return [plain(y) for y in x]
        return None if isinstance(x, float) and not abs(x) < float("inf") else x

    typer.echo(json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False))


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], unbroken: Sequence[str]) -> None:
    """Print a table: with lines on a terminal, else a line for each row with tabs between its columns.

    `unbroken` are the headings of columns that a narrow terminal does not break.
    """
    if not sys.stdout.isatty():
        for row in (headings, *rows):
            typer.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for heading in headings:
        table.add_column(heading, no_wrap=heading in unbroken)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def changes(given: list[str]) -> dict[str, str]:
    """The numbers that --set gives, by name."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise Stop(f'--set takes NAME=VALUE, such as g=3.7; got "{text[:60]}".', BAD_INPUT)
        found[name.strip()] = value.strip()
    return found


def parameter_range(text: str) -> tuple[str, float, float]:
    """A parameter and its first and last value."""
    name, _, ends = text.partition("=")
    try:
        first, last = (float(part) for part in ends.split(":"))
    except ValueError:
        raise Stop(f'--over is written as NAME=FIRST:LAST, such as omega=0:8; got "{text[:60]}".', BAD_INPUT) from None
    if not first < last:
        raise Stop(f"--over goes from a smaller to a larger value; got {first:g} and {last:g}.", BAD_INPUT)
    return name.strip(), first, last
