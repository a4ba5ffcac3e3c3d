r"""The spaces of the lab in NumPy: where a body starts, how fast, and the geodesics between its vertices.

Points are those of the library's spaces, rows of an array: \(R^n\); vectors of length R in \(R^{n+1}\) for the sphere;
the hyperboloid \((s, w)\), time last; for \(H^2\times E\) a point of the hyperboloid and a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from jaxtyping import Float

Kind = Literal["flat", "sphere", "hyperbolic", "product", "inhomogeneous"]
Rows = Float[np.ndarray, "rows columns"]
Numbers = Float[np.ndarray, " rows"]

_NEAR: Final = 1e-6
"""Angles below which a geodesic is a straight line of the surrounding space, to round-off of a picture."""
_FARTHEST: Final = 300.0
"""Radii from the origin beyond which a boost is drawn as this one: all such points lie on the boundary."""


@dataclass(frozen=True)
class Geometry:
    """One space: its kind, dimension and radius of curvature, and in coordinate spaces where bodies start."""

    kind: Kind
    dim: int
    radius: float = 1.0
    first: float = 0.0
    """The first coordinate of the place where bodies start, in flat and in inhomogeneous space."""

    @property
    def point_dim(self) -> int:
        """The length of the array that holds one point."""
        return self.dim + (0 if self.kind in ("flat", "inhomogeneous") else 1)

    @property
    def hyperbolic(self) -> int:
        """The dimension of the hyperbolic space of which the points have a part; 0 where there is none."""
        return {"hyperbolic": self.dim, "product": 2}.get(self.kind, 0)

    # ── Where a body starts ───────────────────────────────────────────────────────────────────────

    def frame(self, central: bool) -> tuple[np.ndarray, Rows]:
        """A point where a body starts, and an orthonormal basis there, as rows; `central` at the origin.

        Bodies on a sphere start on its equator, so that a translation keeps them away from the point at which the
        stereographic projection is infinite.
        """
        basis = np.eye(self.point_dim)[: self.dim]
        centre = np.zeros(self.point_dim)
        if self.kind in ("flat", "inhomogeneous") and not central:
            centre[0] = self.first
        elif self.kind == "sphere" and not central:
            centre[0] = self.radius
            basis = np.eye(self.dim + 1)[[1, self.dim, 2][: self.dim]]
        elif self.kind in ("sphere", "hyperbolic"):
            centre[-1] = self.radius
        elif self.kind == "product":
            centre[2] = self.radius
            basis = np.eye(4)[[0, 1, 3]]
        return centre, basis

    def placed(self, shape: Rows, central: bool = False) -> Rows:
        r"""The points \(\exp_c(y_i)\) of a shape in the tangent space at the point c where bodies start."""
        centre, basis = self.frame(central)
        if self.kind == "product":
            plane = Geometry("hyperbolic", 2, self.radius).placed(shape[:, :2])
            return np.concatenate([plane, shape[:, 2:]], axis=1)
        tangent = shape @ basis
        if self.kind in ("flat", "inhomogeneous"):
            return centre + tangent
        angle = np.linalg.norm(shape, axis=1, keepdims=True) / self.radius
        cosine, sine = (np.cos, np.sin) if self.kind == "sphere" else (np.cosh, np.sinh)
        ratio = np.where(angle > 0.0, sine(angle) / np.where(angle > 0.0, angle, 1.0), 1.0)
        return cosine(angle) * centre + ratio * tangent

    def outward(self, shape: Rows) -> Rows:
        r"""The velocities, after unit time, of the geodesics that leave the origin with the velocities \(y_i\)."""
        origin, basis = self.frame(central=True)
        tangent = shape @ basis
        if self.kind == "flat":
            return tangent
        angle = np.linalg.norm(shape, axis=1, keepdims=True) / self.radius
        cosine, sine = (np.cos, np.sin) if self.kind == "sphere" else (np.cosh, np.sinh)
        sign = -1.0 if self.kind == "sphere" else 1.0
        return cosine(angle) * tangent + sign * angle * sine(angle) * origin

    def moving(self, points: Rows, translation: np.ndarray, rotation: np.ndarray, central: bool = False) -> Rows:
        """The velocities of a Killing field at points: of the translation along the basis, and of the rotation.

        `translation`, a velocity at the point where bodies start; `rotation`, angular velocities about the third and
        the first vector of the basis. The inhomogeneous space has rotations only; there a translation is a velocity
        that leaves the distance between mirror images in the first axis as it is.
        """
        centre, basis = self.frame(central)
        about = [(0, 1, rotation[0])] + ([(1, 2, rotation[1])] if self.dim == 3 else [])
        turning = sum(
            (rate * (np.outer(basis[i], basis[j]) - np.outer(basis[j], basis[i])) for i, j, rate in about),
            np.zeros((self.point_dim, self.point_dim)),
        )
        push = translation[: self.dim] @ basis
        if self.kind == "flat":
            return push + (points - centre) @ turning
        if self.kind == "inhomogeneous":
            return points @ turning + _parallel(points, float(translation[0]))
        if self.kind == "product":
            flat = np.outer(np.ones(len(points)), push * [0.0, 0.0, 0.0, 1.0])
            push = push * [1.0, 1.0, 0.0, 0.0]
            return points @ (turning + _carrying(centre, push, 1.0) / self.radius**2) + flat
        sign = -1.0 if self.kind == "sphere" else 1.0
        return points @ (turning + _carrying(centre, push, sign) / self.radius**2)

    # ── Distances and geodesics ───────────────────────────────────────────────────────────────────

    def distance(self, x: Rows, y: Rows) -> Numbers:
        """The distances of points, row by row."""
        angle = self._angle(x, y)
        match self.kind:
            case "flat":
                return np.linalg.norm(y - x, axis=1)
            case "product":
                return np.hypot(self.radius * angle, y[:, 3] - x[:, 3])
            case "inhomogeneous":
                half = np.sum(x * y, axis=1) / 2.0
                return angle + np.sinh(angle) * (_root(x, y) + half)
            case _:
                return self.radius * angle

    def arcs(self, x: Rows, y: Rows, count: int) -> Float[np.ndarray, "rows count columns"]:
        r"""`count` points of the geodesic from each x to its y, ends included.

        In all these spaces they lie in the plane of x and y: \((s((1-t)\delta)\,x + s(t\delta)\,y)/s(\delta)\) with s
        the sine, the hyperbolic sine or the identity. The points of the inhomogeneous space are not at equal distances.
        """
        t = np.linspace(0.0, 1.0, count)[None, :]
        angle = self._angle(x, y)[:, None]
        sine = np.sin if self.kind == "sphere" else np.sinh
        near = angle < _NEAR
        whole = np.where(near, 1.0, angle)
        first = np.where(near, 1.0 - t, sine((1.0 - t) * whole) / sine(whole))[..., None]
        second = np.where(near, t, sine(t * whole) / sine(whole))[..., None]
        found = first * x[:, None] + second * y[:, None]
        if self.kind == "product":
            found[..., 3] = (1.0 - t) * x[:, None, 3] + t * y[:, None, 3]
        return found

    def _angle(self, x: Rows, y: Rows) -> Numbers:
        """The parameter of the geodesic from x to y in the plane of both; 0 in flat space."""
        match self.kind:
            case "flat":
                return np.zeros(len(x))
            case "sphere":
                return 2.0 * np.arctan2(np.linalg.norm(x - y, axis=1), np.linalg.norm(x + y, axis=1))
            case "inhomogeneous":
                half = np.sum(x * y, axis=1) / 2.0
                apart = np.sum((x - y) ** 2, axis=1)
                far, root = half < -0.5, _root(x, y)
                chord = np.where(
                    far, (root - 1.0 - half) / 2.0, apart / (4.0 * (1.0 + np.where(far, 0.0, half) + root))
                )
                return 2.0 * np.arcsinh(np.sqrt(chord))
            case _:
                n = self.hyperbolic
                d = (y - x)[:, : n + 1]
                square = np.sum(d[:, :n] ** 2, axis=1) - d[:, n] ** 2
                return 2.0 * np.arcsinh(0.5 * np.sqrt(np.maximum(square, 0.0)) / self.radius)

    # ── Points that an isometry carries ───────────────────────────────────────────────────────────

    def carried(self, points: Rows, rapidity: np.ndarray, back: bool = False) -> Rows:
        r"""Points moved by the boost along \(\rho\), or `back` by its inverse."""
        n = self.hyperbolic
        moved = points.copy()
        moved[:, : n + 1] = points[:, : n + 1] @ _boost(-rapidity if back else rapidity, self.radius).T
        return moved

    def centred(self, points: Rows, rapidity: np.ndarray, count: int) -> Rows:
        r"""The points with the centre of the first `count` at the origin, moved by the isometry along the line to it.

        On a sphere the origin is here the place where bodies start, so that the picture of a body that is translated
        does not turn.

        In hyperbolic space the points are carried by the boost \(\rho\), and the picture must not depend on how a
        configuration is written as a boost and points near the origin: with c the centre and
        \(B_\rho B_c = B_{\rho'}W\), it shows \(W B_c^{-1}x\). In the inhomogeneous space, which has no such isometry,
        coordinates are relative to their mean.
        """
        found = points.copy()
        if self.kind == "sphere":
            start, basis = self.frame(central=False)
            centre = points[:count].sum(axis=0)
            size = float(np.linalg.norm(centre))
            turned = points @ _turn(centre / size, start / self.radius).T if size > 0.0 else found
            return turned @ np.concatenate([basis, start[None] / self.radius]).T
        n = self.hyperbolic
        if n:
            total = points[:count, : n + 1].sum(axis=0)
            centre = total[:n] / np.sqrt(total[n] ** 2 - total[:n] @ total[:n])
            size = float(np.linalg.norm(centre))
            if size > 0.0:
                back = self.radius * np.arcsinh(size) / size * centre
                found = self.carried(points, back, back=True)
                found[:, :n] = found[:, :n] @ _wigner(rapidity / self.radius, back / self.radius).T
        flat = slice(n + 1 if n else 0, None)
        found[:, flat] -= points[:count, flat].mean(axis=0)
        return found

    def nearest(self, points: Rows, rates: Rows) -> tuple[Rows, Rows]:
        """Points and velocities that satisfy the equations of the space, near those given, to round-off."""
        points, rates = points.copy(), rates.copy()
        if self.kind == "sphere":
            points *= self.radius / np.linalg.norm(points, axis=1, keepdims=True)
            rates -= np.sum(points * rates, axis=1, keepdims=True) * points / self.radius**2
        n = self.hyperbolic
        if n:
            points[:, n] = np.sqrt(self.radius**2 + np.sum(points[:, :n] ** 2, axis=1))
            rates[:, n] = np.sum(points[:, :n] * rates[:, :n], axis=1) / points[:, n]
        return points, rates


def _carrying(centre: np.ndarray, push: np.ndarray, sign: float) -> np.ndarray:
    """The matrix, for rows, of the field that moves the centre along `push`, times the square of the radius."""
    return np.outer(centre, push) + sign * np.outer(push, centre)


def _parallel(points: Rows, speed: float) -> Rows:
    r"""Velocities along the first axis of the inhomogeneous space that keep mirror images at their distance.

    For points (x, ±y) that distance is \(F(|x|+y) - F(|x|-y)\) with \(F'(c) = \sqrt{c^2+2}\), so that y must grow
    at the rate \(-\dot{|x|}\,(F'(|x|+y) - F'(|x|-y))/(F'(|x|+y) + F'(|x|-y))\).
    """
    ahead = np.abs(points[:, 0])
    across = np.linalg.norm(points[:, 1:], axis=1)
    outer, inner = np.sqrt((ahead + across) ** 2 + 2.0), np.sqrt((ahead - across) ** 2 + 2.0)
    rate = -speed * np.sign(points[:, 0]) * (outer - inner) / (outer + inner)
    found = np.zeros_like(points)
    found[:, 0] = speed
    found[:, 1:] = points[:, 1:] * (rate / np.where(across > 0.0, across, 1.0))[:, None]
    return found


def _root(x: Rows, y: Rows) -> Numbers:
    squares = np.sum(x * x, axis=1) + np.sum(y * y, axis=1)
    return np.sqrt(1.0 + squares / 2.0 + np.sum(x * y, axis=1) ** 2 / 4.0)


def _boost(rapidity: np.ndarray, radius: float) -> np.ndarray:
    n = len(rapidity)
    size = float(np.linalg.norm(rapidity)) / radius
    found = np.eye(n + 1)
    if size > 0.0:
        along = rapidity / np.linalg.norm(rapidity)
        size = min(size, _FARTHEST)
        found[:n, :n] += (np.cosh(size) - 1.0) * np.outer(along, along)
        found[:n, n] = found[n, :n] = np.sinh(size) * along
        found[n, n] = np.cosh(size)
    return found


def _turn(unit: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The rotation in the plane of two unit vectors that takes the first to the second."""
    half = unit + axis
    square = float(half @ half)
    if square < 1e-24:
        return -np.eye(len(unit))
    # twice reflected: first the vector to minus the axis, then that to the axis
    swap = np.eye(len(unit)) - 2.0 * np.outer(half, half) / square
    return (np.eye(len(unit)) - 2.0 * np.outer(axis, axis)) @ swap


def _wigner(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    r"""The rotation W of \(B_aB_b = B_cW\) for boosts along a and b in units of the radius.

    In \(SL(2, C)\) the product is \((A_0 + A\cdot\sigma)(B_0 + B\cdot\sigma)\) with \(A_0 = \cosh\frac{|a|}2\); its
    unitary part has the quaternion \((A_0B_0 + A\cdot B, A\times B)\), here divided by \(A_0\), which may be large.
    """
    n = len(first)
    a, b = (np.concatenate([x, np.zeros(3 - n)]) for x in (first, second))
    size, other = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size == 0.0 or other == 0.0:
        return np.eye(n)
    a, b = np.tanh(size / 2.0) * a / size, np.sinh(other / 2.0) * b / other
    real, cross = np.cosh(other / 2.0) + a @ b, np.cross(a, b)
    u = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    turn = np.eye(3) - 2.0 * (real * u - u @ u) / (real * real + cross @ cross)
    return turn[:n, :n]
