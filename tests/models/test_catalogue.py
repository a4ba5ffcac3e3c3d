"""The catalogue of systems that have a name."""

import pytest

import holonomy as hl
from holonomy.models import catalogue, find


def test_models_are_called_by_their_names() -> None:
    """`hl.models.kepler(mu=2.0)` is a system, and what it is called with is checked as `build` checks it."""
    system = hl.models.kepler(mu=2.0)
    assert float(system.parameters["mu"]) == 2.0
    assert hl.models.double_pendulum is find("double_pendulum")
    assert {model.name for model in catalogue()} <= set(dir(hl.models))
    with pytest.raises(ValueError, match="kepler has no parameter 'nu'"):
        hl.models.kepler(nu=1.0)
    with pytest.raises(AttributeError, match="no public name 'keppler'"):
        getattr(hl.models, "keppler")  # noqa: B009 - a name that the checker cannot know
