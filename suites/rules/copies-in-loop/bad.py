"""An array goes to the host and back each step."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp
import numpy as np

scale = jax.jit(lambda x: x * 1.001)


@jax.jit
def step(x):
    return x + 0.1 * (jnp.roll(x, 1, 0) - x)


x = jnp.ones((1024, 1024))
for _ in range(3):
    x = jnp.asarray(np.asarray(x) * 1.001)
    x = step(x)
x.block_until_ready()
with clock(50):
    for _ in range(50):
        x = jnp.asarray(np.asarray(x) * 1.001)
        x = step(x)
    x.block_until_ready()
