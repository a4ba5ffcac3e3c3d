"""A Galton board of a thousand round pins, and its balls traced by geometry: parabolas that meet circles."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl

G, E, RADIUS = 9.81, 0.7, 0.3
COLUMNS, ROWS = 25, 40
_row, _column = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
PINS = np.stack([_column - (COLUMNS - 1) / 2 + 0.5 * (_row % 2), -1.0 - 0.9 * _row], axis=1)
BOTTOM = PINS[-1, 1] - 1.0
FALL = hl.Event(lambda t, q, v: q[1] - BOTTOM, direction=-1, terminal=True, name="below the board")

_ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - G * q[1], coordinates=("x", "y"))
BOARD = _ball.constrained(
    unilateral=lambda t, q: jnp.sqrt(jnp.sum((q[None] - jnp.asarray(PINS)) ** 2, axis=1)) - RADIUS, restitution=E
)


def start(ball):
    """Where a ball is let go: above the pin in the middle, a little to one side."""
    return np.array([0.05 * np.sin(1.0 + 2.0 * ball), 0.0])


def dropped(ball, t_end=60.0):
    """A ball's way through the board."""
    return hl.simulate(
        BOARD, start(ball), [0.0, 0.0], t_end, dt=0.1, method=hl.RK4(), events=FALL, max_events=10_000, save_every=600
    )


def traced(q, hits):
    """The first impacts of a ball that starts at rest: numbers of pins and times, by roots of quartic polynomials."""
    q, v, t = np.array(q, float), np.zeros(2), 0.0
    pins, times = [], []
    for _ in range(hits):
        found = _first_hit(q, v)
        if found is None:
            break
        pin, flight = found
        q, v, t = q + flight * (v + 0.5 * flight * np.array([0.0, -G])), v + flight * np.array([0.0, -G]), t + flight
        normal = (q - PINS[pin]) / np.linalg.norm(q - PINS[pin])
        v = v - (1.0 + E) * np.dot(v, normal) * normal
        pins.append(pin)
        times.append(t)
    return np.array(pins), np.array(times)


def _first_hit(q, v):
    """The pin that is met first, and after how long: the least root at which the distance falls to the radius."""
    g = np.array([0.0, -G])
    away = q - PINS
    # |away + v t + g t²/2|² - RADIUS², lowest power first
    c = np.stack(
        [
            np.sum(away**2, axis=1) - RADIUS**2,
            2.0 * away @ v,
            v @ v + away @ g,
            np.full(len(PINS), v @ g),
            np.full(len(PINS), 0.25 * g @ g),
        ]
    )
    companion = np.zeros((len(PINS), 4, 4))
    companion[:, 1:, :-1] = np.eye(3)
    companion[:, :, -1] = -(c[:4] / c[4]).T
    roots = np.linalg.eigvals(companion)
    real = np.where(np.abs(roots.imag) < 1e-6 * (1.0 + np.abs(roots.real)), roots.real, np.nan)
    powers = c[:, :, None]
    for _ in range(4):  # Newton's method takes out what the eigenvalues lost
        value = sum(powers[k] * real**k for k in range(5))
        slope = sum(k * powers[k] * real ** (k - 1) for k in range(1, 5))
        real = real - value / np.where(slope == 0, 1.0, slope)
    falling = sum(k * powers[k] * real ** (k - 1) for k in range(1, 5)) < 0
    real = np.where((real > 1e-9) & falling, real, np.nan)
    if np.all(np.isnan(real)):
        return None
    pin = int(np.nanargmin(np.nanmin(np.where(np.isnan(real), np.inf, real), axis=1)))
    return pin, float(np.nanmin(real[pin]))
