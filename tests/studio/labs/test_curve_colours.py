"""Curves of one plot can be told apart."""

from __future__ import annotations

import pytest

from holonomy.studio.labs.curved import LAB
from holonomy.viewer.palette import LIGHT


@pytest.mark.parametrize("preset", [preset.name for preset in LAB.descriptor.presets])
def test_curves_of_one_plot_differ_in_colour(preset):
    """The page's colours for bodies come round."""
    count = len(LIGHT.bodies)
    groups: dict[str, list[int]] = {}
    for channel in LAB.drawn(LAB.preset(preset)).channels:
        if channel.colour is not None:
            groups.setdefault(channel.group, []).append(channel.colour % count)
    for colours in groups.values():
        assert len(set(colours)) == min(len(colours), count)
