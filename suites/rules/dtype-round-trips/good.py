"""The same products in 32 bits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def layer(x, weight):
    return x @ weight


x, weight = jnp.ones((8192, 128)), jnp.full((128, 128), 1 / 128)
for _ in range(3):
    x = layer(x, weight)
x.block_until_ready()
with clock(60):
    for _ in range(60):
        x = layer(x, weight)
    x.block_until_ready()
