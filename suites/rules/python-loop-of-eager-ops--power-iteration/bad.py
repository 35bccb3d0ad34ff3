"""A power iteration, operation by operation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def turn(a, x):
    y = jnp.matmul(a, x)
    return y / jnp.sqrt(jnp.sum(y * y))


a, x = jnp.eye(64) + 0.01, jnp.ones(64)
x = turn(a, x).block_until_ready()
with clock(20):
    for _ in range(20):
        for _ in range(30):
            x = turn(a, x)
    x.block_until_ready()
