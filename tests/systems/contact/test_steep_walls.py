"""Ever steeper repulsion tends to the law of reflection, at the rate that is expected."""

import numpy as np
import pytest

from holonomy.show.figures import FIGURES


@pytest.mark.compat
def test_steep_repulsion_tends_to_reflection_like_one_over_the_exponent():
    """An end turns round where (r/y)^n is its energy, about 1/n from the wall; so far off is all that follows."""
    data = FIGURES["steep-walls"]().data
    assert data["impacts"] == 2
    for name in ("place", "velocity"):
        rates = np.array(data["rates"][name])
        assert np.all(np.diff(rates) > 0)
        assert abs(rates[-1] - 1.0) < 0.005
        errors = np.array(data[name])
        # without its first term, the rest is of second order
        left = 2 * errors[1:] - errors[:-1]
        second = np.log2(left[:-1] / left[1:])
        assert abs(second[-1] - 2.0) < 0.1
