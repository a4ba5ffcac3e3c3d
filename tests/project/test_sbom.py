"""The list of packages has what the locks have, with the same digests, in the form that CycloneDX 1.6 describes."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import sbom

ROOT = Path(__file__).resolve().parents[2]


def test_every_locked_package_is_listed_with_its_digests() -> None:
    made = sbom.bill(dev=True)
    text = (ROOT / "requirements" / "dev.txt").read_text()
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.M)
    listed = {one["purl"]: one for one in made["components"]}
    assert {f"pkg:pypi/{name.lower()}@{version}" for name, version in pins} <= set(listed)
    digests = {h["content"] for one in made["components"] if one["purl"].startswith("pkg:pypi") for h in one["hashes"]}
    assert digests == set(re.findall(r"sha256:([0-9a-f]{64})", text))
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())
    assert len([one for one in listed if one.startswith("pkg:npm")]) == len(
        {(place.rpartition("node_modules/")[2], one["version"]) for place, one in lock["packages"].items() if place}
    )
    assert (
        len(listed["pkg:npm/three@" + lock["packages"]["node_modules/three"]["version"]]["hashes"][0]["content"]) == 128
    )


def test_the_list_for_users_has_no_tools_of_tests_and_is_the_same_each_time() -> None:
    made = sbom.bill()
    names = {one["name"] for one in made["components"]}
    assert {"jax", "three", "vite"} <= names
    assert not names & {"pytest", "@sparticuz/chromium", "playwright-core", "vitest"}
    assert made == sbom.bill()
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["serialNumber"])
    references = [one["bom-ref"] for one in made["components"]]
    assert len(references) == len(set(references))
    assert {one["scope"] for one in made["components"]} <= {"required", "optional"}
