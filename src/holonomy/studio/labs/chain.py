"""Chains of rods in the plane: where the bobs are, and how to reach with one of them."""

from holonomy.models.kinematics import chain_points, reach

__all__ = ["chain_points", "reach"]
