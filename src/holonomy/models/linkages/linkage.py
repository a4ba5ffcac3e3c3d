"""Chains of unit rods with both ends pinned, whose configurations form a sphere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.models.linkages import forces, geodesics, integrals, routes, sphere_map
from holonomy.models.linkages import geodesic_flow as linkage_flow
from holonomy.models.linkages import topology as linkage_topology
from holonomy.models.linkages.compiled import call, many
from holonomy.models.linkages.curvature import LinkageCurvature, fields, forms
from holonomy.models.linkages.geodesics import Closed, Motion
from holonomy.models.linkages.mass import Masses, masses
from holonomy.models.linkages.surface import Forms, Hinges, Point, Surface, Vector, sphere_point, tangent
from holonomy.spaces import Sphere, validation
from holonomy.spaces.smooth import root
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import ArrayLike, Number, Numbers, Scalar, VectorLike

Angles = Float[Array, " dim"]


class Linkage(eqx.Module):
    r"""A chain of n unit rods in the plane with its ends pinned at (0, 0) and (L, 0), n - 2 < L < n.

    Its configurations are the points of the round sphere \(S^{n-2} \subset R^{n-1}\): `hinges(x)` is smooth and one to
    one, `from_hinges` its inverse; `from_angles` and `to_angles` are
    \(x = (\sin\varphi_1, \cos\varphi_1\sin\varphi_2, ..., \prod\cos\varphi_i\sin t, \prod\cos\varphi_i\cos t)\). The
    kinetic energy of moving hinges and rods is a metric on that sphere; the motions without forces are its geodesics.
    The reflection in the base line is \(x \mapsto -x\).

    **Arguments:** `rods`, n of at least 3; `base`, L; `rod_mass`, masses of uniform rods, one number or one per rod;
    `hinge_mass`, one number or one per moving hinge; `rod_moments`, for rods that are not uniform the pair of
    \(\int s\,dm\) and \(\int s^2\,dm\), s from 0 to 1 along each rod in the order of the chain.

    A linkage is a PyTree with base and masses as leaves: others never compile again, and derivatives and batches over
    them work. Outside of n - 2 < L < n there is no such sphere: `topology` says what there is, the methods that need
    the sphere refuse, `system("rods")` moves it all the same.
    """

    rods: int = eqx.field(static=True)
    base: Float[Array, ""]
    masses: Masses

    def __init__(
        self,
        rods: int = 4,
        base: Number = 3.0,
        rod_mass: Numbers = 0.0,
        hinge_mass: Numbers = 1.0,
        *,
        rod_moments: Sequence[Numbers] | None = None,
    ):
        if not validation.is_count(rods) or rods < 3:
            raise ValueError(f"A linkage needs at least 3 rods, or nothing can move; got rods={rods!r}.")
        self.rods = int(rods)
        length = number("base", base)
        if length.ndim != 0:
            raise ValueError(f"base is one number, the distance of the pinned ends; got shape {tuple(length.shape)}.")
        if not isinstance(length, Tracer) and not 0 < length < rods:
            if length <= 0:
                raise ValueError(f"base is the distance of the pinned ends, greater than 0; got {float(length):g}.")
            raise ValueError(
                f"base={float(length):g} is too long for {rods} unit rods: the space of configurations is "
                f"{linkage_topology.describe(self.rods, float(length))}. Pass a base below {rods}."
            )
        self.base = jnp.asarray(length, float)
        self.masses = masses(self.rods, rod_mass, hinge_mass, rod_moments)

    # ── Configurations ────────────────────────────────────────────────────────────────────────────────

    @property
    def dim(self) -> int:
        """The dimension of the space of configurations, n - 2."""
        return self.rods - 2

    @property
    def space(self) -> Sphere:
        """The round sphere whose points name the configurations."""
        return Sphere(self.rods - 2)

    @property
    def topology(self) -> str:
        """What the space of configurations is, as far as it is known; see `holonomy.models.linkages.topology`."""
        return linkage_topology.describe(self.rods, float(self.base))

    @property
    def surface(self) -> Surface:
        """Map and masses without checks, for code that is being traced."""
        self._require_sphere()
        return Surface(self.rods, self.base, self.masses)

    def from_angles(self, angles: VectorLike) -> Point:
        """The point of the sphere with these n - 2 angles, the last one t."""
        return jnp.stack(sphere_map.from_angles(list(self._angles(angles))))

    def to_angles(self, x: VectorLike) -> Angles:
        r"""Angles of a point: \(\varphi_i \in [-\pi/2, \pi/2]\), \(t \in [0, 2\pi)\), and t = 0 at the poles."""
        x = sphere_point(x, self.rods)
        c = sphere_map.tails(list(x))
        outer = [jnp.arctan2(x[i], root(c[i + 1])) for i in range(self.rods - 3)]
        empty = c[self.rods - 3] == 0
        t = jnp.arctan2(x[-2], jnp.where(empty, 1.0, x[-1]))
        # a tiny negative angle would be rounded up to 2 pi
        turned = t + 2.0 * jnp.pi
        t = jnp.where(t < 0, jnp.where(turned < 2.0 * jnp.pi, turned, 0.0), t)
        return jnp.stack([*outer, t])

    def hinges(self, x: VectorLike) -> Hinges:
        """Where the moving hinges are, from the origin on: (n - 1, 2)."""
        return call(_hinges, self.surface, sphere_point(x, self.rods))

    def from_hinges(self, hinges: ArrayLike) -> Point:
        """The point of the sphere with these hinges, (n - 1, 2); refused where the rods do not have length 1."""
        h = validation.as_array(hinges)
        if h.shape != (self.rods - 1, 2):
            raise ValueError(
                f"hinges has shape {h.shape}, but {self.rods} rods have {self.rods - 1} moving hinges in the plane: "
                f"pass an array of shape ({self.rods - 1}, 2), without the pinned ends."
            )
        if known(h, self):
            self._refuse_open(np.asarray(h))
        return call(_point, self.surface, h)

    def push(self, x: VectorLike, v: VectorLike) -> Hinges:
        """The hinges' velocities (n - 1, 2) of the configuration x that moves with v."""
        x = sphere_point(x, self.rods)
        return call(_push, self.surface, x, tangent(x, v))

    def pull(self, hinges: ArrayLike, velocities: ArrayLike) -> tuple[Point, Vector]:
        """Point and velocity on the sphere of hinges and their velocities, both (n - 1, 2); inverse of `push`."""
        self.from_hinges(hinges)
        h, w = validation.as_array(hinges), validation.as_array(velocities)
        if w.shape != h.shape:
            raise ValueError(f"velocities has shape {w.shape}, but must have one row per hinge, shape {h.shape}.")
        return call(_pull, self.surface, h, w)

    # ── Kinetic metric and bending ────────────────────────────────────────────────────────────────────

    def metric(self, angles: VectorLike) -> Float[Array, "dim dim"]:
        """The kinetic metric in the angles; degenerate at poles, where the angles are."""
        return call(_metric, self.surface, self._angles(angles))

    def inner(self, x: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        r"""The kinetic metric \(\sum_{ij}M_{ij}\,\dot p_i\cdot\dot p'_j\) of two tangent vectors."""
        x = sphere_point(x, self.rods)
        return call(_inner, self.surface, x, tangent(x, u, "u"), tangent(x, v))

    def energy(self, x: VectorLike, v: VectorLike) -> Scalar:
        """The kinetic energy, half the square of the speed in the kinetic metric."""
        return 0.5 * self.inner(x, v, v)

    def frame(self, x: VectorLike) -> Float[Array, "ambient dim"]:
        """Tangent vectors at x, as columns, orthonormal in the kinetic metric."""
        return self._forms(x).frame

    def second(self, x: VectorLike) -> Float[Array, "dim dim hinges 2"]:
        """The second fundamental form in `frame(x)`: what is normal in the hinges' accelerations."""
        return self._forms(x).second.reshape(self.dim, self.dim, -1, 2)

    def bending(self, x: VectorLike, u: VectorLike, v: VectorLike) -> Hinges:
        r"""II(u, v), an acceleration of the hinges. \(M\,II(v, v)\) is the force of the rods on a free motion."""
        x = sphere_point(x, self.rods)
        return self._forms(x).bending(tangent(x, u, "u"), tangent(x, v)).reshape(-1, 2)

    def total_bending(self, x: VectorLike) -> Scalar:
        r"""\(|II|^2 = \sum_{ab}|II(e_a, e_b)|_M^2\) over an orthonormal frame."""
        return jnp.einsum("abab->", self._forms(x).products())

    def mean(self, x: VectorLike) -> Hinges:
        r"""The mean curvature vector \(\frac1{n-2}\sum_a II(e_a, e_a)\)."""
        return jnp.einsum("aahc->hc", self.second(x)) / self.dim

    @property
    def curvature(self) -> LinkageCurvature:
        """Curvature at points of the sphere by Gauss's equation, as `hl.geometry.curvature`."""
        return LinkageCurvature(self.surface, False)

    @property
    def intrinsic_curvature(self) -> LinkageCurvature:
        """The same from the kinetic metric alone: slower, and independent of the second fundamental form."""
        return LinkageCurvature(self.surface, True)

    def fields(self, points: ArrayLike) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
        """K and |II|² at every row of an array of points (k, n - 1), spread over the cores.

        With other than four rods the scalar curvature takes the place of K. Rows are taken as points of the sphere
        without a check.
        """
        rows = validation.as_array(points)
        if rows.ndim != 2 or rows.shape[1] != self.rods - 1 or rows.shape[0] == 0:
            raise ValueError(f"points must be rows of the sphere, shape (k, {self.rods - 1}); got {rows.shape}.")
        return many(fields, self.surface, rows)

    # ── Motion ────────────────────────────────────────────────────────────────────────────────────────

    def system(
        self,
        route: str = "sphere",
        *,
        gravity: Number | None = None,
        potential: Callable[[Hinges], Number] | None = None,
    ) -> System:
        """The moving linkage as a `System`; its positions are the hinges, whatever the route.

        **Arguments:** `route`, ``"sphere"`` (q a point of the sphere, no poles), ``"chart"`` (q the angles),
        ``"embedding"`` and ``"rods"`` (q the hinges one after the other, 2(n - 1) numbers); see
        `holonomy.models.linkages.routes` and `state`. `gravity`, towards -y, a parameter of the system if given;
        `potential`, a function of the hinges (n - 1, 2). Parameters: `base`, `hinge_mass`, `rod_mass`,
        `rod_first_moment`, `rod_second_moment`, `gravity`.
        """
        if route not in routes.ROUTES:
            raise ValueError(f"route is one of {', '.join(map(repr, routes.ROUTES))}; got {route!r}.")
        if route != "rods":
            self._require_sphere()
        return routes.build(Surface(self.rods, self.base, self.masses), route, gravity, potential)

    def state(self, route: str, x: VectorLike, v: VectorLike) -> tuple[Float[Array, " q"], Float[Array, " q"]]:
        """A point and velocity of the sphere as q and v of `system(route)`."""
        x = sphere_point(x, self.rods)
        v = tangent(x, v)
        if route == "sphere":
            return x, v
        if route == "chart":
            return jax.jvp(self.to_angles, (x,), (v,))
        return self.hinges(x).reshape(-1), self.push(x, v).reshape(-1)

    def geodesic(self, x: VectorLike, v: VectorLike, s: Numbers) -> Float[Array, "*times ambient"]:
        """The free motion from x with velocity v at a time or an array of times: points of the sphere."""
        return self.geodesic_flow(x, v, s)[0]

    def geodesic_flow(
        self, x: VectorLike, v: VectorLike, s: Numbers
    ) -> tuple[Float[Array, "*times ambient"], Float[Array, "*times ambient"]]:
        """Points and velocities of the free motion; to round-off, through poles and straight elbows."""
        x = sphere_point(x, self.rods)
        return linkage_flow.flow(self.surface, x, tangent(x, v), s)

    def jacobi(
        self, x: VectorLike, v: VectorLike, j0: VectorLike, dj0: VectorLike, s: VectorLike
    ) -> tuple[Float[Array, "times ambient"], Float[Array, "times ambient"]]:
        r"""The Jacobi field J with \(J(0)\) = `j0`, \(\nabla J(0)\) = `dj0`, and \(\nabla J\), at times s."""
        x = sphere_point(x, self.rods)
        v, j0, dj0 = tangent(x, v), tangent(x, j0, "j0"), tangent(x, dj0, "dj0")
        return geodesics.jacobi(self.surface, x, v, j0, dj0, s)

    def conjugate_points(self, x: VectorLike, v: VectorLike, s_max: float, *, samples: int = 128) -> np.ndarray:
        """Times in (0, s_max] at which neighbouring geodesics from x meet again, to first order.

        Found by changes of sign between `samples` times, so those of odd multiplicity: with four rods all of them.
        """
        x = sphere_point(x, self.rods)
        return geodesics.conjugate_points(self.surface, x, tangent(x, v), float(s_max), samples)

    def shortest(self, x: VectorLike, y: VectorLike) -> list[Motion]:
        """Free motions from x that are at y after time 1, the shortest first; the others go another way round.

        Each has `velocity` and `length`; `link.geodesic(x, motion.velocity, s)` is the motion. Raises where none is
        found.
        """
        x, y = sphere_point(x, self.rods), sphere_point(y, self.rods, "y")
        found = geodesics.shortest(self.surface, np.asarray(x), np.asarray(y))
        if not found:
            raise ValueError("No geodesic between these two configurations was found; is the base near its limits?")
        return found

    def mirror_geodesic(self) -> Closed:
        """The closed geodesic of the configurations of four or five rods that are their own mirror image.

        Reflection in the middle line of the base keeps the kinetic energy where the masses are symmetric, and what an
        isometry leaves fixed is totally geodesic.
        """
        if self.rods not in (4, 5):
            raise ValueError(
                f"The mirror-symmetric configurations form a circle for 4 and 5 rods; with {self.rods} they do not."
            )
        m = np.asarray(self.masses.matrix())
        if np.abs(m - m[::-1, ::-1]).max() > 1e-12 * np.abs(m).max():
            raise ValueError(
                "The masses are not symmetric, so reflection in the middle line does not keep the kinetic energy; "
                "give the same masses in reverse order."
            )
        return geodesics.mirror_circle(self.surface)

    def tensions(self, x: VectorLike, v: VectorLike, gravity: Number = 0.0) -> Float[Array, " rods"]:
        """The tensions of the rods in the free motion through (x, v), or under gravity; negative under compression.

        For rods with mass: the tension beyond what the motion of the rod itself needs.
        """
        x = sphere_point(x, self.rods)
        return call(forces.tensions, self.surface, x, tangent(x, v), jnp.asarray(gravity, x.dtype))

    def drag(self, x: VectorLike, hinge: int, target: VectorLike) -> Point:
        """The configuration reached from x by pulling hinge 1, ..., n - 1 towards a target in the plane."""
        if not validation.is_count(hinge) or hinge > self.rods - 1:
            raise ValueError(f"hinge is 1 to {self.rods - 1}, counted from the origin; got {hinge!r}.")
        x, goal = sphere_point(x, self.rods), validation.as_array(target)
        if goal.shape != (2,):
            raise ValueError(f"target is a place in the plane, shape (2,); got shape {goal.shape}.")
        return call(forces.drag, self.surface, x, np.asarray(hinge - 1), goal)

    def animate(self, points: ArrayLike, path: str | Path, *, fps: int = 30) -> Path:
        """Write configurations, one per row and frame, to a .gif or .mp4: the chain, and for four rods the sphere."""
        from holonomy.show.linkage import animate_linkage

        return animate_linkage(self, points, path, fps=fps)

    def volume(self, *, tolerance: float = 1e-11) -> float:
        """The volume of the space of configurations: a length for three rods, an area for four."""
        return integrals.volume(self.surface, tolerance)

    def total_curvature(self, *, tolerance: float = 1e-11) -> float:
        r"""The integral of K over all configurations of four rods, \(4\pi\); of the scalar curvature for other n."""
        return integrals.total_curvature(self.surface, tolerance)

    def _forms(self, x: VectorLike) -> Forms:
        return call(forms, self.surface, sphere_point(x, self.rods))

    # ── Checks ────────────────────────────────────────────────────────────────────────────────────────

    def _angles(self, value: Any) -> Angles:
        angles = validation.as_array(value)
        if angles.shape != (self.rods - 2,):
            raise ValueError(
                f"{self.rods} rods have {self.rods - 2} angles, the last one t; got an array of shape {angles.shape}."
            )
        return angles

    def _require_sphere(self) -> None:
        if known(self.base) and not self.rods - 2 < float(self.base):
            raise ValueError(
                f"With {self.rods} unit rods the configurations form a sphere for {self.rods - 2} < base < "
                f"{self.rods}; for base={float(self.base):g} they are {self.topology}. Pass a base in that range, or "
                'move the hinges themselves with system("rods").'
            )

    def _refuse_open(self, hinges: np.ndarray) -> None:
        ends = np.concatenate([np.zeros((1, 2)), hinges, [[float(self.base), 0.0]]])
        lengths = np.linalg.norm(np.diff(ends, axis=0), axis=1)
        gaps = np.abs(lengths - 1.0)
        # written so that NaN is refused as well
        if not np.all(gaps <= validation.tolerance(hinges.dtype)):
            i = int(np.argmax(np.where(np.isnan(gaps), np.inf, gaps)))
            raise ValueError(
                f"These hinges do not close to a chain of unit rods from (0, 0) to ({float(self.base):g}, 0): rod "
                f"{i + 1} has length {lengths[i]:.9g}. For hinges that are only near, use link.drag."
            )


def _hinges(surface: Surface, x: Point) -> Hinges:
    return surface.hinges(x)


def _point(surface: Surface, hinges: Hinges) -> Point:
    return surface.point(hinges)


def _push(surface: Surface, x: Point, v: Vector) -> Hinges:
    return surface.push(x, v)


def _pull(surface: Surface, hinges: Hinges, velocities: Hinges) -> tuple[Point, Vector]:
    return jax.jvp(surface.point, (hinges,), (velocities,))


def _metric(surface: Surface, angles: Angles) -> Float[Array, "dim dim"]:
    j = jax.jacfwd(lambda a: surface.vector(jnp.stack(sphere_map.from_angles(list(a)))))(angles)
    return j.T @ surface.ambient() @ j


def _inner(surface: Surface, x: Point, u: Vector, v: Vector) -> Scalar:
    return surface.product(surface.push(x, u), surface.push(x, v))
