"""What moves: systems, their coordinates and parameters."""

from holonomy.systems.bodies import Body as Body
from holonomy.systems.bodies import World as World
from holonomy.systems.carry import carry as carry
from holonomy.systems.combine import combine as combine
from holonomy.systems.coordinates import Coordinate as Coordinate
from holonomy.systems.neighbours import Neighbours as Neighbours
from holonomy.systems.parameters import Parameters as Parameters
from holonomy.systems.system import System as System
