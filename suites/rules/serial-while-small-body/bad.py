"""A recurrence element by element."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def smooth(x):
    def body(carry, c):
        carry = carry * 0.9 + c
        return carry, carry

    return jax.lax.scan(body, jnp.zeros(()), x)[1]


x = jnp.ones(4096)
for _ in range(3):
    x = smooth(x)
x.block_until_ready()
with clock(60):
    for _ in range(60):
        x = smooth(x)
    x.block_until_ready()
