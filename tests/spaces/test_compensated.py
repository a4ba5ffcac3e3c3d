"""Points that are sums of changes stay on the space."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.spaces import Carried
from holonomy.spaces.compensated import Compensated, on_space


def test_spheres_beside_carried_hyperbolic_spaces_keep_their_radius():
    """A point 1e-13 off the sphere, and a velocity with a normal part, are put back; the hyperbolic part and the frame
    stay as they are."""
    space = Carried(hl.Product(hl.Hyperbolic(2), hl.Sphere(2)))
    x = jnp.array([0.3, 0.4, np.sqrt(1.25), 0.6 + 1e-13, 0.0, 0.8, 0.2, -0.1])
    p = jnp.array([0.1, 0.2, 0.11 / np.sqrt(1.25), 0.8, 0.5, -0.6 + 1e-13, 0.0, 0.0])
    new = on_space(space, Compensated(x, p, jnp.zeros(8), jnp.zeros(8)))
    np.testing.assert_allclose(new.x[3:6] @ new.x[3:6], 1.0, rtol=0, atol=4e-16)
    np.testing.assert_allclose(new.x[3:6] @ new.p[3:6], 0.0, rtol=0, atol=2e-16)
    for before, after in ((x, new.x), (p, new.p)):
        np.testing.assert_array_equal(after[:3], before[:3])
        np.testing.assert_array_equal(after[6:], before[6:])
