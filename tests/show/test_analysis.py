"""The analysis of a system: what a course asks for, against what is known, and as documents."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

import holonomy as hl
from holonomy.scene import from_table
from holonomy.scene.build_system import build
from holonomy.scene.errors import SceneError
from holonomy.show.analysis import Item, analyse, write
from holonomy.show.analysis.figures import bifurcation

PENDULUM = {
    "title": "Pendulum",
    "lagrangian": "m*l^2*theta_dot^2/2 + m*g*l*cos(theta)",
    "coordinates": {"theta": "angle"},
    "parameters": {"m": 1.0, "g": 9.81, "l": 1.0},
    "initial": {"q": {"theta": 2.0}},
    "motion": {"t_end": 1.0, "dt": 0.01},
}


@pytest.fixture(scope="module")
def pendulum():
    built = build(from_table(PENDULUM))
    return analyse(built.system, built.setup.q, built.setup.v)


def titled(items, title: str) -> Item:
    return next(item for item in items if item.title == title)


def test_a_pendulum(pendulum):
    assert "S¹ (a circle). Degrees of freedom: 1." in titled(pendulum, "Configuration space").text
    assert titled(pendulum, "Accelerations").formulas[0][0] == r"\ddot{\theta}"
    still = titled(pendulum, "Equilibria").text
    assert "θ = 0: stable, small vibrations of angular frequency 3.13209 rad/s." in still
    assert "θ = 3.14159: unstable, growth rate 3.13209 s⁻¹." in still
    period = 4 * np.sqrt(1 / 9.81) * ellipk(np.sin(1.0) ** 2)
    assert f"with the period {period:.9g} s" in titled(pendulum, "Quadrature").text


def test_a_reduced_system_can_be_typed_and_moves_as_the_full_one():
    table = {
        "lagrangian": "m*(r_dot^2 + r^2*phi_dot^2)/2 + m*mu/r",
        "coordinates": {"r": "length", "phi": "angle"},
        "parameters": {"m": 2.0, "mu": 1.5},
        "initial": {"q": {"r": 1.0, "phi": 0.0}, "v": {"r": 0.2, "phi": 1.3}},
        "motion": {"t_end": 2.0, "dt": 0.01},
    }
    full = build(from_table(table))
    items = analyse(full.system, full.setup.q, full.setup.v)
    assert "momentum of the cyclic coordinate φ, here 2.6." in titled(items, "Conserved quantities").text
    routh = titled(items, "Routh's reduction")
    assert routh.reduced is not None
    assert "oscillation of r" in routh.text
    smaller = {**table, **{key: routh.reduced[key] for key in ("coordinates", "lagrangian", "parameters")}}
    smaller["initial"] = {part: routh.reduced[part] for part in "qv"}
    reduced = build(from_table(smaller))
    one, other = (hl.simulate(b.system, **b.arguments) for b in (full, reduced))
    np.testing.assert_allclose(other.q[:, 0], one.q[:, 0], rtol=0, atol=1e-8)
    assert "curvature at the start" in titled(items, "Jacobi's metric").text


def test_constraints_on_velocities_are_classified():
    table = {
        "lagrangian": "(x_dot^2 + y_dot^2 + a_dot^2)/2",
        "coordinates": {"x": "length", "y": "length", "a": "angle"},
        "velocity_constraints": ["sin(a)*x_dot - cos(a)*y_dot"],
        "initial": {"q": [0.0, 0.0, 0.3]},
        "motion": {"t_end": 1.0},
    }
    built = build(from_table(table))
    items = analyse(built.system, built.setup.q, built.setup.v)
    assert "growth vector (2, 3)" in titled(items, "Constraints on velocities").text
    assert "Degrees of freedom: 2." in titled(items, "Configuration space").text


def test_documents(pendulum, tmp_path: Path):
    items = (*pendulum, Item("A name_with 50 %", "x₁² and θ"))
    for ending, wanted in ((".md", "## Equilibria"), (".html", "<svg"), (".tex", r"\subsection*{A name\_with 50 \%}")):
        (file,) = write(tmp_path / f"a{ending}", "Pendulum", items, {})
        text = file.read_text(encoding="utf-8")
        assert wanted in text
        assert r"\ddot{\theta}" in text
    assert r"x$_{1}^{2}$ and $\theta$" in text
    with pytest.raises(ValueError, match=r"\.md, \.html, \.tex"):
        write(tmp_path / "a.doc", "Pendulum", items, {})


def test_the_document_of_a_scene_has_its_pictures(pendulum, tmp_path: Path, monkeypatch):
    from holonomy.scene.analysis import write_analysis

    monkeypatch.setattr("holonomy.show.analysis.analyse", lambda *state: pendulum)  # which is known already
    built = build(from_table(PENDULUM))
    page, *pictures = write_analysis(built, tmp_path / "a.md", "scene", over=("g", 1.0, 9.0))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Pendulum\n")
    assert [picture.name for picture in pictures] == ["a-motion.png", "a-phase.png", "a-equilibria.png"]
    for picture in pictures:
        assert f"]({picture.name})" in text
        assert picture.stat().st_size > 10_000
    with pytest.raises(SceneError, match="--force"):
        write_analysis(built, page, "scene")
    with pytest.raises(SceneError, match="no such parameter"):
        write_analysis(built, tmp_path / "b.md", "scene", over=("k", 1.0, 9.0))


def test_equilibria_over_a_parameter_branch_where_they_should():
    """A bead on a hoop: the bottom is stable up to ω² = g/r, and beyond cos θ = g/(ω² r) is."""
    hoop = hl.models.rotating_hoop()
    axes = bifurcation(hoop, np.array([0.1]), "omega", [2.0, 3.0, 4.0, 5.0]).axes[0]
    drawn = {line.get_label(): np.column_stack([line.get_xdata(), line.get_ydata()]) for line in axes.get_lines()}
    wanted = [[2.0, 0.0], [3.0, 0.0]]
    wanted += [[w, sign * np.arccos(9.81 / w**2)] for w in (4.0, 5.0) for sign in (-1, 1)]
    stable = drawn["stable"]
    np.testing.assert_allclose(stable[np.lexsort((stable[:, 1], stable[:, 0]))], wanted, atol=1e-7)
    bottoms = drawn["unstable"][np.abs(drawn["unstable"][:, 1]) < 1.0]
    np.testing.assert_allclose(bottoms, [[4.0, 0.0], [5.0, 0.0]], atol=1e-7)
