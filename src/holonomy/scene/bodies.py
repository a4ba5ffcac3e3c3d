r"""Rigid bodies of a scene: their formulas checked, and their Lagrangian.

A body of mass m at x with the orientation \(R = R_{a_1}(\theta_1) R_{a_2}(\theta_2) \cdots\) has the kinetic energy
\(\tfrac12 m |\dot x|^2 + \tfrac12 \omega \cdot I \omega\). In the axes of the body
\(\omega = R_{a_k}(\theta_k)^\top \omega_{k-1} + \dot\theta_k a_k\), rotation after rotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from holonomy.scene.errors import SceneError
from holonomy.scene.expression import Expression
from holonomy.scene.names import check, value
from holonomy.scene.spec import BodyChoice, Scene

if TYPE_CHECKING:
    from holonomy.scene.build_system import Formulas

_AXES: Final = ("x", "y", "z")
_PAIRS: Final = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
"""Places of the moments of inertia in their matrix, in the order in which a scene gives them."""


def check_bodies(scene: Scene, allowed: Iterable[str]) -> None:
    """Every formula of the bodies' places uses names that it may. **Raises** `SceneError` for the first mistake."""
    names = list(allowed)
    width = len(scene.bodies[0].at) if scene.bodies else 0
    for i, body in enumerate(scene.bodies or ()):
        where = f"bodies[{i}]"
        for j, formula in enumerate(body.at):
            check(formula, names, f"{where}.at[{j}]")
        if len(body.at) != width:
            raise SceneError(f"the point has {len(body.at)} formulas, the first body's {width}.", f"{where}.at")
        for j, rotation in enumerate(body.turn):
            if len(rotation) != 1 or next(iter(rotation)) not in _AXES:
                raise SceneError('a rotation has one axis out of x, y, z, such as { z = "psi" }.', f"{where}.turn[{j}]")
            for axis, formula in rotation.items():
                check(formula, names, f"{where}.turn[{j}].{axis}")


def check_inertia(scene: Scene, scalars: Mapping[str, float]) -> None:
    """The masses and moments of inertia are numbers that bodies can have. **Raises** `SceneError`."""
    for i, body in enumerate(scene.bodies or ()):
        where = f"bodies[{i}]"
        mass = value(body.mass, scalars, f"{where}.mass")
        if mass < 0:
            raise SceneError(f"a mass cannot be negative; this one is {mass:g}.", f"{where}.mass")
        given = _moments(body)
        if bool(body.turn) != bool(given):
            missing, present = ("turn", "inertia") if given else ("inertia", "turn")
            raise SceneError(f'a body with "{present}" needs "{missing}" too, or neither.', where)
        if len({axis for rotation in body.turn for axis in rotation}) > 1 and len(given) == 1:
            raise SceneError("a body that turns about several axes has three or six moments of inertia.", where)
        if given and len(given) not in (1, 3, 6):
            raise SceneError(f"expected 1, 3 or 6 moments of inertia, got {len(given)}.", f"{where}.inertia")
        for j, moment in enumerate(given):
            number = value(moment, scalars, f"{where}.inertia[{j}]" if len(given) > 1 else f"{where}.inertia")
            if j < 3 and number < 0:
                raise SceneError(f"a moment of inertia cannot be negative; this one is {number:g}.", f"{where}.inertia")


def _moments(body: BodyChoice) -> tuple[Expression, ...]:
    given = body.inertia
    return () if given is None else given if isinstance(given, tuple) else (given,)


def centres(formulas: Formulas) -> Callable[..., Any]:
    """The bodies' centres of mass as a function (t, q, p) -> (bodies, d)."""
    import jax.numpy as jnp

    given = formulas.setup.scene.bodies or ()

    def places(t: Any, q: Any, p: Any) -> Any:
        flat = formulas.values([formula for body in given for formula in body.at], t, q, None, p)
        return jnp.stack(flat).reshape(len(given), -1)

    return places


def lagrangian(formulas: Formulas) -> Callable[..., Any]:
    """Kinetic minus potential energy of the scene's bodies and particles, as a function (t, q, v, p)."""
    import jax
    import jax.numpy as jnp

    from holonomy.scene.evaluate import evaluate

    scene = formulas.setup.scene
    given = scene.bodies or ()
    angles = [formula for body in given for rotation in body.turn for formula in rotation.values()]
    at = centres(formulas)

    def moving(function: Callable[..., Any], t: Any, q: Any, v: Any, p: Any) -> tuple[Any, Any]:
        return jax.jvp(lambda s, x: function(s, x, p), (t, q), (jnp.ones_like(t), v))

    def total(t: Any, q: Any, v: Any, p: Any) -> Any:
        def number(formula: Expression) -> Any:
            return jnp.asarray(evaluate(formula.tree, p), dtype=q.dtype)

        _, speeds = moving(at, t, q, v, p)
        kinetic = sum(number(b.mass) * jnp.dot(u, u) for b, u in zip(given, speeds, strict=True))
        if angles:
            turned = moving(lambda s, x, p: jnp.stack(formulas.values(angles, s, x, None, p)), t, q, v, p)
            states = iter(zip(*turned, strict=True))
            for body in given:
                spin = [jnp.zeros_like(q[0])] * 3
                for rotation in body.turn:
                    spin = _turned(spin, _AXES.index(next(iter(rotation))), *next(states))
                kinetic = kinetic + _spinning([number(moment) for moment in _moments(body)], spin)
        if scene.masses is not None:
            _, rates = moving(formulas.positions, t, q, v, p)
            kinetic = kinetic + jnp.dot(formulas.masses(p), jnp.sum(rates * rates, axis=1))
        return 0.5 * kinetic - formulas.potential(t, q, p)

    return total


def _turned(spin: list[Any], axis: int, angle: Any, rate: Any) -> list[Any]:
    """The angular velocity in the axes after one more rotation."""
    import jax.numpy as jnp

    found, (i, j) = list(spin), ((axis + 1) % 3, (axis + 2) % 3)
    c, s = jnp.cos(angle), jnp.sin(angle)
    found[axis] = spin[axis] + rate
    found[i], found[j] = c * spin[i] + s * spin[j], c * spin[j] - s * spin[i]
    return found


def _spinning(moments: list[Any], spin: list[Any]) -> Any:
    """ω · I ω; one moment of inertia is that about the only axis of rotation."""
    if len(moments) == 1:
        return moments[0] * sum(rate * rate for rate in spin)
    parts = [(1 if i == j else 2) * m * spin[i] * spin[j] for m, (i, j) in zip(moments, _PAIRS)]
    return sum(parts)
