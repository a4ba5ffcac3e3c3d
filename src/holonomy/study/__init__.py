"""Many runs and long ones: how fast neighbours part, and where a motion crosses a surface."""

from holonomy.study.ensemble import ensemble
from holonomy.study.ghost import Ghost, ghost
from holonomy.study.lyapunov import Lyapunov, lyapunov
from holonomy.study.section import Section, section

__all__ = ["Ghost", "Lyapunov", "Section", "ensemble", "ghost", "lyapunov", "section"]
