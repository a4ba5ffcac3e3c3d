"""A lab for tests of the page whose code takes as many seconds to make as the user says."""

from __future__ import annotations

import time
from dataclasses import replace

from toy_lab import ToyLab

from holonomy.studio.labs.settings import Parameter


class SlowLab(ToyLab):
    """A mass on a spring, compiled slowly."""

    descriptor = replace(ToyLab.descriptor, name="slow", title="Slow")
    table = replace(
        ToyLab.table,
        parameters=(
            *ToyLab.table.parameters,
            Parameter(name="seconds", label="Seconds", low=0, high=900, default=0, integer=True, structural=True),
        ),
    )

    def program(self, structure):
        time.sleep(dict(structure)["seconds"])
        return super().program(structure)


LAB = SlowLab()
