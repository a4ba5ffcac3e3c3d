"""Figures and animations of runs: what they draw, that a notebook shows them once, and that thinning keeps extremes."""

import importlib
import sys

import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from tests.motion.examples import double_pendulum

import holonomy as hl
from holonomy.show.thin import STRETCHES, kept

IPython = pytest.importorskip("IPython")


@pytest.fixture(scope="module")
def run():
    return hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.01, method=hl.RK4())


@pytest.fixture(scope="module")
def many():
    starts = np.linspace([0.9, 0.5], [1.1, 0.5], 40)
    return hl.ensemble(double_pendulum, starts, [0.0, 0.3], 1.0, dt=0.02, method=hl.RK4())


def test_variables_over_time_and_against_each_other(run):
    whole = run.plot()
    assert len(whole.axes) == 3
    assert whole.axes[0].get_ylabel() == "coordinates (rad)"
    (line,) = run.plot("omega1").axes[0].lines
    np.testing.assert_array_equal(line.get_xydata(), np.stack([run.t, run.v[:, 0]], axis=1))
    portrait = run.plot("theta1", "omega1").axes[0]
    np.testing.assert_array_equal(portrait.lines[0].get_xydata(), np.stack([run.q[:, 0], run.v[:, 0]], axis=1))
    assert (portrait.get_xlabel(), portrait.get_ylabel()) == ("$\\theta_{1}$ (rad)", "$\\omega_{1}$ (rad/s)")
    assert run.plot("x1", "y1", "t").axes[0].name == "3d"
    two = run.plot(["theta1", "theta2"], dark=True)
    assert len(two.axes[0].lines) == 2
    assert to_hex(two.get_facecolor()) == "#15171a"
    with pytest.raises(KeyError, match="no variable 'phi'"):
        run.plot("phi")
    with pytest.raises(ValueError, match="two to draw the second over the first"):
        run.plot(["theta1", "theta2"], "t")


def test_axes_of_a_user(run):
    axes = Figure().add_subplot()
    assert run.plot("energy", ax=axes) is axes.figure
    assert run.plot(ax=axes) is axes.figure
    assert len(axes.lines) == 3


def test_constraint_errors_are_a_panel():
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - 9.81 * q[1], coordinates=("x", "y"))
    rod = hl.simulate(system.constrained(holonomic=lambda t, q: jnp.stack([q @ q - 1])), [1, 0], [0, 0], 0.2, dt=0.02)
    np.testing.assert_array_equal(rod["constraint_error"], rod.violation[:, 0])
    np.testing.assert_array_equal(rod["lambda1"], rod.multipliers[:, 0])
    panels = rod.plot().axes
    assert [panel.get_yscale() for panel in panels] == ["linear", "linear", "log"]


def test_batches_as_fan_and_quantiles(many):
    fan = many.plot("theta1", spread="fan").axes[0]
    assert len(fan.lines) == 40
    np.testing.assert_array_equal(fan.lines[3].get_ydata(), many.q[3, :, 0])
    panels = many.plot().axes
    assert [panel.get_ylabel() for panel in panels] == ["$\\theta_{1}$ (rad)", "$\\theta_{2}$ (rad)"]
    np.testing.assert_allclose(panels[0].lines[0].get_ydata(), np.median(many.q[..., 0], axis=0))
    assert [text.get_text() for text in panels[0].get_legend().get_texts()] == ["5% to 95%", "25% to 75%", "median"]
    assert len(many[:5].plot("theta1", "omega1").axes[0].lines) == 5
    with pytest.raises(ValueError, match="spread is 'fan' or 'quantiles'"):
        sys.modules["holonomy.show.plot"].plot(many, spread="box")  # the method's type would refuse it first


def test_a_section_as_points():
    well = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - q[0] ** 2 - 2 * q[1] ** 2, coordinates=("x", "y"))
    crossings = hl.section(well, [0.0, 0.1], [0.5, 0.2], 20.0, lambda t, q, v: q[0], dt=0.05, method=hl.RK4())
    (dots,) = crossings.plot("y", "y_dot").axes[0].lines
    np.testing.assert_array_equal(dots.get_xydata(), np.stack([crossings.q[:, 1], crossings.v[:, 1]], axis=1))
    assert dots.get_linestyle() == "None"


def test_thinning_keeps_extremes_and_gaps():
    """A line of a million points has few left, its extremes in every stretch among them."""
    t = np.linspace(0.0, 1000.0, 1_000_000)
    y = np.sin(40 * t) + 1e-3 * t
    y[123_456], y[765_432], y[500_000] = 9.0, -9.0, np.nan
    rows = kept(y)
    assert {0, 123_456, 765_432, 500_000, 999_999} <= set(rows)
    assert len(rows) <= 4 * STRETCHES + 1
    size = 1_000_000 // STRETCHES
    for start in range(0, 1_000_000, 50 * size):
        stretch = rows[(rows >= start) & (rows < start + size)]
        assert np.nanmax(y[stretch]) == np.nanmax(y[start : start + size])
        assert np.nanmin(y[stretch]) == np.nanmin(y[start : start + size])
    np.testing.assert_array_equal(kept(y[:5000]), np.arange(5000))


@pytest.mark.parametrize("pyplot", [False, True])
def test_a_notebook_shows_one_picture(run, monkeypatch, pyplot):
    """As the value of a cell, with and without pyplot's own display at the end of the cell."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    class Shell(InteractiveShell):
        def enable_gui(self, gui=None):
            """There is no window system."""

    if pyplot:
        importlib.import_module("matplotlib.pyplot").close("all")  # figures of other tests would be shown, too
    else:
        monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    shell = Shell.instance()
    before = mpl.get_backend()
    try:
        if pyplot:
            shell.run_line_magic("matplotlib", "inline")
        shell.push({"run": run})
        with capture_output() as seen:
            shell.run_cell("run.plot('theta1')")
            shell.run_cell("figure = run.plot('theta2');")
        shown = [list(output.data) for output in seen.outputs]
    finally:
        if pyplot:
            sys.modules["matplotlib.pyplot"].close("all")
            mpl.use(before)
        Shell.clear_instance()
    # a figure that is not a cell's value is shown at the end of the cell, by pyplot where it is used
    assert [kinds for kinds in shown if "image/png" in kinds] == [kinds for kinds in shown if kinds]
    assert len(shown) == (2 if pyplot else 1)


def test_animations(run, tmp_path):
    for name in ("run.gif", "run.mp4"):
        assert run.animate(tmp_path / name, fps=5).stat().st_size > 1000
    with pytest.raises(ValueError, match=r"\.gif, \.mp4 or \.html"):
        run.animate(tmp_path / "run.avi")
    page = run.animate(tmp_path / "run.html", rods=True).read_text()
    assert page.startswith("<!doctype html>")
    run.animate(tmp_path / "run.html")
    loaded = hl.load(run.save(tmp_path / "run.nc"))
    assert loaded.animate(tmp_path / "loaded.gif", fps=5, dark=True).stat().st_size > 1000


def test_rods_of_an_animation(run, tmp_path, monkeypatch):
    """All pairs that keep their distance are joined, and those only."""
    module = sys.modules["holonomy.show.animate"]
    seen = []
    monkeypatch.setattr(module, "_frames", lambda times, known, picture, size, palette: seen.append(picture.rods) or [])
    monkeypatch.setattr(module, "write", lambda target, frames, fps: target)
    for rods in (None, True, False):
        run.animate(tmp_path / "run.gif", fps=5, rods=rods)
    assert seen == [((-1, 0), (0, 1)), ((-1, 0), (0, 1)), ()]
