r"""Jacobi's metric: motions of one energy as geodesics.

Motions of energy E of a system with kinetic metric g and potential V trace the geodesics of \(2(E - V)\,g\). With the
length s of that metric as parameter, \(ds/dt = 2(E - V) = 2T\).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.geometry import curvature, geodesic
from holonomy.geometry.curvature import MetricCurvature
from holonomy.motion import Run
from holonomy.symmetry.along_run import integrals
from holonomy.symmetry.jacobi_stability import JacobiStability, stability
from holonomy.symmetry.natural import Natural, refuse_not_quadratic, refuse_others
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import AnyArray, Matrix, Number, Numbers, Scalar, VectorLike


class JacobiMetric(eqx.Module):
    r"""The metric \(2(E - V)\,g\): a function q -> (n, n), to be passed to `hl.geometry`.

    Called with numbers, it raises `ValueError` where the energy is not above the potential.
    """

    natural: Natural
    energy: Scalar | float

    def __repr__(self) -> str:
        energy = "" if isinstance(self.energy, Tracer) else f" for the energy {float(self.energy):g}"
        return f"<Jacobi's metric 2 (E - V) g{energy}: {self.natural.local.system!r}>"

    def __call__(self, q: VectorLike) -> Matrix:
        at = jnp.asarray(q, float)
        double = self.rate(at)
        return double * self.natural.metric(at)

    def rate(self, q: VectorLike) -> Scalar:
        r"""\(ds/dt = 2(E - V)\), twice the kinetic energy of a motion at q."""
        at = jnp.asarray(q, float)
        double = 2.0 * (self.energy + self.natural.rest(at))
        if not isinstance(double, Tracer) and not float(double) > 0:
            raise ValueError(
                f"The energy {float(self.energy):g} is not above the potential {float(-self.natural.rest(at)):g} at "
                f"q = {np.array2string(np.asarray(at), precision=4)}: no motion of this energy gets there."
            )
        return double

    @property
    def curvature(self) -> MetricCurvature:
        """The curvature of the metric: where it is negative, motions of this energy part exponentially."""
        return curvature(self)

    def parameter(self, run: Run) -> np.ndarray:
        """The length s of the metric at the saved times of a run of this energy."""
        return integrals(run, lambda t, q, v: 2.0 * (self.energy + self.natural.rest(q)))[:, 0]

    def stability(self, run: Run, start: VectorLike | None = None, rate: VectorLike | None = None) -> JacobiStability:
        """How neighbours of the same energy part from a motion: the Jacobi equation along a run of this energy.

        **Arguments:** `start`, the displacement of a neighbour at the first saved time, by default one of length 1
        orthogonal to the motion; `rate`, its covariant derivative by the length of the metric, by default zero.

        **Fails** with `ValueError` for one degree of freedom, for a run of another energy, and for one that comes to
        rest.
        """
        return stability(self, run, start, rate)

    def path(self, q0: VectorLike, direction: VectorLike, s: Numbers) -> AnyArray:
        """The points at lengths s of the geodesic from q0 in a direction of any length: the path of the motion."""
        start, along = jnp.asarray(q0, float), jnp.asarray(direction, float)
        return geodesic(self, start, along / jnp.sqrt(along @ self(start) @ along), jnp.asarray(s, float))


def jacobi_metric(system: System, energy: Number) -> JacobiMetric:
    """The metric whose geodesics are the paths of the motions of a given energy.

    **Fails** with `ValueError` for systems with forces or constraints, for a Lagrangian that depends on the time, is
    not quadratic in v or has a part of first degree in v, and, when the metric is called, where the energy is below
    the potential.
    """
    if not system.flat:
        raise ValueError(
            f"hl.jacobi_metric writes a metric in coordinates, which points of {system.space} do not have."
        )
    refuse_others(system, "hl.jacobi_metric")
    at = states(system, 3)
    for _, q, _ in at:
        local = system.local(jnp.asarray(q))
        refuse_not_quadratic(local, q, "hl.jacobi_metric")
        linear = np.asarray(Natural(local).linear(jnp.asarray(q)))
        if np.max(np.abs(linear)) > 1e-9 * (1.0 + np.max(np.abs(np.asarray(Natural(local).metric(jnp.asarray(q)))))):
            raise ValueError(
                "The Lagrangian has a part of first degree in v (a magnetic field or a turning frame), so its motions "
                "of one energy are not geodesics."
            )
    value: Any = number("energy", energy)
    return JacobiMetric(Natural(system.local(jnp.asarray(at[0][1]))), jnp.asarray(value, float))
