"""Runs as tables: one row for each saved state, one column for each variable."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from holonomy.extras import MissingExtra, require
from holonomy.motion.run.select import variables

if TYPE_CHECKING:
    import pandas as pd

    from holonomy.motion.run.run import Run


def columns(run: Run) -> dict[str, np.ndarray]:
    """The variables of a run by name, time first; a velocity that has two names is there once.

    The rows of a batch are those of its members one after the other, with the number of the member before the time.
    """
    alias = {"omega" + name.removeprefix("theta") for name in run.names if name.startswith("theta")} - set(run.names)
    named = {"t": np.asarray(run.t)}
    for name, value in variables(run).items():
        if name not in alias and name not in named:
            named[name] = np.asarray(value())
    if np.ndim(run.t) == 1:
        return named
    if np.ndim(run.t) > 2:
        raise ValueError("A table holds one run or one batch; of a batch of batches take run[0].")
    member = np.repeat(np.arange(len(run.t)), np.shape(run.t)[1])
    return {"member": member} | {name: np.reshape(x, -1) for name, x in named.items()}


def to_dataframe(run: Run) -> pd.DataFrame:
    """See `Run.to_dataframe`. Needs pandas, which the extra `data` brings."""
    require("data", "run.to_dataframe()")
    import pandas as pd

    return pd.DataFrame(columns(run)).set_index("t" if np.ndim(run.t) == 1 else ["member", "t"])


def csv(run: Run) -> bytes:
    """The table as text with a header, every number with all its digits."""
    named = columns(run)

    def lines() -> Iterator[str]:
        yield ",".join(named)
        for row in zip(*(x.tolist() for x in named.values()), strict=True):
            yield ",".join(map(repr, row))

    return ("\n".join(lines()) + "\n").encode()


def parquet(run: Run) -> bytes:
    """The table in Apache Parquet, with time (and member) as columns. Needs pandas and a package that writes it."""
    require("data", "A .parquet file")
    import pandas as pd

    memory = io.BytesIO()
    try:
        pd.DataFrame(columns(run)).to_parquet(memory, index=False)
    except ImportError:
        raise MissingExtra(
            "A .parquet file needs pyarrow, which is not installed: pip install pyarrow; .csv and .nc work without.",
            name="pyarrow",
        ) from None
    return memory.getvalue()
