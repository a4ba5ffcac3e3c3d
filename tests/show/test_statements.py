"""Every sentence of an analysis against the motion of random systems, and the page that lists them.

A sentence is read back from the text that was printed, and what it says is compared with `hl.simulate` or with what is
known of the family of systems; no function that made the sentence is asked.
"""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from tests.show.random_systems import FAMILIES, Drawn

import holonomy as hl
from holonomy.show.analysis import analyse
from holonomy.show.analysis.document import _plain
from holonomy.show.analysis.figures import phase_portrait
from holonomy.show.analysis.statements import STATEMENTS

ROOT = Path(__file__).parents[2]
LETTERS = {"θ": "theta", "φ": "phi"}
_ONE = r"(?:(?![.] ).)*?"
"""What is put into a sentence does not end it."""
_INSIDE = {"reason": r".+"}
"""A reason has sentences of its own and comes last."""


def said(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The sentences of a text by name, with what was put in."""
    for name, words in STATEMENTS.items():
        parts = re.split(r"\{(\w+)\}", words)
        pattern = "".join(
            re.escape(part) if k % 2 == 0 else f"(?P<{part}>{_INSIDE.get(part, _ONE)})" for k, part in enumerate(parts)
        )
        for found in re.finditer(rf"(?:(?<=[.] )|(?<=^)){pattern}(?= |$)", text):
            yield name, found.groupdict()


def moved(one: Drawn, q: Any = None, v: Any = None, t_end: float = 3.0, dt: float = 5e-4, every: int = 0) -> hl.Run:
    """The motion from the start or from another state, by a method that keeps nothing by construction."""
    q, v = (one.q, one.v) if q is None else (q, v)
    return hl.simulate(
        one.system, q, v, t_end, dt=dt, method=hl.RK4(), save_every=every or (20 if dt < 1e-3 else 5), throw=False
    )


def place(one: Drawn, text: str) -> np.ndarray:
    values = dict(part.split(" = ") for part in text.split(", "))
    return np.array([float(values[{v: k for k, v in LETTERS.items()}.get(name, name)]) for name in one.system.names])


def names(words: str) -> list[str]:
    """Coordinates by the letters that a sentence has."""
    return [LETTERS.get(c, c) for c in words.split(", ")]


class Checks:
    """What each sentence says, against the motion; a method has the name of its sentence."""

    def __init__(self, one: Drawn):
        self.one = one
        self.run = moved(one)
        self.rng = np.random.default_rng(1)

    # ── energy
    def energy(self) -> np.ndarray:
        """h along the run by its definition, with the momenta that the run has."""
        system = self.one.system
        lagrangian = jax.jit(jax.vmap(system.raw_lagrangian))(self.run.t, self.run.q, self.run.v)
        return np.sum(np.asarray(self.run.momentum) * np.asarray(self.run.v), axis=1) - np.asarray(lagrangian)

    def h_conserved(self, value: str) -> None:
        assert self.one.conserved
        h = self.energy()
        assert h[0] == pytest.approx(float(value), rel=1e-5, abs=1e-5)
        assert np.ptp(h) <= 1e-6 * (1 + np.max(np.abs(h)))

    def h_conserved_at_states(self, value: str, looked_at: str) -> None:
        assert re.search(r"at .*\d+ states", looked_at)
        self.h_conserved(value)

    def h_not_conserved(self, value: str, reason: str) -> None:
        assert not self.one.conserved, reason
        assert self.energy()[0] == pytest.approx(float(value), rel=1e-5, abs=1e-5)

    def h_is_the_energy(self) -> None:
        assert self.one.sum is True
        np.testing.assert_allclose(self.energy(), self.run.energy, atol=1e-9)

    def h_is_not_the_energy(self) -> None:
        assert self.one.sum is False
        assert np.max(np.abs(self.energy() - self.run.energy)) > 1e-6

    def h_of_a_Lagrangian(self) -> None:
        assert self.one.sum is None

    def not_quadratic(self) -> None:
        mass = [np.asarray(self.one.system.mass_matrix(0.0, self.one.q, c * self.one.v)) for c in (0.0, 1.0)]
        assert np.max(np.abs(mass[0] - mass[1])) > 1e-9

    # ── configuration
    def freedom(self, dof: str) -> None:
        assert int(dof) == self.one.dof

    def surface(self, constraints: str, dim: str) -> None:
        assert int(dim) == self.one.surface

    def walls(self, walls: str, s: str) -> None:
        assert self.one.walls

    def velocity_constraints(self, found: str) -> None:
        assert found.startswith("nonholonomic") == self.one.nonholonomic, found

    def reached(self, growth: str, count: str, last: str) -> None:
        assert (growth, count, last) == ("(2, 3)", "3", "3")

    # ── equilibria
    def at_rest(self, where: str) -> np.ndarray:
        """The place of an equilibrium, after seeing that it is one: at rest there nothing moves."""
        q = place(self.one, where)
        if np.linalg.cond(np.asarray(self.one.system.mass_matrix(0.0, q))) > 1e12:
            return q  # the pole of polar coordinates, where they have no acceleration
        zero = np.zeros_like(q)
        q, zero = map(np.asarray, self.one.system.project(0.0, q, zero))
        pull = np.asarray(self.one.system.acceleration(0.0, q, zero))
        near = q + 1e-3
        size = 1.0 + np.max(np.abs(np.asarray(self.one.system.acceleration(0.0, near, zero))))
        assert np.max(np.abs(pull)) < 1e-3 * size
        return q

    def away(self, q: np.ndarray, t_end: float, size: float = 1e-3) -> np.ndarray:
        """How far the motion from a state near by goes, in the size of the state's displacement."""
        push = size * self.rng.normal(size=len(q))
        start, still = map(np.asarray, self.one.system.project(0.0, q + push, np.zeros_like(q)))
        run = moved(self.one, start, still, t_end, min(t_end / 4000, 0.02))
        return np.max(np.abs(np.asarray(run.q) - q), axis=1) / size

    def stable(self, place: str) -> None:
        assert np.max(self.away(self.at_rest(place), 40.0)) < 100

    def stable_with_frequencies(self, place: str, rates: str) -> None:
        q, slowest = self.at_rest(place), min(map(float, rates.split(", ")))
        assert np.max(self.away(q, 12 / slowest)) < 100

    def unstable(self, place: str) -> None:
        assert np.max(self.away(self.at_rest(place), 40.0)) > 5

    def unstable_with_rate(self, place: str, rate: str) -> None:
        q = self.at_rest(place)
        assert np.max(self.away(q, 12 / float(rate), 1e-4)) > 30

    def undecided(self, place: str) -> None:
        assert self.one.family not in ("hoop", "moving"), "their equilibria are regular"
        self.at_rest(place)

    def no_rest(self) -> None:
        assert not self.one.steady

    # ── symmetries and what follows
    def cyclic(self, name: str, value: str) -> None:
        assert LETTERS.get(name, name) in self.one.momenta
        p = np.asarray(self.run.momentum)[:, self.one.system.names.index(LETTERS.get(name, name))]
        assert p[0] == pytest.approx(float(value), rel=1e-5, abs=1e-9)
        assert np.ptp(p) < 1e-8 * (1 + np.max(np.abs(p)))

    def symmetries(self, dim: str, algebra: str) -> None:
        if self.one.symmetries is not None:
            assert int(dim) == self.one.symmetries

    def symmetries_nearby(self, dim: str) -> None:
        assert int(dim) >= (self.one.symmetries or 0)

    def no_symmetry(self) -> None:
        assert not self.one.symmetries
        assert not self.one.momenta

    def left_out(self, cyclic: str) -> hl.System:
        """The system without them, for the momenta and the start that the run has."""
        system, run = self.one.system, self.run
        places = {name: system.names.index(name) for name in names(cyclic)}
        momenta = {name: float(np.asarray(run.momentum)[0, i]) for name, i in places.items()}
        return hl.routh(system, momenta, start={name: float(run.q[0, i]) for name, i in places.items()})

    def by_itself(self, smaller: Any, kept: str, checked: str) -> None:
        """The accelerations of what is kept, along the motion of all, follow from the smaller system."""
        system, run = self.one.system, self.run
        assert "from 3 starts" in checked
        rest = [system.names.index(name) for name in names(kept)]
        for k in range(0, len(run.t), 60):
            full = np.asarray(system.acceleration(run.t[k], run.q[k], run.v[k]))[rest]
            z, w, _ = smaller.adapted(run.q[k], run.v[k], run.t[k])
            alone = np.asarray(smaller.acceleration(run.t[k], z, w))[: len(rest)]
            np.testing.assert_allclose(alone, full, rtol=1e-6, atol=1e-6)

    def reduced(self, cyclic: str, kept: str, checked: str) -> None:
        assert self.one.closed
        self.by_itself(self.left_out(cyclic), kept, checked)

    def reduced_in_time(self, cyclic: str, kept: str, known: str, checked: str) -> None:
        """What is known changes at a constant rate, and what is kept does not move by itself without it."""
        assert not self.one.closed
        rates = np.asarray(self.run.v)[:, [self.one.system.names.index(name) for name in names(known)]]
        assert np.max(np.ptp(rates, axis=0)) < 1e-9
        self.by_itself(self.left_out(cyclic), kept, checked)

    def carried_along(self, cyclic: str, kept: str, carried: str, checked: str) -> None:
        assert not self.one.closed
        rates = np.asarray(self.run.v)[:, [self.one.system.names.index(name) for name in names(carried)]]
        assert np.min(np.ptp(rates, axis=0)) > 1e-9
        smaller = self.left_out(cyclic)
        assert smaller.names == (*names(kept), *names(carried))
        self.by_itself(smaller, kept, checked)

    def rolling(self, out: str, kept: str, checked: str) -> None:
        smaller = hl.chaplygin(self.one.system, names(out))
        assert smaller.names == tuple(names(kept))
        self.by_itself(smaller, kept, checked)

    def rolling_with_momentum(self, out: str, new: str, kept: str, checked: str) -> None:
        smaller = hl.chaplygin(self.one.system, names(out))
        assert len(smaller.names) == len(names(kept)) + int(new)
        self.by_itself(smaller, kept, checked)

    def one_degree(self) -> None:
        assert len(self.one.system.names) - len(self.one.momenta) == 1

    def oscillation(self, name: str, low: str, high: str, period: str, count: str) -> None:
        i = self.one.system.names.index(LETTERS.get(name, name))
        run = moved(self.one, t_end=float(period), dt=float(period) / 8000, every=1)
        x = np.asarray(run.q)[:, i]
        width = float(high) - float(low)
        kind = self.one.system.coordinates[i].kind
        shift = 0.0 if kind != "angle" else 2 * np.pi * np.round((x[0] - float(low) - width / 2) / (2 * np.pi))
        assert np.min(x) - shift == pytest.approx(float(low), abs=1e-4 * width)
        assert np.max(x) - shift == pytest.approx(float(high), abs=1e-4 * width)
        assert x[-1] == pytest.approx(x[0], abs=1e-4 * width)
        assert run.v[-1, i] == pytest.approx(run.v[0, i], abs=1e-4 * np.max(np.abs(run.v[:, i])))

    def rotation(self, name: str, period: str, count: str) -> None:
        i = self.one.system.names.index(LETTERS.get(name, name))
        run = moved(self.one, t_end=float(period), dt=float(period) / 4000)
        assert abs(run.q[-1, i] - run.q[0, i]) == pytest.approx(2 * np.pi, rel=1e-5)

    def unbounded(self, name: str, far: str) -> None:
        x = np.asarray(moved(self.one, t_end=300.0, dt=0.1).q)[:, 0]
        assert not self.one.bounded
        assert np.all(np.diff(x) * self.one.v > 0)

    def at_rest_there(self, name: str) -> None:
        assert self.one.still
        assert np.max(np.abs(np.asarray(self.run.q) - self.one.q)) < 1e-9

    def multipliers(self, values: str) -> None:
        if self.one.family == "wire":  # elsewhere equilibria are of a family, and multipliers differ along it
            assert float(values) == pytest.approx(float(self.one.system.parameters["g"]), rel=1e-5)

    def no_integral(self, reason: str) -> None:
        one = self.one
        if not re.search(r"smooth enough|separatrix|differ by rounding", reason):
            assert not one.conserved or one.walls or one.family == "quartic", reason

    # ── Jacobi's metric
    def geodesics(self, value: str, curvature: str) -> None:
        """The acceleration of the motion in the metric of the sentence lies along the motion."""
        assert self.one.geodesics
        assert self.energy()[0] == pytest.approx(float(value), rel=1e-5, abs=1e-5)
        gamma, bent = _connection(self.one, float(self.energy()[0]), self.one.q)
        v = self.one.v
        a = np.asarray(self.one.system.acceleration(0.0, self.one.q, v)) + np.einsum("ijk,j,k", gamma, v, v)
        assert abs(a[0] * v[1] - a[1] * v[0]) < 1e-4 * np.linalg.norm(v) * (1 + np.linalg.norm(a))
        assert bent == pytest.approx(float(curvature), rel=1e-3, abs=1e-4)

    def part(self) -> None:
        assert _connection(self.one, float(self.energy()[0]), self.one.q)[1] < 0

    def approach(self) -> None:
        assert _connection(self.one, float(self.energy()[0]), self.one.q)[1] > 0

    def flat(self) -> None:
        assert abs(_connection(self.one, float(self.energy()[0]), self.one.q)[1]) < 1e-6

    def no_metric(self, reason: str) -> None:
        assert not self.one.geodesics, reason


def _connection(one: Drawn, h: float, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Christoffel's symbols and Gauss's curvature of 2(h − V′)g by differences, as textbooks have them."""
    system, step = one.system, 1e-4

    def metric(x: np.ndarray) -> np.ndarray:
        zero = np.zeros(2)
        rest = float(system.raw_lagrangian(0.0, x, zero))
        return 2 * (h + rest) * np.asarray(system.mass_matrix(0.0, x, zero))

    def symbols(x: np.ndarray) -> np.ndarray:
        slopes = np.stack([(metric(x + step * e) - metric(x - step * e)) / (2 * step) for e in np.eye(2)], axis=-1)
        low = 0.5 * (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 1, 0))
        return np.einsum("il,ljk->ijk", np.linalg.inv(metric(x)), low)

    gamma = symbols(q)
    bend = np.stack([(symbols(q + step * e) - symbols(q - step * e)) / (2 * step) for e in np.eye(2)], axis=-1)
    # R^i_{kjl} = ∂_j Γ^i_{lk} - ∂_l Γ^i_{jk} + ΓΓ - ΓΓ
    riemann = (
        np.einsum("ilkj->ikjl", bend)
        - np.einsum("ijkl->ikjl", bend)
        + np.einsum("ijm,mlk->ikjl", gamma, gamma)
        - np.einsum("ilm,mjk->ikjl", gamma, gamma)
    )
    g = metric(q)
    return gamma, float(np.einsum("im,mkjl->ikjl", g, riemann)[0, 1, 0, 1] / np.linalg.det(g))


ELSEWHERE = {"space", "space named", "moving surface", "too long", "not written", "no equilibrium", "because"}
"""Sentences about names and forms, or that the families do not bring: `docs/statements.md` names their tests."""
METHODS = {name: name.replace(" ", "_") for name in STATEMENTS} | {"at rest": "at_rest_there"}


def drawn(family: str, seed: int) -> Drawn:
    return FAMILIES[family](np.random.default_rng([seed, *family.encode()]))


def looked_at(family: str, seed: int) -> set[str]:
    """Analyse a random system and check every sentence; the names of those that were checked."""
    one = drawn(family, seed)
    text = [item.text for item in analyse(one.system, one.q, one.v)]
    checks, seen = Checks(one), set[str]()
    for sentence in text:
        for name, values in said(sentence):
            seen.add(name)
            check = getattr(checks, METHODS[name], None)
            assert check or name in ELSEWHERE, name
            if check is not None:
                check(**values)
    assert not one.conserved or {"h conserved", "h conserved at states"} & seen
    return seen


@pytest.fixture
def unwritten(monkeypatch):
    """Analyses without written equations, which take most of their time and are compared elsewhere."""
    # the package has a function of the module's name
    monkeypatch.setattr(import_module("holonomy.show.analysis.analyse"), "_equations", lambda system: "left out")


@pytest.mark.parametrize("family", ["well", "pulse", "damped", "hoop"])
def test_sentences_of_random_systems(family, unwritten) -> None:
    for seed in range(6):
        looked_at(family, seed)


COUNTS = {"well": 20, "pulse": 36, "quartic": 26, "damped": 34, "walled": 16, "hoop": 12, "central": 6, "pushed": 6}
COUNTS |= {"branched": 6, "turning": 10, "moving": 8, "knife_edge": 3, "sleigh": 2, "wire": 16}
"""How many of each; the motions of a reduced system take longest."""


@pytest.mark.proof
def test_sentences_of_two_hundred_random_systems(unwritten) -> None:
    """Forces, the time, velocity constraints, branches, turning frames, magnetic terms, walls."""
    seen: set[str] = set()
    assert COUNTS.keys() == FAMILIES.keys()
    assert sum(COUNTS.values()) >= 200
    for family, count in COUNTS.items():
        for seed in range(100, 100 + count):
            seen |= looked_at(family, seed)
    assert set(STATEMENTS) - ELSEWHERE - seen <= {name for name in STATEMENTS if name.startswith("portrait")} | RARE


RARE = {
    "symmetries nearby",
    "h conserved at states",
    "rotation",
    "flat",
    "approach",
    "part",
    "not reduced",
    "undecided",
    "stable",
    "unstable",
}
"""Sentences that the random draws may happen not to bring."""

LIES = [
    ("well", "h conserved", {"value": "1e3"}),
    ("damped", "h conserved", {"value": "0"}),
    ("pulse", "h conserved", {"value": "0"}),
    ("pulse", "h conserved at states", {"value": "0", "looked_at": "at the 4000 states looked at"}),
    ("well", "h not conserved", {"value": "0", "reason": ""}),
    ("well", "h is the energy", {}),
    ("hoop", "h is the energy", {}),
    ("well", "h is not the energy", {}),
    ("hoop", "h of a Lagrangian", {}),
    ("well", "not quadratic", {}),
    ("well", "freedom", {"dof": "2"}),
    ("well", "surface", {"constraints": "1 constraint", "dim": "0"}),
    ("well", "walls", {"walls": "1 wall", "s": "s"}),
    ("well", "velocity constraints", {"found": "integrable"}),
    ("well", "reached", {"growth": "(2, 2)", "count": "3", "last": "2"}),
    ("well", "no rest", {}),
    ("hoop", "stable", {"place": "θ = 3.14159"}),
    ("hoop", "stable with frequencies", {"place": "θ = 3.14159", "rates": "2"}),
    ("hoop", "unstable", {"place": "θ = 1"}),
    ("damped", "unstable with rate", {"place": "x = 50", "rate": "1"}),
    ("hoop", "undecided", {"place": "θ = 1.5"}),
    ("hoop", "cyclic", {"name": "θ", "value": "0"}),
    ("well", "symmetries", {"dim": "3", "algebra": "se(2)"}),
    ("hoop", "oscillation", {"name": "θ", "low": "-1.363", "high": "1.363", "period": "5.478", "count": "1"}),
    ("hoop", "rotation", {"name": "θ", "period": "5.478", "count": "1"}),
    ("hoop", "unbounded", {"name": "θ", "far": "1"}),
    ("hoop", "at rest", {"name": "θ"}),
    ("hoop", "symmetries nearby", {"dim": "-1"}),
    ("well", "no integral", {"reason": "The Lagrangian depends on the time."}),
]


@pytest.mark.parametrize("family, name, values", LIES)
def test_a_false_sentence_is_seen(family, name, values) -> None:
    with pytest.raises(AssertionError):
        getattr(Checks(drawn(family, 1)), METHODS[name])(**values)


@pytest.mark.proof
@pytest.mark.parametrize(
    "family, name, values",
    [
        ("central", "cyclic", {"name": "r", "value": "0"}),
        ("pushed", "reduced", {"cyclic": "φ", "kept": "r", "checked": "from 3 starts"}),
        ("knife_edge", "reduced", {"cyclic": "a", "kept": "x, y", "checked": "from 3 starts"}),
        ("pushed", "reduced in time", {"cyclic": "φ", "kept": "r", "known": "φ", "checked": "from 3 starts"}),
        ("central", "reduced in time", {"cyclic": "φ", "kept": "r", "known": "φ", "checked": "from 3 starts"}),
        ("central", "carried along", {"cyclic": "φ", "kept": "r", "carried": "φ", "checked": "from 3 starts"}),
        ("knife_edge", "carried along", {"cyclic": "a", "kept": "x, y", "carried": "a", "checked": "from 3 starts"}),
        ("knife_edge", "rolling", {"out": "y", "kept": "a", "checked": "from 3 starts"}),
        ("knife_edge", "rolling with momentum", {"out": "y", "new": "1", "kept": "x, a", "checked": "from 3 starts"}),
        ("turning", "geodesics", {"value": "1", "curvature": "1"}),
        ("moving", "geodesics", {"value": "1", "curvature": "1"}),
        ("moving", "no metric", {"reason": "magnetic"}),
        ("moving", "part", {}),
        ("moving", "flat", {}),
        ("central", "no symmetry", {}),
        ("knife_edge", "one degree", {}),
        ("wire", "multipliers", {"values": "0"}),
    ],
)
def test_a_false_sentence_of_several_coordinates_is_seen(family, name, values) -> None:
    with pytest.raises(AssertionError):
        getattr(Checks(drawn(family, 1)), METHODS[name])(**values)


@pytest.mark.parametrize(
    "family, name",
    [("well", "portrait of motions"), ("damped", "portrait of trajectories"), ("pulse", "portrait at a time")],
)
def test_portraits_say_what_they_show(family, name) -> None:
    """Curves of constant h are drawn where the run stays on one; elsewhere streams, along which the run goes."""
    one = drawn(family, 1)
    checks = Checks(one)
    figure = phase_portrait(one.system, checks.run)
    (sentence,) = said(str(figure.get_label()))
    assert sentence[0] == name
    (axes,) = figure.axes
    assert axes.get_title() == figure.get_label()
    change = np.ptp(checks.energy())
    streams = [c for c in axes.collections if type(c).__name__ == "LineCollection"]
    assert bool(streams) == (name != "portrait of motions")
    assert (change < 1e-8) == (name == "portrait of motions")


def test_sentences_about_forms() -> None:
    """What is said of names, of the space and of equations that are not shown."""
    import jax.numpy as jnp

    rim = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), ("x", "y"))
    rim = rim.constrained(holonomic=lambda t, q: (q @ q - (1 + 0.1 * t) ** 2)[None])
    long = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - q[0], tuple("abcdefg"))
    odd = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, q[0]), ("x",)
    )
    module = import_module("holonomy.show.analysis.analyse")
    text = " ".join(i.text for i in module._configuration(rim, np.array([1.0, 0.0]), 0.0))
    found = dict(said(text))
    assert found["moving surface"] == {"constraints": "1 constraint", "dim": "1"}
    assert found["space"] == {"names": "x, y", "space": "R²"}
    assert dict(said(module._equations(long)))["too long"] == {"count": "7"}
    assert "while_loop" in dict(said(module._equations(odd)))["not written"]["reason"]
    fall = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * q[0] + jnp.sin(q[0]), ("x",))
    (item,) = module._statics(fall, hl.energy_function(fall), np.zeros(1))
    assert [name for name, _ in said(item.text)] == ["no equilibrium"]


def rows() -> dict[str, list[str]]:
    """The rows of the page's tables by the names of the sentences."""
    text = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    cells = [[c.strip() for c in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells if row[0] not in ("name", "sentence", "---")}


def test_every_sentence_has_its_row_and_its_test() -> None:
    listed = rows()
    assert {name: words for name, words in STATEMENTS.items() if listed.get(name, [""])[0] != words} == {}
    for name, row in listed.items():
        tests = re.findall(r"`(tests/[^`]+)`", row[-1])
        assert tests, name
        for test in tests:
            file, _, function = test.partition("::")
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            there = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
            assert function in there if function else any(n.startswith("test_") for n in there), f"{name}: {test}"


def test_sentences_in_latex() -> None:
    """No letter is left that LaTeX does not set."""
    for words in STATEMENTS.values():
        assert _plain(words).isascii(), words
