"""The way of one warm `simulate` through the package: files visited, returns of named functions, changes of package.

`python -m tests.project.walk` prints them, for a free double pendulum.
"""

import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType

import holonomy as hl

PACKAGE = Path(hl.__file__).parent


def walked() -> list[Path]:
    """The file of each named function of the package that returns, in order, in the third run of a system."""
    system, files = hl.Pendulum([1.0, 1.0], [1.0, 1.0]), []

    def run() -> None:
        hl.simulate(system, [1.0, 0.5], [0.0, 0.0], 1.0, dt=0.01, method=hl.Gauss(2))

    def seen(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "return" and not frame.f_code.co_name.startswith("<") and path.is_relative_to(PACKAGE):
            files.append(path.relative_to(PACKAGE))

    run()
    run()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files


if __name__ == "__main__":
    files = walked()
    changes = sum(a.parts[0] != b.parts[0] for a, b in pairwise(files))
    print(f"{len(set(files))} files, {len(files)} returns, {changes} changes of package")
