"""Systems and runs in another process, and as copies: the same motion, bit for bit."""

import copy
import multiprocessing
import operator
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import catalogue
from holonomy.trace import function
from holonomy.trace.function import trace

CHILD = """
import pickle, sys
import holonomy as hl
with open(sys.argv[1], "rb") as file:
    given = pickle.load(file)
moved = {}
for name, (data, arguments, options) in given.items():
    system = pickle.loads(data)
    run = hl.simulate(system, *arguments, **options)
    moved[name] = (run.t, run.q, run.v, run.energy, run.events.t, str(run.certificate))
with open(sys.argv[2], "wb") as file:
    pickle.dump(moved, file)
"""


def ball() -> hl.System:
    return hl.System.from_positions(
        lambda t, q: q[None], [1.0], potential=lambda t, q: 9.81 * q[1], coordinates={"x": "length", "y": "length"}
    )


def rod(t: Any, q: Any) -> Any:
    return jnp.array([q @ q - 1.0])


def floor(t: Any, q: Any) -> Any:
    return jnp.array([q[1]])


def looped(t: Any, q: Any, v: Any, p: Any) -> Any:
    """A Lagrangian with a loop, a branch and gathered entries."""
    depth = jax.lax.fori_loop(0, 3, lambda k, s: s + p.k[k] * q[0] ** 2, 0.0)
    return 0.5 * v @ v - jax.lax.cond(q[0] > 0, lambda s: s, lambda s: 2.0 * s, depth)


def systems() -> dict[str, tuple[hl.System, tuple, dict]]:
    """Name, system, arguments and options of `simulate`."""
    found: dict[str, tuple[hl.System, tuple, dict]] = {
        model.name: (model.build(), (model.q, model.v, 20 * model.dt), {"dt": model.dt}) for model in catalogue()
    }
    thrown = ([0.0, 1.0], [1.0, 0.0], 1.0)
    found["rod"] = (ball().constrained(holonomic=rod), ([1.0, 0.0], [0.0, 0.5], 0.2), {"dt": 0.01})
    found["wall"] = (ball().constrained(unilateral=floor, restitution=0.8), thrown, {"dt": 0.02})
    found["friction"] = (ball().constrained(unilateral=floor, restitution=0.5, friction=0.3), thrown, {"dt": 0.02})
    found["event"] = (ball(), thrown, {"dt": 0.02, "events": [hl.Event(lambda t, q, v: q[1] - 0.3)]})
    found["damped"] = (ball().forced(lambda t, q, v: -0.3 * v), thrown, {"dt": 0.02, "method": hl.RK4()})
    found["two"] = (
        hl.combine(ball(), hl.Pendulum([1.0], [1.0])),
        ([0.0, 1.0, 0.5], [1.0, 0.0, 0.0], 0.2),
        {"dt": 0.02},
    )
    loops = hl.System.from_lagrangian(looped, coordinates=("x",), parameters={"k": np.array([1.0, 2.0, 0.5])})
    found["loops"] = (loops, ([1.0], [0.0], 1.0), {"dt": 0.02})
    sphere = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - 9.81 * q[2], space=hl.Sphere(2))
    found["sphere"] = (sphere, ([0.6, 0.0, -0.8], [0.0, 1.5, 0.0], 0.2), {"dt": 0.02})
    linkage = hl.Linkage(4, 2.5)
    x = np.array([0.6, 0.0, 0.8])
    for route in ("sphere", "rods"):
        q, v = linkage.state(route, x, np.array([0.0, 1.0, 0.0]))
        found[f"linkage {route}"] = (linkage.system(route), (q, v, 0.1), {"dt": 0.02})
    return found


SYSTEMS = systems()


@cache
def moved_here(name: str) -> hl.Run:
    system, arguments, options = SYSTEMS[name]
    return hl.simulate(system, *arguments, **options)


def same_in_another_process(picklers: Sequence[Any], names: Sequence[str], tmp_path: Path) -> None:
    given = {
        (pickler.__name__, name): (pickler.dumps(SYSTEMS[name][0]), *SYSTEMS[name][1:])
        for pickler in picklers
        for name in names
    }
    (tmp_path / "given").write_bytes(cloudpickle.dumps(given))
    command = [sys.executable, "-c", CHILD, tmp_path / "given", tmp_path / "moved"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    moved = pickle.loads((tmp_path / "moved").read_bytes())
    assert moved.keys() == given.keys()
    for (pickler, name), there in moved.items():
        run = moved_here(name)
        for mine, other in zip((run.t, run.q, run.v, run.energy, run.events.t), there[:5], strict=True):
            np.testing.assert_array_equal(mine, other, err_msg=f"{name} by {pickler}")
        assert there[5] == str(run.certificate), f"{name} by {pickler}"


def test_systems_move_the_same_in_another_process(tmp_path: Path) -> None:
    same_in_another_process((pickle, cloudpickle), ("double_pendulum", "wall", "event", "loops"), tmp_path)


@pytest.mark.proof
def test_every_system_moves_the_same_in_another_process(tmp_path: Path) -> None:
    same_in_another_process((pickle,), list(SYSTEMS), tmp_path)


class Carried:
    """Anything, by cloudpickle where a pool pickles it: joblib and Dask do the same."""

    def __init__(self, value: Any):
        self._value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return cloudpickle.loads, (cloudpickle.dumps(self._value),)


@pytest.mark.proof
def test_workers_of_a_pool_simulate_the_same() -> None:
    """Processes that are started anew; systems go there, with events that are lambdas, and runs come back."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {}
        for name in ("double_pendulum", "wall", "event"):
            system, arguments, options = SYSTEMS[name]
            job: Any = Carried(partial(hl.simulate, system, *arguments, **options))  # what it carries, in the worker
            waiting[name] = pool.submit(operator.call, job)
        for name, future in waiting.items():
            run, mine = future.result(120), moved_here(name)
            for here, there in zip(jax.tree.leaves(mine), jax.tree.leaves(run), strict=True):
                np.testing.assert_array_equal(here, there, err_msg=name)
            assert str(run.certificate) == str(mine.certificate)


def test_a_pickle_of_another_minor_release_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    system = SYSTEMS["double_pendulum"][0]
    major, minor, *_ = hl.__version__.split(".")

    def made_by(version: str) -> bytes:
        with monkeypatch.context() as other:
            other.setattr(function, "__version__", version)
            return pickle.dumps(system)

    assert jax.tree.structure(pickle.loads(made_by(f"{major}.{minor}.77"))) == jax.tree.structure(system)
    for version in (f"{major}.{int(minor) + 1}.0", f"{int(major) + 1}.{minor}.0"):
        with pytest.raises(pickle.UnpicklingError, match=f"pickled by Holonomy {version}, and here is"):
            pickle.loads(made_by(version))


def test_copies_move_the_same() -> None:
    """deepcopy and pickle in this process; a copy needs no compilation, for its programs are the same objects."""
    for name in ("double_pendulum", "wall", "loops"):
        (system, arguments, options), run = SYSTEMS[name], moved_here(name)
        for other in (copy.deepcopy(system), copy.copy(system), pickle.loads(pickle.dumps(system))):
            assert jax.tree.structure(other) == jax.tree.structure(system)
            np.testing.assert_array_equal(hl.simulate(other, *arguments, **options).q, run.q)


@pytest.mark.parametrize("carry", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_runs_and_linkages_travel(carry: Any) -> None:
    for name in ("double_pendulum", "wall", "event"):
        run = moved_here(name)
        other = carry(run)
        for mine, its in zip(jax.tree.leaves(run), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(mine, its)
        assert str(other.certificate) == str(run.certificate)
        assert other.provenance == run.provenance
        middle = 0.37 * float(run.t[-1])
        np.testing.assert_array_equal(other(middle)[0], run(middle)[0])
    linkage = hl.Linkage(5, 3.5, rod_mass=0.2)
    again = carry(linkage)
    assert jax.tree.structure(again) == jax.tree.structure(linkage)
    x = np.array([0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(again.hinges(x), linkage.hinges(x))


def test_gradients_of_a_system_that_travelled() -> None:
    def last(gravity: Any, system: hl.System) -> Any:
        return hl.simulate(system.with_parameters(g=gravity), [1.0, 0.5], [0.0, 0.3], 0.1, dt=0.01, method=hl.RK4()).q[
            -1, 0
        ]

    system = SYSTEMS["double_pendulum"][0]
    slope = jax.jit(jax.grad(last))
    assert slope(9.81, pickle.loads(pickle.dumps(system))) == slope(9.81, system) != 0


# ── Functions with derivatives of their own ───────────────────────────────────────────────────────────


@jax.custom_jvp
def root(x: Any) -> Any:
    return jnp.sqrt(x)


@root.defjvp
def _root(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return root(x), jnp.where(x > 0, 0.5 / jnp.where(x > 0, root(x), 1.0), 0.0) * dx


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def scaled(factor: float, x: Any) -> Any:
    return x * x


@scaled.defjvp
def _scaled(factor: float, primals: Any, tangents: Any) -> Any:
    return primals[0] ** 2, factor * primals[0] * tangents[0]


def carried(function: Any) -> Any:
    return pickle.loads(pickle.dumps(trace(function, (jnp.zeros(()),))))


def test_derivatives_of_their_own_travel() -> None:
    """The root's own rule is finite at zero, where that of the square root is not; it leads back to itself."""
    other = carried(root)
    first, second, third = jax.grad(other), jax.grad(jax.grad(other)), jax.grad(jax.grad(jax.grad(other)))
    assert other(4.0) == 2.0
    assert first(0.0) == 0.0
    assert (first(4.0), second(4.0)) == (jax.grad(root)(4.0), jax.grad(jax.grad(root))(4.0))
    assert third(4.0) == jax.grad(jax.grad(jax.grad(root)))(4.0)


def test_functions_that_differ_in_their_derivative_alone_stay_apart() -> None:
    other = carried(lambda x: scaled(2.0, x) + scaled(7.0, x))
    assert jax.grad(other)(3.0) == 27.0
    assert jax.grad(jax.jit(other))(3.0) == 27.0


def test_what_cannot_travel_says_so() -> None:
    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return x

    clipped.defvjp(lambda x: (x, None), lambda kept, dx: (jnp.clip(dx, -1, 1),))
    with pytest.raises(pickle.PicklingError, match="holds the JAX primitive custom_vjp_call"):
        pickle.dumps(trace(clipped, (jnp.zeros(()),)))
