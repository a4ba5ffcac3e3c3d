"""The Taylor polynomial of a function of one array at a point, to any order, without compiling anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from holonomy.trace.graph.series import Otherwise, Series, SeriesRing, evaluate, ring
from holonomy.trace.lowering.scalarise import Flat, scalarise


class Expansion:
    """A function of one array, taken apart once, to be expanded at any point to any order.

    Raises `Unsupported` where the function has no form as one expression (a loop whose length depends on data).
    """

    def __init__(self, function: Callable[[Any], Any], variables: int) -> None:
        self.variables = variables
        self.flat: Flat = scalarise(function, (np.zeros(variables),))

    def at(self, point: np.ndarray, order: int, frame: np.ndarray | None = None) -> tuple[Series, ...]:
        r"""The series of the results, in y with the argument \(x_0 + E y\), where E is `frame` or the identity.

        One tensor of series for each array that the function returns, in the order of `jax.tree.leaves`.
        """
        of = self.ring(order)
        argument = of.constant(np.asarray(point, float))
        if order:
            columns = np.eye(self.variables) if frame is None else frame
            argument[:, 1 : 1 + self.variables] = columns
        return self.along(argument, of)

    def along(
        self,
        argument: Series,
        of: SeriesRing,
        other: Otherwise | None = None,
        corners: set[str] | None = None,
    ) -> tuple[Series, ...]:
        """The series of the results where the argument itself consists of series of the ring `of`.

        With `other` the point, the numbers in the function and every operation have other rounding errors, and corners
        are seen from one side. `corners` collects operations without a derivative at the point.
        """
        numbers = np.array(self.flat.numbers, float)
        if other is not None:
            argument = argument.copy()
            argument[:, 0] = other.rounded(argument[:, 0])
            numbers = other.rounded(numbers)
        leaves = [argument, of.constant(numbers)]
        nodes = [node for out in self.flat.outputs for node in out.nodes]
        values, results, first = evaluate(nodes, leaves, of, other, corners), [], 0
        for out in self.flat.outputs:
            part = values[first : first + len(out.nodes)]
            stacked = np.array(part, float).reshape(*out.shape, of.size)
            results.append(stacked)
            first += len(out.nodes)
        return tuple(results)

    def ring(self, order: int) -> SeriesRing:
        """The series in the variables of the function."""
        return ring(self.variables, order)
