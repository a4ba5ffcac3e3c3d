"""Running a scene and writing its files, all of them or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import holonomy as hl
from holonomy import files
from holonomy.extras import MissingExtra, require
from holonomy.scene.build_system import build
from holonomy.scene.errors import SceneError, clipped
from holonomy.scene.spec import Outputs, Scene
from holonomy.scene.write import dumps


@dataclass(frozen=True)
class Performance:
    """A run and the files it was written to. A run that was interrupted is there up to that point.

    `omitted` holds a sentence for each output that was left out because a package is not installed.
    """

    run: hl.Run
    files: tuple[Path, ...]
    omitted: tuple[str, ...] = ()


def perform(scene: Scene, folder: str | Path, stem: str, progress: Any = None, *, force: bool = True) -> Performance:
    """Simulate a scene and write its outputs into a folder.

    **Arguments:** `stem`, the name of files that the scene gives no name; `progress`, as for `hl.simulate`; `force`,
    whether to write over files that are there.

    The folder is made and tried before anything is computed. Files are written beside their place and moved there when
    all are complete, so that a failure leaves none, whole or in part.

    Ctrl-C while it computes keeps what was computed; check `performance.run.result`.

    Pictures need the extra `plot` and animations the extra `video`. A picture that the scene does not name is left out
    where the extra is not installed.

    **Raises** `SceneError` for a folder or file that cannot be written or, without `force`, for a file that is there,
    `hl.SimulationError` when the run fails, `MissingExtra` for a named picture or an animation without its extra,
    before anything is computed.
    """
    outputs, omitted = _possible(scene.outputs)
    if not force:
        _refuse_to_replace([Path(folder) / name for name in _names(outputs, stem).values()])
    built = build(scene)
    with _staged(Path(folder)) as (stage, commit):
        if built.setup.ensemble is not None:
            run = hl.ensemble(built.system, **built.arguments)
        else:
            run = hl.simulate(built.system, **built.arguments, progress=progress, throw=False)
        if built.setup.ensemble is None and not run.result.ok and (run.result.name != "interrupted" or len(run.t) < 2):
            raise hl.SimulationError(run)
        run = replace(run, provenance=replace(run.provenance, scene=dumps(scene), maker="scene"))
        names = write(run, outputs, stage, stem)
        return Performance(run, commit(names), omitted)


def _possible(outputs: Outputs) -> tuple[Outputs, tuple[str, ...]]:
    """The outputs that the installed packages can write, and a sentence for each that they cannot."""
    if outputs.animation:
        require("video", "An animation")
    try:
        if outputs.picture:
            require("plot", "A picture")
    except MissingExtra as error:
        if isinstance(outputs.picture, str):
            raise
        return replace(outputs, picture=False), (str(error),)
    return outputs, ()


def write(run: hl.Run, outputs: Outputs, folder: Path, stem: str) -> list[str]:
    """Write what the outputs ask for into a folder; the names of the files."""
    names = _names(outputs, stem)
    if "netcdf" in names:
        run.save(folder / names["netcdf"])
    if "picture" in names:
        with files.whole(folder / names["picture"]) as part:
            run.plot().savefig(part, dpi=150)
    if "animation" in names:
        run.animate(folder / names["animation"])
    return list(names.values())


def _names(outputs: Outputs, stem: str) -> dict[str, str]:
    """The file of each output that is asked for."""
    asked = {
        "netcdf": (outputs.netcdf, "nc"),
        "picture": (outputs.picture, "png"),
        "animation": (outputs.animation, "gif"),
    }
    return {
        output: given if isinstance(given, str) else f"{stem}.{ending}"
        for output, (given, ending) in asked.items()
        if given
    }


def _refuse_to_replace(targets: list[Path]) -> None:
    for target in targets:
        if os.path.lexists(target) and not target.is_dir():
            raise SceneError(
                f'"{clipped(str(target), 120)}" is there already; name another folder, or write over it with --force.',
                source="--out",
            )


@contextmanager
def _staged(folder: Path) -> Generator[tuple[Path, Callable[[list[str]], tuple[Path, ...]]]]:
    """A folder to write into, and a function that moves files from it to their place; a failure leaves nothing."""
    made = _make(folder)
    stage: Path | None = None
    done = False
    try:
        try:
            stage = Path(tempfile.mkdtemp(prefix=".holonomy-", dir=folder))
        except OSError as error:
            raise _unwritable(folder, error) from None
        staging = stage

        def commit(names: list[str]) -> tuple[Path, ...]:
            nonlocal done
            for name in names:
                if (folder / name).is_dir():
                    raise SceneError(
                        f'"{clipped(name)}" is a folder there; a file cannot take its place.', source="--out"
                    )
            done = True
            moved = tuple((staging / name).replace(folder / name) for name in names)
            files.sync_folder(folder)
            return moved

        yield stage, commit
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)
        if not done:
            for parent in made:
                parent.rmdir()


def _make(folder: Path) -> list[Path]:
    """Make a folder and those above it that are missing; those made, innermost first."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    return missing


def _unwritable(folder: Path, error: OSError) -> SceneError:
    reason = error.strerror or str(error)
    return SceneError(f'cannot write into "{clipped(str(folder), 120)}" ({reason}).', source="--out")
