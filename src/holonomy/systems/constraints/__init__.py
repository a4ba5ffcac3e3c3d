"""Constraints on positions and velocities, and the forces that keep them."""
