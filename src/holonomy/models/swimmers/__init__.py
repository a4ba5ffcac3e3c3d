"""Movers that have a name."""
