"""Three passes over a large array, compiled one by one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def advance(x):
    x = scale(x)
    x = shift(x)
    x = bend(x)
    return x


scale = jax.jit(lambda x: x * 1.0001)
shift = jax.jit(lambda x: x + 0.0001)
bend = jax.jit(lambda x: x - 1e-4 * x * x)


x = jnp.ones((2048, 2048))
for _ in range(3):
    x = advance(x)
x.block_until_ready()
with clock(50):
    for _ in range(50):
        x = advance(x)
    x.block_until_ready()
