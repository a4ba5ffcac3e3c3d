"""Checks by theorem for what users bring themselves: the same ones that the library's own parts pass."""

from holonomy.testing.failure import CheckFailed as CheckFailed
from holonomy.testing.method import check_method as check_method
from holonomy.testing.space import THEOREMS as THEOREMS
from holonomy.testing.space import TheoremFailed as TheoremFailed
from holonomy.testing.space import check_space as check_space
from holonomy.testing.system import check_system as check_system
