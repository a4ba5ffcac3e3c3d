"""Write the hashed requirements files from pyproject.toml: `make lock`.

| file | holds | for |
| --- | --- | --- |
| `requirements/dev.txt` | everything that the checks need | every supported Python |
| `requirements/run.txt` | what the package with all its extras and its set-up need | every supported Python |
| `requirements/oldest.txt` | the oldest versions that pyproject.toml allows, tests included | the oldest Python |
| `requirements/uv.txt` | uv, which writes these files | every supported Python |

uv solves the first two for all Pythons at once: where a newer Python can have a newer version, the file has a line for
each, with a marker. Every version must have wheels for every supported Python on Linux with x86-64; this is checked,
and no Python has to be installed for it. No registry address and no path of this machine is written into the files, so
they can be installed from any index that serves the same packages. Give `--upgrade` to take newer versions; without it
a version stays while it satisfies pyproject.toml; `--upgrade` takes a newer uv, too.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from environment import EXTRAS, LOCKED_OPTIONS, create, interpreter, pip, supported, usable

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / ".cache" / "lock-venv"
PLATFORM = "x86_64-manylinux_2_28"
OLDEST_EXTRAS = "build,all,test"
SHARED = (
    "--quiet",
    "--no-config",
    "--generate-hashes",
    "--only-binary=:all:",
    "--custom-compile-command=make lock",
)


def compiler() -> Path:
    """The program uv, in a small environment of its own: the version that `requirements/uv.txt` pins by its hashes."""
    uv = interpreter(TOOL).with_name("uv.exe" if sys.platform == "win32" else "uv")
    pinned = ROOT / "requirements" / "uv.txt"
    stamp = TOOL / ".holonomy-uv"
    if not (uv.exists() and stamp.exists() and stamp.read_bytes() == pinned.read_bytes()):
        if not usable(TOOL):
            create(TOOL)
        pip(TOOL, *LOCKED_OPTIONS, "-r", str(pinned))
        stamp.write_bytes(pinned.read_bytes())
    return uv


def pin_uv() -> None:
    """Pin the newest uv, which from the next call on writes the locks."""
    command = [compiler(), "pip", "compile", *SHARED, "--universal", "--no-annotate", "--upgrade"]
    python = f"--python-version={dotted(supported()[0])}"
    done = subprocess.run(
        [*command, python, "--output-file=requirements/uv.txt", "-"],
        cwd=ROOT,
        input=b"uv",
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"uv found no version of itself: {done.stderr.decode().strip()}")


def extras(names: str) -> list[str]:
    """The options that name extras."""
    return [f"--extra={name}" for name in names.split(",")]


def dotted(version: tuple[int, int]) -> str:
    """A version as text."""
    return "{}.{}".format(*version)


def compile_file(name: str, *options: str) -> None:
    """Let uv write one requirements file, and refuse to leave one that names this machine or its index."""
    path = ROOT / "requirements" / f"{name}.txt"
    # With a path relative to the checkout as its output, uv names no folder of this machine.
    command = [compiler(), "pip", "compile", *SHARED, *options, f"--output-file=requirements/{name}.txt"]
    status = subprocess.run([*command, "pyproject.toml"], cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode
    if status != 0:
        sys.exit(f"uv found no versions for requirements/{name}.txt; its reason is above.")
    if wrong := foreign_lines(path.read_text(encoding="utf-8")):
        sys.exit(f"requirements/{name}.txt has lines that do not belong in it:\n" + "\n".join(wrong))


def foreign_lines(text: str) -> list[str]:
    """Lines that name an address, a path or an option instead of a package, a hash or a reason."""
    allowed = re.compile(r"^(#.*|\s+# .*|\s+--hash=sha256:[0-9a-f]{64}( \\)?|[A-Za-z0-9._-]+==\S+( ; [^\\]+)? \\|)$")
    return [line for line in text.splitlines() if not allowed.match(line) or "://" in line]


def check_wheels(name: str, version: tuple[int, int]) -> None:
    """Stop if a file pins a version that has no wheel for a Python on Linux with x86-64."""
    asked = ("--no-deps", f"--python-version={dotted(version)}", f"--python-platform={PLATFORM}")
    command = [compiler(), "pip", "compile", *SHARED, *asked, f"requirements/{name}.txt"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"requirements/{name}.txt cannot be installed on Python {dotted(version)}:\n{done.stderr.strip()}")


def main(arguments: list[str]) -> None:
    """Compile the three files and check them."""
    if unknown := [word for word in arguments if not word.startswith("--upgrade")]:
        sys.exit(f"make lock takes the options --upgrade and --upgrade-package=NAME, not {unknown[0]}.")
    versions = supported()
    os.environ.pop("VIRTUAL_ENV", None)
    if "--upgrade" in arguments:
        pin_uv()
    universal = ("--universal", f"--python-version={dotted(versions[0])}", "--fork-strategy=requires-python")
    compile_file("dev", *universal, *extras(EXTRAS["dev"]), *arguments)
    compile_file("run", *universal, *extras(EXTRAS["run"]), "--constraint=requirements/dev.txt", *arguments)
    oldest = (f"--python-version={dotted(versions[0])}", f"--python-platform={PLATFORM}", "--resolution=lowest-direct")
    compile_file("oldest", *oldest, *extras(OLDEST_EXTRAS), *arguments)
    for version in versions:
        check_wheels("dev", version)
        check_wheels("run", version)
    check_wheels("oldest", versions[0])
    print(f"Wrote requirements/ for Python {', '.join(map(dotted, versions))}.")


if __name__ == "__main__":
    main(sys.argv[1:])
