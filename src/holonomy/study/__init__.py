"""Many runs and long ones: ensembles, divergence of neighbouring motions, Poincaré sections."""

from holonomy.study.ensemble import ensemble
from holonomy.study.ghost import Ghost, ghost
from holonomy.study.lyapunov import Lyapunov, lyapunov
from holonomy.study.section import Section, section

__all__ = ["Ghost", "Lyapunov", "Section", "ensemble", "ghost", "lyapunov", "section"]
