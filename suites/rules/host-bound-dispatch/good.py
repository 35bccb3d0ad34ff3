"""Many small steps, a launch for all."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return x + 0.1 * (jnp.roll(x, 1) - x)


@jax.jit
def steps(x):
    return jax.lax.fori_loop(0, 4000, lambda _, x: step(x), x)


x = jnp.ones(512)
step(x).block_until_ready()
steps(x).block_until_ready()
with clock(80000):
    for _ in range(20):
        x = steps(x)
    x.block_until_ready()
