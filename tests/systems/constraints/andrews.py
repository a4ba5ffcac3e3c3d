"""Andrews' squeezing mechanism: seven angles, six loop conditions, index 3 (Bari test set)."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl

M1, M2, M3, M4, M5, M6, M7 = 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498
I1, I2, I3, I4, I5, I6, I7 = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
XA, YA, XB, YB, XC, YC = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
C0, L0, TORQUE = 4530.0, 0.07785, 0.033
D, DA, E, EA, R, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
S, SA, SB, SC, SD, TA, TB = 0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
U, UA, UB, ZF, ZT, FA = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421

NAMES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def mass_matrix(q):
    cos2, sin4, sin6 = jnp.cos(q[1]), jnp.sin(q[3]), jnp.sin(q[5])
    ee, ff = E - EA, ZF - FA
    entries = {
        (0, 0): M1 * RA**2 + M2 * (R**2 - 2 * DA * R * cos2 + DA**2) + I1 + I2,
        (0, 1): M2 * (DA**2 - DA * R * cos2) + I2,
        (1, 1): M2 * DA**2 + I2,
        (2, 2): M3 * (SA**2 + SB**2) + I3,
        (3, 3): M4 * ee**2 + I4,
        (3, 4): M4 * (ee**2 + ZT * ee * sin4) + I4,
        (4, 4): M4 * (ZT**2 + 2 * ZT * ee * sin4 + ee**2) + M5 * (TA**2 + TB**2) + I4 + I5,
        (5, 5): M6 * ff**2 + I6,
        (5, 6): M6 * (ff**2 - U * ff * sin6) + I6,
        (6, 6): M6 * (ff**2 - 2 * U * ff * sin6 + U**2) + M7 * (UA**2 + UB**2) + I6 + I7,
    }
    zero = jnp.zeros(())
    rows = [[jnp.asarray(entries.get((min(i, j), max(i, j)), zero)) for j in range(7)] for i in range(7)]
    return jnp.stack([jnp.stack(row) for row in rows])


def spring(t, q):
    x = SD * jnp.cos(q[2]) + SC * jnp.sin(q[2]) + XB - XC
    y = SD * jnp.sin(q[2]) - SC * jnp.cos(q[2]) + YB - YC
    return 0.5 * C0 * (jnp.sqrt(x * x + y * y) - L0) ** 2


def loops(t, q):
    beta, theta, gamma, phi, delta, omega, epsilon = q
    x = R * jnp.cos(beta) - D * jnp.cos(beta + theta)
    y = R * jnp.sin(beta) - D * jnp.sin(beta + theta)
    return jnp.stack(
        [
            x - S * jnp.sin(gamma) - XB,
            y + S * jnp.cos(gamma) - YB,
            x - E * jnp.sin(phi + delta) - ZT * jnp.cos(delta) - XA,
            y + E * jnp.cos(phi + delta) - ZT * jnp.sin(delta) - YA,
            x - ZF * jnp.cos(omega + epsilon) - U * jnp.sin(epsilon) - XA,
            y - ZF * jnp.sin(omega + epsilon) + U * jnp.cos(epsilon) - YA,
        ]
    )


mechanism = (
    hl.System.from_metric(mass_matrix, potential=spring, coordinates=dict.fromkeys(NAMES, "angle"))
    .forced(lambda t, q, v: TORQUE * jnp.eye(7)[0])
    .constrained(holonomic=loops)
)

Q0 = np.array(
    [
        -0.0617138900142764496,
        0.0,
        0.455279819163070380,
        0.222668390165885885,
        0.487364979543842550,
        -0.222668390165885885,
        1.23054744454982119,
    ]
)
A0 = np.array([14222.4439199541139, -10666.8329399655854, 0, 0, 0, 0, 0])
LAMBDA0 = -np.array([98.5668703962410896, -6.12268834425566266, 0, 0, 0, 0])  # the test set has the other sign
Q_END = np.array(
    [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        -0.5347301163226948,
        0.5244099658805304,
        0.5347301163226948,
        1.048080741042263,
    ]
)


def forces_by_hand(q, v):
    """The test set's own right-hand side, written out: M a = f - Gᵀλ."""
    b, th, _, ph, de, om, ep = v
    st, cp, co = np.sin(q[1]), np.cos(q[3]), np.cos(q[5])
    xd = SD * np.cos(q[2]) + SC * np.sin(q[2]) + XB
    yd = SD * np.sin(q[2]) - SC * np.cos(q[2]) + YB
    length = np.hypot(xd - XC, yd - YC)
    fx, fy = (-C0 * (length - L0) / length * d for d in (xd - XC, yd - YC))
    return np.array(
        [
            TORQUE - M2 * DA * R * th * (th + 2 * b) * st,
            M2 * DA * R * b**2 * st,
            fx * (SC * np.cos(q[2]) - SD * np.sin(q[2])) + fy * (SD * np.cos(q[2]) + SC * np.sin(q[2])),
            M4 * ZT * (E - EA) * de**2 * cp,
            -M4 * ZT * (E - EA) * ph * (ph + 2 * de) * cp,
            -M6 * U * (ZF - FA) * ep**2 * co,
            M6 * U * (ZF - FA) * om * (om + 2 * ep) * co,
        ]
    )
