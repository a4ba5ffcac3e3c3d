"""Texts as they were typed, while the lab refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import PAGE, Settings
from holonomy.viewer.protocol import messages


class Drafts:
    """Several texts can depend on each other, so that each is wrong until the last of them is typed: those that were
    refused stay on the page and count for the next one, while the motion goes on under the settings before them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def over(self, texts: Mapping[str, str]) -> dict[str, str]:
        """What the page shows of these texts."""
        return {**texts, **self._texts}

    def completed(self, lab: AbstractLab, settings: Settings, command: Any) -> Settings:
        """`lab.completed` of settings that a command has changed, with the drafts; they end when it refuses nothing."""
        if not isinstance(command, messages.SetText) or command.name == PAGE:
            return lab.completed(settings)
        self._texts[command.name] = command.value
        found = lab.completed(replace(settings, texts=self.over(settings.texts)))
        self._texts = {}
        return found

    def keep(self, settings: Settings) -> None:
        """A change to these settings has failed later on, for want of code or of a state to start from."""
        self._texts = dict(settings.texts)
