"""How a run was made: the method and what it preserves, the engine, the step, and whether energy could be conserved."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from jax.core import Tracer

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod
from holonomy.spaces import Carried
from holonomy.systems import System
from holonomy.types import Unchecked

_METHOD = re.compile(r"(?P<label>.*) \((?:(?P<words>.*), )?order (?P<order>\d+)\)")


@dataclass(frozen=True)
class Provenance:
    """How a run was made.

    **Fields:** `method`, as a user writes it, with its `order` (None where a file does not say) and `properties`;
    `engine`, what ran it; `dt`, the step, or for a method with `variable_step` the spacing of saved times; `why` this
    method; `conservative`, whether the energy of the system is conserved; `forced`, whether forces act that the
    Lagrangian does not have; `coordinates` and their `kinds`; `refusal`, why there is no native code where that was
    wanted; `step_error`, the error that step halving found; `members` of an ensemble; `scene`, the file that was run;
    `maker`, the part of the library that made the run; `singular`, what it does at singular positions of constraints;
    `carried`, how many of the last coordinates are those of the isometries that carry the others, and `frames`, how
    many isometries these are; `mass`, the structure
    of the mass matrix in words, where solves use it; `part`, whether the run holds only some of the saved states;
    `fell_back`, whether a slower way to solve the equations of a step took over; `rounding`, the distance by which
    storing a point as an array may have moved it at most, in hyperbolic space; `growth`, that of rounding errors along
    the run as numbers in words, which its file holds; `judgement`, what the certificate said of a run that was saved,
    or of each member of a batch, as `judgement.to_json` writes it.
    """

    method: str = "unknown"
    order: int | None = None
    properties: Properties = field(default_factory=Properties)
    variable_step: bool = False
    engine: str = "unknown"
    dt: float = 0.0
    why: str = "asked for"
    conservative: bool = True
    forced: bool = False
    coordinates: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    refusal: str = ""
    step_error: float | None = None
    members: int | None = None
    scene: str = ""
    maker: str = "simulate"
    singular: str = "stop"
    carried: int = 0
    frames: int = 1
    mass: str = ""
    part: bool = False
    fell_back: bool = False
    rounding: float = 0.0
    growth: tuple[str, ...] = ()
    judgement: str = ""

    @property
    def simulated(self) -> bool:
        """Whether `simulate` took the steps, called by a user or for a scene, so that they can be taken again."""
        return self.maker in ("simulate", "scene")

    @property
    def method_and_properties(self) -> str:
        """The method with what it preserves and its order, as certificates and plots print it."""
        if self.order is None:
            return self.method
        said = [text for text in (self.properties.words, f"order {self.order}") if text]
        return f"{self.method} ({', '.join(said)})"

    def notes(self) -> dict[str, str]:
        """The same as pairs of words, which files of all versions hold."""
        said = {
            "engine": self.engine,
            "method": self.method_and_properties,
            "why": self.why,
            "conservative": "yes" if self.conservative else "no",
            "forced": "yes" if self.forced else "no",
            "coordinates": " ".join(self.coordinates),
            "kinds": " ".join(self.kinds),
        }
        if self.step_error is not None:
            said["step_error"] = repr(self.step_error)
        if self.refusal:
            said["refusal"] = self.refusal
        if self.members is not None:
            said["members"] = str(self.members)
        if self.scene:
            said["scene"] = self.scene
        return said

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(asdict(self))


def of(system: System, method: AbstractMethod, *, steady: bool = True, **known: Any) -> Provenance:
    """The provenance of a motion of a system by a method; `known` are fields that follow from neither.

    `steady` says that the constraints let a state at rest stay at rest; where they move it, they do work.
    """
    kept = method.properties_on(system)
    conservative = system.autonomous and steady and not system.forces and not _lossy(system) and not _moving(system)
    if not conservative or system.constraints.equations.counts[1]:
        # a damped or driven motion does not keep the symplectic form, nor does one under velocity constraints
        kept = replace(kept, symplectic=False)
    made = Provenance(
        method=method.label,
        order=method.order,
        properties=kept,
        variable_step=not method.fixed_step,
        conservative=conservative,
        forced=bool(system.forces),
        coordinates=system.names,
        kinds=tuple(c.kind for c in system.coordinates),
        mass="" if system.mass is None else str(system.mass),
        carried=system.space.point_dim - system.space.space.point_dim if isinstance(system.space, Carried) else 0,
        frames=system.space.frames if isinstance(system.space, Carried) else 1,
    )
    return replace(made, **known)


def _moving(system: System) -> bool:
    """Whether positions depend on the time, as in a moving frame, where T + V is not the conserved energy function."""
    if system.kinetic is None or system.positions is None:
        return False
    if not system.positions.depends_on(0, (np.float64(0.0), np.zeros(system.space.point_dim), *system.last)):
        return False
    from holonomy.systems.equations.energies import lagrangian_form

    return lagrangian_form(system).moving is not False


def _lossy(system: System) -> bool:
    """Whether impacts or friction may lose energy."""
    walls = system.constraints.walls
    if walls.friction.dim:
        return True
    return isinstance(walls.restitution, Tracer) or bool(np.any(np.asarray(walls.restitution) < 1))


def from_json(text: str) -> Provenance:
    """What `Provenance.to_json` wrote; fields that a later version added are left out."""
    return from_fields(json.loads(text))


def from_fields(given: dict[str, Unchecked]) -> Provenance:
    """The provenance with these fields, as JSON has them. Raises `ValueError` for one of the wrong type."""
    held = _known(Provenance, given)
    if not isinstance(held.get("properties", {}), dict):
        raise ValueError("the properties of the method are not a table")
    lists = {name: tuple(held[name]) for name in ("coordinates", "kinds", "growth") if isinstance(held.get(name), list)}
    properties = Properties(**_typed(Properties(), _known(Properties, held.pop("properties", {}))))
    return Provenance(**_typed(Provenance(), held | lists), properties=properties)


def _known(kind: type[Provenance] | type[Properties], held: dict[str, Any]) -> dict[str, Any]:
    return {one.name: held[one.name] for one in fields(kind) if one.name in held}


_OPTIONAL = {"order": int, "step_error": float, "members": int}


def _typed(default: Provenance | Properties, held: dict[str, Any]) -> dict[str, Any]:
    """The same fields, each of the type that its default has."""
    for name, value in held.items():
        kind = _OPTIONAL.get(name, type(getattr(default, name)))
        if kind is float and type(value) is int:
            continue
        right = type(value) is kind or (value is None and name in _OPTIONAL)
        if not right or (isinstance(value, tuple) and not all(isinstance(word, str) for word in value)):
            raise ValueError(f"the provenance has no {name} {str(value)[:40]!r}, which must be of type {kind.__name__}")
    return held


def from_notes(notes: dict[str, str], dt: float) -> Provenance:
    """The provenance in a file of a version that wrote words only."""
    said = notes.get("method", "unknown")
    found = _METHOD.fullmatch(said)
    words = (found["words"] or "") if found else ""
    properties = Properties.from_words(words)
    return Provenance(
        method=found["label"] if found else said,
        order=int(found["order"]) if found else None,
        properties=properties,
        variable_step=properties.error_control,
        engine=notes.get("engine", "unknown"),
        dt=dt,
        why=notes.get("why", "asked for"),
        conservative=notes.get("conservative", "yes") == "yes",
        forced=notes.get("forced") == "yes",
        coordinates=tuple(notes.get("coordinates", "").split()),
        kinds=tuple(notes.get("kinds", "").split()),
        refusal=notes.get("refusal", ""),
        step_error=float(notes["step_error"]) if "step_error" in notes else None,
        members=int(notes["members"]) if "members" in notes else None,
        scene=notes.get("scene", ""),
        maker="unknown",
    )
