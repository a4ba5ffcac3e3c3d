"""Accelerations of scenes against those that `sympy.physics.mechanics` derives from descriptions of its own.

Both sides take the same numbers: random states, moved onto the constraints where there are some. SymPy's equations
are solved numerically; where its speeds are not the rates of the coordinates, they are computed from these.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from tests.scene import sympy_joints, sympy_rolling, sympy_systems

from holonomy.scene import build, load

SCENES = Path(__file__).parents[2] / "examples" / "sympy"
me, T = sympy_systems.me, sympy_systems.T
DESCRIPTIONS = {**vars(sympy_systems), **vars(sympy_joints), **vars(sympy_rolling)}
CASES = {path.stem: path.stem for path in sorted(SCENES.glob("*.toml"))} | {"rolling_disc_by_lagrange": "rolling_disc"}
"""SymPy's descriptions, each with its scene."""
STATES = 3


def accelerations(method: Any, parameters: Mapping[str, Any]) -> tuple[list[str], Callable[..., np.ndarray]]:
    """Names of SymPy's coordinates, and their accelerations as a function (t, q, v), from its own equations."""
    q = list(method.q)
    rates = [x.diff(T) for x in q]
    if isinstance(method, me.KanesMethod):
        u, known = list(method.u), method.kindiffdict()
        kinematic = sp.Matrix([known[x] for x in rates])
    else:
        u = [me.dynamicsymbols(f"rate_{i}") for i in range(len(q))]
        kinematic = sp.Matrix(u)
    names = {x: sp.Symbol(f"v_{i}") for i, x in enumerate(rates)}
    plain = {x: sp.Symbol(f"q_{i}") for i, x in enumerate(q)} | {x: sp.Symbol(f"u_{i}") for i, x in enumerate(u)}

    def written(expression: Any) -> Any:
        """With symbols in place of functions of time, and the scene's numbers in place of SymPy's parameters."""
        found = sp.Matrix(expression).xreplace(names).xreplace(plain)
        values = {s: parameters[str(s)] for s in found.free_symbols if str(s) in parameters}
        values |= {f: parameters[f.func.__name__] for f in found.atoms(sp.Function) if f.func.__name__ in parameters}
        return found.xreplace(values)

    arguments = [T, [plain[x] for x in q], list(names.values()), [plain[x] for x in u]]
    at_rest = kinematic.xreplace(dict.fromkeys(u, sp.S.Zero))
    parts = [method.mass_matrix_full, method.forcing_full, kinematic.jacobian(u), at_rest]
    along = kinematic.jacobian(q) * sp.Matrix(rates)
    compiled = sp.lambdify(arguments, [written(part) for part in (*parts, along)], cse=True)

    def at(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        *_, slope, still, _ = compiled(t, x, v, np.zeros(len(u)))
        speeds = np.linalg.solve(slope, v - np.ravel(still))
        mass, force, slope, still, along = compiled(t, x, v, speeds)
        solved = np.linalg.solve(mass, np.ravel(force))[len(q) : len(q) + len(u)]
        return slope @ solved + np.ravel(along)

    return [x.func.__name__ for x in q], at


SLOW = (
    "bicycle",
    "cart_with_two_wheels",
    "four_bar",
    "planar_joint",
    "rolling_ball",
    "rolling_disc_with_a_mass",
    "slider_crank",
    "spherical_joint",
    "spinning_top",
)
"""Each takes 2 to 20 s, mostly to compile our side."""


@pytest.mark.parametrize(
    ("description", "name"),
    [pytest.param(*case, marks=pytest.mark.proof if case[0] in SLOW else ()) for case in CASES.items()],
)
def test_accelerations_are_those_of_sympy(description: str, name: str) -> None:
    built = build(load(SCENES / f"{name}.toml"))
    names, theirs = accelerations(DESCRIPTIONS[description](), built.setup.parameters)
    system = built.system
    order = [system.names.index(one) for one in names]
    held = system.constraints.equations.counts
    generator = np.random.default_rng(7)
    for _ in range(STATES):
        t = generator.uniform(0.0, 2.0)
        q = np.array(built.setup.q) + generator.uniform(-0.4, 0.4, len(system.names))
        v = generator.uniform(-1.0, 1.0, len(system.names))
        if any(held):
            q, v = (np.asarray(x) for x in system.project(t, q, v))
        ours = np.asarray(system.acceleration(t, q, v))[order]
        np.testing.assert_allclose(ours, theirs(t, q[order], v[order]), rtol=1e-10, atol=1e-10)


def test_a_disc_without_multipliers_is_another_system() -> None:
    """SymPy's own test puts the velocity of rolling into the Lagrangian; Kane's method and the scene know better."""
    parameters = {"m": 1.2, "r": 0.5, "g": 9.81}
    state = 0.0, np.array([0.3, 0.4, 0.1]), np.array([0.7, -0.5, 2.0])
    known, put_in = (
        accelerations(DESCRIPTIONS[name](), parameters)[1](*state)
        for name in ("rolling_disc", "rolling_disc_without_multipliers")
    )
    assert np.max(np.abs(known - put_in)) > 0.1


def test_there_are_more_than_twenty() -> None:
    """So that a scene without a description is noticed, too."""
    assert set(CASES) <= set(DESCRIPTIONS)
    assert len(CASES) > 20
