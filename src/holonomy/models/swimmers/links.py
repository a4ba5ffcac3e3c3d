"""Swimmers made of straight links in a viscous fluid: Purcell's three links, and any number."""

from __future__ import annotations

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.locomotion import Mover, link
from holonomy.locomotion.arrays import Row, Shape
from holonomy.spaces import SE2
from holonomy.types import Number, Numbers, Scalar

Poses: TypeAlias = Float[Array, "links 3"]


def Purcell(length: Number = 1.0, drag: Number = 1.0, drag_ratio: Number = 2.0) -> Mover:
    r"""Purcell's swimmer: three equal links in a viscous fluid, shape \((\alpha_1, \alpha_2)\), group SE(2).

    **Arguments:** of each link, its `length`, the drag \(k_t\) along it per length, and the ratio \(k_n/k_t\) of the
    drag across it to that along it. The body's frame is on the middle link; the outer links make the angles
    \(-\alpha_1\) and \(+\alpha_2\) with it. Efficiencies refer to \(k_t\) times the length of all links.

    Reference: Purcell, *Life at low Reynolds number*, 1977.
    """
    return links([length] * 3, drag, drag_ratio)


def links(lengths: Numbers, drag: Numbers = 1.0, drag_ratio: Numbers = 2.0, *, base: int | None = None) -> Mover:
    """A chain of straight links in a viscous fluid; the shape is the angles of its joints, the group SE(2).

    `lengths` has one number for each link; `drag` and `drag_ratio` are one number, or one for each link. The body's
    frame is on link `base`, by default the middle one. As for `Purcell`, a joint behind it turns the links behind by
    minus its angle, one ahead of it the links ahead by its angle.
    """
    sizes = jnp.asarray(lengths, float)
    if sizes.ndim != 1 or sizes.shape[0] < 2:
        raise ValueError(f"A chain has at least two links, each with its length, but lengths={lengths!r} was given.")
    count = sizes.shape[0]
    along, ratio = (jnp.broadcast_to(jnp.asarray(x, float), (count,)) for x in (drag, drag_ratio))
    for name, value in (("lengths", sizes), ("drag", along), ("drag_ratio", ratio)):
        if known(value) and not (np.all(np.isfinite(np.asarray(value))) and np.all(np.asarray(value) > 0)):
            raise ValueError(f"The {name} of links are positive numbers, but got {np.asarray(value).tolist()}.")
    middle = (count - 1) // 2 if base is None else int(base)
    if not 0 <= middle < count:
        raise ValueError(f"base is the number of a link from 0 to {count - 1}, but base={base!r} was given.")
    resistances = jnp.stack([link(sizes[i], along[i], ratio[i]) for i in range(count)])
    limits = {"A joint is folded by half a turn or more, so that links overlap": lambda r: jnp.pi - jnp.abs(r)}
    if count > 2:
        limits["Links cross each other"] = lambda r: _apart(_ends(r, sizes, middle))
    return Mover.from_drag(
        lambda r: _poses(r, sizes, middle),
        resistances,
        SE2(),
        {f"alpha{i + 1}": "angle" for i in range(count - 1)},
        limits=limits,
        reference=float(jnp.sum(along * sizes)) if known(along, sizes) else jnp.sum(along * sizes),
    )


def _headings(r: Shape, middle: int) -> list[Scalar]:
    """The angle of each link with the base."""
    count = r.shape[0] + 1
    angles = [jnp.zeros(())] * count
    for i in range(middle + 1, count):
        angles[i] = angles[i - 1] + r[i - 1]
    for i in reversed(range(middle)):
        angles[i] = angles[i + 1] - r[i]
    return angles


def _ends(r: Shape, sizes: Row, middle: int) -> list[Row]:
    """The ends of the links in the frame of the base, from the tail to the head."""
    steps = [sizes[i] * jnp.stack([jnp.cos(angle), jnp.sin(angle)]) for i, angle in enumerate(_headings(r, middle))]
    behind = -0.5 * steps[middle]
    for i in range(middle):
        behind = behind - steps[i]
    ends = [behind]
    for one in steps:
        ends.append(ends[-1] + one)
    return ends


def _poses(r: Shape, sizes: Row, middle: int) -> Poses:
    ends, angles = _ends(r, sizes, middle), _headings(r, middle)
    return jnp.stack([jnp.append(0.5 * (ends[i] + ends[i + 1]), angles[i]) for i in range(len(angles))])


def _apart(ends: list[Row]) -> Row:
    """For each two links that do not touch at a joint: positive where they do not cross."""

    def side(a: Row, b: Row, c: Row) -> Scalar:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    rows = []
    for i in range(len(ends) - 1):
        for j in range(i + 2, len(ends) - 1):
            a, b, c, d = ends[i], ends[i + 1], ends[j], ends[j + 1]
            # they cross where each has its ends on both sides of the other's line; links in one line do not
            products = side(a, b, c) * side(a, b, d), side(c, d, a) * side(c, d, b)
            rows.append(jnp.where((products[0] < 0) & (products[1] < 0), -1.0, 1.0))
    return jnp.stack(rows)
