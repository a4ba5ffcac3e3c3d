"""Newton's method where solutions are a family: the derivative along it vanishes at a solution, not beside it."""

import numpy as np
import pytest

from holonomy.locomotion.search import newton

FAR = 1e4  # added to the unknowns and taken away again, so that the conditions are rounded at 1e-12


def conditions(turn: np.ndarray, seen: list[np.ndarray]):
    """Two conditions in three unknowns that hold on the circle z = 0, r = 1, in a basis that is turned.

    The first two vanish together there, and the derivative of the second along the circle is of the size of the first.
    """

    def look(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(w)
        x, y, z = turn @ ((w + FAR) - FAR)
        out = x * x + y * y - 1.0
        values = np.array([out + z, out * np.sin(3.0 * y) + 2.0 * z, z + z * z])
        slopes = np.array(
            [
                [2 * x, 2 * y, 1.0],
                [2 * x * np.sin(3 * y), 2 * y * np.sin(3 * y) + 3 * out * np.cos(3 * y), 2.0],
                [0.0, 0.0, 1.0 + 2 * z],
            ]
        )
        return values, slopes @ turn

    return look


@pytest.mark.parametrize("angle", np.linspace(0.1, 6.2, 12))
@pytest.mark.parametrize("miss", [1e-2, 1e-4, 1e-6])
def test_newton_goes_to_the_nearest_of_a_family_of_solutions(angle: float, miss: float) -> None:
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    start = turn.T @ np.array([(1 + miss) * np.cos(angle), (1 + miss) * np.sin(angle), 0.3 * miss])
    seen: list[np.ndarray] = []
    found, left = newton(conditions(turn, seen), start, np.ones(3))
    assert left < 1e-11
    assert len(seen) <= 12  # quadratic convergence, and an end at round-off
    assert np.linalg.norm(found - start) < 10 * miss
