"""Operations that only move elements: where each element of the result comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holonomy.trace.function import applied


def sources(
    primitive: Any, params: dict[str, Any], shapes: Sequence[tuple[int, ...]], integers: Sequence[np.ndarray | None]
) -> list[np.ndarray] | None:
    """For each result of an operation that only moves elements, the number of the element of the operands that stands
    at each place, counted through all operands in turn; negative where a new number stands. None for any other
    operation, and where the places depend on numbers that are not known.

    `integers` are the values of operands where these are known.
    """
    counts = [int(np.prod(shape, dtype=int)) for shape in shapes]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ids = [np.arange(s, s + c).reshape(shape) for s, c, shape in zip(starts, counts, shapes, strict=True)]
    name = primitive.name
    if name in _PLAIN:
        return _PLAIN[name](params, ids)
    if name not in _INDEXED:
        return None
    moved = _INDEXED[name]
    if any(value is None for value in integers[moved:]):
        return None
    known = dict(params)
    if name == "gather":
        known["fill_value"] = -1
    return [np.asarray(applied(primitive, known, [*ids[:moved], *integers[moved:]]))]


def moved_operands(name: str, operands: int) -> int:
    """How many operands' elements an operation moves, which come first; 0 if it does more than move elements."""
    return operands if name in _PLAIN else _INDEXED.get(name, 0)


def _broadcast(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray] | None:
    shape, at = params["shape"], params["broadcast_dimensions"]
    if len(ids) != 1:
        return None
    new = [1] * len(shape)
    for d, n in zip(at, ids[0].shape, strict=True):
        new[d] = n
    return [np.broadcast_to(ids[0].reshape(new), shape)]


def _slice(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray]:
    strides = params["strides"] or (1,) * ids[0].ndim
    at = tuple(map(slice, params["start_indices"], params["limit_indices"], strides))
    return [ids[0][at]]


def _pad(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray] | None:
    """Padding with one number, at both ends and between elements."""
    config = params["padding_config"]
    if any(low < 0 or high < 0 for low, high, _ in config):
        return None
    shape = [low + high + n + max(n - 1, 0) * inner for (low, high, inner), n in zip(config, ids[0].shape, strict=True)]
    out = np.full(shape, ids[1].ravel()[0])
    at = tuple(
        slice(low, low + n + max(n - 1, 0) * inner, inner + 1)
        for (low, _, inner), n in zip(config, ids[0].shape, strict=True)
    )
    out[at] = ids[0]
    return [out]


def _reshape(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray] | None:
    if params.get("dimensions") is not None or len(ids) != 1:
        return None
    return [ids[0].reshape(params["new_sizes"])]


def _split(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray]:
    return np.split(ids[0], np.cumsum(params["sizes"])[:-1], axis=params["axis"])


def _unstack(params: dict[str, Any], ids: list[np.ndarray]) -> list[np.ndarray]:
    return list(np.moveaxis(ids[0], params["axis"], 0))


_PLAIN: dict[str, Callable[[dict[str, Any], list[np.ndarray]], list[np.ndarray] | None]] = {
    "reshape": _reshape,
    "broadcast_in_dim": _broadcast,
    "transpose": lambda params, ids: [ids[0].transpose(params["permutation"])],
    "squeeze": lambda params, ids: [np.squeeze(ids[0], axis=tuple(params["dimensions"]))],
    "expand_dims": lambda params, ids: [np.expand_dims(ids[0], tuple(params["dimensions"]))],
    "slice": _slice,
    "rev": lambda params, ids: [np.flip(ids[0], tuple(params["dimensions"]))],
    "concatenate": lambda params, ids: [np.concatenate(ids, axis=params["dimension"])],
    "stack": lambda params, ids: [np.stack(ids, axis=params["axis"])],
    "unstack": _unstack,
    "tile": lambda params, ids: [np.tile(ids[0], params["reps"])],
    "pad": _pad,
    "split": _split,
}
# Operations whose places are operands too: how many operands come before these.
_INDEXED = {"gather": 1, "dynamic_slice": 1, "dynamic_update_slice": 2}
