"""What it looks like: plots, animations, notebook views and pages that replay."""

from holonomy.show.animate import animate as animate
from holonomy.show.export import export as export
from holonomy.show.plot import plot as plot
from holonomy.show.view import studio as studio
from holonomy.show.view import view as view
