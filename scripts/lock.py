"""Write the hashed requirements files from pyproject.toml: `make lock`.

`requirements/run.txt` holds what the package and its set-up need, `requirements/dev.txt` everything the checks need as
well; both are for Python 3.11. No registry address and no path of this machine is written into them, so they can be
installed from any index that serves the same files. The first constrains the second, so that both pin the same
versions. Give `--upgrade` to take newer versions; without it pins stay while they satisfy pyproject.toml.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"run": ("build",), "dev": ("build", "bench", "docs", "test", "dev")}
OPTIONS = [
    "--quiet",
    "--generate-hashes",
    "--strip-extras",
    "--allow-unsafe",
    "--resolver=backtracking",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-emit-trusted-host",
]


def compiler() -> Path:
    """The Python of a small environment of its own that holds pip-tools, made on the first call."""
    folder = ROOT / ".cache" / "lock-venv"
    python = folder / "bin" / "python"
    if not (folder / "bin" / "pip-compile").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-tools"], check=True)
    return python


def foreign_lines(text: str) -> list[str]:
    """Lines that name an address, a path or an option instead of a package, a hash or a reason."""
    allowed = re.compile(r"^(#.*|\s+# .*|\s+--hash=sha256:[0-9a-f]{64}( \\)?|[A-Za-z0-9._-]+==\S+( ; [^\\]+)? \\|)$")
    return [line for line in text.splitlines() if not allowed.match(line) or "://" in line]


def main(arguments: list[str]) -> None:
    """Compile both files and refuse to leave one that names this machine."""
    if sys.version_info[:2] != (3, 11):
        sys.exit(f"The locks are for Python 3.11; this is {sys.version.split()[0]}. Run: make lock PYTHON=python3.11")
    python = compiler()
    environment = os.environ | {"CUSTOM_COMPILE_COMMAND": "make lock"}
    folder = ROOT / "requirements"
    for name, extras in LOCKS.items():
        path = folder / f"{name}.txt"
        chosen = [option for extra in extras for option in ("--extra", extra)]
        if name == "dev":
            chosen += ["--constraint", "requirements/run.txt"]
        files = ["-o", f"requirements/{name}.txt", "pyproject.toml"]
        command = [python, "-m", "piptools", "compile", *OPTIONS, *arguments, *chosen, *files]
        subprocess.run(command, check=True, cwd=ROOT, env=environment)
        if wrong := foreign_lines(path.read_text()):
            sys.exit(f"requirements/{name}.txt has lines that do not belong in it:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
