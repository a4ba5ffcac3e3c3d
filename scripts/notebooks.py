"""Try the notebook views in a real JupyterLab and in marimo, in a browser: `make notebooks`.

Both hosts are installed beside each other into .cache/notebooks, with the newest versions of the index, and started on
loopback with a token; `frontend/browser/notebooks.mjs` then opens them as a reader would. It is no part of `make test`:
the hosts are 340 MB that nothing else needs.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".cache" / "notebooks"
SITE = FOLDER / "site"
PATIENCE = 60.0  # seconds for a host to answer
CELLS = (
    "import holonomy as hl\n"
    "pendulum = hl.Pendulum([1.0, 0.8], masses=[1.0, 1.0])\n"
    "run = hl.simulate(pendulum, [2.0, 2.5], [0.0, 0.0], 120.0, dt=0.01)\n"
    "run",
    "run.view(title='Replay')",
    "run.plot()",
    "pendulum.studio([2.0, 2.5], title='Live')",
)


def install() -> None:
    """JupyterLab and marimo, once."""
    if not (SITE / "jupyterlab").is_dir():
        SITE.mkdir(parents=True, exist_ok=True)
        packages = ("jupyterlab", "marimo", "anywidget")
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(SITE), *packages], check=True
        )


def write_notebooks() -> None:
    """The same cells as a Jupyter notebook and as a marimo program."""
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text, "id": f"cell{i}"}
        for i, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (FOLDER / "views.ipynb").write_text(json.dumps(notebook))
    lines = ["import marimo", "", "app = marimo.App()"]
    for text, takes in zip(CELLS, ("", "run", "run", "pendulum"), strict=True):
        lines += ["", "", "@app.cell", f"def _({takes}):", *(f"    {line}" for line in text.split("\n"))]
        lines.append("    return" if takes else "    return pendulum, run")
    (FOLDER / "views.py").write_text("\n".join(lines) + "\n")


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(arguments: list[str], address: str, log: Path) -> "subprocess.Popen[bytes]":
    """A host that answers."""
    share = SITE / "share" / "jupyter"
    settings = {
        "PYTHONPATH": os.pathsep.join([str(SITE), str(ROOT / "src")]),
        "HOME": str(FOLDER / "home"),
        "JUPYTER_PATH": str(share),
        "JUPYTERLAB_DIR": str(share / "lab"),
        "JUPYTER_CONFIG_PATH": str(SITE / "etc" / "jupyter"),
    }
    (FOLDER / "home").mkdir(exist_ok=True)
    with log.open("w") as output:
        host = subprocess.Popen(
            [sys.executable, "-m", *arguments], cwd=FOLDER, env=os.environ | settings, stdout=output, stderr=output
        )
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and host.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return host
        except OSError:
            time.sleep(0.5)
    host.terminate()
    raise SystemExit(f"{arguments[0]} did not start; see {log.relative_to(ROOT)}.")


def main() -> None:
    """Install, start both hosts, and look at them."""
    install()
    write_notebooks()
    token, ports = secrets.token_urlsafe(16), (free_port(), free_port())
    lab = f"http://127.0.0.1:{ports[0]}/lab/tree/views.ipynb?reset&token={token}"
    marimo = f"http://127.0.0.1:{ports[1]}/?access_token={token}"
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={ports[0]}"]
    options += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={FOLDER}"]
    hosts = [started(["jupyterlab", *options], lab, FOLDER / "jupyterlab.log")]
    try:
        options = ["run", "--headless", "--host", "127.0.0.1", "-p", str(ports[1]), "--token-password", token]
        hosts.append(started(["marimo", *options, "views.py"], marimo, FOLDER / "marimo.log"))
        seen = subprocess.run(
            [sys.executable, "scripts/node.py", "npm", "exec", "--", "node", "browser/notebooks.mjs", lab, marimo],
            cwd=ROOT,
            check=False,
        )
    finally:
        for host in hosts:
            host.terminate()
    raise SystemExit(seen.returncode)


if __name__ == "__main__":
    main()
