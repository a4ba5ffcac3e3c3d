"""How much the energy of a conservative motion may drift. Imports nothing: the studio starts without JAX."""

DRIFT_LIMIT = 1e-2
"""Relative energy drift of a conservative system above which a run is doubtful: a motion that gains or loses a
hundredth of its energy is not the motion that was asked for, whatever the purpose."""
