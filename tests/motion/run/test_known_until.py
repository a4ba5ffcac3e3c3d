"""How long the state of a run is known: growth of rounding errors, in the certificate, in files and on request."""

from dataclasses import replace

import numpy as np
import pytest
from tests.motion.examples import double_pendulum

import holonomy as hl
from holonomy.viewer import describe_run

_METHOD = hl.Gauss(3)


def _run(size: float, t_end: float = 20.0, dt: float = 0.01, **options):
    return hl.simulate(double_pendulum, [2.0 * size, 2.5 * size], [0.0, 0.0], t_end, dt=dt, method=_METHOD, **options)


def test_a_chaotic_run_is_known_for_a_while_only(tmp_path) -> None:
    run = _run(1.0)
    found = run.certificate
    assert found.growth is not None
    assert found.growth > 1e4
    assert found.known_until is not None
    assert 0 < found.known_until < 20.0
    assert found.verdict == "doubtful"
    assert f"From t = {found.known_until:.4g} on errors of the steps" in " ".join(found.reasons)
    assert f"t = {found.known_until:.4g}" in dict(found.rows())["state known until"]
    assert run.known_until() == found.known_until
    loaded = hl.load(run.save(tmp_path / "chaos.nc")).certificate
    assert (loaded.known_until, loaded.growth, loaded.verdict) == (found.known_until, found.growth, "doubtful")
    assert hl.load(tmp_path / "chaos.nc")[:10].certificate.growth is None  # a part of it


def test_where_rounding_decides_no_smaller_step_is_asked_for() -> None:
    found, longer = _run(1.0, dt=0.001).certificate, _run(1.0).certificate.known_until
    assert found.known_until is not None
    assert longer is not None
    assert found.known_until > longer + 3.0  # the double pendulum gains a factor of ten in errors in less than a second
    assert found.verdict == "doubtful"
    (reason,) = found.reasons
    assert reason.startswith(f"From t = {found.known_until:.4g} on errors of rounding")
    assert " dt" not in reason


def test_pictures_shade_what_is_not_known() -> None:
    run, regular = _run(1.0), _run(0.05)
    known = run.certificate.known_until
    assert known is not None
    axes = run.plot("theta1").axes[0]
    (shaded,) = axes.patches
    assert shaded.get_extents().x0 == pytest.approx(axes.transData.transform((known, 0.0))[0])
    assert "one of many possible motions" in {text.get_text() for text in axes.texts}
    assert not regular.plot("theta1").axes[0].patches
    assert describe_run.certificate(run, "").known_until == known  # which replays shade
    assert describe_run.certificate(regular, "").known_until is None
    assert not run[:50].plot("theta1").axes[0].patches


def test_how_long_a_run_is_known_does_not_depend_on_its_end_or_on_what_is_saved() -> None:
    known = _run(1.0).certificate.known_until
    assert known is not None
    for other in (_run(1.0, 40.0), _run(1.0, save_every=100), _run(1.0, save_at=[0.0, 7.0, 20.0])):
        assert other.certificate.known_until == pytest.approx(known, rel=0.2)
    assert _run(1.0, 0.5 * known).certificate.known_until == np.inf


def test_a_regular_run_is_known_to_the_end() -> None:
    found = _run(0.05).certificate
    assert found.verdict == "good"
    assert found.known_until == np.inf
    assert found.growth is not None
    assert found.growth < 100
    assert dict(found.rows())["state known until"].startswith("the end")


def test_a_run_that_is_too_long_is_looked_at_in_part_unless_asked() -> None:
    run = _run(0.05, 1000.0, save_every=100)
    found = run.certificate
    assert found.known_until is None
    assert found.growth_until is not None
    assert 0 < found.growth_until < 1000.0
    assert "not looked at beyond" in str(found)
    assert run.known_until() == np.inf
    assert run.certificate.known_until == np.inf


def test_runs_that_cannot_be_stepped_again_say_that_nothing_was_looked_at() -> None:
    run = _run(1.0, 1.0)
    for other in (run[:50], replace(run, system=None)):
        assert other.certificate.growth is None
        assert dict(other.certificate.rows())["state known until"] == "not looked at"
        with pytest.raises(ValueError, match="takes the steps of a run again"):
            other.known_until()
