"""A large histogram gets a few counts at a time, given away."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def count(counts, keys):
    return counts.at[keys].add(1)


counts, keys = jnp.zeros(1 << 21, jnp.int32), jnp.arange(500) * 4001 % (1 << 21)
for _ in range(3):
    counts = count(counts, keys)
counts.block_until_ready()
with clock(150):
    for _ in range(150):
        counts = count(counts, keys)
    counts.block_until_ready()
