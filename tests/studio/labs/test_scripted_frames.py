"""Scripted sessions of every lab: the same bits however the steps are cut, and the motion that the library computes."""

import json
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.studio.labs.scripted_session import SCRIPTS, compiled, digest, run

import holonomy as hl
from holonomy.spaces import Carried
from holonomy.studio.labs import all_labs, load
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Settings
from holonomy.viewer.protocol import messages

LABS = {lab.name: lab for lab in all_labs()}


@cache
def session(name: str) -> tuple[Any, Any]:
    """The compiled code and the messages of one lab's script."""
    kernels = compiled(LABS[name])
    return kernels, run(LABS[name], kernels, SCRIPTS[name])


def test_every_lab_has_a_script():
    assert set(SCRIPTS) == set(LABS)


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.proof) if one == "linkage" else one for one in LABS]
)
def test_a_second_session_has_the_same_bits_with_the_steps_cut_otherwise(name):
    kernels, first = session(name)
    again = run(LABS[name], kernels, SCRIPTS[name], stride=13)
    for (done, message), (_, other) in zip(first, again, strict=True):
        assert message == other, done
    assert digest(first) == digest(again)


def moments(record: Any) -> list[tuple[str, messages.Frame, Settings]]:
    """After each entry of the script: what was done, the frame, the settings."""
    found, settings = [], None
    for done, message in record:
        if not message.startswith(b"{"):
            found.append((done, messages.unpack(message), settings))
        elif (notice := json.loads(message)).get("type") == "controls":
            settings = Settings(notice["parameters"], notice["choices"], notice["toggles"], notice["texts"])
    return found


# a gait is performed; `test_swimmer` compares that
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=pytest.mark.proof) if one == "linkage" else one
        for one in sorted(set(LABS) - {"swimmer"})
    ],
)
def test_frames_are_those_of_simulate(name):
    """Every stretch of motion in the script, computed again by `hl.simulate` with the objects of `lab.library`."""
    lab, record = LABS[name], session(name)[1]
    stretches = 0
    for (_, before, _), (done, after, settings) in zip(seen := moments(record), seen[1:], strict=False):
        if not done.isdigit():
            continue
        system, method = lab.library(settings)
        size = len(system.names)
        dt, steps = lab.step(settings), round((after.time - before.time) / lab.step(settings))
        q, v = before.q[:size], before.v[:size]
        motion = hl.simulate(
            system, q, v, after.time, t0=before.time, dt=dt, method=method, save_every=steps, throw=False
        )
        rows = [(np.asarray(motion.q[-1]), np.asarray(motion.v[-1])), (after.q[:size], after.v[:size])]
        if isinstance(system.space, Carried):  # `simulate` begins with the points at the origin, under another boost
            rows = [system.space.recentred(*row) for row in rows]
        (place, rate), (there, moving) = rows
        np.testing.assert_allclose(place, there, rtol=1e-12, atol=1e-12, err_msg=done)
        np.testing.assert_allclose(rate, moving, rtol=1e-11, atol=1e-11, err_msg=done)
        stretches += 1
    assert stretches >= 10


@pytest.mark.parametrize("name", LABS)
def test_the_picture_before_anything_is_compiled_is_that_of_the_first_frame(name):
    """`pose` and `placed` compute in NumPy what the compiled code computes, where a lab has them."""
    lab = LABS[name]
    if lab.pose(lab.opening()) is None:
        assert name not in ("pendulum", "linkage")
        return
    opened = [(f, s) for done, f, s in moments(session(name)[1]) if done == "opening" or done.startswith("Reset(")]
    for frame, settings in opened:
        pose, anchors = lab.pose(settings), len(lab.anchors(settings))
        assert pose is not None
        np.testing.assert_allclose(pose, frame.position[anchors:], atol=1e-12)
    assert len(opened) >= 2


def test_what_is_no_lab_is_refused():
    with pytest.raises(TypeError, match="needs an object LAB"):
        load("holonomy.studio.labs.base")
    assert all(isinstance(lab, AbstractLab) for lab in all_labs())


def test_the_server_describes_every_lab_without_jax():
    """Tracing belongs into worker processes: the process that feeds the pages must not import JAX."""
    program = (
        "import sys; from holonomy.studio.labs import all_labs; import holonomy.studio.server.app\n"
        "views = [lab.view(lab.opening(), 1) for lab in all_labs()]\n"
        "print(len(views), 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == [str(len(LABS)), "False"]
