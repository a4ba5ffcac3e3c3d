"""Compiled functions on disk: found by what they are made from, with the same results, and never for something else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.trace import identity
from holonomy.trace.function import trace
from holonomy.trace.jaxpr import traced
from holonomy.trace.native import cache, compiler, engine, kept


class Own(hl.RK4):
    """A method of the user's own, whose steps no description of its class tells."""


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A folder of its own for code, and a function that drops what is in memory and tells how much was traced."""
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "code"))
    _forget()
    plain, seen = traced, []

    def counted(*args: Any) -> Any:
        seen.append(args)
        return plain(*args)

    monkeypatch.setattr(compiler, "traced", counted)

    def so_far() -> int:
        _forget()
        count = len(seen)
        seen.clear()
        return count

    return so_far


def _forget() -> None:
    engine.forget()
    compiler.forget()


def _run(length: float = 1.3, power: int = 2, method: Any = None) -> hl.Run:
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * length**2 * v[0] ** power * v[0] ** (2 - power) + 9.81 * length * jnp.cos(q[0]),
        coordinates={"theta": "angle"},
    )
    return hl.simulate(system, [1.0], [0.2], 0.1, dt=0.01, method=method or hl.Gauss(2), engine="native")


def test_a_new_process_traces_nothing_and_computes_the_same(traces: Callable[[], int]) -> None:
    first = _run()
    assert traces() == 3  # the checks of the start, the first state, the steps
    again = _run()
    assert traces() == 0
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.energy, again.energy)
    assert again.certificate.engine == first.certificate.engine


def test_other_numbers_use_the_same_code_and_other_formulas_do_not(traces: Callable[[], int]) -> None:
    _run()
    traces()
    other = _run(length=0.7)
    assert traces() == 0
    independent = hl.simulate(
        hl.System.from_lagrangian(
            lambda t, q, v: 0.5 * 0.7**2 * v[0] ** 2 + 9.81 * 0.7 * jnp.cos(q[0]), coordinates={"theta": "angle"}
        ),
        [1.0],
        [0.2],
        0.1,
        dt=0.01,
        method=hl.Gauss(2),
        engine="xla",
    )
    np.testing.assert_allclose(other.q, independent.q, rtol=1e-12)
    traces()
    _run(power=3)
    assert traces() == 3
    _run(method=hl.Gauss(3))
    assert traces() == 2  # the checks of the start are those of Gauss(2)


def test_what_is_not_of_this_package_is_traced_each_time(traces: Callable[[], int]) -> None:
    _run(method=Own())
    assert traces() == 3
    _run(method=Own())
    assert traces() == 2


@pytest.mark.parametrize("damage", ["object", "class", "text"])
def test_an_entry_that_cannot_be_used_is_made_again(traces: Callable[[], int], damage: str) -> None:
    _run()
    traces()
    for entry in cache.entries():
        name = entry.name.removesuffix(".o")
        code = cache.read(name)
        assert code is not None
        told = kept.read(name) if code[8:9] == b"{" else None
        if told is None:
            if damage == "object":
                cache.forget(name)
        elif damage == "text":
            cache.write(name, code[:20])
        elif damage == "class":
            cache.write(name, code.replace(b"holonomy.", b"holonomi."))
    first = _run()
    assert traces() == (2 if damage == "class" else 3)  # the first look at the start has no class among its results
    assert np.array_equal(_run().q, first.q)
    assert traces() == 0


def test_nothing_is_kept_under_the_name_of_a_text_that_came_later(
    traces: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is edited or upgraded while a process runs: its older code must not be found by the new text."""
    monkeypatch.setattr(identity, "LOADED", 0.0)
    _run()
    assert traces() == 3
    _run()
    assert traces() == 3


def test_words_tell_apart_what_differs() -> None:
    """Numbers that Python holds for equal, the order of parts, the parts of nested structures."""
    x = jax.ShapeDtypeStruct((2,), float)
    made = [
        trace(lambda a: a * 2.0, (x,)),
        trace(lambda a: a * 3.0, (x,)),
        trace(lambda a: a * -0.0, (x,)),
        trace(lambda a: a * 0.0, (x,)),
        trace(lambda a: jnp.sum(a), (x,)),
    ]
    values = [
        0,
        0.0,
        -0.0,
        False,
        None,
        "0",
        (0,),
        ((0,),),
        [0],
        (0, 0),
        ("ab", "c"),
        ("a", "bc"),
        {"a": 0},
        b"0",
        (),
        ((),),
    ]
    values += [np.float64(0), np.float32(0), np.zeros(1), np.zeros((1, 1)), np.dtype(float), float, jnp.sin.__name__]
    values += [
        jax.tree.structure(one) for one in [*made, (1, 2), [1, 2], (1, (2,)), (1, None, 2), {"b": 0}, hl.Gauss(1)]
    ]
    words = [identity.described(value) for value in values]
    assert len(set(words)) == len(words)
    same = trace(lambda b: b * 2.0, (x,))
    assert identity.described(same.program) == identity.described(made[0].program)


@pytest.mark.parametrize("what", [lambda x: x, Own, object(), {1}, jax.jit(jnp.sin)])
def test_there_are_no_words_for_what_another_process_may_not_have(what: object) -> None:
    with pytest.raises(identity.NoName):
        identity.described(what)


def test_a_rule_of_differentiation_has_no_words() -> None:
    @jax.custom_jvp
    def function(x: Any) -> Any:
        return x**2

    function.defjvp(lambda primals, tangents: (primals[0] ** 2, 3.0 * tangents[0]))
    made = trace(lambda x: function(x), (jax.ShapeDtypeStruct((), float),))
    with pytest.raises(identity.NoName):
        identity.described(jax.tree.structure(made))


def test_entries_name_no_classes_but_tuples_with_names_of_this_package() -> None:
    for where in ("os:system", "holonomy.systems.system:System", "builtins:eval", "holonomy:nothing"):
        text = json.dumps(
            {"object": "x", "scratch": 0, "inputs": [], "outputs": [], "hidden": [], "results": [where, 0]}
        )
        data = len(text).to_bytes(8, "little") + text.encode()
        cache.write("forged", data)
        assert kept.read("forged") is None
