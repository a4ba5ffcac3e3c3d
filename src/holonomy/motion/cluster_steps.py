"""Compiled steps of bodies that act on each other by collisions alone, in which every cluster of joined vertices has a
length of its own: of a splitting method for bodies of springs, of `Rattle` along geodesics for bodies with rods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion.methods.base import PositionVelocity
from holonomy.motion.methods.geodesic_state import GeodesicState
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.splitting import AbstractSplitting
from holonomy.root_finding import derivatives_of_roots
from holonomy.spaces import Carried
from holonomy.systems.bodies import World
from holonomy.systems.dense_solve import RANK
from holonomy.systems.result_code import Code
from holonomy.trace.compile_cache import CompileCache

Flat: TypeAlias = Float[np.ndarray, " coordinates"]
Moved: TypeAlias = tuple[Flat, Flat, int]


class ClusterSteps(NamedTuple):
    """What is compiled, called with arrays of the host.

    `move` takes the length of the step of every vertex, a configuration and its velocity, and gives those after the
    step and a code of `Result`. `end` writes a state near the origin; of rods it says also whether their differentials
    stayed independent from the configuration that it is given first. `allowed` gives the velocities nearest to some
    in the kinetic metric that change no size, and is None without rods.
    """

    move: Callable[[np.ndarray, Flat, Flat], Moved]
    end: Callable[[Flat, Flat, Flat], Moved]
    allowed: Callable[[Flat, Flat], Flat] | None


_steps = CompileCache()


def steps_of(world: World, method: AbstractSplitting | Rattle) -> ClusterSteps:
    """The compiled steps of a world."""
    dynamic, static = eqx.partition(world, lambda leaf: isinstance(leaf, np.ndarray | jax.Array))
    numbers, form = jax.tree.flatten(dynamic)  # a list: the objects of a world would be taken apart in every call
    leaves, tree = jax.tree.flatten(static)

    def whole(numbers: Any) -> World:
        return eqx.combine(jax.tree.unflatten(form, numbers), static)

    build = _of_springs if isinstance(method, AbstractSplitting) else _of_rods
    compiled = _steps.get((form, tree, tuple(leaves), method.label), lambda: build(whole, method))
    numbers = jax.device_put(numbers)
    if isinstance(method, AbstractSplitting):
        return _called_without_rods(world, numbers, *compiled)
    return _called_with_rods(world, numbers, *compiled)


def _of_springs(whole: Callable[[Any], World], method: Any) -> tuple[Any, Any]:
    def move(numbers: Any, times: Any, q: Any, v: Any) -> Any:
        return tuple(method.step_of_each(whole(numbers), jnp.zeros(()), times, PositionVelocity(q, v)))

    return jax.jit(move), jax.jit(lambda numbers, q, v: whole(numbers).recentred(q, v))


def _of_rods(whole: Callable[[Any], World], method: Any) -> tuple[Any, Any, Any]:
    def move(numbers: Any, times: Any, q: Any, v: Any, guess: Any) -> Any:
        with derivatives_of_roots(False):
            state, status = method.step_of_each(whole(numbers), times, GeodesicState(q, v, guess))
        return state, status.code

    def end(numbers: Any, before: Any, q: Any, v: Any) -> Any:
        world = whole(numbers)
        rigid = world.rigid
        assert rigid is not None
        good = rigid.independence(rigid.slopes(world, before), rigid.slopes(world, q)) > RANK**2
        return *world.recentred(q, v), jnp.where(good, jnp.int32(Code.ok), jnp.int32(Code.rank_change))

    def allowed(numbers: Any, q: Any, v: Any) -> Any:
        world = whole(numbers)
        rigid = world.rigid
        assert rigid is not None
        return rigid.without_rates(world, rigid.slopes(world, q), v)

    return jax.jit(move), jax.jit(end), jax.jit(allowed)


def _called_without_rods(world: World, numbers: list[Any], move: Any, recentre: Any) -> ClusterSteps:
    carried = isinstance(world.space, Carried)

    def host(found: Any) -> Moved:
        return np.asarray(found[0]), np.asarray(found[1]), int(Code.ok)

    return ClusterSteps(
        lambda times, q, v: host(move(numbers, times, q, v)),
        lambda before, q, v: host(recentre(numbers, q, v)) if carried else (q, v, int(Code.ok)),
        None,
    )


def _called_with_rods(world: World, numbers: list[Any], move: Any, end: Any, allowed: Any) -> ClusterSteps:
    assert world.rigid is not None
    guess = np.zeros(world.rigid.count)  # the multipliers of the last step, from which the next iteration begins

    def moved(times: np.ndarray, q: Flat, v: Flat) -> Moved:
        nonlocal guess
        state, code = move(numbers, times, q, v, guess)
        if int(code) == Code.ok:
            guess = np.asarray(state.multipliers)
        return np.asarray(state.q), np.asarray(state.v), int(code)

    def ended(before: Flat, q: Flat, v: Flat) -> Moved:
        x, u, code = end(numbers, before, q, v)
        return np.asarray(x), np.asarray(u), int(code)

    return ClusterSteps(moved, ended, lambda q, v: np.asarray(allowed(numbers, q, v)))
