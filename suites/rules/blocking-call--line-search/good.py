"""A line search that the device decides."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def loss(x):
    return jnp.sum(jnp.square(x[1:] - jnp.square(x[:-1]))) + jnp.sum(jnp.square(1 - x))


@jax.jit
def descend(x):
    down = jax.grad(loss)(x)
    too_far = lambda length: loss(x - length * down) > loss(x)
    return x - jax.lax.while_loop(too_far, lambda length: 0.5 * length, 1.0) * down


x = descend(jnp.full(400, 0.5))
with clock(60):
    for _ in range(60):
        x = descend(x)
    x.block_until_ready()
