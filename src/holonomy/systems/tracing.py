"""From a user's Python functions to traced ones, with a sentence for every mistake that can be known beforehand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.spaces import AbstractSpace, Circle, Euclidean, Power, Product
from holonomy.systems import mistakes, shaped
from holonomy.systems.coordinates import Block, Coordinate, CoordinatesLike, blocks_of
from holonomy.systems.coordinates import coordinates as named
from holonomy.systems.parameters import Parameters, number
from holonomy.trace.function import Function, trace
from holonomy.types import AnyArray, ArrayFunction, Numbers, ScalarFunction

F = TypeVar("F", bound="ArrayFunction | None")
OfState = TypeVar("OfState", bound=Callable[..., object])

# Arguments of a function by their shapes, the parameters last where it has any.
Example: TypeAlias = tuple[jax.ShapeDtypeStruct | Parameters, ...]

_NAMED = 12  # coordinates that a message lists
_SINGLE = 32  # angles or others in a row up to which each is a factor of the space; more form a power
_FEW = 64  # coordinates up to which a function is traced a second time to find elements that are not there


@dataclass(frozen=True)
class Frame:
    """What a user's functions are functions of."""

    coordinates: tuple[Coordinate, ...]
    parameters: Parameters
    space: AbstractSpace
    parametric: bool

    def example(self, *, time: bool = True, velocity: bool = False) -> Example:
        """Arguments of the right shapes; only the shapes matter."""
        q = jax.ShapeDtypeStruct((self.space.point_dim,), jnp.float64)
        t = jax.ShapeDtypeStruct((), jnp.float64)
        p = (self.parameters,) if self.parametric else ()
        return (*((t,) if time else ()), q, *((q,) if velocity else ()), *p)

    def given(self, function: F, *, velocity: bool = False, time: bool = True, covector: bool = False) -> F:
        """A user's function as one of rows of numbers, where coordinates were given as arrays."""
        if not callable(function):
            return function
        places = [k + time for k in range(1 + velocity)]
        return cast("F", shaped.of_rows(self._blocks, function, places, covector))

    @staticmethod
    def of_state(function: OfState) -> OfState:
        """A function of (t, q, v, p), where one of (t, q, v) was given for a system with parameters."""
        try:
            given = inspect.signature(function).parameters.values()
        except ValueError:  # a function of C, which does not tell
            return function
        if any(p.kind is p.VAR_POSITIONAL for p in given):
            return function
        places = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
        return function if len(places) != 3 else cast("OfState", lambda *args: function(*args[:3]))

    def row(self, value: AnyArray) -> AnyArray:
        """A user's value for q or v as a row of numbers."""
        return shaped.packed(self._blocks, value)

    @property
    def _blocks(self) -> tuple[Block, ...]:
        return blocks_of(self.coordinates)

    def trace(self, name: str, function: ArrayFunction, example: Example) -> tuple[Function, tuple[int, ...]]:
        """The traced function and the shape of its value."""
        if not callable(function):
            raise ValueError(f"The {name} must be a function; got {function!r}.")
        names = _argument_names(example)
        mistakes.refuse_signature(name, function, names, self.parametric)
        shapes: list[Any] = []
        complex_valued = nothing = False

        def record(*args: Any) -> Any:
            nonlocal complex_valued, nothing
            result: Any = function(*args)
            nothing = result is None
            value = jnp.zeros(()) if nothing else jnp.asarray(result)
            if jnp.issubdtype(value.dtype, jnp.complexfloating):
                complex_valued = True
                value = value.real
            if not jnp.issubdtype(value.dtype, jnp.floating):
                value = value.astype(jnp.float64)
            shapes.append(value.shape)
            return value

        try:
            traced = trace(record, example)
        except Exception as error:
            p = "" if not self.parametric else f" and parameters {', '.join(self.parameters)}"
            raise ValueError(
                f"The {name} could not be evaluated on q = ({_names([c.name for c in self.coordinates])}){p}: "
                f"{mistakes.advice(error)}"
            ) from error
        if nothing:
            raise ValueError(f"The {name} returned None: a return is missing at its end.")
        if self.space.point_dim <= _FEW:
            known = [x if isinstance(x, Parameters) else np.full(x.shape, 0.5) for x in example]
            mistakes.refuse_index(name, function, known)
        if complex_valued:
            raise ValueError(
                f"The {name} must have real values, but it returns complex numbers, whose imaginary parts would be "
                "lost; return jnp.real(...) of them if those are zero."
            )
        return traced, shapes[-1]

    def scalar(self, name: str, function: ScalarFunction, *, velocity: bool = False) -> Function:
        """A traced function with one number as value."""
        return self._shaped(name, function, self.example(velocity=velocity), (), "a single number")

    def matrix(self, name: str, function: ArrayFunction) -> Function:
        """A traced function of q (and parameters) with a square matrix as value."""
        n = self.space.point_dim
        return self._shaped(name, function, self.example(time=False), (n, n), "an (n, n) matrix")

    def covector(self, name: str, function: ArrayFunction) -> Function:
        """A traced function of the state with one component per coordinate as value."""
        shape = (self.space.point_dim,)
        return self._shaped(name, function, self.example(velocity=True), shape, "one component per coordinate")

    def _shaped(self, name: str, function: Any, example: Any, shape: tuple[int, ...], words: str) -> Function:
        traced, got = self.trace(name, function, example)
        if got != shape:
            raise ValueError(f"The {name} must return {words}, shape {shape}; it returned shape {tuple(got)}.")
        return traced

    def positions(self, function: ArrayFunction | None) -> Function | None:
        """Traced positions (particles, d), or None."""
        if function is None:
            return None
        traced, shape = self.trace("positions", function, self.example())
        if len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"The positions must be an array (particles, d), such as jnp.array([[x, y]]) for one particle in the "
                f"plane; they came with shape {tuple(shape)}."
            )
        return traced

    def masses(self, given: Numbers | Callable[[Parameters], Numbers], where: Function) -> AnyArray:
        """One mass per particle, none negative; a function of the parameters is checked at their present values."""
        count = jax.eval_shape(where, *self.example()).shape[0]
        if callable(given) and not self.parametric:
            raise ValueError(
                "Masses that are a function m(p) need parameters; pass parameters= or the masses as numbers."
            )
        masses = number("masses", given(self.parameters) if callable(given) else given)
        if masses.ndim == 0:
            masses = jnp.broadcast_to(masses, (count,)) if isinstance(masses, Tracer) else np.full(count, masses)
        if masses.shape != (count,):
            raise ValueError(f"There are {count} particles, so masses must have shape ({count},); got {masses.shape}.")
        values = self.concrete(masses)
        if np.any(values < 0):
            worst = int(np.argmin(values))
            raise ValueError(f"Masses must not be negative; particle {worst} has mass {values[worst]:g}.")
        if not np.any(values > 0):
            raise ValueError("At least one mass must be positive; all are zero, so nothing resists a force.")
        return masses

    def concrete(self, array: AnyArray) -> np.ndarray:
        """The values where they are known; ones where they are being traced."""
        return np.ones(array.shape) if isinstance(array, Tracer) else np.asarray(array)

    def cartesian_force(self, function: ArrayFunction, where: Function) -> Function:
        """Forces on particles pulled back to the coordinates by virtual work."""
        shape = jax.eval_shape(where, *self.example()).shape
        function = self.given(function, velocity=True)
        force = self._shaped("cartesian force", function, self.example(velocity=True), shape, "one row per particle")

        def pulled(t: Any, q: Any, v: Any, *p: Any) -> Any:
            return jax.vjp(lambda x: where(t, x, *p), q)[1](force(t, q, v, *p))[0]

        return self.covector("cartesian force", pulled)


def _argument_names(example: Example) -> list[str]:
    """How documents call the arguments: t, q, v and p."""
    arrays = [x for x in example if not isinstance(x, Parameters)]
    named = (["t"] if arrays[0].shape == () else []) + ["q", "v"]
    return named[: len(arrays)] + ["p"] * (len(example) - len(arrays))


def frame(
    coordinates: CoordinatesLike | None,
    parameters: Mapping[str, Numbers] | None,
    space: AbstractSpace | None,
) -> Frame:
    """Names, space and parameters that fit together."""
    if coordinates is None and space is None:
        raise ValueError("Name the coordinates, such as coordinates=('theta', 'phi'), or pass space=.")
    if coordinates is None:
        assert space is not None
        coordinates = tuple(f"x{i + 1}" for i in range(space.point_dim))
    names = named(coordinates)
    where = space if space is not None else _lines_and_circles(names)
    if len(names) != where.point_dim:
        raise ValueError(
            f"Points of {where} are arrays of length {where.point_dim}, but {len(names)} coordinates are named: "
            f"{', '.join(c.name for c in names)}."
        )
    checked = Parameters.checked(parameters) if parameters is not None else Parameters()
    both = [c.name for c in names if c.name in checked]
    if both:
        raise ValueError(f"{both[0]!r} is the name of a coordinate and of a parameter; give one of them another name.")
    return Frame(names, checked, where, parameters is not None)


def _lines_and_circles(names: tuple[Coordinate, ...]) -> AbstractSpace:
    """R^n with a circle for each angle; the points are the coordinates themselves either way."""
    if not any(c.kind == "angle" for c in names):
        return Euclidean(len(names))
    factors: list[AbstractSpace] = []
    for angles, run in groupby(names, key=lambda c: c.kind == "angle"):
        count = len(list(run))
        if count > _SINGLE:
            factors.append(Power(Circle(), count) if angles else Euclidean(count))
        else:
            factors += [Circle() if angles else Euclidean(1)] * count
    return factors[0] if len(factors) == 1 else Product(*factors)


def _names(names: list[str]) -> str:
    """The names, of many the first and the last."""
    return ", ".join(names if len(names) <= _NAMED else [*names[: _NAMED - 2], "...", names[-1]])
