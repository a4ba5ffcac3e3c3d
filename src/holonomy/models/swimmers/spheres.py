"""Swimmers made of balls in a viscous fluid."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.locomotion import Mover, ball, oseen
from holonomy.locomotion.arrays import Row, Shape
from holonomy.spaces import Euclidean
from holonomy.types import Number, Numbers, Scalar


def PushMePullYou(volume: Number = 1.0, viscosity: Number = 1.0) -> Mover:
    r"""Two balls that exchange volume and change their distance: shape (l, v), group \(R\).

    Ball 1 has volume v and ball 2 the rest of `volume`; +x points from ball 1 to ball 2, and the place is the middle
    between their centres. To leading order in the radii over the distance: Stokes's drag on each ball relative to the
    flow \(\dot v/4\pi l^2\) that the other's growth makes, and the power \(\frac43\mu\dot v^2/v\) to make a ball grow.
    Efficiencies refer to the drag \(6\pi\mu a\) on one ball of the whole volume.

    Reference: Avron, Kenneth and Oaknin, *Pushmepullyou: an efficient micro-swimmer*, 2005.
    """
    _require_positive(volume=volume, viscosity=viscosity)
    whole, mu = jnp.asarray(volume, float), jnp.asarray(viscosity, float)

    def radii(r: Shape) -> Row:
        return jnp.cbrt(3.0 * jnp.stack([r[1], whole - r[1]]) / (4.0 * jnp.pi))

    def flow(r: Shape) -> Float[Array, "2 1 2"]:
        pushed = jnp.stack([jnp.zeros(()), 1.0 / (4.0 * jnp.pi * r[0] ** 2)])
        return jnp.broadcast_to(pushed, (2, 1, 2))

    def growth(r: Shape) -> Float[Array, "2 2"]:
        cost = 4.0 / 3.0 * mu * (1.0 / r[1] + 1.0 / (whole - r[1]))
        return jnp.diag(jnp.stack([jnp.zeros(()), cost]))

    reference = 6.0 * jnp.pi * mu * jnp.cbrt(3.0 * whole / (4.0 * jnp.pi))
    return Mover.from_drag(
        lambda r: 0.5 * jnp.stack([-r[:1], r[:1]]),
        lambda r: jnp.stack([ball(a, mu) for a in radii(r)]),
        Euclidean(1),
        {"l": "length", "v": "number"},
        flow=flow,
        dissipation=growth,
        limits={
            "A ball vanishes: the volume of each must be positive": lambda r: jnp.stack([r[1], whole - r[1]]),
            "The balls overlap: their distance must exceed the sum of their radii": lambda r: r[0] - jnp.sum(radii(r)),
        },
        reference=float(reference) if known(reference) else reference,
    )


def three_spheres(radii: Numbers = 0.1, viscosity: Number = 1.0) -> Mover:
    r"""Three balls on a line, the lengths of the two arms between them as shape, group \(R\).

    They disturb each other's fluid as Oseen's tensor says. The place is that of the middle ball.
    Reference: Najafi and Golestanian, *Simple swimmer at low Reynolds number*, 2004.
    """
    _require_positive(radii=radii, viscosity=viscosity)
    sizes = jnp.broadcast_to(jnp.asarray(radii, float), (3,))
    mu = jnp.asarray(viscosity, float)

    def places(r: Shape) -> Float[Array, "3 1"]:
        return jnp.stack([-r[0], jnp.zeros(()), r[1]])[:, None]

    def gaps(r: Shape) -> Row:
        return r - (sizes[:-1] + sizes[1:])

    reference: Scalar = 6.0 * jnp.pi * mu * jnp.sum(sizes)
    return Mover.from_drag(
        places,
        lambda r: oseen(places(r), sizes, mu),
        Euclidean(1),
        {"l1": "length", "l2": "length"},
        limits={"The balls overlap: an arm must be longer than the two radii at its ends": gaps},
        reference=float(reference) if known(reference) else reference,
    )


def _require_positive(**given: Numbers) -> None:
    for name, value in given.items():
        if known(value) and not (np.all(np.isfinite(np.asarray(value))) and np.all(np.asarray(value) > 0)):
            raise ValueError(f"{name} must be positive, but {name}={value!r} was given.")
