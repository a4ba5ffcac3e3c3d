"""Write the vocabulary of `messages` as TypeScript, so that a change in Python is a type error in the page."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
import types
import typing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from holonomy.viewer.protocol import codec, export_formats, messages

TARGET: Final = Path(__file__).resolve().parents[4] / "frontend" / "src" / "wire.ts"

_PLAIN: Final = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null"}
_READERS: Final = {"I": ("getUint32", 4), "d": ("getFloat64", 8)}


def generate() -> str:
    """The whole of `frontend/src/wire.ts`."""
    parts = [
        "// Written by `python -m holonomy.viewer.protocol.typescript` from the files beside it. Edit those.",
        f"export const PROTOCOL = {messages.PROTOCOL};",
        f"export const LONGEST_MESSAGE = {codec.LONGEST_MESSAGE};",
        f"export const LONGEST_DOCUMENT = {messages.LONGEST_DOCUMENT};",
        *(_interface(kind, tagged=False) for kind in _parts_of(messages.NOTICES)),
        *(_interface(kind, tagged=True) for kind in messages.NOTICES + messages.COMMANDS),
        _union("Notice", messages.NOTICES),
        _union("Command", messages.COMMANDS),
        _export_formats(),
        _limits(),
        _flags(),
        _frame(),
        _reader(),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the file, or say that this is not a checkout."""
    if not TARGET.parent.is_dir():
        raise SystemExit(f"There is no folder {TARGET.parent}: wire.ts is written in a checkout of the repository.")
    TARGET.write_text(generate(), encoding="utf-8")
    print(f"wrote {TARGET.name}")


def _parts_of(kinds: tuple[type, ...]) -> list[type]:
    """Dataclasses inside the notices, each before the one that holds it."""
    found: list[type] = []

    def visit(hint: Any) -> None:
        for inner in typing.get_args(hint):
            visit(inner)
        if isinstance(hint, type) and is_dataclass(hint) and hint not in found:
            for inner in typing.get_type_hints(hint).values():
                visit(inner)
            if hint not in kinds:
                found.append(hint)

    for kind in kinds:
        visit(kind)
    return found


def _type(hint: Any) -> str:
    if typing.get_origin(hint) is Annotated:
        return _type(typing.get_args(hint)[0])
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{choice}"' for choice in inner)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_type(choice) for choice in inner)
    if origin is tuple and inner[1:] == (...,):
        return f"readonly {_type(inner[0])}[]"
    if origin is dict:
        return f"Readonly<Record<{_type(inner[0])}, {_type(inner[1])}>>"
    if isinstance(hint, type) and is_dataclass(hint):
        return hint.__name__
    raise TypeError(f"The type {hint!r} has no form in TypeScript; use a plain type or extend typescript._type.")


def _interface(kind: type, *, tagged: bool) -> str:
    hints = typing.get_type_hints(kind, include_extras=True)
    notes = _field_notes(kind)
    lines = [_comment(inspect.getdoc(kind) or "", ""), f"export interface {kind.__name__} {{"]
    if tagged:
        lines.append(f'  readonly type: "{messages.tag(kind)}";')
    for field in fields(kind):
        if note := notes.get(field.name):
            lines.append(_comment(note, "  "))
        lines.append(f"  readonly {field.name}: {_type(hints[field.name])};")
    return "\n".join([*lines, "}"])


def _comment(text: str, indent: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */"
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"])


def _field_notes(kind: type) -> dict[str, str]:
    """The strings below fields, which Python does not keep; those of inherited fields too."""
    notes: dict[str, str] = {}
    for base in reversed([one for one in kind.__mro__ if "__dataclass_fields__" in vars(one) or one is kind]):
        notes |= _own_notes(base)
    return notes


def _own_notes(kind: type) -> dict[str, str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    body = typing.cast(ast.ClassDef, tree.body[0]).body
    notes: dict[str, str] = {}
    for before, after in itertools.pairwise(body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name):
                notes[before.target.id] = inspect.cleandoc(after.value.value)
            elif isinstance(before, ast.Assign) and isinstance(before.targets[0], ast.Name):
                notes[before.targets[0].id] = inspect.cleandoc(after.value.value)
    return notes


def _union(name: str, kinds: tuple[type, ...]) -> str:
    return f"export type {name} =\n  | " + "\n  | ".join(kind.__name__ for kind in kinds) + ";"


def _export_formats() -> str:
    lines = ["/** The files that the studio exports, in the order of the menu. */", "export const EXPORT_FORMATS = ["]
    for one in export_formats.FORMATS:
        made = "studio" if one.kind in typing.get_args(export_formats.Kind) else "page"
        shown = {"kind": one.kind, "label": one.label, "note": one.note, "ending": one.ending, "by": made}
        words = "".join(f'{key}: "{value}", ' for key, value in shown.items())
        lines.append(f"  {{ {words}readable: {str(one.readable).lower()}, film: {str(one.film).lower()} }},")
    return "\n".join([*lines, "] as const;"])


def _limits() -> str:
    """Ranges the page must keep to, so that it never asks for what the server refuses."""
    lines = ["/** Intervals that the server holds commands to. */", "export const limits = {"]
    for kind in messages.COMMANDS:
        for name, hint in typing.get_type_hints(kind, include_extras=True).items():
            ranges = (limit for limit in _limits_of(hint) if isinstance(limit, messages.Range))
            lines += [f"  {kind.__name__}_{name}: [{limit.low!r}, {limit.high!r}]," for limit in ranges]
    return "\n".join([*lines, "} as const;"])


def _limits_of(hint: Any) -> tuple[object, ...]:
    return hint.__metadata__ if typing.get_origin(hint) is Annotated else ()


def _flags() -> str:
    notes = _field_notes(messages.FrameFlag)
    lines = [_comment(inspect.getdoc(messages.FrameFlag) or "", ""), "export const FrameFlag = {"]
    for flag in messages.FrameFlag:
        if note := notes.get(str(flag.name)):
            lines.append(_comment(note, "  "))
        lines.append(f"  {flag.name}: {flag.value},")
    return "\n".join([*lines, "} as const;"])


def _frame() -> str:
    notes = _field_notes(messages.FrameHeader)
    lines = [_comment(inspect.getdoc(messages.Frame) or "", ""), "export interface Frame {"]
    for name in messages.HEADER_FIELDS:
        if note := notes.get(name):
            lines.append(_comment(note, "  "))
        lines.append(f"  readonly {name}: number;")
    lines += [f"  readonly {array.name}: Float64Array;" for array in messages.FRAME_ARRAYS]
    return "\n".join([*lines, "}"])


def _reader() -> str:
    lines = [
        "/** The frame in a binary message. Throws when its length does not fit its header. */",
        "export function readFrame(data: ArrayBuffer): Frame {",
        f"  if (data.byteLength < {messages.HEADER.size}) {{",
        "    throw new RangeError(`A frame of ${data.byteLength} bytes is too short.`);",
        "  }",
        "  const view = new DataView(data);",
    ]
    offset = 0
    for name, hint in typing.get_type_hints(messages.FrameHeader, include_extras=True).items():
        method, size = _READERS[hint.__metadata__[0]]
        lines.append(f"  const {name} = view.{method}({offset}, true);")
        offset += size
    if offset != messages.HEADER.size:
        raise TypeError(f"FrameHeader takes {offset} bytes, but messages.HEADER packs {messages.HEADER.size}.")
    lines.append(f"  let offset = {offset};")
    # All processors that browsers run on store numbers as the studio sends them, little-endian.
    lines += ["  const take = (length: number): Float64Array => {",
              "    const numbers = new Float64Array(data, offset, length);",
              "    offset += 8 * length;",
              "    return numbers;",
              "  };"]  # fmt: skip
    total = " + ".join(" * ".join(array.lengths) for array in messages.FRAME_ARRAYS)
    lines.append(f"  const announced = offset + 8 * ({total});")
    lines.append("  if (data.byteLength !== announced) {")
    lines.append("    throw new RangeError(`A frame announces ${announced} bytes and has ${data.byteLength}.`);")
    lines.append("  }")
    for array in messages.FRAME_ARRAYS:
        lines.append(f"  const {array.name} = take({' * '.join(array.lengths)});")
    names = ", ".join([*messages.HEADER_FIELDS, *(array.name for array in messages.FRAME_ARRAYS)])
    lines.append("  return {")
    lines += textwrap.wrap(names + ",", 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([*lines, "  };", "}"])


if __name__ == "__main__":
    main()
