"""The rod and the triangle of the validation set: started across a Killing flow, all masses, springs and lengths 1."""

import numpy as np

import holonomy as hl

HYPERBOLIC, SPHERE = hl.Hyperbolic(3), hl.Sphere(3)
TIMES = [1, 2, 5, 10]
SEPARATIONS = {
    ("H", "rod"): [1.508530925005, 2.149900772978, 1.322148601267, 1.950968765265],
    ("S", "rod"): [0.683090987195, 0.476966744884, 0.534051833570, 0.742384201714],
    ("H", "triangle"): [1.4918252753, 2.0129679176, 1.9150696316, 1.3586500902],
    ("S", "triangle"): [0.6849260890, 0.4709617635, 0.6785159122, 0.8464654859],
}
SPACES = {"H": HYPERBOLIC, "S": SPHERE}
FLOWS = {"H": "boost_x", "S": "rotate_xy"}
EDGES = {"rod": [(0, 1)], "triangle": [(0, 1), (0, 2), (1, 2)]}


def elastic(shape):
    """The body of springs."""
    return hl.Body([1.0] * (2 if shape == "rod" else 3), springs=[(i, j, 1.0, 1.0) for i, j in EDGES[shape]])


def rigid(shape):
    """The body of rods."""
    return hl.Body([1.0] * (2 if shape == "rod" else 3), rods=[(i, j, 1.0) for i, j in EDGES[shape]])


def start(where, shape):
    """Points and velocities; the triangle's vertex 0 lies ahead on the axis of the flow."""
    space, right = SPACES[where], np.pi / 2
    if where == "H":
        ends = [space.from_polar(0.5, right, right), space.from_polar(0.5, right, 3 * right)]
        axis, ahead = space.origin, np.arccosh(np.cosh(1.0) / np.cosh(0.5))
    else:
        ends = [space.from_polar((np.pi - s) / 2, right, 0.0) for s in (1.0, -1.0)]
        axis, ahead = space.from_polar(right, right, 0.0), np.arccos(np.cos(1.0) / np.cos(0.5))
    if shape == "triangle":
        ends = [space.isometries()[FLOWS[where]](ahead, axis), *ends]
    return np.stack(ends), np.stack([space.killing()[FLOWS[where]](x) for x in ends])
