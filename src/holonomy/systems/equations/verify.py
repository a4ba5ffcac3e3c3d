"""Equations compared with automatic differentiation at random states, before they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy as sp

from holonomy.systems import lagrangian
from holonomy.trace.graph.numeric import evaluate
from holonomy.trace.lowering.scalarise import scalarise

if TYPE_CHECKING:
    from holonomy.systems.equations.derive import Symbolic
    from holonomy.systems.equations.symbols import Names
    from holonomy.systems.system import System

TOLERANCE = 1e-9  # relative to the size of the terms of a formula
_WANTED = 3  # states at which all formulas must agree
_TRIED = 60  # random states at most until so many lie in the domain of the functions
# Where a function may have its domain: around 1, small, large, both signs.
_RANGES = ((0.3, 1.4), (-1.0, 1.0), (1.1, 3.0), (-0.4, 0.4))


class Disagreement(RuntimeError):
    """A derived equation does not agree with automatic differentiation; it is not shown."""


def check(system: System, names: Names, found: Symbolic) -> None:
    """Raise `Disagreement` unless every formula agrees with automatic differentiation, up to the size of its terms."""
    reference = _reference(system)
    formulas = _formulas(names, found)
    good, worst, tried = 0, (0.0, ""), 0
    random = np.random.default_rng(20060207)
    while good < _WANTED and tried < _TRIED:
        low, high = _RANGES[tried % len(_RANGES)]
        tried += 1
        n = len(names.q)
        state = (random.uniform(0.1, 1.0), *random.uniform(low, high, (2, n)), random.uniform(-1, 1, n))
        known = reference(*state)
        if not all(np.all(np.isfinite(x)) for x in known.values()):
            continue
        good += 1
        known["lambda"] = random.uniform(-1, 1, len(names.multipliers))
        worst = max(worst, _compare(formulas(*state, known["p"], known["lambda"]), known, state, found))
        if worst[0] > TOLERANCE:
            raise Disagreement(
                f"The derived {worst[1]} differs from automatic differentiation by {worst[0]:.2g} (relative), so "
                "the equations are not shown. This is a defect of holonomy: please report it with the function that "
                "was traced."
            )
    if good < _WANTED:
        raise ValueError(
            f"The equations could not be checked: the functions have finite values at {good} of {tried} random states. "
            "Choose parameters at which they are defined for coordinates and velocities around 1."
        )


def _reference(system: System) -> Any:
    """(t, q, v, a) -> known values, all derivatives by automatic differentiation."""
    function, n = system.raw_lagrangian, system.space.point_dim
    held = system.constraints.equations
    p = (system.parameters,) if system.parametric else ()

    def conditions(t: Any, q: Any, v: Any) -> dict[str, Any]:
        if not held.total:
            return {}
        position = [f(t, q, *p) for f in held.holonomic]
        normals = [jax.jacfwd(f, argnums=1)(t, q, *p) for f in held.holonomic]
        normals += [jax.jacfwd(f, argnums=2)(t, q, v, *p) for f in held.velocity]
        values = [*position, *[f(t, q, v, *p) for f in held.velocity]]
        return {"N": jnp.concatenate(normals), "conditions": jnp.concatenate(values)}

    def everything(t: Any, q: Any, v: Any) -> dict[str, Any]:
        return {
            "L": function(t, q, v),
            "p": lagrangian.momentum(function, t, q, v),
            "M": lagrangian.mass_matrix(function, t, q, v),
            "f": lagrangian.inertial_force(function, t, q, v),
            "pull": jax.grad(function, argnums=1)(t, q, v),
            "Q": system.raw_force(t, q, v),
            **conditions(t, q, v),
        }

    # Evaluated as a graph, since compiling all this would take longer than deriving the equations; the value of the
    # Lagrangian itself comes from JAX as well, so that a wrong graph is seen.
    flat = scalarise(everything, (np.float64(0.0), np.zeros(n), np.zeros(n)))
    nodes = [node for out in flat.outputs for node in out.nodes]
    names = ["L", "M", *(["N"] if held.total else []), "Q"]  # in the order of jax.tree.leaves
    names += [*(["conditions"] if held.total else []), "f", "p", "pull"]

    def at(t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
        values = iter(evaluate(nodes, [np.asarray(t), q, v, np.array(flat.numbers)]))
        known = {
            k: np.array([next(values) for _ in o.nodes]).reshape(o.shape)
            for k, o in zip(names, flat.outputs, strict=True)
        }
        known["L (JAX)"] = np.asarray(_lagrangian(system, t, q, v))
        known["a"] = a
        return known

    return at


@eqx.filter_jit
def _lagrangian(system: System, t: Any, q: Any, v: Any) -> Any:
    return system.raw_lagrangian(t, q, v)


def _formulas(names: Names, found: Symbolic) -> Any:
    """(t, q, v, a, p, multipliers) -> the numbers that the formulas give, by name."""
    plain = [sp.Symbol(f"_{k}") for k in range(4 * len(names.q))]
    leaves = [*names.q, *names.v, *names.a, *names.p]
    swap = dict(zip(leaves, plain, strict=True))
    f: Any = found  # SymPy has no types for arithmetic
    wanted: dict[str, Any] = {
        "L": found.lagrangian,
        "p": list(found.momenta),
        "M": list(f.mass_matrix),
        "Q": list(found.forces),
        "conditions": [e.lhs for e in found.constraints],
        "equations": [e.lhs - e.rhs for e in f.lagrange],
        "accelerations": list(found.accelerations or ()),
        "H": 0 if found.hamiltonian is None else found.hamiltonian,
        "Hamilton": [e.rhs for e in found.hamilton or ()],
        "parts": 0 if found.T2 is None else f.T2 + f.T1 + f.T0 - f.potential,
        "h": found.energy_function,
        "V'": 0 if found.effective_potential is None else f.T2 - f.effective_potential,
        "energies": 0 if found.T2 is None else f.kinetic - f.potential,
    }
    flat = [
        sp.sympify(e).xreplace(swap)
        for value in wanted.values()
        for e in (value if isinstance(value, list) else [value])
    ]
    function = sp.lambdify([names.t, *plain, *names.multipliers, *names.values], flat, modules=["scipy", "numpy"])

    def at(t: float, q: Any, v: Any, a: Any, p: Any, multipliers: Any) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            numbers = iter(function(t, *q, *v, *a, *p, *multipliers, *names.values.values()))
        return {
            key: np.array([next(numbers) for _ in value], float) if isinstance(value, list) else float(next(numbers))
            for key, value in wanted.items()
        }

    return at


def _compare(got: dict[str, Any], known: dict[str, Any], state: Any, found: Symbolic) -> tuple[float, str]:
    """The largest relative difference, and of which formula."""
    _, _, v, a = state
    mass, right = known["M"], known["f"] + known["Q"]
    size = np.abs(mass) @ np.abs(a) + np.abs(known["f"]) + np.abs(known["pull"]) + np.abs(known["Q"])
    reaction = np.zeros_like(a)
    if len(known["lambda"]):
        reaction = known["N"].T @ known["lambda"]
        size = size + np.abs(known["N"]).T @ np.abs(known["lambda"])
    scale = abs(known["L"]) + np.abs(known["p"]) @ np.abs(v)
    gaps = [
        (_gap(got["L"], known["L"], scale), "Lagrangian"),
        (_gap(got["L"], known["L (JAX)"], scale), "Lagrangian"),
        (_gap(got["p"], known["p"], np.abs(known["p"]).max()), "momentum"),
        (_gap(got["M"], mass.ravel(), np.abs(mass).max()), "mass matrix"),
        (_gap(got["Q"], known["Q"], np.abs(known["Q"]).max()), "force"),
        (_gap(got["equations"], mass @ a - right - reaction, size.max()), "Lagrange equation"),
    ]
    if len(known["lambda"]):
        gaps.append((_gap(got["conditions"], known["conditions"], 1.0 + np.abs(known["N"]).max()), "constraint"))
    if found.accelerations is not None:
        solution = np.linalg.solve(mass, right)
        scale_a = np.linalg.cond(mass) * (
            np.abs(solution).max() + np.linalg.norm(np.linalg.inv(mass), 1) * size.max() * 1e-3
        )
        gaps.append((_gap(got["accelerations"], solution, scale_a), "acceleration"))
    gaps.append((_gap(got["h"], known["p"] @ v - known["L"], scale), "energy function"))
    if found.T2 is not None:
        quadratic = 0.5 * v @ mass @ v
        gaps.append((_gap(got["V'"], 2 * quadratic - (known["p"] @ v - known["L"]), scale + quadratic), "potential"))
        gaps += [(_gap(got[k], known["L"], scale), "kinetic energy") for k in ("parts", "energies")]
    if found.hamiltonian is not None:
        expected = np.concatenate([v, known["pull"] + known["Q"]])
        loss = np.linalg.cond(mass)
        gaps.append((_gap(got["H"], known["p"] @ v - known["L"], loss * scale), "Hamiltonian"))
        gaps.append((_gap(got["Hamilton"], expected, loss * (np.abs(v).max() + size.max())), "Hamilton's equations"))
    return max(gaps)


def _gap(a: Any, b: Any, scale: Any) -> float:
    gap = float(np.max(np.abs(a - b) / (scale + 1e-300), initial=0.0))
    return gap if np.isfinite(gap) else float("inf")
