r"""The equations of a system as a person reads them, in SymPy and LaTeX.

The Lagrangian (or kinetic and potential energy) is traced, written as a sum of monomials, differentiated exactly, and
arranged. Nothing is shown before it has been compared with automatic differentiation at random states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp

from holonomy import notation
from holonomy.systems.equations import code
from holonomy.systems.equations.energies import Energies, leaf_number, read
from holonomy.systems.equations.symbols import Names
from holonomy.trace.symbolic.angles import contract, sines
from holonomy.trace.symbolic.lagrange import Lagrange, Variables
from holonomy.trace.symbolic.polynomial import Poly
from holonomy.trace.symbolic.sympy_writer import Writer

if TYPE_CHECKING:
    from holonomy.systems.system import System

_LONGEST = 60  # terms of a solved acceleration that is still shown
_UNBRACED = str.maketrans("", "", "_{}")


@dataclass(frozen=True)
class Symbolic:
    r"""A system in SymPy.

    Coordinates are functions of `t`, velocities and accelerations their derivatives, parameters symbols by name (an
    array's first element is `name_1`). `lagrange` are Lagrange's equations, one `Eq` per coordinate, with `multipliers`
    on the right where there are `constraints` (each an `Eq`, holonomic ones first). `kinetic`, `potential` and `T2`,
    `T1`, `T0` are known where the system was made of positions or a metric; for a Lagrangian, T2 and T1 are its parts
    of second and first degree in the velocities and `potential` is minus the rest, T0 with it. `energy_function` is
    v·∂L/∂v − L and `effective_potential` V − T0, minus L at rest. What is not quadratic in the velocities has none of
    these but `energy_function`. `accelerations`, `hamiltonian` and `hamilton` are None where they are too long to read
    or do not exist.
    """

    t: sp.Symbol
    coordinates: tuple[sp.Expr, ...]
    velocities: tuple[sp.Expr, ...]
    momentum_symbols: tuple[sp.Expr, ...]
    parameters: dict[str, sp.Basic | tuple[()]]
    lagrangian: sp.Expr
    kinetic: sp.Expr | None
    potential: sp.Expr | None
    T2: sp.Expr | None
    T1: sp.Expr | None
    T0: sp.Expr | None
    energy_function: sp.Expr
    effective_potential: sp.Expr | None
    momenta: tuple[sp.Expr, ...]
    mass_matrix: sp.Matrix
    forces: tuple[sp.Expr, ...]
    constraints: tuple[sp.Eq, ...]
    multipliers: tuple[sp.Expr, ...]
    lagrange: tuple[sp.Eq, ...]
    accelerations: tuple[sp.Expr, ...] | None
    hamiltonian: sp.Expr | None
    hamilton: tuple[sp.Eq, ...] | None


class Line(NamedTuple):
    """One equation: the part it belongs to and its two sides, each in LaTeX and in plain text."""

    part: str
    left: str
    right: str
    text: str


@dataclass(frozen=True)
class Equations:
    """Lagrange's and Hamilton's equations of a system; shows as LaTeX in a notebook, `print` gives plain text."""

    sympy: Symbolic
    lines: tuple[Line, ...]

    @property
    def latex(self) -> str:
        r"""All equations as one `aligned` environment, ready for a display formula."""
        return self.part(*self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts there are, in order."""
        return tuple(dict.fromkeys(line.part for line in self.lines))

    def part(self, *names: str) -> str:
        """The LaTeX of some parts: "energy", "forces", "constraints", "lagrange", "acceleration", "hamilton"."""
        for name in names:
            if name not in self.parts:
                raise ValueError(f"These equations have the parts {', '.join(self.parts)}; got {name!r}.")
        rows = [f"{line.left} &= {line.right}" for line in self.lines if line.part in names]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    @property
    def python(self) -> str:
        """A Python function of the accelerations or, where these are too long, of M and f with M a = f."""
        return code.written(self.sympy, "python")

    @property
    def c(self) -> str:
        """The same as a C function that fills an array."""
        return code.written(self.sympy, "c")

    @property
    def julia(self) -> str:
        """The same as a Julia function."""
        return code.written(self.sympy, "julia")

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines)


def derive(system: System) -> Equations:
    """The equations of a system in coordinates."""
    if not system.flat:
        raise ValueError(
            f"equations() writes formulas in coordinates, and points of {system.space} are arrays without coordinates "
            "of their own. Describe the system in coordinates, such as angles: from_lagrangian or from_metric without "
            "space=."
        )
    from holonomy.systems.equations import verify

    derivation = Derivation(system)
    equations = derivation.equations()
    verify.check(system, derivation.names, equations.sympy)
    return equations


class Derivation:
    """One system's polynomials: the Lagrangian, its derivatives, and what is solved from them."""

    def __init__(self, system: System):
        self.system = system
        self.n = n = system.space.point_dim
        self.at = at = Variables(n)
        self.ring = ring = at.ring
        self.names = Names(system)
        self.a = [ring.leaf(("a", i)) for i in range(n)]
        self.p = [ring.leaf(("p", i)) for i in range(n)]
        rates = {leaf_number(x): rank for rank, group in enumerate((self.p, at.v, self.a)) for x in group}
        moving = frozenset([leaf_number(x) for x in (at.t, *at.q, *at.v, *self.a, *self.p)])
        self.writer = Writer(ring, self.names.of, moving, rates)
        self._velocities = frozenset(leaf_number(x) for x in at.v)
        self.energies = Energies(system, at)
        self.quadratic, self.degrees = self.energies.quadratic, self.energies.degrees
        self.lagrangian = self.energies.lagrangian
        found = Lagrange(at, self.lagrangian)
        self.momenta, self.mass, self.inertial = found.momenta, found.mass, found.inertial
        self.forces = [ring.zero] * n
        for force in system.forces:
            more = self._read("force", force, velocity=True)
            self.forces = [contract(a + b) for a, b in zip(self.forces, more, strict=True)]
        self._constrain()

    def _constrain(self) -> None:
        """The conditions, and Σₖ λₖ ∂rₖ/∂v: what they add to M a."""
        ring, held = self.ring, self.system.constraints.equations
        position = [c for f in held.holonomic for c in self._read("constraint", f, velocity=False)]
        speed = [c for f in held.velocity for c in self._read("constraint", f, velocity=True)]
        self.conditions = [contract(c) for c in (*position, *speed)]
        self.reaction = [ring.zero] * self.n
        for k, condition in enumerate(self.conditions):
            multiplier = ring.leaf(("multiplier", k))
            along = self.at.q if k < len(position) else self.at.v
            slopes = [ring.slope(condition, x) for x in along]
            self.reaction = [r + multiplier * slope for r, slope in zip(self.reaction, slopes, strict=True)]

    def _read(self, what: str, function: Any, *, velocity: bool) -> list[Poly]:
        return read(self.system, self.at, what, function, velocity=velocity)

    # ── solving ───────────────────────────────────────────────────────────────────────────────────
    def _solve(self, right: Sequence[Poly]) -> list[tuple[Poly, Poly]] | None:
        """M⁻¹ right as (numerator, denominator), where M falls into blocks of one or two coordinates."""
        solved = {}
        for block in self._blocks():
            if len(block) > 2:
                return None
            if len(block) == 1:
                (i,) = block
                solved[i] = (right[i], self.mass[i][i])
                continue
            i, j = block
            m = self.mass
            determinant = contract(m[i][i] * m[j][j] - m[i][j] * m[j][i])
            for a, b in ((i, j), (j, i)):
                solved[a] = (contract(m[b][b] * right[a] - m[a][b] * right[b]), determinant)
        return [solved[i] for i in range(self.n)]

    def _blocks(self) -> list[list[int]]:
        left, blocks = list(range(self.n)), []
        while left:
            block, waiting = [], [left[0]]
            while waiting:
                i = waiting.pop()
                if i in left:
                    left.remove(i)
                    block.append(i)
                    waiting += [j for j in left if self.mass[i][j] or self.mass[j][i]]
            blocks.append(sorted(block))
        return blocks

    def _ratio(self, numerator: Poly, denominator: Poly, power: int = 1) -> Any:
        """numerator/denominatorᵖᵒʷᵉʳ, common factors of all terms cancelled."""
        ring = self.ring
        c, m = numerator.common()
        d, n = denominator.common()
        outside = Poly(ring, {m: c}) * ring.power(Poly(ring, {n: d}), -power)
        top, bottom = ring.divided(numerator, c, m), sines(ring.divided(denominator, d, n))
        factors = [f for monomial, x in outside.terms.items() for f in self.writer.factors(x, monomial)]
        if not numerator:
            return sp.Integer(0)
        if top.key == bottom.key:
            top, power = ring.one, power - 1
        factors += [self.writer.expression(top), sp.Pow(self.writer.expression(bottom), -power)]
        return sp.Mul(*factors)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────
    def equations(self) -> Equations:
        """All that can be shown."""
        write, lines = self.writer, []
        right = [ring_f + force for ring_f, force in zip(self.inertial, self.forces, strict=True)]
        lagrange = []
        for i in range(self.n):
            left = -self.inertial[i]
            for j in range(self.n):
                left = left + self.mass[i][j] * self.a[j]
            lagrange.append((write.terms(left), [*write.terms(self.forces[i]), *write.terms(self.reaction[i])]))
        solved = self._solve(right) if self.quadratic and not self.conditions else None
        short = solved is not None and all(len(top) + len(bottom) <= _LONGEST for top, bottom in solved)
        accelerations = tuple([self._ratio(*pair) for pair in solved]) if short and solved is not None else None
        energy, known = self._energy()
        hamiltonian, hamilton = self._hamilton()
        symbols = self.names
        lines += energy
        conditions = [write.terms(c) for c in self.conditions]
        if any(self.forces):
            named = [f"Q_{{{notation.latex(name)}}}" for name in self.system.names]
            lines += [self._line("forces", q, write.terms(f)) for q, f in zip(named, self.forces, strict=True)]
        lines += [self._line("constraints", c, []) for c in conditions]
        lines += [self._line("lagrange", a, b) for a, b in lagrange]
        if accelerations is not None:
            lines += [self._line("acceleration", [a], _split(e)) for a, e in zip(symbols.a, accelerations, strict=True)]
        if hamiltonian is not None:
            lines.append(self._line("hamilton", "H", hamiltonian))
            lines += [self._line("hamilton", [e.lhs], _split(e.rhs)) for e in hamilton or ()]
        held: list[Any] = [sp.Eq(sp.Add(*c), 0, evaluate=False) for c in conditions]
        equations: list[Any] = [sp.Eq(sp.Add(*a), sp.Add(*b), evaluate=False) for a, b in lagrange]
        result = Symbolic(
            t=symbols.t,
            coordinates=symbols.q,
            velocities=symbols.v,
            momentum_symbols=symbols.p,
            parameters=symbols.parameters,
            momenta=tuple([write.expression(p) for p in self.momenta]),
            mass_matrix=sp.Matrix(self.n, self.n, lambda i, j: write.expression(self.mass[i][j])),
            forces=tuple([write.expression(f) for f in self.forces]),
            constraints=tuple(held),
            multipliers=symbols.multipliers,
            lagrange=tuple(equations),
            accelerations=accelerations,
            hamiltonian=None if hamiltonian is None else sp.Add(*hamiltonian),
            hamilton=hamilton,
            **known,
        )
        return Equations(result, tuple(lines))

    def _line(self, part: str, left: str | list[Any], right: list[Any]) -> Line:
        """An equation from its terms, in the order given; `left` may be a name."""
        named = isinstance(left, str)
        latex = [
            left if named else _sum([self.names.latex(x) for x in left]),
            _sum([self.names.latex(x) for x in right]),
        ]
        plain = [
            left.translate(_UNBRACED) if named else _sum([self.names.text(x) for x in left]),
            _sum([self.names.text(x) for x in right]),
        ]
        return Line(part, latex[0], latex[1], " = ".join(plain))

    def _energy(self) -> tuple[list[Line], dict[str, Any]]:
        """The lines of the energies, and their expressions by the names that they have in `Symbolic`."""
        write, has = self.writer, self.energies
        known: dict[str, Any] = dict.fromkeys(("kinetic", "potential", "T2", "T1", "T0", "effective_potential"))
        whole = has.energy_function
        known |= {"lagrangian": write.expression(self.lagrangian), "energy_function": write.expression(whole)}
        if not self.quadratic:
            return [self._line("energy", "L", write.terms(self.lagrangian))], known
        parts = {"T2": self.degrees[2], "T1": self.degrees[1], "T0": has.at_rest}
        known |= {name: write.expression(part) for name, part in parts.items()}
        known["effective_potential"] = write.expression(-self.degrees[0])
        known |= {"potential": write.expression(has.potential), "kinetic": write.expression(has.kinetic)}
        if not has.natural:
            return [self._line("energy", "L", write.terms(self.lagrangian))], known
        shown = [(name, part) for name, part in parts.items() if part]
        if len(shown) == 1 and parts["T2"]:
            energies = {"T": has.kinetic, "V": has.potential}
        else:
            kinetic = {f"T_{{{name[1]}}}": part for name, part in shown}
            energies = {**kinetic, "V": has.potential, "V'": -self.degrees[0], "h": whole}
        return [self._line("energy", name, write.terms(part)) for name, part in energies.items()], known

    def _hamilton(self) -> tuple[list[Any] | None, tuple[Any, ...] | None]:
        """H = ½(p - b)ᵀM⁻¹(p - b) - L₀ for L = ½vᵀMv + bᵀv + L₀, and Hamilton's equations."""
        if not self.quadratic or self.conditions:
            return None, None
        ring, half = self.ring, Fraction(1, 2)
        linear = [ring.slope(self.degrees[1], v) for v in self.at.v]
        free = [p - b for p, b in zip(self.p, linear, strict=True)]
        solved = self._solve(free)
        if solved is None or any(len(top) + len(bottom) > _LONGEST for top, bottom in solved):
            return None, None
        by_bottom: dict[Any, tuple[Poly, Poly]] = {}
        for p, (top, bottom) in zip(free, solved, strict=True):
            total, _ = by_bottom.get(bottom.key, (ring.zero, bottom))
            by_bottom[bottom.key] = (total + (p * top).scaled(half), bottom)
        terms = [self._ratio(contract(top), bottom) for top, bottom in by_bottom.values()]
        terms += self.writer.terms(-self.degrees[0])
        diagonal = all(len(block) == 1 for block in self._blocks())
        forced = any(not self._velocities.isdisjoint(f.leaves) for f in self.forces)
        equations = [sp.Eq(v, self._ratio(*pair), evaluate=False) for v, pair in zip(self.names.v, solved, strict=True)]
        for i in range(self.n):
            rate = self.names.p_dot[i]
            if diagonal and not forced:
                total = self.writer.terms(ring.slope(self.degrees[0], self.at.q[i]) + self.forces[i])
                for top, bottom in by_bottom.values():
                    total = [*self._minus_slope(top, bottom, self.at.q[i]), *total]
            else:
                total = self.writer.terms(ring.slope(self.lagrangian, self.at.q[i]) + self.forces[i])
            equations.append(sp.Eq(rate, sp.Add(*total), evaluate=False))
        return terms, tuple(equations)

    def _minus_slope(self, top: Poly, bottom: Poly, q: Poly) -> list[Any]:
        """-∂(top/bottom)/∂q."""
        ring = self.ring
        one, other = ring.slope(top, q), ring.slope(bottom, q)
        first = [self._ratio(-one, bottom)] if one else []
        return first + ([self._ratio(top * other, bottom, 2)] if other else [])


def _sum(terms: Sequence[str]) -> str:
    """Printed terms as a sum, in the order given."""
    text = ""
    for term in terms:
        if not text:
            text = term
        else:
            text += f" - {term[1:].lstrip()}" if term.startswith("-") else f" + {term}"
    return text or "0"


def _split(e: Any) -> list[Any]:
    return list(e.args) if isinstance(e, sp.Add) else [e]
