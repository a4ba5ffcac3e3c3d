"""Motion by Taylor series to round-off, on heyoka."""

from __future__ import annotations

import math

import equinox as eqx
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.methods.taylor_engine import Heyoka
from holonomy.systems import System


class Taylor(AbstractHostMethod):
    r"""Taylor series of (q, v) in time, order and step chosen for the tolerance. Not symplectic; exact to round-off.

    `tol` bounds the error of a step, relative to the largest component of the state; None is the precision of the
    numbers, with order 20. The Lagrangian is traced, its equations are solved for the accelerations as expressions, and
    heyoka compiles their Taylor coefficients, once per form of system. `dt` is the spacing of saved times.

    For smooth systems whose points are their own coordinates, without constraints. It runs on the host: not under a
    user's jit, vmap or grad. Needs the extra ``holonomy[taylor]``.

    Reference: Jorba and Zou, Experimental Mathematics 14 (2005) 99; Biscani and Izzo, MNRAS 504 (2021) 2614.
    """

    tol: float | None = eqx.field(static=True)

    def __init__(self, tol: float | None = None):
        if tol is not None and not (isinstance(tol, (int, float)) and 0 < tol < 1):
            raise ValueError(f"Taylor's tol must lie between 0 and 1, such as 1e-12, or be None; got {tol!r}.")
        self.tol = None if tol is None else float(tol)

    def tighter(self) -> Taylor | None:
        return None if self.tol is None else Taylor(max(1e-3 * self.tol, float(np.finfo(float).eps)))

    @property
    def order(self) -> int:
        return max(2, math.ceil(1 - 0.5 * math.log(self.tol or np.finfo(float).eps)))

    @property
    def label(self) -> str:
        return "Taylor()" if self.tol is None else f"Taylor(tol={self.tol:g})"

    @property
    def properties(self) -> Properties:
        return Properties(error_control=True, to_round_off=self.tol is None)

    @property
    def instead(self) -> str:
        return "Use hl.Gauss(3) there, which can be differentiated and batched, or call simulate outside of them."

    def engine(self, system: System, wanted: str | None) -> Heyoka:
        return Heyoka(system, self, wanted)
