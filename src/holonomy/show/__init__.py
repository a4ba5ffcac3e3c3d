"""What it looks like: plots and animations."""

from holonomy.show.animate import animate as animate
from holonomy.show.plot import plot as plot
