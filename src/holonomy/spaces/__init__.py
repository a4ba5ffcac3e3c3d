"""Where things live: configuration spaces without coordinate singularities."""

from holonomy.spaces.base import AbstractSpace as AbstractSpace
from holonomy.spaces.carried import Carried as Carried
from holonomy.spaces.chart import Chart as Chart
from holonomy.spaces.euclidean import Circle as Circle
from holonomy.spaces.euclidean import Euclidean as Euclidean
from holonomy.spaces.group import AbstractGroup as AbstractGroup
from holonomy.spaces.hyperbolic import Hyperbolic as Hyperbolic
from holonomy.spaces.inhomogeneous import Inhomogeneous as Inhomogeneous
from holonomy.spaces.power import Power as Power
from holonomy.spaces.product import Product as Product
from holonomy.spaces.se2 import SE2 as SE2
from holonomy.spaces.se3 import SE3 as SE3
from holonomy.spaces.so import SO as SO
from holonomy.spaces.so3 import SO3 as SO3
from holonomy.spaces.sphere import Sphere as Sphere
