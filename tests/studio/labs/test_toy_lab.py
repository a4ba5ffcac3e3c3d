"""A lab of another package, through the public extension points only: it is listed, compiled, moved and drawn."""

import base64
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from holonomy.studio import labs
from holonomy.studio.compile.code_store import CodeStore
from holonomy.studio.compile.worker_process import WorkerPool
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Refusal
from holonomy.studio.session import backgrounds
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

PATIENCE = 120.0


@pytest.fixture
def toy(monkeypatch):
    """The lab, registered as a module that neither this process nor a worker knows of by itself."""
    folder = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]))
    labs.register("toy_lab")
    yield labs.all_labs()[-1]
    labs.unregister("toy_lab")


@pytest.fixture
def simulation(toy):
    pool = WorkerPool()
    came = threading.Event()
    found = []

    def done(kernel, sentence):
        found.append((kernel, sentence))
        came.set()

    CodeStore(pool).fetch(toy, toy.structure(toy.opening()), done)
    assert came.wait(PATIENCE)
    pool.stop()
    kernel, sentence = found[0]
    assert kernel is not None, sentence
    return Simulation(toy, lambda structure: kernel)


def test_a_lab_of_another_package_moves_and_is_drawn(toy, simulation):
    assert [lab.name for lab in labs.all_labs()][-1] == "toy"
    assert simulation.controls().certificate.engine.startswith("native")
    assert [p.name for p in simulation.view.parameters] == ["mass", "stiffness"]
    simulation.apply(messages.Play())
    simulation.advance(960)
    frame = messages.unpack(messages.pack(simulation.frame(1)))
    np.testing.assert_allclose(frame.q, np.cos(2.0), rtol=0, atol=1e-9)
    wanted = [[0.0, 0.0], [np.cos(2.0), 0.0], [np.cos(2.0), -2 * np.sin(2.0)]]
    np.testing.assert_allclose(frame.position, wanted, rtol=0, atol=1e-9)
    np.testing.assert_allclose(frame.energy[-1], 2.0, rtol=1e-12)
    assert len(frame.sample) == 61  # the start and 60 frames
    simulation.apply(messages.SetParameter("mass", 4.0, True))
    simulation.advance(1)
    assert simulation.reading.total == pytest.approx(0.5 * 4.0 * frame.v[0] ** 2 + 2.0 * frame.q[0] ** 2, rel=1e-12)


def test_its_presets_are_buttons_and_can_be_undone(toy, simulation):
    assert [action.label for action in simulation.view.actions] == ["Soft spring", "Stiff spring"]
    simulation.advance(100)
    held = simulation.reading.q.tobytes()
    simulation.apply(messages.Act("preset:stiff"))
    assert simulation.controls().parameters["stiffness"] == 9.0
    assert simulation.reading.t == 0.0
    simulation.advance(960)
    np.testing.assert_allclose(simulation.reading.q, np.cos(3.0), rtol=0, atol=1e-9)
    assert simulation.controls().undo == "Stiff spring"
    simulation.apply(messages.Undo())
    assert simulation.reading.q.tobytes() == held


def test_what_it_does_not_say_has_a_default(toy, simulation):
    simulation.apply(messages.DragBegin(0))
    with pytest.raises(Refusal, match="cannot be dragged"):
        simulation.apply(messages.DragMove(0.5, 0.0, 0.0))
    with pytest.raises(Refusal, match="no preset 'hard'"):
        toy.preset("hard")
    with pytest.raises(Refusal, match="no button 'preset:hard'"):
        simulation.apply(messages.Act("preset:hard"))
    with pytest.raises(Refusal, match="no Python program"):
        toy.snippet(toy.opening(), 0.0, *toy.start(toy.opening()))


def test_its_field_has_the_energy_of_every_state(toy, simulation):
    field = backgrounds.field(simulation.lab, simulation.moment)
    assert field is not None
    values = np.frombuffer(base64.b64decode(field.values), "<f4").reshape(field.rows, field.columns)
    assert values[0, 0] == pytest.approx(0.5 * 4.0**2 + 0.5 * 4.0 * 2.0**2)
    assert values[30, 45] == pytest.approx(0.5 * 4.0 * 1.0**2)
    simulation.apply(messages.SetParameter("stiffness", 8.0, True))
    other = backgrounds.field(simulation.lab, simulation.moment)
    assert other is not None
    assert other.values != field.values


def test_it_is_a_short_file():
    lines = Path(__file__).with_name("toy_lab.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150


def test_at_most_ten_methods_must_be_written():
    assert len(AbstractLab.__abstractmethods__) <= 10
