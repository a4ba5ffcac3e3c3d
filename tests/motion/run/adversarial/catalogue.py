"""The models of the catalogue in their own steps, against equations of motion written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from tests.motion.run.adversarial import truths
from tests.motion.run.adversarial.case import Case
from tests.motion.run.adversarial.hidden import simulated

import holonomy as hl

GRAVITY = 9.81


@cache
def model(name: str, links: int | None = None) -> hl.System:
    return hl.models.find(name, links).build()


def links_slope(count: int) -> Callable[[float, np.ndarray], np.ndarray]:
    """Links of length one with bobs of mass one, hung one from another."""
    below = np.arange(count, 0, -1.0)  # bobs that hang on a link
    weights = np.minimum.outer(below, below)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        del t
        a, w = y[:count], y[count:]
        apart = a[:, None] - a[None, :]
        force = -(weights * np.sin(apart)) @ w**2 - GRAVITY * below * np.sin(a)
        return np.concatenate([w, np.linalg.solve(weights * np.cos(apart), force)])

    return slope


def hoop(t: float, y: np.ndarray) -> np.ndarray:
    del t
    return np.array([y[1], 16.0 * np.sin(y[0]) * np.cos(y[0]) - GRAVITY * np.sin(y[0])])


def wire(t: float, y: np.ndarray) -> np.ndarray:
    del t
    s, c = np.sin(y[0]), np.cos(y[0])
    return np.array([y[1], -(3.0 * s * c * y[1] ** 2 + GRAVITY * c) / (4.0 * s * s + c * c)])


def elastic(t: float, y: np.ndarray) -> np.ndarray:
    del t
    r, a, u, w = y
    outward = r * w * w - 40.0 * (r - 1.0) + GRAVITY * np.cos(a)
    return np.array([u, w, outward, -(2 * u * w + GRAVITY * np.sin(a)) / r])


def chain(t: float, y: np.ndarray) -> np.ndarray:
    """Ten masses of one on springs of length one and stiffness 4000, hung from the origin."""
    del t
    x, v = y[:20].reshape(10, 2), y[20:]
    steps = np.diff(np.concatenate([np.zeros((1, 2)), x]), axis=0)
    lengths = np.sqrt(np.sum(steps**2, axis=1))[:, None]
    pull = -4000.0 * (lengths - 1.0) * steps / lengths
    force = pull - np.concatenate([pull[1:], np.zeros((1, 2))]) + np.array([0.0, -GRAVITY])
    return np.concatenate([v, force.ravel()])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def body(moments: np.ndarray, weight: float) -> Callable[[float, np.ndarray], np.ndarray]:
    """A rigid body that turns about a point, whose weight times its distance along the third axis is given."""

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        del t
        e, spin = y[:4] / np.sqrt(y[:4] @ y[:4]), y[4:]
        up = np.array(
            [2 * (e[1] * e[3] - e[0] * e[2]), 2 * (e[2] * e[3] + e[0] * e[1]), 1 - 2 * (e[1] ** 2 + e[2] ** 2)]
        )
        torque = weight * np.cross(up, [0.0, 0.0, 1.0])
        rate = (np.cross(moments * spin, spin) + torque) / moments
        return np.concatenate([0.5 * product(e, np.concatenate([[0.0], spin])), rate])

    return slope


def spin_of(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return 2 * product(np.concatenate([q[:1], -q[1:]]), v)[1:]


BODIES = {
    "free_rigid_body": body(np.array([1.0, 2.0, 3.0]), 0.0),
    "heavy_top": body(np.array([0.1, 0.1, 0.05]), 0.3 * GRAVITY),
}
CHARTS: dict[tuple[str, int | None], Callable[[float, np.ndarray], np.ndarray]] = {
    ("simple_pendulum", None): links_slope(1),
    ("double_pendulum", None): links_slope(2),
    ("multi_pendulum", 3): links_slope(3),
    ("multi_pendulum", 6): links_slope(6),
    ("rotating_hoop", None): hoop,
    ("elliptical_wire", None): wire,
    ("elastic_pendulum", None): elastic,
    ("elastic_chain", None): chain,
}
SHORT = {"multi_pendulum": 2.0, "double_pendulum": 5.0, "elastic_chain": 1.0, "elastic_pendulum": 8.0}
"""Times up to which these are looked at: later ones magnify every error."""


def models(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Each model from its own start, and from others close to it."""
    charts, names = list(CHARTS), list(BODIES)
    for k in range(count):
        which, again = k % (len(charts) + len(names)), k >= len(charts) + len(names)
        moved = 0.2 * random.standard_normal(20) * again
        if which < len(charts):
            name, links = charts[which]
            yield model_case(name, links, moved)
        else:
            yield turning(names[which - len(charts)], moved)


def model_case(name: str, links: int | None, moved: np.ndarray) -> Case:
    about = hl.models.find(name, links)
    q = np.array(about.q) + (moved[: len(about.q)] if name != "elastic_chain" else 0.02 * moved[:20])
    end = SHORT.get(name, about.t_end)
    truth = truths.reference(CHARTS[name, links], [*q, *about.v], 0.0, end, rtol=1e-11)
    n = len(q)
    made = simulated(model(name, links), q, about.v, end, dt=about.dt)
    blocks = ((0,), (1,)) if name == "elastic_pendulum" else (tuple(range(n)),)
    return Case("model", f"{name} {links} from {np.round(q[:3], 2)}", made, lambda t: truth(t)[:, :n], 0.0, end, blocks)


def turning(
    name: str, moved: np.ndarray, method: Any = None, dt: float | None = None, end: float | None = None
) -> Case:
    """A rigid body; the orientation is compared."""
    about = hl.models.find(name)
    q, v = np.array(about.q), np.array(about.v) + product(np.array(about.q), np.concatenate([[0.0], moved[:3]]))
    end = end or min(about.t_end, 20.0)
    truth = truths.reference(BODIES[name], [*q, *spin_of(q, v)], 0.0, end, rtol=1e-11)
    made = simulated(model(name), q, v, end, dt=dt or about.dt, method=method)
    return Case(
        "model",
        f"{name} {method} {dt} {np.round(moved[:3], 2)}",
        made,
        lambda t: truth(t)[:, :4],
        0.0,
        end,
        ((0, 1, 2, 3),),
    )
