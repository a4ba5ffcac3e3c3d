"""A sentence instead of Python's own message where a function is called with the wrong arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def named_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; a call that its signature does not allow raises a `TypeError` that says what to write."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            _refuse(function, args, kwargs)
            raise

    return called


def _refuse(function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
    """Raise a `TypeError` if the signature does not allow these arguments."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        given = signature.parameters
        by_place = [name for name, p in given.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
        by_name = [name for name, p in given.items() if p.kind is p.KEYWORD_ONLY]
        name = getattr(function, "__name__", "it")
        unknown = [key for key in kwargs if key not in given]
        if unknown:
            near = get_close_matches(unknown[0], given, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            said = f"{name} has no argument {unknown[0]!r}; it has {', '.join(given)}.{hint}"
        elif len(args) > len(by_place):
            extra = args[len(by_place)]
            said = (
                f"{name} takes {', '.join(by_place)} by place and the others by name; got {extra!r} after them. "
                f"Write {by_name[0]}={extra!r} if that is what it is."
            )
        else:
            needed = [n for n in by_place[len(args) :] if given[n].default is inspect.Parameter.empty]
            missing = [n for n in needed if n not in kwargs]
            said = f"{name} needs {', '.join(missing)}, too." if missing else str(error)
        raise TypeError(said) from None
