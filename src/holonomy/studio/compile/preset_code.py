"""The labs' presets as LLVM's text, made ahead: a fresh installation moves without tracing anything.

`python -m holonomy.studio.compile.preset_code` traces every preset of every lab and writes the files; `make wheel` does
so before it packs a wheel. With `openings` it traces only what each lab opens with; set-up does so in a checkout while
it builds the pages. A file's name has a digest of the package's sources, so that a file made from other sources is not
found, and the structure is traced instead.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import logging
import lzma
import sys
from pathlib import Path
from typing import Final

import holonomy
from holonomy.studio.compile.encoding import decode, encode
from holonomy.studio.compile.kernel import CompiledProgram
from holonomy.studio.labs import all_labs, load, module_of
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Structure

FOLDER: Final = Path(__file__).parents[1] / "presets"
_FORM: Final = 1
_log = logging.getLogger(__name__)


def structures(lab: AbstractLab) -> tuple[Structure, ...]:
    """The structures of a lab's presets, in their order, each once."""
    return tuple(dict.fromkeys(lab.structure(lab.preset(preset.name)) for preset in lab.descriptor.presets))


def file_of(module: str, structure: Structure, folder: Path | None = None) -> Path:
    """Where the text of a structure is kept, whether it is there or not."""
    text = "\n".join((str(_FORM), module, repr(structure), sources(module)))
    return (folder or FOLDER) / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.xz"


def read(module: str, structure: Structure, folder: Path | None = None) -> CompiledProgram | None:
    """The text of a structure, or None where it was not made ahead."""
    file = file_of(module, structure, folder)
    if not file.is_file():
        return None
    try:
        return decode(lzma.decompress(file.read_bytes()))
    except (OSError, lzma.LZMAError, ValueError, KeyError, TypeError):
        _log.exception("the file %s cannot be read", file)
        return None


def write(module: str, structure: Structure, folder: Path | None = None) -> Path:
    """Trace a structure and keep its text. Needs JAX."""
    from holonomy.studio.compile.program import describe_program

    file = file_of(module, structure, folder)
    if not file.is_file():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(lzma.compress(encode(describe_program(load(module).program(structure)))))
    return file


@functools.cache
def sources(module: str) -> str:
    """A digest of the files of the package and of a lab: code made by another state of them is not used."""
    root = Path(holonomy.__file__).parent
    own = Path(inspect.getfile(importlib.import_module(module)))
    if own.is_relative_to(root):
        return _digest(root)
    return _digest(root) + _digest(own.parent if own.name == "__init__.py" else own)


@functools.cache
def _digest(place: Path) -> str:
    """Of the Python files in a folder, or of one file."""
    digest = hashlib.sha256(holonomy.__version__.encode())
    for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def main(arguments: list[str]) -> None:
    """Write the files of all labs, and remove those of other sources."""
    few = arguments == ["openings"]
    wanted = {lab.name: (lab.structure(lab.opening()),) if few else structures(lab) for lab in all_labs()}
    kept = {write(module_of(name), one) for name, some in wanted.items() for one in some}
    for file in FOLDER.glob("*.xz"):
        if file not in kept:
            file.unlink()
    print(f"{len(kept)} structures, {sum(file.stat().st_size for file in kept) / 1e6:.1f} MB, in {FOLDER}")


if __name__ == "__main__":
    main(sys.argv[1:])
