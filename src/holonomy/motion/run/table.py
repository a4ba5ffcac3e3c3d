"""Runs as tables: one row for each saved state, one column for each variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from holonomy.extras import require
from holonomy.motion.run.select import variables

if TYPE_CHECKING:
    import pandas as pd

    from holonomy.motion.run.run import Run


def columns(run: Run) -> dict[str, np.ndarray]:
    """The variables of a run by name, time first; a velocity that has two names is there once."""
    if np.ndim(run.t) > 1:
        raise ValueError("A table holds one run; take one member of the batch first, as run[0].")
    alias = {"omega" + name.removeprefix("theta") for name in run.names if name.startswith("theta")} - set(run.names)
    named = {"t": np.asarray(run.t)}
    for name, value in variables(run).items():
        if name not in alias and name not in named:
            named[name] = np.asarray(value())
    return named


def to_dataframe(run: Run) -> pd.DataFrame:
    """See `Run.to_dataframe`. Needs pandas, which the extra `data` brings."""
    require("data", "run.to_dataframe()")
    import pandas as pd

    named = columns(run)
    return pd.DataFrame({k: x for k, x in named.items() if k != "t"}, index=pd.Index(named["t"], name="t"))


def csv(run: Run) -> bytes:
    """The table as text with a header, every number with all its digits."""
    named = columns(run)

    def lines() -> Iterator[str]:
        yield ",".join(named)
        for row in zip(*(x.tolist() for x in named.values()), strict=True):
            yield ",".join(map(repr, row))

    return ("\n".join(lines()) + "\n").encode()
