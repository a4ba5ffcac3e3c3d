"""From LLVM's text to machine code, for a whole program: first quickly, then well. No JAX."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

from holonomy.studio.compile.kernel import CompiledProgram
from holonomy.trace.native.object_file import IR, ObjectFile, assembled

LONG: Final = 4000
"""Lines of LLVM's text whose optimisation takes longer than a user notices."""
_MOST_KEPT: Final = 256
_kept: dict[bytes, ObjectFile] = {}


def is_long(program: CompiledProgram) -> bool:
    """Whether optimising the program takes so long that code which is not optimised should run until it is there."""
    return sum(file.code.count(b"\n") for file in program.object_files.values() if file.identity == IR) > LONG


def assembled_program(program: CompiledProgram, *, quick: bool = False) -> CompiledProgram:
    """The program as machine code for this machine; with `quick`, not optimised."""
    object_files = {
        name: assembled(file, quick=True) if quick else _optimised(file) for name, file in program.object_files.items()
    }
    engine = f"{program.engine}, not optimised yet" if quick else program.engine
    return replace(program, object_files=object_files, engine=engine, quick=quick)


def _optimised(file: ObjectFile) -> ObjectFile:
    """Machine code of one function; several structures share some, and each is compiled once."""
    key = hashlib.sha256(file.code).digest()
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        _kept[key] = assembled(file)
    return replace(_kept[key], hidden=file.hidden, inputs=file.inputs, outputs=file.outputs, scratch=file.scratch)
