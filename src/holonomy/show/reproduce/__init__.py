"""Figures of the source material, computed anew: each a function that returns the picture and the numbers behind it."""

from holonomy.show.reproduce.registry import FIGURES as FIGURES
from holonomy.show.reproduce.registry import Reproduction as Reproduction
