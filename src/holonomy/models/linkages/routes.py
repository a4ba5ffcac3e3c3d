r"""Four ways to the motion of a linkage, each a `System`.

| route | q | how |
| --- | --- | --- |
| `sphere` | point of \(S^{n-2}\) | Lagrange's equations of the kinetic metric in local charts: no poles |
| `chart` | the angles \(\varphi_1, ..., t\) | the same in the angles: Christoffel symbols, singular at the poles |
| `embedding` | hinges | accelerations II(v, v), M-normal to the surface; errors off it are damped |
| `rods` | hinges | particles held together by n rods: multipliers |

They share the masses; `sphere` and `chart` share the map to the hinges; `embedding` differentiates that map and its
inverse; `rods` knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.models.linkages import sphere_map
from holonomy.models.linkages.mass import Masses
from holonomy.models.linkages.surface import Hinges, Surface
from holonomy.spaces import Sphere
from holonomy.spaces.smooth import root
from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.systems.replace import replace
from holonomy.types import Number, Numbers, Scalar

ROUTES = ("sphere", "chart", "embedding", "rods")

# how many times per unit of length on the round sphere an error off the surface dies away
_RETURN = 5.0

Potential = Callable[[Hinges], Number]


def build(surface: Surface, route: str, gravity: Number | None, potential: Potential | None) -> System:
    """The system of a linkage by one of the routes."""
    numbers: dict[str, Numbers] = {"base": surface.base, **surface.masses.parameters()}
    if gravity is not None:
        numbers["gravity"] = gravity
    return _form(surface.rods, route, gravity is not None, potential).with_parameters(**numbers)


@lru_cache(maxsize=64)
def _form(rods: int, route: str, heavy: bool, potential: Potential | None) -> System:
    """The system with some numbers: traced once, so that every linkage of this form finds its compiled code."""
    ones = jnp.ones(rods)
    some = Masses(ones[1:], 0.5 * ones, 0.25 * ones, 0.2 * ones)
    numbers = {"base": jnp.asarray(rods - 1.0), **some.parameters(), **({"gravity": 1.0} if heavy else {})}
    make = {"sphere": _sphere, "chart": _chart, "embedding": _embedding, "rods": _rods}[route]
    return replace(make(rods, numbers, heavy, potential), smooth=potential is None)


def at(rods: int, p: Parameters) -> Surface:
    """The surface with the numbers of a system."""
    return Surface(rods, jnp.asarray(p["base"]), Masses.of(p))


def energy_of_place(heavy: bool, potential: Potential | None) -> Callable[[Scalar, Hinges, Parameters], Scalar] | None:
    """V(t, hinges, p) of weight and of a user's potential; None without either."""
    if not heavy and potential is None:
        return None

    def total(t: Scalar, hinges: Hinges, p: Parameters) -> Scalar:
        value = jnp.zeros_like(t)
        if heavy:
            value = value + p.gravity * jnp.dot(Masses.of(p).weights(), hinges[:, 1])
        if potential is not None:
            value = value + potential(hinges)
        return value

    return total


def _sphere(rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None) -> System:
    return _natural(rods, numbers, heavy, potential, lambda surface, q: surface.hinges(q), None)


def _chart(rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None) -> System:
    names = [f"phi{i + 1}" for i in range(rods - 3)] if rods > 4 else ["phi"][: rods - 3]

    def hinges(surface: Surface, q: Any) -> Any:
        return surface.hinges(jnp.stack(sphere_map.from_angles(list(q))))

    return _natural(rods, numbers, heavy, potential, hinges, dict.fromkeys([*names, "t"], "angle"))


def _natural(
    rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None, hinges: Any, angles: Any
) -> System:
    """L = T - V with the hinges as a function of q; on the sphere unless coordinates are named."""
    place = energy_of_place(heavy, potential)

    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        surface = at(rods, p)
        where, w = jax.jvp(lambda y: hinges(surface, y), (q,), (v,))
        kinetic = 0.5 * surface.product(w, w)
        return kinetic if place is None else kinetic - place(t, where, p)

    system = System.from_lagrangian(
        lagrangian,
        coordinates=angles or {f"x{i + 1}": "number" for i in range(rods - 1)},
        parameters=numbers,
        space=None if angles else Sphere(rods - 2),
        positions=lambda t, q, p: hinges(at(rods, p), q),
    )
    return replace(system, definite=True)  # a kinetic energy: its matrix is positive definite


def _particles(rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None) -> System:
    """The hinges with nothing that holds them."""
    place = energy_of_place(heavy, potential)
    return System.from_metric(
        lambda q, p: jnp.kron(Masses.of(p).matrix(), jnp.eye(2)),
        None if place is None else (lambda t, q, p, place=place: place(t, q.reshape(-1, 2), p)),
        coordinates={f"{axis}{i + 1}": "length" for i in range(rods - 1) for axis in "xy"},
        parameters=numbers,
        positions=lambda t, q, p: q.reshape(-1, 2),
    )


def _embedding(rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None) -> System:
    place = energy_of_place(heavy, potential)

    def force(t: Any, q: Any, v: Any, p: Any) -> Any:
        surface = at(rods, p)
        hinges = q.reshape(-1, 2)
        x, w = jax.jvp(surface.point, (hinges,), (v.reshape(-1, 2),))
        m = surface.ambient()
        rows = surface.second(x, w, w)[None]
        # zero on the surface; off it, errors would grow, since nothing else knows how long the rods are
        where, moving = jax.jvp(surface.hinges, (x,), (w,))
        pace = _RETURN * root(jnp.sum(w * w))
        off, drift = q - where.reshape(-1), v - moving.reshape(-1)
        back = m @ (pace * pace * off + 2.0 * pace * drift)
        if place is None:
            return m @ surface.normal(x, rows)[0] - back
        # the surface answers the part of a force that points away from it
        slope = jax.grad(place, argnums=1)(t, hinges, p).reshape(-1)
        return m @ surface.normal(x, rows + jnp.linalg.solve(m, slope)[None])[0] - back

    return _particles(rods, numbers, heavy, potential).forced(force)


def _rods(rods: int, numbers: dict[str, Any], heavy: bool, potential: Potential | None) -> System:
    return _particles(rods, numbers, heavy, potential).constrained(
        holonomic=lambda t, q, p: stretches(p["base"], q.reshape(-1, 2))
    )


def stretches(base: Scalar, hinges: Hinges) -> Float[Array, " rods"]:
    r"""\(\frac12(|p_i - p_{i-1}|^2 - 1)\) for every rod. Its gradient on unit rods is the rod's direction, so that a
    multiplier is what the rod pushes with, minus its tension."""
    ends = jnp.concatenate([jnp.zeros((1, 2)), hinges, jnp.stack([base, jnp.zeros_like(base)])[None]])
    rods = ends[1:] - ends[:-1]
    return 0.5 * (jnp.sum(rods * rods, axis=1) - 1.0)
