"""The numbers in the errata of the sources, and that the commands on the page of the thesis exist."""

import math
import re
from functools import reduce
from pathlib import Path

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

import holonomy as hl
from holonomy.show.figures.registry import FIGURES

DOCS = Path(__file__).parents[2] / "docs"


def test_commands_on_the_page_of_the_thesis_exist() -> None:
    text = (DOCS / "thesis.md").read_text(encoding="utf-8")
    reproduced = re.findall(r"holonomy reproduce ([\w.-]+)`", text)
    assert set(reproduced) <= set(FIGURES)
    assert {name for name in FIGURES if name.startswith("thesis")} <= set(reproduced)
    names = re.findall(r"`hl\.([\w.]+)`", text)
    assert len(names) > 25
    for name in names:
        reduce(getattr, name.split("."), hl)
    errata = (DOCS / "errata.md").read_text(encoding="utf-8")
    assert set(re.findall(r"holonomy reproduce ([\w.-]+)`", errata)) <= set(FIGURES)


def test_files_that_the_errata_name_exist() -> None:
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (DOCS.parent / name).is_file(), name
    for page in re.findall(r"\]\((\w+\.md)", text):
        assert (DOCS / page).is_file(), page


def test_a_ball_comes_back_turned() -> None:
    """The lecture: a ball of radius 1 that rolls with its centre once around a circle of radius 1."""
    steps = 4000
    orientation = np.eye(3)
    for k in range(steps):
        angle = 2 * np.pi * (k + 0.5) / steps
        rate = np.array([-np.cos(angle), -np.sin(angle), 0.0]) * 2 * np.pi / steps  # (-dy, dx, 0) / radius
        skew = np.array([[0.0, -rate[2], rate[1]], [rate[2], 0.0, -rate[0]], [-rate[1], rate[0], 0.0]])
        orientation = expm(skew) @ orientation
    turned = np.arccos((np.trace(orientation) - 1) / 2)
    assert turned == pytest.approx(2 * np.pi * (np.sqrt(2) - 1), abs=1e-5)


def test_angular_momenta_do_not_commute() -> None:
    """The lecture: n integrals; {Lx, Ly} = Lz at a random state, by the definition of the bracket."""
    q, p = np.random.default_rng(2).normal(size=(2, 3))
    by_q = [np.cross(unit, p) * -1.0 for unit in np.eye(3)]  # of L_i = e_i · (q × p) by q: p × e_i
    by_p = [np.cross(unit, q) for unit in np.eye(3)]  # by p: e_i × q
    bracket = by_q[0] @ by_p[1] - by_p[0] @ by_q[1]
    assert bracket == pytest.approx(np.cross(q, p)[2])
    assert abs(bracket) > 0.1


def test_reversal_of_time_conserves_no_energy() -> None:
    """The thesis, 2.1.3: V = (2 + cos t) x²/2 is even in t."""
    swing = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * (2 + jnp.cos(t)) * q[0] ** 2, coordinates=("x",)
    )
    run = hl.simulate(swing, [1.0], [0.0], 6.0, dt=0.01, method=hl.RK4())
    energy = np.asarray(run.energy)
    assert np.ptp(energy) > 0.3 * energy[0]
    with pytest.raises(ValueError, match="time"):
        hl.jacobi_integral(swing)


@pytest.mark.parametrize("stages, constant", [(1, 12), (2, 720), (3, 100800)])
def test_local_errors_of_gauss(stages, constant) -> None:
    """The thesis, 2.5.2: one step on y' = iy multiplies by the Padé approximant of exp(ih) of degrees (s, s)."""
    with mpmath.workdps(60):
        numerator, denominator = mpmath.pade(mpmath.taylor(mpmath.exp, 0, 2 * stages), stages, stages)
        found = []
        for h in (mpmath.mpf("1e-3"), mpmath.mpf("5e-4")):
            z = mpmath.mpc(0, h)
            step = mpmath.polyval(numerator[::-1], z) / mpmath.polyval(denominator[::-1], z)
            found.append(abs(step - mpmath.exp(z)))
        order = mpmath.log(found[0] / found[1], 2)
        assert abs(order - (2 * stages + 1)) < 1e-5
        assert abs(found[0] * constant / mpmath.mpf("1e-3") ** (2 * stages + 1) - 1) < 1e-5


def test_a_symplectic_method_changes_the_energy() -> None:
    """The thesis, 2.5: one step of the implicit midpoint rule, which is Gauss's method of one stage, on a pendulum."""
    with mpmath.workdps(30):
        h, q, p = mpmath.mpf("0.5"), mpmath.mpf(1), mpmath.mpf("0.3")
        new = mpmath.findroot(lambda a, b: [a - q - h * (p + b) / 2, b - p + h * mpmath.sin((q + a) / 2)], (q, p))
        energy = [b**2 / 2 - mpmath.cos(a) for a, b in ((q, p), (new[0], new[1]))]
        assert abs(energy[1] - energy[0]) > 1e-6


def test_the_distance_in_the_inhomogeneous_space_cancels() -> None:
    """The thesis, (2.66), in doubles against 40 digits; and ours."""

    def printed(p, q, of):
        def far(c):
            return of.asinh(c / of.sqrt(2)) + c * of.sqrt(c * c + 2) / 2

        both, gap = (of.sqrt(sum((a + s * b) ** 2 for a, b in zip(p, q, strict=True))) for s in (1, -1))
        return far((both + gap) / 2) - far((both - gap) / 2)

    one, other = [1.0, 1.0, 1.0], [1.0 + 1e-9, 1.0, 1.0]
    with mpmath.workdps(40):
        exact = float(printed([mpmath.mpf(x) for x in one], [mpmath.mpf(x) for x in other], mpmath))
    assert 1e-9 < abs(printed(one, other, math) / exact - 1) < 1e-5
    ours = float(hl.Inhomogeneous(3).distance(np.array(one), np.array(other)))
    assert ours == pytest.approx(exact, rel=1e-12)


def test_the_amplitude_of_the_elbow_loses_digits() -> None:
    """The posts: (4 - r²)/cos² t with r² = d² + 1 - 2d cos(α sin t), α = acos((d² - 3)/(2d)), at cos t = 2e-6."""

    def square(of, cosine, d):
        alpha = of.acos((d * d - 3) / (2 * d))
        return (4 - (d * d + 1 - 2 * d * of.cos(alpha * of.sqrt(1 - cosine**2)))) / cosine**2

    with mpmath.workdps(40):
        exact = float(square(mpmath, mpmath.mpf(2e-6), mpmath.mpf(2.3)))
    errors = [abs(square(math, 2e-6 * (1 + k / 7), 2.3) / exact - 1) for k in range(20)]
    assert 1e-6 < max(errors) < 1e-4


def test_rk4_on_a_stiff_spring_and_damping_by_steps() -> None:
    """The page on pendulums."""

    def growth(y):
        return abs(1 + 1j * y - y**2 / 2 - 1j * y**3 / 6 + y**4 / 24)

    assert growth(0.1) == pytest.approx(1 - 0.1**6 / 144, abs=1e-9)
    assert growth(2 * np.sqrt(2) - 1e-6) < 1 < growth(2 * np.sqrt(2) + 1e-6)
    assert [round(-rate * np.log(0.98), 2) for rate in (60, 120)] == [1.21, 2.42]
