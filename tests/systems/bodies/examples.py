"""The rod and the triangle of the validation set: started across a Killing flow, all masses, springs and lengths 1."""

import holonomy as hl
from holonomy.show.figures.body_examples import FLOWS, start

__all__ = ["EDGES", "FLOWS", "SEPARATIONS", "SPACES", "TIMES", "elastic", "rigid", "start"]

SPACES = {"H": hl.Hyperbolic(3), "S": hl.Sphere(3)}
TIMES = [1, 2, 5, 10]
SEPARATIONS = {
    ("H", "rod"): [1.508530925005, 2.149900772978, 1.322148601267, 1.950968765265],
    ("S", "rod"): [0.683090987195, 0.476966744884, 0.534051833570, 0.742384201714],
    ("H", "triangle"): [1.4918252753, 2.0129679176, 1.9150696316, 1.3586500902],
    ("S", "triangle"): [0.6849260890, 0.4709617635, 0.6785159122, 0.8464654859],
}
EDGES = {"rod": [(0, 1)], "triangle": [(0, 1), (0, 2), (1, 2)]}


def elastic(shape):
    """The body of springs."""
    return hl.Body([1.0] * (2 if shape == "rod" else 3), springs=[(i, j, 1.0, 1.0) for i, j in EDGES[shape]])


def rigid(shape):
    """The body of rods."""
    return hl.Body([1.0] * (2 if shape == "rod" else 3), rods=[(i, j, 1.0) for i, j in EDGES[shape]])
