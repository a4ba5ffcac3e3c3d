"""What a system conserves, and what that is good for: symmetries, reduction, statics, stationary action."""

from holonomy.symmetry.cyclic import cyclic
from holonomy.symmetry.integrability import Integrability, integrability
from holonomy.symmetry.killing import KillingAlgebra, killing
from holonomy.symmetry.noether import Conserved, jacobi_integral, noether

__all__ = [
    "Conserved",
    "Integrability",
    "KillingAlgebra",
    "cyclic",
    "integrability",
    "jacobi_integral",
    "killing",
    "noether",
]
