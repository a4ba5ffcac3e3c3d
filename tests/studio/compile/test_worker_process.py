"""Processes beside the server: what they make, and how they end."""

import os
import signal
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from holonomy.studio.compile import assembling, code_store, preset_code, worker_process
from holonomy.studio.compile.code_store import CodeStore
from holonomy.studio.compile.encoding import decode, encode
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.compile.program import compile_program
from holonomy.studio.compile.worker_process import BACKGROUND, SOON, URGENT, TakenBack, Worker, WorkerPool, WorkError
from holonomy.studio.labs.pendulum.lab import PendulumLab

PATIENCE = 120.0
LAB = PendulumLab()
MODULE = "holonomy.studio.labs.pendulum"
STRUCTURE = LAB.structure(LAB.opening())


@pytest.fixture(autouse=True)
def _nothing_made_ahead(monkeypatch, tmp_path):
    """What set-up or a wheel traced ahead is not to be found."""
    monkeypatch.setattr(preset_code, "FOLDER", tmp_path / "none")


@pytest.fixture(scope="module")
def shop():
    made = WorkerPool()
    yield made
    made.stop()


def test_a_worker_answers_fails_with_a_sentence_and_goes_on(shop):
    assert shop.background.submit("operator:add", 2, 3).result(PATIENCE) == 5
    with pytest.raises(WorkError, match="ZeroDivisionError"):
        shop.background.submit("operator:truediv", 1, 0).result(PATIENCE)
    with pytest.raises(WorkError, match="no_such_module"):
        shop.background.submit("no_such_module:f").result(PATIENCE)
    assert shop.background.submit("os:getpid").result(PATIENCE) != os.getpid()


def test_what_a_library_prints_does_not_get_among_the_answers(shop):
    assert shop.background.submit("builtins:print", "noise").result(PATIENCE) is None
    assert shop.background.submit("operator:add", "a", "b").result(PATIENCE) == "ab"


def test_a_worker_that_dies_fails_its_job_and_is_replaced():
    worker = Worker("test", 0)
    first = worker.submit("os:getpid").result(PATIENCE)
    with pytest.raises(WorkError, match="ended without an answer"):
        worker.submit("os:_exit", 3).result(PATIENCE)
    assert worker.submit("os:getpid").result(PATIENCE) != first
    worker.stop()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes are not stopped there")
def test_a_worker_that_hangs_is_noticed_and_replaced():
    """One that was stopped and says nothing, and one that is alive and does not come to an end."""
    worker = Worker("test", 0)
    first = worker.submit("os:getpid").result(PATIENCE)
    os.kill(first, signal.SIGSTOP)
    worker.silence = 0.2
    with pytest.raises(WorkError, match="had stopped, and was ended"):
        worker.submit("operator:add", 1, 1).result(PATIENCE)
    worker.silence = PATIENCE
    second = worker.submit("os:getpid").result(PATIENCE)
    worker.longest = 0.2
    with pytest.raises(WorkError, match="took too long"):
        worker.submit("time:sleep", 3600).result(PATIENCE)
    worker.longest = PATIENCE
    third = worker.submit("time:sleep", 2.5 * worker_process.ALIVE)  # the signs of life in between are no answer
    assert third.result(PATIENCE) is None
    assert len({first, second, worker.submit("os:getpid").result(PATIENCE)}) == 3
    worker.stop()


def test_what_waits_for_a_worker_that_is_stopped_is_cancelled():
    worker = Worker("test", 0)
    running = worker.submit("time:sleep", 3600)
    waiting = worker.submit("operator:add", 1, 1)
    while not running.running():
        time.sleep(0.01)
    worker.stop()
    assert waiting.cancelled()
    with pytest.raises(WorkError, match=r"ended without an answer|The studio ends"):
        running.result(PATIENCE)


def test_urgent_jobs_come_first_and_waiting_ones_can_be_cancelled():
    worker = Worker("test", 0)
    running = worker.submit("time:sleep", 0.2)
    order: list[str] = []
    later = worker.submit("operator:add", 1, 1, urgency=BACKGROUND)
    never = worker.submit("operator:add", 2, 2, urgency=BACKGROUND)
    soon = worker.submit("operator:add", 3, 3)
    later.add_done_callback(lambda _: order.append("later"))
    soon.add_done_callback(lambda _: order.append("soon"))
    assert never.cancel()
    running.result(PATIENCE)
    assert later.result(PATIENCE) == 2
    assert order == ["soon", "later"]
    worker.stop()


def test_a_job_that_no_one_wants_any_more_is_broken_off_and_the_process_goes_on():
    worker = Worker("test", 0)
    process = worker.submit("os:getpid").result(PATIENCE)
    running, waiting = worker.submit("time:sleep", 3600), worker.submit("operator:add", 1, 1)
    while not running.running():
        time.sleep(0.01)
    assert worker.cancel(waiting)
    assert waiting.cancelled()
    assert worker.cancel(running)
    with pytest.raises(TakenBack, match="no longer wanted"):
        running.result(PATIENCE)
    done = worker.submit("operator:add", 2, 2)
    assert done.result(PATIENCE) == 4, "the next job is another one"
    assert not worker.cancel(done), "too late"
    for _ in range(20):  # whatever moment is met, the next job is done, by the same process
        worker.cancel(worker.submit("builtins:sum", range(10**6)))
        assert worker.submit("os:getpid").result(PATIENCE) == process
    worker.stop()


def test_work_ahead_waits_until_no_one_waits_for_anything():
    first = Worker("first", 0)
    second = Worker("second", 0, yields_to=first)
    assert first.quiet
    order: list[str] = []
    now = first.submit("time:sleep", 0.3)
    ahead = second.submit("operator:add", 1, 1, urgency=BACKGROUND)
    asked = second.submit("operator:add", 2, 2)
    for name, job in (("now", now), ("ahead", ahead), ("asked", asked)):
        job.add_done_callback(lambda _, name=name: order.append(name))
    assert ahead.result(PATIENCE) == 2
    assert order[-1] == "ahead"
    assert first.quiet
    first.stop()
    second.stop()


def test_code_comes_from_a_worker_then_from_memory_then_from_the_disk(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    made = CodeStore(shop)
    assert made.kernel(LAB, STRUCTURE) is None
    came: list = []
    done = _Done(came)
    made.fetch(LAB, STRUCTURE, done)
    kernel = done.wait()
    assert kernel.method == "RK4()"
    assert made.kernel(LAB, STRUCTURE) is kernel
    later = CodeStore(shop)
    assert later.kernel(LAB, STRUCTURE) is not None, "from the disk"
    for file in tmp_path.iterdir():
        file.write_bytes(b"holonomy object 1\n" + b"nonsense")
    assert CodeStore(shop).kernel(LAB, STRUCTURE) is None, "what is broken is not used"


def test_code_made_ahead_runs_at_once_and_then_optimised_to_the_same_motion(tmp_path, monkeypatch):
    """The text of a preset is found by its structure and sources, and needs no JAX to become machine code."""
    monkeypatch.setattr(assembling, "LONG", 10)  # so that code of this length is run before it is optimised
    file = preset_code.write(MODULE, STRUCTURE, tmp_path)
    assert file == preset_code.write(MODULE, STRUCTURE, tmp_path)
    text = preset_code.read(MODULE, STRUCTURE, tmp_path)
    assert preset_code.read(MODULE, (("links", 3),), tmp_path) is None
    assert text is not None
    assert assembling.is_long(text)
    quick, good = (Kernel(decode(encode(assembling.assembled_program(text, quick=way)))) for way in (True, False))
    assert (quick.quick, good.quick) == (True, False)
    assert "not optimised" in quick.engine
    settings = LAB.opening()
    ends = []
    for kernel in (quick, good, Kernel(compile_program(LAB.program(STRUCTURE)))):
        begin = kernel.start(LAB.numbers(settings), 0.0, LAB.step(settings), *LAB.start(settings))
        ends.append(kernel.advance(begin, 960).seen)
    np.testing.assert_array_equal(ends[1], ends[2])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-11, atol=1e-11)
    file.write_bytes(b"nonsense")
    assert preset_code.read(MODULE, STRUCTURE, tmp_path) is None


def test_a_user_gets_code_that_is_not_optimised_and_the_store_the_optimised_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    monkeypatch.setattr(assembling, "LONG", 10)
    asked: list[tuple[str, int]] = []

    def submit(function: str, *args: Any, urgency: int) -> Future[Any]:
        asked.append((function.partition(":")[2], urgency))
        future: Future[Any] = Future()
        future.set_result(worker_process.done(function, args)[1])
        return future

    worker = SimpleNamespace(submit=submit)
    made = CodeStore(cast(WorkerPool, SimpleNamespace(urgent=worker, background=worker, assembler=worker)))
    came: list = []
    made.fetch(LAB, STRUCTURE, lambda kernel, sentence: came.append(kernel))
    assert asked == [("build", URGENT), ("optimise", SOON)]
    assert came[0].quick
    kernel = made.kernel(LAB, STRUCTURE)
    assert kernel is not None
    assert not kernel.quick
    found = CodeStore(cast(WorkerPool, None)).kernel(LAB, STRUCTURE)
    assert found is not None, "from the disk"
    assert not found.quick


def test_files_and_equations_do_not_wait_for_work_ahead(shop):
    ahead = shop.background.submit("time:sleep", 3.0, urgency=BACKGROUND)
    assert shop.files.submit("operator:add", 2, 3).result(PATIENCE) == 5
    assert not ahead.done()


class _Done:
    """Called when a kernel has come."""

    def __init__(self, came: list):
        self._came = came
        self._event = threading.Event()

    def __call__(self, kernel, sentence):
        self._came.append((kernel, sentence))
        self._event.set()

    def wait(self):
        assert self._event.wait(PATIENCE)
        assert len(self._came) == 1
        return self._came[0][0]


class _Line:
    """A worker whose jobs wait until a test looks at them."""

    def __init__(self):
        self.jobs: list = []

    def submit(self, function, *args, urgency=0):
        future: Future = Future()
        self.jobs.append((args, urgency, future))
        return future

    def cancel(self, future):
        return future.cancel()


def test_a_structure_is_made_once_for_all_who_want_it_and_not_at_all_when_no_one_does(monkeypatch):
    monkeypatch.setenv("HOLONOMY_CACHE", "off")
    first, second = _Line(), _Line()
    made = CodeStore(pool_of(first, second))
    said: list = []
    made.prefetch(LAB, (STRUCTURE,))
    assert len(second.jobs) == 1
    made.fetch(LAB, STRUCTURE, lambda *answer: said.append(answer))
    made.fetch(LAB, STRUCTURE, lambda *answer: said.append(answer))
    assert second.jobs[0][2].cancelled(), "what someone waits for does not stand in the line of what may be wanted"
    assert len(first.jobs) == 1
    made.release(LAB, STRUCTURE)
    assert not first.jobs[0][2].cancelled()
    made.release(LAB, STRUCTURE)
    assert first.jobs[0][2].cancelled()
    made.fetch(LAB, STRUCTURE, lambda *answer: said.append(answer))
    first.jobs[1][2].set_exception(WorkError("no room"))
    assert said == [(None, "no room")]
    made.fetch(LAB, STRUCTURE, lambda *answer: None)
    assert len(first.jobs) == 3, "a failure is not remembered"


def pool_of(first, second):
    return cast(WorkerPool, SimpleNamespace(urgent=first, background=second, files=second))


def test_equations_are_derived_once(monkeypatch):
    second = _Line()
    made = CodeStore(pool_of(_Line(), second))
    assert made.equations(LAB, STRUCTURE) is made.equations(LAB, STRUCTURE)
    second.jobs[0][2].set_exception(WorkError("too long"))
    waited = made.equations(LAB, STRUCTURE)
    assert len(second.jobs) == 2
    made.release_equations(LAB, STRUCTURE)  # one of the three has asked once more, and may still wait
    made.equations(LAB, STRUCTURE)
    made.release_equations(LAB, STRUCTURE)
    assert waited.cancelled(), "no one waits"
    again = made.equations(LAB, STRUCTURE)
    again.set_result(("", ()))
    made.release_equations(LAB, STRUCTURE)
    assert made.equations(LAB, STRUCTURE) is again, "what is known stays known"


def test_the_equations_of_few_links_are_formulas_and_of_many_a_sentence():
    message, items = code_store.equations("holonomy.studio.labs.pendulum", STRUCTURE)
    assert message == ""
    found = {title: latex for title, latex, *_ in items}
    assert found.keys() >= {"Lagrangian", "Lagrange's equations"}
    assert r"\ddot{\theta}_{1}" in found["Lagrange's equations"]
    assert not any("lengths" in latex for latex in found.values())
    many = LAB.structure(LAB.completed(LAB.opening().with_parameter("links", 9.0)))
    message, items = code_store.equations("holonomy.studio.labs.pendulum", many)
    assert "9 links" in message
    assert items == ()


def test_a_job_that_is_no_function_is_a_sentence():
    good, sentence = worker_process.done("os:no_such_function", ())
    assert not good
    assert "no_such_function" in sentence
