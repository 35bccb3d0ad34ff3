"""A power iteration, its turns in one program."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def turn(a, x):
    y = jnp.matmul(a, x)
    return y / jnp.sqrt(jnp.sum(y * y))


@jax.jit
def turns(a, x):
    return jax.lax.fori_loop(0, 30, lambda _, x: turn(a, x), x)


a, x = jnp.eye(64) + 0.01, jnp.ones(64)
x = turns(a, x).block_until_ready()
with clock(20):
    for _ in range(20):
        x = turns(a, x)
    x.block_until_ready()
