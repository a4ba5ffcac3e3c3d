"""Every sentence that an analysis can print about a system, by its name.

`docs/statements.md` has a row for each of them with the test that fails where it is false. What stands in braces is put
in by `say`. Sentences that begin "It does not apply" end with the reason that a function of `holonomy.symmetry` gives.
"""

from __future__ import annotations

from typing import Final

STATEMENTS: Final[dict[str, str]] = {
    # ── configuration space
    "space": "Coordinates {names}; without constraints the configuration space is {space}.",
    "space named": "Coordinates {names}; without constraints the configuration space is {space} ({named}).",
    "surface": "{constraints} on positions: a surface of dimension {dim} in it near the start.",
    "moving surface": "{constraints} on positions: a surface of dimension {dim} in it near the start, which moves.",
    "walls": "{walls} bound{s} the part of it that can be reached.",
    "freedom": "Degrees of freedom: {dof}.",
    # ── equations
    "too long": "The equations of {count} coordinates are too long to read and are not derived.",
    "not written": "The equations cannot be written out: {reason}",
    # ── the energy function
    "h is the energy": "h = v·∂L/∂v − L is the energy T + V.",
    "h is not the energy": (
        "h = v·∂L/∂v − L = T₂ + V′ with V′ = V − T₀ is not the energy T + V, since positions depend on the time."
    ),
    "h of a Lagrangian": "h = v·∂L/∂v − L; a Lagrangian alone does not tell kinetic from potential energy.",
    "h conserved": "h is conserved, here {value} J.",
    "h conserved at states": "h is conserved {looked_at}, here {value} J.",
    "h not conserved": "h is here {value} J and is not known to be conserved: {reason}",
    "not quadratic": (
        "The Lagrangian is not quadratic in the velocities: there is no kinetic metric and no effective potential."
    ),
    # ── constraints on velocities
    "velocity constraints": "They are {found}.",
    "reached": (
        "Brackets of the allowed velocities span spaces of the dimensions {growth} at the start; of {count} "
        "coordinates, {last} can be changed independently."
    ),
    # ── equilibria
    "no equilibrium": "None was found from the start, from angles of 0 and π, and from random guesses.",
    "no rest": "The system depends on the time, so that no configuration of rest is looked for.",
    "stable": "{place}: stable.",
    "stable with frequencies": "{place}: stable, small vibrations of angular frequency {rates} rad/s.",
    "unstable": "{place}: unstable.",
    "unstable with rate": "{place}: unstable, growth rate {rate} s⁻¹.",
    "undecided": "{place}: undecided.",
    "because": "Reason: {why}.",
    "multipliers": "Multipliers there: {values}.",
    # ── conserved quantities
    "cyclic": "The momentum of the cyclic coordinate {name}, here {value}.",
    "symmetries": "Continuous symmetries of positions: {dim}, with the algebra {algebra}.",
    "no symmetry": "No continuous symmetry of positions.",
    "symmetries nearby": (
        "Continuous symmetries of positions near a point: {dim}; none was seen to hold at all states looked at."
    ),
    # ── Routh's reduction
    "reduced": "With the momentum of {cyclic} constant, the motion of {kept} is a system of its own, {checked}.",
    "reduced in time": (
        "With the momentum of {cyclic} constant, the motion of {kept} is a system of its own that depends on the time: "
        "forces or constraints contain {known}, which changes at a constant rate; {checked}."
    ),
    "carried along": (
        "With the momentum of {cyclic} constant, the motion of {kept} is no system of its own, since forces or "
        "constraints contain {carried}: these are carried along, their velocities given by the momenta; {checked}."
    ),
    "not reduced": "The coordinates {cyclic} are not left out: {reason}",
    "one degree": "It has one degree of freedom.",
    # ── Chaplygin's reduction
    "rolling": (
        "While they are independent in the velocities of {out}, the velocity constraints give these: the motion of "
        "{kept} is a system of its own, {checked}."
    ),
    "rolling with momentum": (
        "While they are independent in the velocities of {out}, the velocity constraints leave {new} of these free: "
        "with as many new velocities, whose momenta need not be constant, the motion of {kept} is a system of its own, "
        "{checked}."
    ),
    # ── quadrature
    "oscillation": (
        "The energy integral gives an oscillation of {name} between {low} and {high} with the period {period} s; "
        "between them V′ was looked at in {count} places."
    ),
    "rotation": (
        "The energy integral gives a rotation of {name} with the period {period} s; V′ was looked at in {count} places."
    ),
    "unbounded": (
        "The motion of {name} with this energy is not bounded: on one side no turning point was found as far as {far}."
    ),
    "at rest": "The start is an equilibrium: {name} stays there.",
    "no integral": "The energy integral does not apply: {reason}",
    # ── Jacobi's metric
    "geodesics": "Paths of h = {value} J are geodesics of 2(h − V′)g, whose curvature at the start is {curvature}.",
    "part": "Motions of this h that start side by side begin to part there.",
    "approach": "Motions of this h that start side by side begin to approach each other there.",
    "flat": "Motions of this h that start side by side neither part nor approach at first.",
    "no metric": "Jacobi's metric does not apply: {reason}",
    # ── pictures
    "portrait of motions": "Curves of constant h: every motion stays on one.",
    "portrait with walls": "Curves of constant h: motions stay on one between impacts.",
    "portrait of trajectories": "Trajectories: h is not conserved along them.",
    "portrait at a time": "Directions of motion at t = {time} s; the system depends on the time.",
}
"""The sentences by their names."""


def say(name: str, /, **values: object) -> str:
    """The sentence of that name with values put in."""
    return STATEMENTS[name].format(**values)
