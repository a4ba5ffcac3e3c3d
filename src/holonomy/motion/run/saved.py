"""What a run kept at its saved times instead of whole states: `simulate(..., save=...)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import equinox as eqx
from jaxtyping import Float

from holonomy.types import AnyArray


class Saved(eqx.Module):
    """Values by name, `run.saved["energy"]`, each with time first, at the times `t`.

    `energy` and `violation` are those of all these times, so that the run's certificate knows them.
    """

    t: Float[AnyArray, " times"]
    values: Mapping[str, AnyArray]
    energy: Float[AnyArray, " times"]
    violation: Float[AnyArray, "times 2"]

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self.values:
            raise KeyError(f"This run did not save {name!r}; it saved {', '.join(self.values)}.")
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        """The number of saved times."""
        return len(self.t)

    def __bool__(self) -> bool:
        """True, also where the run ended before the first saved time."""
        return True

    def __repr__(self) -> str:
        return f"Saved({', '.join(self.values)} at {len(self)} times)"

    def until(self, count: int) -> Saved:
        """The first so many times."""
        values = {name: rows[:count] for name, rows in self.values.items()}
        return Saved(self.t[:count], values, self.energy[:count], self.violation[:count])
