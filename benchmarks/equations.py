"""Readable equations of the pendulum with N links: ours, from positions and a dense Lagrangian, and SymPy's method.

    python benchmarks/equations.py [--links 3,10] [--no-peers]

Ours includes tracing, the comparison with automatic differentiation and the LaTeX; SymPy's is `LagrangesMethod` and
`form_lagranges_equations` from the Lagrangian written in SymPy, without any of these.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import jax.numpy as jnp
import numpy as np
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import holonomy as hl
from holonomy.models.classics import multi_pendulum


def dense(links: int) -> hl.System:
    """From a Lagrangian written as sums over bobs."""
    return multi_pendulum(tuple(np.linspace(1, 1.3, links)), tuple(np.linspace(1, 0.8, links)), 9.81)


def placed(links: int) -> hl.System:
    """From positions, masses and a potential."""

    def positions(t: Any, q: Any, p: Any) -> Any:
        return jnp.stack([jnp.cumsum(p.l * jnp.sin(q)), -jnp.cumsum(p.l * jnp.cos(q))], axis=1)

    return hl.System.from_positions(
        positions,
        lambda p: p.m,
        lambda t, q, p: p.g * jnp.dot(p.m, positions(t, q, p)[:, 1]),
        {f"theta{i}": "angle" for i in range(1, links + 1)},
        {"m": np.linspace(1, 1.3, links), "l": np.linspace(1, 0.8, links), "g": 9.81},
    )


def ours(make: Any, links: int) -> tuple[float, int]:
    """Seconds from the user's functions to LaTeX, and its length."""
    start = time.perf_counter()
    latex = make(links).equations().latex
    return time.perf_counter() - start, len(latex)


def theirs(links: int) -> tuple[float, int]:
    """The same for SymPy's own method; its LaTeX is not counted."""
    q = dynamicsymbols(f"theta1:{links + 1}")
    v = dynamicsymbols(f"theta1:{links + 1}", 1)
    m, length, g = sp.symbols(f"m1:{links + 1}"), sp.symbols(f"l1:{links + 1}"), sp.Symbol("g")
    start = time.perf_counter()
    lagrangian, x, y, height = 0, 0, 0, 0
    for k in range(links):
        x, y = x + length[k] * sp.cos(q[k]) * v[k], y + length[k] * sp.sin(q[k]) * v[k]
        height -= length[k] * sp.cos(q[k])
        lagrangian += m[k] * (x**2 + y**2) / 2 - m[k] * g * height
    equations = LagrangesMethod(lagrangian, q).form_lagranges_equations()
    return time.perf_counter() - start, sp.count_ops(equations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="3,10")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    ours(placed, 2)  # imports and first uses
    print("links  dense L s  positions s  LaTeX characters  SymPy s  ratio  SymPy operations")
    for links in [int(n) for n in options.links.split(",")]:
        first, size = ours(dense, links)
        second, _ = ours(placed, links)
        row = f"{links:5d} {first:10.2f} {second:12.2f} {size:17d}"
        if not options.no_peers:
            peer, operations = theirs(links)
            row += f" {peer:8.2f} {max(first, second) / peer:6.2f} {operations:17d}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
