"""The labs, in the order in which the page lists them."""

from __future__ import annotations

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.linkage.lab import LinkageLab
from holonomy.studio.labs.pendulum.lab import PendulumLab


def all_labs() -> tuple[AbstractLab, ...]:
    """One object per lab, shared by all users: labs hold no state of their own."""
    return (PendulumLab(), LinkageLab())


def named(name: str) -> AbstractLab:
    """The lab of that name."""
    return {lab.name: lab for lab in all_labs()}[name]
