"""Values change their type and back around each operation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for _ in range(4):
        y = x.astype(jnp.bfloat16).astype(jnp.float32)
        y = (y * 1.001).astype(jnp.bfloat16)
        x = jnp.cumsum(y.astype(jnp.float32), axis=0) * 0.001
    return x


x = jnp.ones((512, 512))
for _ in range(3):
    x = step(x)
x.block_until_ready()
with clock(30):
    for _ in range(30):
        x = step(x)
    x.block_until_ready()
