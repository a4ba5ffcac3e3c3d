r"""Jacobi's metric: motions of one energy as geodesics.

Let g be the kinetic metric, \(T_2 = \tfrac12 g(v, v)\), and \(V' = V - T_0\) the effective potential. Motions on which
the energy function \(h = T_2 + V'\) has the value E trace the geodesics of \(2(E - V')\,g\). With the length s of that
metric as parameter, \(ds/dt = 2(E - V') = 2T_2\). Where positions do not depend on the time h is the energy and V′ = V.
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
from holonomy.symmetry.natural import Natural, refuse_others
from holonomy.symmetry.natural_form import refuse_unnatural
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import AnyArray, Matrix, Number, Numbers, Scalar, VectorLike


class JacobiMetric(eqx.Module):
    r"""The metric \(2(E - V')\,g\): a function q -> (n, n), to be passed to `hl.geometry`.

    Called with numbers, it raises `ValueError` where the energy is not above the effective potential V′.
    """

    natural: Natural
    energy: Scalar | float

    def __repr__(self) -> str:
        energy = "" if isinstance(self.energy, Tracer) else f" for the energy {float(self.energy):g}"
        return f"<Jacobi's metric 2 (E - V') g{energy}: {self.natural.local.system!r}>"

    def __call__(self, q: VectorLike) -> Matrix:
        at = jnp.asarray(q, float)
        double = self.rate(at)
        return double * self.natural.metric(at)

    def rate(self, q: VectorLike) -> Scalar:
        r"""\(ds/dt = 2(E - V') = 2T_2\) of a motion at q."""
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

    **Arguments:** `energy`, the value of the energy function h = v·∂L/∂v − L, `hl.energy_function(system)(t, q, v)`. It
    is `system.energy(t, q, v)` where positions do not depend on the time.

    **Fails** with `ValueError` for systems with forces or constraints, for a Lagrangian that depends on the time, is
    not quadratic in v or has a part of first degree in v that is no total derivative, and, when the metric is called,
    where the energy is below the effective potential.
    """
    if not system.flat:
        raise ValueError(
            f"hl.jacobi_metric writes a metric in coordinates, which points of {system.space} do not have."
        )
    refuse_others(system, "hl.jacobi_metric")
    refuse_unnatural(system, "hl.jacobi_metric")
    value: Any = number("energy", energy)
    return JacobiMetric(Natural(system.local(jnp.zeros(len(system.names)))), jnp.asarray(value, float))
