"""From LLVM IR to a loaded machine function for the processor this runs on."""

from __future__ import annotations

import ctypes
import itertools
import threading
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from holonomy.trace.native import cache as disk

_lock = threading.Lock()
_serial = itertools.count()
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_MANY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory; `kernel` and `many` release the interpreter's lock while they run.

    `kept_as` is its name on disk, empty where it was not read from there or put there.
    """

    kernel: Any
    many: Any
    tracker: Any
    kept_as: str = ""


@cache
def _target(level: int = 2) -> tuple[Any, str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )
    return machine, f"{triple} {cpu} {features}", triple


@cache
def _jit() -> Any:
    # The compiler proper is `_target`; this one only loads finished objects. JITLink lays an object's sections out
    # together; the older linker may put code and constants more than 2 GB apart in a large process, which small code
    # cannot bridge, and then ends the process.
    machine = llvm.Target.from_triple(_target()[2]).create_target_machine(jit=True)
    return llvm.create_lljit_compiler(machine, use_jit_link=True)


@cache
def vector_width() -> int:
    """How many doubles the processor's registers hold."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx") else 2


def identity() -> str:
    """What machine code depends on besides its IR: LLVM, processor, and the lists of passes."""
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"llvmlite {llvmlite.__version__} LLVM {version} {_target()[1]} passes {_PASSES}"


def name(ir: str, *, quick: bool = False) -> str:
    """The name under which the code of `ir` is kept on disk."""
    return disk.key(ir, identity(), *(["quick"] if quick else []))


def load(ir: str, *, quick: bool = False) -> Loaded:
    """Machine code for `ir`, from the disk if the same IR was compiled here before; `quick` as in `assemble`."""
    key = name(ir, quick=quick)
    loaded = load_kept(key)
    if loaded is not None:
        return loaded
    code = assemble(ir, quick=True) if quick else assemble(ir)
    disk.write(key, code)
    return replace(link(code), kept_as=key)


def load_kept(key: str) -> Loaded | None:
    """Machine code that `load` has kept under this name, or None."""
    code = disk.read(key)
    if code is None:
        return None
    try:
        return replace(link(code), kept_as=key)
    except RuntimeError:
        disk.forget(key)
        return None


_PASSES = 4  # version of the lists of passes below, part of the name under which code is kept on disk
_LONG = 1500  # lines of IR beyond which the full list of passes takes longer than it saves
_LONG_LOOPS = 40_000  # the same of functions with loops over arrays, which only the full list vectorises
_OVER_ARRAYS = "llvm.loop.parallel_accesses"  # marks loops over arrays


def has_loops_over_arrays(ir: str) -> bool:
    """Whether there are loops over arrays, which only the full list of passes vectorises."""
    return _OVER_ARRAYS in ir


def assemble(ir: str, *, quick: bool = False) -> bytes:
    """An object file: parse, optimise, generate code.

    Long functions get a short list of passes and plainer code generation: their nodes are simplified already, and more
    takes longer than it saves. With `quick` nothing is optimised: a tenth of the time, for code that is two or three
    times slower. Its results are the same to the last bit, but for sums in loops over arrays.
    """
    over_arrays = has_loops_over_arrays(ir)
    long = ir.count("\n") >= (_LONG_LOOPS if over_arrays else _LONG)
    machine, _, triple = _target(0 if quick else 1 if long else 2)
    with _lock:
        parsed = llvm.parse_assembly(ir)
        parsed.triple = triple
        parsed.data_layout = str(machine.target_data)
        if quick:
            return machine.emit_object(parsed)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.slp_vectorization = False
        options.loop_vectorization = over_arrays
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        if long:
            _few_passes(parsed, builder)
        else:
            builder.getModulePassManager().run(parsed, builder)
        return machine.emit_object(parsed)


def _few_passes(parsed: Any, builder: Any) -> None:
    inline = llvm.create_new_module_pass_manager()
    inline.add_always_inliner_pass()
    inline.run(parsed, builder)
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    for function in parsed.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def link(code: bytes) -> Loaded:
    """An object file loaded into this process. It must come from `assemble` on this machine."""
    with _lock:
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        builder.export_symbol("kernel").export_symbol("many")
        tracker = builder.link(_jit(), f"holonomy{next(_serial)}")
    return Loaded(_KERNEL(tracker["kernel"]), _MANY(tracker["many"]), tracker)
