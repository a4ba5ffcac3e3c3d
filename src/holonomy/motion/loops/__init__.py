"""Compiled loops of steps."""
