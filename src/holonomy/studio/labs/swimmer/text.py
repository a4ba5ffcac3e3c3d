"""The equations of the Swimmer lab."""

from __future__ import annotations

from typing import Any, Final

from holonomy.studio.labs.settings import Structure
from holonomy.studio.labs.swimmer.catalogue import BY_NAME

_KINDS: Final = {
    "drag": (
        "Without inertia: the sum of the drag forces and torques is zero",
        r"K_{\xi\xi}(r)\,\xi + K_{\xi r}(r)\,\dot r = 0, \qquad A = K_{\xi\xi}^{-1} K_{\xi r}",
    ),
    "momentum": (
        "The momentum is zero",
        r"\frac{\partial l}{\partial \xi} = K_{\xi\xi}(r)\,\xi + K_{\xi r}(r)\,\dot r = 0, \qquad "
        r"A = K_{\xi\xi}^{-1} K_{\xi r}",
    ),
    "wheels": (
        "The wheels do not slip sideways",
        r"\omega_\xi(r)\,\xi + \omega_r(r)\,\dot r = 0, \qquad A = \omega_\xi^{-1} \omega_r",
    ),
    "board": (
        "The wheels do not slip; along the direction s(r) that they leave free there is a momentum",
        r"\xi = -A(r)\,\dot r + \Gamma(r)\,p, \qquad \dot p = \langle \mu, [\xi, s] + \dot s\rangle",
    ),
    "given": ("The connection is given", r"\xi = (\dot s, 0, \dot\varphi)"),
}


def equations(structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The equations of reconstruction, and where the connection comes from."""
    parts: dict[str, Any] = dict(structure)
    model = BY_NAME[parts["model"]]
    kind = "momentum" if model.inertial else "drag"
    kind = {"car": "wheels", "snake": "wheels", "snakeboard": "board", "triangle": "given"}.get(model.name, kind)
    return (
        f"{model.label}: changing the shape r moves the place g.",
        (
            ("Reconstruction", r"\dot g = g\,\xi, \qquad \xi = -A(r)\,\dot r"),
            _KINDS[kind],
            (
                "Curvature, and the displacement of a small loop",
                r"B_{12} = \partial_1 A_2 - \partial_2 A_1 - [A_1, A_2], \qquad "
                r"\Delta g \approx -\iint B_{12}\,dr^1 dr^2",
            ),
            ("Cost and efficiency", r"W = \int \dot r^\top G(r)\,\dot r\,dt, \qquad \eta = \rho\,\frac{d^2}{\ell^2}"),
        ),
    )
