"""Movers with inertia or wheels."""
