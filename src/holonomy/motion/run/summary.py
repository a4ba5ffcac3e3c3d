"""A run in one line, and as a small table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from jax.core import Tracer

from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_NAMES = 6  # coordinates that a line names


def line(run: Run) -> str:
    """What the run is, in one line."""
    method = run.provenance.method
    if isinstance(run.t, Tracer) or isinstance(run.result.code, Tracer):
        return f"<Run of {_names(run)} by {method}, being traced>"
    if np.ndim(run.t) > 1:
        shape = " x ".join(str(n) for n in np.shape(run.t)[:-1])
        good = int(np.sum(np.asarray(run.result.ok)))
        whole = int(np.size(np.asarray(run.result.code)))
        states = np.shape(run.t)[-1]
        return f"<Run of {shape} members, {states} states each, of {_names(run)} by {method}: {good} of {whole} ok>"
    if not len(run.t):
        return f"<Run without states, of {_names(run)} by {method}: {Code(int(run.result.code)).name}>"
    return (
        f"<Run of {len(run.t)} states, t = {float(run.t[0]):g} to {float(run.t[-1]):g}, of {_names(run)} by {method}: "
        f"{Code(int(run.result.code)).name}>"
    )


def html(run: Run) -> str:
    """The certificate as a table."""
    if isinstance(run.t, Tracer) or not np.size(run.t):
        return f"<p>{escape(line(run))}</p>"
    t = np.reshape(np.asarray(run.t), (-1, np.shape(run.t)[-1]))[0]
    rows = [("states", f"{len(t)}, t = {t[0]:g} to {t[-1]:g}"), ("of", _names(run)), *run.certificate.rows()]
    body = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{'Run' if np.ndim(run.t) == 1 else 'Batch of runs'}</caption>{body}</table>"


def _names(run: Run) -> str:
    if not run.names:
        return f"{np.shape(run.q)[-1]} coordinates"
    rest = len(run.names) - _NAMES
    return ", ".join(run.names[:_NAMES]) + (f" and {rest} more" if rest > 0 else "")
