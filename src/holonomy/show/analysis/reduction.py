r"""Routh's and Chaplygin's reductions, quadrature of one degree of freedom, and Jacobi's metric.

Routh's function is derived in SymPy, \(R = L - \sum p_c v_c\) with \(v_c\) solved from
\(p_c = \partial L/\partial v_c\), so that the reduced system can be typed: its Lagrangian is a formula of scenes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
import sympy as sp

import holonomy as hl
from holonomy.notation import symbol
from holonomy.show.analysis.energy import time_free
from holonomy.show.analysis.item import Item
from holonomy.show.analysis.statements import say
from holonomy.symmetry import EnergyFunction
from holonomy.symmetry.dependence import depends_on
from holonomy.symmetry.turning_points import FARTHEST, LOOKED_AT
from holonomy.systems import System
from holonomy.systems.equations.derive import Equations
from holonomy.systems.equations.symbols import Names

_SAID: Final = {sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.exp, sp.log}
"""Functions that formulas of scenes have under the same name; roots are powers."""
_FLAT: Final = 1e-12
"""Of the inverse metric: curvatures below are rounding of zero."""
_LONGEST: Final = 1500
"""Characters of a Lagrangian that a person still reads."""


def items(
    system: System, energy: EnergyFunction, q: np.ndarray, v: np.ndarray, t: float, equations: Equations | None
) -> Iterator[Item]:
    """Routh's reduction, quadrature, Jacobi's metric, each where it applies."""
    cyclic = hl.cyclic(system)
    if cyclic and len(cyclic) < len(system.names):
        yield _routh(system, cyclic, q, v, t, equations)
    if system.flat and system.constraints.equations.counts[1] and not system.constraints.walls.total:
        yield from _rolling(system, q, v, t)
    if len(system.names) == 1 and system.flat and not system.constraints.equations.total:
        yield Item("Quadrature", _solved(system, q, v, t, symbol(system.names[0])))
    if len(system.names) == 2 and system.flat:
        yield from _jacobi(system, energy, q, v, t)


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
    title = "Routh's reduction"
    # a coordinate that is needed has a constant velocity, so that this is where it was at t = 0
    start = {name: float(q[i] - t * v[i]) for i, name in enumerate(system.names) if name in cyclic}
    try:
        reduced = hl.routh(system, values, start=start)
    except ValueError as error:
        return Item(title, say("not reduced", cyclic=letters, reason=error))
    words = {"cyclic": letters, "kept": others, "checked": reduced.checked}
    carried, steady = (_symbols(system, which) for which in (reduced.carried, reduced.steady))
    if carried:
        return Item(title, say("carried along", carried=carried, **words))
    sentence = say("reduced in time", known=steady, **words) if steady else say("reduced", **words)
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


def _symbols(system: System, which: tuple[int, ...]) -> str:
    return ", ".join(symbol(system.names[i]) for i in which)


def _rolling(system: System, q: np.ndarray, v: np.ndarray, t: float) -> Iterator[Item]:
    """Chaplygin's reduction, where velocity constraints give velocities of coordinates on which nothing depends."""
    every = depends_on(system)
    held = {i for d in every if d.kind == "velocity" for i in d.acts}
    free = [i for i in range(len(system.names)) if i in held and not any(i in d.positions for d in every)]
    count = system.constraints.equations.counts[1]
    few = [] if len(free) < count else [tuple(free[:count])]
    for which in dict.fromkeys([tuple(free), *few]):
        if not which or len(which) == len(system.names):
            continue
        try:
            reduced = hl.chaplygin(system, [system.names[i] for i in which])
            reduced.adapted(q, v, t)
        except ValueError:
            continue
        kept = [system.names[i] for i in range(len(system.names)) if i not in which]
        words = {
            "out": _symbols(system, which),
            "kept": ", ".join(map(symbol, kept)),
            "checked": reduced.checked,
        }
        new = len(reduced.names) - len(kept)
        if new:
            words["new"] = str(new)
        yield Item("Chaplygin's reduction", say("rolling with momentum" if new else "rolling", **words))
        return


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
    return f" {say('one degree')} {_solved(reduced, q[[i]], v[[i]], t, symbol(kept[0]))}"


def _solved(system: System, q: np.ndarray, v: np.ndarray, t: float, letter: str) -> str:
    """The motion of one degree of freedom from the state by its energy integral, in a sentence."""
    energy = hl.energy_function(system)
    if time_free(system, energy) and not v.any() and not np.any(np.asarray(system.acceleration(t, q, v))):
        return say("at rest", name=letter)
    try:
        value = float(energy(t, q, v))
        found = hl.quadrature(system, value, start=float(q[0]))
    except ValueError as error:
        return say("no integral", reason=error)
    low, high = found.turning
    if found.kind == "unbounded":
        return say("unbounded", name=letter, far=f"{FARTHEST:g}")
    which = {"low": f"{low:.9g}", "high": f"{high:.9g}", "period": f"{found.period:.9g}", "count": LOOKED_AT}
    return say(found.kind, name=letter, **which)


def _jacobi(system: System, energy: EnergyFunction, q: np.ndarray, v: np.ndarray, t: float) -> Iterator[Item]:
    title = "Jacobi's metric"
    try:
        value = float(energy(t, q, v))
        metric = hl.jacobi_metric(system, value)
        curved = float(metric.curvature.gaussian(q)) if v.any() else np.nan
    except ValueError as error:
        yield Item(title, say("no metric", reason=error))
        return
    if not np.isfinite(curved):  # at rest, where the metric vanishes
        return
    # lengths of the metric are actions, and curvatures their inverse squares
    size = float(jnp.max(jnp.abs(jnp.linalg.inv(metric(q)))))
    which = "flat" if abs(curved) <= _FLAT * size else "part" if curved < 0 else "approach"
    sentence = say("geodesics", value=f"{value:.6g}", curvature=f"{curved:.6g}")
    yield Item(title, f"{sentence} {say(which)}")
