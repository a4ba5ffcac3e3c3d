"""The `holonomy` command.

Nothing here imports JAX, Rich or a room of the house before a command needs it, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holonomy.cli_support import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    Language,
    Stop,
    TooLong,
    alarm,
    as_json,
    by_interrupt,
    changes,
    parameter_range,
    plainly,
    printable,
    refuse_existing,
    show_table,
)

if TYPE_CHECKING:
    from holonomy.scene import Performance, Scene

app = typer.Typer(
    name="holonomy",
    help="Mechanics as geometry: describe a system once, and run it, measure it and see it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
SceneFile = Annotated[
    Path, typer.Argument(metavar="SCENE.toml", help="The scene file; - reads standard input.", show_default=False)
]


def _method_names() -> list[str]:
    from holonomy.method_table import TABLE

    return [row.name for row in TABLE]


def _loaded(path: Path) -> tuple[Scene, str]:
    """The scene in a file or in standard input, and what to call it."""
    from holonomy.scene import load, loads

    if str(path) != "-":
        return load(path), path.name
    return loads(sys.stdin.read(), "standard input"), "standard input"


@app.command()
@plainly
def run(
    scene: SceneFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write the files.")] = Path(),
    t_end: Annotated[str | None, typer.Option(metavar="TIME", help="Stop at another time.")] = None,
    dt: Annotated[str | None, typer.Option(metavar="STEP", help="Take another step.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD", autocompletion=_method_names, help='Use another method: rk4, "gauss(2)"; see `methods`.'
        ),
    ] = None,
    save_every: Annotated[int | None, typer.Option(min=1, metavar="STEPS", help="Keep every so many steps.")] = None,
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
    json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Run a scene: write its data and picture, print its certificate. Pictures need the extra `plot`."""
    from holonomy.scene import changed

    found, name = _loaded(scene)
    read = changed(found, changes(change or []), t_end, dt, method=method, save_every=save_every, source=name)
    bar = not quiet and not json and sys.stdout.isatty()
    stem = "scene" if str(scene) == "-" else scene.stem
    with alarm(seconds, KeyboardInterrupt):
        performance = _performed(read, out, stem, name, force, progress=bar)
    if json:
        _report_json(read.title, performance)
    elif not quiet:
        _report(read.title, performance)
    if performance.run.q.ndim == 2 and not performance.run.result.ok:
        raise Stop(f"{performance.run.result} The files hold the part before that.", INTERRUPTED)


def _performed(read: Scene, out: Path, stem: str, name: str, force: bool, progress: bool) -> Performance:
    """The scene's run, with what goes wrong in it told as a fault of the scene."""
    import holonomy as hl
    from holonomy.scene import SceneError, perform

    try:
        return perform(read, out, stem, progress=progress, force=force)
    except SceneError as error:
        raise error.inside(name) from error
    except ValueError as error:
        raise SceneError(str(error), source=name) from error
    except hl.SimulationError as error:
        raise Stop(f"{name}: {error.result} Nothing was written.", FAILED) from error


def _report(title: str, performance: Performance) -> None:
    if title:
        typer.echo(printable(title))
    typer.echo(str(performance.run.certificate))
    for file in performance.files:
        typer.echo(printable(f"wrote {file}"))
    for sentence in performance.omitted:
        typer.echo(f"holonomy: {sentence}", err=True)


def _report_json(title: str, performance: Performance) -> None:
    from dataclasses import asdict

    import numpy as np

    done = performance.run
    as_json(
        {
            "title": title,
            "ok": bool(np.all(done.result.ok)),
            "certificate": asdict(done.certificate),
            "end": {
                "t": float(done.t[..., -1].max()),
                "q": done.q[..., -1, :].tolist(),
                "v": done.v[..., -1, :].tolist(),
            },
            "files": [str(file) for file in performance.files],
            "omitted": list(performance.omitted),
        }
    )


@app.command()
@plainly
def derive(
    scene: SceneFile,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    sympy: Annotated[bool, typer.Option("--sympy", help="Print Lagrange's equations as SymPy expressions.")] = False,
    code: Annotated[
        Language | None, typer.Option("--code", help="Print a function that computes the accelerations.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the whole analysis: .md, .html or .tex.")
    ] = None,
    over: Annotated[
        str, typer.Option("--over", metavar="NAME=FIRST:LAST", help="Draw the equilibria over a parameter.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over files that are there.")] = False,
    seconds: Annotated[float, typer.Option(min=0.0, metavar="TIME", help="Give up after this many seconds.")] = 120.0,
    json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Print the equations of a scene: Lagrange's, solved for the accelerations, and Hamilton's; or, with --out, write
    the whole analysis: constraints, equilibria, conserved quantities, reductions, and plots of the motion."""
    from holonomy.scene import SceneError
    from holonomy.scene.analysis import write_analysis
    from holonomy.scene.build_system import build

    if latex + sympy + json + (code is not None) + (out is not None) > 1:
        raise Stop("--latex, --sympy, --code, --out and --json give different things; choose one.", BAD_INPUT)
    if over and out is None:
        raise Stop("--over draws into the analysis, which --out writes; give both.", BAD_INPUT)
    varied = parameter_range(over) if over else None
    name = "standard input" if str(scene) == "-" else scene.name
    try:
        with alarm(seconds, TooLong):
            built = build(_loaded(scene)[0])
            if out is not None:
                for file in write_analysis(built, out, scene.stem, over=varied, force=force):
                    typer.echo(printable(f"wrote {file}"))
                return
            equations = built.system.equations()
    except TooLong:
        sentence = f"{name}: the derivation was given up after {seconds:g} s; --seconds allows more."
        raise Stop(sentence, FAILED) from None
    except SceneError as error:
        raise error.inside(name) from error
    except ValueError as error:
        raise SceneError(str(error), source=name) from error
    if json:
        as_json([{"part": e.part, "text": e.text, "latex": f"{e.left} = {e.right}"} for e in equations.lines])
    elif code is not None:
        typer.echo(getattr(equations, code.value), nl=False)
    elif latex:
        typer.echo(equations.latex)
    elif sympy:
        typer.echo("\n".join(map(str, equations.sympy.lagrange)))
    else:
        typer.echo(str(equations))


@app.command()
@plainly
def reproduce(
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help="The figure's name, or `all`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path("out"),
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over files that are there.")] = False,
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
        raise Stop(f'there is no figure "{figure[:60]}"; there are {", ".join(FIGURES)}, and all.{hint}', BAD_INPUT)
    names = tuple(FIGURES) if figure == "all" else (figure,)
    refuse_existing((out / f"{name}.{kind}" for name in names for kind in ("png", "json")), force)
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        made = FIGURES[name]()
        with files.whole(out / f"{name}.png") as part:
            made.figure.savefig(part)
        data = json.dumps(made.data, indent=1, default=lambda x: x.tolist())
        files.write(out / f"{name}.json", data.encode("utf-8"))
        typer.echo(f"{out / name}.png and .json")


@app.command()
@plainly
def models(json: Json = False, traceback: Traceback = False) -> None:
    """List the named models: coordinates, parameters and their defaults."""
    from holonomy.models import catalogue

    found = catalogue()
    if json:
        as_json(
            [
                {
                    "name": model.name,
                    "title": model.title,
                    "summary": model.summary,
                    "coordinates": dict(model.coordinates),
                    "parameters": {p.name: {"default": p.default, "meaning": p.meaning} for p in model.parameters},
                }
                for model in found
            ]
        )
        return
    rows = [
        (
            model.name,
            model.title,
            ", ".join(model.coordinates),
            ", ".join(f"{p.name} = {_number(p.default)}" for p in model.parameters),
        )
        for model in found
    ]
    show_table(("model", "what it is", "coordinates", "parameters"), rows, unbroken=("model",))


@app.command()
@plainly
def methods(json: Json = False, traceback: Traceback = False) -> None:
    """List the methods of integration: their names in a scene and in Python, orders, what they keep."""
    from holonomy.method_table import TABLE

    keys = ("name", "python", "order", "keeps", "use")
    rows = [(row.name, f"hl.{row.written}", row.order, row.keeps, row.use) for row in TABLE]
    if json:
        as_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    show_table(("method", "in Python", "order", "keeps", "use it for"), rows, unbroken=("method", "in Python"))


def _number(value: float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_number, value)) + "]"
    return f"{value:g}"


@app.command()
@plainly
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A run that was saved.", show_default=False)],
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="A .html page, a table (.csv), a picture, a film; RUN.html.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The page's title.")] = None,
    speed: Annotated[float | None, typer.Option(help="Seconds of motion for one second of the clock.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over a page that is there.")] = False,
    traceback: Traceback = False,
) -> None:
    """Make one HTML file that replays a saved run anywhere, without a server or a network; or another kind of file."""
    target = run.with_suffix(".html") if out is None else out
    refuse_existing([target], force)
    from holonomy.show.convert import convert

    typer.echo(f"wrote {convert(run, target, title=title, speed=speed)}")


@app.command()
@plainly
def studio(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the studio in a browser.")] = True,
    story: Annotated[list[Path] | None, typer.Option(help="A story to show; may be given several times.")] = None,
    traceback: Traceback = False,
) -> None:
    """Open the studio: systems to touch, live in the browser."""
    from holonomy.studio import serve

    serve(host=host, port=port, open_browser=browser, stories=story or ())


@app.command()
@plainly
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
@plainly
def schema(traceback: Traceback = False) -> None:
    """Print the JSON Schema of scene files, for editors."""
    from holonomy.scene.json_schema import text

    typer.echo(text(), nl=False)


def main() -> Any:
    """What the installed `holonomy` command calls."""
    try:
        return app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except SystemExit as ended:
        # Typer ends with status 1 where Ctrl-C comes before or after a command
        sys.exit(INTERRUPTED if ended.code == FAILED and by_interrupt(ended) else ended.code)


if __name__ == "__main__":
    main()
