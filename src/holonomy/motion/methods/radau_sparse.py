r"""The equations of a Radau step of many coordinates, whose matrix is factored along its band.

The equations are those of `radau_equations`, with the exact derivatives of each stage. Where conditions need the
acceleration a at the end of the step it is an unknown too, with

\[ M a + \partial_t p + \frac{\partial p}{\partial q} W_s = \partial_q L + Q + N^\top\Lambda_s, \qquad
   N a + \dot r|_{a = 0} = 0, \]

so that the inverse of the mass matrix, which may have no zeros, does not enter. The entries are read off products with
a few vectors of zeros and ones for each stage, and go to their places in the band (`systems.step_structure`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.motion.methods.radau_equations import Equations, Unknowns
from holonomy.systems import block_band, lagrangian
from holonomy.systems.block_band import BandFactors
from holonomy.systems.constraints import sparse
from holonomy.systems.step_structure import StepStructure


class _Slopes(NamedTuple):
    """Derivatives by position and by velocity, of forces, momenta and rates: their products with the seeds."""

    force: tuple[Array, Array]
    momentum: tuple[Array, Array]
    rates: tuple[Array, Array]


class SparseEquations:
    """The equations of one step. Unknowns: stage velocities, h times the stages' multipliers and the acceleration."""

    def __init__(self, whole: Equations, how: StepStructure):
        self.whole, self.how = whole, how
        self.s, self.n, self.r, self.h, self.a = whole.s, whole.n, whole.r, whole.h, whole.a
        self.m = 0 if whole.held is None else whole.held.counts[0]
        self.more = int(self.m > 0 and whole.at == "end" and self.s == 3)
        self.band = how.band(self.s, self.more)
        self.seeds = (how.colours == np.arange(int(how.colours.max()) + 1)[:, None]).astype(float)

    def split(self, z: Unknowns) -> tuple[Float[Array, "s n"], Float[Array, "s k"] | None]:
        """Stage velocities and multipliers, None where there are none."""
        return self.whole.split(z[: self.s * (self.n + self.r)])

    def join(self, velocities: Float[Array, "s n"], reactions: Float[Array, "s k"] | None) -> Unknowns:
        """The vector of unknowns, with the slope of the last stages' velocities as acceleration."""
        z = self.whole.join(velocities, reactions)
        if not self.more:
            return z
        lasts = self.whole.times[-1] - self.whole.times[-2]
        return jnp.concatenate([z, self.h * (velocities[-1] - velocities[-2]) / lasts])

    def positions(self, velocities: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Where the stages are."""
        return self.whole.positions(velocities)

    def _forces(self, t: Any, y: Any, w: Any, reaction: Any) -> tuple[Any, Any]:
        """Forces with those of the constraints, and the momentum."""
        local, held = self.whole.local, self.whole.held
        pull, momentum = jax.grad(local.lagrangian, argnums=(1, 2))(t, y, w)
        if local.applied is not None:
            pull = pull + local.applied(t, y, w)
        if held is not None:
            pull = pull + sparse.normals(held, t, y).pull(reaction)
        return pull, momentum

    def _rates(self, t: Any, y: Any, w: Any) -> Any:
        return jnp.zeros(0, y.dtype) if self.whole.held is None else self.whole.held.rates(t, y, w)

    def _motion(self, y: Any, w: Any, reaction: Any, acceleration: Any) -> tuple[Any, Any]:
        """At the end, of an acceleration: what the equations of motion miss, and the rates' own rates."""
        t, along = self.whole.times[-1], (jnp.ones_like(self.whole.times[-1]), w, acceleration)
        drift = jax.jvp(lambda *at: lagrangian.momentum(self.whole.local.lagrangian, *at), (t, y, w), along)[1]
        return drift - self._forces(t, y, w, reaction)[0], jax.jvp(self._rates, (t, y, w), along)[1]

    def residual(self, z: Unknowns) -> Unknowns:
        """Balance of momenta at the stages, the conditions, and the equations of motion at the end."""
        whole, (velocities, reactions) = self.whole, self.split(z)
        positions = self.positions(velocities)
        force, momentum = jax.vmap(self._forces)(whole.times, positions, velocities, reactions)
        parts = [(momentum - (whole.p[None] + self.h * (self.a @ force))).ravel()]
        missing = second = None
        if self.more and reactions is not None:
            missing, second = self._motion(positions[-1], velocities[-1], reactions[-1], self._acceleration(z))
            missing = self.h * missing
        if whole.held is not None:
            parts += whole.conditions(whole.held, positions, velocities, reactions, lambda *_: second)
        return jnp.concatenate(parts if missing is None else [*parts, missing])

    def _acceleration(self, z: Unknowns) -> Any:
        return z[self.s * (self.n + self.r) :] / self.h

    def direction(self, guess: Unknowns) -> Callable[[Unknowns], Unknowns]:
        """Corrections by the matrix with exact derivatives at the guess."""
        factors = block_band.factor(self._matrix(guess))
        return lambda residual: self._solved(factors, residual)

    def direction_at(self, z: Unknowns, residual: Unknowns) -> Unknowns:
        """The correction of Newton's method with the exact matrix at an iterate."""
        return self._solved(block_band.factor(self._matrix(z)), residual)

    def _solved(self, factors: BandFactors, residual: Unknowns) -> Unknowns:
        s, n, m, r = self.s, self.n, self.m, self.r
        (coordinates, conditions), (count, b, _) = self.band.unknowns, self.band.shape
        # conditions on positions come before those on velocities, stage by stage
        balance, of_positions, of_rates, motion = jnp.split(residual, np.cumsum([s * n, s * m, s * (r - m)]))
        right = jnp.zeros(count * b, residual.dtype)
        right = right.at[coordinates].set(jnp.concatenate([balance, motion]).reshape(-1, n))
        rows = jnp.concatenate([of_positions.reshape(s, m), of_rates.reshape(s, r - m)], axis=1)
        found = block_band.solve(factors, right.at[conditions].set(rows))
        velocities, acceleration = jnp.split(found[coordinates].ravel(), [s * n])
        return jnp.concatenate([velocities, found[conditions].ravel(), acceleration])

    def _matrix(self, z: Unknowns) -> block_band.Rows:
        """The matrix of Newton's method, in blocks along its band."""
        band, (velocities, reactions) = self.band, self.split(z)
        positions = self.positions(velocities)

        def at_stage(t: Any, y: Any, w: Any, reaction: Any) -> _Slopes:
            return _Slopes(*self._slopes(lambda x, u: (*self._forces(t, x, u, reaction), self._rates(t, x, u)), y, w))

        slopes = jax.vmap(at_stage)(self.whole.times, positions, velocities, reactions)
        ends = None
        if self.more and reactions is not None:
            last, acceleration = reactions[-1], self._acceleration(z)
            ends = self._slopes(lambda x, u: self._motion(x, u, last, acceleration), positions[-1], velocities[-1])
        values = [self._between_coordinates(slopes, ends)]
        if self.r:
            values += [self._pulls(slopes), self._rows(slopes, ends)]
        values = jnp.concatenate([x.ravel() for x in values] + [jnp.ones(band.filled.size, z.dtype)])
        given = (band.coupled, band.pulls, band.rows) if self.r else (band.coupled,)
        places = np.concatenate([x.ravel() for x in (*given, band.filled)])
        empty = jnp.zeros(int(np.prod(band.shape)), z.dtype)
        return empty.at[places].set(values, unique_indices=True, mode="promise_in_bounds").reshape(band.shape)

    def _slopes(self, function: Any, y: Any, w: Any) -> list[tuple[Array, Array]]:
        """Of each value of a function of position and velocity the derivatives by both along the seeds."""
        seeds = jnp.asarray(self.seeds, y.dtype)
        by_position = jax.vmap(jax.linearize(lambda x: function(x, w), y)[1])(seeds)
        by_velocity = jax.vmap(jax.linearize(lambda u: function(y, u), w)[1])(seeds)
        return list(zip(by_position, by_velocity, strict=True))

    def _at(self, products: Array, pairs: np.ndarray) -> Array:
        """The entries of these rows and columns, from products with the seeds, (..., colours, rows)."""
        row, column = pairs.T
        flat = products.reshape(*products.shape[:-2], -1)
        return flat[..., self.how.colours[column] * products.shape[-1] + row]

    def _between_coordinates(self, slopes: _Slopes, ends: Any) -> Array:
        """Entries of the balance of momenta and of the equations of motion by velocities and by the acceleration."""
        pairs, a, h = self.how.coupled.value, self.a, self.h
        (f_q, f_w), (p_q, p_w) = ([self._at(x, pairs) for x in two] for two in (slopes.force, slopes.momentum))
        unit = jnp.eye(self.s, dtype=a.dtype)
        block = unit[:, :, None] * p_w[:, None] + h * a[:, :, None] * (p_q[:, None] - f_w[None])
        block = block - h * h * jnp.einsum("ijk,jp->ikp", a[:, :, None] * a[None], f_q)
        if ends is None:
            return block
        g_q, g_w = (self._at(x, pairs) for x in ends[0])
        motion = h * (h * jnp.outer(a[-1], g_q) + jnp.outer(unit[-1], g_w))
        right = jnp.concatenate([jnp.zeros_like(p_w), p_w[-1:]])
        return jnp.concatenate([jnp.concatenate([block, motion[None]]), right[:, None]], axis=1)

    def _pulls(self, slopes: _Slopes) -> Array:
        """Entries of the same by h times the multipliers."""
        normals = self._at(slopes.rates[1], self.how.normals.value)
        found = -self.a[:, :, None] * normals[None]
        motion = jnp.zeros_like(found[:1]).at[0, -1].set(-normals[-1])
        return jnp.concatenate([found, motion]) if self.more else found

    def _rows(self, slopes: _Slopes, ends: Any) -> Array:
        """Entries of the conditions by velocities and by the acceleration, slot by slot."""
        pairs, a, h = self.how.normals.value, self.a, self.h
        bend, normals = (self._at(x, pairs) for x in slopes.rates)
        unit = jnp.eye(self.s, dtype=a.dtype)
        of_rates = unit[:, :, None] * normals[:, None] + h * a[:, :, None] * bend[:, None]
        if self.whole.at == "stages":
            of_positions = a[:, :, None] * normals[:, None]
        else:
            at_end = jnp.outer(a[-1], normals[-1])
            parts = [at_end, of_rates[-1]]
            if ends is not None:
                b_q, b_w = (self._at(x, pairs) for x in ends[1])
                parts.append(h * (h * jnp.outer(a[-1], b_q) + jnp.outer(unit[-1], b_w)))
            # without conditions on positions three stages have no third row, and none is needed
            parts += [jnp.zeros_like(at_end)] * (self.s - len(parts))
            of_positions = jnp.stack(parts)
        on_positions = pairs[:, 0] < self.m
        found = jnp.where(on_positions[None, None], of_positions, of_rates)
        if not self.more:
            return found
        right = jnp.zeros_like(found[:, :1])
        return jnp.concatenate([found, right.at[-1, 0].set(jnp.where(on_positions, normals[-1], 0.0))], axis=1)
