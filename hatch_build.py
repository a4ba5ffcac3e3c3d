"""The build hook: a wheel carries the built pages of the studio, so that installing it needs no Node.

An editable install builds nothing here; `make studio` keeps the pages of a checkout up to date.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))

import node


class FrontendHook(BuildHookInterface[Any]):
    """Runs the frontend's build before a wheel is packed."""

    PLUGIN_NAME = "custom"

    def _makes_wheel(self) -> bool:
        return self.target_name == "wheel"

    def dependencies(self) -> list[str]:
        """Node from PyPI where the machine has none that is new enough."""
        return [node.WHEEL] if self._makes_wheel() and node.system_npm() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages into the package's folder, from where the wheel takes them."""
        if self._makes_wheel() and version != "editable":
            node.build()
