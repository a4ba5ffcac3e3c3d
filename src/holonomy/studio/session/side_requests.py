"""Commands that are answered with a notice rather than by the motion: share, export, equations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any

from holonomy.studio.labs import module_of
from holonomy.studio.server.downloads import File
from holonomy.studio.session import export, web_page
from holonomy.studio.session.simulation import Simulation
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.export_formats import BY_KIND, Kind

if TYPE_CHECKING:
    from holonomy.studio.session.session_thread import SessionThread


def run(live: SessionThread, simulation: Simulation, command: messages.Command) -> None:
    """Answer the command if it is one of these; what takes long is answered later."""
    match command:
        case messages.Share():
            live.say(messages.Shared(simulation.document()))
        case messages.AskEquations():
            _derive(live, simulation)
        case messages.Export("python" | "toml" as kind):
            settings, now = simulation.moment.settings, simulation.reading
            write = live.lab.snippet if kind == "python" else live.lab.scene
            _deliver(live, kind, [write(settings, now.t, now.q, now.v).encode()])
        case messages.Export(kind):
            live.services.exports.submit(_record, live, kind, simulation.moment, simulation.controls())
        case _:
            pass


def computes(live: SessionThread, simulation: Simulation, command: messages.Command) -> bool:
    """Whether a worker process computes what the command, a button, does; what comes of it is carried out later."""
    job = live.lab.computed(simulation.moment.settings, command.name) if isinstance(command, messages.Act) else None
    if job is None:
        return False

    def done(future: Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            live.say(messages.Refused(str(error).removeprefix("ValueError: "), messages.tag(messages.Act)))
        else:
            live.send(future.result())

    function, args = job
    live.services.workers.background.submit(function, *args).add_done_callback(done)
    live.say(messages.Announced("This takes some seconds; the result comes by itself."))
    return True


def _derive(live: SessionThread, simulation: Simulation) -> None:
    revision = simulation.revision

    def done(future: Future[Any]) -> None:
        error = future.exception()
        message, items = (f"They could not be derived: {error}", ()) if error else future.result()
        formulas = tuple(messages.EquationView(*item) for item in items)
        live.say(messages.Equations(revision, message, formulas))

    structure = live.lab.derivation(simulation.moment.settings)
    live.services.code_store.equations(live.lab, structure).add_done_callback(done)


def _record(live: SessionThread, kind: Kind, moment: Moment, controls: messages.Controls) -> None:
    """Runs beside the simulation: the motion so far as a file."""
    try:
        readings = _until_stopped(live, export.rows(live.lab, moment))
        if kind == "csv":
            _deliver(live, kind, export.as_csv(live.lab, moment.settings, readings))
        elif kind == "html":
            _deliver(live, kind, [web_page.as_page(live.lab, moment, controls, readings).encode()])
        else:
            worker = live.services.workers.files
            found = export.history(live.lab, moment, readings)
            job = worker.submit(f"{export.__name__}:as_netcdf", module_of(live.lab.name), found)
            _deliver(live, kind, [job.result()])
    except (Exception, CancelledError) as error:  # noqa: BLE001 - whatever it is, the user must be told
        live.say(messages.Refused(f"The file could not be written: {error}", messages.tag(messages.Export)))


def _until_stopped(live: SessionThread, readings: Iterable[Any]) -> Iterator[Any]:
    """The readings; an export of hours of motion does not keep the studio from ending."""
    for reading in readings:
        if live.services.stopping.is_set():
            raise CancelledError("the studio ends")
        yield reading


def _deliver(live: SessionThread, kind: Kind, pieces: Iterable[bytes]) -> None:
    file = BY_KIND[kind]
    name = f"{live.lab.name}.{file.ending}"
    key = live.services.downloads.put(File.of(pieces, name, file.media))
    live.say(messages.Download(f"download/{key}", name))
