"""Write a list of everything that is installed with Holonomy, from the locks: `make sbom`.

The list is a software bill of materials in the JSON form of CycloneDX 1.6: for each package of `requirements/run.txt`
and `frontend/package-lock.json` its name, version, package address (purl) and the digests of the files that the lock
allows. `--dev` adds what only the checks need. The same locks give the same bytes. Standard library only.
"""

import base64
import hashlib
import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
HASHES = r"(?:\s+--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
PIN = re.compile(rf"^([A-Za-z0-9._-]+)==([^\s;\\]+)((?: ; [^\\\n]+)?) \\\n({HASHES})", re.M)
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
ALGORITHMS = {"sha512": "SHA-512", "sha384": "SHA-384", "sha256": "SHA-256", "sha1": "SHA-1"}


def component(kind: str, name: str, version: str, hashes: list[dict[str, str]], *, required: bool) -> dict[str, Any]:
    """One package."""
    address = f"pkg:{kind}/{quote(name, safe='/')}@{quote(version)}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "scope": "required" if required else "optional",
        "hashes": hashes,
        "purl": address,
    }


def of_python(text: str) -> list[dict[str, Any]]:
    """The packages of a requirements file; one with a marker is installed on some machines or Pythons only."""
    made = []
    for name, version, marker, files in PIN.findall(text):
        hashes = [{"alg": "SHA-256", "content": found} for found in DIGEST.findall(files)]
        made.append(component("pypi", name.lower(), version, hashes, required=not marker))
    return made


def of_npm(lock: dict[str, Any], dev: bool = False) -> list[dict[str, Any]]:
    """The packages of a package-lock.json."""
    made = []
    for place, package in lock["packages"].items():
        if not place or (package.get("dev") and not dev):
            continue
        name = place.rpartition("node_modules/")[2]
        algorithm, _, digest = package["integrity"].partition("-")
        hashes = [{"alg": ALGORITHMS[algorithm], "content": base64.b64decode(digest).hex()}]
        required = not (package.get("dev") or package.get("optional") or package.get("devOptional"))
        one = component("npm", name, package["version"], hashes, required=required)
        if "license" in package:
            one["licenses"] = [{"expression": package["license"]}]
        made.append(one)
    return made


def bill(root: Path = ROOT, dev: bool = False) -> dict[str, Any]:
    """The whole list."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["version"]
    found = re.search(r'__version__ = "([^"]+)"', (root / settings["path"]).read_text(encoding="utf-8"))
    if found is None:
        sys.exit(f"{settings['path']} has no version of Holonomy.")
    version = found[1]
    requirements = root / "requirements" / ("dev.txt" if dev else "run.txt")
    lock = json.loads((root / "frontend" / "package-lock.json").read_text(encoding="utf-8"))
    listed = of_python(requirements.read_text(encoding="utf-8")) + of_npm(lock, dev)
    components = sorted({one["bom-ref"]: one for one in listed}.values(), key=lambda one: one["bom-ref"])
    digest = hashlib.sha256(json.dumps(components, sort_keys=True).encode()).digest()
    us = f"pkg:pypi/holonomy@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": us, "name": "holonomy", "version": version, "purl": us}
        },
        "components": components,
    }


def main(arguments: list[str]) -> None:
    """Write the list to dist/holonomy.cdx.json."""
    if unknown := [word for word in arguments if word != "--dev"]:
        sys.exit(f"make sbom takes the option --dev, not {unknown[0]}.")
    made = bill(dev="--dev" in arguments)
    target = ROOT / "dist" / "holonomy.cdx.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"Wrote {len(made['components'])} packages to {target.relative_to(ROOT)}.")


if __name__ == "__main__":
    main(sys.argv[1:])
