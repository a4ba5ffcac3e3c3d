"""The Pendulum lab's system: what is compiled, and the same as objects of the library. Needs JAX."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.models.pendulums.pendulum import raw_tensions
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.methods import LIBRARY
from holonomy.studio.labs.pendulum.settings import TABLE, described
from holonomy.studio.labs.settings import Settings, Structure, each_of

_PARTS: Final = {
    "energy": "Lagrangian",
    "lagrange": "Lagrange's equations",
    "acceleration": "Accelerations",
    "hamilton": "Hamiltonian and Hamilton's equations",
}
_READABLE: Final = 4
"""Links whose equations fit on a screen."""


def program(structure: Structure) -> Program:
    """The motion of a pendulum of this many rods or springs."""
    parts: dict[str, Any] = dict(structure)
    links, elastic = parts["links"], parts["model"] == "elastic"
    base = _springs(links) if elastic else _rods(links)
    return Program(
        system=lambda row: _with_numbers(base, links, elastic, TABLE.named(structure, row)),
        numbers=TABLE.size(structure),
        dimension=2 * links if elastic else links,
        method=_method(parts["method"]),
        observe=_seen_elastic if elastic else _seen_rigid,
        ghost_method=_method(parts["ghost_method"]) if "ghost_method" in parts else None,
    )


def _method(name: str) -> Any:
    row, options = LIBRARY[name]
    return row.make(**options)


def library(settings: Settings) -> tuple[hl.System, Any]:
    """The system and method that a user would make."""
    lengths, masses = each_of(settings, "length"), each_of(settings, "mass")
    p, method = settings.parameters, _method(settings.choices["method"])
    if settings.choices["model"] == "elastic":
        return hl.ElasticPendulum(lengths, masses, p["stiffness"], p["gravity"], p["damping"]), method
    return hl.Pendulum(lengths, masses, p["gravity"], p["damping"]), method


def equations(structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The equations of motion to read, with a sentence."""
    parts: dict[str, Any] = dict(structure)
    links = parts["links"]
    if links > _READABLE:
        return (
            f"The equations of {links} links are too long to show. Choose {_READABLE} links or fewer to read them.",
            (),
        )
    one = np.ones(links)
    elastic = parts["model"] == "elastic"
    system = hl.ElasticPendulum(one, one, one) if elastic else hl.Pendulum(one, one)
    found = system.equations()
    return "", tuple((_PARTS.get(part, part), _lettered(found.part(part))) for part in found.parts)


def _lettered(latex: str) -> str:
    """With the letters of the page in place of the parameters' names."""
    for word, letter in (("lengths", "l"), ("masses", "m"), ("stiffness", "k"), ("gravity", "g")):
        latex = latex.replace(rf"\mathrm{{{word}}}", letter)
    return latex


def _rods(links: int) -> hl.System:
    """Made with some damping, so that the compiled form has it; the numbers are data."""
    return hl.Pendulum(np.ones(links), np.ones(links), damping=1.0)


def _springs(links: int) -> hl.System:
    return hl.ElasticPendulum(np.ones(links), np.ones(links), 1.0, damping=1.0)


def _with_numbers(base: hl.System, links: int, elastic: bool, p: dict[str, Any]) -> hl.System:
    springs = {"stiffness": jnp.broadcast_to(p["stiffness"], (links,))} if elastic else {}
    return base.with_parameters(
        gravity=p["gravity"],
        damping=jnp.broadcast_to(p["damping"], (links,)),
        lengths=p["length"],
        masses=p["mass"],
        **springs,
    )


def _seen_rigid(system: hl.System, t: Any, q: Any, v: Any) -> Observed:
    kinetic, potential, x, w = _energies(system, t, q, v)
    energies = jnp.stack([kinetic, potential, kinetic + potential])
    p = system.parameters
    # Momenta of the angles: what hangs on a rod moves with it, across it.
    carried = jnp.cumsum((p["masses"][:, None] * w)[::-1], axis=0)[::-1]
    across = p["lengths"][:, None] * jnp.stack([jnp.cos(q), jnp.sin(q)], axis=1)
    momenta = jnp.sum(carried * across, axis=1)
    further = _further(w, raw_tensions(system, t, q, v), momenta[:, None])
    return jnp.concatenate([energies, q, v, further]), x, jnp.zeros_like(q)


def _seen_elastic(system: hl.System, t: Any, q: Any, v: Any) -> Observed:
    kinetic, potential, x, w = _energies(system, t, q, v)
    p: Any = system.parameters
    steps, rates = (jnp.diff(jnp.concatenate([jnp.zeros((1, 2)), y.reshape(-1, 2)]), axis=0) for y in (q, v))
    squares = jnp.sum(steps * steps, axis=1)
    strain = jnp.sqrt(squares) / p.lengths - 1.0
    springs = jnp.sum(0.5 * p.stiffness * (strain * p.lengths) ** 2)
    angles = jnp.arctan2(steps[:, 0], -steps[:, 1])
    turning = (steps[:, 0] * rates[:, 1] - steps[:, 1] * rates[:, 0]) / squares
    energies = jnp.stack([kinetic, potential, springs, kinetic + potential + springs])
    further = _further(w, p.stiffness * strain * p.lengths, p.masses[:, None] * w)
    return jnp.concatenate([energies, angles, turning, strain, further]), x, strain


def _further(w: Any, tensions: Any, momenta: Any) -> Any:
    """Speeds, tensions and momenta, of the links that `described` names."""
    links = w.shape[0]
    ends = jnp.asarray(described(links)) - 1
    speeds = jnp.sqrt(jnp.sum(w * w, axis=1))
    upper = jnp.asarray(described(links, upper=True)) - 1
    return jnp.concatenate([speeds[ends], tensions[upper], momenta[ends].ravel()])


def _energies(system: hl.System, t: Any, q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """Kinetic energy, energy in the field of gravity, where the bobs are, and their velocities."""
    p, places = system.parameters, system.positions
    x, w = jax.jvp(lambda y: _called(places, t, y, p), (q,), (v,))
    kinetic = 0.5 * jnp.sum(p["masses"] * jnp.sum(w * w, axis=1))
    return kinetic, p["gravity"] * jnp.sum(p["masses"] * x[:, 1]), x, w


def _called(places: Any, t: Any, q: Any, p: Any) -> Any:
    return places(t, q, p)
