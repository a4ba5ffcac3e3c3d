r"""Variational steps in a chart whose base point is renewed at every step.

A step from \(q_0\) works in the chart \(c(x, y)\) with base point \(x = q_0\). Its discrete action

\[ A(x, W) = h\sum_i b_i\,L\bigl(c(x, Y_i),\ \partial_y c(x, Y_i)\,W_i\bigr), \qquad Y_i = h\sum_j a_{ij}W_j, \]

depends on \(q_0\) through the base point as well. With \(y_1 = h\sum_j b_jW_j\), \(q_1 = c(q_0, y_1)\), \(\pi\) the new
momentum read in the chart at \(y_1\), and \(D\) the derivative of the coordinates of a fixed label \(y_1\) by the base
point, stationarity of the sum of actions says

\[ \partial A/\partial W_j = h\,b_j\,\pi, \qquad p_0 = D^\top\pi - \partial A/\partial x. \]

The second equation is what a plain step in the chart lacks: it sets \(p_0 = \pi - h\sum_i b_i\,\partial_y L_i\), which
is symplectic in each chart, but the modified energy changes with the chart, so that the energy drifts. Here the
discrete Lagrangian is one smooth function on \(Q\times Q\). The step is exactly symplectic, and where the chart
commutes with an isometry of the system, its momentum is conserved exactly. The step is not its own
adjoint, because its chart belongs to one end: it is not reversible. Forces enter by their virtual work on the same
variations. References: Marsden and West, *Discrete mechanics and variational integrators*, 2001; Leok and Shingel,
*General techniques for constructing variational integrators*, 2012.

Where points are their own coordinates, \(c(x, y) = x + y\), all of this reduces to the method in those coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods import stage_slopes
from holonomy.motion.methods.phase_state import Phase
from holonomy.motion.methods.stage_slopes import Slopes
from holonomy.spaces import SE2, SE3, AbstractSpace, Carried, Power, Product, compensated
from holonomy.systems import System, lagrangian
from holonomy.systems.dense_solve import back_substitute, eliminate, factor
from holonomy.systems.in_chart import Local
from holonomy.types import AnyArray, Number, Time, Vector


def slopes(local: Local, t: Number, y: Vector, w: Vector) -> Slopes:
    """The derivatives of the Lagrangian at coordinates y and velocity w, with the forces there."""
    system, force = local.system, local.force
    if system.flat:
        dq, dv = jax.grad(local.lagrangian, argnums=(1, 2))(t, y, w)
        dq = dq if force is None else dq + force(t, y, w)
        return Slopes(dq, dv, dq)
    return stage_slopes.added([part(t, y, w) for part in stage_slopes.parts(local)])


def plain_momentum(local: Local, p: Vector, y: Vector, by_position: Vector, by_base: Vector) -> Vector:
    r"""The momentum from which the method in the chart at the base point has to start to end in \(\pi\).

    `by_position` and `by_base` are \(h\sum_i b_i\) times the slopes; y is the end of the step.
    """
    if local.system.flat:
        return p
    return local.system.space.solve_shift(local.anchor, y, p + by_base) - by_position


def component_sizes(space: AbstractSpace, values: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    """The size to which each component of vectors or covectors in a chart is rounded, given their absolute values.

    Coordinates have units of their own, and so have the places and the turns of a rigid motion. The components of one
    vector on a curved space are rounded as the largest of them is, because frames turn from point to point: those
    that should be zero are not.
    """

    def cut(lengths: list[int]) -> list[Array]:
        return jnp.split(values, list(accumulate(lengths))[:-1], axis=-1)

    match space:
        case Product():
            parts = zip(space.factors, cut([factor.dim for factor in space.factors]), strict=True)
            return jnp.concatenate([component_sizes(*each) for each in parts], axis=-1)
        case Power():
            rows = values.reshape(*values.shape[:-1], space.count, -1)
            return component_sizes(space.space, rows).reshape(values.shape)
        case Carried():
            return component_sizes(space.space, values)
        case SE2() | SE3():
            half = 2 if isinstance(space, SE2) else 3
            return jnp.concatenate([_largest(part) for part in cut([half, space.dim - half])], axis=-1)
        case _:
            return values if space.flat_chart else _largest(values)


def _largest(values: Array) -> Array:
    return jnp.broadcast_to(jnp.max(values, axis=-1, keepdims=True), values.shape)


def correction(
    local: Local, t: Number, y: Vector, w: Vector, p: Vector, h: Number, b: Float[AnyArray, " stages"]
) -> Callable[[Array], Array]:
    r"""What turns residuals of the stages into corrections of their velocities, with matrices that stay the same.

    The mass matrix is that of the state (t, y, w).

    \(\partial L_j/\partial v\) changes by \(M\,\delta W_j\), and the momentum at the start by
    \(P\sum_j b_j\,\delta W_j\) through the end of the step, with P taken at the base point, where it vanishes
    on symmetric spaces.
    """
    if local.system.flat:
        held = lagrangian.factored_mass(local.lagrangian, t, y, w, local.definite, local.solves(t, y))
        return jax.vmap(lambda row: back_substitute(held, row))
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    held = factor(mass, local.definite)
    shift = h * jax.jacfwd(lambda y: local.system.space.solve_shift(local.anchor, y, p))(local.origin)
    mean, _ = eliminate(mass - shift)

    def correct(rows: Any) -> Any:
        common = shift @ back_substitute(mean, b @ rows)
        return jax.vmap(lambda row: back_substitute(held, row + common))(rows)

    return correct


def renew(system: System, state: Phase, y: Vector, push: Vector, rows: tuple[Array, Array], h: Time) -> Phase:
    """The state at coordinates y of the chart of `state`, after `push` was added to its momentum, in the chart there.

    `rows` are the positions and velocities of past stages, oldest first, from which the next step's are guessed.
    """
    space, anchor = system.space, state.base
    assert state.compensated is not None

    def carried(position: Any, velocity: Any) -> Any:
        return jax.jvp(lambda z: space.transition(anchor, y, z), (position,), (velocity,))[1]

    new = compensated.moved(space, state.compensated, y, push)
    # momenta turn as velocities do, since what `recentred` does to coordinates is a rotation
    turning = jnp.concatenate([compensated.momentum(space, new)[None], jax.vmap(carried)(*rows)])
    turned, none = space.recentred_local(new.x, turning), jnp.zeros_like(y)
    if isinstance(space, Carried):
        new = compensated.begin(space, space.recentred(new.x, jnp.zeros_like(new.x))[0], turned[0])
    return Phase(new.x, none, turned[0], none, none, turned[1:], jnp.asarray(h), state.h, new)


def renew_on_group(system: System, state: Phase, y: Vector, push: Vector, rows: Array, h: Time) -> Phase:
    """As `renew`, where the rows are body velocities of this step's stages: charts of a group are left translations."""
    assert state.compensated is not None
    new, none = compensated.moved(system.space, state.compensated, y, push), jnp.zeros_like(y)
    kept = jnp.concatenate([state.stages[len(rows) :], rows])
    p = compensated.momentum(system.space, new)
    return Phase(new.x, none, p, none, none, kept, jnp.asarray(h), state.h, new)


def past(
    state: Phase, a: Float[AnyArray, "s s"], b: Float[AnyArray, " s"], w: Float[Array, "s n"], h: Time
) -> tuple[Array, Array]:
    """Positions and velocities of the stages of the last step and of this one, in this step's chart, oldest first."""
    earlier = state.stages[len(w) :]
    positions = state.h * (a @ earlier - (b @ earlier)[None]), h * (a @ w)
    return jnp.concatenate(positions), jnp.concatenate([earlier, w])
