"""Bodies of masses, springs and rods in a space."""

from holonomy.systems.bodies.body import Body as Body
from holonomy.systems.bodies.world import World as World
