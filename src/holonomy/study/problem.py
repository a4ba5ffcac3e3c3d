"""What the studies share: a checked start, a step, and a method that can be traced."""

from __future__ import annotations

from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.problem import Problem
from holonomy.motion.problem import problem as checked
from holonomy.motion.simulate import simulate
from holonomy.systems import System
from holonomy.types import VectorLike

_SHARE = 0.02  # of the whole time, over which the step is chosen when none is given
_STEPS = 32  # at least so many steps over the whole time


def stepping(
    system: System,
    q0: VectorLike,
    v0: VectorLike,
    t_end: float,
    dt: float | None,
    method: AbstractMethod | str | None,
    t0: float,
) -> tuple[Problem, float]:
    """The problem and its step; without one, that which step halving finds good over the beginning of the motion."""
    problem = checked(system, q0, v0, t_end, dt, method, None, t0, 1)
    if problem.is_traced:
        raise ValueError("Studies run on the host: they cannot be traced by jit, vmap or grad.")
    if dt is not None:
        return problem, float(dt)
    ahead = t0 + _SHARE * (problem.t_end - t0)
    first = simulate(system, q0, v0, ahead, method=method, t0=t0)
    return problem, min(first.dt, abs(problem.t_end - t0) / _STEPS)


def steps_of(problem: Problem) -> AbstractMethod:
    """The method, if it has a step that can be differentiated."""
    method = problem.method
    if method.engine(problem.system, None) is not None:
        raise ValueError(
            f"{method.label} has no single step that can be differentiated; pass method=hl.Gauss(3) or hl.RK4()."
        )
    return method
