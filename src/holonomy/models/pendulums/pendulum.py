"""Pendulums of any number of rigid links, in the plane or in space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.models.pendulums import chain
from holonomy.models.pendulums.links import chosen, per_link, positive
from holonomy.spaces import Power, Sphere
from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.types import ArrayFunction, Number, Numbers, Point, Scalar, VectorLike

PerLink = Float[Array, " links"]


def Pendulum(
    lengths: Numbers,
    masses: Numbers,
    gravity: Number = 9.81,
    damping: Numbers = 0.0,
    *,
    rod_mass: Numbers = 0.0,
    joint_damping: Numbers = 0.0,
    torque: ArrayFunction | None = None,
    pivot: ArrayFunction | None = None,
    dimension: int = 2,
    parameters: Mapping[str, Numbers] | None = None,
) -> System:
    r"""Bobs on rigid rods hung one from another: a `System` in the angles \(\theta_i\) from the downward vertical.

    \[L = \sum_i \tfrac12 m_i|\dot x_i|^2 + \tfrac16 r_i\bigl(|\dot x_{i-1}|^2 + \dot x_{i-1}\cdot\dot x_i
    + |\dot x_i|^2\bigr) - g\bigl(m_i y_i + \tfrac12 r_i(y_{i-1}+y_i)\bigr),\quad
    x_i = x_{i-1} + l_i(\sin\theta_i, -\cos\theta_i).\]

    **Arguments:** `lengths` and `masses`, a number for all links or a list with one for each, from the pivot;
    `gravity`; `damping`, viscous friction of the air on each bob, the force \(-c_i\dot x_i\); `rod_mass`, masses
    \(r_i\) of uniform rods; `joint_damping`, the torque \(-c_i(\dot\theta_i-\dot\theta_{i-1})\) in each joint;
    `torque`, a function \(\tau(t,q,v)\) of motors in the joints, one number for the pivot or one for each; `pivot`, a
    function of t, where the pivot is; `parameters`, more numbers, which `torque` and `pivot` then take as a last
    argument p.

    With ``dimension=3`` the links are unit vectors in space, z up: a point is the array of all of them and there are no
    poles; see `directions` in `holonomy.models`. Joints have no torque or friction there.

    The numbers are parameters of the system (`lengths`, `masses`, `gravity`, and where given `rod_mass`, `damping`,
    `joint_damping`): others never compile again. A friction of zero is left out, so that the system is conservative; to
    vary it from zero, make it with some and set it by ``with_parameters(damping=0.0)``.
    """
    links = per_link(lengths=lengths, masses=masses, damping=damping, rod_mass=rod_mass, joint_damping=joint_damping)
    positive("lengths", links["lengths"])
    _massive(links)
    refuse_dimension(dimension, joints=torque is not None or "joint_damping" in links)
    count = links["lengths"].shape[0]
    numbers = chosen(parameters, {**links, "gravity": gravity})
    place = pivot_at(pivot, dimension, parameters is not None)

    def nodes(t: Any, q: Any, p: Any) -> Any:
        rods = p.lengths[:, None] * directions(q, dimension)
        return place(t, p) + jnp.concatenate([jnp.zeros((1, dimension)), jnp.cumsum(rods, axis=0)])

    system = System.from_lagrangian(
        _lagrangian(nodes, "rod_mass" in links),
        coordinates={f"theta{i + 1}": "angle" for i in range(count)} if dimension == 2 else _components(count),
        space=None if dimension == 2 else Power(Sphere(2), count),
        parameters=numbers,
        positions=lambda t, q, p: nodes(t, q, p)[1:],
    )
    system = _driven(system, links, torque, parameters is not None)
    if dimension == 3:
        return system

    def fast(t: Any, q: Any, v: Any, p: Any) -> Any:
        return raw_accelerations(eqx.tree_at(lambda s: s.parameters, system, p), t, q, v)

    return system.with_acceleration(fast, solve=_turned_by)


def refuse_dimension(dimension: int, joints: bool = False) -> None:
    """Raise for a pendulum that is neither plane nor spatial, or whose `joints` do what they cannot in space."""
    if dimension not in (2, 3):
        raise ValueError(f"A pendulum hangs in the plane or in space: dimension is 2 or 3; got {dimension!r}.")
    if dimension == 3 and joints:
        raise ValueError(
            "In space the joints have neither torque nor friction here; use damping= for friction of the air, or "
            "system.forced(Q) with a covector of the links' directions."
        )


def _lagrangian(nodes: Callable[..., Any], heavy_rods: bool) -> Callable[..., Any]:
    """L of bobs, and of uniform rods where they have mass; `nodes` are the pivot and the bobs."""

    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        x, w = jax.jvp(lambda s, y: nodes(s, y, p), (t, q), (jnp.ones_like(t), v))
        total = jnp.sum(p.masses * (0.5 * jnp.sum(w[1:] ** 2, axis=1) - p.gravity * x[1:, -1]))
        if heavy_rods:
            moving = jnp.sum(w[1:] ** 2 + w[1:] * w[:-1] + w[:-1] ** 2, axis=1)
            total += jnp.sum(p.rod_mass * (moving / 6.0 - 0.5 * p.gravity * (x[1:, -1] + x[:-1, -1])))
        return total

    return lagrangian


def directions(q: Point, dimension: int = 2) -> Float[Array, "links d"]:
    """The rods' unit vectors, from the pivot outward: of angles in the plane, of a point in space."""
    if dimension == 3:
        return q.reshape(-1, 3)
    return jnp.stack([jnp.sin(q), -jnp.cos(q)], axis=1)


def accelerations(system: System, t: Number, q: VectorLike, v: VectorLike) -> Point:
    """`system.acceleration` of a `Pendulum`, in time proportional to its links; see `pendulums.chain`."""
    return _accelerations(*checked(system, t, q, v))


def tensions(system: System, t: Number, q: VectorLike, v: VectorLike) -> PerLink:
    """The tensions of the massless rods of a `Pendulum`; negative under compression.

    Friction and gravity count as forces on the bobs; forces added by `system.forced` as couples on the rods.
    """
    if "rod_mass" in system.parameters:
        raise ValueError("The tension varies along a rod with mass; tensions() is for massless rods, rod_mass=0.")
    return _tensions(*checked(system, t, q, v))


def checked(system: System, t: Number, q: VectorLike, v: VectorLike) -> tuple[System, Scalar, Point, Point]:
    """A pendulum and a state of it as arrays; `ValueError` for other systems and shapes."""
    known = isinstance(system, System) and {"lengths", "masses", "gravity"} <= set(system.parameters)
    if not known or system.constraints or "stiffness" in system.parameters:
        raise ValueError("This is for systems made by hl.Pendulum, without further constraints.")
    shape = (system.space.point_dim,)
    q, v = jnp.asarray(q, float), jnp.asarray(v, float)
    if q.shape != shape or v.shape != shape:
        raise ValueError(f"q and v must have shape {shape}, as {', '.join(system.names)}; got {q.shape} and {v.shape}.")
    return system, jnp.asarray(t, float), q, v


class _State(eqx.Module):
    """A chain in the terms of `holonomy.models.pendulums.chain`; no `forces` on the bobs and no `couples` on the rods
    where none act."""

    e: Any
    rates: Any
    forces: Any
    gravity: Any
    couples: Any
    pivot: Any


def _state(system: System, t: Any, q: Any, v: Any) -> _State:
    p, count = system.parameters, system.parameters["lengths"].shape[0]
    dimension = 2 if q.shape[0] == count else 3
    e, rates = jax.jvp(lambda y: directions(y, dimension), (q,), (v,))
    hung: Any = system.positions
    # with rods of no length all bobs are at the pivot
    short = p.replace({"lengths": jnp.zeros(count)})

    def drift(s: Any) -> Any:
        return jax.jvp(lambda r: hung(r, q, short)[0], (s,), (jnp.ones_like(s),))[1]

    pivot = jax.jvp(drift, (t,), (jnp.ones_like(t),))[1]
    forces, couples, others = None, None, system.forces
    if "damping" in p:
        w = jax.jvp(lambda s, y: hung(s, y, p), (t, q), (jnp.ones_like(t), v))[1]
        forces, others = -p["damping"][:, None] * w, others[1:]
    if others:
        covector: Any = sum(force(t, q, v, p) for force in others)
        across = covector.reshape(-1, 3) if dimension == 3 else _turning(q) * covector[:, None]
        couples = across - jnp.sum(across * e, axis=1)[:, None] * e
    down = jnp.zeros(dimension).at[-1].set(-p["gravity"])
    return _State(e, rates, forces, down, couples, pivot)


def _turning(q: Any) -> Any:
    """How the rods' directions change with their angles in the plane."""
    return jnp.stack([jnp.cos(q), jnp.sin(q)], axis=1)


class _Pulled(eqx.Module):
    """A chain of massless rods: the jumps of its bobs' free accelerations, the tensions, and in the plane the sines of
    the angles between neighbours."""

    jumps: Any
    tensions: Any
    sines: Any


def _pulled(at: _State, q: Any, v: Any, lengths: Any, masses: Any) -> _Pulled:
    # Of angles in the plane only the differences and the first are taken, each once: sines are the dearest part.
    plane = at.e.shape[1] == 2
    between = jnp.diff(q)
    loads = None if at.couples is None else chain.bob_loads(at.couples, lengths)
    loads = at.forces if loads is None else loads if at.forces is None else at.forces + loads
    jumps = chain.jumps(at.gravity, at.pivot, loads, masses)
    right = lengths * (v * v if plane else jnp.sum(at.rates * at.rates, axis=1))
    right = right.at[: len(jumps)].add(jnp.sum(at.e[: len(jumps)] * jumps, axis=1))
    cosines = jnp.cos(between) if plane else jnp.sum(at.e[1:] * at.e[:-1], axis=1)
    return _Pulled(jumps, chain.rod_tensions(cosines, masses, right), jnp.sin(between) if plane else None)


@eqx.filter_jit
def _accelerations(system: System, t: Any, q: Any, v: Any) -> Any:
    return raw_accelerations(system, t, q, v)


def raw_accelerations(system: System, t: Scalar, q: Point, v: Point) -> Point:
    """`accelerations` without checks, for code that is being traced."""
    return _accelerated(_state(system, t, q, v), q, v, system.parameters)


def _turned_by(t: Scalar, q: Point, torques: Point, p: Parameters) -> Point:
    """What the mass matrix of a chain in the plane makes of an acceleration, undone: the angular accelerations that
    torques on the rods give at rest and without gravity."""
    e, none = directions(q), jnp.zeros(2)
    at = _State(e, jnp.zeros_like(e), None, none, _turning(q) * torques[:, None], none)
    return _accelerated(at, q, jnp.zeros_like(q), p)


def _accelerated(at: _State, q: Point, v: Point, p: Parameters) -> Point:
    lengths, masses = jnp.asarray(p["lengths"]), jnp.asarray(p["masses"])
    plane = at.e.shape[1] == 2
    if "rod_mass" in p:
        rods = jnp.asarray(p["rod_mass"])
        forces, couples = (jnp.zeros_like(at.e) if x is None else x for x in (at.forces, at.couples))
        changes = chain.heavy_rods(at.e, at.rates, lengths, masses, rods, forces, at.gravity, couples, at.pivot)
        return jnp.sum(changes * _turning(q), axis=1) / lengths if plane else (changes / lengths[:, None]).ravel()
    found = _pulled(at, q, v, lengths, masses)
    count = len(found.jumps)
    if plane:
        turned = chain.turned(found.sines, masses, found.tensions)
        return turned.at[:count].add(jnp.sum(found.jumps * _turning(q[:count]), axis=1)) / lengths
    changes = chain.pulled(at.e, masses, found.tensions).at[:count].add(found.jumps)
    return (changes / lengths[:, None]).ravel()


@eqx.filter_jit
def _tensions(system: System, t: Any, q: Any, v: Any) -> Any:
    return raw_tensions(system, t, q, v)


def raw_tensions(system: System, t: Scalar, q: Point, v: Point) -> PerLink:
    """`tensions` without checks, for code that is being traced."""
    p, at = system.parameters, _state(system, t, q, v)
    lengths, masses = jnp.asarray(p["lengths"]), jnp.asarray(p["masses"])
    return _pulled(at, q, v, lengths, masses).tensions


def _massive(links: dict[str, Any]) -> None:
    if "rod_mass" not in links:
        positive("masses", links["masses"])
        return
    positive("masses", links["masses"], zero=True)
    positive("masses with rod_mass", links["masses"] + links["rod_mass"])


def _components(count: int) -> dict[str, str]:
    return {f"{axis}{i + 1}": "number" for i in range(count) for axis in ("ex", "ey", "ez")}


def pivot_at(
    pivot: ArrayFunction | None, dimension: int, parametric: bool
) -> Callable[[Scalar, Parameters], Float[Array, "1 d"]]:
    """Where the pivot is at t, as one row; the origin by default."""
    if pivot is None:
        return lambda t, p: jnp.zeros((1, dimension))

    def place(t: Any, p: Any) -> Any:
        where = jnp.asarray(pivot(t, p) if parametric else pivot(t), float)
        if where.shape != (dimension,):
            raise ValueError(
                f"pivot(t) must return where the pivot is, {dimension} numbers with the height last; "
                f"it returned shape {where.shape}."
            )
        return where[None]

    return place


def _driven(system: System, links: dict[str, Any], torque: Callable[..., Any] | None, parametric: bool) -> System:
    """With air drag first, then what acts on the rods' angles."""
    hung: Any = system.positions
    if "damping" in links:

        def air(t: Any, q: Any, v: Any, p: Any) -> Any:
            w = jax.jvp(lambda s, y: hung(s, y, p), (t, q), (jnp.ones_like(t), v))[1]
            return -p.damping[:, None] * w

        system = system.forced(cartesian=air)
    if "joint_damping" in links:

        def joints(t: Any, q: Any, v: Any, p: Any) -> Any:
            return _on_rods(-p.joint_damping * (v - jnp.concatenate([jnp.zeros(1), v[:-1]])))

        system = system.forced(joints)
    if torque is not None:

        def motors(t: Any, q: Any, v: Any, p: Any) -> Any:
            given = jnp.asarray(torque(t, q, v, p) if parametric else torque(t, q, v), float)
            if given.shape == ():
                given = jnp.concatenate([given[None], jnp.zeros(q.shape[0] - 1)])
            if given.shape != q.shape:
                raise ValueError(f"torque must return one number or {q.shape[0]}, got shape {given.shape}.")
            return _on_rods(given)

        system = system.forced(motors)
    return system


def _on_rods(joints: Any) -> Any:
    """A joint's torque turns the rod below it forward and the rod above it back."""
    return joints - jnp.concatenate([joints[1:], jnp.zeros(1)])
