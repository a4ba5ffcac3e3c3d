"""Where things live: configuration spaces without coordinate singularities."""

from .base import AbstractSpace as AbstractSpace
from .euclidean import Circle as Circle
from .euclidean import Euclidean as Euclidean
from .group import AbstractGroup as AbstractGroup
from .hyperbolic import Hyperbolic as Hyperbolic
from .inhomogeneous import Inhomogeneous as Inhomogeneous
from .power import Power as Power
from .product import Product as Product
from .se2 import SE2 as SE2
from .se3 import SE3 as SE3
from .so3 import SO3 as SO3
from .sphere import Sphere as Sphere
