"""Methods by the names of the table: ``"RK4"``, ``"gauss"``, ``"Gauss(2)"``."""

from __future__ import annotations

import importlib
import re
from difflib import get_close_matches

from holonomy.method_table import TABLE
from holonomy.motion.methods.base import AbstractMethod

_CALL = re.compile(r"\s*(?P<name>\w+)\s*(\(\s*(?P<number>\d*)\s*\))?\s*")


def method_by_name(text: str) -> AbstractMethod:
    """The method that a text names, with a number in brackets where its class takes one. Raises `ValueError`."""
    rows = {name.lower(): row for row in TABLE for name in (row.maker, row.name)}
    found = _CALL.fullmatch(text)
    row = rows.get(found["name"].lower()) if found else None
    if found is None or row is None:
        near = get_close_matches(text.lower(), rows, 1)
        hint = f" Did you mean {rows[near[0]].maker!r}?" if near else ""
        known = ", ".join(dict.fromkeys(row.maker for row in TABLE))
        raise ValueError(f"There is no method {text!r}; there are {known}.{hint}")
    maker = getattr(importlib.import_module("holonomy.motion"), row.maker)
    return maker(int(found["number"])) if found["number"] else maker()
