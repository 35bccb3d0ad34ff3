"""Rows are set one after the other."""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames="h")
def step(h, rows):
    for at in range(64):
        h = h.at[at * 16, :].set(rows[at])
    return h * 0.5


h, rows = jnp.ones((1024, 256)), jnp.ones((64, 256))
for _ in range(3):
    h = step(h, rows)
h.block_until_ready()
with clock(200):
    for _ in range(200):
        h = step(h, rows)
    h.block_until_ready()
