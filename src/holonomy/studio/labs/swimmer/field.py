r"""The picture of shapes: minus the curvature of the connection, the height function, as a heat map.

A loop of shapes moves the body by about the integral of the height over its inside. In the frame
\(g' = g\,h(r)\) the connection is \(A' = \mathrm{Ad}_{h^{-1}}A - h^{-1}\partial h\) and the curvature
\(B' = \mathrm{Ad}_{h^{-1}}B\); in minimum-perturbation coordinates \(h\) makes \(A'\) smallest over the picture
(`holonomy.locomotion.heights`). Here \(h\) is a product of exponentials of polynomials, each of them the least-squares
solution of the equation linearised about the one before. Needs no JAX.
"""

from __future__ import annotations

import base64
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.swimmer.catalogue import Model, Window
from holonomy.studio.labs.swimmer.outlines import Group
from holonomy.viewer.protocol import messages

CELLS: Final = 49
"""Points of the grid along each axis."""
_DEGREE: Final = 5  # of the polynomials
_EVERY: Final = 3  # one in this many points of the grid along each axis is used for the least squares
_ROUNDS: Final = 6
_RIDGE: Final = 1e-10  # relative: keeps the solution small where the samples do not determine it
_TERMS: Final = 16  # of the exponential series
_FAR: Final = 20.0  # connections this many times larger than usual, near a singular shape, are left out
_NOTHING: Final = 1e-9  # relative to the other components: a height that is rounding alone is zero
_SHOWN: Final = 97.0  # per cent of the values lie within the colour scale

Values = Float[np.ndarray, "points dim"]


def structure(group: Group) -> Float[np.ndarray, "dim dim dim"]:
    """Structure constants [k, i, j] of the group's algebra, as `holonomy.locomotion` has them."""
    if group == "line":
        return np.zeros((1, 1, 1))
    c = np.zeros((3, 3, 3))
    if group == "so3":
        brackets = ((0, 1, 2, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0))
    else:
        bend = {"sphere": 1.0, "hyperbolic": -1.0}.get(group, 0.0)
        brackets = ((2, 0, 1, 1.0), (1, 2, 0, 1.0), (0, 1, 2, bend))
    for i, j, k, value in brackets:
        c[k, i, j], c[k, j, i] = value, -value
    return c


def grid(window: Window) -> Float[np.ndarray, "points 2"]:
    """The points of the heat map, row by row from the lowest."""
    x, y = np.linspace(*window[:2], CELLS), np.linspace(*window[2:], CELLS)
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def smallest(
    points: Float[np.ndarray, "points 2"], connection: Float[np.ndarray, "points 2 dim"], group: Group
) -> tuple[Float[np.ndarray, "points dim dim"], Float[np.ndarray, "points 2 dim"]]:
    r"""\(\mathrm{Ad}_{h^{-1}}\) at the points, for the frame h in which the connection is smallest over them, and the
    connection in that frame."""
    constants = structure(group)
    dim = len(constants)
    low, high = points.min(axis=0), points.max(axis=0)
    x = 2.0 * (points - low) / (high - low) - 1.0
    powers = [(i, j) for i in range(_DEGREE + 1) for j in range(_DEGREE + 1 - i) if i + j]
    p = np.stack([x[:, 0] ** i * x[:, 1] ** j for i, j in powers], axis=1)
    slopes = (
        np.stack(
            [
                np.stack([i * x[:, 0] ** max(i - 1, 0) * x[:, 1] ** j for i, j in powers], axis=1),
                np.stack([j * x[:, 0] ** i * x[:, 1] ** max(j - 1, 0) for i, j in powers], axis=1),
            ],
            axis=1,
        )
        * (2.0 / (high - low))[None, :, None]
    )
    size = np.linalg.norm(connection, axis=(1, 2))
    good = np.isfinite(size) & (size < _FAR * np.nanmedian(size) + np.finfo(float).tiny)
    rows = np.arange(CELLS * CELLS).reshape(CELLS, CELLS)[::_EVERY, ::_EVERY].ravel()
    used = rows[good[rows]]
    now, total = connection, np.tile(np.eye(dim), (len(points), 1, 1))
    for _ in range(_ROUNDS):
        # A' - [delta, A'] - d delta, linear in the coefficients of delta
        brackets = np.einsum("kcb,pjb->pjkc", constants, now[used])
        matrix = np.einsum("pjkc,pt->pjktc", brackets, p[used])
        matrix += np.einsum("kc,pjt->pjktc", np.eye(dim), slopes[used])
        flat = matrix.reshape(len(used) * 2 * dim, -1)
        gram = flat.T @ flat
        gram += _RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
        delta = np.linalg.solve(gram, flat.T @ now[used].reshape(-1)).reshape(-1, dim)
        ad = np.einsum("kij,pi->pkj", constants, p @ delta)
        step = _series(ad, 0)
        change = np.einsum("pjt,tc->pjc", slopes, delta)
        now = np.einsum("pkl,pjl->pjk", step, now) - np.einsum("pkl,pjl->pjk", _series(ad, 1), change)
        total = step @ total
    return total, now


def heights(looked: Float[np.ndarray, "points numbers"], window: Window, group: Group, *, minimal: bool) -> Values:
    """Minus the curvature in the plane of the picture, by component, from what the compiled code says of its grid."""
    dim = len(structure(group))
    b, connection, mask = looked[:, :dim], looked[:, dim:-1].reshape(-1, 2, dim), looked[:, -1:]
    found = -b * mask
    if minimal and dim > 1:
        connection = connection * mask[:, :, None]
        found = np.einsum("pkl,pl->pk", smallest(grid(window), connection, group)[0], found)
    return found


def picture(model: Model, values: Values, window: Window, component: int, picture: int) -> messages.Field:
    """The heat map of one component."""
    shown = values[:, component]
    shown = np.where(np.abs(shown) < _NOTHING * np.abs(values[np.isfinite(values)]).max(initial=0.0), 0.0, shown)
    finite = np.abs(shown[np.isfinite(shown)])
    top = float(np.percentile(finite, _SHOWN)) if len(finite) else 0.0
    top = top if top > 1e-12 else 1.0  # a flat connection: all is zero
    names = {"line": ("",), "so3": ("¹", "²", "³")}.get(model.group, ("ˣ", "ʸ", "ᶿ"))
    data = np.nan_to_num(shown, nan=np.nan, posinf=np.nan, neginf=np.nan).astype("<f4").tobytes()
    return messages.Field(
        picture, CELLS, CELLS, *window[:2], model.shape[0], model.units[0], *window[2:], model.shape[1], model.units[1],
        f"−B{names[component]}", "Height function: displacement per area", "", -top, top,
        True, base64.b64encode(data).decode(),
    )  # fmt: skip


def _series(ad: np.ndarray, shift: int) -> np.ndarray:
    r"""\(\sum_k (-\mathrm{ad})^k/(k+\text{shift})!\), a matrix for each point."""
    one = np.eye(ad.shape[-1])
    total = np.zeros_like(ad)
    for k in reversed(range(_TERMS)):
        total = one - ad @ total / (k + 1 + shift)
    return total
