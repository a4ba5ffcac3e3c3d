"""Sphere linkages: chains of unit rods with both ends pinned."""
