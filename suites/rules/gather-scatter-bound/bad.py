"""Rows are sorted, scaled and put back."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def scale(x, key):
    order = jnp.argsort(key)
    sorted_x = x[order]
    back = jnp.argsort(order)
    return (sorted_x * 1.001)[back]


x, key = jnp.ones((40000, 16)), jax.random.uniform(jax.random.key(0), (40000,))
for _ in range(3):
    x = scale(x, key)
x.block_until_ready()
with clock(20):
    for _ in range(20):
        x = scale(x, key)
    x.block_until_ready()
