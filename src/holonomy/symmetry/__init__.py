"""What a system conserves, and what that is good for: symmetries, reduction, statics, stationary action."""

from holonomy.symmetry.chaplygin import chaplygin
from holonomy.symmetry.conserved import Conserved
from holonomy.symmetry.cyclic import cyclic
from holonomy.symmetry.energy_function import EnergyFunction, energy_function
from holonomy.symmetry.equilibria import Equilibrium, Family, equilibria
from holonomy.symmetry.free_rotation import FreeRotation
from holonomy.symmetry.integrability import Integrability, integrability
from holonomy.symmetry.jacobi_integral import jacobi_integral
from holonomy.symmetry.jacobi_metric import JacobiMetric, jacobi_metric
from holonomy.symmetry.jacobi_stability import JacobiStability
from holonomy.symmetry.killing import KillingAlgebra, killing
from holonomy.symmetry.least_action import StationaryPath, least_action
from holonomy.symmetry.noether import noether
from holonomy.symmetry.normal_modes import NormalModes, normal_modes
from holonomy.symmetry.quadrature import Quadrature, quadrature
from holonomy.symmetry.reduced_system import ReducedSystem
from holonomy.symmetry.routh import routh

__all__ = [
    "Conserved",
    "EnergyFunction",
    "Equilibrium",
    "Family",
    "FreeRotation",
    "Integrability",
    "JacobiMetric",
    "JacobiStability",
    "KillingAlgebra",
    "NormalModes",
    "Quadrature",
    "ReducedSystem",
    "StationaryPath",
    "chaplygin",
    "cyclic",
    "energy_function",
    "equilibria",
    "integrability",
    "jacobi_integral",
    "jacobi_metric",
    "killing",
    "least_action",
    "noether",
    "normal_modes",
    "quadrature",
    "routh",
]
