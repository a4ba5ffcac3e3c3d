"""Code that is not optimised: the same bits, replaced once that is worth its time, found again by other processes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import llvmlite.binding as llvm
import numpy as np
import pytest

import holonomy as hl
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native import cache, compiler, draft, engine, machine
from holonomy.trace.native.draft import Draft


def _sums(x: Any) -> Any:
    """Products that are added to, taken from and added to each other, some of them used twice."""
    a, b, c = x[0] * x[1], x[2] * x[3], x[1] * x[3]
    return jnp.stack([a + x[2], a - b, x[0] - c, a + b, c - x[1] * x[1], -(x[2] * x[2]) - x[0] * x[0], a + a, b - x[3]])


def _angles(x: Any) -> Any:
    return jnp.sin(x) * jnp.cos(2.0 * x[::-1]) - jnp.sin(x[0] - x[1]) + 1e7 * jnp.cos(1e5 * x)


def _chosen(x: Any) -> Any:
    """Branches and a loop, whose products are made where they are needed."""

    def turn(k: Any, s: Any) -> Any:
        return s + x[k] * x[k] - 0.25 * s * jnp.where(s > x[0], x[1] * s, x[2] - x[3] * s)

    total = x[0]
    for k in range(3):
        total = turn(k, total)
    return jnp.where(x[0] * x[1] > 0, total * x[0] + x[1], total - x[2] * x[3]) / (1 + x[0] * x[0])


@pytest.mark.parametrize("function", [_sums, _angles, _chosen])
def test_code_that_is_not_optimised_gives_the_same_bits(function: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).normal(size=(50, 4))
    plain, optimised = compiler.compile(function, [x[0]], quick=True), compiler.compile(function, [x[0]])
    for row in x:
        assert np.array_equal(plain(row), optimised(row))


def test_products_are_rounded_once_with_the_sum_that_takes_them() -> None:
    """Where the processor can: a b - c with c next to a b tells what rounding would have lost."""
    a = 1.0 + 2.0**-30
    code = compiler.compile(lambda x: x[0] * x[0] - x[1], [np.zeros(2)])
    once = llvm.get_host_cpu_features().get("fma", False)
    assert float(code(np.array([a, a * a]))) == (2.0**-60 if once else 0.0)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own for code, nothing in memory, and all code long."""
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "code"))
    monkeypatch.setattr(draft, "LONG", 10)
    _forget()
    yield
    _forget()


def _forget() -> None:
    engine.forget()
    compiler.forget()


def _run(steps: int) -> hl.Run:
    return hl.simulate(hl.Pendulum([1.0, 0.7], [1.0, 2.0]), [1.0, 0.3], [0.2, 0.1], steps * 1e-3, dt=1e-3)


def _drafts() -> list[Draft]:
    codes = [code for code in compiler._codes._values.values() if isinstance(code, compiler.Code)]
    return [code.draft for code in codes if code.draft is not None]


@pytest.mark.usefixtures("fresh")
def test_code_is_optimised_once_that_is_worth_it_and_gives_the_same_bits() -> None:
    few = _run(10)
    assert len(_drafts()) == 1
    _drafts()[0].ran(1, 100.0)
    many = _run(500)
    assert not _drafts()
    assert np.array_equal(many.q[: len(few.q)], few.q)
    assert np.array_equal(_run(10).energy, few.energy)


@pytest.mark.usefixtures("fresh")
def test_another_process_finds_what_was_not_optimised_and_then_what_was(monkeypatch: pytest.MonkeyPatch) -> None:
    few = _run(10)
    _forget()
    monkeypatch.setattr(compiler, "traced", None)  # nothing is traced again
    assert np.array_equal(_run(10).q, few.q)
    assert len(_drafts()) == 1
    _drafts()[0].ran(1, 100.0)
    many = _run(500)
    _forget()
    assert np.array_equal(_run(500).q, many.q)
    assert not _drafts()


@pytest.mark.usefixtures("fresh")
def test_a_damaged_text_is_made_again() -> None:
    few = _run(10)
    (left,) = _drafts()
    _forget()
    cache.write(draft._text_of(left.object_file), b"no text")
    assert np.array_equal(_run(10).q, few.q)


@pytest.mark.usefixtures("fresh")
def test_where_llvm_fails_the_code_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    few = _run(10)
    (left,) = _drafts()

    def refuse(*_: Any, **__: Any) -> bytes:
        raise Unsupported("LLVM is out of order.")

    monkeypatch.setattr(machine, "assemble", refuse)
    left.ran(1, 100.0)
    assert np.array_equal(_run(10).q, few.q)
    assert not _drafts()


@pytest.mark.usefixtures("fresh")
def test_many_members_are_optimised_at_once() -> None:
    system = hl.Pendulum([1.0, 0.7], [1.0, 2.0])
    starts = np.tile([1.0, 0.3], (3, 1))
    many = hl.ensemble(system, starts, np.zeros((3, 2)), 0.01, dt=1e-3)
    assert not _drafts()
    assert np.array_equal(many.q[0], many.q[2])


def test_optimising_is_due_when_as_much_was_spent() -> None:
    left = Draft("line\n" * 40_000)  # two seconds, guessed 0.1 ms a step
    assert not left.is_due(1000)
    assert left.is_due(100_000)
    left.ran(1000, 0.001)
    assert not left.is_due(100_000)
    left.ran(1000, 5.0)
    assert left.is_due(1)
