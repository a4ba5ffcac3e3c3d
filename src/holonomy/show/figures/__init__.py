"""Figures of the source material, computed anew: each a function that returns the picture and the numbers behind it."""

from holonomy.show.figures.registry import FIGURES as FIGURES
from holonomy.show.figures.registry import Reproduction as Reproduction
