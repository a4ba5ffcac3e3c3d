r"""Coordinates in which commuting symmetries are cyclic.

Let \(\xi_1,\dots,\xi_k\) be symmetries of L that commute, with flows \(\Phi_s\), and \(\sigma(u)\) a surface through a
point, across the orbits of the flows. In the coordinates (u, s) of the points \(\Phi_s(\sigma(u))\) the Lagrangian is
\(L(t, \sigma(u), \sigma'(u)\dot u + \sum_i\dot s_i\,\xi_i(\sigma(u)))\), since L does not change along the flows: the
s are cyclic, and the flows themselves are needed only to lead back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.integrate import integrate
from holonomy.symmetry.found_section import FoundSection
from holonomy.symmetry.killing import KillingField
from holonomy.symmetry.natural import refuse_others
from holonomy.symmetry.samples import states
from holonomy.symmetry.transport import Jet, compiled
from holonomy.systems import System, lagrangian
from holonomy.systems.in_chart import Local
from holonomy.systems.state_vector import vector
from holonomy.trace.function import Function, trace
from holonomy.types import Tree, VectorLike

_EXACT = 1e-8  # of the terms whose sum must vanish
_ACROSS = 1e-6  # of the lengths of the fields: what is left of a field when the others are taken out
_ROUNDING = 1e-5  # times _EXACT: a hundred roundings
_STILL = 1e-10  # of what its derivative gives over the size of the point: a field that small vanishes
_NEAR = 0.1  # of the size of the point: where the conditions on the fields are looked at
_REACHED = 1e-13  # of the size of the point
_ITERATIONS = 50


class Section(eqx.Module):
    r"""The surface \(\sigma(u)\), the image of a plane in the chart at a point, and the flows across it."""

    system: System
    fields: Function
    at: Tree
    frame: Tree  # columns: the directions of u in the chart
    names: tuple[str, ...] = eqx.field(static=True)
    along: tuple[str, ...] = eqx.field(static=True)

    def surface(self, u: Tree) -> Tree:
        """The point of the section."""
        return self.chart(self.frame @ u)

    def chart(self, y: Tree) -> Tree:
        """The point with coordinates y in the chart at the point of the section."""
        at = jnp.asarray(self.at)
        return at + y if self.system.flat else self.system.space.chart(at, y)

    def flow(self, s: Tree, x: Tree) -> Tree:
        """The point to which the flows lead for the times s, one for each field."""
        end = integrate(lambda _, z: s @ self.fields(z), x, loop=True, watched=0)
        return end if self.system.flat else self.system.space.project(end)

    def point(self, z: Tree) -> Tree:
        """The configuration with adapted coordinates (u, s)."""
        split = len(self.names)
        return self.flow(z[split:], self.surface(z[:split]))

    def state(self, z: Tree, w: Tree) -> tuple[Tree, Tree]:
        """Configuration and velocity."""
        return jax.jvp(self.point, (z,), (w,))

    def adapted_system(self) -> System:
        """The system in the coordinates (u, s)."""
        system, split = self.system, len(self.names)

        def moved(t: Any, z: Any, w: Any, *p: Any) -> Any:
            return self.line(t, z[:split], w[:split], *p)(w[split:])

        names = dict.fromkeys((*self.names, *self.along), "number")
        return System.from_lagrangian(moved, names, dict(system.parameters) if system.parametric else None)

    def line(self, t: Any, u: Any, w: Any, *p: Any) -> Callable[[Any], Any]:
        """The Lagrangian at a state of the section, as a function of the velocities along the fields."""
        x, across = jax.jvp(self.surface, (u,), (w,))
        fields = self.fields(x)
        return lambda speeds: self.system.lagrangian(t, x, across + speeds @ fields, *p)

    def lead_back(self, t: Tree, z: Tree, w: Tree) -> tuple[Tree, Tree, Tree]:
        """States of the full system, and their energies, from rows of adapted ones."""
        return _led_back(self, t, z, w)

    def newton(self, z: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
        """A step of Newton's method towards the adapted coordinates of q, the velocities of v, and the distance."""
        return _newton(self, z, q, v)


AnySection = Section | FoundSection


def adapted_state(section: AnySection, q: VectorLike, v: VectorLike) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates (u, s) of a configuration and the velocities of a velocity, by Newton's method."""
    system = section.system
    shape = (system.space.point_dim,)
    at, speed = (jnp.asarray(vector(name, x, shape, system)) for name, x in (("q", q), ("v", v)))
    z, part = jnp.zeros(len(section.names) + len(section.along)), 1.0
    size = 1.0 + float(jnp.max(jnp.abs(at)))
    step, rate, distance = section.newton(z, at, speed)
    for _ in range(_ITERATIONS):
        if not bool(jnp.all(jnp.isfinite(step))):
            break
        if float(jnp.max(jnp.abs(step))) <= _REACHED * size:
            return np.asarray(z + step), np.asarray(rate)
        new = z + part * step
        ahead = section.newton(new, at, speed)
        if bool(ahead[2] < distance) or bool(jnp.max(jnp.abs(ahead[0])) < jnp.max(jnp.abs(step))):
            z, (step, rate, distance), part = new, ahead, min(1.0, 2.0 * part)
        else:  # too far, also where the distance is not a number
            part *= 0.5
    shown = np.array2string(np.asarray(at), precision=4)
    raise ValueError(
        f"The flows of the symmetries lead from no near point of the section to q = {shown}; pass "
        "at=q to hl.routh, so that the section goes through it."
    )


@eqx.filter_jit
def _newton(section: Section, z: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
    system = section.system

    def away(z: Tree) -> Tree:
        x = section.point(z)
        return x - q if system.flat else system.space.coordinates(q, x)

    slope, here = jax.jacfwd(away)(z), away(z)
    speed = v if system.flat else system.local(q).enter(v)[1]
    return -jnp.linalg.solve(slope, here), jnp.linalg.solve(slope, speed), jnp.linalg.norm(here)


@eqx.filter_jit
def _led_back(section: Section, t: Tree, z: Tree, w: Tree) -> Tree:
    """States of the full system from those in adapted coordinates."""

    def one(state: Tree) -> Tree:
        s, x, speed = state
        q, v = section.state(x, speed)
        return q, v, section.system.raw_energy(s, q, v)

    return jax.lax.map(one, (t, z, w))


def section(system: System, along: Mapping[str, Callable[[Any], Any]], at: Any) -> AnySection:
    """The section through a point, orthogonal to the fields there; raise where they cannot be used."""
    refuse_others(system, "hl.routh with along=")
    if not isinstance(along, Mapping) or not along or not all(callable(f) for f in along.values()):
        raise ValueError(f"along has vector fields by names, such as {{'s': found.fields[0]}}; got {along!r}.")
    found = [f for f in along.values() if isinstance(f, KillingField)]
    if len(found) == len(along):
        return _found_section(system, tuple(along), found, at)
    point = states(system, 1)[0][1] if at is None else vector("at", at, (system.space.point_dim,), system)
    example = (jax.ShapeDtypeStruct(point.shape, jnp.float64),)
    try:
        fields = trace(lambda q: jnp.stack([jnp.asarray(f(q)) for f in along.values()]), example)
        shape = jax.eval_shape(fields, *example).shape
    except Exception as error:
        raise ValueError(f"The fields of along could not be evaluated: {error}") from error
    if shape != (len(along), *point.shape):
        raise ValueError(f"A field of along must have one component per coordinate, {point.shape}; got {shape[1:]}.")
    local = system.local(jnp.asarray(point))
    directions = np.stack([row if system.flat else local.enter(row)[1] for row in fields(jnp.asarray(point))])
    names, frame = _across(local, local.origin, directions, tuple(along))
    made = Section(system, fields, jnp.asarray(point), frame, names, tuple(along))
    _refuse_no_symmetries(made, tuple(along), point, lambda y, w: _defects(made, y - local.origin, w))
    return made


def _found_section(system: System, names: tuple[str, ...], fields: list[KillingField], at: Any) -> FoundSection:
    source = fields[0].source
    if any(f.source is not source for f in fields):
        raise ValueError("The fields of along come from several calls of hl.killing; take all of them from one.")
    if source.system.names != system.names:
        raise ValueError(
            f"The fields of along belong to a system with the coordinates {', '.join(source.system.names)}, not "
            f"{', '.join(system.names)}; pass those that hl.killing finds for this one."
        )
    point = source.at if at is None else vector("at", at, (system.space.point_dim,), system)
    whole = source.transport
    origin = np.asarray(whole.coordinates(jnp.asarray(point)))
    jet = whole.jet_at(jnp.asarray(origin))
    if not np.all(np.isfinite(np.asarray(jet.slopes))):
        raise ValueError(
            f"The fields do not reach at = {np.array2string(np.asarray(point), precision=4)} along the straight line "
            f"from q = {np.array2string(source.at, precision=4)}, where hl.killing found them; pass at= to it, too."
        )
    weights = np.stack([f.weights for f in fields])
    transport = whole.moved(weights, jet, origin)
    size = max(float(np.max(np.abs(x))) for x in (point, source.at)) if system.flat else 1.0
    values, slopes = transport.first
    still = np.max(np.abs(values), axis=1) <= _STILL * size * np.max(np.abs(slopes), axis=(1, 2))
    directions = np.where(still[:, None], 0.0, values)
    free, frame = _across(whole.local, jnp.asarray(origin), directions, names)
    made = FoundSection(system, transport, frame, free, names)

    def defects(y: Tree, w: Tree) -> tuple[Tree, Tree]:
        near = Jet(*(jnp.tensordot(weights, part, 1) for part in whole.jet_at(y)))
        return compiled(_defects_of_jet, made.local, near, size, y, w)

    _refuse_no_symmetries(made, names, point, defects)
    return made


def _free_names(system: System, along: tuple[str, ...]) -> tuple[str, ...]:
    taken = {*along, *system.parameters}
    both = [name for name in along if name in system.parameters]
    if both:
        raise ValueError(f"{both[0]!r} is the name of a parameter; give the field of along another name.")
    names = (f"u{k}" for k in range(1, 10 * len(system.names) + 1))
    return tuple(name for name in names if name not in taken)


def _across(local: Local, y: Tree, directions: np.ndarray, along: tuple[str, ...]) -> tuple[tuple[str, ...], Tree]:
    """Names of coordinates, and directions orthogonal to the fields in the kinetic metric, as columns."""
    system, n = local.system, local.system.space.dim
    free = _free_names(system, along)
    mass = np.asarray(_mass(local, y))
    normals = np.asarray(directions) @ np.linalg.cholesky(mass)
    with np.errstate(invalid="ignore"):  # a field that vanishes is not a number from here on
        normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    if not np.all(np.isfinite(normals)) or np.linalg.svd(normals)[1][-1] < _ACROSS or len(along) > n:
        raise ValueError(
            f"The fields {', '.join(along)} vanish or are not independent at "
            f"q = {np.array2string(np.asarray(local.point(y)), precision=4)}; pass another point as at=."
        )
    if len(along) == n:
        raise ValueError("The symmetries leave no coordinate to move; leave one out of along.")
    frame = jnp.asarray(np.linalg.svd(np.asarray(directions) @ mass)[2][len(along) :].T)
    return free[: frame.shape[1]], frame


@eqx.filter_jit
def _mass(local: Local, y: Tree) -> Tree:
    return lagrangian.mass_matrix(local.lagrangian, jnp.zeros(()), y, jnp.zeros_like(y))


def _refuse_no_symmetries(
    section: AnySection, along: tuple[str, ...], at: Any, defects: Callable[[Tree, Tree], tuple[Tree, Tree]]
) -> None:
    """Raise unless the fields commute and L does not change along them, at random states near the section."""
    generator = np.random.default_rng(4)
    system = section.system
    n = system.space.dim
    size = _NEAR * (float(np.max(np.abs(at))) if system.flat else 1.0)
    origin = np.asarray(at) if system.flat else np.zeros(n)
    if isinstance(section, FoundSection):
        origin = section.transport.origin
    for _ in range(3):
        y, w = origin + size * generator.normal(size=n), generator.normal(size=n)
        change, bracket = (np.asarray(x) for x in defects(jnp.asarray(y), jnp.asarray(w)))
        for name, part in zip(along, change, strict=True):
            if not part <= _EXACT:
                raise ValueError(
                    f"The field {name!r} is no symmetry of the Lagrangian, which changes along it by {part:.1e} of its "
                    "terms at a random state; Routh's reduction needs one along which it does not change."
                )
        if not np.max(bracket) <= _EXACT:
            raise ValueError(
                f"The fields {', '.join(along)} do not commute (their bracket is {np.max(bracket):.1e} of its "
                "terms), so that they are not cyclic together; choose combinations that do."
            )


@eqx.filter_jit
def _defects(section: Section, y: Tree, w: Tree) -> tuple[Tree, Tree]:
    x, v = jax.jvp(section.chart, (y,), (w,))
    jet = Jet(section.fields(x), jax.jacfwd(section.fields)(x))
    return _parts(
        jet, jnp.max(jnp.abs(x)), v, *jax.grad(section.system.raw_lagrangian, argnums=(1, 2))(jnp.zeros(()), x, v)
    )


def _defects_of_jet(local: Local, jet: Jet, size: Tree, y: Tree, w: Tree) -> tuple[Tree, Tree]:
    return _parts(jet, size, w, *jax.grad(local.lagrangian, argnums=(1, 2))(jnp.zeros(()), y, w))


def _parts(jet: Jet, size: Tree, v: Tree, by_place: Tree, by_speed: Tree) -> tuple[Tree, Tree]:
    """How much L changes along each field, and the largest bracket, each as a part of its terms."""
    fields, slope = jet
    tiny = jnp.finfo(v.dtype).tiny
    terms = jnp.concatenate([fields * by_place[None], (slope @ v) * by_speed[None]], axis=1)
    # what a field of this size could change at all, so that sums of rounding errors are none
    reach = jnp.sum(jnp.abs(by_place)) + jnp.sum(jnp.abs(v * by_speed)) / (size + tiny)
    whole = jnp.sum(jnp.abs(terms), axis=1) + _ROUNDING * jnp.sum(jnp.abs(fields), axis=1) * reach
    change = jnp.abs(jnp.sum(terms, axis=1)) / (whole + tiny)
    moved = jnp.einsum("aij,bj->abi", slope, fields)
    largest = jnp.sum(jnp.abs(fields)) * jnp.max(jnp.sum(jnp.abs(fields), axis=1)) / (size + tiny)
    scale = jnp.max(jnp.abs(moved)) + _ROUNDING * largest + tiny
    return change, jnp.max(jnp.abs(moved - jnp.swapaxes(moved, 0, 1))) / scale
