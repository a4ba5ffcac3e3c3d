"""The `holonomy` command.

Nothing here imports JAX, Rich or a room of the house before a command needs it, so that `--help` answers at once.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from holonomy.extras import MissingExtra

if TYPE_CHECKING:
    from holonomy.scene import Performance, Scene

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130

P = ParamSpec("P")

app = typer.Typer(
    name="holonomy",
    help="Mechanics as geometry: describe a system once, and run it, measure it and see it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Stop(Exception):
    """A problem to be told in one sentence, with the exit status that goes with it."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.status = status


def _plainly(command: Callable[P, None]) -> Callable[P, None]:
    """A command that ends in one sentence on stderr, not in a traceback, unless `--traceback` asks for one."""

    @wraps(command)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            _fail("interrupted; nothing was written.", INTERRUPTED)
        except Exception as error:  # the one place where a person sees every failure
            if kwargs.get("traceback"):
                raise
            _fail(*_sentence(error))

    return told


def _sentence(error: Exception) -> tuple[str, int]:
    if isinstance(error, _Stop):
        return str(error), error.status
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError):
        return text, BAD_INPUT
    if isinstance(error, MissingExtra):
        return text, FAILED
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}.", FAILED
    return f"{type(error).__name__}: {text} (--traceback shows where).", FAILED


def _printable(text: str) -> str:
    """The text in one line, without characters that a terminal obeys: a file from someone else may hold them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _fail(sentence: str, status: int) -> None:
    typer.echo(f"holonomy: {_printable(sentence)}", err=True)
    raise typer.Exit(status)


class _TooLong(BaseException):
    """The time is over. Not an `Exception`, which the work that is interrupted may catch."""


@contextmanager
def _alarm(seconds: float | None, error: type[BaseException]) -> Generator[None]:
    """Raise the error in the block after some seconds, where the system has such an alarm."""
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def over(number: int, frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _version(wanted: bool) -> None:
    if wanted:
        from holonomy import __version__

        typer.echo(f"holonomy {__version__}")
        raise typer.Exit


Traceback = Annotated[bool, typer.Option("--traceback", "-v", help="On failure show where, for developers.")]


@app.callback()
def _holonomy(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
@_plainly
def run(
    scene: Annotated[Path, typer.Argument(metavar="SCENE.toml", help="The scene file.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write the files.")] = Path(),
    t_end: Annotated[str | None, typer.Option(metavar="TIME", help="Stop at another time.")] = None,
    dt: Annotated[str | None, typer.Option(metavar="STEP", help="Take another step.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "-s", metavar="NAME=VALUE", help="Another parameter or start: g=3.7, theta=pi/2, theta_dot=1."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over files that are there.")] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, metavar="TIME", help="Stop after so many seconds, as Ctrl-C does.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    traceback: Traceback = False,
) -> None:
    """Run a scene: write its data and picture, print its certificate. Pictures need the extra `plot`."""
    from holonomy.scene import changed, load

    read = changed(load(scene), _changes(change or []), t_end, dt, source=scene.name)
    with _alarm(seconds, KeyboardInterrupt):
        performance = _performed(read, out, scene, force, progress=not quiet and sys.stdout.isatty())
    if not quiet:
        _report(read.title, performance)
    if not performance.run.result.ok:
        raise _Stop(f"{performance.run.result} The files hold the part before that.", INTERRUPTED)


def _performed(read: Scene, out: Path, path: Path, force: bool, progress: bool) -> Performance:
    """The scene's run, with what goes wrong in it told as a fault of the scene."""
    import holonomy as hl
    from holonomy.scene import SceneError, perform

    try:
        return perform(read, out, path.stem, progress=progress, force=force)
    except SceneError as error:
        raise error.inside(path.name) from error
    except ValueError as error:
        raise SceneError(str(error), source=path.name) from error
    except hl.SimulationError as error:
        raise _Stop(f"{path.name}: {error.result} Nothing was written.", FAILED) from error


def _report(title: str, performance: Performance) -> None:
    if title:
        typer.echo(_printable(title))
    typer.echo(str(performance.run.certificate))
    for file in performance.files:
        typer.echo(_printable(f"wrote {file}"))
    for sentence in performance.omitted:
        typer.echo(f"holonomy: {sentence}", err=True)


def _changes(given: list[str]) -> dict[str, str]:
    changes: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise _Stop(f'--set takes NAME=VALUE, such as g=3.7; got "{text[:60]}".', BAD_INPUT)
        changes[name.strip()] = value.strip()
    return changes


@app.command()
@_plainly
def derive(
    scene: Annotated[Path, typer.Argument(metavar="SCENE.toml", help="The scene file.", show_default=False)],
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    sympy: Annotated[bool, typer.Option("--sympy", help="Print Lagrange's equations as SymPy expressions.")] = False,
    seconds: Annotated[float, typer.Option(min=0.0, metavar="TIME", help="Give up after this many seconds.")] = 120.0,
    traceback: Traceback = False,
) -> None:
    """Print the equations of a scene: Lagrange's, solved for the accelerations, and Hamilton's."""
    from holonomy.scene import SceneError, load
    from holonomy.scene.build_system import build

    if latex and sympy:
        raise _Stop("--latex and --sympy print different things; choose one.", BAD_INPUT)
    try:
        with _alarm(seconds, _TooLong):
            equations = build(load(scene)).system.equations()
    except _TooLong:
        sentence = f"{scene.name}: the derivation was given up after {seconds:g} s; --seconds allows more."
        raise _Stop(sentence, FAILED) from None
    except SceneError as error:
        raise error.inside(scene.name) from error
    except ValueError as error:
        raise SceneError(str(error), source=scene.name) from error
    if latex:
        typer.echo(equations.latex)
    elif sympy:
        typer.echo("\n".join(map(str, equations.sympy.lagrange)))
    else:
        typer.echo(str(equations))


@app.command()
@_plainly
def reproduce(
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help="The figure's name, or `all`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path("out"),
    traceback: Traceback = False,
) -> None:
    """Compute a figure of the source material anew: a picture, and the numbers it shows."""
    import json
    from difflib import get_close_matches

    from holonomy import files
    from holonomy.show.figures import FIGURES

    if figure != "all" and figure not in FIGURES:
        near = get_close_matches(figure, FIGURES, 1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise _Stop(f'there is no figure "{figure[:60]}"; there are {", ".join(FIGURES)}, and all.{hint}', BAD_INPUT)
    out.mkdir(parents=True, exist_ok=True)
    for name in FIGURES if figure == "all" else (figure,):
        made = FIGURES[name]()
        with files.whole(out / f"{name}.png") as part:
            made.figure.savefig(part)
        data = json.dumps(made.data, indent=1, default=lambda x: x.tolist())
        files.write(out / f"{name}.json", data.encode("utf-8"))
        typer.echo(f"{out / name}.png and .json")


@app.command()
@_plainly
def models(traceback: Traceback = False) -> None:
    """List the named models: coordinates, parameters and their defaults."""
    from rich.console import Console
    from rich.table import Table

    from holonomy.models import catalogue

    table = Table()
    for heading in ("model", "what it is", "coordinates", "parameters"):
        table.add_column(heading, no_wrap=heading == "model")
    for model in catalogue():
        numbers = ", ".join(f"{p.name} = {_number(p.default)}" for p in model.parameters)
        table.add_row(model.name, model.title, ", ".join(model.coordinates), numbers)
    Console(highlight=False).print(table)


@app.command()
@_plainly
def methods(traceback: Traceback = False) -> None:
    """List the methods of integration: their names in a scene and in Python, orders, what they keep."""
    from rich.console import Console
    from rich.table import Table

    from holonomy.method_table import TABLE

    table = Table()
    for heading in ("method", "in Python", "order", "keeps", "use it for"):
        table.add_column(heading, no_wrap=heading in ("method", "in Python"))
    for row in TABLE:
        table.add_row(row.name, f"hl.{row.written}", row.order, row.keeps, row.use)
    Console(highlight=False).print(table)


def _number(value: float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_number, value)) + "]"
    return f"{value:g}"


@app.command()
@_plainly
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A run that was saved.", show_default=False)],
    out: Annotated[Path | None, typer.Argument(metavar="OUT.html", help="The page; RUN.html unless named.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The page's title.")] = None,
    speed: Annotated[float | None, typer.Option(help="Seconds of motion for one second of the clock.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over a page that is there.")] = False,
    traceback: Traceback = False,
) -> None:
    """Make one HTML file that replays a saved run anywhere, without a server or a network."""
    target = run.with_suffix(".html") if out is None else out
    if target.exists() and not target.is_dir() and not force:
        raise _Stop(f"{target} is there already; name another file, or write over it with --force.", BAD_INPUT)
    from holonomy.motion.run.load import attributes, load
    from holonomy.show.html import export as write

    written = write(load(run), target, title=title or run.stem, about=attributes(run), force=force, speed=speed)
    typer.echo(f"wrote {written}")


@app.command()
@_plainly
def studio(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the studio in a browser.")] = True,
    traceback: Traceback = False,
) -> None:
    """Open the studio: systems to touch, live in the browser."""
    from holonomy.studio import serve

    serve(host=host, port=port, open_browser=browser)


@app.command()
@_plainly
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything that is kept.")] = False,
    traceback: Traceback = False,
) -> None:
    """Say where compiled code is kept and how much of it, or remove it."""
    from holonomy.trace.native import cache as kept

    place = kept.directory()
    if place is None:
        typer.echo("No compiled code is kept: HOLONOMY_CACHE is off.")
        return
    if clear:
        typer.echo(f"{place}: {kept.clear()} entries removed.")
        return
    found = kept.entries()
    size, most = (n / 2**20 for n in (sum(entry.size for entry in found), kept.MOST_BYTES))
    typer.echo(f"{place}: {len(found)} entries, {size:.1f} MB of at most {most:.0f} MB.")


@app.command()
@_plainly
def schema(traceback: Traceback = False) -> None:
    """Print the JSON Schema of scene files, for editors."""
    from holonomy.scene.json_schema import text

    typer.echo(text(), nl=False)


def main() -> Any:
    """What the installed `holonomy` command calls."""
    return app()


if __name__ == "__main__":
    main()
