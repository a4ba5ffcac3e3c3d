"""Commands that are answered rather than carried out: share, export, equations, and what a button computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any

from holonomy.studio.labs import module_of
from holonomy.studio.server.downloads import File
from holonomy.studio.session import export, web_page
from holonomy.studio.session.answers import Job
from holonomy.studio.session.drafts import require_motion
from holonomy.studio.session.simulation import Simulation
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.export_formats import BY_KIND, Kind

if TYPE_CHECKING:
    from holonomy.studio.session.session_thread import SessionThread


def run(live: SessionThread, simulation: Simulation, command: messages.Command) -> None:
    """Answer the command if it is one of these; what takes long is answered later, if it is of the present then."""
    match command:
        case messages.Share():
            live.answer(messages.Shared(simulation.document()))
        case messages.AskEquations():
            _derive(live, simulation)
        case messages.Export("python" | "toml" as kind):
            settings, now = simulation.moment.settings, simulation.reading
            write = live.lab.snippet if kind == "python" else live.lab.scene
            _deliver(live, _file(live, kind, [write(settings, now.t, now.q, now.v).encode()]))
        case messages.Export(kind):
            job = live.begin(messages.Download)
            if job is not None:
                live.services.exports.submit(_record, live, job, kind, simulation.moment, simulation.controls())
        case _:
            pass


def computes(live: SessionThread, simulation: Simulation, command: messages.Command) -> bool:
    """Whether a worker process computes what the command, a button, does; what comes of it is carried out later, if
    what it was computed from is still set then."""
    work = live.lab.computed(simulation.moment.settings, command.name) if isinstance(command, messages.Act) else None
    if work is None:
        return False
    require_motion(simulation.draft)
    job = live.begin(messages.Act)
    assert job is not None
    function, args = work
    worker = live.services.workers.background
    future = worker.submit(function, *args)

    def done(future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            return
        if error is None:
            live.finish(job, lambda: live.carry_out(future.result()))
        else:
            sentence = str(error).removeprefix("ValueError: ")
            live.finish(job, lambda: live.answer(messages.Refused(sentence, messages.tag(messages.Act))))

    job.cancelled_by(lambda: worker.cancel(future))
    future.add_done_callback(done)
    live.answer(messages.Announced("This takes some seconds; the result comes by itself."))
    return True


def dropped(live: SessionThread, job: Job) -> None:
    """Say of work that someone waits for that it was dropped; equations are asked for again by the page."""
    match job.kind:
        case "download":
            live.answer(messages.Announced("The file was dropped, because the motion was changed; export it anew."))
        case "act":
            live.answer(messages.Announced("The search was dropped, because its settings were changed; start it anew."))
        case _:
            pass


def _derive(live: SessionThread, simulation: Simulation) -> None:
    job = live.begin(messages.Equations)
    if job is None:
        return
    structure = live.lab.derivation(simulation.moment.settings)
    future = live.services.code_store.equations(live.lab, structure)

    def done(future: Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        message, items = (f"They could not be derived: {error}", ()) if error else future.result()
        formulas = tuple(messages.EquationView(*item) for item in items)
        live.finish(job, lambda: live.answer(messages.Equations(message, formulas)))

    job.cancelled_by(lambda: live.services.code_store.release_equations(live.lab, structure))
    future.add_done_callback(done)


def _record(live: SessionThread, job: Job, kind: Kind, moment: Moment, controls: messages.Controls) -> None:
    """Runs beside the simulation: the motion so far as a file."""
    try:
        readings = _until_stopped(live, job, export.rows(live.lab, moment))
        if kind == "csv":
            made: Iterable[bytes] = export.as_csv(live.lab, moment.settings, readings)
        elif kind == "html":
            made = [web_page.as_page(live.lab, moment, controls, readings).encode()]
        else:
            worker = live.services.workers.files
            found = export.history(live.lab, moment, readings)
            future = worker.submit(f"{export.__name__}:as_netcdf", module_of(live.lab.name), found)
            job.cancelled_by(lambda: worker.cancel(future))
            made = [future.result()]
        file = _file(live, kind, made)
        live.finish(job, lambda: _deliver(live, file), file.content.close)
    except (Exception, CancelledError) as error:  # noqa: BLE001 - whatever it is, the user must be told
        sentence = f"The file could not be written: {error}"
        live.finish(job, lambda: live.answer(messages.Refused(sentence, messages.tag(messages.Export))))


def _until_stopped(live: SessionThread, job: Job, readings: Iterable[Any]) -> Iterator[Any]:
    """The readings; an export of hours of motion keeps neither the studio from ending nor the next export waiting."""
    for reading in readings:
        if job.dropped or live.services.stopping.is_set():
            raise CancelledError("the studio ends")
        yield reading


def _file(live: SessionThread, kind: Kind, pieces: Iterable[bytes]) -> File:
    row = BY_KIND[kind]
    return File.of(pieces, f"{live.lab.name}.{row.ending}", row.media)


def _deliver(live: SessionThread, file: File) -> None:
    key = live.services.downloads.put(file)
    live.answer(messages.Download(f"download/{key}", file.name))
