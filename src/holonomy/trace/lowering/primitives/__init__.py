"""The table of JAX primitives that can be lowered: name → rule `rule(lowering, site, *values) -> value(s)`."""

from __future__ import annotations

from typing import Any, Final

from holonomy.trace.lowering.primitives import control, elementwise, indexing, linear, reductions, shapes

GROUPS: Final[dict[str, dict[str, Any]]] = {
    "Elementwise": elementwise.RULES,
    "Shapes": shapes.RULES,
    "Reductions and products": reductions.RULES,
    "Indexing": indexing.RULES,
    "Linear algebra": linear.RULES,
    "Control flow and calls": control.RULES,
}
RULES: Final[dict[str, Any]] = {name: rule for group in GROUPS.values() for name, rule in group.items()}
