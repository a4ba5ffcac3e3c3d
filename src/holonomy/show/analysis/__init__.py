"""The whole analysis of a system: equations, constraints, equilibria, conserved quantities, reductions; a document."""

from holonomy.show.analysis.analyse import analyse as analyse
from holonomy.show.analysis.document import FORMATS as FORMATS
from holonomy.show.analysis.document import write as write
from holonomy.show.analysis.item import Item as Item
