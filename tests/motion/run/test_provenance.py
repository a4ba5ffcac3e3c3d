"""How a run says that it was made: typed, the same in every file, and one builder for all runs."""

import ast
import itertools
import json
from dataclasses import fields, replace

import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import double_pendulum, pendulum
from tests.project.test_rooms import MODULES
from tests.systems.constraints.examples import skate

import holonomy as hl
from holonomy.method_table import Properties
from holonomy.motion import AbstractMethod
from holonomy.motion.run import netcdf
from holonomy.motion.run.known_until import in_words
from holonomy.motion.run.layout import sealed
from holonomy.motion.run.storage import contents
from holonomy.spaces import AbstractSpace


def all_properties() -> list[Properties]:
    names = [field.name for field in fields(Properties)]
    flags = [dict(zip(names, held, strict=True)) for held in itertools.product((False, True), repeat=len(names))]
    return [Properties(**f) for f in flags if f["error_control"] or not f["to_round_off"]]


def test_words_and_flags_of_a_method_say_the_same() -> None:
    every = all_properties()
    assert len(every) == 24
    assert len({p.words for p in every}) == len(every)
    assert [Properties.from_words(p.words) for p in every] == every
    with pytest.raises(ValueError, match="error_control"):
        Properties(to_round_off=True)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (hl.Euler(), ""),
        (hl.SymplecticEuler(), "symplectic"),
        (hl.RK4(), ""),
        (hl.Gauss(2), "symplectic, reversible"),
        (hl.Rattle(4), "symplectic, reversible"),
        (hl.Radau(3), "stiffly accurate"),
        (hl.Adaptive(), "error control"),
        (hl.Taylor(), "error control to round-off"),
        (hl.Taylor(1e-12), "error control"),
    ],
    ids=lambda x: getattr(x, "label", ""),
)
def test_what_methods_say_of_themselves(method: AbstractMethod, words: str) -> None:
    assert method.traits == words
    assert method.properties.error_control == (not method.fixed_step)


def test_rattle_is_not_called_symplectic_where_its_chart_moves_along() -> None:
    """Two particles on a sphere, a fixed angle between them: in charts, and in space with the sphere as a condition."""
    on_sphere = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - q[2] - q[5], space=hl.Sphere(2) ** 2
    ).constrained(holonomic=lambda t, q: jnp.dot(q[:3], q[3:]) - 0.5)
    in_space = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - q[2] - q[5], space=hl.Euclidean(6)
    ).constrained(
        holonomic=lambda t, q: jnp.stack([jnp.dot(q[:3], q[:3]), jnp.dot(q[3:], q[3:]), 2 * jnp.dot(q[:3], q[3:])]) - 1
    )
    q = np.array([1.0, 0.0, 0.0, 0.5, np.sqrt(0.75), 0.0])
    v = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.3])
    charts, space = (hl.simulate(system, q, v, 0.1, dt=0.05) for system in (on_sphere, in_space))
    np.testing.assert_allclose(charts.q[-1], space.q[-1], atol=1e-7)
    assert "symplectic" not in str(charts.certificate)
    assert "symplectic, reversible" in str(space.certificate)


def test_one_place_makes_runs() -> None:
    makers = [
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Run"
    ]
    assert makers == ["holonomy.motion.run.build"]


def test_a_run_knows_how_it_was_made() -> None:
    run = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.1, dt=0.01)
    made = run.provenance
    assert (made.method, made.order, made.dt, made.maker) == ("Gauss(3)", 6, 0.01, "simulate")
    assert (made.properties.symplectic, made.properties.reversible, made.variable_step) == (True, True, False)
    assert (made.conservative, made.forced) == (True, False)
    assert run.certificate.method == "Gauss(3) (symplectic, reversible, order 6)"
    assert run.notes[:2] == (("engine", made.engine), ("method", run.certificate.method))
    damped = hl.simulate(pendulum.forced(lambda t, q, v, p: -0.4 * v), [1.0], [0.0], 0.1, dt=0.01, method=hl.RK4())
    assert (damped.provenance.conservative, damped.provenance.forced) == (False, True)
    assert damped.certificate.method == "RK4() (order 4)"
    assert hl.simulate(pendulum, [1.0], [0.0], 0.1, dt=0.01, method=hl.Adaptive()).provenance.variable_step
    many = hl.ensemble(pendulum, [[1.0], [0.5]], [0.0], 0.1, dt=0.01)
    assert (many.provenance.members, many.provenance.maker) == (2, "ensemble")


@pytest.mark.parametrize("method", [hl.Gauss(2), hl.SymplecticEuler()], ids=lambda m: m.label)
def test_velocity_constraints_leave_no_symplectic_form(method: AbstractMethod) -> None:
    run = hl.simulate(skate, [0.0, 0.0, 0.0], [0.5, 0.0, 1.0], 0.1, dt=0.01, method=method)
    assert not run.provenance.properties.symplectic
    assert run.provenance.properties.reversible == method.properties.reversible
    assert "symplectic" not in run.certificate.method


def test_files_hold_the_provenance_and_those_of_the_first_version_are_read(tmp_path) -> None:
    run = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.1)
    assert run.provenance.step_error is not None
    run = replace(run, provenance=replace(run.provenance, scene="[system]", refusal="no such operation"))
    stored = replace(run.provenance, growth=in_words(run))  # a run that is loaded cannot be looked at again
    assert replace(hl.load(run.save(tmp_path / "new.nc")).provenance, judgement="") == stored
    held = contents(run)
    later = json.loads(held.attributes["provenance"]) | {"mood": "calm"}  # a field of a version to come
    changed = sealed(held._replace(attributes=held.attributes | {"provenance": json.dumps(later)}))
    (tmp_path / "later.nc").write_bytes(netcdf.encode(changed))
    assert replace(hl.load(tmp_path / "later.nc").provenance, judgement="") == stored
    old = {name: value for name, value in held.attributes.items() if name not in ("provenance", "format", "checksum")}
    (tmp_path / "old.nc").write_bytes(netcdf.hdf5(held._replace(attributes=old)))
    loaded = hl.load(tmp_path / "old.nc")
    assert loaded.provenance == replace(run.provenance, maker="unknown")
    assert loaded.certificate.growth is None
    again = loaded.certificate
    assert again.verdict == "not checked"
    bare = {"verdict", "error of the state", "rounding errors grow", "state known until"}
    assert [row for row in again.rows() if row[0] not in bare] == [
        row for row in run.certificate.rows() if row[0] not in bare
    ]


def test_a_file_whose_method_has_no_order_keeps_its_words(tmp_path) -> None:
    held = contents(hl.simulate(pendulum, [1.0], [0.0], 0.1, dt=0.01))
    old = {name: value for name, value in held.attributes.items() if name not in ("provenance", "format", "checksum")}
    old["notes"] = json.dumps({"engine": "native", "method": "RK4() on the sphere", "coordinates": "theta"})
    (tmp_path / "old.nc").write_bytes(netcdf.hdf5(held._replace(attributes=old)))
    loaded = hl.load(tmp_path / "old.nc")
    assert loaded.certificate.method == "RK4() on the sphere"
    assert loaded.provenance.order is None


# ── Momentum on curved spaces ─────────────────────────────────────────────────────────────────────────


def noether(run: hl.Run, space: AbstractSpace) -> dict[str, np.ndarray]:
    """The momentum along each Killing field at the saved states."""
    return {
        name: np.array([float(np.dot(p, field(jnp.asarray(q)))) for p, q in zip(run.momentum, run.q, strict=True)])
        for name, field in space.killing().items()
    }


def test_momentum_of_a_spherical_pendulum() -> None:
    """Of L = m v·v/2 - m g z on the unit sphere: p = m v, and m (x v_y - y v_x) is conserved."""
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.7 * (0.5 * jnp.dot(v, v) - 9.81 * q[2]), space=hl.Sphere(2), coordinates=("x", "y", "z")
    )
    run = hl.simulate(system, [0.6, 0.0, -0.8], [0.0, 1.5, 0.0], 1.0, dt=0.01, method=hl.Gauss(2))
    np.testing.assert_allclose(run.momentum, 0.7 * run.v, atol=1e-13)
    spin = 0.7 * (run.q[:, 0] * run.v[:, 1] - run.q[:, 1] * run.v[:, 0])
    found = noether(run, system.space)
    np.testing.assert_allclose(np.abs(found["rotate_xy"]), np.abs(spin), atol=1e-13)
    np.testing.assert_allclose(spin, spin[0], atol=1e-10)
    assert np.ptp(found["rotate_xz"]) > 0.1  # gravity turns the others
    elsewhere = hl.simulate(system, run.q[0], run.v[0], 0.1, dt=0.01, method=hl.Gauss(2), engine="xla")
    np.testing.assert_allclose(elsewhere.momentum, run.momentum[:11], atol=1e-13)


def test_momentum_of_a_particle_in_hyperbolic_space() -> None:
    """Its components along Killing fields are m ⟨v, ξ⟩ in Minkowski's product, and those of a geodesic are constant."""
    space = hl.Hyperbolic(3)
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * 1.3 * (jnp.dot(v[:3], v[:3]) - v[3] ** 2), space=space, coordinates=("x", "y", "z", "w")
    )
    start = np.asarray(space.exp(space.origin, jnp.array([0.4, -0.3, 0.2, 0.0])))
    speed = np.asarray(space.tangent(start, jnp.array([0.3, 0.8, -0.5, 0.0])))
    run = hl.simulate(system, start, speed, 1.0, dt=0.02, method=hl.Gauss(3))
    found = noether(run, space)
    assert len(found) == 6
    for name, field in space.killing().items():
        along = np.array([float(space.inner(q, v, field(jnp.asarray(q)))) for q, v in zip(run.q, run.v, strict=True)])
        np.testing.assert_allclose(found[name], 1.3 * along, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(found[name], found[name][0], atol=1e-10, err_msg=name)


def test_momentum_of_a_rigid_body() -> None:
    r"""p·ξ = ⟨Iω, ω_ξ⟩ for every rotation of the body, and the angular momentum in space is constant."""
    inertia = np.diag([1.0, 2.0, 3.5])

    def body_rate(q, v):
        """2 q̄ v, the rate in the body of a rotation kept as a unit quaternion (w, x, y, z)."""
        w, x = q[0], q[1:]
        return 2.0 * (w * v[1:] - v[0] * x - jnp.cross(x, v[1:]))

    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(body_rate(q, v), inertia @ body_rate(q, v)),
        space=hl.SO3(),
        coordinates=("w", "x", "y", "z"),
    )
    rate = np.array([0.3, 2.0, 0.1])
    run = hl.simulate(system, [1.0, 0.0, 0.0, 0.0], 0.5 * np.r_[0.0, rate], 2.0, dt=0.01, method=hl.Gauss(3))
    spins = []
    for q, v, p in zip(run.q, run.v, run.momentum, strict=True):
        w, x = q[0], q[1:]
        of_body = inertia @ np.asarray(body_rate(q, v))
        for axis in np.eye(3):
            moved = 0.5 * np.r_[-np.dot(x, axis), w * axis + np.cross(x, axis)]  # q times (0, axis) / 2
            assert np.dot(p, moved) == pytest.approx(np.dot(of_body, axis), abs=1e-12)
        spins.append(of_body + 2 * np.cross(x, np.cross(x, of_body) + w * of_body))  # turned by q
    np.testing.assert_allclose(spins, np.broadcast_to(inertia @ rate, (len(spins), 3)), atol=1e-9)
