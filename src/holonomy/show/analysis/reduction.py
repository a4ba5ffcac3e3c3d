r"""From cyclic coordinates to Routh's function, from one degree of freedom to quadrature, and Jacobi's metric.

Routh's function is derived in SymPy, \(R = L - \sum p_c v_c\) with \(v_c\) solved from
\(p_c = \partial L/\partial v_c\), so that the reduced system can be typed: its Lagrangian is a formula of scenes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import sympy as sp

import holonomy as hl
from holonomy.notation import symbol
from holonomy.show.analysis.item import Item
from holonomy.systems import System
from holonomy.systems.equations.derive import Equations
from holonomy.systems.equations.symbols import Names

_SAID: Final = {sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.exp, sp.log}
"""Functions that formulas of scenes have under the same name; roots are powers."""
_ASIDE: Final = 1e-4
_LONGEST: Final = 1500
"""Characters of a Lagrangian that a person still reads."""


def items(system: System, q: np.ndarray, v: np.ndarray, t: float, equations: Equations | None) -> Iterator[Item]:
    """Routh's reduction, quadrature, Jacobi's metric, each where it applies."""
    cyclic = hl.cyclic(system)
    if cyclic and len(cyclic) < len(system.names):
        yield _routh(system, cyclic, q, v, t, equations)
    yield from _quadrature(system, q, v, t)
    if len(system.names) == 2:
        yield from _jacobi(system, q, v, t)


def momentum_row(system: System, equations: Equations, name: str) -> tuple[str, str]:
    r"""\(p = \partial L/\partial v\) of a coordinate, in LaTeX."""
    i, names = system.names.index(name), Names(system)
    return names.latex(names.p[i]), names.latex(sp.simplify(equations.sympy.momenta[i]))


def _routh(
    system: System, cyclic: tuple[str, ...], q: np.ndarray, v: np.ndarray, t: float, equations: Equations | None
) -> Item:
    momenta = np.asarray(system.momentum(t, q, v))
    values = {name: float(momenta[system.names.index(name)]) for name in cyclic}
    kept = [name for name in system.names if name not in cyclic]
    letters = ", ".join(symbol(name) for name in cyclic)
    others = ", ".join(symbol(name) for name in kept)
    sentence = f"With the momentum of {letters} constant, the motion of {others} is a system of its own."
    title = "Routh's reduction"
    try:
        reduced = hl.routh(system, values)
    except ValueError as error:
        return Item(title, f"{sentence} {error}")
    extra = _reduced_quadrature(reduced, kept, system, q, v, t)
    if equations is None or system.forces or system.constraints:
        return Item(title, sentence + extra)
    names = Names(system)
    solved, function = _routhian(system, cyclic, equations)
    if function is None:
        return Item(title, sentence + extra)
    rows = [("R", names.latex(function))]
    rows += [(names.latex(names.v[system.names.index(name)]), names.latex(e)) for name, e in solved.items()]
    text = _typed(names, function)
    said = None
    if text is not None:
        where = dict(zip(system.names, zip(q, v, strict=True), strict=True))
        said = {
            "coordinates": {name: system.coordinates[system.names.index(name)].kind for name in kept},
            "lagrangian": text,
            "parameters": {**_scalars(system), **{f"p_{name}": value for name, value in values.items()}},
            "q": {name: float(where[name][0]) for name in kept},
            "v": {name: float(where[name][1]) for name in kept},
        }
    return Item(title, sentence + extra, tuple(rows), said)


def _routhian(system: System, cyclic: tuple[str, ...], equations: Equations) -> tuple[dict[str, Any], Any]:
    """The velocities of the cyclic coordinates in terms of their momenta, and Routh's function; None if not found."""
    said, places = equations.sympy, [system.names.index(name) for name in cyclic]
    rates = [said.velocities[i] for i in places]
    stand = [sp.Symbol(f"rate_{i}") for i in places]
    momenta = [said.momentum_symbols[i] for i in places]
    conditions = [
        (sp.sympify(said.momenta[i]) - p).subs(dict(zip(rates, stand, strict=True)))
        for i, p in zip(places, momenta, strict=True)
    ]
    found = sp.solve(conditions, stand, dict=True)
    if len(found) != 1 or len(found[0]) != len(stand):
        return {}, None
    solved = {name: sp.simplify(found[0][s]) for name, s in zip(cyclic, stand, strict=True)}
    whole = sp.sympify(said.lagrangian) - sum(p * r for p, r in zip(momenta, rates, strict=True))
    replaced = whole.subs(dict(zip(rates, solved.values(), strict=True)))
    return solved, sp.simplify(sp.expand(replaced))


def _typed(names: Names, expression: Any) -> str | None:
    """The expression as a formula of scenes; None where it uses a function that they do not have, or is too long."""
    used = {node.func for node in sp.preorder_traversal(expression) if isinstance(node, sp.Function)}
    text = names.text(expression)
    own = {place.func for place in (*names.q, *names.p)}
    return text if used <= _SAID | own and len(text) <= _LONGEST else None


def _scalars(system: System) -> dict[str, float]:
    return {name: float(np.asarray(value)) for name, value in system.parameters.items()}


def _reduced_quadrature(reduced: Any, kept: list[str], system: System, q: np.ndarray, v: np.ndarray, t: float) -> str:
    if len(kept) != 1:
        return ""
    i = system.names.index(kept[0])
    sentence = _solved(reduced, q[[i]], v[[i]], t, symbol(kept[0]))
    return f" It has one degree of freedom. {sentence}"


def _quadrature(system: System, q: np.ndarray, v: np.ndarray, t: float) -> Iterator[Item]:
    if len(system.names) == 1 and not system.constraints:
        yield Item("Quadrature", _solved(system, q, v, t, symbol(system.names[0])))


def _solved(system: System, q: np.ndarray, v: np.ndarray, t: float, letter: str) -> str:
    """The motion of one degree of freedom from the state by its energy integral, in a sentence."""
    try:
        energy = float(system.energy(t, q, v))
        start = float(q[0])
        if not v.any():  # a turning point: the motion passes near by, on the side to which it is pushed
            start += _ASIDE * (1.0 + abs(start)) * float(np.sign(system.acceleration(t, q, v)[0]))
        found = hl.quadrature(system, energy, start=start)
    except ValueError as error:
        return f"Its energy integral: {error}"
    low, high = found.turning
    if found.kind == "oscillation":
        return (
            f"The energy integral gives an oscillation of {letter} between {low:.9g} and {high:.9g} with the period "
            f"{found.period:.9g} s."
        )
    if found.kind == "rotation":
        return f"The energy integral gives a rotation of {letter} with the period {found.period:.9g} s."
    return f"The motion of {letter} with this energy is not bounded."


def _jacobi(system: System, q: np.ndarray, v: np.ndarray, t: float) -> Iterator[Item]:
    try:
        energy = float(system.energy(t, q, v))
        metric = hl.jacobi_metric(system, energy)
        curved = float(metric.curvature.gaussian(q))
    except ValueError:
        return
    if not np.isfinite(curved):
        return
    which = "part" if curved < 0 else "approach each other"
    yield Item(
        "Jacobi's metric",
        f"Paths of the energy {energy:.6g} J are geodesics of 2(E − V)g. Its curvature at the start is {curved:.6g}: "
        f"near-by motions of this energy {which} there.",
    )
