"""A method of your own: Kutta's third-order one, as a table, and the order that it shows."""

from fractions import Fraction

import numpy as np

import holonomy as hl
from holonomy.motion import AbstractTableauMethod, Tableau


class Kutta3(AbstractTableauMethod):
    """Kutta's method of order 3."""

    tableau = Tableau(a=((), (0.5,), (-1, 2)), b=(Fraction(1, 6), Fraction(2, 3), Fraction(1, 6)), order=3)


pendulum = hl.models.simple_pendulum()
exact = hl.simulate(pendulum, [1.0], [0.0], 1.0, dt=0.01, method=hl.Gauss(4)).q[-1, 0]
errors = []
for steps in (20, 40, 80):
    end = hl.simulate(pendulum, [1.0], [0.0], 1.0, dt=1.0 / steps, method=Kutta3()).q[-1, 0]
    errors.append(abs(end - exact))
orders = np.log2(np.divide(errors[:-1], errors[1:]))
print(f"errors {errors}, observed orders {orders}")
