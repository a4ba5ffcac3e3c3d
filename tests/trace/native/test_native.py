"""The interface of native code: other numbers, batches, threads, what it refuses, and what is kept on disk."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.trace.compare import assert_same

from holonomy.trace.native import cache, compiler, machine


def oscillator(k: float, c: float) -> Any:
    return lambda x, v: {"a": -k * x - c * v, "energy": 0.5 * (v * v + k * x * x) + 1.0}


X, V = np.linspace(0.1, 1.0, 4), np.linspace(-1.0, 1.0, 4)


def test_other_numbers_use_the_same_code() -> None:
    first = compiler.compile(oscillator(2.3, 0.71), (X, V))
    before = compiler.compilations()
    second = compiler.compile(oscillator(9.81, 0.013), (X * 2, V))
    assert compiler.compilations() == before
    assert second.code is first.code
    assert_same(second(X, V), oscillator(9.81, 0.013)(X, V))
    assert_same(first(X, V), oscillator(2.3, 0.71)(X, V))


def test_structural_numbers_are_part_of_the_code() -> None:
    assert (
        compiler.compile(oscillator(1.0, 0.0), (X, V)).code is not compiler.compile(oscillator(2.3, 0.71), (X, V)).code
    )


def test_constant_arrays_are_numbers_too() -> None:
    def f(a: np.ndarray) -> Any:
        return lambda x: jnp.asarray(a) @ x

    one = compiler.compile(f(np.array([[1.3, 0.0], [0.0, 2.7]])), (np.ones(2),))
    other = compiler.compile(f(np.array([[5.1, 0.0], [0.0, -0.3]])), (np.ones(2),))
    assert one.code is other.code
    np.testing.assert_allclose(other(np.array([1.0, 2.0])), [5.1, -0.6], rtol=1e-15)


def test_large_constant_arrays_are_passed_whole() -> None:
    table = np.cos(np.arange(900.0)).reshape(30, 30)
    same = compiler.compile(lambda x: jnp.asarray(table)[3] * x, (1.5,))
    other = compiler.compile(lambda x: jnp.asarray(table * 2)[3] * x, (1.5,))
    assert same.code is other.code
    np.testing.assert_allclose(other(1.5), table[3] * 3.0, rtol=1e-15)


def test_branches_and_loops_inside_keep_their_numbers_apart() -> None:
    def f(step: float, shift: float) -> Any:
        return lambda x: lax.fori_loop(0, 50, lambda i, y: y + step * jnp.where(y > 0, y, shift * y), x)

    one, other = compiler.compile(f(0.013, 0.7), (X,)), compiler.compile(f(0.7, 0.013), (X,))
    assert one.code is other.code
    assert_same(other(-X), jax.jit(f(0.7, 0.013))(-X))


def pursuit(x: Any, speed: Any, steps: Any) -> Any:
    y = lax.fori_loop(0, steps, lambda i, y: y + 0.01 * speed * jnp.cos(y), x)
    return y, y.sum()


def test_batches_agree_with_single_calls_bit_for_bit() -> None:
    xs = np.random.default_rng(3).normal(size=(103, 3))
    compiled = compiler.compile(pursuit, (xs[0], 1.7, 9))
    many = compiled.batch(xs, 1.7, 9, axes=(0, None, None))
    single = [compiled(x, 1.7, 9) for x in xs]
    np.testing.assert_array_equal(many[0], np.stack([s[0] for s in single]))
    np.testing.assert_array_equal(many[1], np.stack([s[1] for s in single]))


def test_batches_over_every_argument() -> None:
    xs, speeds, steps = np.random.default_rng(4).normal(size=(7, 3)), np.linspace(1, 2, 7), np.arange(7)
    compiled = compiler.compile(pursuit, (xs[0], 1.7, 9))
    assert_same(compiled.batch(xs, speeds, steps), jax.vmap(pursuit)(xs, speeds, steps))


def test_batched_arguments_of_different_lengths_are_refused() -> None:
    compiled = compiler.compile(pursuit, (np.ones(3), 1.7, 9))
    with pytest.raises(ValueError, match=r"one common length.*\[2, 5\]"):
        compiled.batch(np.ones((5, 3)), np.ones(2), 9, axes=(0, 0, None))


def test_wrong_shapes_are_refused() -> None:
    compiled = compiler.compile(pursuit, (np.ones(3), 1.7, 9))
    with pytest.raises(ValueError, match=r"Argument array 0 has shape \(4,\), but the code was compiled for \(3,\)"):
        compiled(np.ones(4), 1.7, 9)
    with pytest.raises(ValueError, match="structure"):
        compiled(np.ones(3), (1.7, 2.0), 9)


def test_arguments_need_not_be_contiguous() -> None:
    compiled = compiler.compile(lambda a: a * 2, (np.ones((3, 2)),))
    a = np.arange(12.0).reshape(2, 6)[:, ::2].T
    np.testing.assert_array_equal(compiled(a), a * 2)


def test_threads_may_call_at_once() -> None:
    """Scratch memory belongs to a call, so calls do not disturb each other."""

    def f(x: Any) -> Any:
        return lax.fori_loop(0, 2000, lambda i, b: b.at[i % 700].add(x * i), jnp.zeros(700))

    compiled = compiler.compile(f, (1.0,))
    results: dict[int, Any] = {}
    threads = [threading.Thread(target=lambda k=k: results.update({k: compiled(float(k))})) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        np.testing.assert_array_equal(results[k], compiled(float(k)))


def test_an_unsupported_primitive_is_named_with_what_to_do() -> None:
    with pytest.raises(compiler.Unsupported, match=r"'eigh' has no native form.*engine=\"xla\""):
        compiler.compile(jnp.linalg.eigvalsh, (np.eye(3),))
    with pytest.raises(compiler.Unsupported, match=r"complex128.*pairs of real"):
        compiler.compile(lambda x: jnp.exp(1j * x), (1.0,))


def test_what_is_too_large_is_refused_with_what_to_do() -> None:
    limits = compiler.Limits(nodes=100)
    with pytest.raises(compiler.Unsupported, match=r"more than 100 scalar operations.*XLA engine"):
        compiler.compile(lambda x: jnp.sin(jnp.outer(x, x)), (np.ones(30),), limits=limits)


# ── on disk ───────────────────────────────────────────────────────────────────────────────────────
IR = """
define void @kernel(ptr %t, ptr %s) {
  ret void
}
define void @many(ptr %t, ptr %s, i64 %a, i64 %b, ptr %c) {
  ret void
}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def count_assemblies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    real = machine.assemble
    monkeypatch.setattr(machine, "assemble", lambda ir: (calls.append(ir), real(ir))[1])
    return calls


def test_code_is_kept_and_found_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_assemblies(monkeypatch)
    machine.load(IR)
    machine.load(IR)
    assert len(calls) == 1
    assert [p.suffix for p in place.iterdir()] == [".o"]


def test_code_for_another_processor_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_assemblies(monkeypatch)
    machine.load(IR)
    monkeypatch.setattr(machine, "identity", lambda: "another machine")
    machine.load(IR)
    assert len(calls) == 2


@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b"x" * 99]
)
def test_damaged_entries_are_made_again(place: Path, monkeypatch: pytest.MonkeyPatch, damage: Any) -> None:
    calls = count_assemblies(monkeypatch)
    machine.load(IR)
    (entry,) = place.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    machine.load(IR)
    assert len(calls) == 2
    machine.load(IR)
    assert len(calls) == 2


def test_an_entry_that_is_no_object_is_made_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_assemblies(monkeypatch)
    cache.write(cache.key(IR, machine.identity()), b"whole, but no object file")
    machine.load(IR)
    assert len(calls) == 1


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
def test_the_folder_is_its_owners_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_assemblies(monkeypatch)
    machine.load(IR)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    place.chmod(0o777)
    machine.load(IR)
    assert len(calls) == 2, "code that others could have written must not be run"


def test_a_folder_that_cannot_be_made_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "file" / "kept"))
    machine.load(IR)


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", "off")
    calls = count_assemblies(monkeypatch)
    machine.load(IR)
    machine.load(IR)
    assert len(calls) == 2
    assert cache.directory() is None


def test_other_numbers_make_the_same_ir(place: Path) -> None:
    """So that a run with other numbers in another process finds the code on disk."""
    from holonomy.trace.form import Form
    from holonomy.trace.jaxpr import traced
    from holonomy.trace.lowering.limits import Limits
    from holonomy.trace.native.module import module

    texts = set()
    for k in (2.3, 4.7):
        jaxpr, _ = traced(oscillator(k, 0.71), (X, V))
        texts.add(module(compiler.lower(jaxpr, Form(jaxpr), Limits()), 4)[0])
    assert len(texts) == 1
