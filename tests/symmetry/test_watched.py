"""Integrals that are watched along a run: what is conserved stays good, a claim that is false makes it doubtful."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def rotation(q):
    return jnp.stack([-q[1], q[0]])


@pytest.fixture(scope="module")
def slope():
    """Uniform for x < 5, and a parabola beyond."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) - jnp.maximum(q[0] - 5.0, 0.0) ** 2, coordinates=("x", "y")
    )


@pytest.fixture(scope="module")
def orbit():
    kepler = hl.models.kepler()
    return kepler, hl.simulate(kepler, [1.0, 0.0], [0.0, 1.2], 5.0, dt=0.01, method=hl.Gauss(3))


def test_what_is_conserved_is_said_with_its_drift(orbit) -> None:
    kepler, run = orbit
    seen = run.watch(hl.noether(kepler, rotation), hl.jacobi_integral(kepler))
    drifts = seen.certificate.conserved
    assert drifts["p·ξ"] < 1e-13
    assert 0 <= drifts["h"] < 1e-10
    assert seen.certificate.verdict == run.certificate.verdict
    assert "drift of h" in str(seen.certificate)
    assert "h" not in run.certificate.conserved  # the run itself is as it was


def test_a_claim_that_ends_makes_the_run_doubtful(slope) -> None:
    """Claimed where x < 5 alone; one motion stays there, one does not, whatever the units of the momentum are."""
    claimed = hl.noether(slope, "x", where={"x": (-10.0, 4.0)})
    inside = hl.simulate(slope, [0.0, 0.0], [1.0, 0.5], 4.0, dt=0.01).watch(claimed)
    assert inside.certificate.verdict == "good"
    outside = hl.simulate(slope, [0.0, 0.0], [1.0, 0.5], 7.0, dt=0.01).watch(claimed)
    assert outside.certificate.verdict == "doubtful"
    assert any("p_x, watched as conserved, changed by" in said for said in outside.certificate.reasons)
    assert outside.certificate.conserved["p_x"] == pytest.approx(np.max(np.abs(outside.momentum[:, 0] - 1.0)), rel=1e-9)


def test_names_of_coordinates_and_mistakes(slope) -> None:
    run = hl.simulate(slope, [0.0, 0.0], [1.0, 0.0], 7.0, dt=0.01)
    assert run.watch(*hl.cyclic(slope)).certificate.verdict == "good"  # p_y is zero, and its rounding no drift
    assert run.watch("x").certificate.verdict == "doubtful"
    with pytest.raises(ValueError, match="no coordinate 'z'"):
        run.watch("z")


def test_a_kick_changes_what_is_claimed() -> None:
    """An event that turns the velocity: energy is kept, the momentum is not, and the verdict says which."""
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y"))
    turn = hl.Event(lambda t, q, v: q[0] - 1.0, action=lambda t, q, v: (q, jnp.stack([v[1], v[0]])), direction=1)
    run = hl.simulate(free, [0.0, 0.0], [1.0, 0.0], 2.0, dt=0.01, events=turn)
    seen = run.watch(hl.noether(free, "x"), hl.jacobi_integral(free))
    assert seen.certificate.conserved["p_x"] == pytest.approx(1.0)
    assert [said for said in seen.certificate.reasons if "watched" in said] == [
        "p_x, watched as conserved, changed by 1 times its size."
    ]


@pytest.mark.proof
def test_all_symmetries_and_saved_verdicts(tmp_path, slope) -> None:
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y"))
    run = hl.simulate(free, [0.0, 0.3], [1.0, 0.2], 2.0, dt=0.01)
    seen = run.watch(hl.killing(free))
    assert len([name for name in seen.certificate.conserved if name.startswith("momentum of field")]) == 3
    assert seen.certificate.verdict == "good"
    doubtful = hl.simulate(slope, [0.0, 0.0], [1.0, 0.0], 7.0, dt=0.01).watch("x")
    doubtful.save(tmp_path / "run.nc")
    assert hl.load(tmp_path / "run.nc").certificate.verdict == "doubtful"
