"""Pendulums of any number of links."""
