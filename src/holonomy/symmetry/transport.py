r"""Killing fields away from the point where they are known.

A field \(\xi\) that preserves a metric preserves its Christoffel symbols, \(\mathcal L_\xi\Gamma = 0\), which gives all
its second derivatives,

\[\partial_i\partial_j\xi^l = -\xi^m\partial_m\Gamma^l_{ij} + \Gamma^m_{ij}\partial_m\xi^l
- \Gamma^l_{mj}\partial_i\xi^m - \Gamma^l_{im}\partial_j\xi^m .\]

So the jet \((\xi, \partial\xi)\) along any path solves a linear differential equation, and a derivative of the jet by
the place where it is evaluated is the right-hand side of that equation: derivatives of any order need the jet itself
and derivatives of the metric, and none of the integration that led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.geometry.integrate import integrate
from holonomy.symmetry.natural import Natural
from holonomy.systems import System
from holonomy.systems.dense_solve import back_substitute, factor
from holonomy.systems.in_chart import Local
from holonomy.trace import as_jax
from holonomy.trace.function import Function, trace
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native.engine import Engine
from holonomy.types import Tree


class Jet(NamedTuple):
    r"""Fields at a point: components \(\xi^l\), (field, l), and derivatives \(\partial_j\xi^l\), (field, l, j)."""

    values: Tree
    slopes: Tree


class Transport:
    """Fields with a given jet at one point, everywhere in the chart at the anchor.

    Its numbers are those that the system has when it is made. Values are not numbers where the straight line from the
    point in the chart leaves the domain of the coordinates.
    """

    def __init__(self, system: System, anchor: Tree, origin: Tree, jet: Jet, metric: Function | None = None) -> None:
        self.system = system
        self.anchor = np.asarray(anchor, float)
        self.origin = np.asarray(origin, float)
        self.first = Jet(np.asarray(jet.values, float), np.asarray(jet.slopes, float))
        self.metric = metric_derivatives(self.local) if metric is None else metric
        self._jets = with_rate(self._carried, lambda y, z, dy: self.packed(self.rate(y, dy, self.unpacked(z))))

    def __reduce__(self) -> tuple[object, ...]:
        return Transport, (self.system, self.anchor, self.origin, self.first, self.metric)

    @property
    def local(self) -> Local:
        """The system in the chart."""
        return self.system.local(jnp.asarray(self.anchor))

    def coordinates(self, q: Tree) -> Tree:
        """The coordinates in the chart of a point of the space."""
        return q if self.system.flat else self.system.space.coordinates(jnp.asarray(self.anchor), q)

    def jets(self, y: Tree) -> Jet:
        """The jet at a point of the chart; derivatives of any order are exact."""
        return self.unpacked(self._jets(y))

    def fields(self, x: Tree) -> Tree:
        """All fields at a point of the space, one row each."""
        y = self.coordinates(x)
        values, local = self.jets(y).values, self.local
        if self.system.flat:
            return values
        return jax.vmap(lambda w: jax.jvp(local.point, (y,), (w,))[1])(values)

    def jet_at(self, y: Tree) -> Jet:
        """The jet at one point, compiled."""
        return compiled(self.jets, y)

    def fields_at(self, q: Tree) -> Tree:
        """All fields at one point of the space, compiled."""
        return self.fields(q) if isinstance(q, Tracer) else compiled(self.fields, q)

    def moved(self, weights: np.ndarray, jet: Jet, origin: Tree) -> Transport:
        """Combinations of the fields, with the jet that they have at another point."""
        mixed = [np.tensordot(weights, np.asarray(part), 1) for part in jet]
        return Transport(self.system, self.anchor, origin, Jet(*mixed), self.metric)

    def rate(self, y: Tree, direction: Tree, jet: Jet) -> Jet:
        """The derivative of the jet at y in a direction."""
        return christoffel(self.metric, y, direction, jet)[1]

    def packed(self, jet: Jet) -> Tree:
        """The jet as one vector."""
        return jnp.concatenate([jnp.ravel(jet.values), jnp.ravel(jet.slopes)])

    def unpacked(self, z: Tree) -> Jet:
        """The jet of a vector."""
        count, n = self.first.values.shape
        return Jet(z[: count * n].reshape(count, n), z[count * n :].reshape(count, n, n))

    def _carried(self, y: Tree) -> Tree:
        away = y - self.origin

        def rate(s: Tree, z: Tree) -> Tree:
            return self.packed(self.rate(self.origin + s * away, away, self.unpacked(z)))

        return integrate(rate, self.packed(self.first), loop=True, watched=0, derivatives=False)


def compiled(function: Callable[..., Any], *args: Any) -> Any:
    """The value of a function that holds loops, as native code where it can: XLA takes several times as long for it."""
    return Engine(None).call(function, *args)


def with_rate(function: Callable[[Tree], Tree], rate: Callable[[Tree, Tree, Tree], Tree]) -> Callable[[Tree], Tree]:
    """The function z(y), whose derivative is rate(y, z(y), dy)."""

    @jax.custom_jvp
    def known(y: Tree) -> Tree:
        return function(y)

    @known.defjvp
    def _(primals: tuple[Tree], tangents: tuple[Tree]) -> tuple[Tree, Tree]:
        (y,), (dy,) = primals, tangents
        z = known(y)
        return z, rate(y, z, dy)

    return known


def metric_derivatives(local: Local) -> Function:
    """The metric of the chart with its first and second derivatives, as scalar operations without repetitions."""
    natural, n = Natural(local), local.system.space.dim

    def derivatives(y: Tree) -> tuple[Tree, Tree, Tree]:
        slope = jax.jacfwd(natural.metric)
        return natural.metric(y), slope(y), jax.jacfwd(slope)(y)

    try:
        flat = scalarise(derivatives, (np.zeros(n),))
    except Unsupported as error:
        raise ValueError(f"The kinetic energy has no derivatives as formulas: {error}") from error
    numbers = np.array(flat.numbers, float)

    def written_out(y: Tree) -> tuple[Tree, ...]:
        nodes = [node for part in flat.outputs for node in part.nodes]
        values = jnp.stack([jnp.asarray(x, y.dtype) for x in as_jax.evaluate(nodes, {0: y, 1: numbers})])
        split = np.cumsum([len(part.nodes) for part in flat.outputs])[:-1]
        return tuple(x.reshape(part.shape) for x, part in zip(jnp.split(values, split), flat.outputs, strict=True))

    return trace(written_out, (np.zeros(n),))


def christoffel(metric: Function, y: Tree, direction: Tree, jet: Jet) -> tuple[Tree, Jet]:
    r"""\(\Gamma^l_{ij}d^i\) for a direction d, and the derivative of the jet in that direction.

    The products are taken before an index is raised, which is the shorter way.
    """
    g, first, second = metric(y)
    lower = _lowered(first)
    across = jnp.einsum("mij,i->mj", lower, direction)
    along = _raised(g, across)
    slopes = []
    for value, slope in zip(*jet, strict=True):
        turned = _lowered(jnp.einsum("jkim,m->jki", second, value))
        change = (
            across @ slope
            + jnp.einsum("mij,i->mj", lower, slope @ direction)
            + jnp.einsum("mij,i->mj", turned, direction)
            - jnp.einsum("jki,i->jk", first, value) @ along
        )
        slopes.append(slope @ along - _raised(g, change))
    return along, Jet(jet.slopes @ direction, jnp.stack(slopes))


def jacobi(metric: Function, y: Tree, speed: Tree, fields: Tree, rates: Tree) -> tuple[Tree, Tree]:
    """The second derivatives along a geodesic: of its coordinates, and of Killing fields, which are Jacobi fields.

    `fields` and `rates` have a row for each field, its value and the derivative of its components along the geodesic.
    """
    g, first, second = metric(y)
    across = jnp.einsum("mij,i->mj", _lowered(first), speed)
    bent = -_raised(g, (across @ speed)[:, None])[:, 0]
    columns = []
    for value, rate in zip(fields, rates, strict=True):
        turned = _lowered(jnp.einsum("jkim,m->jki", second, value))
        columns.append(
            jnp.einsum("mij,i,j->m", turned, speed, speed)
            + 2.0 * across @ rate
            + jnp.einsum("jki,i->jk", first, value) @ bent
        )
    return bent, -_raised(g, jnp.stack(columns, axis=1)).T


def _raised(g: Tree, matrix: Tree) -> Tree:
    """The first index of a matrix raised, by a factorisation in straight-line code."""
    factored = factor(g, definite=True)
    return jnp.stack([back_substitute(factored, matrix[:, k]) for k in range(matrix.shape[1])], axis=1)


def _lowered(slope: Tree) -> Tree:
    """Christoffel symbols with all indices below, (m, j, k), from the derivatives of the metric, (j, k, i)."""
    return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope - jnp.moveaxis(slope, 2, 0))
