"""The guard against singular positions for steps that diffrax takes."""

# diffrax declares as class variables what its own wrapped solvers define as properties and fields
# pyright: reportIncompatibleVariableOverride=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import diffrax
import jax
import jax.numpy as jnp

from holonomy.systems import System
from holonomy.systems.constraints.project import independence_between
from holonomy.types import Number, Time, Tree

_SHORTEST = 1e-6  # a step of this part of dt that still meets a singular position has found it
_REFUSED = 1e6  # an error of this many times the state, which every step-size control refuses


class RankGuard(diffrax.AbstractAdaptiveSolver[Tree], diffrax.AbstractWrappedSolver[Tree]):
    """A diffrax solver on (q, v) whose steps are refused where the constraints of a system lose rank.

    A refused step is tried again with a shorter one. Once steps are a small part of `dt` the solve ends with the
    result `dt_min_reached`, which no step-size control without a shortest step gives. `least` is the squared angle
    between normals that counts as none. What diffrax hands on is as its own solvers type it.
    """

    solver: diffrax.AbstractAdaptiveSolver[Tree]
    system: System
    least: Number
    dt: Number

    @property
    def term_structure(self) -> Tree:
        return self.solver.term_structure

    @property
    def interpolation_cls(self) -> Tree:
        return self.solver.interpolation_cls

    @property
    def term_compatible_contr_kwargs(self) -> Tree:
        return self.solver.term_compatible_contr_kwargs

    def order(self, terms: Tree) -> Tree:
        return self.solver.order(terms)

    def strong_order(self, terms: Tree) -> Tree:
        return self.solver.strong_order(terms)

    def error_order(self, terms: Tree) -> Tree:
        return self.solver.error_order(terms)

    def init(self, terms: Tree, t0: Time, t1: Time, y0: Tree, args: Tree) -> Tree:
        return self.solver.init(terms, t0, t1, y0, args)

    def func(self, terms: Tree, t0: Time, y0: Tree, args: Tree) -> Tree:
        return self.solver.func(terms, t0, y0, args)

    def step(
        self, terms: Tree, t0: Time, t1: Time, y0: Tree, args: Tree, solver_state: Tree, made_jump: Tree
    ) -> tuple[Tree, Tree, Tree, Tree, Tree]:
        y1, error, dense, state, result = self.solver.step(terms, t0, t1, y0, args, solver_state, made_jump)
        begin, end = jax.lax.stop_gradient(((t0, *y0), (t1, *y1)))
        between, angle = independence_between(self.system, begin, end)
        kept = between & (angle > self.least)
        stuck = ~kept & (jnp.abs(t1 - t0) <= _SHORTEST * jnp.abs(self.dt))
        # diffrax looks at the result of accepted steps only, so the last one counts as exact
        refused = jax.tree.map(lambda y: jnp.where(stuck, 0.0, _REFUSED * (1.0 + jnp.abs(y))), y0)
        error = jax.tree.map(lambda e, r: jnp.where(kept, e, r), error, refused)
        return y1, error, dense, state, diffrax.RESULTS.where(stuck, diffrax.RESULTS.dt_min_reached, result)
