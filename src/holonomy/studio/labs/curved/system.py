"""The Curved space lab's system: `hl.World`, compiled. Needs JAX."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.curved.colliding import Balls, Colliding
from holonomy.studio.labs.curved.settings import SPACES, TABLE
from holonomy.studio.labs.curved.shapes import BALLS, Shape, shape_of
from holonomy.studio.labs.curved.view import MOST_SEPARATIONS, has_height, momenta
from holonomy.studio.labs.settings import Structure
from holonomy.systems.bodies.energies import distances

_STAGES: Final = 2
"""Of Gauss's method where geodesics have no closed form."""


def program(structure: Structure) -> Program:
    """The motion of a body in a space; the same code for all numbers."""
    shape, parts = _shape(structure), dict(structure)
    size = TABLE.size(structure) + len(shape.joints)
    example: Any = world(structure, jnp.ones(size))
    dimension = example.space.point_dim
    if parts["body"] == BALLS:
        return Program(
            system=lambda row: _balls(structure, row),
            numbers=size,
            dimension=dimension,
            method=Colliding(),
            observe=lambda system, t, q, v: _seen(structure, system.world, t, q, v, system.radius),
        )
    rigid = parts.get("joints") == "rods"

    def settle(row: Any, q: Any) -> Any:
        made = world(structure, row)
        assert made.rigid is not None
        return made.rigid.settled(made, q, jnp.zeros_like(q))[0]

    return Program(
        system=lambda row: world(structure, row),
        numbers=size,
        dimension=dimension,
        method=method(structure),
        observe=lambda system, t, q, v: _seen(structure, system, t, q, v),
        routines={"settle": (settle, (np.ones(size), np.zeros(dimension)))} if rigid else {},
    )


def world(structure: Structure, row: Any, collisions: bool = False) -> hl.World:
    """The world of a row of numbers: those of the table, then the lengths of springs or rods.

    Of balls it is that of their centres, or with `collisions` that of the library, which needs numbers that are known.
    """
    parts: dict[str, Any] = dict(structure)
    shape, p = _shape(structure), TABLE.named(structure, row)
    lengths = row[TABLE.size(structure) :]
    ends = [(i, j, lengths[k]) for k, (i, j) in enumerate(shape.joints)]
    rigid = parts.get("joints") == "rods"
    springs = [] if rigid else [(i, j, p["stiffness"], length) for i, j, length in ends]
    masses = [p["mass"]] * shape.count
    space = space_of(parts["space"], p["radius"])
    if collisions:
        body = hl.Body(masses, radii=float(p["ball_radius"]))
        return hl.World(space, body, collisions=float(p["restitution"]))
    body = hl.Body(masses, springs=springs, rods=ends if rigid else [])
    if parts["body"] == "particle":
        return hl.World(space, body, potential=lambda x: p["gravity"] * _central(space, x))
    if parts["body"] == "pair":
        return hl.World(space, body, interaction=lambda d, a, b: p["gravity"] * a * b * _of_distance(space, d))
    return hl.World(space, body)


def _balls(structure: Structure, row: Any) -> Balls:
    p = TABLE.named(structure, row)
    return Balls(world(structure, row), p["ball_radius"], p["restitution"])


def space_of(name: str, radius: Any) -> Any:
    """The library's space."""
    _, kind, dim = SPACES[name]
    match kind:
        case "sphere":
            return hl.Sphere(dim, radius=radius)
        case "hyperbolic":
            return hl.Hyperbolic(dim, radius=radius)
        case "product":
            return hl.Product(hl.Hyperbolic(2, radius=radius), hl.Euclidean(1))
        case "inhomogeneous":
            return hl.Inhomogeneous(dim)
        case _:
            return hl.Euclidean(dim)


def method(structure: Structure) -> Any:
    """Splitting with the exact flow of the geodesics, or Gauss's method where that has no closed form.

    With rods RATTLE, which holds their lengths; balls go from collision to collision.
    """
    parts = dict(structure)
    if parts["body"] == BALLS:
        return hl.EventDriven()
    if parts.get("joints") == "rods":
        return hl.Rattle(4)
    return hl.Gauss(_STAGES) if SPACES[str(parts["space"])][1] == "inhomogeneous" else hl.Splitting(8)


def _shape(structure: Structure) -> Shape:
    parts: dict[str, Any] = dict(structure)
    rigid = parts.get("joints") == "rods"
    found = shape_of(parts["body"], SPACES[parts["space"]][2], rigid, parts.get("balls", 0))
    assert found is not None
    return found


def _central(space: Any, x: Any) -> Any:
    r"""\(-\cot(r/R)/R\) on spheres, \(-\coth(r/R)/R\) in hyperbolic space, \(-1/r\) in flat space: of the vector."""
    if isinstance(space, hl.Euclidean):
        return -1.0 / jnp.sqrt(jnp.sum(x * x))
    return -x[-1] / (space.radius * jnp.sqrt(jnp.sum(x[:-1] * x[:-1])))


def _of_distance(space: Any, d: Any) -> Any:
    """The same as a function of the distance."""
    if isinstance(space, hl.Euclidean):
        return -1.0 / d
    tangent = jnp.tan if isinstance(space, hl.Sphere) else jnp.tanh
    return -1.0 / (space.radius * tangent(d / space.radius))


# ── What is seen ──────────────────────────────────────────────────────────────────────────────────────────────────


def _seen(structure: Structure, world: Any, t: Any, q: Any, v: Any, radius: Any = None) -> Observed:
    """Channels: energies by kind and in all, lengths, strains or forces of what joins the vertices, momentum maps.

    The lab draws the points itself, in any model: see `CurvedLab.placed`.
    """
    parts: dict[str, Any] = dict(structure)
    kinetic = world.kinetic(t, q, v)
    potential = sum((one(t, q) for one in world.energy_terms.values()), jnp.zeros(()))
    kinds = [kinetic, potential, kinetic + potential] if world.energy_terms else [kinetic, kinetic]
    points, rates = world.points(q), world.points(v)
    names = momenta(parts["space"], parts["body"])
    if radius is not None:
        sizes = _least_gap(world.point_space, points, radius)[None]
    elif parts.get("joints") == "rods":
        sizes = _rigid_sizes(parts, world, t, q, v)
    else:
        sizes = _lengths(_shape(structure), parts, world, points)
    channels = jnp.concatenate([jnp.stack(kinds), sizes, _momenta(world, points, rates, names)])
    return channels, jnp.zeros((0, 3)), jnp.zeros(0)


def _least_gap(space: Any, points: Any, radius: Any) -> Any:
    """The least distance of the surfaces of two balls, by a loop over the pairs."""
    numbers = jnp.arange(len(points))

    def outer(least: Any, one: Any) -> tuple[Any, None]:
        def inner(least: Any, other: Any) -> tuple[Any, None]:
            apart = jax.lax.cond(other[0] > one[0], lambda: space.distance(one[1], other[1]), lambda: least)
            return jnp.minimum(least, apart), None

        return jax.lax.scan(inner, least, (numbers, points))

    far = jnp.asarray(1e6, points.dtype)
    return jax.lax.scan(outer, far, (numbers, points))[0] - 2.0 * radius


def _rigid_sizes(parts: dict[str, Any], world: Any, t: Any, q: Any, v: Any) -> Any:
    """The forces of the rods, of many the least and the largest; of the triangle a median; the height in H² × E."""
    forces = world.rigid.multipliers(world, t, q, v)
    if len(world.rods) > MOST_SEPARATIONS:
        forces = jnp.stack([jnp.min(forces), jnp.max(forces)])
    points, space = world.points(q), world.point_space
    found = [forces]
    if parts["body"] == "triangle":
        middle = space.exp(points[1], 0.5 * space.log(points[1], points[2]))
        found.append(space.distance(points[0], middle)[None])
    return jnp.concatenate([*found, *_height(parts, points)])


def _height(parts: dict[str, Any], points: Any) -> list[Any]:
    """How far a body reaches along the line of H² × E."""
    return [(jnp.max(points[:, 3]) - jnp.min(points[:, 3]))[None]] if has_height(parts["space"], parts["body"]) else []


def _lengths(shape: Shape, parts: dict[str, Any], world: Any, points: Any) -> Any:
    """The distances to plot, or of many springs the least and the largest strain."""
    space = world.point_space
    if parts["body"] == "particle":
        return space.distance(space.origin, points[0])[None]
    if parts["body"] == "pair":
        return space.distance(points[0], points[1])[None]
    found = distances(space, points, world.springs.vertices)
    if len(shape.joints) > MOST_SEPARATIONS:
        strain = found / world.springs.numbers[:, 1] - 1.0
        found = jnp.stack([jnp.min(strain), jnp.max(strain)])
    return jnp.concatenate([found, *_height(parts, points)])


def _momenta(world: Any, points: Any, rates: Any, names: tuple[str, ...]) -> Any:
    r"""\(\sum_i m_i\langle K(x_i), v_i\rangle\) for the named fields, or invariants of them under isometries.

    A body in hyperbolic space is written near the origin, where every boost that carries it changes the values of the
    momentum maps; what a boost leaves as it is are the invariants of the Lie algebra.
    """
    space = world.point_space
    fields = space.killing()

    def one(name: str) -> Any:
        products = jax.vmap(lambda x, u: space.inner(x, fields[name](x), u))(points, rates)
        return jnp.sum(world.masses * products)

    if not any(name.startswith("invariant") for name in names):
        return jnp.stack([one(name) for name in names])
    found = {name: one(name) for name in fields}
    boosts = [found[name] for name in fields if "boost" in name]
    turns = [found[name] for name in fields if "rotate" in name]
    square = sum(b * b for b in boosts) - sum(r * r for r in turns)
    others = [found[name] for name in names if not name.startswith("invariant")]
    if len(turns) == 3:
        mixed = sum(found[b] * found[r] * s for b, r, s in _MIXED)
        return jnp.stack([square, mixed])
    return jnp.stack([square, *others])


_MIXED: Final = (("boost_x", "rotate_yz", 1.0), ("boost_y", "rotate_xz", -1.0), ("boost_z", "rotate_xy", 1.0))
