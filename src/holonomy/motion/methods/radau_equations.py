"""The equations of one step of Radau IIA with constraints, and the matrix by which they are solved."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.systems import lagrangian
from holonomy.systems.constraints.conditions import Held
from holonomy.systems.dense_solve import back_substitute, factor
from holonomy.systems.in_chart import Local
from holonomy.trace.repeat import each, jacobian
from holonomy.types import Time, Tree, Vector

# Stage velocities, then h times the multipliers of the stages.
Unknowns: TypeAlias = Float[Array, " unknowns"]
Row: TypeAlias = Float[Array, " _"]
Stages: TypeAlias = Float[Array, "s n"]


class Equations:
    """The equations of one step. Unknowns: stage velocities, and h times the multipliers of the stages."""

    def __init__(self, stages: int, at: str, local: Local, held: Held | None, t: Time, h: Time, y: Vector, p: Vector):
        self.s, self.at, self.local, self.held, self.h, self.y, self.p = stages, at, local, held, h, y, p
        self.n = p.size
        self.r = 0 if held is None else held.count
        self.a, c = (jnp.asarray(x, p.dtype) for x in tableau(stages))
        self.times = t + c * h

    def split(self, z: Unknowns) -> tuple[Float[Array, "s n"], Float[Array, "s k"] | None]:
        """Stage velocities and multipliers, None where there are none."""
        cut = self.s * self.n
        reactions = z[cut:].reshape(self.s, self.r) / self.h if self.r else None
        return z[:cut].reshape(self.s, self.n), reactions

    def join(self, velocities: Float[Array, "s n"], reactions: Float[Array, "s k"] | None) -> Unknowns:
        """The vector of unknowns."""
        flat = velocities.ravel()
        return flat if reactions is None else jnp.concatenate([flat, (self.h * reactions).ravel()])

    def positions(self, velocities: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Where the stages are."""
        return self.y[None] + self.h * (self.a @ velocities)

    def _forces(self, t: Any, y: Any, w: Any, reaction: Any) -> tuple[Any, Any]:
        """Forces with those of the constraints, and the momentum."""
        pull, momentum = jax.grad(self.local.lagrangian, argnums=(1, 2))(t, y, w)
        if self.local.applied is not None:
            pull = pull + self.local.applied(t, y, w)
        if self.held is not None:
            pull = pull + reaction @ self.held.normals(t, y)
        return pull, momentum

    def residual(self, z: Unknowns) -> Unknowns:
        """Balance of momenta at the stages, then the conditions, over h where they are of positions."""
        velocities, reactions = self.split(z)
        positions = self.positions(velocities)
        force, momentum = each(self._forces, self.times, positions, velocities, reactions)
        balance = momentum - (self.p[None] + self.h * (self.a @ force))
        if self.held is None:
            return balance.ravel()
        second = partial(self._second, self.held)
        return jnp.concatenate([balance.ravel(), *self.conditions(self.held, positions, velocities, reactions, second)])

    def conditions(
        self, held: Held, positions: Stages, velocities: Stages, reactions: Tree, second: Callable[..., Tree]
    ) -> list[Row]:
        """The conditions, s of each; `second` gives the rates' own rates at the end, of its state and multipliers."""
        m, end = held.counts[0], self.times[-1]
        y, w = positions[-1], velocities[-1]
        inner = list(range(self.s))
        rows = []
        if m and self.at == "stages":
            rows += [held.position(self.times[i], positions[i]) / self.h for i in inner]
        if m and self.at == "end":
            rows += [held.position(end, y) / self.h, held.rates(end, y, w)[:m]]
            if self.s == 3:
                rows.append(self.h * second(end, y, w, reactions[-1])[:m])
        if held.counts[1]:
            rows += list(each(lambda *at: held.rates(*at)[m:], self.times, positions, velocities))
        if held.idle is None:
            return rows
        # s conditions of each wall that is not in contact: its multipliers are zero
        idle, free = self.h * held.idle, list(range(self.s))
        still = [idle[:m] * reactions[i, :m] for i in free] if m else []
        still += [idle[m:] * reactions[i, m:] for i in free] if held.counts[1] else []
        return [row + zero for row, zero in zip(rows, still, strict=True)]

    def _second(self, held: Held, t: Any, y: Any, w: Any, reaction: Any) -> Any:
        """The rates' own rates, with the acceleration that these multipliers give."""
        force = lagrangian.inertial_force(self.local.lagrangian, t, y, w) + reaction @ held.normals(t, y)
        if self.local.applied is not None:
            force = force + self.local.applied(t, y, w)
        mass = factor(lagrangian.mass_matrix(self.local.lagrangian, t, y, w), self.local.definite)
        return held.normals(t, y) @ back_substitute(mass, force) + held.bias(t, y, w)

    def direction(self, guess: Unknowns) -> Callable[[Unknowns], Unknowns]:
        """Corrections by the matrix with exact derivatives at the guessed end of the step, the same for all stages."""
        velocities, reactions = self.split(guess)
        t, y, w, reaction = (
            self.times[-1],
            self.positions(velocities)[-1],
            velocities[-1],
            None if reactions is None else reactions[-1],
        )
        by_q = jacobian(lambda x: self._forces(t, x, w, reaction), y)
        by_w = jacobian(lambda u: self._forces(t, y, u, reaction), w)
        mass, h, a = by_w[1], self.h, self.a
        matrix = _blocks(jnp.eye(self.s, dtype=y.dtype), mass)
        matrix = matrix + h * _blocks(a, by_q[1] - by_w[0]) - h * h * _blocks(a @ a, by_q[0])
        if self.held is not None:
            normals = self.held.normals(t, y)
            rows = self._slopes(self.held, t, y, w, mass, normals)
            top = jnp.concatenate([matrix, -_blocks(a, normals.T)], axis=1)
            matrix = jnp.concatenate([top, rows])
        factored = factor(matrix, definite=False)
        return lambda r: back_substitute(factored, r)

    def _slopes(self, held: Held, t: Any, y: Any, w: Any, mass: Any, normals: Any) -> Any:
        """Derivatives of the conditions, in the order of `conditions`."""
        m, k = held.counts
        a, h, unit = self.a, self.h, jnp.eye(self.s, dtype=y.dtype)
        bend = jacobian(lambda x: held.rates(t, x, w), y)
        last = slice(self.s - 1, self.s)

        def on_velocities(block: Any) -> Any:
            return jnp.concatenate([block, jnp.zeros((block.shape[0], self.s * self.r), y.dtype)], axis=1)

        def second(rows: Any) -> Any:
            across = _blocks(unit[last], rows @ self._across(mass, normals))
            return jnp.concatenate([jnp.zeros((rows.shape[0], self.s * self.n), y.dtype), across], axis=1)

        parts = []
        if m and self.at == "stages":
            parts.append(on_velocities(_blocks(a, normals[:m])))
        if m and self.at == "end":
            parts.append(on_velocities(_blocks(a[last], normals[:m])))
            parts.append(on_velocities(_blocks(unit[last], normals[:m]) + h * _blocks(a[last], bend[:m])))
            if self.s == 3:
                parts.append(second(normals[:m]))
        if k:
            parts.append(on_velocities(_blocks(unit, normals[m:]) + h * _blocks(a, bend[m:])))
        slopes = jnp.concatenate(parts)
        if held.idle is None:
            return slopes
        zeros = jnp.diag(held.idle)
        on = [_blocks(unit, zeros[rows]) for rows in (slice(0, m), slice(m, m + k))]
        return slopes.at[:, self.s * self.n :].add(jnp.concatenate(on))

    def _across(self, mass: Any, normals: Any) -> Any:
        factored = factor(mass, self.local.definite)
        return jax.vmap(lambda row: back_substitute(factored, row))(normals).T


def _blocks(outer: Any, inner: Any) -> Any:
    """Kronecker's product of matrices."""
    (a, b), (c, d) = outer.shape, inner.shape
    return (outer[:, None, :, None] * inner[None, :, None, :]).reshape(a * c, b * d)


@cache
def tableau(stages: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients a and c of Radau IIA."""
    if stages == 2:
        return np.array([[5 / 12, -1 / 12], [3 / 4, 1 / 4]]), np.array([1 / 3, 1.0])
    r = np.sqrt(6.0)
    a = [
        [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
        [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
        [(16 - r) / 36, (16 + r) / 36, 1 / 9],
    ]
    return np.array(a), np.array([(4 - r) / 10, (4 + r) / 10, 1.0])
