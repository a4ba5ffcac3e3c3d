"""JSON messages to and from the dataclasses of `messages`, strictly: what is not exactly a known message is refused."""

from __future__ import annotations

import json
import math
import re
import types
import typing
from dataclasses import fields
from typing import Annotated, Any, Final, Literal

from holonomy.viewer.protocol import messages

LONGEST_MESSAGE: Final = 65536
"""Bytes. A state document comes near, other commands have a hundred; the socket closes on anything longer."""

_SEEN: Final = re.compile(r'\{"type":"seen","sequence":(0|[1-9]\d{0,8})\}', re.ASCII)
_BY_TAG: Final = {messages.tag(kind): kind for kind in messages.COMMANDS}
_HINTS: Final = {kind: typing.get_type_hints(kind, include_extras=True) for kind in messages.COMMANDS}


class MessageError(ValueError):
    """What came over the socket is not a command; the sentence says what is wrong with it."""


def decode(text: str) -> messages.Command:
    """The command in `text`, or `MessageError`."""
    if seen := _SEEN.fullmatch(text):  # one comes for every frame
        return messages.Seen(int(seen[1]))
    if len(text) > LONGEST_MESSAGE:
        raise MessageError(f"A command has at most {LONGEST_MESSAGE} characters, but {len(text)} came.")
    try:
        message = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except MessageError:
        raise
    except (ValueError, RecursionError) as error:
        raise MessageError("A command is a JSON object, but the text that came is not JSON.") from error
    if not isinstance(message, dict):
        raise MessageError(f"A command is a JSON object, but a {type(message).__name__} came.")
    name = message.pop("type", None)
    kind = _BY_TAG.get(name) if isinstance(name, str) else None
    if kind is None:
        raise MessageError(f"The command's type is {_shown(name)}; it must be one of {', '.join(sorted(_BY_TAG))}.")
    hints = _HINTS[kind]
    if set(message) != set(hints):
        raise MessageError(f"The command {name} has the members {sorted(hints)}, but {_shown(sorted(message))} came.")
    return kind(**{key: _checked(f"{name}.{key}", message[key], hint) for key, hint in hints.items()})


def encode(message: messages.Notice | messages.Command) -> str:
    """The message as JSON, its `type` first. Numbers keep every bit: JSON's shortest decimals read back exactly."""
    members = {"type": messages.tag(type(message)), **_members(message)}
    return json.dumps(members, allow_nan=False, separators=(",", ":"), default=_members)


def _members(record: Any) -> dict[str, object]:
    """The fields of a dataclass, not copied: a lab's view has hundreds of them inside."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _checked(where: str, value: object, hint: Any) -> object:
    limits: tuple[object, ...] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *rest = typing.get_args(hint)
        limits = tuple(rest)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        raise TypeError(f"{where} is declared as {hint}; commands use plain types only.")
    value = _of_type(where, value, hint)
    for limit in limits:
        _within(where, value, limit)
    return value


def _of_type(where: str, value: object, hint: Any) -> object:
    if typing.get_origin(hint) is Literal:
        if value not in typing.get_args(hint):
            raise MessageError(f"{where} must be one of {', '.join(typing.get_args(hint))}, but is {_shown(value)}.")
        return value
    if hint is float and type(value) in (int, float):
        try:
            number = float(typing.cast(float, value))
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise MessageError(f"{where} must be a finite number.")
        return number
    if type(value) is not hint:  # bool is an int to isinstance, and must not pass for one here
        raise MessageError(f"{where} must be of type {hint.__name__}, but is {_shown(value)}.")
    return value


def _within(where: str, value: object, limit: object) -> None:
    match limit:
        case messages.Range(low, high):
            if not low <= typing.cast(float, value) <= high:
                raise MessageError(f"{where} must lie between {low:g} and {high:g}, but is {_shown(value)}.")
        case messages.Text(longest):
            if len(typing.cast(str, value)) > longest:
                raise MessageError(f"{where} has at most {longest} characters.")
        case _:
            raise TypeError(f"{where} has a limit of unknown kind: {limit!r}.")


def _no_constant(name: str) -> object:
    raise MessageError(f"{name} is not a number that a command may hold.")


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise MessageError("A command names each of its members once.")
    return result


def _shown(value: object) -> str:
    """Short enough for a sentence, whatever was sent."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# Every field of every command must have a type to check by; found here rather than when the command comes.
for _kind in messages.COMMANDS:
    if {f.name for f in fields(_kind)} != set(_HINTS[_kind]):
        raise TypeError(f"{_kind.__name__} has fields without a type.")
