"""Checks by theorem for what users bring themselves: the same ones that the library's own parts pass."""

from holonomy.testing.space import THEOREMS as THEOREMS
from holonomy.testing.space import TheoremFailed as TheoremFailed
from holonomy.testing.space import check_space as check_space
