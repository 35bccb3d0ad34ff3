"""A relaxation whose operations are launched one by one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def relax(x):
    for _ in range(8):
        left, right = jnp.roll(x, 1), jnp.roll(x, -1)
        x = 0.5 * x + 0.25 * (left + right)
        x = x - jnp.mean(x)
    return x


x = jnp.linspace(0.0, 1.0, 4096)
for _ in range(3):
    x = relax(x)
x.block_until_ready()
with clock(50):
    for _ in range(50):
        x = relax(x)
    x.block_until_ready()
