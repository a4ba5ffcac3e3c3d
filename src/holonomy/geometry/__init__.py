"""What a metric implies: connection, curvature, geodesics, transport, embedded surfaces."""

from holonomy.geometry.curvature import AbstractCurvature as AbstractCurvature
from holonomy.geometry.curvature import curvature as curvature
from holonomy.geometry.embedding import Embedding as Embedding
from holonomy.geometry.geodesic import deviation as deviation
from holonomy.geometry.geodesic import geodesic as geodesic
from holonomy.geometry.geodesic import geodesic_flow as geodesic_flow
from holonomy.geometry.geodesic import jacobi as jacobi
from holonomy.geometry.transport import holonomy as holonomy
from holonomy.geometry.transport import holonomy_angle as holonomy_angle
from holonomy.geometry.transport import transport as transport
