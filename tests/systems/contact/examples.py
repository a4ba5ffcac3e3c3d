"""Systems with walls that several tests share."""

from functools import partial

import jax.numpy as jnp
import numpy as np

import holonomy as hl

SIDE = 1.0  # half the straight part of the stadium, in units of its caps' radius
DISC = 2.5  # the radius of the Sinai billiard's disc, on a torus of circumference 2π


def free(count, d):
    """Particles of unit mass on which no force acts."""
    names = tuple(f"{'xyz'[k]}{i}" for i in range(count) for k in range(d)) if count > 1 else tuple("xyz"[:d])
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=names)


def row(count, radius=0.5):
    """Balls of equal mass and radius in a row."""
    return free(count, 1).constrained(unilateral=lambda t, q: q[1:] - q[:-1] - 2 * radius)


def gaps(pairs, radius, t, q):
    """Distances of discs in the plane, less twice their radius."""
    at = q.reshape(-1, 2)
    return jnp.stack([jnp.sqrt(jnp.sum((at[i] - at[j]) ** 2)) - 2 * radius for i, j in pairs])


def discs(count, radius=0.5, **options):
    """Discs of equal mass and radius in the plane."""
    pairs = [(i, j) for i in range(count) for j in range(i)]
    return free(count, 2).constrained(unilateral=partial(gaps, pairs, radius), **options)


def billiard(sigma):
    """A particle in the plane where sigma(q) is positive."""
    return free(1, 2).constrained(unilateral=lambda t, q: sigma(q))


def in_circle(q):
    return 1.0 - jnp.sqrt(jnp.dot(q, q))


def in_ellipse(q):
    """An ellipse with half-axes 2 and 1; its foci are at ±√3."""
    return 0.5 * (1.0 - 0.25 * q[0] ** 2 - q[1] ** 2)


def in_stadium(q):
    """Two half discs of radius 1 with a square of side 2 between them."""
    x = jnp.maximum(jnp.abs(q[0]) - SIDE, 0.0)
    return 0.5 * (1.0 - x**2 - q[1] ** 2)


def off_disc(q):
    """Outside a disc about the origin of a flat torus of circumference 2π."""
    x = jnp.arctan2(jnp.sin(q), jnp.cos(q))
    return 0.5 * (jnp.dot(x, x) - DISC**2)


sinai = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates={"x": "angle", "y": "angle"}
).constrained(unilateral=lambda t, q: off_disc(q))


# ── The same billiards as geometry ────────────────────────────────────────────────────────────────────


def stadium_ray(q, v):
    """The length to the wall of the stadium along a ray of unit speed, the inner normal there, and its curvature."""
    found = []
    if v[1] != 0:
        s = (np.sign(v[1]) - q[1]) / v[1]
        if abs(q[0] + s * v[0]) <= SIDE:
            found.append((s, np.array([0.0, -np.sign(v[1])]), 0.0))
    for end in (-SIDE, SIDE):
        centre = np.array([end, 0.0])
        off = q - centre
        half = off @ v
        root = half**2 - off @ off + 1.0
        if root > 0:
            s = -half + np.sqrt(root)
            at = off + s * v
            if at[0] * np.sign(end) > 0 and s > 1e-9:
                found.append((s, -at, 1.0))
    return min(found, key=lambda f: f[0])


def torus_ray(q, v):
    """The same for the disc on the torus: the first of its copies that the ray meets."""
    found = []
    near = np.round(q / (2 * np.pi))
    for i in range(-6, 7):
        for j in range(-6, 7):
            off = q - 2 * np.pi * (near + np.array([i, j]))
            half = off @ v
            root = half**2 - off @ off + DISC**2
            if root > 0 and -half - np.sqrt(root) > 1e-9:
                s = -half - np.sqrt(root)
                found.append((s, (off + s * v) / DISC, -1.0 / DISC))
    return min(found, key=lambda f: f[0])


def bounce(ray, q, v, count):
    """Times, places, velocities after the first bounces, the logarithm of how far a neighbour has parted, and κ.

    A front of curvature κ flies on as κ/(1 + sκ), neighbours part by 1 + sκ, and a wall of curvature k (positive where
    it is hollow) takes 2k over the cosine of the angle of incidence off κ.
    """
    t, parted, curvature = 0.0, 0.0, 0.0
    rows = []
    for _ in range(count):
        s, normal, bend = ray(q, v)
        normal = normal / np.linalg.norm(normal)
        q, t = q + s * v, t + s
        parted += np.log(abs(1.0 + s * curvature))
        curvature = curvature / (1.0 + s * curvature)
        incidence = -(v @ normal)
        v = v + 2.0 * incidence * normal
        v = v / np.linalg.norm(v)  # rays are found for unit speed, and any other would grow
        curvature = curvature - 2.0 * bend / incidence
        rows.append((t, *q, *v, parted, curvature))
    return np.array(rows)
