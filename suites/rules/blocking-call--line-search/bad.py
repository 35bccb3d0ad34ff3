"""A line search reads each loss to decide how far to go."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def loss(x):
    return jnp.sum(jnp.square(x[1:] - jnp.square(x[:-1]))) + jnp.sum(jnp.square(1 - x))


slope = jax.jit(jax.grad(loss))


def descend(x):
    down, length = slope(x), 1.0
    while float(loss(x - length * down)) > float(loss(x)):
        length = 0.5 * length
    return x - length * down


x = descend(jnp.full(400, 0.5))
with clock(60):
    for _ in range(60):
        x = descend(x)
    x.block_until_ready()
