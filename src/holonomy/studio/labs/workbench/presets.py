"""The systems of the lecture on classical dynamics, as texts of the Workbench lab."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.base import Preset
from holonomy.studio.labs.settings import Settings


def _preset(name: str, label: str, note: str, choices: dict[str, str] | None = None, /, **texts: str) -> Preset:
    return Preset(name, label, Settings({}, choices or {}, {}, texts), note)


_HANGING: Final = "m = 1, g = 9.81, l = 1"
"""Parameters of a mass that hangs on a rod."""
_DUMBBELL: Final = {
    "coordinates": "x length, y length, theta angle",
    "positions": "x + l*cos(theta)/2, y + l*sin(theta)/2\nx - l*cos(theta)/2, y - l*sin(theta)/2",
    "masses": "m, m",
    "lines": "1-2",
}
PRESETS: Final = (
    _preset(
        "spherical_pendulum", "Spherical pendulum", "φ is cyclic: Routh's reduction leaves one degree of freedom.",
        coordinates="theta angle, phi angle",
        lagrangian="m*l^2*(theta_dot^2 + sin(theta)^2*phi_dot^2)/2 + m*g*l*cos(theta)",
        positions="l*sin(theta)*cos(phi), l*sin(theta)*sin(phi), -l*cos(theta)",
        parameters=_HANGING, start="theta = 1.2, phi = 0, phi_dot = 2", lines="0-1",
    ),
    _preset(
        "simple_pendulum", "Simple pendulum", "One degree of freedom, solved by quadrature.",
        coordinates="theta angle", lagrangian="m*l^2*theta_dot^2/2 + m*g*l*cos(theta)",
        positions="l*sin(theta), -l*cos(theta)", parameters=_HANGING, start="theta = 2", lines="0-1",
    ),
    _preset(
        "double_pendulum", "Double pendulum", "Given by positions, masses and the potential energy.",
        coordinates="alpha angle, beta angle",
        positions="l*sin(alpha), -l*cos(alpha)\nl*sin(alpha) + l*sin(beta), -l*cos(alpha) - l*cos(beta)",
        masses="m, m", potential="-m*g*l*(2*cos(alpha) + cos(beta))",
        parameters=_HANGING, start="alpha = 2, beta = 2.5", lines="0-1, 1-2",
    ),
    _preset(
        "elliptical_wire", "Particle on an elliptical wire", "Cartesian coordinates with a constraint and its force.",
        coordinates="x length, y length", positions="x, y", masses="m", potential="m*g*y",
        constraints="x^2/a^2 + y^2/b^2 = 1", parameters="m = 1, g = 9.81, a = 2, b = 1", start="x = a, y = 0",
    ),
    _preset(
        "cylinder", "Particle on a cylinder", "Two cyclic coordinates without gravity; here a spring pulls along z.",
        coordinates="phi angle, z length", lagrangian="m*(R^2*phi_dot^2 + z_dot^2)/2 - k*z^2/2",
        positions="R*cos(phi), R*sin(phi), z", parameters="m = 1, R = 1, k = 4",
        start="phi = 0, z = 0.8, phi_dot = 1.5",
    ),
    _preset(
        "rotating_hoop", "Particle on a rotating hoop", "Above ω² = g/r the lowest point is no longer stable.",
        coordinates="theta angle",
        lagrangian="m*r^2*(theta_dot^2 + omega^2*sin(theta)^2)/2 + m*g*r*cos(theta)",
        positions="r*sin(theta)*cos(omega*t), r*sin(theta)*sin(omega*t), -r*cos(theta)",
        parameters="m = 1, g = 9.81, r = 1, omega = 5", start="theta = 0.3", lines="0-1",
    ),
    _preset(
        "kepler", "Kepler's problem", "Conserved: energy and angular momentum.", {"map": "jacobi"},
        coordinates="r length, phi angle", lagrangian="m*(r_dot^2 + r^2*phi_dot^2)/2 + m*mu/r",
        positions="r*cos(phi), r*sin(phi)", parameters="m = 1, mu = 1", start="r = 1, phi = 0, phi_dot = 1.2",
    ),
    _preset(
        "spring_masses", "Two masses on three springs", "Two normal modes.",
        coordinates="x1 length, x2 length",
        lagrangian="m*(x1_dot^2 + x2_dot^2)/2 - k*(x1^2 + (x2 - x1)^2 + x2^2)/2",
        positions="x1 - 1, 0\nx2 + 1, 0\n-3, 0\n3, 0", parameters="m = 1, k = 10", start="x1 = 0.6, x2 = 0",
        lines="3-1, 1-2, 2-4",
    ),
    _preset(
        "dumbbell", "Dumbbell in the plane", "No forces: two momenta and the angular momentum are conserved.",
        parameters="m = 1, l = 1", start="x = 0, y = 0, theta = 0, x_dot = 0.1, theta_dot = 2", **_DUMBBELL,
    ),
    _preset(
        "knife_edge", "Dumbbell on a knife edge", "A constraint on velocities: every configuration can be reached.",
        potential="m*g*y/2", constraints="sin(theta)*x_dot = cos(theta)*y_dot", parameters="m = 1, l = 1, g = 1",
        start="x = 0, y = 0, theta = 0, x_dot = 0.5, theta_dot = 1", **_DUMBBELL,
    ),
    _preset(
        "rod_on_walls", "Rod sliding on two walls", "In equilibrium tan θ = m₂g/F, which is unstable.",
        coordinates="theta angle", positions="0, l*sin(theta)\nl*cos(theta), 0", masses="m1, m2",
        potential="m1*g*l*sin(theta) + F*l*cos(theta)", parameters="m1 = 1, m2 = 1, g = 9.81, F = 9.81, l = 2",
        start="theta = 0.9", lines="1-2",
    ),
    _preset(
        "rod_on_circle", "Two particles joined by a rod on a circle", "The rod subtends the angle 2β.",
        coordinates="theta angle",
        positions="R*sin(theta - beta), -R*cos(theta - beta)\nR*sin(theta + beta), -R*cos(theta + beta)",
        masses="m1, m2",
        potential="-g*R*(m1*cos(theta - beta) + m2*cos(theta + beta))",
        parameters="m1 = 1, m2 = 2, g = 9.81, R = 1, beta = 0.6", start="theta = 1", lines="1-2",
    ),
    _preset(
        "driven_rod", "Pendulum of prescribed length", "The length is a function of time: energy is not conserved.",
        coordinates="theta angle", positions="l*sin(theta), -l*cos(theta)", masses="m", potential="-m*g*l*cos(theta)",
        definitions="l = 1 + a*sin(omega*t)", parameters="m = 1, g = 9.81, a = 0.2, omega = 6.2",
        start="theta = 0.3", lines="0-1",
    ),
    _preset(
        "triangle", "Rigid triangle of particles", "Three constraints leave three of six degrees of freedom.",
        coordinates="x1 length, y1 length, x2 length, y2 length, x3 length, y3 length",
        positions="x1, y1\nx2, y2\nx3, y3", masses="m, m, m", potential="m*g*(y1 + y2 + y3)/20",
        constraints="(x2 - x1)^2 + (y2 - y1)^2 = l^2\n(x3 - x2)^2 + (y3 - y2)^2 = l^2\n(x1 - x3)^2 + (y1 - y3)^2 = l^2",
        parameters="m = 1, g = 1, l = 1",
        start="x1 = 0, y1 = 0, x2 = l, y2 = 0, x3 = l/2, y3 = sqrt(3)*l/2, y2_dot = l, x3_dot = -sqrt(3)*l/2, "
        "y3_dot = l/2",
        lines="1-2, 2-3, 3-1",
    ),
    _preset(
        "variable_rod", "Two masses joined by a variable rod", "Translations and rotations: three momenta.",
        coordinates="x length, y length, theta angle, l length",
        positions="x, y\nx + l*cos(theta), y + l*sin(theta)", masses="m, m", potential="k*(l - 1)^2/2",
        parameters="m = 1, k = 10", start="x = 0, y = 0, theta = 0, l = 1.3, theta_dot = 1", lines="1-2",
    ),
    _preset(
        "rolling_disc", "Rolling disc", "A vertical disc rolls without slipping; growth vector (2, 3, 4).",
        coordinates="x length, y length, theta angle, phi angle",
        lagrangian="m*(x_dot^2 + y_dot^2)/2 + I*theta_dot^2/2 + J*phi_dot^2/2",
        positions="x, y, 0\nx, y, R\nx + R*sin(phi)*cos(theta), y + R*sin(phi)*sin(theta), R*(1 - cos(phi))",
        constraints="x_dot = R*cos(theta)*phi_dot\ny_dot = R*sin(theta)*phi_dot",
        parameters="m = 1, I = 0.25, J = 0.5, R = 0.5",
        start="x = 0, y = 1, theta = 0, phi = 0, theta_dot = 0.8, phi_dot = 2, x_dot = 2*R", lines="1-2, 2-3",
    ),
    _preset(
        "car", "Car with a trailer", "Two constraints on velocities; it can be parked anywhere.",
        coordinates="x length, y length, theta angle, psi angle",
        lagrangian="m*(x_dot^2 + y_dot^2)/2 + I*theta_dot^2/2 + I*psi_dot^2/2",
        positions="x, y\nx + cos(theta)/2, y + sin(theta)/2\nx - d*cos(psi), y - d*sin(psi)",
        constraints="sin(theta)*x_dot = cos(theta)*y_dot\nsin(psi)*x_dot - cos(psi)*y_dot + d*psi_dot = 0",
        parameters="m = 1, I = 0.3, d = 1", start="x = 0, y = 0, theta = 0, psi = 0.5, x_dot = 1, theta_dot = 0.5, "
        "psi_dot = -sin(0.5)/d",
        lines="2-1, 1-3",
    ),
)  # fmt: skip
"""The lab opens with the first."""
