"""A recurrence as a parallel scan."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def smooth(x):
    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    return jax.lax.associative_scan(combine, (jnp.full_like(x, 0.9), x))[1]


x = jnp.ones(4096)
for _ in range(3):
    x = smooth(x)
x.block_until_ready()
with clock(60):
    for _ in range(60):
        x = smooth(x)
    x.block_until_ready()
