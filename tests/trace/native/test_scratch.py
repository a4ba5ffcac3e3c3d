"""Scratch memory: arrays that are not in use at the same time share it, and never two that are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from tests.trace.compare import assert_same

from holonomy.trace.form import Form
from holonomy.trace.jaxpr import traced
from holonomy.trace.lowering.limits import ARRAYS
from holonomy.trace.lowering.statements import Begin, Block, Branch, Buffer, Copy, Loop, Plan, Statement
from holonomy.trace.native import compiler, scratch
from holonomy.trace.native.scratch import ALIGN

# Limits that no other test has, so that no code of theirs is found where this one puts all arrays into scratch memory.
IN_SCRATCH = replace(ARRAYS, scalars=1, carried=1, dear=11.5)
IN_LOOPS = compiler.Limits(scalars=1, carried=1, unrolled=0, solve=1, pivoted=1, dear=11.5)


@pytest.fixture(autouse=True)
def _nothing_on_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_STACK_BYTES", 0)


# Each takes an array of 12 numbers to another one; several need memory of their own, some in loops and branches.
STEPS: dict[str, Any] = {
    "running": lambda x: jnp.cumsum(x) / 6,
    "largest": lambda x: lax.cummax(x)[::-1],
    "turned": lambda x: jnp.sin(x)[::-1] + x,
    "placed": lambda x: x.at[3].set(x[7]).at[7].add(0.5),
    "product": lambda x: (x.reshape(3, 4) @ x.reshape(4, 3)).reshape(-1)[jnp.arange(12) % 9] / 5,
    "repeated": lambda x: lax.fori_loop(0, 3, lambda k, y: jnp.cumsum(0.3 * y)[::-1] + x[k], x),
    "until": lambda x: lax.while_loop(lambda y: jnp.sum(y * y) > 1.0, lambda y: 0.5 * jnp.cumsum(y) / 3, x),
    "branch": lambda x: lax.cond(x[0] > 0.1, lambda y: jnp.cumsum(y)[::-1], lambda y: lax.cummin(y) * 0.5, x),
    "scan": lambda x: lax.scan(lambda c, row: (0.5 * (c[::-1] + row), jnp.sum(c)), x, jnp.outer(x[:4], x))[0],
    "kept": lambda x: jnp.cumsum(lax.cummax(x)) * x / 9 + jnp.max(jnp.cumsum(x)),
    "nested": lambda x: lax.fori_loop(
        0, 2, lambda _, y: lax.fori_loop(0, 2, lambda k, z: jnp.cumsum(z)[::-1] * 0.2 + y[k], y) + x, x
    ),
}


@settings(max_examples=8, deadline=None, derandomize=True)
@given(names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6))
def test_random_programs_agree_with_xla(names: list[str]) -> None:
    """Values that are used at once and again at the end, and the derivative along a vector."""

    def program(x: Any) -> Any:
        found = []
        for name in names:
            x = STEPS[name](x)
            found.append(x)
        return x, sum(y * (n + 1) for n, y in enumerate(found))

    def both(x: Any) -> Any:
        return jax.jvp(program, (x,), (jnp.cos(x),))

    x = np.random.default_rng(len(names)).normal(size=12)
    expected = jax.jit(both)(x)
    for limits in (IN_SCRATCH, IN_LOOPS):
        assert_same(compiler.compile(both, (x,), limits=limits)(x), expected, 1e-12)


def needed(function: Any, *args: Any) -> int:
    """Bytes of scratch memory."""
    jaxpr, _ = traced(function, args)
    return compiler._written(jaxpr, Form(jaxpr), (ARRAYS,))[1]


def test_memory_does_not_grow_with_the_length_of_a_program() -> None:
    x = np.linspace(0.0, 1.0, 1000)

    def long(times: int) -> Any:
        def program(x: Any) -> Any:
            for _ in range(times):
                x = jnp.cumsum(x)[::-1]
            return x

        return program

    assert needed(long(3), x) == needed(long(30), x) <= 2 * 8 * 1000 + 2 * ALIGN


def test_memory_of_the_turns_of_a_loop_is_that_of_one() -> None:
    x = np.linspace(0.0, 1.0, 1000)

    def turn(y: Any) -> Any:
        return jnp.cumsum(lax.cummax(y))[::-1]

    inside = needed(lambda x, n: lax.fori_loop(0, n, lambda _, y: turn(turn(y)), x), x, 3)
    assert inside == needed(lambda x, n: lax.fori_loop(0, n, lambda _, y: turn(turn(turn(turn(y)))), x), x, 3)


# ── plans written by hand ─────────────────────────────────────────────────────────────────────────────


def plan(root: Block) -> Plan:
    return Plan(root, {}, {}, (), ())


def work(home: Block, size: int = 100) -> Buffer:
    return Buffer("work", "f8", size, home=home)


def looped(root: Block, *statements: Statement, header: tuple[Statement, ...] = ()) -> Loop:
    block = Block(root, list(statements), list(header))
    return Loop(block, None, ())  # pyright: ignore[reportArgumentType]


def shared(root: Block, a: Buffer, b: Buffer) -> bool:
    offsets = scratch.scratch(plan(root)).offsets
    return offsets[a] == offsets[b]


def test_one_after_the_other_share_and_copies_of_each_other_do_not() -> None:
    root = Block(None)
    given, a, b, c = Buffer("input", "f8", 100), work(root), work(root), work(root)
    root.statements += [Copy(a, given), Copy(b, a), Copy(c, b)]
    assert shared(root, a, c)
    assert not shared(root, a, b)
    assert not shared(root, b, c)


def test_what_a_loop_may_need_in_its_next_turn_stays() -> None:
    """`a` is read at the beginning of a turn and written before the loop alone; `b` comes into being in a turn."""
    root = Block(None)
    a, c, given = work(root), work(root), Buffer("input", "f8", 100)
    loop = looped(root)
    b, d = work(loop.block), work(loop.block)
    loop.block.statements += [Copy(c, a), Copy(b, given), Copy(c, b), Copy(d, given), Copy(c, d)]
    root.statements += [Copy(a, given), loop]
    assert not shared(root, a, b)
    assert not shared(root, a, d)
    assert shared(root, b, d)


def test_what_every_turn_writes_anew_is_free_until_then() -> None:
    root = Block(None)
    a, given = work(root), Buffer("input", "f8", 100)
    loop = looped(root)
    b = work(loop.block)
    loop.block.statements += [Copy(b, given), Copy(given, b), Begin((a,)), Copy(a, given)]
    root.statements += [loop, Copy(given, a)]
    assert shared(root, a, b)


def test_what_is_written_anew_is_kept_where_a_loop_looks_at_it_before_a_turn() -> None:
    """The header of the loop uses memory of its own, when what the last turn wrote is still wanted."""
    root = Block(None)
    a, given = work(root), Buffer("input", "f8", 100)
    loop = looped(root)
    b = work(loop.block)
    loop.block.header += [Copy(b, given), Copy(given, b)]
    loop.block.statements += [Begin((a,)), Copy(a, given)]
    root.statements += [loop, Copy(given, a)]
    assert not shared(root, a, b)


def test_what_only_some_turns_write_anew_stays_from_turn_to_turn() -> None:
    root = Block(None)
    a, given = work(root), Buffer("input", "f8", 100)
    loop = looped(root)
    b, branches = work(loop.block), (Block(loop.block), Block(loop.block))
    branches[0].statements += [Begin((a,)), Copy(a, given)]
    branch = Branch(None, branches, ((), ()), ())  # pyright: ignore[reportArgumentType]
    loop.block.statements += [Copy(b, given), Copy(given, b), branch]
    root.statements += [loop, Copy(given, a)]
    assert not shared(root, a, b)


def test_what_a_branch_may_leave_as_it_was_stays() -> None:
    root = Block(None)
    a, b, given = work(root), work(root), Buffer("input", "f8", 100)
    branches = (Block(root), Block(root))
    branches[1].statements += [Begin((a,)), Copy(a, given)]
    root.statements += [Copy(a, given), Copy(b, given), Copy(given, b)]
    root.statements += [Branch(None, branches, ((), ()), ()), Copy(given, a)]  # pyright: ignore[reportArgumentType]
    assert not shared(root, a, b)


def test_many_arrays_find_places_that_do_not_meet() -> None:
    """Random uses of random sizes: no two that are in use at once overlap, and the whole is not much above the most
    that is in use at once."""
    random = np.random.default_rng(0)
    root = Block(None)
    uses = {}
    for begin, length, size in zip(*random.integers(1, [[2000], [60], [5000]], size=(3, 3000)), strict=True):
        uses[work(root, int(size))] = [(int(begin), int(begin + length))]
    found = scratch._placed(uses)
    changes = [(at, ends, b) for b, ((first, last),) in uses.items() for at, ends in ((first, False), (last, True))]
    alive: set[Buffer] = set()
    most = 0
    for _, ends, buffer in sorted(changes, key=lambda change: change[:2]):
        (alive.discard if ends else alive.add)(buffer)
        spans = sorted((found.offsets[b], found.offsets[b] + scratch.bytes_of(b)) for b in alive)
        assert all(left[1] <= right[0] for left, right in pairwise(spans))
        most = max(most, sum(high - low for low, high in spans))
    assert most <= found.size <= 1.3 * most
