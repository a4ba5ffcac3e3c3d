"""The table of supported primitives as a page, so that what is documented is what there is."""

from __future__ import annotations

from typing import Final

from holonomy.trace.graph.operations import OPERATIONS
from holonomy.trace.jaxpr import READ_AS_CALLS
from holonomy.trace.lowering.primitives import GROUPS

START: Final = "<!-- primitives: written by holonomy.trace.lowering.primitive_table -->"
END: Final = "<!-- end of primitives -->"


def markdown() -> str:
    """The primitives by kind, and the scalar operations they become."""
    lines = ["| kind | JAX primitives |", "| --- | --- |"]
    for group, rules in GROUPS.items():
        names = (set(rules) - {"call"}) | (READ_AS_CALLS if "call" in rules else set())
        lines.append(f"| {group} | {', '.join(f'`{name}`' for name in sorted(names))} |")
    operations = ", ".join(f"`{name}`" for name in OPERATIONS)
    return "\n".join([START, "", *lines, "", f"Scalar operations of the graph: {operations}.", "", END])


def updated(page: str) -> str:
    """`page` with the table between its marks brought up to date."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return before + markdown() + after
