"""Does a space keep the theorems of Riemannian geometry? For a user's own `AbstractSpace`, and for all of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import bend
from holonomy.spaces import AbstractSpace

Residual = Float[Array, ""]


class TheoremFailed(AssertionError):
    """A theorem does not hold: `theorem` names it, `residual` is by how much, `sample` where."""

    def __init__(self, space: AbstractSpace, theorem: str, residual: float, allowed: float, sample: dict[str, Any]):
        self.theorem, self.residual, self.sample = theorem, residual, sample
        where = ", ".join(f"{name} = {np.asarray(value).tolist()}" for name, value in sample.items())
        super().__init__(
            f"{space!r} fails the theorem {theorem!r} ({THEOREMS[theorem].__doc__}): the residual is {residual:.3g}, "
            f"at most {allowed:.1g} is allowed. It happened at {where}."
        )


class Sample(NamedTuple):
    """A point x, unit tangent vectors v and w at it, a small local coordinate, and a distance to go."""

    x: Array
    v: Array
    w: Array
    y: Array
    s: Array

    def far(self, space: AbstractSpace) -> Array:
        """The point at distance s in direction v."""
        return space.exp(self.x, self.s * self.v)


def check_space(
    space: AbstractSpace,
    *,
    points: Float[Array, "k point"] | None = None,
    distances: Sequence[float] = (1e-6, 0.1, 1.0),
    tolerance: float = 1e-9,
    seed: int = 0,
    skip: Sequence[str] = (),
) -> dict[str, float]:
    """Check a space against every theorem in `THEOREMS`; raise `TheoremFailed` for the first that does not hold.

    Checked at `points` (random ones if none are given; pass those you fear), with geodesics of each length in
    `distances`, which must be shorter than the distance to the cut locus. Residuals are relative to the sizes that
    enter. `skip` names theorems not to check. Returns the largest residual of each.
    """
    unknown = set(skip) - set(THEOREMS)
    if unknown:
        raise ValueError(f"skip names {sorted(unknown)}, but the theorems are {sorted(THEOREMS)}.")
    keys = jax.random.split(jax.random.PRNGKey(seed), 3)
    if points is None:
        points = jax.vmap(space.random)(jax.random.split(keys[0], 3))
    points = jnp.asarray(points)
    if points.ndim != 2 or points.shape[1] != space.point_dim:
        raise ValueError(f"points has shape {points.shape}, but rows of length {space.point_dim} are needed.")
    for i, x in enumerate(points):
        space.checked_point(x, f"points[{i}]")
    samples = _samples(space, points, jnp.asarray(distances), keys[1])
    names = tuple(name for name in THEOREMS if name not in skip)
    residuals = {name: np.asarray(r) for name, r in _residuals(space, names, samples).items()}
    worst: dict[str, float] = {}
    for name, values in residuals.items():
        # NaN is worse than any number
        index = int(np.argmax(np.where(np.isnan(values), np.inf, values)))
        worst[name] = float(values[index])
        if not worst[name] <= tolerance:
            at = jax.tree.map(lambda a, index=index: a[index], samples)
            raise TheoremFailed(space, name, worst[name], tolerance, at._asdict())
    return worst


@eqx.filter_jit
def _samples(space: AbstractSpace, points: Array, distances: Array, key: Array) -> Sample:
    """Every point with every distance, and directions at random."""

    def one(x: Array, s: Array, key: Array) -> Sample:
        a, b, c = jax.random.split(key, 3)
        v, w = space.random_tangent(a, x), space.random_tangent(b, x)
        y = 0.1 * jax.random.normal(c, (space.dim,))
        return Sample(x, v / space.norm(x, v), w / space.norm(x, w), y, s)

    count = points.shape[0] * distances.shape[0]
    return jax.vmap(one)(
        jnp.repeat(points, distances.shape[0], axis=0),
        jnp.tile(distances, points.shape[0]),
        jax.random.split(key, count),
    )


def _residuals(space: AbstractSpace, names: tuple[str, ...], samples: Sample) -> dict[str, Array]:
    def all_of_them(samples: Sample) -> dict[str, Array]:
        return {name: jax.vmap(lambda s, f=THEOREMS[name]: f(space, s))(samples) for name in names}

    # Evaluated once, so that the time goes into compiling: ask for code made quickly rather than quick code.
    return jax.jit(all_of_them, compiler_options={"xla_backend_optimization_level": 0})(samples)


# ── the theorems: each a residual that vanishes, its docstring the statement ──────────────────────────────────────


def _size(a: Array) -> Residual:
    return jnp.max(jnp.abs(a)) if a.size else jnp.zeros(())


def _gap(a: Array, b: Array) -> Residual:
    return _size(a - b) / (1.0 + _size(a) + _size(b))


def _local(space: AbstractSpace, x: Array, v: Array) -> Array:
    return jax.jvp(lambda p: space.coordinates(x, p), (x,), (v,))[1]


def _metric(space: AbstractSpace, x: Array) -> Callable[[Array], Array]:
    return lambda y: space.local_metric(x, y)


def _point_on_space(space: AbstractSpace, s: Sample) -> Residual:
    """points lie on the space, and projecting them changes nothing"""
    far = s.far(space)
    return jnp.maximum(_gap(space.project(s.x), s.x), _gap(space.project(far), far))


def _tangent_projection(space: AbstractSpace, s: Sample) -> Residual:
    """tangent vectors are their own projection; geodesics have tangent velocities"""
    end, velocity = jax.jvp(lambda t: space.exp(s.x, t * s.v), (s.s,), (jnp.ones_like(s.s),))
    return jnp.maximum(_gap(space.tangent(s.x, s.v), s.v), _gap(space.tangent(end, velocity), velocity))


def _chart_centre(space: AbstractSpace, s: Sample) -> Residual:
    """chart(x, 0) = x"""
    return _gap(space.chart(s.x, jnp.zeros_like(s.y)), s.x)


def _chart_inverse(space: AbstractSpace, s: Sample) -> Residual:
    """coordinates(x, .) is the inverse of chart(x, .)"""
    point = space.chart(s.x, s.y)
    back = _gap(space.coordinates(s.x, point), s.y)
    return jnp.maximum(back, _gap(space.project(point), point))


def _chart_smooth(space: AbstractSpace, s: Sample) -> Residual:
    """the change of chart has finite third derivatives and the identity composed with itself has derivative 1"""
    other = space.chart(s.x, s.y)

    def there_and_back(y: Array) -> Array:
        between = space.chart(other, space.coordinates(other, space.chart(s.x, y)))
        return space.coordinates(s.x, between)

    def third(t: Array) -> Array:
        def along(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
            return lambda t: jax.jvp(f, (t,), (jnp.ones_like(t),))[1]

        return along(along(along(lambda t: space.coordinates(other, space.chart(s.x, t * s.y)))))(t)

    one = jax.jacfwd(there_and_back)(jnp.zeros_like(s.y))
    return _gap(one, jnp.eye(space.dim)) + 0.0 * _size(third(jnp.zeros(())))


def _chart_changes(space: AbstractSpace, s: Sample) -> Residual:
    """rechart and transition change between the charts at x and at chart(x, y)"""
    other, z = space.chart(s.x, s.y), jnp.flip(s.y) / 2.0
    seen = space.rechart(s.x, s.y, z)
    there = _gap(space.chart(s.x, seen), space.chart(other, z))
    return there + _gap(space.transition(s.x, s.y, seen), z)


def _chart_shifts(space: AbstractSpace, s: Sample) -> Residual:
    """shifted_chart moves the base point of the chart; pull_shift and solve_shift are its derivative and inverse"""
    zero = jnp.zeros_like(s.y)
    frame = jax.jacfwd(lambda y: space.chart(s.x, y))
    slope = jax.jacfwd(lambda xi: space.shifted_chart(s.x, xi, s.y))(zero)
    covector = jnp.cos(jnp.arange(1.0, space.dim + 1.0))
    local = jnp.linalg.lstsq(frame(s.y), slope)[0]
    pulled = space.pull_shift(s.x, s.y, covector)
    base = jax.jacfwd(lambda xi: space.shifted_chart(s.x, xi, zero))(zero)
    return jnp.stack(
        [
            _gap(space.shifted_chart(s.x, zero, s.y), space.chart(s.x, s.y)),
            _gap(base, frame(zero)),
            _gap(pulled, covector @ local),
            _gap(space.solve_shift(s.x, s.y, pulled), covector),
        ]
    ).max()


def _inner_positive(space: AbstractSpace, s: Sample) -> Residual:
    """the inner product is symmetric, bilinear and positive definite"""
    uv, vu = space.inner(s.x, s.v, s.w), space.inner(s.x, s.w, s.v)
    both = space.inner(s.x, s.v + 2.0 * s.w, s.w)
    linear = jnp.abs(both - uv - 2.0 * space.inner(s.x, s.w, s.w))
    g = space.local_metric(s.x, jnp.zeros_like(s.y))
    negative = jnp.where(jnp.all(jnp.linalg.eigvalsh(g) > 0), 0.0, jnp.inf)
    return jnp.abs(uv - vu) + linear + negative


def _geodesic_speed(space: AbstractSpace, s: Sample) -> Residual:
    """exp(x, tv) starts at x with velocity v and keeps its speed"""

    def curve(t: Array) -> Array:
        return space.exp(s.x, t * s.v)

    start, first = jax.jvp(curve, (jnp.zeros(()),), (jnp.ones(()),))
    end, last = jax.jvp(curve, (s.s,), (jnp.ones(()),))
    return _gap(start, s.x) + _gap(first, s.v) + jnp.abs(space.norm(end, last) - 1.0)


def _geodesic_straight(space: AbstractSpace, s: Sample) -> Residual:
    """exp(x, tv) solves the geodesic equation, at its start and along it"""
    end = s.far(space)

    def defect(centre: Array, t: Array) -> Residual:
        def curve(t: Array) -> Array:
            return space.coordinates(centre, space.exp(s.x, t * s.v))

        def velocity(t: Array) -> Array:
            return jax.jvp(curve, (t,), (jnp.ones_like(t),))[1]

        rate, acceleration = jax.jvp(velocity, (t,), (jnp.ones_like(t),))
        return _gap(acceleration, -bend(_metric(space, centre), jnp.zeros_like(s.y), rate, rate))

    return jnp.maximum(defect(s.x, jnp.zeros(())), defect(end, s.s))


def _log_inverse(space: AbstractSpace, s: Sample) -> Residual:
    """log(x, .) is the inverse of exp(x, .)"""
    end = s.far(space)
    v = space.log(s.x, end)
    return jnp.maximum(_gap(v, s.s * s.v), space.distance(space.exp(s.x, v), end))


def _distance_length(space: AbstractSpace, s: Sample) -> Residual:
    """the distance to exp(x, v) is |v|, from either end, and that from x to x is 0"""
    end = s.far(space)
    there, back = space.distance(s.x, end), space.distance(end, s.x)
    return jnp.abs(there - s.s) + jnp.abs(there - back) + space.distance(s.x, s.x)


def _triangle(space: AbstractSpace, s: Sample) -> Residual:
    """d(x, z) <= d(x, y) + d(y, z)"""
    y, z = s.far(space), space.chart(s.x, s.y)
    excess = space.distance(s.x, z) - space.distance(s.x, y) - space.distance(y, z)
    return jnp.maximum(excess, 0.0)


def _transport_isometry(space: AbstractSpace, s: Sample) -> Residual:
    """transport keeps inner products, is linear, and carries the velocity of a geodesic to its velocity"""
    step = s.s * s.v
    end, velocity = jax.jvp(lambda t: space.exp(s.x, t * s.v), (s.s,), (jnp.ones(()),))
    v, w = space.transport(s.x, step, s.v), space.transport(s.x, step, s.w)
    kept = jnp.abs(space.inner(end, v, w) - space.inner(s.x, s.v, s.w)) + jnp.abs(space.norm(end, w) - 1.0)
    linear = _gap(space.transport(s.x, step, s.v - 3.0 * s.w), v - 3.0 * w)
    return kept + linear + _gap(v, velocity)


def _geodesic_state(space: AbstractSpace, s: Sample) -> Residual:
    """geodesic gives exp and the transported velocity; sharp and tangent_covector keep products with tangent vectors"""
    end, velocity = space.geodesic(s.x, s.v, s.s)
    step = s.s * s.v
    moved = space.distance(end, space.exp(s.x, step)) + _gap(velocity, space.transport(s.x, step, s.v))
    raised, kept = space.sharp(s.x, s.w), space.tangent_covector(s.x, s.w)
    product = jnp.sum(s.w * s.v)
    return moved + jnp.abs(space.inner(s.x, raised, s.v) - product) + jnp.abs(jnp.sum(kept * s.v) - product)


def _transport_parallel(space: AbstractSpace, s: Sample) -> Residual:
    """transport along a geodesic has no covariant derivative"""

    def carried(t: Array) -> Array:
        end = space.exp(s.x, t * s.v)
        return jax.jvp(lambda p: space.coordinates(s.x, p), (end,), (space.transport(s.x, t * s.v, s.w),))[1]

    rate = jax.jvp(carried, (jnp.zeros(()),), (jnp.ones(()),))[1]
    v, w = _local(space, s.x, s.v), _local(space, s.x, s.w)
    return _gap(rate, -bend(_metric(space, s.x), jnp.zeros_like(s.y), v, w))


def _gradient_of_distance(space: AbstractSpace, s: Sample) -> Residual:
    """half the squared distance to a point has the gradient -log"""
    end = s.far(space)
    slope = space.gradient(lambda p: 0.5 * space.distance(p, end) ** 2)(s.x)
    return _gap(slope, -s.s * s.v)


def _killing_equation(space: AbstractSpace, s: Sample) -> Residual:
    """Killing fields are tangent and keep the metric"""
    residual = jnp.zeros(())
    for field in space.killing().values():
        residual = jnp.maximum(residual, _killing_defect(space, s, field))
    return residual


def _killing_defect(space: AbstractSpace, s: Sample, field: Callable[[Array], Array]) -> Residual:
    zero = jnp.zeros_like(s.y)

    def local(y: Array) -> Array:
        x = space.chart(s.x, y)
        return jax.jvp(lambda p: space.coordinates(s.x, p), (x,), (field(x),))[1]

    g, change = jax.jvp(_metric(space, s.x), (zero,), (local(zero),))
    slope = jax.jacfwd(local)(zero)
    v = field(s.x)
    return _gap(space.tangent(s.x, v), v) + _size(change + g @ slope + slope.T @ g) / (1.0 + _size(g @ slope))


def _isometries_flow(space: AbstractSpace, s: Sample) -> Residual:
    """isometries keep distances and are the flows of the Killing fields of the same names"""
    flows, fields = space.isometries(), space.killing()
    if set(flows) != set(fields):
        return jnp.asarray(jnp.inf)
    residual, end, before = jnp.zeros(()), s.far(space), space.distance(s.x, s.far(space))
    for name, flow in flows.items():
        rate = jax.jvp(lambda t, flow=flow: flow(t, s.x), (jnp.zeros(()),), (jnp.ones(()),))[1]
        after = space.distance(flow(0.3, s.x), flow(0.3, end))
        residual = jnp.maximum(residual, _gap(rate, fields[name](s.x)) + jnp.abs(after - before))
    return residual


def _mean_of_two(space: AbstractSpace, s: Sample) -> Residual:
    """the mean of two points is the middle of the geodesic that joins them"""
    end = s.far(space)
    middle = space.exp(s.x, 0.5 * s.s * s.v)
    return space.distance(space.mean(jnp.stack([s.x, end])), middle)


THEOREMS: dict[str, Callable[[AbstractSpace, Sample], Residual]] = {
    "points lie on the space": _point_on_space,
    "tangent vectors": _tangent_projection,
    "chart at its centre": _chart_centre,
    "chart and coordinates": _chart_inverse,
    "change of chart": _chart_smooth,
    "chart seen from another": _chart_changes,
    "shifted chart": _chart_shifts,
    "inner product": _inner_positive,
    "geodesics keep their speed": _geodesic_speed,
    "geodesic equation": _geodesic_straight,
    "exp and log": _log_inverse,
    "distance": _distance_length,
    "triangle inequality": _triangle,
    "transport is an isometry": _transport_isometry,
    "transport is parallel": _transport_parallel,
    "velocities of geodesics, raised covectors": _geodesic_state,
    "gradient of the distance": _gradient_of_distance,
    "killing equation": _killing_equation,
    "isometries": _isometries_flow,
    "mean": _mean_of_two,
}
