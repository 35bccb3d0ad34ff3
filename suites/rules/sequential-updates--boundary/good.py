"""Heat spreads, and the four edges are padded."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    inner = x[1:-1, 1:-1] + 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1])
    return jnp.pad(inner, 1, mode="edge")


x = jnp.ones((700, 700)).at[300:400, 300:400].set(2.0)
for _ in range(3):
    x = step(x)
x.block_until_ready()
with clock(100):
    for _ in range(100):
        x = step(x)
    x.block_until_ready()
