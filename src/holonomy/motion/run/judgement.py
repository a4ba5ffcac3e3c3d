"""What a certificate says of a run, kept with it in files, where there is no system to look again with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np

from holonomy.motion.run.verdict import Verdict
from holonomy.types import Unchecked

_LONGEST = 2000  # characters of a reason, and reasons, that a file may hold


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reasons, and the error of the states with how it was found, when a run was saved."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    error: float | None = None
    how: str = ""


def to_json(each: Sequence[Judgement]) -> str:
    """As text, of a run or of each member of a batch."""
    return json.dumps([asdict(one) for one in each])


def from_json(text: str) -> tuple[Judgement, ...]:
    """What `to_json` wrote. Raises `ValueError` for anything else."""
    if not text:
        return ()
    try:
        held = json.loads(text)
    except RecursionError:
        held = None
    if not isinstance(held, list):
        raise ValueError("its judgement is not a list")
    return tuple(_one(entry) for entry in held)


def of_members(text: str, which: Unchecked) -> str:
    """Of the judgements of a batch those of some members, by an index or a slice or an array of indices."""
    each = from_json(text)
    return to_json([each[k] for k in np.atleast_1d(np.arange(len(each))[which])]) if each else ""


def _one(entry: Any) -> Judgement:
    if not isinstance(entry, dict) or entry.get("verdict") not in get_args(Verdict):
        raise ValueError("its judgement has no verdict that is known")
    reasons, error, how = entry.get("reasons", []), entry.get("error"), entry.get("how", "")
    words = isinstance(reasons, list) and all(isinstance(x, str) for x in [*reasons, how])
    if not words or len(reasons) > _LONGEST or any(len(x) > _LONGEST for x in [*reasons, how]):
        raise ValueError("the reasons of its judgement are not words")
    if not (error is None or type(error) in (float, int)):
        raise ValueError("the error in its judgement is not a number")
    return Judgement(entry["verdict"], tuple(reasons), None if error is None else float(error), how)
