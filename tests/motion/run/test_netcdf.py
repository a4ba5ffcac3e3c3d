"""Files of runs: written and read without xarray, laid out as xarray lays them out."""

import dataclasses
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from tests.motion.examples import double_pendulum

import holonomy as hl

ball = hl.System.from_positions(
    lambda t, q: q[None], [1.0], potential=lambda t, q: 9.81 * q[1], coordinates={"x": "length", "y": "length"}
).constrained(unilateral=lambda t, q: jnp.array([q[1]]), restitution=0.8)


@pytest.fixture(scope="module", params=["free", "with impacts", "without a state"])
def run(request) -> hl.Run:
    if request.param == "with impacts":
        bounced = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 1.5, dt=0.01)
        assert len(bounced.events) == 2
        return bounced
    free = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.5, dt=0.01)
    if request.param == "free":
        return free
    arrays = ("t", "q", "v", "energy", "momentum", "pull", "multipliers", "violation")
    return dataclasses.replace(free, **{name: getattr(free, name)[:0] for name in arrays})


def test_xarray_reads_what_save_writes(run: hl.Run, tmp_path) -> None:
    found = xr.load_dataset(run.save(tmp_path / "run.nc"), engine="h5netcdf")
    expected = run.to_dataset()
    xr.testing.assert_identical(found, expected)
    assert set(found.coords) == {"time", "coordinate", "unit", "unit_rate"}


def test_load_reads_what_xarray_writes(run: hl.Run, tmp_path) -> None:
    """Version 0.1.0 saved its runs in this way."""
    run.to_dataset().to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    ours, theirs = hl.load(run.save(tmp_path / "run.nc")), hl.load(tmp_path / "xarray.nc")
    for name in ("t", "q", "v", "energy", "momentum", "pull", "multipliers", "violation"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(run, name))
        np.testing.assert_array_equal(getattr(ours, name), getattr(run, name))
    for loaded in (ours, theirs):
        assert (loaded.names, loaded.kinds) == (run.names, run.kinds)
        assert (loaded.result.code, loaded.result.t) == (run.result.code, run.result.t)
        assert loaded.events.names == run.events.names
        np.testing.assert_array_equal(loaded.events.which, np.asarray(run.events.which)[: len(run.events)])
    if len(run.t):
        assert str(theirs.certificate) == str(ours.certificate) == str(run.certificate)
    if run.system is not None and len(run.t):
        assert ours.drawn is not None
        assert theirs.drawn is not None
        np.testing.assert_array_equal(ours.drawn.x, theirs.drawn.x)
        assert ours.drawn.rods == theirs.drawn.rods


def test_saving_and_loading_import_no_xarray(tmp_path) -> None:
    code = (
        "import sys, holonomy as hl\n"
        "run = hl.simulate(hl.Pendulum([1.0], [1.0]), [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4())\n"
        "assert hl.load(run.save(sys.argv[1])).result.ok\n"
        "assert not {'xarray', 'pandas', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "run.nc"], check=True)
