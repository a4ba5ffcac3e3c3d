"""A fixed sequence of commands for each lab, run without a clock, a thread or a server.

`run` carries out a script on a `Simulation` and returns every message that a page would get: frames as bytes, notices
as JSON. `python tests/studio/labs/scripted_session.py FILE` prints a digest for each lab and writes the messages to
FILE, so that two states of the package can be compared message by message.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.compile.program import compile_program
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Refusal
from holonomy.studio.session import backgrounds
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages as m
from holonomy.viewer.protocol.codec import encode

Advance = int
"""An entry of a script that is a number lets the motion go on for that many steps."""
Script = tuple[m.Command | Advance, ...]

PENDULUM: Script = (
    m.Play(), 100, m.SetParameter("gravity", 5.5, False), 7, m.SetParameter("gravity", 3.5, True), 61,
    m.SetParameter("damping", 0.25, True), 40, m.SetParameter("damping", 0.0, True),
    m.DragBegin(1), m.DragMove(0.8, 0.9, 0.0), m.DragMove(1.1, 0.4, 0.0), m.DragEnd(0.0, 0.0, 0.0), 250,
    m.SetToggle("ghost", True), 333, m.SetParameter("ghost_offset", 0.01, True), 64, m.Act("ghost"), 32,
    m.Undo(), m.Undo(), m.Redo(), 16, m.SetParameter("gravity", -4.0, True), m.SetParameter("nonsense", 1.0, True),
    m.SetChoice("model", "elastic"), 200, m.SetParameter("stiffness", 90.0, True), 50,
    m.DragBegin(0), m.DragMove(1.9, -1.2, 0.0), m.DragEnd(0.0, 0.0, 0.0), 20, m.Seek(0.3, False), m.Seek(0.25, True),
    m.Step(5, False), m.Step(-3, False), m.SetChoice("model", "rigid"), m.SetChoice("method", "gauss2"), 90,
    m.SetParameter("length2", 0.6, True), m.SetParameter("mass1", 2.5, True), m.SetChoice("step", "240"), 30,
    m.SetParameter("links", 3.0, True), 40, m.SetParameter("links", 2.0, True), m.SetSpeed(2.5), m.Act("travel"),
    m.Pause(), m.Step(2, True), m.Step(2, True), m.Reset(False), 48, m.Undo(), m.Reset(True), 16,
)  # fmt: skip
LINKAGE: Script = (
    m.Play(), 100, m.SetParameter("base", 3.2, False), 7, m.SetParameter("base", 3.1, True), 61,
    m.SetParameter("rod_mass", 0.4, True), 40, m.Act("mark_a"), 300, m.Act("mark_b"), m.Act("travel"), 960,
    m.SetChoice("field", "bending"), m.SetToggle("fan", True), 20, m.SetParameter("fan_length", 2.0, True),
    m.Act("here"), 16, m.Undo(), m.Undo(), m.Redo(), m.Act("clear"), 30,
    m.DragBegin(3), m.DragMove(0.3, 0.5, 0.9), m.DragEnd(0.4, -0.3, 0.2), 120,
    m.SetChoice("route", "rods"), 90, m.Seek(0.3, False), m.Seek(0.25, True), m.Step(5, False), m.Step(-3, False),
    m.SetChoice("route", "chart"), 64, m.SetChoice("route", "none"), m.SetParameter("base", 9.0, True),
    m.DragBegin(1), m.DragMove(0.1, 0.9, 0.0), m.DragMove(0.15, 0.8, 0.0), m.DragEnd(0.3, 0.1, 0.0), 48,
    m.DragBegin(0), m.DragMove(-0.9, 0.7, 0.0), m.DragEnd(0.0, 0.0, 0.0), 32,
    m.SetParameter("rods", 3.0, True), 40, m.SetParameter("rods", 4.0, True), m.SetSpeed(0.5), m.Act("nonsense"),
    m.Pause(), m.Step(2, True), m.Reset(False), 48, m.Undo(), m.Reset(True), 16,
)  # fmt: skip
WORKBENCH: Script = (
    m.Play(), 60, m.SetParameter("l", 1.2, True), 30, m.Act("preset:kepler"), 64, m.SetChoice("map", "potential"), 16,
    m.SetText("lagrangian", "m*(r_dot^2 + r^2*phi_dot^2)/2 - k*r^2/2", True),
    m.SetText("parameters", "m = 1, k = 4", True), 48,
    m.DragBegin(0), m.DragMove(0.5, 0.8, 0.0), m.DragEnd(0.0, 0.0, 0.0), 33,
    m.DragBegin(1), m.DragMove(0.9, 0.4, 0.0), m.DragEnd(0.0, 0.0, 0.0), 20,
    m.SetText("coordinates", "r length, phi angel", True), m.Undo(), m.Undo(), m.Redo(), 16,
    m.Act("preset:elliptical_wire"), 40, m.SetParameter("b", 1.4, True), 40, m.SetChoice("method", "rattle"), 40,
    m.SetText("start", "x = 0, y = 5", True), m.Seek(0.02, True), m.Step(2, False), m.SetSpeed(0.5), m.Reset(False), 24,
    m.Act("preset:knife_edge"), 48, m.SetText("forces", "theta = -theta_dot", True), 32, m.Reset(True), 16,
)  # fmt: skip
CURVED: Script = (
    m.Play(), 100, m.SetChoice("hyperbolic_view", "klein"), 8, m.SetParameter("stiffness", 3.0, True), 61,
    m.DragBegin(0), m.DragMove(0.3, 0.2, 0.4), m.DragEnd(0.0, 0.0, 0.0), 40, m.SetChoice("hyperbolic_view", "half"),
    m.DragBegin(1), m.DragMove(0.1, -0.2, 0.7), m.DragEnd(0.0, 0.0, 0.0), 33, m.Undo(), m.Undo(), m.Redo(), 16,
    m.SetParameter("spin", 0.4, True), 200, m.SetParameter("radius", 2.0, True), 50, m.SetParameter("rest", 0.8, True),
    20, m.Seek(0.3, False), m.Seek(0.25, True), m.Step(5, False), m.Step(-3, False),
    m.SetChoice("space", "s2"), 90, m.SetChoice("surface_view", "stereographic"), m.SetParameter("mass", 2.0, True), 30,
    m.SetParameter("size", 4.0, True), m.SetChoice("body", "tetrahedron"), m.Act("preset:thesis-2.13"), 24,
    m.SetSpeed(0.5), m.Act("nonsense"), m.Pause(), m.Step(2, True), m.Reset(False), 48, m.Undo(), m.Reset(True), 16,
)  # fmt: skip
SWIMMER: Script = (
    m.Play(), 100, m.SetParameter("period", 2.0, False), 7, m.SetParameter("period", 2.5, True), 61,
    m.SetText("gait", "[[0.9,-0.2],[0.7,0.8],[-0.3,1.1],[-1.2,0.1],[-0.4,-0.9]]", False), 12,
    m.SetText("gait", "[[0.9,-0.2],[0.7,0.9],[-0.3,1.1],[-1.2,0.1],[-0.4,-0.9]]", True), 40,
    m.SetText("gait", "[[0,0],[4,0],[0,1]]", True), m.SetToggle("smooth", False), 33, m.Act("reverse"), 20,
    m.SetChoice("component", "2"), m.SetChoice("frame", "body"), 16, m.Undo(), m.Undo(), m.Redo(), 16,
    m.SetParameter("purcell_drag_ratio", 1.5, True), 30, m.Act("eight"), 16, m.Act("ellipse"), 16, m.Act("nonsense"),
    m.Seek(0.3, False), m.Seek(0.25, True), m.Step(5, False), m.Step(-3, False), m.Act("preset:spheres"), 48,
    m.SetParameter("spheres_radius", 0.15, True), 24, m.SetChoice("model", "triangle"), 64, m.SetSpeed(2.5),
    m.Pause(), m.Step(2, True), m.Reset(False), 48, m.Undo(), m.Reset(True), 16,
)  # fmt: skip
SCRIPTS = {
    "pendulum": PENDULUM, "linkage": LINKAGE, "curved": CURVED, "swimmer": SWIMMER, "workbench": WORKBENCH,
}  # fmt: skip

Kernels = Callable[[Any], Kernel]
Record = list[tuple[str, bytes]]
"""What was done, and one message that came of it."""


def compiled(lab: AbstractLab) -> Kernels:
    """Machine code of a lab's structures, made in this process, each once."""
    made: dict[Any, Kernel] = {}

    def kernel(structure: Any) -> Kernel:
        if structure not in made:
            made[structure] = Kernel(compile_program(lab.program(structure)))
        return made[structure]

    return kernel


def run(lab: AbstractLab, kernels: Kernels, script: Script, *, stride: int | None = None) -> Record:
    """Every message of the script; `stride` cuts the steps of each advance into calls of that many."""
    simulation = Simulation(lab, kernels)
    record: Record = [("opening", message) for message in _shown(simulation, 0)]
    for number, entry in enumerate(script, 1):
        try:
            if isinstance(entry, int):
                for steps in _cut(entry, stride or entry):
                    simulation.advance(steps)
            else:
                simulation.apply(entry)
            said: Iterable[bytes] = ()
        except Refusal as refusal:
            said = (encode(m.Refused(str(refusal), "")).encode(),)
        record += [(repr(entry), message) for message in (*said, *_shown(simulation, number))]
    record.append(("share", simulation.document().encode()))
    return record


def _cut(steps: int, stride: int) -> list[int]:
    return [min(stride, steps - k) for k in range(0, steps, stride)]


def _shown(simulation: Simulation, number: int) -> list[bytes]:
    """The notices and the frame of this moment, sent whether they have changed or not."""
    behind = (
        backgrounds.surface(simulation.lab, simulation.moment),
        backgrounds.curves(simulation.lab, simulation.moment),
    )
    notices = [m.Lab(simulation.view), simulation.controls(), *(notice for notice in behind if notice is not None)]
    return [*(encode(notice).encode() for notice in notices), m.pack(simulation.frame(number))]


def digest(record: Record) -> str:
    """SHA-256 of all messages in order."""
    found = hashlib.sha256()
    for _, message in record:
        found.update(len(message).to_bytes(8, "little") + message)
    return found.hexdigest()


def main() -> None:
    """Run every script and keep what came of it."""
    records = {lab.name: run(lab, compiled(lab), SCRIPTS[lab.name]) for lab in all_labs()}
    for name, record in records.items():
        print(name, len(record), "messages", digest(record))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_bytes(pickle.dumps(records))


if __name__ == "__main__":
    main()
