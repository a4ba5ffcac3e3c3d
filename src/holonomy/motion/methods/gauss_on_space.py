r"""Gauss's step on a space whose points are not their own coordinates: variational, in a chart renewed at every step.

The equations are those of `moving_chart`. Their unknowns are few, so that the matrix of Newton's method at the guessed
stage velocities is formed and factored once for a step (`stage_newton`); each iteration with it gains as many digits as
the guess has and more. Systems of many unknowns iterate with a frozen mass matrix instead.

A Lagrangian \(\ell(\xi) - V(g)\) on a group has its stages in the algebra: past body velocities \(\xi\), which no
change of chart turns, are carried on into the step, and make the first guess of velocities of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.motion.methods import gauss_coefficients, moving_chart, stage_newton, variational_step
from holonomy.motion.methods.base import Status
from holonomy.motion.methods.phase_state import Phase
from holonomy.spaces import AbstractSpace, Sphere, left_translation
from holonomy.systems import System, left_invariant
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code
from holonomy.trace.repeat import each, rows_one_by_one
from holonomy.types import Number, Time, Vector

_FEW = 9  # unknowns up to which Newton's matrix of a step is formed


class _Sums(NamedTuple):
    """Integrals over a step by Gauss's coefficients, which are sums of two parts: one number would round them."""

    h: Number
    a: tuple[Any, ...]
    b: tuple[Any, ...]

    def until_stages(self, rows: Array) -> Array:
        return jnp.multiply(self.h, sum((part @ rows for part in self.a[1:]), self.a[0] @ rows))

    def until_end(self, rows: Array) -> Array:
        return jnp.multiply(self.h, sum((part @ rows for part in self.b[1:]), self.b[0] @ rows))


class _Equations(NamedTuple):
    """What stage velocities lead to: slopes, the momentum that the chart's method starts from, and the push."""

    position: Array
    velocity: Array
    start: Array
    push: Array

    def residual(self, sums: _Sums) -> Array:
        return self.velocity - (self.start[None] + sums.until_stages(self.position))


def step(
    system: System, t: Time, h: Time, state: Phase, guess: Float[Array, "s n"], stages: int, iteration: str
) -> tuple[Phase, Status]:
    """The state after one step from `guess`, stage velocities (of the body, where the Lagrangian is reduced)."""
    a, b, c = (np.asarray(x, state.y.dtype) for x in gauss_coefficients.tableau(stages))
    split = (tuple(np.asarray(x, state.y.dtype) for x in pair) for pair in gauss_coefficients.split(stages))
    local, space = system.local(state.base), system.space
    whole, rounded = _Sums(h, *split), _Sums(h, (a,), (b,))
    reduced = left_invariant.find(system) is not None
    first = _of_coordinates(space, rounded, guess) if reduced else guess
    times = jnp.asarray(t + c * h, state.y.dtype)

    def equations(w: Array, sums: _Sums) -> _Equations:
        slopes = each(lambda *at: moving_chart.slopes(local, *at), times, sums.until_stages(w), w)
        push = sums.until_end(slopes.base)
        start = moving_chart.plain_momentum(local, state.p, sums.until_end(w), sums.until_end(slopes.position), push)
        return _Equations(slopes.position, slopes.velocity, start, push)

    def sizes(values: Array) -> Array:
        return moving_chart.component_sizes(space, values)

    # Sizes that the iteration does not change are found once, outside it; |pull| is at most |dv| + |p| at its end.
    before = sizes(jnp.abs(state.p)[None])
    speeds = sizes(jnp.max(jnp.abs(first), axis=0)[None])

    def balance(w: Array) -> variational_step.Balance:
        at = equations(w, rounded)
        momenta = sizes(jnp.max(jnp.abs(at.velocity), axis=0, keepdims=True)) + before
        return variational_step.Balance(at.residual(rounded), momenta, speeds)

    correct = _correction(local, state.p, times, rounded, first, lambda: equations(first, rounded).push)
    w, (found, count) = variational_step.solve(balance, correct, first, iteration, peeled=rows_one_by_one())
    at = equations(w, whole)
    # What the stages still lack, of the coefficients' second parts as well, would act on momenta as a torque, to the
    # same side in every step.
    w = w - jax.lax.stop_gradient(correct(at.residual(whole)))
    end = whole.until_end(w)
    if reduced:
        rows = jax.vmap(lambda y, v: left_translation.body_rate(space, y, v))(rounded.until_stages(w), w)
        new = moving_chart.renew_on_group(system, state, end, at.push, rows, h)
    else:
        past = moving_chart.past(state, a, b, w, h)
        new = moving_chart.renew(system, state, end, at.push, past, h)
    code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
    return new, Status(code, count)


def _of_coordinates(space: AbstractSpace, sums: _Sums, xi: Array) -> Array:
    """Velocities of coordinates whose body velocities at the stages are nearly these."""
    w = xi
    for _ in range(min(len(xi), 2)):
        w = jax.vmap(lambda y, v: left_translation.chart_rate(space, y, v))(sums.until_stages(w), xi)
    return w


def _correction(
    local: Local, p: Vector, times: Array, sums: _Sums, guess: Array, push: Callable[[], Vector]
) -> Callable[[Array], Array]:
    """What turns residuals of the stages into corrections of their velocities, the same throughout the step."""
    (a,), (b,), h = sums.a, sums.b, sums.h
    middle = b @ guess
    place = times[0] + float(0.5 - gauss_coefficients.tableau(len(b))[2][0]) * h, 0.5 * h * middle, middle
    space = local.system.space
    # On spheres the frozen mass matrix leaves errors of second order in h; from three dimensions on that is cheaper.
    # XLA takes long to compile an elimination that is written out, and the frozen matrix leads to the same root.
    if not rows_one_by_one() or guess.size > _FEW or (isinstance(space, Sphere) and space.dim > 2):
        return moving_chart.correction(local, *place, p, h, b)
    return stage_newton.correction(local, times, p + push(), h, (a, b), guess, place)
