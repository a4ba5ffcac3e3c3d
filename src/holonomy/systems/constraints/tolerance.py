"""How near to the constraints a state has to be, in the precision of its numbers: the measures of `start_checks`."""

from holonomy.start_checks import close as close
from holonomy.start_checks import distances as distances
from holonomy.start_checks import round_off as round_off
