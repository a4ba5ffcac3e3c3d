"""Frobenius' theorem and growth vectors: the lecture's dumbbells, and the standard systems of the literature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

sin, cos = jnp.sin, jnp.cos


def rows(*forms):
    return jnp.stack([jnp.stack([jnp.asarray(x, float) for x in form]) for form in forms])


def across(q):
    """The lecture's knife edges across the rod."""
    return rows([cos(q[2]), sin(q[2]), 0.0])


def along(q):
    """Knife edges along the rod, as one form at the centre."""
    return rows([sin(q[2]), -cos(q[2]), 0.0])


def both_ends(q):
    """A knife edge along the rod at each end of it."""
    return rows([sin(q[2]), -cos(q[2]), 1.0], [sin(q[2]), -cos(q[2]), -1.0])


def trailers(n):
    """A car (x, y, theta_0) that pulls n trailers, with its axle where the first is hitched."""

    def forms(q):
        heading, found = q[2:], []
        for i in range(n + 1):
            rates = [cos(heading[i] - heading[j]) if 1 <= j <= i else 0.0 for j in range(n + 1)]
            found.append([sin(heading[i]), -cos(heading[i]), *rates])
        return rows(*found)

    return forms


def steered(q):
    """A car with a steering wheel: rear and front axle at distance 1."""
    x = [sin(q[2]), -cos(q[2]), 0.0, 0.0]
    return rows(x, [sin(q[2] + q[3]), -cos(q[2] + q[3]), -cos(q[3]), 0.0])


def disc(q):
    """A vertical disc (x, y, heading, turn) that rolls."""
    return rows([1.0, 0.0, 0.0, -cos(q[2])], [0.0, 1.0, 0.0, -sin(q[2])])


def snakeboard(q):
    """(x, y, theta, rotor, wheels at opposite angles)."""
    a, b = q[2] + q[4], q[2] - q[4]
    return rows([sin(a), -cos(a), -cos(q[4]), 0.0, 0.0], [sin(b), -cos(b), cos(q[4]), 0.0, 0.0])


def ball(q):
    """A ball on a plate in Euler angles, which rolls and does not spin about the vertical."""
    a, b = q[2], q[3]
    return rows(
        [1.0, 0.0, 0.0, -sin(a), cos(a) * sin(b)],
        [0.0, 1.0, 0.0, cos(a), sin(a) * sin(b)],
        [0.0, 0.0, 1.0, 0.0, cos(b)],
    )


@pytest.mark.parametrize(
    "forms, dim, growth",
    [
        (across, 3, (2, 3)),
        (along, 3, (2, 3)),
        (trailers(0), 3, (2, 3)),
        (trailers(1), 4, (2, 3, 4)),
        (trailers(2), 5, (2, 3, 4, 5)),
        (steered, 4, (2, 3, 4)),
        (disc, 4, (2, 3, 4)),
        (snakeboard, 5, (3, 4, 5)),
        (ball, 5, (2, 3, 5)),
        (lambda q: ball(q)[:2], 5, (3, 5)),
    ],
)
def test_growth_vectors_are_those_of_the_literature(forms, dim, growth) -> None:
    found = hl.integrability(forms, dim)
    assert (found.kind, found.closed, found.growth) == ("nonholonomic", False, growth)
    assert found.hidden == 0
    assert found.position is None
    assert found.integrating_factor is None


def test_two_trailers_at_a_right_angle_need_one_bracket_more() -> None:
    assert hl.integrability(trailers(2), 5, at=[0.0, 0.0, 0.0, np.pi / 2, 0.0]).growth == (2, 3, 4, 4, 5)
    assert hl.integrability(trailers(2), 5, at=np.zeros(5)).growth == (2, 3, 4, 5)


def test_an_edge_at_each_end_keeps_the_dumbbell_on_its_line() -> None:
    """The lecture says so of the form at the centre, which leaves every configuration reachable; two edges do it."""
    found = hl.integrability(both_ends, 3, at=[0.2, -0.1, 0.4])
    assert (found.kind, found.growth, found.hidden, found.rank) == ("integrable", (1,), 2, 2)
    assert found.position is not None
    on_line = jnp.array([0.2 + 3 * np.cos(0.4), -0.1 + 3 * np.sin(0.4), 0.4])
    np.testing.assert_allclose(found.position(on_line), 0.0, atol=1e-13)
    assert np.max(np.abs(found.position(on_line + 0.01))) > 1e-3


@pytest.mark.parametrize("form, shift", [(along, 0.0), (across, np.pi / 2)])
def test_a_path_leads_from_any_configuration_of_the_dumbbell_to_any_other(form, shift) -> None:
    """The lecture's two questions. The centre moves in the direction q3, or q3 + π/2 with edges across the rod, so
    any curve of the centre that begins and ends in the right directions is a path; here a cubic one."""

    def path(first, last, s):
        turned = (jnp.stack([cos(q[2] + shift), sin(q[2] + shift)]) for q in (first, last))
        leave, arrive = (4.0 * direction for direction in turned)

        def centre(s):
            gap = last[:2] - first[:2]
            return first[:2] + s * leave + s**2 * (3 * gap - 2 * leave - arrive) + s**3 * (leave + arrive - 2 * gap)

        rate = jax.jacfwd(centre)(s)
        return jnp.append(centre(s), jnp.arctan2(rate[1], rate[0]) - shift)

    @jax.jit
    @jax.vmap
    def followed(first, last):
        def at(s):
            q, v = jax.jvp(lambda x: path(first, last, x), (s,), (jnp.ones(()),))
            return q, form(q)[0] @ v / jnp.linalg.norm(v)

        return jax.vmap(at)(jnp.linspace(0.0, 1.0, 201))

    ends = np.random.default_rng(0).uniform(-3.0, 3.0, (2, 40, 3))
    ends[:, 0] = [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0] if shift == 0.0 else [2.0, 0.0, 0.0]]  # to the place beside it
    q, slip = followed(*ends)
    assert np.max(np.abs(slip)) < 1e-12
    for k, wanted in ((0, ends[0]), (-1, ends[1])):
        np.testing.assert_allclose(q[:, k, :2], wanted[:, :2], atol=1e-12)
        np.testing.assert_allclose(np.exp(1j * q[:, k, 2]), np.exp(1j * wanted[:, 2]), atol=1e-12)


def test_an_integrating_factor_makes_the_form_a_differential() -> None:
    def form(q):
        return jnp.exp(q[0] * q[1]) * jnp.stack([2 * q[0], 2 * q[1], -1.0])

    found = hl.integrability(form, 3, at=[1.0, 1.0, 2.0])
    assert (found.kind, found.closed, found.growth) == ("integrable", False, (2,))
    assert found.position is not None
    assert found.integrating_factor is not None
    at = jnp.array([0.9, 1.1, 1.9])
    position = found.position
    slope = jax.grad(lambda q: position(q)[0])(at)
    np.testing.assert_allclose(found.integrating_factor(at) * form(at), slope, atol=1e-12)
    closed = hl.integrability(lambda q: jnp.stack([q[1] * q[2], q[0] * q[2], q[0] * q[1]]), 3, at=[1.0, 1.0, 1.0])
    assert closed.closed
    assert closed.position is not None
    assert closed.integrating_factor is not None
    assert float(closed.position([0.5, 3.0, 2.0])[0]) == pytest.approx(2.0, abs=1e-12)  # xyz - 1
    assert float(closed.integrating_factor([0.5, 3.0, 2.0])) == 1.0


def test_a_hidden_position_constraint_among_nonholonomic_ones() -> None:
    found = hl.integrability(lambda q: rows([cos(q[2]), sin(q[2]), 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]), 4)
    assert (found.kind, found.growth, found.hidden) == ("nonholonomic", (2, 3), 1)
    assert "1 position constraint hidden" in str(found)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("power", [2, 5, 9])
def test_forms_that_are_closed_at_a_point_alone(power, unit) -> None:
    """dx + (y/u)ᵏ dz: at y = 0 all derivatives of the form below order k vanish, and as many brackets lead nowhere."""
    for shift in (0.0, 1e3 * unit):
        found = hl.integrability(lambda q: rows([1.0, 0.0, ((q[1] - shift) / unit) ** power]), 3, at=[0.3, shift, 0.2])  # noqa: B023
        assert (found.kind, found.closed, found.order) == ("nonholonomic", False, power - 1)
        assert found.growth == (2,) * power + (3,)
        assert found.nearby == (2, 3)
        assert found.hidden == 0
        assert "next to it" in repr(found)


def test_a_surface_to_which_motions_keep_is_special() -> None:
    """dx + x y dz: motions that start at x = 0 stay there, and elsewhere every configuration can be reached."""
    at, beside = (hl.integrability(lambda q: rows([1.0, 0.0, q[0] * q[1]]), 3, at=[x, 0.0, 0.2]) for x in (0.0, 0.1))
    assert (at.kind, at.growth, at.nearby) == ("nonholonomic", (2,), (2, 3))
    assert "not decided" in repr(at)
    assert beside.growth == (2, 3)
    high = hl.integrability(lambda q: rows([1.0, 0.0, q[1] ** 30]), 3, at=[0.0, 0.0, 0.0])
    assert (high.kind, high.growth, high.nearby) == ("nonholonomic", (2,), (2, 3))
    assert "every configuration" not in repr(high)


def bump(q):
    return rows([1.0, 0.0, jnp.maximum(q[1] - 30.0, 0.0) ** 2])


def flat(q):
    safe = jnp.where(q[1] == 0, 1.0, q[1])
    return rows([1.0, 0.0, jnp.where(q[1] == 0, 0.0, jnp.exp(-1 / safe**2))])


@pytest.mark.parametrize(
    "form, at, kind",
    [
        (bump, [0.0, 0.0, 0.0], "integrable"),
        (bump, [0.0, 30.0, 0.0], "undecided"),
        (bump, [0.0, 31.0, 0.0], "nonholonomic"),
        (flat, [0.0, 0.0, 0.2], "undecided"),
        (flat, [0.0, 0.5, 0.2], "nonholonomic"),
        (lambda q: rows([1.0, 0.0, 1e-14 * q[1]]), [0.3, 0.2, 0.1], "nonholonomic"),
        (lambda q: rows([1e6 * q[1], 1e6 * q[0], 1e-6 * q[0]]), [0.3, 0.2, 0.1], "nonholonomic"),
        (lambda q: rows([q[0], q[1], 0.0]) / jnp.hypot(q[0], q[1]), [0.3, 0.2, 0.1], "integrable"),
        (lambda q: rows([sin(q[1]) ** 2 + cos(q[1]) ** 2, 0.0, q[2]]), [0.3, 0.2, 0.1], "integrable"),
        (lambda q: rows([0.1 + 0.2, 0.0, (0.1 + 0.2 - 0.3) * q[1]]), [0.3, 0.2, 0.1], "nonholonomic"),
    ],
)
def test_a_kind_is_shown_or_undecided(form, at, kind) -> None:
    found = hl.integrability(form, 3, at=at)
    assert found.kind == kind, found
    if kind == "undecided":
        assert f"up to order {found.order}" in repr(found)
        assert found.position is None


def test_random_forms_are_integrable_where_they_are_made_so() -> None:
    """f dg is integrable whatever f and g, f dg + ε x dy is not; both in three and in four coordinates."""
    rng = np.random.default_rng(3)
    for n in (3, 4):
        for k in range(6):
            a, b = rng.integers(-3, 4, (2, n, n)).astype(float)

            def exact(q, a=a, b=b):
                slope = jax.grad(lambda x: x @ a @ x + jnp.sin(x @ b[0]) + x[0] * x[1] * x[-1])(q)
                return (jnp.exp(0.3 * (b[1] @ q)) * slope)[None]

            def spoiled(q, exact=exact, k=k):
                return exact(q) + 10.0 ** (-3 * k // 2) * (q[0] * jnp.eye(len(q))[1])[None]

            at = rng.uniform(0.3, 1.0, n)
            found = hl.integrability(exact, n, at=at)
            assert (found.kind, found.hidden) == ("integrable", 1), found
            found = hl.integrability(spoiled, n, at=at)
            assert (found.kind, found.hidden) == ("nonholonomic", 0), found


@pytest.mark.parametrize(
    "forms, dim, at, words",
    [
        (lambda q: q[:2], 3, None, "each form has 3 coefficients"),
        ([], 3, None, "At least one form"),
        (lambda q: q, 3, [0.0, 0.0, 0.0], "zero at q"),
        (lambda q: jnp.stack([q, q * q]), 2, [1.0, 1.0], "dependent at q.*but not nearby"),
        (lambda q: q, 0, None, "dim is the number of coordinates"),
        (lambda q: np.cos(q), 3, None, "jnp.cos"),
        (lambda q: q, 3, [1.0, 2.0], "shape"),
        (lambda q: jnp.log(q - 5), 3, None, "not finite"),
    ],
)
def test_forms_that_make_no_sense_are_refused(forms, dim, at, words) -> None:
    with pytest.raises(ValueError, match=words):
        hl.integrability(forms, dim, at=at)
