"""Whatever goes wrong between a function and its machine code, the run goes on in XLA and says so."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.studio.compile.program import Program, compile_program
from holonomy.trace import jaxpr
from holonomy.trace.compile_cache import CompileCache
from holonomy.trace.graph.dag import Graph
from holonomy.trace.lowering import primitives
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native import compiler, engine, machine, object_file


def fresh() -> hl.System:
    """A system whose form no other test has compiled."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 + jnp.cos(q[0]) + jnp.sinh(jnp.tanh(q[0])) ** 6, coordinates={"theta": "angle"}
    )


def crash(*_: Any, **__: Any) -> Any:
    raise KeyError("num_consts")


def refuse(*_: Any, **__: Any) -> Any:
    raise RuntimeError("LLVM ERROR: Cannot select: intrinsic\nmore lines that nobody reads")


def overflow(*_: Any, **__: Any) -> Any:
    raise RecursionError("maximum recursion depth exceeded")


def without_rule(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(primitives.RULES, "tanh")


def crashing_rule(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(primitives.RULES, "tanh", crash)


def unknown_parameter(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jaxpr._Reader, "equation", crash)


def crash_in_form(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(compiler, "Form", overflow)


def crash_in_simplification(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Graph, "input", crash)


def crash_in_writing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(compiler, "module", crash)


def llvm_refuses(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machine, "assemble", refuse)


def no_link(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machine, "link", refuse)


def no_llvm(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(sys.modules, "holonomy.trace.native.compiler", None)
    patch.delattr(sys.modules["holonomy.trace.native"], "compiler")


STAGES: list[tuple[Callable[[pytest.MonkeyPatch], None], str]] = [
    (without_rule, "'tanh' has no native form"),
    (crashing_rule, "lowering to scalar operations failed with KeyError"),
    (unknown_parameter, "reading the traced function failed with KeyError"),
    (crash_in_form, "reading the traced function failed with RecursionError"),
    (crash_in_simplification, "lowering to scalar operations failed with KeyError"),
    (crash_in_writing, "writing LLVM code failed with KeyError"),
    (llvm_refuses, "compiling with LLVM failed with RuntimeError: LLVM ERROR: Cannot select: intrinsic"),
    (no_link, "compiling with LLVM failed with RuntimeError"),
    (no_llvm, "loading LLVM failed"),
]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A context in which one stage fails, with no compiled code at hand."""

    @contextlib.contextmanager
    def stage(breaks: Callable[[pytest.MonkeyPatch], None]) -> Any:
        with monkeypatch.context() as patch:
            patch.setenv("HOLONOMY_CACHE", "off")
            patch.setattr(compiler, "_codes", CompileCache())
            patch.setattr(engine, "_machines", CompileCache(remembered=Unsupported))
            breaks(patch)
            yield

    return stage


@pytest.mark.parametrize("breaks, reason", STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_stage_that_fails_means_xla_and_a_short_line(breaks: Any, reason: str, broken: Any) -> None:
    with broken(breaks):
        run = hl.simulate(fresh(), [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4())
    assert run.result.ok
    assert run.certificate.engine.startswith("xla on cpu (no native code: ")
    assert reason in run.certificate.engine
    assert "\n" not in run.certificate.engine
    assert len(run.certificate.engine) < 160
    assert reason in run.certificate.why_not_native
    whole = hl.simulate(fresh(), [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4(), engine="native")
    assert whole.certificate.why_not_native == ""
    np.testing.assert_allclose(run.q, whole.q, rtol=0, atol=1e-14)


@pytest.mark.parametrize("breaks, reason", STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_native_code_asked_for_gives_the_reason(breaks: Any, reason: str, broken: Any) -> None:
    with broken(breaks), pytest.raises(ValueError, match="engine='native' cannot run this system") as caught:
        hl.simulate(fresh(), [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4(), engine="native")
    assert reason in str(caught.value)
    assert "engine='xla'" in str(caught.value)


def test_a_mistake_in_the_users_function_is_the_users_error() -> None:
    with pytest.raises(ValueError, match="lagrangian could not be evaluated"):
        hl.System.from_lagrangian(lambda t, q, v: jnp.sin("q"), coordinates=("x",))  # pyright: ignore[reportArgumentType]


def test_equations_and_taylor_say_why(broken: Any) -> None:
    system = fresh()
    with broken(crashing_rule):
        with pytest.raises(ValueError, match="no readable form: taking the function apart failed with KeyError"):
            system.equations()
        with pytest.raises(ValueError, match="Taylor cannot run this system: taking the function apart failed"):
            hl.simulate(system, [1.0], [0.0], 0.1, method=hl.Taylor())


def test_a_linkage_is_computed_by_xla_too(broken: Any) -> None:
    from holonomy.models.linkages import compiled

    link = hl.Linkage(rods=4, base=3.1)
    x = np.array([0.48, 0.6, 0.64])
    expected = link.total_bending(x)
    with pytest.MonkeyPatch.context() as patch, broken(llvm_refuses):
        patch.setattr(compiled, "_kept", {})
        np.testing.assert_allclose(link.total_bending(x), expected, rtol=1e-12)


def test_a_lab_without_native_code_moves_in_xla(broken: Any) -> None:
    """The studio's kernel of a structure that cannot be lowered gives the same motion."""
    from holonomy.studio.compile.kernel import Kernel

    def pendulum(p: Any) -> hl.System:
        return hl.System.from_lagrangian(
            lambda t, q, v, p: 0.5 * v[0] ** 2 + p["g"] * jnp.cos(q[0]), coordinates=("x",), parameters={"g": p[0]}
        )

    def observe(system: Any, t: Any, q: Any, v: Any) -> Any:
        return system.energy(t, q, v)[None], jnp.stack([jnp.sin(q[0]), jnp.cos(q[0])])[None], jnp.zeros(0)

    program = Program(pendulum, 1, 1, hl.RK4(), observe)
    with broken(llvm_refuses):
        made = compile_program(program)
    assert {p.identity for p in made.object_files.values()} == {object_file.XLA}
    assert made.engine.startswith("xla")
    slow, fast = Kernel(made), Kernel(compile_program(program))
    assert fast.engine.startswith("native")
    ends = [k.advance(k.start(np.array([9.81]), 0.0, 0.01, np.array([1.0]), np.array([0.0])), 50) for k in (slow, fast)]
    np.testing.assert_allclose(ends[0].seen, ends[1].seen, rtol=0, atol=1e-13)
