"""Locomotion: bodies that move by changing their shape.

A `Mover` is a group of motions, a shape space and the connection between their velocities, made from a description;
a `Gait` is a closed curve of shapes; `perform` gives what it does.
"""

from holonomy.locomotion.controllability import Controllability as Controllability
from holonomy.locomotion.drag import ball as ball
from holonomy.locomotion.drag import link as link
from holonomy.locomotion.drag import oseen as oseen
from holonomy.locomotion.gait import Gait as Gait
from holonomy.locomotion.groups import Isometries as Isometries
from holonomy.locomotion.groups import LieGroup as LieGroup
from holonomy.locomotion.heights import body_velocity_integrals as body_velocity_integrals
from holonomy.locomotion.heights import heights as heights
from holonomy.locomotion.loops import curvature_integral as curvature_integral
from holonomy.locomotion.loops import holonomy as holonomy
from holonomy.locomotion.loops import transport_mover as transport_mover
from holonomy.locomotion.momentum import momentum_dim as momentum_dim
from holonomy.locomotion.mover import Mover as Mover
from holonomy.locomotion.optimal import optimal_gait as optimal_gait
from holonomy.locomotion.perform import Performance as Performance
from holonomy.locomotion.perform import perform as perform
from holonomy.locomotion.steering import Steering as Steering
from holonomy.locomotion.steering import steer as steer
