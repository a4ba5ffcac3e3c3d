"""What the commands share: one sentence for a failure, a limit of time, tables for people and for programs."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

import typer

from holonomy.extras import MissingExtra

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130

P = ParamSpec("P")


class Stop(Exception):
    """A problem to be told in one sentence, with the exit status that goes with it."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.status = status


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
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
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
