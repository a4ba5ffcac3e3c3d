"""Spaces that are groups of motions."""

from __future__ import annotations

import abc

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces.base import AbstractSpace
from holonomy.types import Local, LocalLike, Point, PointLike, VectorLike
from holonomy.types import Tangent as Vector


class AbstractGroup(AbstractSpace):
    r"""A Lie group \(G\) with a left-invariant metric.

    An element of its Lie algebra is an array \(\xi\) of length `dim`; the velocity \(\dot g\) and the body velocity
    \(\xi = g^{-1}\dot g\) are exchanged by `lift` and `body_velocity`. `exp` and `log` are those of the metric;
    those of the group, which differ from them on SE(2) and SE(3), are `group_exp` and `group_log`.
    """

    @property
    @abc.abstractmethod
    def identity(self) -> Point:
        """The neutral element."""

    @property
    def origin(self) -> Point:
        """The neutral element."""
        return self.identity

    @abc.abstractmethod
    def compose(self, g: PointLike, h: PointLike) -> Point:
        """The product gh: h first, then g."""

    @abc.abstractmethod
    def inverse(self, g: PointLike) -> Point:
        """The inverse element."""

    @abc.abstractmethod
    def lift(self, g: PointLike, xi: LocalLike) -> Vector:
        r"""The velocity \(\dot g = g\xi\)."""

    @abc.abstractmethod
    def body_velocity(self, g: PointLike, v: VectorLike) -> Local:
        r"""\(\xi = g^{-1} v\), inverse of `lift`."""

    @abc.abstractmethod
    def group_exp(self, xi: LocalLike) -> Point:
        r"""The element at time 1 of the one-parameter group \(\dot g = g\xi\), \(g(0)\) the identity."""

    @abc.abstractmethod
    def group_log(self, g: PointLike) -> Local:
        """The inverse of `group_exp` near the identity."""

    @abc.abstractmethod
    def matrix(self, g: PointLike) -> Float[Array, "m m"]:
        """The element as a matrix; products of elements are products of matrices."""

    @abc.abstractmethod
    def hat(self, xi: LocalLike) -> Float[Array, "m m"]:
        """The element of the Lie algebra as a matrix."""

    @abc.abstractmethod
    def vee(self, matrix: Float[Array, "m m"]) -> Local:
        """Inverse of `hat`."""

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """As for every space; charts are carried by left translations, so that it does not depend on x."""
        return super().rechart(self.identity, y, z)

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return super().transition(self.identity, y, z)

    def adjoint(self, g: PointLike, xi: LocalLike) -> Local:
        r"""\(\mathrm{Ad}_g\xi = g\xi g^{-1}\)."""
        m = self.matrix(g)
        return self.vee(m @ self.hat(xi) @ self.matrix(self.inverse(g)))

    def bracket(self, xi: LocalLike, eta: LocalLike) -> Local:
        r"""The matrix commutator \([\xi, \eta] = \xi\eta - \eta\xi\)."""
        a, b = self.hat(xi), self.hat(eta)
        return self.vee(a @ b - b @ a)


def hat3(omega: Float[Array, " 3"]) -> Float[Array, "3 3"]:
    r"""The skew matrix of \(v \mapsto \omega\times v\)."""
    x, y, z = omega
    zero = jnp.zeros_like(x)
    return jnp.stack([jnp.stack([zero, -z, y]), jnp.stack([z, zero, -x]), jnp.stack([-y, x, zero])])


def vee3(m: Float[Array, "3 3"]) -> Float[Array, " 3"]:
    """Inverse of `hat3`."""
    return jnp.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2.0
