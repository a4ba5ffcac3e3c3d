"""The methods by name: what a user writes, what each preserves, and what it is for. Read without JAX.

Scenes, the command line, the studio and the documents read this table. The classes are in `holonomy.motion.methods`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Properties:
    r"""What a method preserves and how it judges its own steps.

    **Fields:** `symplectic`, a step keeps \(dp \wedge dq\); `reversible`, a step of \(-h\) undoes a step of h;
    `stiffly_accurate`, the end of a step is its last stage; `error_control`, the length of inner steps follows from a
    tolerance, `to_round_off` where that tolerance is the precision of the numbers.
    """

    symplectic: bool = False
    reversible: bool = False
    stiffly_accurate: bool = False
    error_control: bool = False
    to_round_off: bool = False

    def __post_init__(self) -> None:
        if self.to_round_off and not self.error_control:
            raise ValueError("A method whose errors are controlled to_round_off has error_control too; pass both.")

    @property
    def words(self) -> str:
        """The properties as a person reads them, such as ``"symplectic, reversible"``; empty for none."""
        said = [word for name, word in _WORDS.items() if getattr(self, name)]
        return ", ".join(said) + (" to round-off" if self.to_round_off else "")

    @staticmethod
    def from_words(words: str) -> Properties:
        """The flags of such a text; the inverse of `words`."""
        said = words.split(", ")
        to_round_off = _WORDS["error_control"] + " to round-off" in said
        flags = {name: word in said for name, word in _WORDS.items()}
        flags["error_control"] |= to_round_off
        return Properties(**flags, to_round_off=to_round_off)


# in the order in which they are said; error control comes last, because "to round-off" belongs to it
_WORDS = {
    "symplectic": "symplectic",
    "reversible": "reversible",
    "stiffly_accurate": "stiffly accurate",
    "error_control": "error control",
}


@dataclass(frozen=True)
class MethodRow:
    """One method.

    **Fields:** `name`, in a scene; `maker`, its class in `holonomy`, and `arguments` as documents write them; `order`
    of convergence, and `properties`, which hold for the arguments that the class has by default; `holds`, which
    constraints it keeps; `options`, the arguments that a scene may give; `summary`, what it is, and `use`, what it is
    for; `needs_constraints`, whether it is for constrained systems alone; `restriction`, where a property fails.
    """

    name: str
    maker: str
    order: str
    use: str
    summary: str
    arguments: str = ""
    properties: Properties = Properties()
    holds: tuple[str, ...] = ("holonomic", "velocity")
    options: tuple[str, ...] = ()
    needs_constraints: bool = False
    restriction: str = ""

    @property
    def keeps(self) -> str:
        """What it preserves, in words."""
        said = self.properties.words or "–"
        return f"{said} ({self.restriction})" if self.restriction else said

    @property
    def written(self) -> str:
        """The method as documents write it, such as ``"Gauss(s)"``."""
        return f"{self.maker}({self.arguments})"

    def make(self, **options: Any) -> Any:
        """The method itself."""
        import holonomy

        return getattr(holonomy, self.maker)(**options)

    def python(self, **options: Any) -> str:
        """The method as a Python program writes it, such as ``"hl.Gauss(3)"``."""
        said = [repr(value) if name == "stages" else f"{name}={value!r}" for name, value in options.items()]
        return f"hl.{self.maker}({', '.join(said)})"

    def toml(self, **options: Any) -> str:
        """The method as a scene writes it, such as ``{ name = "gauss", stages = 3 }``."""
        if not options:
            return f'"{self.name}"'
        return f'{{ name = "{self.name}", {", ".join(f"{name} = {value!r}" for name, value in options.items())} }}'


TABLE = (
    MethodRow(
        "gauss",
        "Gauss",
        order="2s",
        use="the default for smooth systems",
        summary="Gauss collocation in (q, p): implicit, symplectic, of order 2 × stages",
        arguments="s",
        properties=Properties(symplectic=True, reversible=True),
        holds=("velocity",),
        options=("stages",),
        restriction="reversible not on curved spaces",
    ),
    MethodRow(
        "splitting",
        "Splitting",
        order="2, 4, 6, 8",
        use="the default for bodies in E, S and H and for large systems T(v) − V(q)",
        summary="drifts and kicks in turn, explicit, symplectic; for bodies in E, S, H and systems T(v) − V(q)",
        arguments="order",
        properties=Properties(symplectic=True, reversible=True),
        holds=(),
        options=("order",),
    ),
    MethodRow(
        "verlet",
        "Verlet",
        order="2",
        use="large systems T(v) − V(q) where one force a step must do",
        summary="half a drift, a kick, half a drift: Splitting(2)",
        properties=Properties(symplectic=True, reversible=True),
        holds=(),
    ),
    MethodRow(
        "rk4",
        "RK4",
        order="4",
        use="interactive pictures, friction",
        summary="the classical Runge–Kutta method of order 4",
    ),
    MethodRow(
        "adaptive",
        "Adaptive",
        order="5, 8",
        use="the default where a potential is singular; driven and damped motion that is not stiff",
        summary="explicit with error control; dt is the spacing of saved times",
        arguments="order, rtol, atol",
        properties=Properties(error_control=True),
        options=("order", "rtol", "atol"),
    ),
    MethodRow(
        "taylor",
        "Taylor",
        order="to round-off",
        use="precise reference motion",
        summary="Taylor series to round-off (needs heyoka); dt is the spacing of saved times",
        arguments="tol",
        properties=Properties(error_control=True, to_round_off=True),
        holds=(),
        options=("tol",),
    ),
    MethodRow(
        "event_driven",
        "EventDriven",
        order="to round-off",
        use="the default for worlds of free balls",
        summary="free balls from collision to collision; dt is the spacing of saved times",
        properties=Properties(symplectic=True, reversible=True),
        holds=(),
    ),
    MethodRow(
        "rattle",
        "Rattle",
        order="2, 4, 6",
        use="the default for holonomic constraints and walls",
        summary="the Lobatto pair for holonomic constraints: symplectic, reversible",
        arguments="order",
        properties=Properties(symplectic=True, reversible=True),
        holds=("holonomic",),
        needs_constraints=True,
    ),
    MethodRow(
        "radau",
        "Radau",
        order="2s − 1",
        use="stiff, damped and driven motion; both kinds of constraints at once",
        summary="Radau IIA collocation, implicit, for stiff, damped and driven motion",
        arguments="s, at",
        properties=Properties(stiffly_accurate=True),
        options=("stages",),
    ),
    MethodRow(
        "symplectic_euler",
        "SymplecticEuler",
        order="1",
        use="teaching",
        summary="order 1, symplectic; for teaching",
        properties=Properties(symplectic=True),
    ),
    MethodRow("euler", "Euler", order="1", use="teaching", summary="order 1; for teaching"),
)
"""Every method of the library."""
