"""Pictures of runs: plots, animations, notebook views and pages that replay."""

from holonomy.show.animate import animate as animate
from holonomy.show.html import export as export
from holonomy.show.notebook import studio as studio
from holonomy.show.notebook import view as view
from holonomy.show.plot import plot as plot
