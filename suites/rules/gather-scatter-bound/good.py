"""Neighbors on a ring are the array itself, turned by one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp

SIZE = 1_000_000


@jax.jit
def step(field):
    return field + 0.1 * (jnp.roll(field, 1) - 2.0 * field + jnp.roll(field, -1))


field = jnp.zeros(SIZE).at[SIZE // 2].set(1.0)
for _ in range(3):
    field = step(field)
field.block_until_ready()
with clock(40):
    for _ in range(40):
        field = step(field)
    field.block_until_ready()
