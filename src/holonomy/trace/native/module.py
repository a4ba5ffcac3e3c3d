"""A whole module of LLVM IR: one function `@body` on argument and result pointers, and the entry points around it."""

from __future__ import annotations

from holonomy.trace.lowering.statements import Plan
from holonomy.trace.native.elementary import DECLARED, definition
from holonomy.trace.native.llvm import Emitter
from holonomy.trace.native.vector_math import sincos, sincos_many


def module(plan: Plan, width: int) -> tuple[str, int]:
    """The LLVM IR of a plan, and the bytes of scratch memory that a call needs.

    `kernel(arguments, scratch)` runs once on a table of pointers (arguments, then results);
    `many(arguments, strides, begin, end, scratch)` runs members begin to end, pointer k moved by strides[k] bytes each.
    """
    emitter = Emitter(plan, width)
    emitter.run(plan.root.statements, plan.root)
    # A system may have thousands of numbers that are arguments, few of which a function reads.
    places = {f"%in{k}": k for k in sorted(emitter.used)}
    places |= {f"%out{k}": len(plan.inputs) + k for k in range(len(plan.outputs))}
    names = list(places)
    parameters = ", ".join(
        [f"ptr noalias readonly {n}" if n.startswith("%in") else f"ptr noalias {n}" for n in names]
        + ["ptr noalias %scratch"]
    )
    helpers = [sincos(w) for w in sorted(emitter.widths)]
    if emitter.many_angles:
        helpers.append(sincos_many(width))
    if emitter.elementary:
        emitter.declared.update(DECLARED)
    if helpers:
        emitter.declared |= {"declare double @sin(double) #0", "declare double @cos(double) #0"}
    text = [
        *sorted(emitter.declared),
        *emitter.globals,
        *helpers,
        *[definition(name) for name in sorted(emitter.elementary)],
        f"define internal void @body({parameters}) #2 {{",
        "entry:",
        *emitter.entry,
        *emitter.lines,
        "  ret void",
        "}",
        *_entries(list(places.values())),
        "attributes #0 = { nounwind willreturn memory(none) }",
        "attributes #1 = { nounwind willreturn memory(none) alwaysinline }",
        "attributes #2 = { nounwind noinline }",
        *emitter.metadata,
    ]
    return "\n".join(text) + "\n", emitter.scratch.size


def _entries(places: list[int]) -> list[str]:
    load = [
        line
        for k in places
        for line in (f"  %q{k} = getelementptr ptr, ptr %table, i64 {k}", f"  %p{k} = load ptr, ptr %q{k}")
    ]
    passed = ", ".join([f"ptr %p{k}" for k in places] + ["ptr %scratch"])
    move = []
    for k in places:
        move += [
            f"  %w{k} = getelementptr i64, ptr %strides, i64 {k}",
            f"  %s{k} = load i64, ptr %w{k}",
            f"  %o{k} = mul i64 %s{k}, %m",
            f"  %r{k} = getelementptr i8, ptr %p{k}, i64 %o{k}",
        ]
    moved = ", ".join([f"ptr %r{k}" for k in places] + ["ptr %scratch"])
    return [
        "define void @kernel(ptr %table, ptr %scratch) nounwind {",
        "entry:",
        *load,
        f"  call void @body({passed})",
        "  ret void",
        "}",
        "define void @many(ptr %table, ptr %strides, i64 %begin, i64 %end, ptr %scratch) nounwind {",
        "entry:",
        *load,
        "  br label %head",
        "head:",
        "  %m = phi i64 [%begin, %entry], [%next, %turn]",
        "  %more = icmp slt i64 %m, %end",
        "  br i1 %more, label %turn, label %done",
        "turn:",
        *move,
        f"  call void @body({moved})",
        "  %next = add i64 %m, 1",
        "  br label %head",
        "done:",
        "  ret void",
        "}",
    ]
