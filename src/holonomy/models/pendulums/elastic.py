r"""Pendulums on springs, and the change between springs and rods.

As the stiffness k grows, a start without stretch and stretch rate moves like the rigid pendulum: positions differ by
O(1/k), velocities by O(k^{-1/2}), tensions oscillate about those of the rods. With the static stretch of the rods'
tensions, which is what `to_elastic` gives, nothing is left to oscillate at first order. A start with spring energy
keeps it: the energy of a spring mode over its frequency is an adiabatic invariant J, and where the frequencies depend
on the configuration the limit is the rigid pendulum with the further potential \(\sum J_i\omega_i(q)\), not the rigid
motion (Rubin and Ungar, Communications on Pure and Applied Mathematics 10 (1957) 65).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from holonomy.models.pendulums import pendulum
from holonomy.models.pendulums.links import chosen, per_link, positive
from holonomy.systems import System
from holonomy.types import ArrayFunction, Number, Numbers, Point, VectorLike


def ElasticPendulum(
    lengths: Numbers,
    masses: Numbers,
    stiffness: Numbers,
    gravity: Number = 9.81,
    damping: Numbers = 0.0,
    *,
    spring_damping: Numbers = 0.0,
    pivot: ArrayFunction | None = None,
    dimension: int = 2,
    parameters: Mapping[str, Numbers] | None = None,
) -> System:
    r"""Bobs on springs hung one from another: a `System` in the bobs' Cartesian coordinates \(x_1, y_1, x_2, \dots\)

    \[L = \sum_i \tfrac12 m_i|\dot x_i|^2 - g m_i y_i - \tfrac12 k_i(|x_i - x_{i-1}| - l_i)^2,\]

    \(x_0\) the pivot, y up. Springs push as well as pull, and stay straight. Cartesian coordinates have no poles; the
    force of a spring of no length has no direction, and nothing passes there.

    **Arguments:** as for `Pendulum`; `stiffness` \(k_i\) for all or for each; `damping`, friction of the air on the
    bobs; `spring_damping`, the force \(-c_i\,d|x_i-x_{i-1}|/dt\) along each spring; with ``dimension=3`` each bob
    has a z, up, as well.

    `to_elastic` and `to_rigid` of `holonomy.models` carry states between a rigid and an elastic pendulum.
    """
    links = per_link(
        lengths=lengths, masses=masses, stiffness=stiffness, damping=damping, spring_damping=spring_damping
    )
    for name in ("lengths", "masses", "stiffness"):
        positive(name, links[name])
    pendulum.refuse_dimension(dimension)
    numbers = chosen(parameters, {**links, "gravity": gravity})
    place = pendulum.pivot_at(pivot, dimension, parameters is not None)

    def spans(t: Any, q: Any, p: Any) -> Any:
        bobs = q.reshape(-1, dimension)
        steps = bobs - jnp.concatenate([place(t, p), bobs[:-1]])
        return jnp.sqrt(jnp.sum(steps * steps, axis=1))

    def potential(t: Any, q: Any, p: Any) -> Any:
        heights = q.reshape(-1, dimension)[:, -1]
        stretch = spans(t, q, p) - p.lengths
        return jnp.sum(p.gravity * p.masses * heights + 0.5 * p.stiffness * stretch * stretch)

    system = System.from_positions(
        lambda t, q, p: q.reshape(-1, dimension),
        lambda p: p.masses,
        potential=potential,
        coordinates={f"{axis}{i + 1}": "length" for i in range(len(links["lengths"])) for axis in "xyz"[:dimension]},
        parameters=numbers,
    )
    forces = _frictions(links, spans, dimension)
    for force in forces:
        system = system.forced(force)

    def newton(t: Any, q: Any, v: Any, p: Any) -> Any:
        total = sum((force(t, q, v, p) for force in forces), start=-jax.grad(potential, argnums=1)(t, q, p))
        return total / jnp.repeat(p.masses, dimension)

    return system.with_acceleration(newton)


def _frictions(links: Mapping[str, Any], spans: Callable[..., Any], dimension: int) -> list[Callable[..., Any]]:
    """Air drag and damping of the springs, where there is some; `spans` are the springs' lengths."""
    forces: list[Callable[..., Any]] = []
    if "damping" in links:
        forces.append(lambda t, q, v, p: -jnp.repeat(p.damping, dimension) * v)
    if "spring_damping" in links:

        def dashpots(t: Any, q: Any, v: Any, p: Any) -> Any:
            rate = jax.jvp(lambda s, y: spans(s, y, p), (t, q), (jnp.ones_like(t), v))[1]
            return jax.vjp(lambda y: spans(t, y, p), q)[1](-p.spring_damping * rate)[0]

        forces.append(dashpots)
    return forces


def to_elastic(rigid: System, elastic: System, t: Number, q: VectorLike, v: VectorLike) -> tuple[Point, Point]:
    r"""The state of an elastic pendulum that goes on like a rigid one: same directions and turning rates.

    Each spring is stretched by \(T_i/k_i\), the static stretch of the rod's tension, and at the rate \(\dot T_i/k_i\),
    so that stretch and stretch rate are O(1/k).
    """
    rigid, t, q, v = pendulum.checked(rigid, t, q, v)
    _alike(rigid, elastic)
    return _to_elastic(rigid, elastic.parameters["stiffness"], t, q, v)


def to_rigid(
    rigid: System, elastic: System, t: Number, q: VectorLike, v: VectorLike, near: VectorLike | None = None
) -> tuple[Point, Point]:
    r"""The state of a rigid pendulum with the directions and turning rates of an elastic one.

    Stretch and stretch rate are dropped, and with them the springs' energy. Angles lie within half a turn of `near`,
    or of hanging down.
    """
    _alike(rigid, elastic)
    shape = (elastic.space.point_dim,)
    q, v = jnp.asarray(q, float), jnp.asarray(v, float)
    if q.shape != shape or v.shape != shape:
        raise ValueError(
            f"q and v must have shape {shape}, as {', '.join(elastic.names)}; got {q.shape} and {v.shape}."
        )
    about = jnp.zeros(rigid.space.point_dim) if near is None else jnp.asarray(near, float)
    return _to_rigid(rigid, jnp.asarray(t, float), q, v, about)


@eqx.filter_jit
def _to_elastic(rigid: System, stiffness: Any, t: Any, q: Any, v: Any) -> Any:
    def stretched(s: Any, y: Any, w: Any) -> Any:
        longer = rigid.parameters["lengths"] + pendulum.raw_tensions(rigid, s, y, w) / stiffness
        hung: Any = rigid.positions
        return hung(s, y, rigid.parameters.replace({"lengths": longer})).ravel()

    a = pendulum.raw_accelerations(rigid, t, q, v)
    return jax.jvp(stretched, (t, q, v), (jnp.ones_like(t), v, a))


@eqx.filter_jit
def _to_rigid(rigid: System, t: Any, q: Any, v: Any, near: Any) -> Any:
    count = rigid.parameters["lengths"].shape[0]
    hung: Any = rigid.positions
    short = rigid.parameters.replace({"lengths": jnp.zeros(count)})

    def pointing(s: Any, y: Any) -> Any:
        bobs = y.reshape(count, -1)
        pivot = hung(s, jnp.zeros(rigid.space.point_dim), short)[:1]
        steps = bobs - jnp.concatenate([pivot, bobs[:-1]])
        if steps.shape[1] == 3:
            return (steps / jnp.sqrt(jnp.sum(steps * steps, axis=1))[:, None]).ravel()
        angles = jnp.arctan2(steps[:, 0], -steps[:, 1])
        return angles + 2 * jnp.pi * jnp.round((near - jax.lax.stop_gradient(angles)) / (2 * jnp.pi))

    return jax.jvp(pointing, (t, q), (jnp.ones_like(t), v))


def _alike(rigid: System, elastic: System) -> None:
    pendulum.checked(rigid, 0.0, jnp.zeros(rigid.space.point_dim), jnp.zeros(rigid.space.point_dim))
    if not (isinstance(elastic, System) and "stiffness" in elastic.parameters):
        raise ValueError("The second system must be one made by hl.ElasticPendulum.")
    links, springs = rigid.parameters["lengths"].shape[0], elastic.parameters["lengths"].shape[0]
    planar = rigid.space.point_dim == links
    if links != springs or elastic.space.point_dim != springs * (2 if planar else 3):
        raise ValueError(
            f"The two pendulums must be alike: the rigid one has {links} links in {2 if planar else 3} dimensions, the "
            f"elastic one {springs} in {elastic.space.point_dim // springs}."
        )
    if "rod_mass" in rigid.parameters:
        raise ValueError("Springs have no mass here: convert pendulums with massless rods, rod_mass=0.")
