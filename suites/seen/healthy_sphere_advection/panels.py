"""Halos of the six panels of a cubed sphere.

Panels 0 to 3 go round the equator, 4 is the north cap and 5 the south cap.
"""

import jax.numpy as jnp


def pad_panels(q):
    """(6, n, n) to (6, n + 2, n + 2): one row of neighbors on each side, corners unused."""
    west = jnp.stack([q[3, :, -1], q[0, :, -1], q[1, :, -1], q[2, :, -1], q[3, -1, ::-1], q[3, 0, :]])
    east = jnp.stack([q[1, :, 0], q[2, :, 0], q[3, :, 0], q[0, :, 0], q[1, -1, :], q[1, 0, ::-1]])
    south = jnp.stack([q[5, -1, :], q[5, ::-1, -1], q[5, 0, ::-1], q[5, :, 0], q[0, -1, :], q[2, 0, ::-1]])
    north = jnp.stack([q[4, 0, :], q[4, :, -1], q[4, -1, ::-1], q[4, ::-1, 0], q[2, -1, ::-1], q[0, 0, :]])
    middle = jnp.concatenate([west[:, :, None], q, east[:, :, None]], axis=2)
    south, north = (jnp.pad(edge, ((0, 0), (1, 1)))[:, None] for edge in (south, north))
    return jnp.concatenate([south, middle, north], axis=1)
