"""The unit sphere and the unit hyperboloid in formulas that stay accurate for near and for far points.

Everything here is for radius 1. Points of the sphere are unit vectors; a point of the hyperboloid is known by its
spacelike part s alone, since w = sqrt(1 + |s|^2): stored values of w carry a rounding error that boosts magnify.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces.smooth import arc, cosine, length, root, sine, versine
from holonomy.types import Number, Scalar

Ambient = Float[Array, " n"]


def dot(u: Ambient, v: Ambient) -> Scalar:
    """Euclidean inner product."""
    return jnp.sum(u * v)


def over(v: Float[Array, "*shape"], number: Number) -> Float[Array, "*shape"]:
    """v / number by one division for all components and all derivatives, and for all steps of a motion where the number
    stays the same. A processor divides as slowly as it multiplies ten times.
    """
    return v * (1.0 / jnp.asarray(number))


def wedge_dot(a: Ambient, b: Ambient, c: Ambient, d: Ambient) -> Scalar:
    r"""\((a\wedge b)\cdot(c\wedge d)\), as a sum over coordinate planes of products of determinants."""
    first = jnp.outer(a, b) - jnp.outer(b, a)
    second = first if (c is a and d is b) else jnp.outer(c, d) - jnp.outer(d, c)
    return jnp.sum(first * second) / 2.0


def unit(x: Ambient) -> Ambient:
    r"""x scaled to length 1, with an error that has no preferred sign.

    The quotient alone has one: of the numbers next to 1, those above are twice as far apart as those below, so that the
    rounded root leaves vectors too long by 5e-17 on average, and momenta of a long run drift to one side. The second
    line subtracts powers of two with sum 1 from the squares, and rounds no number near 1.
    """
    once = over(x, jnp.sqrt(dot(x, x)))
    return once - once * (0.5 * jax.lax.stop_gradient(excess(once)))


def excess(x: Ambient) -> Scalar:
    r"""\(|x|^2 - 1\) of a vector near length 1, with an error that has no preferred sign."""
    return jnp.sum(x * x - _shares(len(x)).astype(x.dtype))


def _shares(n: int) -> np.ndarray:
    """n powers of two with sum 1."""
    shares = [1.0]
    while len(shares) < n:
        half = shares.pop(0) / 2.0
        shares += [half, half]
    return np.asarray(shares)


# ── the unit sphere ───────────────────────────────────────────────────────────────────────────────────────────────


def sphere_angle(x: Ambient, y: Ambient) -> Scalar:
    r"""\(2\,\mathrm{atan2}(|x-y|, |x+y|)\): full accuracy for near and for nearly opposite points."""
    return 2.0 * jnp.arctan2(length(x - y), length(x + y))


def sphere_exp(x: Ambient, v: Ambient) -> Ambient:
    r"""\(x\cos|v| + v\,\sin|v|/|v|\)."""
    z = dot(v, v)
    return x * cosine(z, 1) + v * sine(z, 1)


def sphere_geodesic(x: Ambient, v: Ambient, t: Number) -> tuple[Ambient, Ambient]:
    r"""\(x\cos|v|t + v\,\sin(|v|t)/|v|\) and its derivative by t.

    The velocity is made orthogonal to the new point, which keeps long motions on the sphere; scaling the point to
    length 1 in every step would move the energy to one side.
    """
    # Changes are added: the product with a rounded cosine near 1 would err to the same side in every step.
    move, turn = sphere_geodesic_change(x, v, t)
    point, velocity = x + move, v + turn
    return point, velocity - dot(point, velocity) * point


def sphere_geodesic_change(x: Ambient, v: Ambient, t: Number) -> tuple[Ambient, Ambient]:
    """How point and velocity change along a geodesic in the time t."""
    square = dot(v, v)
    z = square * t * t
    fall, s = z * versine(z, 1), t * sine(z, 1)
    return v * s - x * fall, -(v * fall + x * (square * s))


def sphere_log(x: Ambient, y: Ambient) -> Ambient:
    r"""\(\theta u/|u|\) with \(u = y - (x\cdot y)x\), the inner product formed from \(x-y\) (near) or \(x+y\) (far)."""
    near = dot(x, y) > 0
    less, more = y - x, y + x
    q = dot(less, less) / 4.0
    close = arc(jnp.where(near, q, 0.0), 1) / jnp.sqrt(1.0 - jnp.where(near, q, 0.0)) * (less + 2.0 * q * x)
    u = more - dot(more, more) / 2.0 * x
    size = length(u)
    # opposite points have no direction: the answer is NaN, never a silent number
    far = sphere_angle(x, y) / jnp.where(size > 0, size, 1.0) * u
    far = jnp.where(size > 0, far, jnp.nan)
    return jnp.where(near, close, far)


def sphere_transport(x: Ambient, v: Ambient, w: Ambient) -> Ambient:
    r"""\(w - (v\cdot w)\left(\frac{1-\cos|v|}{|v|^2} v + \frac{\sin|v|}{|v|} x\right)\)."""
    z = dot(v, v)
    return w - dot(v, w) * (versine(z, 1) * v + sine(z, 1) * x)


def sphere_chart(x: Ambient, y: Float[Array, " dim"]) -> Ambient:
    r"""Stereographic: \(((1-k)x + Ey)/(1+k)\), \(k = |y|^2/4\), with \(E\) the frame `sphere_frame`; all but \(-x\)."""
    k = dot(y, y) / 4.0
    return over((1.0 - k) * x + sphere_frame(x, y), 1.0 + k)


def sphere_shifted_chart(x: Ambient, xi: Float[Array, " dim"], y: Float[Array, " dim"]) -> Ambient:
    r"""`sphere_chart` with \(p + A_\xi p\) for p, where \(A_\xi\) turns x towards \(E\xi\); linear in \(\xi\)."""
    k = dot(y, y) / 4.0
    return over((1.0 - k - dot(xi, y)) * x + sphere_frame(x, y + (1.0 - k) * xi), 1.0 + k)


def sphere_pull_shift(y: Float[Array, " dim"], covector: Float[Array, " dim"]) -> Float[Array, " dim"]:
    r"""\(((1-k)\,1 + \frac12 yy^\top)\,\pi\): the change of coordinates of a point when the chart's base point
    moves.
    """
    return (1.0 - dot(y, y) / 4.0) * covector + 0.5 * dot(y, covector) * y


def sphere_solve_shift(y: Float[Array, " dim"], covector: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """Inverse of `sphere_pull_shift`."""
    k = dot(y, y) / 4.0
    return over(covector - over(0.5 * dot(y, covector), 1.0 + k) * y, 1.0 - k)


def sphere_coordinates(x: Ambient, p: Ambient) -> Float[Array, " dim"]:
    """Inverse of `sphere_chart`."""
    more = x + p
    return 4.0 / dot(more, more) * sphere_coframe(x, p - x)


def sphere_rechart(x: Ambient, y: Float[Array, " dim"], z: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """Coordinates, from x, of the point with coordinates z from `sphere_chart(x, y)`: a turn, then addition."""
    return _stereographic_sum(y, _sphere_turn(x, y, z, back=False))


def sphere_transition(x: Ambient, y: Float[Array, " dim"], z: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """Inverse of `sphere_rechart` in z."""
    return _sphere_turn(x, y, _stereographic_sum(-y, z), back=True)


def _stereographic_sum(y: Float[Array, " dim"], z: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """The point that has coordinates z seen from the one with coordinates y, in frames carried along geodesics."""
    k, j, both = dot(y, y) / 4.0, dot(z, z) / 4.0, dot(y, z) / 2.0
    return over((1.0 - both - j) * y + (1.0 + k) * z, 1.0 - both + k * j)


def _sphere_turn(x: Ambient, y: Float[Array, " dim"], z: Float[Array, " dim"], back: bool) -> Float[Array, " dim"]:
    """z in the frame at `sphere_chart(x, y)`, as components in the frame at x carried there, or the reverse."""
    end = sphere_chart(x, y)
    first, last = (x, end) if back else (end, x)
    v = sphere_frame(first, z)
    both = x + end
    # a reflection whatever the rounding of the two points, so that it keeps lengths
    return sphere_coframe(last, v - (2.0 * dot(both, v) / dot(both, both)) * both)


def _mirror(x: Ambient) -> tuple[Ambient, Scalar]:
    # The reflection that carries the last axis, with the sign away from x, to x; never a division by a small number.
    # Divided by |u|² and not by its value for |x| = 1, it is orthogonal whatever the rounding of x: the frames of a
    # long run would otherwise stretch momenta always in the same direction.
    sign = jnp.where(x[-1] >= 0, 1.0, -1.0)
    u = jnp.append(x[:-1], x[-1] + sign)
    return u, 2.0 / dot(u, u)


def sphere_frame(x: Ambient, y: Float[Array, " dim"]) -> Ambient:
    """An orthonormal frame of the tangent space at x applied to y: the first columns of a reflection."""
    u, factor = _mirror(x)
    return jnp.append(y, 0.0) - u * (factor * dot(u[:-1], y))


def sphere_coframe(x: Ambient, v: Ambient) -> Float[Array, " dim"]:
    """Components of the tangent part of v in `sphere_frame`."""
    u, factor = _mirror(x)
    return v[:-1] - u[:-1] * (factor * dot(u, v))


# ── the unit hyperboloid, by spacelike parts ──────────────────────────────────────────────────────────────────────


def height(s: Ambient) -> Scalar:
    r"""The timelike coordinate \(w = \sqrt{1+|s|^2}\)."""
    return jnp.sqrt(1.0 + dot(s, s))


def hyper_inner(s: Ambient, u: Ambient, v: Ambient) -> Scalar:
    r"""\(\langle u,v\rangle_M\) of tangent vectors by spacelike parts:
    \((u\cdot v + (s\wedge u)\cdot(s\wedge v))/w^2\).

    The difference \(u\cdot v - u_w v_w\) would lose all digits far from the origin.
    """
    return over(dot(u, v) + wedge_dot(s, u, s, v), 1.0 + dot(s, s))


def hyper_chord(s: Ambient, t: Ambient) -> Scalar:
    r"""\(\sinh^2(d/2)\) as sums of terms of one sign: no cancellation, near or far, at the origin or away from it.

    From \(4\sinh^2(d/2) = |s-t|^2 - (w_s-w_t)^2\) one gets
    \(\sinh^2(d/2) = \frac{|s-t|^2 + |s\wedge t|^2}{2(1 + w_s w_t + s\cdot t)}\), for points on the same side of the
    origin; for the others \((w_s w_t - 1 - s\cdot t)/2\) with \(w - 1 = |s|^2/(1+w)\).
    """
    ws, wt, inner = height(s), height(t), dot(s, t)
    same = inner > 0
    difference = s - t
    # s ^ t from the difference and the shorter of the two: no cancellation for near points nor for unlike lengths
    short = jnp.where(dot(s, s) < dot(t, t), s, t)
    near = (dot(difference, difference) + wedge_dot(difference, short, difference, short)) / (
        2.0 * (1.0 + ws * wt + jnp.where(same, inner, 0.0))
    )
    # |s|²/(1 + w), with the quotient first: the derivative of the other has cubes, which overflow from R = 236 on
    rise, lift = dot(s, over(s, 1.0 + ws)), dot(t, over(t, 1.0 + wt))
    return jnp.where(same, near, (rise * lift + rise + lift - inner) / 2.0)


def hyper_distance(s: Ambient, t: Ambient) -> Scalar:
    r"""\(2\,\mathrm{arsinh}\sqrt{\sinh^2(d/2)}\)."""
    return 2.0 * jnp.arcsinh(root(hyper_chord(s, t)))


def hyper_exp(s: Ambient, v: Ambient) -> Ambient:
    r"""\(s\cosh|v| + v\,\sinh|v|/|v|\), spacelike parts."""
    z = hyper_inner(s, v, v)
    return s * cosine(z, -1) + v * sine(z, -1)


def hyper_geodesic(s: Ambient, v: Ambient, t: Number) -> tuple[Ambient, Ambient]:
    r"""\(s\cosh|v|t + v\,\sinh(|v|t)/|v|\) and its derivative by t, spacelike parts."""
    move, turn = hyper_geodesic_change(s, v, t)
    return s + move, v + turn


def hyper_geodesic_change(s: Ambient, v: Ambient, t: Number) -> tuple[Ambient, Ambient]:
    """How point and velocity change along a geodesic in the time t, spacelike parts."""
    square = hyper_inner(s, v, v)
    z = square * t * t
    rise, sh = z * versine(z, -1), t * sine(z, -1)
    return s * rise + v * sh, v * rise + s * (square * sh)


def hyper_sharp(s: Ambient, covector: Ambient) -> Ambient:
    r"""\(\alpha + s\,(s\cdot\alpha)\): the vector of a covector \(\alpha\) of the coordinates s, whose metric is
    \(1 - ss^\top/w^2\).
    """
    return covector + s * dot(s, covector)


def hyper_log(s: Ambient, t: Ambient) -> Ambient:
    r"""\(\frac{d}{\sinh d}\,(t - s\cosh d)\), spacelike part."""
    q = hyper_chord(s, t)
    return arc(q, -1) / jnp.sqrt(1.0 + q) * ((t - s) - 2.0 * q * s)


def hyper_transport(s: Ambient, v: Ambient, w: Ambient) -> Ambient:
    r"""\(w + \langle v,w\rangle\left(\frac{\cosh|v|-1}{|v|^2} v + \frac{\sinh|v|}{|v|} x\right)\), spacelike part."""
    z = hyper_inner(s, v, v)
    return w + hyper_inner(s, v, w) * (versine(z, -1) * v + sine(z, -1) * s)


def hyper_frame(s: Ambient, y: Ambient) -> Ambient:
    r"""The boost from the origin to the point, applied to \((y, 0)\): \(y + s\,(s\cdot y)/(1+w)\); orthonormal."""
    return y + hyper_half(s) * dot(s, y)


def hyper_chart(s: Ambient, y: Ambient) -> Ambient:
    r"""\(x\sqrt{1+|y|^2} + Ey\), \(E\) the frame: the whole space, for y in the whole of \(R^n\)."""
    return s * jnp.sqrt(1.0 + dot(y, y)) + hyper_frame(s, y)


def hyper_shifted_chart(s: Ambient, xi: Ambient, y: Ambient) -> Ambient:
    r"""`hyper_chart` with \(p + A_\xi p\) for p, where \(A_\xi\) boosts x towards \(E\xi\); linear in \(\xi\)."""
    w = height(y)
    return s * (w + dot(xi, y)) + hyper_frame(s, y + w * xi)


def hyper_turn(s: Ambient, y: Ambient, z: Ambient, back: bool) -> Ambient:
    r"""z turned by the rotation that the boosts to s and then to y leave over (Wigner's), or turned back.

    In Clifford's algebra half a boost is \(1 + a\) with \(a = s/(1+w)\), so the rotation is that of the rotor
    \(1 + a\cdot b + a\wedge b\): all terms of order one, however far out s is.
    """
    return half_turn(hyper_half(s), hyper_half(y), z, back)


def hyper_half(s: Ambient) -> Ambient:
    r"""\(s/(1+w)\), of length \(\tanh(R/2)\): the point as a vector of half its rapidity."""
    return over(s, 1.0 + height(s))


def half_turn(a: Ambient, b: Ambient, z: Ambient, back: bool) -> Ambient:
    """`hyper_turn` by the half rapidities a and b of the two boosts, which are of order one at any distance."""
    return z + half_turn_less_one(a, b, z, back)


def half_turn_less_one(a: Ambient, b: Ambient, z: Ambient, back: bool) -> Ambient:
    """What `half_turn` adds to z."""
    c = 1.0 + dot(a, b)
    plane = dot(a, a) * dot(b, b) - dot(a, b) ** 2

    def wedge(u: Ambient) -> Ambient:
        return a * dot(b, u) - b * dot(a, u)

    once = wedge(z)
    return over(2.0 * (wedge(once) + (c if back else -c) * once), c * c + plane)


def hyper_rechart(s: Ambient, y: Ambient, z: Ambient) -> Ambient:
    """Coordinates, from s, of the point with coordinates z from `hyper_chart(s, y)`: a turn and a boost to y."""
    return hyper_chart(y, hyper_turn(s, y, z, back=False))


def hyper_transition(s: Ambient, y: Ambient, z: Ambient) -> Ambient:
    """Coordinates, from `hyper_chart(s, y)`, of the point with coordinates z from s; inverse of `hyper_rechart`."""
    return hyper_turn(s, y, hyper_coordinates(y, z), back=True)


def hyper_coordinates(s: Ambient, t: Ambient) -> Ambient:
    """Inverse of `hyper_chart`: the boost back to the origin, applied to the difference of the points."""
    ws, wt = height(s), height(t)
    step = t - s
    rise = over(dot(step, s + t), ws + wt)
    return step + s * (over(dot(s, step), 1.0 + ws) - rise)


# ── boosts far out, by the vector of direction and rapidity ───────────────────────────────────────────────────────


def rapidity_half(rho: Ambient) -> Ambient:
    r"""`hyper_half` of the point at distance \(|\rho|\) in the direction of \(\rho\)."""
    z = dot(rho, rho) / 4.0
    return 0.5 * rho * sine(z, -1) / cosine(z, -1)


def rapidity_chart(rho: Ambient, y: Ambient) -> Ambient:
    r"""`hyper_chart` between vectors of direction and rapidity: \(\rho'\) of the point with coordinates y seen from
    that of \(\rho\).

    Spacelike parts are divided by \(e^R\), so that nothing grows, and \(R' = R + \log(\ldots)\) keeps all its digits.
    """
    scale = jax.lax.stop_gradient(length(rho))  # any other number would give the same result
    less = jnp.exp(-scale)
    s = rho * sine(dot(rho, rho), -1) * less
    end = s * (height(y) + dot(rapidity_half(rho), y)) + less * y
    square = dot(end, end)
    # near the origin the direction comes from a quotient without root; elsewhere the logarithm is as accurate
    far = (scale > 1.0) | (square > less * less)
    away = jnp.where(far, square, 1.0)
    size = scale + jnp.log(jnp.sqrt(away) + jnp.sqrt(away + less * less))
    near = jnp.where(far, 0.0, square / jnp.where(far, 1.0, less * less))
    return end * jnp.where(far, size / jnp.sqrt(away), arc(near, -1) / jnp.where(far, 1.0, less))
